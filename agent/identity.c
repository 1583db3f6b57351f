/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment, and what is kept of it. The key never leaves the machine. Renewal is in
 * renew.c. */
#include "agent/identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "model/hello.h"

enum {
	CALL_MS = 20000,
	CLOCK_MS = 5000,
	AGAIN_S = 2,
	CA_MAX = 65536,
	CLOCK_OFF_S = 300,
};

char *
bu_cmdline_value(const char *cmdline, const char *name)
{
	size_t length = strlen(name);
	const char *at = cmdline;

	while (*at) {
		size_t word = strcspn(at, " \t\n");

		if (word > length && strncmp(at, name, length) == 0 &&
		    at[length] == '=')
			return bu_xstrndup(at + length + 1, word - length - 1);
		at += word;
		at += strspn(at, " \t\n");
	}
	return NULL;
}

char *
bu_identity_path(const struct bu_identity *identity, const char *name)
{
	return bu_xasprintf("%s/%s", identity->dir, name);
}

static int
save(const struct bu_identity *identity, const char *name, const char *text,
     struct bu_err *err)
{
	bu_autofree char *path = bu_identity_path(identity, name);

	return bu_file_write(path, text, strlen(text), 0600, err);
}

int64_t
bu_identity_clock_s(int64_t theirs_s, int64_t ours_s)
{
	int64_t off_s = theirs_s - ours_s;

	return theirs_s > 0 && (off_s > CLOCK_OFF_S || off_s < -CLOCK_OFF_S) ? theirs_s
									     : 0;
}

static void
set_clock(int64_t to_s)
{
	struct timespec to = {.tv_sec = to_s};

	if (!to_s)
		return;
	if (clock_settime(CLOCK_REALTIME, &to) != 0)
		bu_warn("enroll", "the clock is wrong and cannot be set: %s",
			strerror(errno));
	else
		bu_warn("enroll", "the clock was wrong; it was set to the appliance's");
}

/* The script that booted us said what the CA is; it came the same way as the kernel. */
static int
fetch_ca(const struct bu_identity *identity, const char *digest, struct bu_err *err)
{
	struct bu_http_opts opts = {.base_url = identity->boot_url};
	struct bu_http *http = bu_http_create(&opts);
	size_t size = 0;
	bu_autofree char *pem =
		bu_http_get(http, "/boot/ca.pem", CA_MAX, CALL_MS, &size, err);
	char seen[BU_DIGEST_SIZE];
	int64_t theirs_s = bu_http_date_s(http);

	bu_http_destroy(http);
	if (!pem)
		return -1;
	bu_sha256_hex(pem, size, seen);
	if (strcmp(seen, digest) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the CA of %s has digest %s, the boot script says %s",
				  identity->boot_url, seen, digest);
	set_clock(bu_identity_clock_s(theirs_s, time(NULL)));
	return save(identity, "ca.pem", pem, err);
}

static int
trade(const struct bu_identity *identity, const char *token, const char *csr,
      const struct bu_inventory *inventory, struct bu_err *err)
{
	bu_autofree char *ca = bu_identity_path(identity, "ca.pem");
	struct bu_http_opts opts = {.base_url = identity->url, .ca_file = ca};
	bu_autojson json_t *listed = bu_inventory_to_json(inventory);
	bu_autojson json_t *body = bu_record_to_json(
		bu_enroll_fields,
		&(struct bu_enroll){identity->node, token, csr, listed});
	struct bu_http *http = bu_http_create(&opts);
	bu_autojson json_t *reply = NULL;
	const char *cert;
	int rc;

	rc = bu_http_json(
		http, &(struct bu_http_call){"POST", "/v1/agent/enroll", body, CALL_MS},
		&reply, err);
	bu_http_destroy(http);
	if (rc != 0 || bu_json_get_str(reply, "cert", &cert, err) != 0)
		return -1;
	return save(identity, "cert.pem", cert, err);
}

/* What it says of one who asks again and again is said once. */
static void
say_news(char **said, const char *text)
{
	if (*said && strcmp(*said, text) == 0)
		return;
	bu_info("enroll", "this machine is not enrolled yet: %s", text);
	free(*said);
	*said = bu_xstrdup(text);
}

static int
ask_who(const struct bu_identity *identity, const struct bu_inventory *inventory,
	json_t **ret_reply, struct bu_err *err)
{
	bu_autofree char *ca = bu_identity_path(identity, "ca.pem");
	struct bu_http_opts opts = {.base_url = identity->url, .ca_file = ca};
	bu_autojson json_t *body =
		json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
	struct bu_http *http = bu_http_create(&opts);
	int rc = bu_http_json(
		http,
		&(struct bu_http_call){"POST", "/v1/agent/discover", body, CALL_MS},
		ret_reply, err);

	bu_http_destroy(http);
	return rc;
}

/* No MAC has told the appliance who we are: it is asked until it knows, or wants
 * nothing of us. Nothing is done meanwhile. */
static int
discover(struct bu_identity *identity, const char *ca_digest,
	 const struct bu_inventory *inventory, char **ret_token, struct bu_err *err)
{
	bu_autofree char *said = NULL;

	while (!identity->node) {
		bu_autojson json_t *reply = NULL;
		struct bu_err failure = {0};
		const char *node, *token;

		if (bu_mkdir_p(identity->dir, 0700, &failure) != 0 ||
		    fetch_ca(identity, ca_digest, &failure) != 0 ||
		    ask_who(identity, inventory, &reply, &failure) != 0) {
			say_news(&said, failure.text);
			sleep(AGAIN_S);
			continue;
		}
		node = bu_json_str(reply, "node", "");
		token = bu_json_str(reply, "token", "");
		if (*node && *token) {
			identity->node = bu_xstrdup(node);
			*ret_token = bu_xstrdup(token);
			return 0;
		}
		if (bu_json_bool(reply, "leave", 0))
			return bu_err_set(err, BU_ERR_CANCELLED, 0,
					  "the appliance does not want this machine "
					  "(%s); it restarts, from its disk",
					  bu_json_str(reply, "why", ""));
		say_news(&said, bu_json_str(reply, "why", ""));
		sleep((unsigned)bu_json_int(reply, "again_s", AGAIN_S));
	}
	return 0;
}

/* What the appliance has refused it will refuse again. */
static int
is_final(const struct bu_err *err)
{
	return err->kind == BU_ERR_DENIED || err->kind == BU_ERR_INVAL;
}

/* Key and request are made once: when the answer to a trade is lost, the appliance
 * knows the second request for the same. */
static char *
key_and_request(const struct bu_identity *identity, struct bu_err *err)
{
	bu_autofree char *path = bu_identity_path(identity, "request.pem");
	bu_autofree char *key = NULL, *csr = NULL;

	if (bu_file_exists(path))
		return bu_file_read(path, 65536, NULL, err);
	if (bu_mkdir_p(identity->dir, 0700, err) != 0 ||
	    bu_tls_key_create(&key, err) != 0 ||
	    save(identity, "key.pem", key, err) != 0 ||
	    bu_csr_create(key, identity->node, &csr, err) != 0 ||
	    save(identity, "request.pem", csr, err) != 0)
		return NULL;
	return bu_steal(&csr);
}

static int
enroll(const struct bu_identity *identity, const char *ca_digest, const char *token,
       const struct bu_inventory *inventory, struct bu_err *err)
{
	bu_autofree char *csr = key_and_request(identity, err);
	bu_autofree char *about = bu_identity_text(identity);
	struct bu_err failure;

	if (!csr)
		return -1;
	for (;;) {
		memset(&failure, 0, sizeof(failure));
		if (fetch_ca(identity, ca_digest, &failure) == 0 &&
		    trade(identity, token, csr, inventory, &failure) == 0)
			return save(identity, "agent.json", about, err);
		bu_warn("enroll", "%s", failure.text);
		if (is_final(&failure)) {
			*err = failure;
			return -1;
		}
		sleep(AGAIN_S);
	}
}

int
bu_identity_enroll(const char *cmdline, const char *dir,
		   const struct bu_inventory *inventory, struct bu_identity *ret,
		   struct bu_err *err)
{
	struct bu_identity identity = {
		.dir = bu_xstrdup(dir),
		.node = bu_cmdline_value(cmdline, "bringup.node"),
		.url = bu_cmdline_value(cmdline, "bringup.url"),
		.boot_url = bu_cmdline_value(cmdline, "bringup.boot"),
	};
	bu_autofree char *ca = bu_cmdline_value(cmdline, "bringup.ca");
	bu_autofree char *token = bu_cmdline_value(cmdline, "bringup.token");

	if (!identity.node && !token && identity.url && identity.boot_url && ca &&
	    discover(&identity, ca, inventory, &token, err) != 0) {
		bu_identity_fini(&identity);
		return -1;
	}
	if (!identity.node || !identity.url || !identity.boot_url || !ca || !token)
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the kernel's command line lacks bringup.node, .url, .boot, "
			   ".ca or .token: this boot was not ordered by bringup");
	else if (enroll(&identity, ca, token, inventory, err) == 0) {
		*ret = identity;
		return 0;
	}
	bu_identity_fini(&identity);
	return -1;
}

/* When the certificate that is shown is valid; never, where there is none. */
static void
valid_s(const struct bu_identity *identity, int64_t *ret_from_s, int64_t *ret_until_s)
{
	bu_autofree char *pair = bu_identity_path(identity, "pair.pem");
	bu_autofree char *first = bu_identity_path(identity, "cert.pem");
	bu_autofree char *pem =
		bu_file_read(bu_file_exists(pair) ? pair : first, CA_MAX, NULL, NULL);

	if (!pem || bu_cert_times(pem, ret_from_s, ret_until_s, NULL) != 0)
		*ret_from_s = *ret_until_s = 0;
}

int
bu_identity_ask_clock(const struct bu_identity *identity, int64_t ours_s,
		      int64_t *ret_s, struct bu_err *err)
{
	struct bu_http_opts opts = {.base_url = identity->boot_url};
	struct bu_http *http = bu_http_create(&opts);
	size_t size = 0;
	bu_autofree char *pem =
		bu_http_get(http, "/boot/ca.pem", CA_MAX, CLOCK_MS, &size, err);
	int64_t theirs_s = bu_http_date_s(http), from_s, until_s;

	bu_http_destroy(http);
	*ret_s = 0;
	if (!pem)
		return -1;
	/* Nothing proves who answers: a clock that may be right stays as it is. */
	valid_s(identity, &from_s, &until_s);
	if (ours_s < from_s && theirs_s >= from_s && theirs_s < until_s)
		*ret_s = theirs_s;
	return 0;
}

int
bu_identity_set_clock(const struct bu_identity *identity)
{
	int64_t to_s;

	if (bu_identity_ask_clock(identity, time(NULL), &to_s, NULL) != 0)
		return -1;
	set_clock(to_s);
	return 0;
}

int
bu_identity_exists(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/agent.json", dir);

	return bu_file_exists(path);
}

char *
bu_identity_text(const struct bu_identity *identity)
{
	bu_autojson json_t *about =
		json_pack("{s:s,s:s,s:s}", "node", identity->node, "url", identity->url,
			  "boot_url", identity->boot_url);

	return bu_json_canonical(about);
}

int
bu_identity_load(const char *dir, int installed, struct bu_identity *ret,
		 struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/agent.json", dir);
	bu_autojson json_t *value = bu_json_load(path, err);
	const char *node, *url, *boot_url;

	if (!value || bu_json_get_str(value, "node", &node, err) != 0 ||
	    bu_json_get_str(value, "url", &url, err) != 0 ||
	    bu_json_get_str(value, "boot_url", &boot_url, err) != 0)
		return bu_err_wrap(err, "%s", path);
	ret->installed = installed;
	ret->dir = bu_xstrdup(dir);
	ret->node = bu_xstrdup(node);
	ret->url = bu_xstrdup(url);
	ret->boot_url = bu_xstrdup(boot_url);
	return 0;
}

void
bu_identity_fini(struct bu_identity *identity)
{
	free(identity->dir);
	free(identity->node);
	free(identity->url);
	free(identity->boot_url);
	memset(identity, 0, sizeof(*identity));
}

struct bu_http *
bu_identity_connect_as(const struct bu_identity *identity, const char *cert_file,
		       const char *key_file)
{
	bu_autofree char *ca = bu_identity_path(identity, "ca.pem");
	struct bu_http_opts opts = {
		.base_url = identity->url,
		.ca_file = ca,
		.cert_file = cert_file,
		.key_file = key_file,
	};

	return bu_http_create(&opts);
}

struct bu_http *
bu_identity_connect(const struct bu_identity *identity)
{
	bu_autofree char *pair = bu_identity_path(identity, "pair.pem");
	bu_autofree char *cert = bu_identity_path(identity, "cert.pem");
	bu_autofree char *key = bu_identity_path(identity, "key.pem");

	if (bu_file_exists(pair))
		return bu_identity_connect_as(identity, pair, pair);
	return bu_identity_connect_as(identity, cert, key);
}
