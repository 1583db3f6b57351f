/* SPDX-License-Identifier: Apache-2.0 */
/* A plan leaves no trace; what is applied is what was shown, after a restart, too. */
#include <sqlite3.h>
#include <string.h>

#include "tests/support/desk.h"

static int
count_of(const struct desk *desk, const char *table)
{
	bu_autofree char *path = bu_xasprintf("%s/log.db", desk->site.rig.dir);
	bu_autofree char *sql = bu_xasprintf("SELECT count(*) FROM %s", table);
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int count;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	count = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return count;
}

static void
settle(struct desk *desk)
{
	for (int i = 0; i < 10; i++)
		rig_pass(&desk->site.rig, 1);
}

START_TEST(a_plan_writes_nothing)
{
	struct desk desk;
	bu_autojson json_t *first = NULL, *second = NULL, *bad = NULL;
	int rows, blobs;

	begin(&desk);
	settle(&desk);
	rows = count_of(&desk, "journal");
	blobs = count_of(&desk, "blob");
	first = plan(&desk, NULL, NULL, NULL, 200);
	second = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:2", "node001", 200);
	bad = plan(&desk, "gres =", "grez =", NULL, 400);
	settle(&desk);
	ck_assert_int_eq(count_of(&desk, "journal"), rows);
	ck_assert_int_eq(count_of(&desk, "blob"), blobs);
	/* nor does an apply that is refused */
	json_decref(apply_with(&desk, first, "[{\"class\":\"magic\"}]", 400));
	settle(&desk);
	ck_assert_int_eq(count_of(&desk, "journal"), rows);
	ck_assert_int_eq(count_of(&desk, "blob"), blobs);
	end(&desk);
}
END_TEST

/* What the command line sends: the plan and its tree, whole. */
static json_t *
whole(const json_t *planned, const char *from, const char *to)
{
	struct bu_tree *tree = rig_tree(3, from, to);
	json_t *body = json_pack(
		"{s:O,s:O,s:o}", "digest", json_object_get(planned, "digest"), "plan",
		json_object_get(planned, "plan"), "tree", bu_tree_to_json(tree));

	bu_tree_destroy(tree);
	return body;
}

static json_t *
apply_sent(struct desk *desk, const json_t *body, int status)
{
	bu_autofree char *text = bu_json_canonical(body);

	return site_call(&desk->site, desk->site.local, "POST", "/v1/apply", text,
			 status);
}

START_TEST(a_restart_between_plan_and_apply_loses_nothing)
{
	struct desk desk;
	bu_autojson json_t *made = NULL, *gone = NULL, *body = NULL, *applied = NULL;
	char kinds[4096];

	begin(&desk);
	made = plan(&desk, NULL, NULL, NULL, 200);
	site_restart(&desk.site);
	gone = apply(&desk, made, 404);
	says(gone, "is no longer known");
	body = whole(made, NULL, NULL);
	applied = apply_sent(&desk, body, 200);
	ck_assert_int_eq(bu_json_int(applied, "nodes", 0), 3);
	settle(&desk);
	rig_events_after(&desk.site.rig, 0, kinds);
	ck_assert_str_eq(kinds, "- - - order order order ");
	ck_assert_str_eq(desk.site.rig.fleet->revision,
			 bu_json_str(json_object_get(made, "plan"), "revision", "?"));
	ck_assert_str_eq(rig_node(&desk.site.rig, 2)->order->revision,
			 desk.site.rig.fleet->revision);
	/* all of it is in the log: another process knows it */
	site_restart(&desk.site);
	ck_assert_str_eq(desk.site.rig.fleet->trouble, "");
	ck_assert_int_eq(rig_node(&desk.site.rig, 3)->order->open, 1);
	end(&desk);
}
END_TEST

static void
set_digest(json_t *body)
{
	char digest[BU_DIGEST_SIZE];

	bu_json_digest(json_object_get(body, "plan"), digest);
	json_object_set_new(body, "digest", json_string(digest));
}

START_TEST(what_is_sent_is_the_plan_that_bringupd_would_make)
{
	struct desk desk;
	bu_autojson json_t *made = NULL, *changed = NULL, *forged = NULL;
	bu_autojson json_t *other = NULL, *answer = NULL;
	json_t *steps;

	begin(&desk);
	made = plan(&desk, NULL, NULL, NULL, 200);
	site_restart(&desk.site);
	/* not the one of its digest */
	changed = whole(made, NULL, NULL);
	json_object_set_new(changed, "digest", json_string("00"));
	answer = apply_sent(&desk, changed, 422);
	says(answer, "the plan was changed");
	/* another tree than the one that it names */
	other = whole(made, "zone = z1", "zone = z2");
	json_decref(apply_sent(&desk, other, 422));
	/* a step that nobody planned */
	forged = whole(made, NULL, NULL);
	steps = json_object_get(json_object_get(forged, "plan"), "steps");
	json_object_set_new(json_array_get(steps, 0), "class", json_string("reboot"));
	set_digest(forged);
	json_decref(apply_sent(&desk, forged, 409));
	settle(&desk);
	ck_assert_int_eq(count_of(&desk, "journal"), 0);
	ck_assert_int_eq(count_of(&desk, "blob"), 0);
	end(&desk);
}
END_TEST

START_TEST(only_the_last_plans_are_kept)
{
	struct desk desk;
	json_t *plans[BU_PLANS_KEPT + 1];
	bu_autojson json_t *gone = NULL, *applied = NULL;

	begin(&desk);
	for (int i = 0; i <= BU_PLANS_KEPT; i++) {
		bu_autofree char *to = bu_xasprintf("gres = rdma:rxe:%d", i + 1);

		plans[i] = plan(&desk, "gres = rdma:rxe:1", to, NULL, 200);
		/* the same once more takes no place of another */
		json_decref(plan(&desk, "gres = rdma:rxe:1", to, NULL, 200));
	}
	gone = apply(&desk, plans[0], 404);
	applied = apply(&desk, plans[1], 200);
	ck_assert_int_eq(bu_json_int(applied, "nodes", 0), 3);
	for (int i = 0; i <= BU_PLANS_KEPT; i++)
		json_decref(plans[i]);
	end(&desk);
}
END_TEST

START_TEST(an_apply_says_who_was_refused_and_that_there_is_nothing_to_do)
{
	struct desk desk;
	bu_autojson json_t *made = NULL, *held = NULL, *part = NULL, *empty = NULL;
	bu_autojson json_t *rest = NULL, *nothing = NULL;
	const json_t *refused;
	int rows, blobs;

	begin(&desk);
	made = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply(&desk, made, 200));
	settle(&desk);
	held = site_call(&desk.site, desk.site.local, "POST", "/v1/nodes/node002/hold",
			 "{\"reason\":\"a card is changed\"}", 200);
	settle(&desk);
	part = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:2", NULL, 200);
	empty = apply(&desk, part, 200);
	refused = json_object_get(empty, "refused");
	ck_assert_uint_eq(json_array_size(refused), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(refused, 0), "node", ""),
			 "node002");
	ck_assert_str_ne(
		rig_sentence(json_object_get(json_array_get(refused, 0), "why")), "");
	ck_assert_str_ne(bu_json_str(empty, "rollout", ""), "");
	settle(&desk);
	rest = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:2", "node001", 200);
	ck_assert_uint_eq(json_array_size(steps_of(rest)), 0);
	rows = count_of(&desk, "journal");
	blobs = count_of(&desk, "blob");
	nothing = apply(&desk, rest, 200);
	ck_assert_str_eq(bu_json_str(nothing, "rollout", "?"), "");
	ck_assert_int_eq(bu_json_int(nothing, "nodes", -1), 0);
	settle(&desk);
	ck_assert_int_eq(count_of(&desk, "journal"), rows);
	ck_assert_int_eq(count_of(&desk, "blob"), blobs);
	end(&desk);
}
END_TEST

RIG_UNIT("applied", a_plan_writes_nothing,
	 a_restart_between_plan_and_apply_loses_nothing,
	 what_is_sent_is_the_plan_that_bringupd_would_make,
	 only_the_last_plans_are_kept,
	 an_apply_says_who_was_refused_and_that_there_is_nothing_to_do)
