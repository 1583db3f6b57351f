/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state directory from the keys and the profile, without a backup of the log. Called
 * by the program's main(). Invariants: the state directory is made as place.c says; the
 * new log orders nothing; with the keys of a site it begins behind the fence.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/secret.h"
#include "model/anchor.h"
#include "model/condition.h"
#include "model/event_body.h"
#include "provisioner/backup/backup.h"
#include "provisioner/store/store.h"
#include "provisioner/trust/trust.h"

/* --- keys --- */

/* Of a backup the log is not taken over. */
static int
forget_log(const char *work, int64_t *ret_epoch, struct bu_err *err)
{
	static const char *const names[] = {"journal.db", "anchor.json"};
	bu_autofree char *path = bu_xasprintf("%s/%s", work, names[1]);
	bu_autojson json_t *document = bu_anchor_load(path, err);
	struct bu_anchor anchor;

	if (!document || bu_anchor_read(document, &anchor, err) != 0)
		return -1;
	*ret_epoch = anchor.epoch;
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *name = bu_xasprintf("%s/%s", work, names[i]);

		if (unlink(name) != 0)
			return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", name);
	}
	return 0;
}

static int
keys_of_backup(const struct bu_init_ask *ask, const char *work, int64_t *ret_epoch,
	       struct bu_err *err)
{
	bu_autoclose int fd = open(ask->site_key, O_RDONLY | O_CLOEXEC);
	char *identity;
	int rc;

	if (!ask->identity)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "'%s' is not a printed site key; if it is a backup "
				  "with the appliance's keys, give --identity KEY, "
				  "which opens it",
				  ask->site_key);
	identity = bu_place_identity(ask->identity, err);
	if (!identity)
		return -1;
	rc = fd < 0 ? bu_err_set(err, BU_ERR_IO, errno, "open '%s'", ask->site_key)
		    : bu_unpack(fd, identity, work, err);
	bu_secret_free(identity, strlen(identity));
	return rc == 0 ? forget_log(work, ret_epoch, err) : -1;
}

/* *ret_epoch: the highest that the keys' file knows, 0 = none. */
static int
take_keys(const struct bu_init_ask *ask, const char *work, int64_t *ret_epoch,
	  struct bu_err *err)
{
	static const char *const names[] = {"DNS:bringup", NULL};
	bu_autofree char *keys = bu_xasprintf("%s/keys", work);
	struct bu_trust *trust;
	struct bu_err bad = {0};

	if (ask->site_key && bu_sheet_read(ask->site_key, keys, &bad) != 0) {
		if (bad.kind == BU_ERR_NOTFOUND)
			return keys_of_backup(ask, work, ret_epoch, err);
		return bu_err_set(err, bad.kind, 0, "%s", bad.text);
	}
	if (ask->site_key)
		return 0;
	trust = bu_trust_open(keys, names, err);
	if (!trust)
		return -1;
	bu_trust_destroy(trust);
	return 0;
}

/* --- the log --- */

static void
on_begun(const struct bu_decided *decided, void *arg)
{
	struct bu_err *bad = arg;

	if (decided->err)
		*bad = *decided->err;
}

static void
make_rows(const struct bu_init_ask *ask, const char *revision, int64_t epoch,
	  struct bu_event events[4])
{
	bu_autojson json_t *none = json_array();

	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch);
	BU_EVENT_MAKE(&events[1], BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_EPOCH_UNCHECKED)->name,
		      .on = ask->site_key != NULL);
	BU_EVENT_MAKE(&events[2], BU_EVENT_REVISION, "", revision, .digest = revision,
		      .commit = ask->commit);
	BU_EVENT_MAKE(&events[3], BU_EVENT_APPLIED, "", applied, .rollout = "",
		      .plan = "", .revision = revision, .commit = ask->commit,
		      .limit = "", .grants = none, .by = "bringup init");
}

static int
begin_log(const struct bu_init_ask *ask, const char *work, int64_t epoch,
	  struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", work);
	bu_autofree char *lock = bu_xasprintf("%s.lock", path);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, err);
	const char *const texts[] = {ask->tree};
	char revision[BU_DIGEST_SIZE];
	struct bu_event events[4];
	struct bu_err bad = {0};
	int rc = store ? bu_store_put_blobs(store, texts, 1, err) : -1;

	bu_sha256_hex(ask->tree, strlen(ask->tree), revision);
	if (rc == 0) {
		make_rows(ask, revision, epoch, events);
		bu_store_append(store, events, BU_LEN(events), epoch, on_begun, &bad);
		while (bu_store_committed(store) < bu_store_appended(store))
			bu_loop_step(loop, 100);
	}
	if (bad.kind)
		rc = bu_err_set(err, bad.kind, 0, "%s", bad.text);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	remove(lock);
	return rc;
}

/* --- words --- */

static void
tell(const struct bu_init_ask *ask, const char *state, int64_t epoch, FILE *out)
{
	fprintf(out, "made %s for site %s with epoch %lld\n", state, ask->site,
		(long long)epoch);
	if (ask->sheet)
		fprintf(out,
			"the site key is in %s: print it, put the paper into a safe, "
			"and remove the file\n",
			ask->sheet);
	fputs("next: write /etc/bringup/bringupd.conf, put images and ramdisk where it "
	      "says, start bringupd\n",
	      out);
	if (ask->site_key)
		fputs("nodes that run are adopted as they are, once an agent has "
		      "confirmed that this appliance leads:\n"
		      "  bringup status, bringup plan DIR\n"
		      "if none can: bringup site take-over\n",
		      out);
	else
		fputs("then: bringup apply DIR\n", out);
}

static int
init_in(const struct bu_init_ask *ask, const char *work, int64_t now_ms,
	int64_t *ret_epoch, struct bu_err *err)
{
	bu_autofree char *keys = bu_xasprintf("%s/keys", work);
	int64_t known = 0;

	if (take_keys(ask, work, &known, err) != 0 ||
	    bu_place_check_keys(work, err) != 0)
		return -1;
	*ret_epoch = now_ms / 1000;
	if (*ret_epoch <= known)
		*ret_epoch = known + 1;
	if (begin_log(ask, work, *ret_epoch, err) != 0)
		return -1;
	return ask->sheet ? bu_sheet_write(keys, ask->sheet, now_ms, err) : 0;
}

/* The sheet has its name last: under that name are keys of a site alone. */
static int
put(const struct bu_init_ask *ask, const char *work, const char *state,
    struct bu_err *err)
{
	if (bu_place_put(work, state, err) != 0)
		return -1;
	return ask->sheet ? bu_sheet_put(ask->sheet, err) : 0;
}

int
bu_init(const struct bu_init_ask *ask, int64_t now_ms, FILE *out, struct bu_err *err)
{
	bu_autofree char *state = bu_place_name(ask->state);
	bu_autofree char *work = bu_xasprintf("%s.restore", state);
	bu_autoclose int lock = -1;
	int64_t epoch;
	int rc;

	if (bu_place_check_free(state, err) != 0)
		return -1;
	lock = bu_place_begin(work, err);
	if (lock < 0)
		return -1;
	rc = init_in(ask, work, now_ms, &epoch, err);
	if (rc == 0)
		rc = put(ask, work, state, err);
	if (rc != 0) {
		/* Else the keys are in the state directory. */
		if (ask->sheet && bu_file_exists(work))
			bu_sheet_drop(ask->sheet);
		bu_ignore(bu_remove_tree(work, NULL));
		return -1;
	}
	tell(ask, state, epoch, out);
	return 0;
}
