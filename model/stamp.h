/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp of a settled node: what the log knows of the node, signed by the appliance
 * and kept by the node's agent. An appliance whose log is empty or older takes the node
 * over by its stamp, as it runs. The stamp of an install, which the installer writes,
 * is another one: it proves only which system has booted.
 *
 * As JSON: {"text": canonical JSON of the fields, "sig": hex, "facets", "full",
 * "boot"}. The last three are the texts of which the fields of these names are the
 * digests; "facets" may be missing.
 */
#ifndef BU_MODEL_STAMP_H
#define BU_MODEL_STAMP_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/event.h"
#include "model/machine.h"

struct bu_stamp {
	char site[BU_NAME_MAX], node[BU_NAME_MAX];
	char machine[BU_MACHINE_ID_SIZE]; /* the name in the agent's certificate */
	/* Fingerprints of the agent's certificates; next: renewed, and not used yet. */
	char cert[65], next[65];
	int64_t cert_until_ms, next_until_ms; /* Unix time */
	char state[16]; /* model/state.h; a node that joins is told "ready" before */
	/* The installed system, as of struct bu_node. */
	char step[112], image[BU_NAME_MAX], digest[65], slot[2];
	int raw;
	char facets[65], commit[65], revision[65];
	char called[BU_NAME_MAX]; /* the system's own name; "" = as the node */
	char boot_id[40];
	/* The cluster that it joined; "" = none. */
	char cluster[BU_NAME_MAX], driver[16], handle[256], member[BU_NAME_MAX];
	char full[65], boot[65]; /* digests of its certificates of the gate */
	char of[65];             /* digest of all of the above and of epoch */
	/* Of the log that says so, and its last row then. */
	int64_t epoch, seq;
	int64_t time_ms; /* Unix time */
};

/* Sets `of` to the digest of the other fields, but for seq and time_ms. */
void bu_stamp_set_of(struct bu_stamp *stamp);
/* The fields, to be signed. New reference. */
json_t *bu_stamp_to_json(const struct bu_stamp *stamp);
bu_must int bu_stamp_from_json(const json_t *body, struct bu_stamp *ret,
			       struct bu_err *err);
/* BU_ERR_VERIFY: not signed by this key, no stamp, or one of its texts is missing or
 * another one. */
bu_must int bu_stamp_open(const json_t *document, const char *public_pem,
			  struct bu_stamp *ret, struct bu_err *err);
/* The same without a look at signature and texts, for a reader that has no key. */
bu_must int bu_stamp_read(const json_t *document, struct bu_stamp *ret,
			  struct bu_err *err);

#endif
