/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile that provisioner/rollout/edits_test.c lets people edit. Invariant: the
 * same seed makes the same edits.
 */
#include "tests/support/edits.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "provisioner/power/power.h"
#include "tests/support/row.h"

static unsigned int
below(unsigned int *seed, unsigned int limit)
{
	return (unsigned int)rand_r(seed) % limit;
}

char *
edits_site(void)
{
	/* canary, max_unavailable, failure_budget, nodes: 1,000 in all */
	static const struct {
		const char *limits;
		int nodes;
	} pools[EDITS_POOLS] = {
		{"", 1},
		{"", 4},
		{"max_unavailable = 2\n", 15},
		{"max_unavailable = 10 %\ncanary = 2\n"
		 "data = scratch:100GiB:ext4:/scratch\n",
		 40},
		{"max_unavailable = 5 %\nfailure_budget = 2\n", 80},
		{"max_unavailable = 5 %\ncanary = 3\nfailure_budget = 3\n", 160},
		{"max_unavailable = 3 %\nfailure_budget = 2 %\ncanary = 1 %\n", 250},
		{"max_unavailable = 5 %\ncanary = 2\nfailure_budget = 5\n", 450},
	};
	char *site = bu_xstrdup(
		"[site]\nformat = 1\nname = edits\nzone = z1\ninventory = racks.csv\n"
		"dns = 10.0.0.1\n\n"
		"[policy]\nbrake = 30 %\n\n"
		"[network boot]\nrole = boot\ncidr = 10.0.0.0/16\n"
		"addresses = 10.0.[1-4].[1-250]\n\n"
		"[network fabric]\nrole = fabric\ncidr = 10.1.0.0/16\n"
		"addresses = 10.1.[1-4].[1-250]\nnic = 1\nmtu = 1500\n"
		"link_gbps = 400\nrdma = hardware\n\n"
		"[image debian12]\n\n[image debian13]\n\n"
		"[hardware any]\ndisk = smallest\nnics = 2\nkargs = iommu=pt\npost = 1 s\n"
		"sysctl = vm.swappiness=1\n\n"
		"[cluster hpc]\ndriver = slurm\ncontroller = 10.0.0.4:6817\n\n"
		"[validation pairs]\nfabric = fabric\n\n");
	int first = 1;

	for (int i = 0; i < EDITS_POOLS; i++) {
		bu_autofree char *old = site;

		site = bu_xasprintf("%s[pool p%d]\nnodes = n[%04d-%04d]\n"
				    "hardware = any\nimage = debian12\n"
				    "power = redfish\nnetworks = boot, fabric\n"
				    "cluster = hpc\nvalidation = pairs\n"
				    "features = bench\n%s\n",
				    old, i, first, first + pools[i].nodes - 1,
				    pools[i].limits);
		first += pools[i].nodes;
	}
	ck_assert_int_eq(first, EDITS_NODES + 1);
	return site;
}

char *
edits_racks(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("name,mac,serial,bmc,rack,slot\n", out);
	for (int i = 1; i <= EDITS_NODES; i++)
		fprintf(out,
			"n%04d,52:54:00:00:%02x:%02x,S%04d,https://bmc-n%04d.oob,"
			"r%d,%d\n",
			i, (unsigned)i / 256, (unsigned)i % 256, i, i, i / 16, i % 16);
	fclose(out);
	return text;
}

/* One byte of a line is lost, doubled, or becomes another. */
char *
edits_typo(unsigned int *seed, const char *text)
{
	static const char other[] = "abcxyz019-=.:/#;][ ";
	size_t len = strlen(text), at = below(seed, (unsigned int)len);
	char byte = other[below(seed, sizeof(other) - 1)];

	switch (below(seed, 3)) {
	case 0:
		return bu_xasprintf("%.*s%s", (int)at, text, text + at + 1);
	case 1:
		return bu_xasprintf("%.*s%c%s", (int)at, text, text[at], text + at);
	default:
		return bu_xasprintf("%.*s%c%s", (int)at, text, byte, text + at + 1);
	}
}

/* A key of a section: "pool" is any of them, "node" one of 1,000. */
static const struct {
	const char *section, *key, *values[4];
} changes[] = {
	{"pool", "features", {"bench", "gold", "gold,bench"}},
	{"pool", "labels", {"tier=gold", "tier=silver"}},
	{"pool", "taints", {"gpu=true:NoSchedule"}},
	{"pool", "governor", {"performance", "powersave"}},
	{"pool", "sysctl", {"vm.swappiness=10", "vm.swappiness=20"}},
	{"pool", "kargs", {"quiet", "iommu=off", "mitigations=off"}},
	{"pool", "hugepages", {"2MiB*512", "2MiB*1024"}},
	{"pool", "modules", {"nvidia_peermem"}},
	{"pool", "gres", {"rdma:hw:1", "rdma:hw:2"}},
	{"pool", "image", {"debian12", "debian13"}},
	{"pool", "image", {"debian12", "debian13"}},
	{"pool", "data", {"scratch:100GiB:ext4:/scratch", "a:1GiB:ext4:/a"}},
	{"pool", "data", {"scratch:50GiB:ext4:/scratch", "a:2GiB:ext4:/a"}},
	{"pool", "image", {"debian12", "debian13"}},
	{"pool", "max_unavailable", {"1", "3", "50 %", "100 %"}},
	{"pool", "canary", {"1", "2", "5"}},
	{"pool", "failure_budget", {"1", "2", "10 %"}},
	{"pool", "drain_deadline", {"10 min", "1 h"}},
	{"pool", "start", {"10", "50"}},
	{"pool", "confirm_deadline", {"10 s", "1 m"}},
	{"pool", "maintenance", {"mon-sun 00:00-24:00", "sat 00:00-04:00"}},
	{"network fabric", "mtu", {"1500", "4200", "9000"}},
	{"network boot", "gateway", {"10.0.0.1"}},
	{"site", "dns", {"10.0.0.1", "10.0.0.2"}},
	{"site", "ntp", {"10.0.0.1"}},
	{"site", "domain", {"edits.example"}},
	{"hardware any", "disk", {"smallest", "serial:OTHER"}},
	{"hardware any", "kargs", {"iommu=pt", "iommu=pt quiet"}},
	{"cluster hpc", "controller", {"10.0.0.4:6817", "10.0.0.5:6817"}},
	{"policy", "brake", {"10 %", "50 %"}},
	{"node", "governor", {"performance", "powersave"}},
	{"node", "kargs", {"quiet", "debug"}},
	{"node", "features", {"mine"}},
	{"node", "image", {"debian12", "debian13"}},
};

/* The key's line in the section is replaced, or one is put there; a section that is
 * not there comes at the end. */
static char *
set_key(const char *text, const char *section, const char *key, const char *value)
{
	bu_autofree char *header = bu_xasprintf("[%s]\n", section);
	bu_autofree char *prefix = bu_xasprintf("%s =", key);
	const char *at = strstr(text, header), *end, *line;

	if (!at)
		return bu_xasprintf("%s%s%s = %s\n\n", text, header, key, value);
	at += strlen(header);
	end = strstr(at, "\n\n");
	end = end ? end + 1 : at + strlen(at);
	/* A file may end without the end of its last line. */
	for (line = at; line && line < end;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		return bu_xasprintf("%.*s%s %s%s", (int)(line - text), text, prefix,
				    value,
				    strchr(line, '\n') ? strchr(line, '\n') : "");
	}
	return bu_xasprintf("%.*s%s %s\n%s", (int)(at - text), text, prefix, value, at);
}

char *
edits_change(unsigned int *seed, const char *text)
{
	unsigned int row = below(seed, BU_LEN(changes)), values = 0;
	char section[64];
	const char *value;

	/* What changes all nodes at once costs most of the time. */
	if (strcmp(changes[row].section, "pool") != 0)
		row = below(seed, BU_LEN(changes));
	while (values < 4 && changes[row].values[values])
		values++;
	value = changes[row].values[below(seed, values)];
	snprintf(section, sizeof(section), "%s", changes[row].section);
	if (strcmp(section, "pool") == 0)
		snprintf(section, sizeof(section), "pool p%u",
			 below(seed, EDITS_POOLS));
	else if (strcmp(section, "node") == 0)
		snprintf(section, sizeof(section), "node n%04u",
			 1 + below(seed, EDITS_NODES));
	return set_key(text, section, changes[row].key, value);
}

/* --- the cluster --- */

const struct bu_fleet *edits_world;

void
edits_join(struct bu_event ret[EDITS_JOIN], const char *node)
{
	row_init(&ret[0], BU_EVENT_INTENT, node,
		 json_pack("{s:s,s:s}", "step", "join", "action", "join"));
	row_init(&ret[1], BU_EVENT_OUTCOME, node,
		 json_pack("{s:s,s:s}", "step", "join", "result", "done"));
	row_init(&ret[2], BU_EVENT_STATE, node,
		 json_pack("{s:s,s:s}", "to", "ready", "on", "joined"));
}

struct bu_cluster {
	bu_cluster_seen_fn seen;
	void *arg;
};

struct bu_cluster *
edits_open(struct bu_loop *loop, const char *conf, bu_cluster_seen_fn seen, void *arg)
{
	struct bu_cluster *cluster = bu_xcalloc(1, sizeof(*cluster));

	cluster->seen = seen;
	cluster->arg = arg;
	return cluster;
}

void
edits_close(struct bu_cluster *cluster)
{
	free(cluster);
}

void
edits_observe(struct bu_cluster *cluster)
{
	size_t count = edits_world->count;
	bu_autofree struct bu_cluster_row *rows = bu_xcalloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		memcpy(rows[i].name, edits_world->nodes[i]->name, sizeof(rows[i].name));
		rows[i].fact = (struct bu_cluster_fact){.known = 1, .responds = 1};
	}
	cluster->seen(rows, count, NULL, cluster->arg);
}

/* --- machines --- */

/* Nobody switches any by hand. */
void
bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
	    enum bu_boot_first first, bu_power_fn fn, void *arg)
{
}

void
bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	     void *arg)
{
}

void
bu_power_reset_bmc(struct bu_power *power, const struct bu_power_bmc *bmc,
		   bu_power_fn fn, void *arg)
{
}

void
bu_power_report(struct bu_power *power, const struct bu_power_bmc *bmc,
		enum bu_bmc_report what, int64_t since_ms, bu_power_report_fn fn,
		void *arg)
{
}

void
bu_power_console(struct bu_power *power, const struct bu_power_bmc *bmc,
		 const char *node, const char *way, bu_power_report_fn fn, void *arg)
{
}

void
bu_power_eject(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	       void *arg)
{
}
