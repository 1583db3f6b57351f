/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of nodes with an array of further disks: what they name, and when it may go. */
#include "tests/support/plan.h"

static json_t *seen; /* what input->scratch answers */

static json_t *
scratch_of(void *arg, const struct bu_node *node,
	   const struct bu_desired_hardware *class, const char *wanted)
{
	ck_assert_str_eq(class->disk, "smallest");
	/* said in other words, the same two */
	if (strcmp(wanted, "rotational:no") == 0 ||
	    strcmp(wanted, "path:*-nvme-*") == 0)
		return json_incref(seen);
	return json_pack("[{s:s}]", "serial", "ANOTHER");
}

static json_t *
two(int written)
{
	return json_pack("[{s:s,s:s,s:I,s:s,s:b},{s:s,s:s,s:I,s:s,s:b}]", "path",
			 "/dev/nvme1n1", "serial", "N1", "size_bytes", (json_int_t)7,
			 "holds", written ? "gpt" : "", "written", written, "path",
			 "/dev/nvme2n1", "serial", "N2", "size_bytes", (json_int_t)7,
			 "holds", "", "written", 0);
}

#define DISKS(scratch)                                                                 \
	"disk = smallest\ndisks = fast\nnics = 2\n[disks fast]\nscratch = " scratch    \
	"\n[hardware more]\ndisk = smallest\n"

static void
begin_with(struct site *site, const char *was, const char *is, int written)
{
	begin(site, "disk = smallest\n", was, "disk = smallest\n", is);
	site->input.scratch = scratch_of;
	seen = two(written);
}

static void
finish(struct site *site)
{
	json_decref(seen);
	end(site);
}

/* A new image: the array stays, and the plan says of which disks it is. */
START_TEST(a_new_image_keeps_the_array)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin_with(&site, DISKS("rotational:no"), DISKS("rotational:no"), 1);
	strcpy(site.image.digest, "d2");
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "reimage");
	ck_assert(json_equal(json_object_get(step_of(plan, 0), "scratch"), seen));
	ck_assert_ptr_null(json_object_get(step_of(plan, 0), "forgets"));
	finish(&site);
}
END_TEST

/* One whose key each start forgets: the disks stay the array's, and it is said. To ask
 * for it is a wipe. */
START_TEST(a_new_image_empties_a_volatile_array)
{
	const char *volatile_one = DISKS("rotational:no\nscratch_keys = volatile");
	struct site site;
	json_t *plan;

	begin_with(&site, volatile_one, volatile_one, 1);
	strcpy(site.image.digest, "d2");
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "reimage");
	ck_assert(json_equal(json_object_get(step_of(plan, 0), "scratch"), seen));
	ck_assert(json_is_true(json_object_get(step_of(plan, 0), "forgets")));
	json_decref(plan);
	finish(&site);
	begin_with(&site, DISKS("rotational:no"), volatile_one, 1);
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "wipe");
	json_decref(plan);
	finish(&site);
}
END_TEST

#define ROOTS                                                                          \
	"disk = smallest\ndisks = two\nnics = 2\n[disks two]\nroots = 2\n"             \
	"[hardware more]\ndisk = smallest\n"

/* The other root is written, and the plan says what stays. */
START_TEST(a_new_image_goes_beside_the_old_one)
{
	for (int there = 0; there < 2; there++) {
		struct site site;
		bu_autojson json_t *plan = NULL;
		struct bu_node *node;

		begin_with(&site, ROOTS, ROOTS, 1);
		site.image.slots = 1;
		strcpy(site.image.digest, "d2");
		node = site.nodes[0];
		strcpy(node->slot, "a");
		strcpy(bu_node_other(node)->step, "s-before");
		strcpy(bu_node_other(node)->digest, there ? "d2" : "d0");
		strcpy(bu_node_other(node)->facets, node->facets);
		bu_node_other(node)->proven = 1;
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "reimage");
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "stays", ""),
				 node->installed_image);
		ck_assert_int_eq(bu_json_bool(step_of(plan, 0), "there", 0), there);
		finish(&site);
	}
}
END_TEST

START_TEST(another_number_of_roots_is_a_wipe)
{
	for (int more = 0; more < 2; more++) {
		struct site site;
		bu_autojson json_t *plan = NULL;
		const json_t *step;

		begin_with(&site, more ? "disk = smallest\n" : ROOTS,
			   more ? ROOTS : "disk = smallest\n", 1);
		site.image.slots = 1;
		plan = make(&site);
		step = step_of(plan, 0);
		ck_assert_str_eq(bu_json_str(step, "class", ""), "wipe");
		ck_assert_ptr_null(json_object_get(step, "stays"));
		finish(&site);
	}
}
END_TEST

START_TEST(without_an_array_a_new_image_is_a_wipe)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin_with(&site, "disk = smallest\n", "disk = smallest\n", 1);
	strcpy(site.image.digest, "d2");
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "wipe");
	ck_assert_ptr_null(json_object_get(step_of(plan, 0), "scratch"));
	finish(&site);
}
END_TEST

/* Other disks, or an array where there was none, cost what is on them. */
START_TEST(other_disks_are_a_wipe_and_other_words_are_nothing)
{
	static const struct {
		const char *was, *is, *class;
	} rows[] = {
		{"disk = smallest\n", DISKS("rotational:no"), "wipe"},
		{DISKS("rotational:no"), DISKS("model:X"), "wipe"},
		{DISKS("rotational:no"), DISKS("path:*-nvme-*"), NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin_with(&site, rows[i].was, rows[i].is, 0);
		plan = make(&site);
		if (rows[i].class)
			ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""),
					 rows[i].class);
		else
			ck_assert_ptr_null(step_of(plan, 0));
		finish(&site);
	}
}
END_TEST

/* A machine whose own disk is empty, and one of the others not. */
START_TEST(what_is_on_the_other_disks_needs_a_grant)
{
	for (int written = 0; written < 2; written++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin_with(&site, DISKS("rotational:no"), DISKS("rotational:no"),
			   written);
		site.nodes[0]->state = BU_STATE_ENROLLED;
		bu_node_set_installed_digest(site.nodes[0], "");
		site.nodes[0]->disk_touched = 0;
		site.disk = BU_PLAN_DISK_EMPTY;
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""),
				 written ? "wipe" : "install");
		ck_assert(!json_object_get(step_of(plan, 0), "scratch") == !written);
		finish(&site);
	}
}
END_TEST

/* Its table may be half of one: a reimage would be refused for good. */
START_TEST(a_wipe_that_broke_off_is_a_wipe_again)
{
	static const struct {
		int writing;
		enum bu_class was;
		const char *class;
	} broken[] = {
		{1, BU_CLASS_WIPE, "wipe"},
		{0, BU_CLASS_WIPE, "reimage"},
		{1, BU_CLASS_REIMAGE, "reimage"},
	};

	for (size_t i = 0; i < BU_LEN(broken); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin_with(&site, DISKS("rotational:no"), DISKS("rotational:no"), 1);
		site.nodes[0]->state = BU_STATE_FAILED;
		site.nodes[0]->disk_touched = 1;
		site.nodes[0]->writing = broken[i].writing;
		bu_node_order(site.nodes[0])->class = broken[i].was;
		site.disk = BU_PLAN_DISK_WRITTEN;
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""),
				 broken[i].class);
		finish(&site);
	}
}
END_TEST

static json_t *second; /* what input->mirror answers */

static json_t *
mirror_of(void *arg, const struct bu_node *node,
	  const struct bu_desired_hardware *class, const char *wanted)
{
	ck_assert_str_eq(class->disk, "smallest");
	if (strcmp(wanted, "serial:N1") == 0 || strcmp(wanted, "size:1TiB-") == 0)
		return json_incref(second);
	return json_pack("{s:s}", "serial", "ANOTHER");
}

#define MIRROR(mirror)                                                                 \
	"disk = smallest\ndisks = fast\nnics = 2\n[disks fast]\nmirror = " mirror      \
	"\n[hardware more]\ndisk = smallest\n"

/* A mirror where there was none, or on another disk, and none where there was one. */
START_TEST(a_mirror_is_of_two_disks)
{
	static const struct {
		const char *was, *is, *class, *mirror;
	} rows[] = {
		{"disk = smallest\n", MIRROR("size:1TiB-"), "wipe", "N1"},
		{MIRROR("size:1TiB-"), MIRROR("serial:X"), "wipe", "ANOTHER"},
		{MIRROR("size:1TiB-"), MIRROR("serial:N1"), NULL, NULL},
		{MIRROR("size:1TiB-"), "disk = smallest\n", "wipe", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;
		const json_t *step;

		begin_with(&site, rows[i].was, rows[i].is, 0);
		site.image.mirrors = 1;
		site.input.mirror = mirror_of;
		second = json_incref(json_array_get(seen, 0));
		plan = make(&site);
		step = step_of(plan, 0);
		ck_assert_int_eq(step != NULL, rows[i].class != NULL);
		if (step) {
			ck_assert_str_eq(bu_json_str(step, "class", ""), rows[i].class);
			ck_assert_str_eq(bu_json_str(json_object_get(step, "mirror"),
						     "serial", ""),
					 rows[i].mirror);
		}
		json_decref(second);
		finish(&site);
	}
}
END_TEST

START_TEST(what_is_on_the_mirror_needs_a_grant)
{
	for (int written = 0; written < 2; written++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin_with(&site, MIRROR("serial:N1"), MIRROR("serial:N1"), written);
		site.image.mirrors = 1;
		site.input.mirror = mirror_of;
		second = json_incref(json_array_get(seen, 0));
		site.nodes[0]->state = BU_STATE_ENROLLED;
		bu_node_set_installed_digest(site.nodes[0], "");
		site.nodes[0]->disk_touched = 0;
		site.disk = BU_PLAN_DISK_EMPTY;
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""),
				 written ? "wipe" : "install");
		ck_assert(!json_object_get(step_of(plan, 0), "mirror") == !written);
		json_decref(second);
		finish(&site);
	}
}
END_TEST

/* The first disk of a pair was replaced: the array of the others stays. A data
 * partition was on the disk that went, and a pair alone keeps nothing. */
START_TEST(an_array_is_kept_whichever_disk_was_replaced)
{
	static const struct {
		const char *profile;
		int keeps;
	} rows[] = {
		{MIRROR("serial:N1\nscratch = rotational:no"), 1},
		{DISKS("rotational:no"), 1},
		{MIRROR("serial:N1"), 0},
		{"disk = smallest\n", 0},
	};
	static const enum bu_plan_disk disks[] = {BU_PLAN_DISK_EMPTY,
						  BU_PLAN_DISK_WRITTEN};

	for (size_t i = 0; i < BU_LEN(rows) * BU_LEN(disks); i++) {
		const char *profile = rows[i / 2].profile;
		const char *class = rows[i / 2].keeps ? "reimage" : "wipe";
		struct site site;
		bu_autojson json_t *rebuilt = NULL, *failed = NULL;

		begin_with(&site, profile, profile, 1);
		site.image.mirrors = 1;
		site.input.mirror = mirror_of;
		second = json_incref(json_array_get(seen, 0));
		site.disk = disks[i % 2];
		site.input.rebuild = BU_CLASS_REIMAGE;
		rebuilt = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(rebuilt, 0), "class", "none"),
				 rows[i / 2].keeps ? "reimage" : "none");
		site.input.rebuild = BU_CLASS_NONE;
		site.nodes[0]->state = BU_STATE_FAILED;
		failed = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(failed, 0), "class", ""), class);
		json_decref(second);
		finish(&site);
	}
}
END_TEST

BU_UNIT("scratch", a_new_image_goes_beside_the_old_one,
	a_new_image_empties_a_volatile_array, another_number_of_roots_is_a_wipe,
	a_new_image_keeps_the_array, without_an_array_a_new_image_is_a_wipe,
	other_disks_are_a_wipe_and_other_words_are_nothing,
	what_is_on_the_other_disks_needs_a_grant, a_mirror_is_of_two_disks,
	what_is_on_the_mirror_needs_a_grant,
	an_array_is_kept_whichever_disk_was_replaced,
	a_wipe_that_broke_off_is_a_wipe_again)
