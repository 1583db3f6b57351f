/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and life of the dnsmasq child. */
#include "provisioner/boot/dnsmasq.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "provisioner/boot/child.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/boot/priv.h"

struct bu_dnsmasq {
	struct bu_dnsmasq_opts opts;
	char *conf_path, *hosts_path, *names_path;
	char *conf, *hosts, *names; /* as written */
	struct bu_child *child;
};

/*
 * Two lines save 16 seconds at each start of iPXE: an empty router advertisement (it
 * waits for one) and option 175.176 "no ProxyDHCP" (it waits for that, too).
 */
static const char head[] =
	"# Written by bringup; changes are lost.\n"
	"interface=%s\n"
	"bind-interfaces\n"
	"except-interface=lo\n"
	"no-ping\n"
	"dhcp-authoritative\n"
	"dhcp-no-override\n"
	"dhcp-range=%s,1h\n"
	"dhcp-leasefile=%s/leases\n"
	"pid-file=\n"
	/* Reads its files in our state directory; and the kernel forgets that a process
	 * dies with its parent when its group changes. */
	"user=root\n"
	"group=root\n"
	/* DNS: what the profile says, and no word of what others know. */
	"no-resolv\n"
	"no-hosts\n"
	"addn-hosts=%s/names\n"
	"dhcp-hostsfile=%s/hosts\n"
	"dhcp-match=set:ipxe,175\n"
	"dhcp-boot=tag:ipxe,%s\n"
	"dhcp-option=tag:ipxe,encap:175,176,1b\n"
	"enable-ra\n"
	"dhcp-range=::,constructor:%s,ra-only\n"
	"ra-param=%s,10,0\n";

/* DHCP takes addresses only; a server that is a name is left to the installed system.
 */
static void
print_servers(FILE *out, const char *option, const char *list, const char *fallback)
{
	bu_autofree char *words = bu_xstrdup(list ? list : fallback);
	char *save = NULL;
	const char *before = option;
	struct in_addr in;

	for (char *word = strtok_r(words, ", \t", &save); word;
	     word = strtok_r(NULL, ", \t", &save)) {
		if (inet_pton(AF_INET, word, &in) != 1)
			continue;
		fprintf(out, "%s%s%s", before == option ? "dhcp-option=option:" : "",
			before, before == option ? "," : "");
		fputs(word, out);
		before = ",";
	}
	if (before != option)
		fputc('\n', out);
}

static void
print_site(FILE *out, const struct bu_dnsmasq_opts *opts,
	   const struct bu_dnsmasq_site *site)
{
	if (site->domain)
		fprintf(out, "domain=%s\nlocal=/%s/\n", site->domain, site->domain);
	print_servers(out, "dns-server", site->dns, opts->address);
	print_servers(out, "ntp-server", site->ntp, opts->address);
	/* Without a value: the appliance forwards no packets. */
	fprintf(out, "dhcp-option=option:router%s%s\n", site->gateway ? "," : "",
		site->gateway ? site->gateway : "");
}

char *
bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts,
		  const struct bu_dnsmasq_site *site)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	fprintf(out, head, opts->interface, opts->range, opts->dir, opts->dir,
		opts->dir, opts->script_url, opts->interface, opts->interface);
	if (opts->no_dns)
		fputs("port=0\n", out);
	print_site(out, opts, site);
	bu_loaders_print(out, opts->loaders, opts->http_url);
	fclose(out);
	return text;
}

static char *
render_hosts(const struct bu_dnsmasq_site *site)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	for (size_t i = 0; i < site->count; i++)
		fprintf(out, "%s,%s,%s\n", site->hosts[i].mac, site->hosts[i].address,
			site->hosts[i].name);
	fclose(out);
	return text;
}

struct bu_dnsmasq *
bu_dnsmasq_create(struct bu_loop *loop, const struct bu_dnsmasq_opts *opts)
{
	struct bu_dnsmasq *dnsmasq = bu_xcalloc(1, sizeof(*dnsmasq));

	dnsmasq->opts = *opts;
	dnsmasq->opts.dir = bu_xstrdup(opts->dir);
	dnsmasq->opts.interface = bu_xstrdup(opts->interface);
	dnsmasq->opts.address = bu_xstrdup(opts->address);
	dnsmasq->opts.range = bu_xstrdup(opts->range);
	dnsmasq->opts.script_url = bu_xstrdup(opts->script_url);
	dnsmasq->opts.http_url = bu_xstrdup(opts->http_url);
	dnsmasq->opts.loaders = bu_xstrdup(opts->loaders);
	dnsmasq->conf_path = bu_xasprintf("%s/dnsmasq.conf", opts->dir);
	dnsmasq->hosts_path = bu_xasprintf("%s/hosts", opts->dir);
	dnsmasq->names_path = bu_xasprintf("%s/names", opts->dir);
	dnsmasq->child = bu_child_create(loop, "dnsmasq", dnsmasq->conf_path,
					 bu_priv_start_dnsmasq);
	return dnsmasq;
}

void
bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq)
{
	if (!dnsmasq)
		return;
	bu_child_destroy(dnsmasq->child);
	const void *const owned[] = {
		dnsmasq->opts.dir,    dnsmasq->opts.interface,  dnsmasq->opts.address,
		dnsmasq->opts.range,  dnsmasq->opts.script_url, dnsmasq->opts.http_url,
		dnsmasq->conf_path,   dnsmasq->hosts_path,      dnsmasq->names_path,
		dnsmasq->conf,        dnsmasq->hosts,           dnsmasq->names,
		dnsmasq->opts.loaders};

	for (size_t i = 0; i < BU_LEN(owned); i++)
		free((void *)(uintptr_t)owned[i]);
	free(dnsmasq);
}

int
bu_dnsmasq_set(struct bu_dnsmasq *dnsmasq, const struct bu_dnsmasq_site *site,
	       struct bu_err *err)
{
	bu_autofree char *conf = bu_dnsmasq_render(&dnsmasq->opts, site);
	bu_autofree char *hosts = render_hosts(site);
	bu_autofree char *names = bu_xstrdup(site->names ? site->names : "");
	int restart = 0, reload = 0;

	if (bu_mkdir_p(dnsmasq->opts.dir, 0700, err) != 0 ||
	    bu_child_put(dnsmasq->names_path, &dnsmasq->names, &names, &reload, err) !=
		    0 ||
	    bu_child_put(dnsmasq->hosts_path, &dnsmasq->hosts, &hosts, &reload, err) !=
		    0 ||
	    bu_child_put(dnsmasq->conf_path, &dnsmasq->conf, &conf, &restart, err) != 0)
		return -1;
	if (!restart && reload &&
	    bu_priv_reload_dnsmasq(bu_child_pid(dnsmasq->child), NULL) == 0)
		return 0;
	if (restart || reload)
		bu_child_restart(dnsmasq->child);
	return 0;
}
