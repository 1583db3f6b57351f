/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and life of the dnsmasq child. */
#include "provisioner/boot/dnsmasq.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/worker.h"
#include "provisioner/boot/priv.h"

enum { RESTART_MS = 2000 };

static const char tftp_dir[] = "/usr/lib/ipxe"; /* Debian's package ipxe */

struct bu_dnsmasq {
	struct bu_loop *loop;
	struct bu_dnsmasq_opts opts;
	char *conf_path;
	char *conf; /* as written */
	struct bu_job *job;
	struct bu_timer *restart;
};

/*
 * Two lines save 16 seconds at each start of iPXE: an empty router advertisement (it
 * waits for one) and option 175.176 "no ProxyDHCP" (it waits for that, too).
 */
static const char head[] =
	"port=0\n"
	"interface=%s\n"
	"bind-interfaces\n"
	"except-interface=lo\n"
	"no-ping\n"
	"dhcp-authoritative\n"
	"dhcp-no-override\n"
	"dhcp-range=%s,1h\n"
	"dhcp-leasefile=%s/leases\n"
	"pid-file=\n"
	"user=root\n" /* reads its lease file in our state directory */
	"dhcp-match=set:ipxe,175\n"
	"dhcp-match=set:bios,option:client-arch,0\n"
	"dhcp-match=set:efi64,option:client-arch,7\n"
	"dhcp-match=set:efi64,option:client-arch,9\n"
	"dhcp-match=set:efihttp,option:client-arch,16\n"
	"dhcp-option-force=tag:efihttp,60,HTTPClient\n"
	"dhcp-boot=tag:ipxe,%s\n"
	"dhcp-option=tag:ipxe,encap:175,176,1b\n"
	"enable-ra\n"
	"dhcp-range=::,constructor:%s,ra-only\n"
	"ra-param=%s,10,0\n";

static const char tftp_part[] = "enable-tftp\n"
				"tftp-root=%s\n"
				"dhcp-boot=tag:bios,tag:!ipxe,undionly.kpxe\n"
				"dhcp-boot=tag:efi64,tag:!ipxe,snponly.efi\n"
				"dhcp-boot=tag:efihttp,tag:!ipxe,%s/boot/snponly.efi\n";

char *
bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts, const char *tftp_root,
		  const struct bu_dnsmasq_host *hosts, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	fprintf(out, head, opts->interface, opts->range, opts->dir, opts->script_url,
		opts->interface, opts->interface);
	if (tftp_root)
		fprintf(out, tftp_part, tftp_root, opts->http_url);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "dhcp-host=%s,%s,%s\n", hosts[i].mac, hosts[i].address,
			hosts[i].name);
	fclose(out);
	return text;
}

struct bu_dnsmasq *
bu_dnsmasq_create(struct bu_loop *loop, const struct bu_dnsmasq_opts *opts)
{
	struct bu_dnsmasq *dnsmasq = bu_xcalloc(1, sizeof(*dnsmasq));

	dnsmasq->loop = loop;
	dnsmasq->opts = *opts;
	dnsmasq->opts.dir = bu_xstrdup(opts->dir);
	dnsmasq->opts.interface = bu_xstrdup(opts->interface);
	dnsmasq->opts.range = bu_xstrdup(opts->range);
	dnsmasq->opts.script_url = bu_xstrdup(opts->script_url);
	dnsmasq->opts.http_url = bu_xstrdup(opts->http_url);
	dnsmasq->conf_path = bu_xasprintf("%s/dnsmasq.conf", opts->dir);
	return dnsmasq;
}

void
bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq)
{
	const char *owned[5];

	if (!dnsmasq)
		return;
	bu_job_cancel(dnsmasq->job);
	bu_timer_destroy(dnsmasq->restart);
	owned[0] = dnsmasq->opts.dir;
	owned[1] = dnsmasq->opts.interface;
	owned[2] = dnsmasq->opts.range;
	owned[3] = dnsmasq->opts.script_url;
	owned[4] = dnsmasq->opts.http_url;
	for (size_t i = 0; i < BU_LEN(owned); i++)
		free((char *)(uintptr_t)owned[i]);
	free(dnsmasq->conf_path);
	free(dnsmasq->conf);
	free(dnsmasq);
}

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_dnsmasq *dnsmasq = arg;

	dnsmasq->job = NULL;
	bu_error("dnsmasq", "%s; starting it again", err ? err->text : "it ended");
	bu_timer_set(dnsmasq->restart, RESTART_MS);
}

static void
start(void *arg)
{
	struct bu_dnsmasq *dnsmasq = arg;
	struct bu_err err;

	bu_job_cancel(dnsmasq->job);
	dnsmasq->job = bu_priv_start_dnsmasq(dnsmasq->loop, dnsmasq->conf_path,
					     on_ended, dnsmasq, &err);
	if (dnsmasq->job)
		return;
	bu_error("dnsmasq", "%s", err.text);
	bu_timer_set(dnsmasq->restart, RESTART_MS);
}

int
bu_dnsmasq_set_hosts(struct bu_dnsmasq *dnsmasq, const struct bu_dnsmasq_host *hosts,
		     size_t count, struct bu_err *err)
{
	const char *tftp = bu_file_exists(tftp_dir) ? tftp_dir : NULL;
	bu_autofree char *conf = bu_dnsmasq_render(&dnsmasq->opts, tftp, hosts, count);

	if (dnsmasq->conf && strcmp(dnsmasq->conf, conf) == 0)
		return 0;
	if (bu_mkdir_p(dnsmasq->opts.dir, 0700, err) != 0 ||
	    bu_file_write(dnsmasq->conf_path, conf, strlen(conf), 0600, err) != 0)
		return -1;
	free(dnsmasq->conf);
	dnsmasq->conf = bu_steal(&conf);
	if (!dnsmasq->restart)
		dnsmasq->restart = bu_timer_create(dnsmasq->loop, start, dnsmasq);
	bu_timer_stop(dnsmasq->restart);
	start(dnsmasq);
	return 0;
}
