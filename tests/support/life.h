/* SPDX-License-Identifier: Apache-2.0 */
/* One life of a node of a large site, as rows and blobs of the log. */
#ifndef BU_TESTS_SUPPORT_LIFE_H
#define BU_TESTS_SUPPORT_LIFE_H

#include <jansson.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/loop.h"
#include "model/event.h"
#include "profiles/desired.h"
#include "provisioner/store/store.h"
#include "provisioner/trust/trust.h"

enum { LIFE_BOOT_SIZE = 40 };

/* Rows and blobs until the next commit. */
struct life {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_trust *trust;
	struct bu_clock clock;
	const struct bu_desired *desired;
	struct bu_event *events;
	size_t count, cap;
	char **blobs;
	size_t blobs_count, blobs_cap;
	char image_digest[BU_DIGEST_SIZE];
};

/* Ends the program unless ok. */
void life_must(int ok, const char *what, const struct bu_err *err);
/* Takes body. */
void life_note(struct life *life, enum bu_event_kind kind, const char *node,
	       json_t *body);
void life_put(struct life *life, const json_t *value, char ret_digest[BU_DIGEST_SIZE]);
/* Takes text. */
void life_put_text(struct life *life, char *text, char ret_digest[BU_DIGEST_SIZE]);

/* index: of the node in the profile. */
void life_machine(const struct life *life, size_t index, char ret[BU_DIGEST_SIZE]);
void life_boot(size_t index, int installed, char ret[LIFE_BOOT_SIZE]);
/* As its machine tells who it is. New reference. */
json_t *life_told(size_t index);
void life_hello(struct life *life, size_t index, int installed);
void life_report(struct life *life, size_t index);
void life_pair(struct life *life, size_t index, size_t other);
void life_certificates(struct life *life, size_t index);

#endif
