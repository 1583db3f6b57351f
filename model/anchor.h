/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An anchor of the log: what its last row was, signed by the appliance and kept outside
 * (syslog, backups, files of people). A log that lacks that row was cut, or was written
 * anew.
 *
 * The agent of each node keeps the newest one that it was told: it proves which epoch
 * the agent has heard of, and what was revoked by then.
 *
 * As JSON: {"text": canonical JSON of the fields, "sig": hex, "revoked": {...}}.
 * revoked has machines that nodes gave up and certificates of agents that are no longer
 * valid, each with the name of its node; the text has its digest, so that the text and
 * its signature are enough for a line of the syslog.
 */
#ifndef BU_MODEL_ANCHOR_H
#define BU_MODEL_ANCHOR_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/event.h"

/* The greatest epoch: each is exact in any JSON reader, and has a next one. */
#define BU_EPOCH_MAX ((INT64_C(1) << 53) - 1)

struct bu_anchor {
	char site[BU_NAME_MAX]; /* "" = no profile was applied */
	int64_t epoch;
	int64_t seq; /* of the log's last row */
	char hash[65];
	int64_t time_ms;  /* of that row, Unix time */
	int64_t made_ms;  /* Unix time */
	char revoked[65]; /* digest of the list */
};

/* The fields, to be signed. New reference. */
json_t *bu_anchor_to_json(const struct bu_anchor *anchor);
/* BU_ERR_VERIFY: not signed by this key, not an anchor, or the list that is with it is
 * another one. A missing list is none. */
bu_must int bu_anchor_open(const json_t *document, const char *public_pem,
			   struct bu_anchor *ret, struct bu_err *err);
/* The same without a look at the signature and the list, for a reader that has no key
 * and had the document from its own appliance. */
bu_must int bu_anchor_read(const json_t *document, struct bu_anchor *ret,
			   struct bu_err *err);
/* The document in a file, also in a line of the syslog; new reference. */
json_t *bu_anchor_load(const char *path, struct bu_err *err);

#endif
