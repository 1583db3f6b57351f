/* SPDX-License-Identifier: Apache-2.0 */
/* What an anchor says of the log, and what is revoked. */
#include "provisioner/node/anchor.h"

#include <string.h>

#include "base/json.h"
#include "model/anchor.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

static json_t *
make(struct bu_anchor *ret)
{
	struct bu_err err = {0};
	json_t *document = bu_anchor_make(rig.fleet, rig.trust, &err);

	ck_assert_msg(document != NULL, "%s", err.text);
	ck_assert_int_eq(
		bu_anchor_open(document, bu_trust_public_key(rig.trust), ret, NULL), 0);
	return document;
}

START_TEST(names_the_last_row)
{
	struct bu_anchor first, second;
	struct bu_chain end;
	struct bu_event event;
	int64_t before_ms;

	rig_begin(&rig, 1);
	json_decref(make(&first));
	ck_assert_str_eq(first.site, "lab");
	before_ms = bu_wall_ms(&rig.clock);
	rig_pass(&rig, 1000);
	BU_EVENT_MAKE(&event, BU_EVENT_AGAIN, "node001", again, .by = "me");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	json_decref(make(&second));
	bu_store_end(rig.store, &end);
	ck_assert_int_eq(second.seq, end.seq);
	ck_assert_int_gt(second.seq, first.seq);
	ck_assert_str_eq(second.hash, end.hash);
	ck_assert_int_ge(second.time_ms, before_ms + 1000);
	ck_assert_int_ge(second.made_ms, second.time_ms);
	rig_end(&rig);
}
END_TEST

START_TEST(an_empty_log_has_none)
{
	struct bu_err err = {0};

	rig_begin(&rig, 0);
	ck_assert_ptr_null(bu_anchor_make(rig.fleet, rig.trust, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	rig_end(&rig);
}
END_TEST

static void
note(const char *machine)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_BOUND, "node001", bound, .machine = machine,
		      .inventory = "");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
}

static const char *
revoked(const char *what)
{
	static char said[64];
	struct bu_anchor anchor;
	bu_autojson json_t *document = make(&anchor);

	snprintf(said, sizeof(said), "%s",
		 bu_json_str(json_object_get(document, "revoked"), what, ""));
	return said;
}

/* The machine that a node has is not revoked, and one that it gave up is. */
START_TEST(lists_what_is_revoked)
{
	struct bu_event event;

	rig_begin(&rig, 1);
	note("m-one");
	ck_assert_str_eq(revoked("m-one"), "");
	note("m-two");
	ck_assert_str_eq(revoked("m-one"), "node001");
	ck_assert_str_eq(revoked("m-two"), "");
	note("m-one");
	ck_assert_str_eq(revoked("m-one"), "");
	ck_assert_str_eq(revoked("m-two"), "node001");
	bu_node_set_agent_cert(rig_node(&rig, 1), "f-one");
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, "node001", revoked, .fingerprint = "",
		      .all = 1, .reason = "");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_str_eq(revoked("f-one"), "node001");
	/* As of the log: after a restart, too. */
	rig_restart(&rig);
	ck_assert_str_eq(revoked("m-two"), "node001");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("anchor", names_the_last_row, an_empty_log_has_none, lists_what_is_revoked)
