/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch, the stamp and the CAs as the agent knows them. Called by the session with
 * each answer that it acts on, and by renew.c. Invariants: the epoch that is kept never
 * falls, on the disk as in memory; a stamp is taken only from an appliance whose epoch
 * counts.
 */
#include "agent/heard.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

enum { CA_MAX = 65536 };

static void
load_anchor(struct bu_heard *heard)
{
	bu_autojson json_t *document = NULL;
	struct bu_err err;

	if (!bu_file_exists(heard->path))
		return;
	document = bu_anchor_load(heard->path, &err);
	if (!document || bu_anchor_read(document, &heard->newest, &err) != 0) {
		bu_warn("heard", "%s; it counts as none", err.text);
		return;
	}
	heard->document = json_incref(document);
}

static void
load_stamp(struct bu_heard *heard)
{
	bu_autojson json_t *document = NULL;
	struct bu_stamp stamp;
	struct bu_err err;

	if (!bu_file_exists(heard->settled_path))
		return;
	document = bu_json_load(heard->settled_path, &err);
	if (!document || bu_stamp_read(document, &stamp, &err) != 0) {
		bu_warn("heard", "%s: %s; it counts as none", heard->settled_path,
			err.text);
		return;
	}
	heard->settled = json_incref(document);
	BU_TEXT_COPY(heard->settled_of, stamp.of);
}

static void
load_ca(struct bu_heard *heard)
{
	bu_autofree char *text = bu_file_read(heard->ca_path, CA_MAX, NULL, NULL);

	if (text)
		bu_sha256_hex(text, strlen(text), heard->ca);
}

void
bu_heard_load(struct bu_heard *heard, const struct bu_identity *identity)
{
	memset(heard, 0, sizeof(*heard));
	if (!identity->installed)
		return;
	heard->path = bu_identity_path(identity, "anchor.json");
	heard->settled_path = bu_identity_path(identity, "settled.json");
	heard->ca_path = bu_identity_path(identity, "ca.pem");
	load_anchor(heard);
	load_stamp(heard);
	load_ca(heard);
}

void
bu_heard_fini(struct bu_heard *heard)
{
	json_decref(heard->document);
	json_decref(heard->settled);
	free(heard->path);
	free(heard->settled_path);
	free(heard->ca_path);
	memset(heard, 0, sizeof(*heard));
}

/* The copy in memory counts as long as this agent runs. path: NULL = no file. */
static void
keep(json_t **slot, const char *path, json_t *document)
{
	bu_autofree char *text = json_dumps(document, JSON_COMPACT);
	struct bu_err err;

	json_decref(*slot);
	*slot = json_incref(document);
	if (path && bu_file_write(path, text, strlen(text), 0600, &err) != 0)
		bu_warn("heard", "what the appliance told is not kept: %s", err.text);
}

static void
keep_anchor(struct bu_heard *heard, json_t *document, int64_t epoch)
{
	struct bu_anchor anchor;
	struct bu_err bad;

	if (bu_anchor_read(document, &anchor, &bad) != 0) {
		bu_warn("heard", "the appliance's anchor: %s", bad.text);
		return;
	}
	if (anchor.epoch != epoch)
		return;
	heard->newest = anchor;
	keep(&heard->document, heard->path, document);
}

static void
keep_stamp(struct bu_heard *heard, json_t *document)
{
	struct bu_stamp stamp;
	struct bu_err bad;

	if (bu_stamp_read(document, &stamp, &bad) != 0) {
		bu_warn("heard", "the appliance's stamp: %s", bad.text);
		return;
	}
	BU_TEXT_COPY(heard->settled_of, stamp.of);
	keep(&heard->settled, heard->settled_path, document);
}

/* Over a connection that the CA of before has proven. A text that is no certificate
 * would end all others. */
static void
keep_ca(struct bu_heard *heard, const char *text)
{
	bu_autofree char *certs = NULL;
	struct bu_err err;

	if (!heard->ca_path)
		return;
	certs = bu_certs_only(text, &err);
	if (!certs || bu_file_write(heard->ca_path, text, strlen(text), 0600, &err)) {
		bu_warn("heard", "the appliance's CA is not taken: %s", err.text);
		return;
	}
	bu_sha256_hex(text, strlen(text), heard->ca);
	bu_info("heard", "the appliance is known by another set of CAs from now on");
}

int
bu_heard_answer(struct bu_heard *heard, const json_t *answer, struct bu_err *err)
{
	int64_t epoch = bu_json_int(answer, "epoch", 0);
	json_t *anchor = json_object_get(answer, "anchor");
	json_t *stamp = json_object_get(answer, "stamp");
	const char *ca = bu_json_str(answer, "ca", NULL);

	if (epoch < heard->newest.epoch)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "this appliance has epoch %lld, and another one with "
				  "epoch %lld leads the site: no work of this one is "
				  "done",
				  (long long)epoch, (long long)heard->newest.epoch);
	if (anchor)
		keep_anchor(heard, anchor, epoch);
	if (json_is_object(stamp))
		keep_stamp(heard, stamp);
	if (ca)
		keep_ca(heard, ca);
	heard->renew = bu_json_bool(answer, "renew", 0);
	return 0;
}
