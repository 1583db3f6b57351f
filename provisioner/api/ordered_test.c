/* SPDX-License-Identifier: Apache-2.0 */
/* What was granted is what is done: through the real routes, whatever is applied next.
 */
#include <string.h>

#include "tests/support/desk.h"

/* Another disk. */
static const char was[] = "disk = smallest\n", is[] = "disk = serial:SECOND-01\n";

static void
until_applied(struct desk *desk, const json_t *planned)
{
	const char *revision =
		bu_json_str(json_object_get(planned, "plan"), "revision", "");

	for (int i = 0; i < 100 && strcmp(desk->site.rig.fleet->revision, revision);
	     i++)
		rig_pass(&desk->site.rig, 1);
	ck_assert_str_eq(desk->site.rig.fleet->revision, revision);
}

static const json_t *
step_of(const json_t *planned, const char *node)
{
	size_t i;
	json_t *step;

	json_array_foreach (steps_of(planned), i, step)
		if (strcmp(bu_json_str(step, "node", ""), node) == 0)
			return step;
	return NULL;
}

static void
names_disk(const json_t *planned, const char *path, const char *serial,
	   int64_t size_bytes)
{
	const json_t *step = step_of(planned, "node001");
	const json_t *disk = json_object_get(step, "disk");

	ck_assert_str_eq(bu_json_str(step, "class", ""), "wipe");
	ck_assert_str_eq(bu_json_str(disk, "path", ""), path);
	ck_assert_str_eq(bu_json_str(disk, "serial", ""), serial);
	ck_assert_int_eq(bu_json_int(disk, "size_bytes", 0), size_bytes);
}

/* Its first install broke off: there is something on its disk. */
static struct bu_node *
break_off_as(struct desk *desk, const char *from, const char *to)
{
	bu_autojson json_t *planned = plan(desk, from, to, NULL, 200);
	struct rig *rig = &desk->site.rig;
	struct bu_node *node;

	/* nothing may be lost: no disk is named */
	ck_assert_ptr_nonnull(step_of(planned, "node001"));
	ck_assert_ptr_null(json_object_get(step_of(planned, "node001"), "disk"));
	json_decref(apply(desk, planned, 200));
	until_applied(desk, planned);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	node = rig_node(rig, 1);
	rig_fire(rig, node, BU_TRIGGER_FAULT);
	rig_until(rig, node, BU_STATE_FAILED);
	return node;
}

static struct bu_node *
break_off(struct desk *desk)
{
	return break_off_as(desk, NULL, NULL);
}

static json_t *
work_of(struct desk *desk)
{
	struct bu_node *node = rig_node(&desk->site.rig, 1);
	struct bu_err err = {0};
	json_t *item;

	item = bu_work_make_step(&desk->site.api.work, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	return item;
}

static const char wipe[] = "[{\"class\":\"wipe\"}]";

START_TEST(a_wipe_stays_with_its_disk_when_another_is_applied)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *first = NULL, *second = NULL, *third = NULL;
	bu_autojson json_t *before = NULL, *after = NULL;
	const json_t *refused;
	struct bu_node *node;

	begin(&desk);
	node = break_off(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	names_disk(first, "/dev/vda", "FIRST-01", INT64_C(4) << 30);
	json_decref(apply_with(&desk, first, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	before = work_of(&desk);
	ck_assert_int_eq(bu_json_bool(before, "wipe", 0), 1);
	ck_assert_str_eq(bu_json_str(before, "disk", ""), "/dev/vda");
	ck_assert_str_eq(bu_json_str(before, "disk_serial", ""), "FIRST-01");

	second = plan(&desk, was, is, NULL, 200);
	refused = json_array_get(
		json_object_get(json_object_get(second, "plan"), "refused"), 0);
	ck_assert_str_eq(bu_json_str(refused, "node", ""), "node001");
	ck_assert_ptr_null(step_of(second, "node001"));
	json_decref(apply_with(&desk, second, wipe, 200));
	until_applied(&desk, second);
	after = work_of(&desk);
	ck_assert(json_equal(before, after));

	/* when that has ended, the next plan says what the revision needs */
	rig_install(rig, 1);
	rig_come_up(rig, 1, "boot-1");
	rig_join(rig, 1);
	ck_assert_int_eq(node->order->failed, 0);
	third = plan(&desk, was, is, NULL, 200);
	names_disk(third, "/dev/vdb", "SECOND-01", INT64_C(8) << 30);
	end(&desk);
}
END_TEST

/* A profile that says the same disk by its number reinstalls nothing. */
START_TEST(the_same_disk_in_other_words_changes_nothing)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *first = NULL, *same = NULL, *other = NULL;
	struct bu_node *node;

	begin(&desk);
	node = break_off(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply_with(&desk, first, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	rig_install(rig, 1);
	rig_come_up(rig, 1, "boot-1");
	rig_join(rig, 1);
	same = plan(&desk, was, "disk = serial:FIRST-01\n", NULL, 200);
	ck_assert_ptr_null(step_of(same, "node001"));
	other = plan(&desk, was, is, NULL, 200);
	names_disk(other, "/dev/vdb", "SECOND-01", INT64_C(8) << 30);
	end(&desk);
}
END_TEST

/* The second disk as an array of its own. */
static const char with_array[] =
	"disk = size:-5GiB\ndisks = fast\nnics = 2\n[disks fast]\nscratch = "
	"size:6GiB-\n[hardware more]\ndisk = smallest\n";

static void
has_array(const json_t *item, int may_wipe)
{
	const json_t *list = json_object_get(item, "scratch");
	const json_t *first = json_array_get(list, 0);
	const char *mark = bu_json_str(json_object_get(item, "mark"), "text", "");

	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(bu_json_str(first, "path", ""), "/dev/vdb");
	ck_assert_str_eq(bu_json_str(first, "serial", ""), "SECOND-01");
	ck_assert_uint_eq(strlen(bu_json_str(first, "guid", "")), 36);
	ck_assert_uint_eq(strlen(bu_json_str(item, "scratch_uuid", "")), 36);
	ck_assert_int_eq(bu_json_bool(item, "scratch_wipe", 0), may_wipe);
	ck_assert_msg(strstr(mark, "\"disks\":[\"FIRST-01\",\"SECOND-01\"]") != NULL,
		      "%s", mark);
}

/* Its disks are named in plan, order, work and mark, and go only by the grant. */
START_TEST(an_array_is_made_of_the_disks_that_were_granted)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *second = NULL, *unnamed = NULL;
	bu_autojson json_t *before = NULL, *after = NULL;
	const json_t *disks;
	struct bu_node *node;
	struct bu_err err = {0};

	begin(&desk);
	node = break_off_as(&desk, was, with_array);
	planned = plan(&desk, was, with_array, NULL, 200);
	disks = json_object_get(step_of(planned, "node001"), "scratch");
	ck_assert_uint_eq(json_array_size(disks), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(disks, 0), "serial", ""),
			 "SECOND-01");
	json_decref(apply_with(&desk, planned, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	before = work_of(&desk);
	has_array(before, 1);
	/* whatever is applied meanwhile */
	second = plan(&desk, was, "disk = smallest\n", NULL, 200);
	json_decref(apply_with(&desk, second, wipe, 200));
	until_applied(&desk, second);
	after = work_of(&desk);
	ck_assert(json_equal(before, after));
	/* its grant is its own: the plan knew no disk of the system's */
	bu_node_order(node)->disk[0] = bu_node_order(node)->disk_serial[0] = '\0';
	bu_node_order(node)->disk_size_bytes = 0;
	unnamed = work_of(&desk);
	has_array(unnamed, 1);
	ck_assert_int_eq(bu_json_bool(before, "wipe", 0), 1);
	ck_assert_int_eq(bu_json_bool(unnamed, "wipe", 1), 0);
	/* a disk without a number is none that was granted */
	json_object_set_new(json_array_get(node->order->scratch, 0), "serial",
			    json_integer(1));
	ck_assert_ptr_null(bu_work_make_step(&desk.site.api.work, node, &err));
	ck_assert_str_eq(err.text,
			 "the order of node001: scratch[0].serial: expected a text");
	end(&desk);
}
END_TEST

/* The second disk as the mirror of the first. */
static const char mirrored[] =
	"disk = size:-5GiB\ndisks = pair\nnics = 2\n[disks pair]\nmirror = "
	"size:6GiB-\n[hardware more]\ndisk = smallest\n";

static void
has_mirror(const json_t *item, int granted)
{
	const char *mark = bu_json_str(json_object_get(item, "mark"), "text", "");

	ck_assert_str_eq(bu_json_str(item, "disk_serial", ""), "FIRST-01");
	ck_assert_str_eq(bu_json_str(item, "mirror", ""), "/dev/vdb");
	ck_assert_str_eq(bu_json_str(item, "mirror_serial", ""), "SECOND-01");
	ck_assert_uint_eq(strlen(bu_json_str(item, "mirror_uuid", "")), 36);
	ck_assert_int_eq(bu_json_bool(item, "mirror_granted", 0), granted);
	ck_assert_msg(strstr(mark, "\"disks\":[\"FIRST-01\",\"SECOND-01\"]") != NULL,
		      "%s", mark);
}

/* Both are named in plan, order, work and mark, and go only by the grant. */
START_TEST(a_mirror_is_on_the_disks_that_were_granted)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *second = NULL;
	bu_autojson json_t *before = NULL, *after = NULL;
	struct bu_node *node;
	struct bu_err err = {0};

	begin(&desk);
	node = break_off_as(&desk, was, mirrored);
	planned = plan(&desk, was, mirrored, NULL, 200);
	names_disk(planned, "/dev/vda", "FIRST-01", INT64_C(4) << 30);
	ck_assert_str_eq(
		bu_json_str(json_object_get(step_of(planned, "node001"), "mirror"),
			    "serial", ""),
		"SECOND-01");
	json_decref(apply_with(&desk, planned, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	before = work_of(&desk);
	has_mirror(before, 1);
	/* whatever is applied meanwhile */
	second = plan(&desk, was, "disk = smallest\n", NULL, 200);
	json_decref(apply_with(&desk, second, wipe, 200));
	until_applied(&desk, second);
	after = work_of(&desk);
	ck_assert(json_equal(before, after));
	/* another disk is in its place: it was not granted */
	strcpy(bu_node_order(node)->mirror_serial, "THIRD-01");
	ck_assert_ptr_null(bu_work_make_step(&desk.site.api.work, node, &err));
	ck_assert_msg(strstr(err.text, "and granted was THIRD-01; plan again") != NULL,
		      "%s", err.text);
	end(&desk);
}
END_TEST

START_TEST(a_mirror_without_a_grant_wipes_nothing)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *item = NULL;

	begin(&desk);
	planned = plan(&desk, was, mirrored, NULL, 200);
	ck_assert_str_eq(bu_json_str(step_of(planned, "node001"), "class", ""),
			 "install");
	ck_assert_ptr_null(json_object_get(step_of(planned, "node001"), "mirror"));
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	item = work_of(&desk);
	has_mirror(item, 0);
	end(&desk);
}
END_TEST

/* Nothing was to be granted: the disks are empty, or the agent refuses them. */
START_TEST(an_array_without_a_grant_wipes_nothing)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *item = NULL;

	begin(&desk);
	planned = plan(&desk, was, with_array, NULL, 200);
	ck_assert_str_eq(bu_json_str(step_of(planned, "node001"), "class", ""),
			 "install");
	ck_assert_ptr_null(json_object_get(step_of(planned, "node001"), "scratch"));
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	item = work_of(&desk);
	has_array(item, 0);
	end(&desk);
}
END_TEST

/* A machine with fewer disks than its class has, or with none. */
static void
is_quarantined(const char *disks, const char *want)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL;
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, "boot-ramdisk");
	bu_autofree char *why = NULL;
	struct bu_node *node;

	begin(&desk);
	planned = plan(&desk, was, disks, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	node = rig_node(rig, 1);
	ck_assert_int_eq(rig_admit(rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(rig, 1);
	/* Its disks may still come. */
	ck_assert_int_ne(bu_reconcile_hello(rig->rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_pass(rig, 30000);
	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(rig, node, BU_STATE_QUARANTINED);
	why = bu_reason_text(node->reason);
	ck_assert_str_eq(why, want);
	end(&desk);
}

#define DISKS(keys)                                                                    \
	"disk = size:-5GiB\ndisks = fast\nnics = 2\n[disks fast]\n" keys               \
	"[hardware more]\ndisk = smallest\n"

START_TEST(a_machine_without_the_disks_is_quarantined)
{
	is_quarantined(DISKS("scratch = size:6GiB-\nscratch_disks = 2\n"),
		       "hardware class vm wants 2 disks that are size:6GiB-, for its "
		       "array; it has 1");
	/* The system's own is no mirror of itself, and a mirror is in no array. */
	is_quarantined(DISKS("mirror = size:-5GiB\n"),
		       "hardware class vm wants one disk that is size:-5GiB besides "
		       "the system's, to mirror it; it has 0");
	is_quarantined(DISKS("mirror = smallest\nscratch = size:1GiB-\n"
			     "scratch_disks = 1\n"),
		       "hardware class vm wants 1 disks that are size:1GiB-, for its "
		       "array; it has 0");
}
END_TEST

/* A name of the kernel is refused before anything is planned by it. */
START_TEST(no_plan_is_made_by_a_kernel_name)
{
	struct desk desk;
	bu_autojson json_t *refused = NULL;

	begin(&desk);
	refused = plan(&desk, was, "disk = /dev/vdb\n", NULL, 400);
	ck_assert_ptr_nonnull(
		strstr(bu_json_str(json_object_get(refused, "error"), "text", ""),
		       "'/dev/vdb' is wrong"));
	end(&desk);
}
END_TEST

/* What waits is replaced by the newer plan, with the grant that this one needs. */
START_TEST(what_has_not_begun_is_replaced)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *first = NULL, *second = NULL, *item = NULL;
	struct bu_node *node;

	begin(&desk);
	node = break_off(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply_with(&desk, first, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	second = plan(&desk, was, is, NULL, 200);
	names_disk(second, "/dev/vdb", "SECOND-01", INT64_C(8) << 30);
	json_decref(apply(&desk, second, 403));
	ck_assert_str_eq(node->order->disk, "/dev/vda");
	json_decref(apply_with(&desk, second, wipe, 200));
	until_applied(&desk, second);
	ck_assert_str_eq(node->order->disk, "/dev/vdb");
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	item = work_of(&desk);
	ck_assert_str_eq(bu_json_str(item, "disk", ""), "/dev/vdb");
	ck_assert_str_eq(bu_json_str(item, "disk_serial", ""), "SECOND-01");
	end(&desk);
}
END_TEST

/* Its image lies in another folder than the next revision says. */
START_TEST(an_image_is_fetched_from_where_its_order_has_it)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autofree char *dir = NULL, *to = NULL, *path = NULL, *one = NULL;
	bu_autojson json_t *planned = NULL, *item = NULL, *uses = NULL;
	const json_t *use;
	const char *url;

	begin(&desk);
	dir = bu_xasprintf("%s/others", rig->dir);
	to = bu_xasprintf("[image debian12]\npath = %s\n", dir);
	paint(&desk, dir, "2026-03-03T00:00:00Z");
	planned = plan(&desk, "[image debian12]\n", to, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	rig_revise(rig, 3, NULL, NULL);
	item = work_of(&desk);
	url = strstr(bu_json_str(item, "base_url", ""), "/digests/");
	ck_assert_ptr_nonnull(url);
	path = bu_xasprintf("%s/images/debian12/manifest.json", url);
	one = site_text(&desk.site, desk.site.boot, path, 200);
	ck_assert_ptr_nonnull(strstr(one, "2026-03-03"));
	free(one);
	one = site_text(&desk.site, desk.site.boot, "/images/debian12/manifest.json",
			200);
	ck_assert_ptr_nonnull(strstr(one, "2026-01-01"));
	/* nobody goes by it any more */
	rig_fire(rig, rig_node(rig, 1), BU_TRIGGER_FAULT);
	rig_until(rig, rig_node(rig, 1), BU_STATE_FAILED);
	json_decref(site_call(&desk.site, desk.site.boot, "GET", path, "", 404));
	/* but a retry will */
	uses = site_call(&desk.site, desk.site.local, "GET", "/v1/images", "", 200);
	use = json_array_get(json_object_get(uses, "uses"), 0);
	ck_assert_str_eq(bu_json_str(use, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(use, "digest", ""),
			 rig_node(rig, 1)->order->image_digest);
	end(&desk);
}
END_TEST

/* Built anew, by its name another one: what was ordered goes on being fetched, until
 * it is freed. */
START_TEST(a_rebuilt_image_harms_no_installation)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *item = NULL, *uses = NULL;
	const json_t *use;
	bu_autofree char *store = NULL, *path = NULL, *one = NULL;

	begin(&desk);
	/* the first was put there by an older version, as a plain folder */
	planned = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	item = work_of(&desk);
	path = bu_xasprintf("%s/images/debian12/manifest.json",
			    strstr(bu_json_str(item, "base_url", ""), "/digests/"));
	write_image_anew(&desk, "2026-04-04T00:00:00Z");
	one = site_text(&desk.site, desk.site.boot, "/images/debian12/manifest.json",
			200);
	ck_assert_ptr_nonnull(strstr(one, "2026-04-04"));
	free(one);
	one = site_text(&desk.site, desk.site.boot, path, 200);
	ck_assert_ptr_nonnull(strstr(one, "2026-01-01"));
	uses = site_call(&desk.site, desk.site.local, "GET", "/v1/images", "", 200);
	use = json_array_get(json_object_get(uses, "uses"), 0);
	ck_assert_str_eq(bu_json_str(use, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(use, "why", ""), "ordered");
	ck_assert_ptr_nonnull(strstr(path, bu_json_str(use, "digest", "none")));
	store = bu_xasprintf("%s/.store", desk.site.images);
	ck_assert_int_eq(bu_remove_tree(store, NULL), 0);
	json_decref(site_call(&desk.site, desk.site.boot, "GET", path, "", 404));
	end(&desk);
}
END_TEST

START_TEST(a_boot_has_the_arguments_of_its_order)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL;
	bu_autofree char *script = NULL;

	begin(&desk);
	planned = plan(&desk, "image = debian12\n",
		       "image = debian12\nkargs = ordered=1\n", NULL, 200);
	json_decref(apply(&desk, planned, 200));
	until_applied(&desk, planned);
	rig_start(rig, 1);
	rig_revise(rig, 3, "image = debian12\n", "image = debian12\nkargs = later=1\n");
	script = site_text(&desk.site, desk.site.boot, "/boot/script/52-54-00-77-00-01",
			   200);
	ck_assert_msg(strstr(script, "ordered=1") && !strstr(script, "later=1"), "%s",
		      script);
	end(&desk);
}
END_TEST

RIG_UNIT("ordered", a_boot_has_the_arguments_of_its_order,
	 an_image_is_fetched_from_where_its_order_has_it,
	 a_rebuilt_image_harms_no_installation,
	 a_wipe_stays_with_its_disk_when_another_is_applied,
	 the_same_disk_in_other_words_changes_nothing, no_plan_is_made_by_a_kernel_name,
	 what_has_not_begun_is_replaced,
	 an_array_is_made_of_the_disks_that_were_granted,
	 an_array_without_a_grant_wipes_nothing,
	 a_machine_without_the_disks_is_quarantined,
	 a_mirror_is_on_the_disks_that_were_granted,
	 a_mirror_without_a_grant_wipes_nothing)
