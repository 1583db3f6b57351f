/* SPDX-License-Identifier: Apache-2.0 */
/* Machines whose disks show up late, or never. */
#include <string.h>

#include "base/json.h"
#include "provisioner/node/reconcile.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define DISKS(lines)                                                                   \
	"disk = size:-5GiB\ndisks = two\nnics = 2\n[disks two]\n" lines                \
	"[hardware more]\ndisk = smallest\n"

/* What the class wants of two disks, of which so many are there at first. */
static const struct {
	const char *wants;
	size_t first;
	int wait_s; /* 0 = nobody waits */
	const char *says;
} rows[] = {
	{"disk = size:6GiB-\nnics = 2\n", 1, 30,
	 "disk size:6GiB-; it does not have it"},
	{"disk = size:6GiB-\nnics = 2\ndisk_wait = 400 s\n", 0, 400,
	 "does not have it"},
	{DISKS("mirror = size:6GiB-\n"), 1, 30, "size:6GiB-"},
	{DISKS("scratch = size:6GiB-\n"), 1, 30, "size:6GiB-"},
	/* Another disk would mend none of these. */
	{DISKS("scratch = size:1GiB-\nscratch_disks = 1\n"), 2, 0, NULL},
	{"disk = smallest\nnics = 3\n", 1, 0, "wants 3 NICs; it has 2"},
	{"disk = rotational:no\nnics = 2\n", 2, 0, "2 disks are that"},
};

static struct rig rig;

static int
hello(const struct bu_inventory *inventory, const char *want)
{
	struct bu_err err = {0};
	int rc = bu_reconcile_hello(rig.rec, rig_node(&rig, 1), BU_WHERE_RAMDISK, NULL,
				    inventory, &err);

	if (rc != 0) {
		ck_assert_int_eq(err.kind, BU_ERR_BUSY);
		rig_text_has(err.text, want);
	}
	return rc;
}

static struct bu_node *
begin(const char *wants)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "disk = smallest\nnics = 2\n",
		  wants);
	node = rig_node(&rig, 1);
	rig_start(&rig, 1);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&rig, 1);
	return node;
}

START_TEST(a_machine_that_lacks_disks_is_asked_again)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
		struct bu_node *node = begin(rows[i].wants);

		inventory->disks_count = rows[i].first;
		if (rows[i].wait_s) {
			ck_assert_int_ne(hello(inventory, "node001 is asked again for"),
					 0);
			rig_pass(&rig, rows[i].wait_s * 1000 - 500);
			ck_assert_int_ne(hello(inventory, "again for 1 s (disk_wait)"),
					 0);
			ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
			ck_assert_int_eq(node->repeats, 0);
			rig_pass(&rig, 500);
		}
		ck_assert_int_eq(hello(inventory, ""), 0);
		if (rows[i].says) {
			rig_until(&rig, node, BU_STATE_QUARANTINED);
			rig_reason_has(node->reason, rows[i].says);
			ck_assert_int_eq(node->disk_touched, 0);
		} else {
			rig_until(&rig, node, BU_STATE_IMAGING);
		}
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_machine_whose_disks_came_is_installed)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
		struct bu_node *node;

		if (!rows[i].wait_s)
			continue;
		node = begin(rows[i].wants);
		inventory->disks_count = rows[i].first;
		ck_assert_int_ne(hello(inventory, "not all disks of hardware class"),
				 0);
		rig_pass(&rig, rows[i].wait_s * 1000 - 500);
		inventory->disks_count = 2;
		ck_assert_int_eq(hello(inventory, ""), 0);
		rig_until(&rig, node, BU_STATE_IMAGING);
		rig_end(&rig);
	}
}
END_TEST

#define PAIR                                                                           \
	"disk = boot-pair\ndisks = two\nnics = 2\n[disks two]\nmirror = boot-pair\n"   \
	"[hardware more]\ndisk = smallest\n"

static void
make_alike(struct bu_inventory *inventory)
{
	for (int i = 0; i < 2; i++) {
		struct bu_disk *disk = &inventory->disks[i];

		disk->size_bytes = INT64_C(4) << 30;
		strcpy(disk->model, "M2");
		strcpy(disk->by_path, i ? "pci-0000:03:00.0" : "pci-0000:02:00.0");
	}
}

START_TEST(the_other_disk_of_a_boot_pair_may_come)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node = begin(PAIR);

	make_alike(inventory);
	inventory->disks_count = 1;
	ck_assert_int_ne(hello(inventory, "again for 30 s"), 0);
	inventory->disks_count = 2;
	ck_assert_int_eq(hello(inventory, ""), 0);
	rig_until(&rig, node, BU_STATE_IMAGING);
	rig_end(&rig);
}
END_TEST

START_TEST(what_there_is_instead_of_a_boot_pair_is_told)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node = begin(PAIR);

	make_alike(inventory);
	strcpy(inventory->disks[1].model, "HDD");
	ck_assert_int_eq(hello(inventory, ""), 0);
	rig_until(&rig, node, BU_STATE_QUARANTINED);
	rig_reason_has(node->reason, "disk boot-pair, and its smallest disks are not "
				     "two of one model; it has 1 of 4 GiB (M2), 1 of "
				     "4 GiB (HDD)");
	ck_assert_int_eq(node->disk_touched, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(each_boot_has_its_own_time)
{
	bu_autoinventory struct bu_inventory *first = rig_inventory(1, "b");
	bu_autoinventory struct bu_inventory *other = rig_inventory(1, "c");

	begin(rows[0].wants);
	first->disks_count = other->disks_count = 1;
	ck_assert_int_ne(hello(first, "again for 30 s"), 0);
	rig_pass(&rig, 20000);
	ck_assert_int_ne(hello(first, "again for 10 s"), 0);
	ck_assert_int_ne(hello(other, "again for 30 s"), 0);
	rig_end(&rig);
}
END_TEST

/* One that says its size in another way was not written by any agent. */
START_TEST(an_inventory_that_cannot_be_read_has_no_disks)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *json = NULL;
	struct bu_seen_disk seen;
	json_t *disk;

	inventory->disks_count = 1;
	json = bu_inventory_to_json(inventory);
	disk = json_array_get(json_object_get(json, "disks"), 0);
	ck_assert_int_eq(bu_fleet_disk_in(json, "smallest", &seen), 0);
	ck_assert_str_eq(seen.serial, inventory->disks[0].serial);
	ck_assert_int_eq(seen.size_bytes, inventory->disks[0].size_bytes);
	json_object_set_new(disk, "size_bytes", json_string("1"));
	ck_assert_int_eq(bu_fleet_disk_in(json, "smallest", &seen), -1);
	ck_assert_int_eq(bu_fleet_disk_in(NULL, "smallest", &seen), -1);
}
END_TEST

RIG_UNIT("late_disks", an_inventory_that_cannot_be_read_has_no_disks,
	 a_machine_that_lacks_disks_is_asked_again,
	 a_machine_whose_disks_came_is_installed,
	 the_other_disk_of_a_boot_pair_may_come,
	 what_there_is_instead_of_a_boot_pair_is_told, each_boot_has_its_own_time)
