/* SPDX-License-Identifier: Apache-2.0 */
/* A granted disk is found by what is its own, or not at all. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/inventory.h"
#include "provisioner/work/work.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_work_input input;
static struct bu_node *node;
static char key[256];

/* Its disk /dev/vda may go, as the plan saw it. */
static void
begin(const char *serial, const char *wwn)
{
	struct bu_event event;
	bu_autofree char *private_pem = NULL, *public_pem = NULL;

	memset(&rig, 0, sizeof(rig));
	rig_begin(&rig, 1);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	rig_write(&rig, "image.pub", public_pem);
	snprintf(key, sizeof(key), "%s/image.pub", rig.dir);
	node = rig_node(&rig, 1);
	row_init(&event, BU_EVENT_ORDER, node->name,
		 json_pack("{s:s,s:s,s:s,s:s,s:{s:s,s:s,s:s,s:I}}", "rollout", "r-1",
			   "class", "wipe", "image", "debian12", "digest", "d1", "disk",
			   "path", "/dev/vda", "serial", serial, "wwn", wwn,
			   "size_bytes", (json_int_t)4 << 30));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	input = (struct bu_work_input){.fleet = rig.fleet,
				       .trust = rig.trust,
				       .image_key = key,
				       .http_url = "http://10.77.0.1:8080",
				       .boot_address = "10.77.0.1"};
}

struct volume {
	const char *serial, *wwn;
};

/* /dev/vda and /dev/vdb as the agent of this boot tells them, of one size. */
static void
has_disks(const struct volume disks[2])
{
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, "boot-ramdisk");
	bu_autojson json_t *json = NULL;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];

	for (int i = 0; i < 2; i++) {
		BU_TEXT_COPY(inventory->disks[i].serial, disks[i].serial);
		BU_TEXT_COPY(inventory->disks[i].wwn, disks[i].wwn);
		inventory->disks[i].size_bytes = INT64_C(4) << 30;
		inventory->disks[i].signature = BU_SIGNATURE_PRESENT;
	}
	json = bu_inventory_to_json(inventory);
	text = bu_json_canonical(json);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_store_put_blob(rig.fleet->store, text, digest, NULL), 0);
	bu_node_set_inventory(node, digest);
	bu_node_disk(node)->wanted[0] = '\0';
}

#define RAID "PDNMF0ARH1R0AB"

/* The order is for the volume A, which was /dev/vda. */
START_TEST(a_number_of_two_volumes_finds_neither)
{
	static const struct {
		const char *serial, *wwn; /* of the order */
		struct volume disks[2];
		const char *disk; /* NULL = refused, and says it */
		const char *says;
	} rows[] = {
		/* the boot exchanged the names */
		{"", "naa.60a", {{RAID, "naa.60b"}, {RAID, "naa.60a"}}, "/dev/vdb", ""},
		{RAID,
		 "naa.60a",
		 {{RAID, "naa.60b"}, {RAID, "naa.60a"}},
		 "/dev/vdb",
		 ""},
		{RAID, "naa.60a", {{RAID, "naa.60a"}, {"S2", ""}}, "/dev/vda", ""},
		/* nothing but the shared number */
		{RAID,
		 "",
		 {{RAID, "naa.60b"}, {RAID, "naa.60a"}},
		 NULL,
		 "the order is for the disk with serial number " RAID
		 "; /dev/vda, /dev/vdb of node001 tell a part of that"},
		{RAID, "", {{RAID, ""}, {RAID, ""}}, NULL, "/dev/vda, /dev/vdb"},
		/* it is away, and the other one tells its number alone */
		{RAID,
		 "naa.60a",
		 {{RAID, "naa.60b"}, {"S2", ""}},
		 NULL,
		 "serial number " RAID ", WWN naa.60a; /dev/vda of node001 tells a "
		 "part of that, and none is it without doubt; nothing was written"},
		/* a clone of its world-wide name is in its bay */
		{"S1", "naa.60a", {{"S9", "naa.60a"}, {"S2", ""}}, NULL, "/dev/vda"},
		/* two tell its world-wide name, and its number is its own */
		{"S1",
		 "naa.60a",
		 {{"S9", "naa.60a"}, {"S1", "naa.60a"}},
		 "/dev/vdb",
		 ""},
	};

	begin("S1", "naa.60a");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_order *order = bu_node_order(node);
		bu_autojson json_t *item = NULL;
		struct bu_err err = {0};

		has_disks(rows[i].disks);
		BU_TEXT_COPY(order->disk_serial, rows[i].serial);
		BU_TEXT_COPY(order->disk_wwn, rows[i].wwn);
		item = bu_work_make_step(&input, node, &err);
		ck_assert_msg(!item == !rows[i].disk, "row %zu: %s", i, err.text);
		if (!item) {
			rig_text_has(err.text, rows[i].says);
			continue;
		}
		ck_assert_str_eq(bu_json_str(item, "disk", ""), rows[i].disk);
		ck_assert_str_eq(bu_json_str(item, "disk_wwn", ""), rows[i].wwn);
		ck_assert_int_eq(bu_json_bool(item, "wipe", 0), 1);
	}
	rig_end(&rig);
}
END_TEST

/* What a plan says of a disk is what is its own; the order keeps it over a restart. */
START_TEST(a_plan_names_a_disk_by_what_is_its_own)
{
	static const struct volume volumes[] = {{RAID, "naa.60a"}, {RAID, "naa.60b"}};
	struct bu_seen_disk seen;

	begin("", "naa.60b");
	has_disks(volumes);
	ck_assert_int_eq(bu_fleet_disk(rig.fleet, node, "wwn:naa.60b", &seen), 0);
	ck_assert_str_eq(seen.path, "/dev/vdb");
	ck_assert_str_eq(seen.serial, "");
	ck_assert_str_eq(seen.wwn, "naa.60b");
	ck_assert_int_eq(bu_fleet_disk(rig.fleet, node, "serial:" RAID, &seen), -1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->order->disk_wwn, "naa.60b");
	ck_assert_str_eq(node->order->disk_serial, "");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("work_disks", a_number_of_two_volumes_finds_neither,
	 a_plan_names_a_disk_by_what_is_its_own)
