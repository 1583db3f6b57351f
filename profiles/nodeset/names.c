/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and addresses of a site; called by config/ (hosts files), by bringupd (DNS) and
 * by `bringup export`. Pure.
 */
#include "profiles/nodeset/names.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/url.h"
#include "profiles/language/schema.h"

static void
give(const struct bu_desired *desired, struct bu_name *name,
     void (*fn)(const struct bu_name *name, void *arg), void *arg)
{
	const char *domain = desired->site.domain;

	snprintf(name->full, sizeof(name->full), "%s%s%s", name->label,
		 domain ? "." : "", domain ? domain : "");
	fn(name, arg);
}

void
bu_names_each(const struct bu_desired *desired,
	      void (*fn)(const struct bu_name *name, void *arg), void *arg)
{
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		struct bu_name name = {.node = node};

		for (size_t j = 0; j < node->pool->networks_count; j++) {
			const struct bu_desired_network *network =
				node->pool->networks[j];
			int is_boot = network->role == BU_ROLE_BOOT;

			if (bu_desired_node_address(node, network, name.address) < 0)
				continue;
			name.ip = node->addresses[network->index];
			snprintf(name.label, sizeof(name.label), "%s%s%s", node->name,
				 is_boot ? "" : "-", is_boot ? "" : network->name);
			give(desired, &name, fn, arg);
		}
		if (node->bmc && bu_url_ipv4(node->bmc, &name.ip) == 0) {
			struct in_addr in = {htonl(name.ip)};

			inet_ntop(AF_INET, &in, name.address, sizeof(name.address));
			snprintf(name.label, sizeof(name.label), "%s-bmc", node->name);
			give(desired, &name, fn, arg);
		}
	}
}

static void
print_host(const struct bu_name *name, void *arg)
{
	int is_full = strcmp(name->full, name->label) != 0;

	fprintf(arg, "%s %s%s%s\n", name->address, name->full, is_full ? " " : "",
		is_full ? name->label : "");
}

void
bu_names_print_hosts(const struct bu_desired *desired, FILE *out)
{
	bu_names_each(desired, print_host, out);
}

const char *
bu_names_hosts(const struct bu_desired *desired)
{
	struct bu_desired *owner = (struct bu_desired *)(uintptr_t)desired;
	size_t size = 0;
	FILE *out;

	if (desired->hosts)
		return desired->hosts;
	out = open_memstream(&owner->hosts, &size);
	bu_assert(out); /* only for want of memory */
	bu_names_print_hosts(desired, out);
	fclose(out);
	return desired->hosts;
}

struct zone {
	const char *name;
	FILE *out;
	size_t count;
};

/* "11.0.77.10.in-addr.arpa" without the zone at its end, into ret; 0 when it is not in
 * the zone. */
static int
relative(const char *full, const char *zone, char *ret, size_t size)
{
	size_t all = strlen(full), tail = strlen(zone);

	if (all <= tail + 1 || strcasecmp(full + all - tail, zone) != 0 ||
	    full[all - tail - 1] != '.')
		return 0;
	snprintf(ret, size, "%.*s", (int)(all - tail - 1), full);
	return 1;
}

static void
print_record(const struct bu_name *name, void *arg)
{
	struct zone *zone = arg;
	char reverse[64], owner[512];

	snprintf(reverse, sizeof(reverse), "%u.%u.%u.%u.in-addr.arpa", name->ip & 255,
		 name->ip >> 8 & 255, name->ip >> 16 & 255, name->ip >> 24);
	if (relative(name->full, zone->name, owner, sizeof(owner)))
		fprintf(zone->out, "%s A %s\n", owner, name->address);
	else if (relative(reverse, zone->name, owner, sizeof(owner)))
		fprintf(zone->out, "%s PTR %s.\n", owner, name->full);
	else
		return;
	zone->count++;
}

int
bu_names_print_zone(const struct bu_desired *desired, const char *name, FILE *out,
		    struct bu_err *err)
{
	const char *domain = desired->site.domain;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	struct zone zone = {.name = name};
	size_t size;

	if (!domain)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the profile has no [site] domain; a zone needs one");
	zone.out = open_memstream(&text, &size);
	bu_assert(zone.out); /* only for want of memory */
	bu_names_each(desired, print_record, &zone);
	fclose(zone.out);
	if (!zone.count)
		return bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"no name of the site is in zone '%.200s'; give '%s' or "
			"a reverse zone like 77.10.in-addr.arpa",
			name, domain);
	bu_sha256_hex(text, size, digest);
	digest[8] = '\0';
	fprintf(out,
		"$ORIGIN %s.\n$TTL 300\n"
		"@ SOA localhost. hostmaster.%s. %lu 3600 600 604800 300\n"
		"@ NS localhost.\n%s",
		name, domain, strtoul(digest, NULL, 16) & 0x7fffffff, text);
	return 0;
}

void
bu_names_print_chrony(const struct bu_desired *desired, FILE *out)
{
	const char *rest = desired->site.ntp;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		fprintf(out, "server %s iburst\n", word);
		free(word);
	}
	/* When the world is away, the site still has one time. */
	fputs("local stratum 10\n", out);
	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_cidr *cidr = &desired->networks[i].cidr;

		if (!cidr->prefix_len)
			continue;
		fprintf(out, "allow %u.%u.%u.%u/%d\n", cidr->net >> 24,
			cidr->net >> 16 & 255, cidr->net >> 8 & 255, cidr->net & 255,
			cidr->prefix_len);
	}
}
