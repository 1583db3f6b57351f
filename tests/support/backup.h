/* SPDX-License-Identifier: Apache-2.0 */
/* An appliance on disk, with keys and a log of a few rows, and a recipient for its
 * backups. No daemon runs. */
#ifndef BU_TESTS_SUPPORT_BACKUP_H
#define BU_TESTS_SUPPORT_BACKUP_H

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "model/anchor.h"
#include "model/event_body.h"
#include "provisioner/backup/backup.h"
#include "provisioner/store/store.h"
#include "provisioner/trust/trust.h"
#include "tests/support/unit.h"

enum { APPLIANCE_EPOCH = 1700000000, APPLIANCE_ROWS = 9 };
/* When backups are restored. */
#define APPLIANCE_NOW_MS ((int64_t)1800000000 * 1000)

struct appliance {
	char dir[64];
	char *state, *conf, *out, *other; /* other: a state directory to be */
	char *key;                        /* the file of the identity */
	char recipient[BU_SEAL_TEXT_SIZE];
	json_t *anchor;
	struct bu_chain end;
	char *backup; /* that appliance_backup() made */
};

static inline void
appliance_log(struct appliance *a)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", a->state);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, NULL);
	struct bu_event events[APPLIANCE_ROWS];
	char digest[65];

	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(bu_store_put_blob(store, "what was found", digest, NULL), 0);
	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = APPLIANCE_EPOCH);
	BU_EVENT_MAKE(&events[1], BU_EVENT_EVIDENCE, "node001", evidence,
		      .digest = digest, .hint = "");
	for (int i = 2; i < APPLIANCE_ROWS; i++)
		BU_EVENT_MAKE(&events[i], BU_EVENT_AGAIN, "node001", again,
			      .by = "alice");
	bu_store_append(store, events, APPLIANCE_ROWS, APPLIANCE_EPOCH, NULL, NULL);
	while (bu_store_committed(store) < bu_store_appended(store))
		bu_loop_step(loop, 5);
	bu_store_end(store, &a->end);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
}

static inline void
appliance_begin(struct appliance *a)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *keys = NULL;
	bu_autojson json_t *body = NULL, *list = json_object();
	char identity[BU_SEAL_TEXT_SIZE];
	struct bu_anchor anchor = {.site = "falcon",
				   .epoch = APPLIANCE_EPOCH,
				   .made_ms = APPLIANCE_NOW_MS - 3 * 3600 * 1000};
	struct bu_trust *trust;

	memset(a, 0, sizeof(*a));
	strcpy(a->dir, "/tmp/bringup-backup-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(a->dir));
	a->state = bu_xasprintf("%s/state", a->dir);
	a->other = bu_xasprintf("%s/other", a->dir);
	a->conf = bu_xasprintf("%s/bringupd.conf", a->dir);
	a->out = bu_xasprintf("%s/out", a->dir);
	a->key = bu_xasprintf("%s/identity", a->dir);
	ck_assert_int_eq(bu_mkdir_p(a->state, 0700, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(a->out, 0700, NULL), 0);
	keys = bu_xasprintf("%s/keys", a->state);
	trust = bu_trust_open(keys, names, NULL);
	ck_assert_ptr_nonnull(trust);
	bu_seal_pair(identity, a->recipient);
	ck_assert_int_eq(
		bu_file_write_text(a->key, 0600, NULL, "# a key\n%s\n", identity), 0);
	ck_assert_int_eq(bu_file_write_text(a->conf, 0600, NULL, "[bringupd]\n"), 0);
	appliance_log(a);
	anchor.seq = a->end.seq;
	strcpy(anchor.hash, a->end.hash);
	bu_json_digest(list, anchor.revoked);
	body = bu_anchor_to_json(&anchor);
	a->anchor = bu_trust_sign(trust, body, NULL);
	json_object_set(a->anchor, "revoked", list);
	bu_trust_destroy(trust);
}

static inline void
appliance_end(struct appliance *a)
{
	ck_assert_int_eq(bu_remove_tree(a->dir, NULL), 0);
	free(a->state);
	free(a->other);
	free(a->conf);
	free(a->out);
	free(a->key);
	free(a->backup);
	json_decref(a->anchor);
}

static inline struct bu_backup_ask
appliance_ask(const struct appliance *a)
{
	return (struct bu_backup_ask){.state = a->state,
				      .conf = a->conf,
				      .to = a->out,
				      .recipient = a->recipient,
				      .name = "one.backup",
				      .with_keys = 1,
				      .anchor = a->anchor};
}

/* ask: NULL = that of appliance_ask(). */
static inline void
appliance_backup(struct appliance *a, const struct bu_backup_ask *ask)
{
	const struct bu_backup_ask usual = appliance_ask(a);
	struct bu_backup_made made;
	struct bu_err err = {0};

	ck_assert_msg(bu_backup_make(ask ? ask : &usual, &made, &err) == 0, "%s",
		      err.text);
	free(a->backup);
	a->backup = bu_xstrdup(made.to);
}

static inline struct bu_restore_ask
appliance_restore(const struct appliance *a)
{
	return (struct bu_restore_ask){.file = a->backup,
				       .identity = a->key,
				       .state = a->other,
				       .now_ms = APPLIANCE_NOW_MS};
}

static inline int
appliance_check_added(const struct bu_event *event, void *arg)
{
	bu_autofree char *body = json_dumps(event->body, JSON_SORT_KEYS);

	(void)arg;
	if (event->kind == BU_EVENT_EPOCH) {
		ck_assert_ptr_nonnull(strstr(body, "\"ends\": true"));
		return 0;
	}
	ck_assert_int_eq(event->kind, BU_EVENT_CONDITION);
	ck_assert_str_eq(event->node, "");
	ck_assert_ptr_nonnull(strstr(body, "\"name\": \"epoch-unchecked\""));
	ck_assert_ptr_nonnull(strstr(body, "\"on\": true"));
	return 0;
}

/* The restored log: whole, of these rows, one that raises the epoch, and one that says
 * that no agent has confirmed it. */
static inline void
appliance_is_whole(const struct appliance *a, const char *state, int64_t epoch)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", state);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, NULL);
	struct bu_chain at = {0};
	int64_t after = 0;

	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(bu_store_verify(store, &at, APPLIANCE_ROWS, NULL), 0);
	ck_assert_str_eq(at.hash, a->end.hash);
	ck_assert_int_eq(bu_store_verify(store, &at, 0, NULL), 0);
	ck_assert_int_eq(at.seq, APPLIANCE_ROWS + 2);
	ck_assert_int_eq(
		bu_store_read_tail(store, 2, appliance_check_added, NULL, NULL), 0);
	ck_assert_int_eq(bu_store_verify_blobs(store, &after, 0, 0, NULL), 0);
	ck_assert_int_eq(bu_store_lead(store).epoch, epoch);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
}

#endif
