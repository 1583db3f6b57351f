/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who this agent is and whom it talks to. In the boot ramdisk that comes from the
 * kernel's command line and a token; in the installed system from /var/lib/bringup,
 * where the ramdisk's agent left it.
 */
#ifndef BU_AGENT_IDENTITY_H
#define BU_AGENT_IDENTITY_H

#include "base/http.h"
#include "model/inventory.h"

struct bu_identity {
	int installed;
	char *dir; /* key.pem, cert.pem, ca.pem, agent.json; 0700 */
	char *node;
	char *url; /* of the agents' API */
	char *boot_url;
};

/* The value of name= in a kernel command line; owned, NULL when it is missing. */
char *bu_cmdline_value(const char *cmdline, const char *name);

/* What to set the clock to, 0 = leave it: a machine whose battery is empty is in
 * another year, where no certificate is valid. theirs_s: the appliance's, 0 = unknown.
 */
int64_t bu_identity_clock_s(int64_t theirs_s, int64_t ours_s);

/* Installed: what to set a clock to that is before our own certificate, and so is lost;
 * 0 = leave it. Asked without TLS, for which the clock is needed; what answers may be
 * anybody, so that no other clock is set, nor to a time that the certificate does not
 * have. -1 = nobody answers. */
bu_must int bu_identity_ask_clock(const struct bu_identity *identity, int64_t ours_s,
				  int64_t *ret_s, struct bu_err *err);
/* Does so with this machine's. */
bu_must int bu_identity_set_clock(const struct bu_identity *identity);

/* Ramdisk: without a node on the command line it tells the appliance what it is, until
 * that says which node (BU_ERR_CANCELLED: none). Then it fetches the CA, checks it
 * against bringup.ca, sets a clock that is far off the appliance's, trades the token.
 * Blocks until the appliance answers; BU_ERR_DENIED or INVAL when it never will. */
bu_must int bu_identity_enroll(const char *cmdline, const char *dir,
			       const struct bu_inventory *inventory,
			       struct bu_identity *ret, struct bu_err *err);
/* Has an enrolment in this directory been finished? */
int bu_identity_exists(const char *dir);
/* What agent.json there says. */
bu_must int bu_identity_load(const char *dir, int installed, struct bu_identity *ret,
			     struct bu_err *err);
/* A file in its directory; owned. */
char *bu_identity_path(const struct bu_identity *identity, const char *name);
/* agent.json of this identity; owned. */
char *bu_identity_text(const struct bu_identity *identity);
void bu_identity_fini(struct bu_identity *identity);

/* A connection to the agents' API with our certificate, the renewed one if there is
 * one (agent/renew.h). */
struct bu_http *bu_identity_connect(const struct bu_identity *identity);
/* The same with the certificate and the key of these files. */
struct bu_http *bu_identity_connect_as(const struct bu_identity *identity,
				       const char *cert_file, const char *key_file);

#endif
