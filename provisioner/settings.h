/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/bringup/bringupd.conf: where bringupd listens and keeps things. What it shall do
 * is profile, not here.
 */
#ifndef BU_SETTINGS_H
#define BU_SETTINGS_H

#include <stdio.h>

#include "base/err.h"
#include "base/networks.h"
#include "model/state.h"
#include "provisioner/api/oidc.h"
#include "provisioner/api/server.h"
#include "provisioner/api/webhook_form.h"
#include "provisioner/power/power.h"
#include "provisioner/trust/trust.h"

/* field, default, help */
#define BU_SETTINGS(X)                                                                 \
	X(state, "/var/lib/bringup", "state directory: log, keys")                     \
	X(socket, "/run/bringup/sock", "unix socket of the command line")              \
	X(boot_listen, "", "plain HTTP for booting nodes, ADDRESS:PORT")               \
	X(boot_tls_listen, "",                                                         \
	  "TLS for UEFI HTTPS boot, ADDRESS:PORT; machines need keys/boot-ca.pem")     \
	X(media_url, "",                                                               \
	  "http://ADDRESS:PORT at which BMCs reach boot_listen; empty = as nodes do")  \
	X(agent_listen, "", "TLS for agents, ADDRESS:PORT")                            \
	X(page_listen, "127.0.0.1:8480",                                               \
	  "status page; unused when a socket is inherited")                            \
	X(people_listen, "",                                                           \
	  "TLS for the page and the command line of other machines, ADDRESS:PORT; "    \
	  "with tokens")                                                               \
	X(people_ca, "",                                                               \
	  "CAs (PEM) whose client certificates people may come with there, too; "      \
	  "empty = none are asked for")                                                \
	X(people_crl, "",                                                              \
	  "list of those that are revoked (PEM), read again when it is another one")   \
	X(group_viewer, "bringup-viewer",                                              \
	  "group of the system whose members may look, over the socket; empty = none") \
	X(group_operator, "bringup-operator", "group of operators, likewise")          \
	X(group_grant, "bringup-grant",                                                \
	  "group of operators that also allow a reset, reimage or wipe")               \
	X(group_admin, "bringup-admin", "group of administrators")                     \
	X(group_auditor, "bringup-auditor", "group of auditors of the log")            \
	X(oidc_issuer, "",                                                             \
	  "issuer of OpenID Connect, https://...: with its tokens people come over "   \
	  "people_listen, with the roles of the groups above; empty = none")           \
	X(oidc_client, "", "the id of bringup's client there: the audience of tokens") \
	X(oidc_ca, "", "file of its CAs in PEM; empty = those of the system")          \
	X(oidc_scopes, "openid profile email", "scopes that bringup login asks for")   \
	X(oidc_groups_claim, "groups", "claim of a token that lists groups")           \
	X(oidc_name_claim, "",                                                         \
	  "claim with the name for the log; empty = preferred_username, else email")   \
	X(names, "",                                                                   \
	  "names by which the page and the API are reached, with commas, beside "      \
	  "localhost, bringup and the host's own; other Host headers are refused")     \
	X(boot_interface, "",                                                          \
	  "DHCP, TFTP and DNS are served here; empty = none of them")                  \
	X(boot_address, "", "our address on it")                                       \
	X(dhcp, "full",                                                                \
	  "full; proxy: another server gives addresses; relay: only what routers "     \
	  "pass on; off")                                                              \
	X(dhcp_range, "", "FIRST,LAST for machines that are in no profile (full)")     \
	X(boot_loaders, "/usr/lib/ipxe", "folder of undionly.kpxe and snponly.efi")    \
	X(serve_dns, "yes", "no: another server answers on boot_interface")            \
	X(serve_time, "yes", "the same for time, where [site] ntp is not given")       \
	X(images, "/var/lib/bringup/images", "directory of images")                    \
	X(image_dirs, "",                                                              \
	  "more directories, with commas: [image] path of profiles is beneath one")    \
	X(secrets_dir, "/etc/bringup/secrets, /etc/munge, /etc/slurm",                 \
	  "directories, with commas: other files that profiles name are beneath one")  \
	X(bmc_networks, BU_BMC_NETWORKS_DEFAULT,                                       \
	  "networks in which BMCs may be, with commas: no password leaves them; "      \
	  "private, attached (those of this machine's interfaces), or 10.1.0.0/16")    \
	X(image_key, "", "public key of images; empty = keys/image.pub beside images") \
	X(ramdisk, "/var/lib/bringup/ramdisk", "vmlinuz and agent.img")                \
	X(web, "", "directory of the page; empty = the installed one")

struct bu_settings {
#define X(field, fallback, help) char *field;
	BU_SETTINGS(X)
#undef X
	/* [limits] STATE = SECONDS; 0 = the lifecycle's own */
	int limit_s[BU_STATE_COUNT];
	struct bu_webhook_opts webhooks[BU_WEBHOOKS_MAX]; /* [webhook NAME] */
	size_t webhooks_count;
};

/* BU_ERR_INVAL names the key; an unknown one is an error. */
bu_must int bu_settings_load(const char *path, struct bu_settings *ret,
			     struct bu_err *err);
/* From now on, what profiles name is opened beneath secrets_dir, images and image_dirs
 * alone, and BMCs are in bmc_networks. */
bu_must int bu_settings_confine(const struct bu_settings *settings, struct bu_err *err);
/* The groups of the system that have the roles. Looked up here, at the start alone: a
 * directory may be slow. Names are borrowed from the settings. */
void bu_settings_groups(const struct bu_settings *settings,
			struct bu_callers_group ret[BU_PERSON_COUNT]);
/* Names and addresses of the server's certificate: "DNS:x", "IP:a.b.c.d" and NULL;
 * owned, each and all. */
char **bu_settings_server_names(const struct bu_settings *settings);
/* What tokens of an identity provider are judged by; borrowed from settings and
 * groups. */
struct bu_oidc_opts bu_settings_oidc(const struct bu_settings *settings,
				     const struct bu_callers_group *groups);
/* The trust in this directory, with a server certificate of these names. */
struct bu_trust *bu_settings_trust(const struct bu_settings *settings, const char *keys,
				   struct bu_err *err);
/* What bringup-power keeps to; borrowed from the settings. */
struct bu_power_opts bu_settings_power(const struct bu_settings *settings);
/* settings_man.c: bringupd.conf(5), as roff. */
void bu_settings_man(FILE *out);
void bu_settings_fini(struct bu_settings *settings);

#endif
