/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by the session, at start and once a day. Invariant: the appliance takes the
 * old certificate until the new one was used once, so the old pair stays in its files
 * until an answer was heard over the new one; after a crash at any place the pair on
 * disk is tried first.
 */
#include "agent/renew.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

enum { CALL_MS = 20000, PEM_MAX = 65536 };

int
bu_renew_is_due(int64_t from_s, int64_t until_s, int64_t now_s)
{
	return until_s - now_s <= (until_s - from_s) / 3;
}

int
bu_renew_settle(const struct bu_identity *identity, struct bu_err *err)
{
	bu_autofree char *next = bu_identity_path(identity, "pair.next.pem");
	bu_autofree char *pair = bu_identity_path(identity, "pair.pem");
	bu_autojson json_t *body = json_pack("{s:s}", "id", "a renewed certificate");
	struct bu_http *http;
	struct bu_err failure = {0};
	int rc;

	if (!bu_file_exists(next))
		return 0;
	http = bu_identity_connect_as(identity, next, next);
	rc = bu_http_json(
		http,
		&(struct bu_http_call){"POST", "/v1/agent/confirm", body, CALL_MS},
		NULL, &failure);
	bu_http_destroy(http);
	if (rc == 0 && rename(next, pair) != 0)
		rc = bu_err_set(&failure, BU_ERR_IO, errno, "rename '%s'", next);
	if (rc == 0)
		return 1;
	/* It never will: the next look asks for another. */
	if (failure.kind == BU_ERR_DENIED || failure.kind == BU_ERR_INVAL)
		unlink(next);
	if (err)
		*err = failure;
	return bu_err_wrap(err, "the renewed certificate");
}

static int
is_due(const struct bu_identity *identity, int64_t now_s, struct bu_err *err)
{
	bu_autofree char *pair = bu_identity_path(identity, "pair.pem");
	bu_autofree char *first = bu_identity_path(identity, "cert.pem");
	bu_autofree char *pem =
		bu_file_read(bu_file_exists(pair) ? pair : first, PEM_MAX, NULL, err);
	int64_t from_s, until_s;

	if (!pem || bu_cert_times(pem, &from_s, &until_s, err) != 0)
		return -1;
	return bu_renew_is_due(from_s, until_s, now_s);
}

/* A certificate for a new key, with that key; owned. */
static char *
fetch_pair(const struct bu_identity *identity, struct bu_heard *heard,
	   struct bu_err *err)
{
	bu_autofree char *key = NULL, *csr = NULL;
	bu_autojson json_t *body = NULL, *reply = NULL;
	struct bu_http *http;
	const char *cert;
	int rc;

	if (bu_tls_key_create(&key, err) != 0 ||
	    bu_csr_create(key, identity->node, &csr, err) != 0)
		return NULL;
	body = json_pack("{s:s}", "csr", csr);
	http = bu_identity_connect(identity);
	rc = bu_http_json(
		http, &(struct bu_http_call){"POST", "/v1/agent/renew", body, CALL_MS},
		&reply, err);
	bu_http_destroy(http);
	/* One of a log that is behind would count nowhere else. */
	if (rc != 0 || bu_heard_answer(heard, reply, err) != 0 ||
	    bu_json_get_str(reply, "cert", &cert, err) != 0)
		return NULL;
	return bu_xasprintf("%s%s", cert, key);
}

int
bu_renew(const struct bu_identity *identity, struct bu_heard *heard, int64_t now_s,
	 struct bu_err *err)
{
	bu_autofree char *next = bu_identity_path(identity, "pair.next.pem"),
			 *pair = NULL;
	int rc = bu_renew_settle(identity, err), wanted = heard->renew;

	heard->renew = 0;
	if (rc != 0)
		return rc;
	rc = wanted ? 1 : is_due(identity, now_s, err);
	if (rc <= 0)
		return rc;
	pair = fetch_pair(identity, heard, err);
	if (!pair || bu_file_write(next, pair, strlen(pair), 0600, err) != 0)
		return bu_err_wrap(err, "renew the certificate");
	bu_info("renew", "a new certificate; it is used from now on");
	return bu_renew_settle(identity, err);
}
