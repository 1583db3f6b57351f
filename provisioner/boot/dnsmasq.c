/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and life of the dnsmasq child. */
#include "provisioner/boot/dnsmasq.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "provisioner/boot/child.h"
#include "provisioner/boot/tftp.h"
#include "provisioner/boot/try.h"

enum { LEASES_STEP = 1000, LOOK_MS = 500, LOOK_AGAIN_MS = 5000 };

struct bu_dnsmasq {
	struct bu_dnsmasq_opts opts;
	char *conf_path; /* the last one that dnsmasq took */
	char *run_path;  /* of it, what dnsmasq reads */
	char *hosts_path, *names_path, *tftp_dir;
	char *conf, *hosts, *names; /* as written */
	struct bu_child *child;
	struct bu_timer *look;
	struct bu_unserved *unserved;
	unsigned int widened; /* the start whose socket has room for a storm */
};

static const char *const modes[] = {
	[BU_DHCP_FULL] = "full",
	[BU_DHCP_PROXY] = "proxy",
	[BU_DHCP_RELAY] = "relay",
	[BU_DHCP_OFF] = "off",
};

int
bu_dhcp_from_name(const char *name, enum bu_dhcp *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(modes); i++)
		if (strcmp(modes[i], name) == 0) {
			*ret = (enum bu_dhcp)i;
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "dhcp = %s: give full, proxy, relay or off", name);
}

static const char head[] =
	"# Written by bringup; changes are lost.\n"
	"interface=%s\n"
	"bind-interfaces\n"
	"except-interface=lo\n"
	"pid-file=\n"
	/* It runs as who it is started as: bringup-boot has chosen that. */
	"user=root\n"
	"group=root\n"
	/* DNS: what the profile says, and no word of what others know. */
	"no-resolv\n"
	"no-hosts\n"
	"addn-hosts=%s/names\n";

/* Of all modes with DHCP. A name that a machine gives itself ("wpad", "lake1") is
 * no name of the site: DNS knows those of the profile alone. */
static const char dhcp_head[] = "no-ping\n"
				"dhcp-ignore-names\n"
				"dhcp-no-override\n"
				"dhcp-hostsfile=%s/hosts\n"
				"dhcp-match=set:ipxe,175\n"
				/* A proxy's answer counts for iPXE only with the
				 * server's address. */
				"dhcp-boot=tag:ipxe,%s,,%s\n";

/* Where we are the only server. Two lines save 16 seconds at each start of iPXE: an
 * empty router advertisement (it waits for one) and option 175.176 "no ProxyDHCP" (it
 * waits for that, too). */
static const char only_server[] = "dhcp-authoritative\n"
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
	print_servers(out, "dns-server", site->dns, opts->address);
	print_servers(out, "ntp-server", site->ntp, opts->address);
	/* Without a value: the appliance forwards no packets. */
	fprintf(out, "dhcp-option=option:router%s%s\n", site->gateway ? "," : "",
		site->gateway ? site->gateway : "");
}

/* Addresses in "10.77.0.50,10.77.0.199". */
static size_t
count_range(const char *range)
{
	bu_autofree char *first = bu_xstrndup(range, strcspn(range, ","));
	const char *last = strchr(range, ',');
	struct in_addr a, b;

	if (!last || inet_pton(AF_INET, first, &a) != 1 ||
	    inet_pton(AF_INET, last + 1, &b) != 1 || ntohl(b.s_addr) < ntohl(a.s_addr))
		return 0;
	return ntohl(b.s_addr) - ntohl(a.s_addr) + 1;
}

/* dnsmasq's own limit of 1,000 leases would leave the rest of a large site without. In
 * steps, because it starts again when its configuration changes. */
static size_t
max_leases(const struct bu_dnsmasq_opts *opts, const struct bu_dnsmasq_site *site)
{
	size_t most = site->count +
		      (opts->dhcp == BU_DHCP_FULL ? count_range(opts->range) : 0);

	return (most / LEASES_STEP + 1) * LEASES_STEP;
}

/* Machines behind a router have the addresses of the profile and no others. */
static void
print_nets(FILE *out, const struct bu_dnsmasq_site *site)
{
	for (size_t i = 0; i < site->nets_count; i++) {
		const struct bu_dnsmasq_net *net = &site->nets[i];

		fprintf(out, "dhcp-range=set:net-%s,%s,static,%s,1h\n", net->name,
			net->net, net->mask);
		fprintf(out, "dhcp-option=tag:net-%s,option:router%s%s\n", net->name,
			net->gateway ? "," : "", net->gateway ? net->gateway : "");
	}
}

static void
print_dhcp(FILE *out, const struct bu_dnsmasq_opts *opts,
	   const struct bu_dnsmasq_site *site)
{
	fprintf(out, dhcp_head, opts->run_dir, opts->script_url, opts->address);
	if (opts->dhcp == BU_DHCP_PROXY) {
		fprintf(out, "dhcp-range=%s,proxy\n", opts->address);
		return;
	}
	fprintf(out, only_server, opts->interface, opts->interface);
	fprintf(out, "dhcp-lease-max=%zu\n", max_leases(opts, site));
	if (opts->dhcp == BU_DHCP_FULL)
		fprintf(out, "dhcp-range=%s,1h\n", opts->range);
	print_nets(out, site);
	print_site(out, opts, site);
}

char *
bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts,
		  const struct bu_dnsmasq_site *site)
{
	bu_autofree char *tftp = bu_xasprintf("%s/tftp", opts->run_dir);
	const struct bu_loaders_conf loaders = {
		.dirs = &opts->loaders,
		.tftp_dir = tftp,
		.http_url = opts->http_url,
		.proxy = opts->dhcp == BU_DHCP_PROXY,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	fprintf(out, head, opts->interface, opts->run_dir);
	if (opts->no_dns)
		fputs("port=0\n", out);
	if (site->domain)
		fprintf(out, "domain=%s\nlocal=/%s/\n", site->domain, site->domain);
	if (opts->dhcp != BU_DHCP_OFF)
		print_dhcp(out, opts, site);
	bu_loaders_print(out, &loaders);
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
		fprintf(out, "%s,%s%s,%s\n", site->hosts[i].mac,
			site->hosts[i].grub ? "set:grub," : "", site->hosts[i].address,
			site->hosts[i].name);
	fclose(out);
	return text;
}

/* It may have ended and been started again since. */
static void
look(void *arg)
{
	struct bu_dnsmasq *dnsmasq = arg;
	unsigned int run = bu_child_run(dnsmasq->child);

	if (run && run != dnsmasq->widened)
		bu_ignore(bu_child_widen(dnsmasq->child, NULL));
	bu_timer_set(dnsmasq->look, LOOK_AGAIN_MS);
}

static void
on_widened(const char *answer, const char *words, void *arg)
{
	struct bu_dnsmasq *dnsmasq = arg;

	if (strcmp(answer, "busy") == 0) {
		bu_timer_set(dnsmasq->look, LOOK_MS);
		return;
	}
	if (strcmp(answer, "failed") == 0)
		bu_warn("dnsmasq",
			"its queue stays short, so many machines that start "
			"at once get their addresses late: %s",
			words);
	dnsmasq->widened = bu_child_run(dnsmasq->child);
}

static struct bu_unserved *
listen_for_unserved(struct bu_loop *loop, const struct bu_dnsmasq_opts *opts)
{
	const struct bu_unserved_opts unserved = {
		.interface = opts->interface,
		.loaders = opts->loaders,
		.proxy = opts->dhcp == BU_DHCP_PROXY,
		.relayed_only = opts->dhcp == BU_DHCP_RELAY,
		.fn = opts->unserved,
		.arg = opts->arg,
	};

	return bu_unserved_create(loop, &unserved);
}

static struct bu_child *
create_child(struct bu_loop *loop, struct bu_dnsmasq *dnsmasq)
{
	const struct bu_child_opts child = {.name = "dnsmasq",
					    .conf_path = dnsmasq->run_path,
					    .fn = on_widened,
					    .arg = dnsmasq};

	return bu_child_create(loop, &child);
}

struct bu_dnsmasq *
bu_dnsmasq_create(struct bu_loop *loop, const struct bu_dnsmasq_opts *opts)
{
	struct bu_dnsmasq *dnsmasq = bu_xcalloc(1, sizeof(*dnsmasq));

	dnsmasq->opts = *opts;
	dnsmasq->opts.dir = bu_xstrdup(opts->dir);
	dnsmasq->opts.run_dir = bu_xstrdup(opts->run_dir);
	dnsmasq->opts.interface = bu_xstrdup(opts->interface);
	dnsmasq->opts.address = bu_xstrdup(opts->address);
	dnsmasq->opts.range = bu_xstrdup(opts->range);
	dnsmasq->opts.script_url = bu_xstrdup(opts->script_url);
	dnsmasq->opts.http_url = bu_xstrdup(opts->http_url);
	dnsmasq->opts.loaders.loaders = bu_xstrdup(opts->loaders.loaders);
	dnsmasq->opts.loaders.ramdisk =
		opts->loaders.ramdisk ? bu_xstrdup(opts->loaders.ramdisk) : NULL;
	dnsmasq->conf_path = bu_xasprintf("%s/dnsmasq.conf", opts->dir);
	dnsmasq->run_path = bu_xasprintf("%s/dnsmasq.conf", opts->run_dir);
	dnsmasq->hosts_path = bu_xasprintf("%s/hosts", opts->run_dir);
	dnsmasq->names_path = bu_xasprintf("%s/names", opts->run_dir);
	dnsmasq->tftp_dir = bu_xasprintf("%s/tftp", opts->run_dir);
	dnsmasq->child = create_child(loop, dnsmasq);
	if (opts->dhcp != BU_DHCP_OFF) {
		dnsmasq->look = bu_timer_create(loop, look, dnsmasq);
		bu_timer_set(dnsmasq->look, LOOK_MS);
		dnsmasq->unserved = listen_for_unserved(loop, &dnsmasq->opts);
	}
	return dnsmasq;
}

void
bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq)
{
	if (!dnsmasq)
		return;
	bu_unserved_destroy(dnsmasq->unserved);
	bu_child_destroy(dnsmasq->child);
	bu_timer_destroy(dnsmasq->look);
	const void *const owned[] = {dnsmasq->opts.dir,
				     dnsmasq->opts.run_dir,
				     dnsmasq->opts.interface,
				     dnsmasq->opts.address,
				     dnsmasq->opts.range,
				     dnsmasq->opts.script_url,
				     dnsmasq->opts.http_url,
				     dnsmasq->conf_path,
				     dnsmasq->run_path,
				     dnsmasq->tftp_dir,
				     dnsmasq->hosts_path,
				     dnsmasq->names_path,
				     dnsmasq->conf,
				     dnsmasq->hosts,
				     dnsmasq->names,
				     dnsmasq->opts.loaders.loaders,
				     dnsmasq->opts.loaders.ramdisk};

	for (size_t i = 0; i < BU_LEN(owned); i++)
		free((void *)(uintptr_t)owned[i]);
	free(dnsmasq);
}

/* The configuration that a bringupd before this one ran it with, if dnsmasq takes it.
 */
static void
take_old(struct bu_dnsmasq *dnsmasq, int *restart)
{
	bu_autofree char *text = bu_file_read(dnsmasq->conf_path, 0, NULL, NULL);
	struct bu_err err = {0};

	if (!text || bu_dnsmasq_try(dnsmasq->conf_path, &err) != 0)
		return;
	dnsmasq->conf = bu_steal(&text);
	*restart = 1;
}

/* A configuration that dnsmasq refuses does not replace the one that it runs with, or
 * ran with before bringupd was started again: the machines that boot now need it. */
static int
put_conf(struct bu_dnsmasq *dnsmasq, char **conf, int *restart, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s.new", dnsmasq->conf_path);

	if (dnsmasq->conf && strcmp(dnsmasq->conf, *conf) == 0)
		return 0;
	if (bu_file_write(path, *conf, strlen(*conf), 0600, err) != 0)
		return -1;
	if (bu_dnsmasq_try(path, err) != 0 && err->kind == BU_ERR_INVAL) {
		if (!dnsmasq->conf)
			take_old(dnsmasq, restart);
		return bu_err_wrap(err, "dnsmasq does not take its new configuration%s",
				   dnsmasq->conf ? " and goes on with the old one"
						 : "");
	}
	unlink(path);
	return bu_child_put(dnsmasq->conf_path, 0600, &dnsmasq->conf, conf, restart,
			    err);
}

/* What dnsmasq reads beside its configuration; it does not start without the folder
 * that it serves. */
static int
put_files(struct bu_dnsmasq *dnsmasq, const struct bu_dnsmasq_site *site, int *reload,
	  struct bu_err *err)
{
	bu_autofree char *hosts = render_hosts(site);
	bu_autofree char *names = bu_xstrdup(site->names ? site->names : "");

	if (bu_mkdir_p(dnsmasq->opts.dir, 0700, err) != 0 ||
	    bu_child_folder("dnsmasq", dnsmasq->opts.run_dir, err) != 0 ||
	    bu_tftp_folder(dnsmasq->tftp_dir, err) != 0 ||
	    bu_child_put(dnsmasq->names_path, 0644, &dnsmasq->names, &names, reload,
			 err) != 0)
		return -1;
	return bu_child_put(dnsmasq->hosts_path, 0644, &dnsmasq->hosts, &hosts, reload,
			    err);
}

int
bu_dnsmasq_set(struct bu_dnsmasq *dnsmasq, const struct bu_dnsmasq_site *site,
	       struct bu_err *err)
{
	bu_autofree char *conf = bu_dnsmasq_render(&dnsmasq->opts, site);
	int restart = 0, reload = 0, rc;

	if (put_files(dnsmasq, site, &reload, err) != 0)
		return -1;
	rc = put_conf(dnsmasq, &conf, &restart, err);
	if (!restart && reload && bu_child_reload(dnsmasq->child, NULL) == 0)
		return rc;
	if (!dnsmasq->conf || (!restart && !reload))
		return rc;
	if (bu_file_write(dnsmasq->run_path, dnsmasq->conf, strlen(dnsmasq->conf), 0644,
			  rc == 0 ? err : NULL) != 0)
		return -1;
	bu_child_restart(dnsmasq->child);
	if (dnsmasq->look)
		bu_timer_set(dnsmasq->look, LOOK_MS);
	return rc;
}
