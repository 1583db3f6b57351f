/* SPDX-License-Identifier: Apache-2.0 */
/* What a ready node's agent is told when its configuration changes, and what it reads
 * back afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
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

static void begin(enum bu_class class)
{
	memset(&rig, 0, sizeof(rig));
	rig_begin(&rig, 1);
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	node = rig_node(&rig, 1);
	input = (struct bu_work_input){
		.fleet = rig.fleet, .trust = rig.trust, .boot_address = "10.77.0.1"};
	if (class == BU_CLASS_NONE)
		return;
	rig_apply(&rig, 1, class, "d1", NULL, NULL);
	for (int i = 0; i < 100 && node->order->class != class; i++)
		rig_pass(&rig, 1);
}

static const json_t *
file_of(const json_t *item, const char *path)
{
	size_t i;
	json_t *file;

	json_array_foreach (json_object_get(item, "files"), i, file)
		if (strcmp(bu_json_str(file, "path", ""), path) == 0)
			return file;
	ck_abort_msg("no %s", path);
	return NULL;
}

START_TEST(a_live_change_carries_every_file)
{
	bu_autojson json_t *item = NULL, *again = NULL;
	const json_t *file;
	struct bu_err err = {0};

	begin(BU_CLASS_RECONFIGURE);
	ck_assert_msg(bu_reconcile_begin(rig.rec, node, &err) == 0, "%s", err.text);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	item = bu_work_make_step(&input, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "configure");
	ck_assert_str_eq(bu_json_str(item, "id", ""), node->step.id);
	ck_assert_int_eq(bu_json_bool(item, "live", 0), 1);
	ck_assert_str_eq(bu_json_str(item, "then", "?"), "");
	ck_assert_int_eq(bu_json_int(item, "confirm_ms", 0), 30000);
	ck_assert_uint_gt(json_array_size(json_object_get(item, "patterns")), 5);
	file = file_of(item, "/etc/systemd/network/10-bringup-fabric.network");
	ck_assert_str_eq(bu_json_str(file, "apply", ""), "network");
	ck_assert_ptr_nonnull(
		strstr(bu_json_str(file, "content", ""), "52:54:00:78:00:01"));
	again = bu_work_make_step(&input, node, &err);
	ck_assert(json_equal(item, again));
	rig_end(&rig);
}
END_TEST

START_TEST(a_reboot_writes_now_and_switches_off)
{
	bu_autojson json_t *item = NULL;
	struct bu_err err = {0};

	begin(BU_CLASS_REBOOT);
	rig_write(&rig, "sinfo", "");
	ck_assert_msg(bu_reconcile_begin(rig.rec, node, &err) == 0, "%s", err.text);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	item = bu_work_make_step(&input, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	ck_assert_int_eq(bu_json_bool(item, "live", 1), 0);
	ck_assert_str_eq(bu_json_str(item, "then", ""), "off");
	ck_assert_str_eq(bu_json_str(item, "kargs", "?"), "");
	rig_end(&rig);
}
END_TEST

/* It was booted for its order, and leaves once more in the middle of it. */
START_TEST(who_does_not_boot_next_stays_on)
{
	static const enum bu_state next[] = {BU_STATE_VALIDATING, BU_STATE_PARKED,
					     BU_STATE_SERVICING};

	for (size_t i = 0; i < BU_LEN(next); i++) {
		bu_autojson json_t *item = NULL;
		struct bu_err err = {0};

		begin(BU_CLASS_REBOOT);
		node->step.action = BU_ACTION_CONFIGURE; /* as after its leave */
		bu_node_next(node)->state = next[i];
		item = bu_work_make_step(&input, node, &err);
		ck_assert_msg(item != NULL, "%s", err.text);
		ck_assert_str_eq(bu_json_str(item, "then", "?"), "");
		rig_end(&rig);
	}
}
END_TEST

static void
greet(int mtu)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autojson json_t *stamp = rig_stamp(&rig, node);
	struct bu_err err = {0};

	inventory->links = bu_xcalloc(2, sizeof(*inventory->links));
	inventory->links_count = 2;
	for (int i = 0; i < 2; i++) {
		struct bu_net_link *link = &inventory->links[i];

		memcpy(link->name, inventory->nics[i].name, sizeof(link->name));
		strcpy(link->kind, "ethernet");
		link->mtu = mtu;
		link->addresses_count = 1;
		strcpy(link->addresses[0], i ? "10.78.0.11/24" : "10.77.0.11/24");
	}
	ck_assert_msg(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					 inventory, &err) == 0,
		      "%s", err.text);
	for (int i = 0; i < 100 && node->live.appending; i++)
		rig_pass(&rig, 1);
}

START_TEST(a_new_hello_tells_drift)
{
	bu_autojson json_t *none = NULL, *good = NULL, *bad = NULL;
	char first[65];

	begin(BU_CLASS_NONE);
	none = bu_work_drift(&input, node);
	ck_assert_uint_eq(json_array_size(none), 0);
	greet(1500);
	good = bu_work_drift(&input, node);
	ck_assert_msg(json_array_size(good) == 0, "%s",
		      bu_json_str(json_array_get(good, 0), "text", ""));
	BU_TEXT_COPY(first, node->inventory);
	greet(1500); /* nothing new: nothing in the log */
	ck_assert_str_eq(node->inventory, first);
	rig.fleet->desired->networks[1].mtu = 9000;
	bad = bu_work_drift(&input, node);
	ck_assert_uint_eq(json_array_size(bad), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(bad, 0), "what", ""), "MTU");
	greet(9000);
	ck_assert_str_ne(node->inventory, first);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

static int
has_pattern(const json_t *item, const char *path)
{
	size_t i;
	json_t *pattern;

	json_array_foreach (json_object_get(item, "patterns"), i, pattern)
		if (strcmp(json_string_value(pattern), path) == 0)
			return 1;
	return 0;
}

/* Without it, that machine would start no second time. */
START_TEST(an_image_that_is_not_ours_keeps_its_fstab)
{
	bu_autojson json_t *ours = NULL, *other = NULL;
	struct bu_desired_pool *pool;
	struct bu_err err = {0};

	begin(BU_CLASS_REBOOT);
	node->step.action = BU_ACTION_CONFIGURE;
	ours = bu_work_make_step(&input, node, &err);
	ck_assert_msg(ours != NULL, "%s", err.text);
	ck_assert(has_pattern(ours, "/etc/fstab"));
	pool = &rig.fleet->desired->pools[0];
	pool->root = BU_ROOT_RAW;
	other = bu_work_make_step(&input, node, &err);
	ck_assert_msg(other != NULL, "%s", err.text);
	ck_assert(!has_pattern(other, "/etc/fstab"));
	ck_assert_uint_eq(json_array_size(json_object_get(other, "patterns")) + 1,
			  json_array_size(json_object_get(ours, "patterns")));
	rig_end(&rig);
}
END_TEST

/* Another disk, image, address, cluster, layout and command line. */
static const char *const others[][2] = {
	{"disk = smallest\n", "disk = path:elsewhere\n"},
	{"[image debian12]\n", "[image debian12]\nkey = file:/no/such/key\n"},
	{"10.77.0.[11-18]", "10.77.0.[21-28]"},
	{"rdma = rxe\n", "rdma = rxe\nmtu = 9000\n"},
	{"image = debian12\n", "image = debian12\nkargs = iommu=pt\n"},
	{"hardware = vm\n", "hardware = vm\ndata = scratch:1GiB:ext4:/scratch\n"},
	{"zone = z1\n", "zone = z1\ndns = 10.77.0.9\n"},
};

/* Its disk may go: that was granted for this one, by name and serial number. */
static void
begin_wipe(const char *serial)
{
	struct bu_event event;
	bu_autofree char *private_pem = NULL, *public_pem = NULL;

	memset(&rig, 0, sizeof(rig));
	rig_begin(&rig, 1);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	rig_write(&rig, "image.pub", public_pem);
	node = rig_node(&rig, 1);
	row_init(&event, BU_EVENT_ORDER, node->name,
		 json_pack("{s:s,s:s,s:s,s:s,s:{s:s,s:s,s:I}}", "rollout", "r-1",
			   "class", "wipe", "image", "debian12", "digest", "d1", "disk",
			   "path", "/dev/vda", "serial", serial, "size_bytes",
			   (json_int_t)4 << 30));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
}

static json_t *
item_of(const char *image_key)
{
	struct bu_err err = {0};
	json_t *item;

	input = (struct bu_work_input){.fleet = rig.fleet,
				       .trust = rig.trust,
				       .image_key = image_key,
				       .http_url = "http://10.77.0.1:8080",
				       .boot_address = "10.77.0.1"};
	item = bu_work_make_step(&input, rig_node(&rig, 1), &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	return item;
}

START_TEST(a_wipe_is_of_the_disk_that_it_was_granted_for)
{
	bu_autofree char *key = NULL;
	bu_autojson json_t *first = NULL;

	begin_wipe("S6X1");
	key = bu_xasprintf("%s/image.pub", rig.dir);
	first = item_of(key);
	ck_assert_str_eq(bu_json_str(first, "disk", ""), "/dev/vda");
	ck_assert_str_eq(bu_json_str(first, "disk_serial", ""), "S6X1");
	ck_assert_int_eq(bu_json_int(first, "disk_size_bytes", 0), (int64_t)4 << 30);
	ck_assert_int_eq(bu_json_bool(first, "wipe", 0), 1);
	ck_assert_int_eq(bu_json_bool(first, "keep", 1), 0);
	for (size_t i = 0; i < BU_LEN(others); i++) {
		bu_autojson json_t *now = NULL, *later = NULL;

		rig_revise(&rig, 1, others[i][0], others[i][1]);
		now = item_of(key);
		ck_assert_msg(json_equal(first, now), "%s", others[i][1]);
		rig_restart(&rig);
		later = item_of(key);
		ck_assert_msg(json_equal(first, later), "%s", others[i][1]);
	}
	rig_end(&rig);
}
END_TEST

/* The kernel of this boot calls the granted disk by the name of another one. */
START_TEST(a_granted_disk_is_found_by_its_number)
{
	bu_autofree char *key = NULL;
	bu_autojson json_t *item = NULL;

	begin_wipe("SECOND-01");
	key = bu_xasprintf("%s/image.pub", rig.dir);
	item = item_of(key);
	ck_assert_str_eq(bu_json_str(item, "disk", ""), "/dev/vdb");
	ck_assert_str_eq(bu_json_str(item, "disk_serial", ""), "SECOND-01");
	rig_end(&rig);
}
END_TEST

/* The plan knew no disk: what is put in later may be full, and nobody granted that. */
START_TEST(a_wipe_that_names_no_disk_wipes_none)
{
	static const struct {
		const char *path, *serial;
		int64_t size_bytes;
		int wipe;
	} rows[] = {{"/dev/vda", "FIRST-01", INT64_C(4) << 30, 1},
		    {"/dev/vda", "FIRST-01", 0, 1},
		    {"/dev/vdc", "", INT64_C(4) << 30, 1},
		    {"/dev/vda", "", 0, 0},
		    {"", "", 0, 0}};
	bu_autofree char *key = NULL;

	begin_wipe("FIRST-01");
	key = bu_xasprintf("%s/image.pub", rig.dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_order *order = bu_node_order(rig_node(&rig, 1));
		bu_autojson json_t *item = NULL;

		strcpy(order->disk, rows[i].path);
		strcpy(order->disk_serial, rows[i].serial);
		order->disk_size_bytes = rows[i].size_bytes;
		item = item_of(key);
		ck_assert_int_eq(bu_json_bool(item, "wipe", !rows[i].wipe),
				 rows[i].wipe);
		ck_assert_str_eq(bu_json_str(item, "disk", ""),
				 rows[i].path[0] ? rows[i].path : "/dev/vda");
	}
	rig_end(&rig);
}
END_TEST

/* Two disks, of 4 GiB and `gib`, as the agent tells them; "" = no serial number. */
static void
has_disks(const char *first, const char *second, int gib)
{
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, "boot-ramdisk");
	bu_autojson json_t *json = NULL;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];

	for (int i = 0; i < 2; i++)
		snprintf(inventory->disks[i].by_path, sizeof(inventory->disks->by_path),
			 "bay-%d", i);
	strcpy(inventory->disks[0].serial, first);
	strcpy(inventory->disks[1].serial, second);
	inventory->disks[1].size_bytes = (int64_t)gib << 30;
	json = bu_inventory_to_json(inventory);
	text = bu_json_canonical(json);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_store_put_blob(rig.fleet->store, text, digest, NULL), 0);
	bu_node_set_inventory(node, digest);
	bu_node_disk(node)->wanted[0] = '\0';
}

/* The order is for /dev/vda, of 4 GiB and without a serial number. */
static const struct {
	enum bu_class class;
	const char *selector, *first, *second;
	int gib;
	const char *disk; /* NULL = refused, and says it */
	const char *says;
} unnumbered[] = {
	{BU_CLASS_WIPE, "smallest", "", "", 4, NULL,
	 "no serial number, others of its 4294967296 bytes have none either"},
	{BU_CLASS_WIPE, "path:bay-*, first", "", "", 4, NULL,
	 "give them serial numbers (<serial> in libvirt), or say the place of this one "
	 "([hardware] disk = path:...), and plan again; alike are /dev/vda, /dev/vdb"},
	{BU_CLASS_REIMAGE, "smallest", "", "", 4, NULL, "alike are /dev/vda, /dev/vdb"},
	/* it is not the one of then, whatever its name */
	{BU_CLASS_WIPE, "smallest", "FIRST-01", "", 4, NULL,
	 "disk /dev/vda has serial number FIRST-01; the order is for one without"},
	/* nothing is lost */
	{BU_CLASS_INSTALL, "smallest", "", "", 4, "/dev/vda", NULL},
	/* by name and size it is one */
	{BU_CLASS_WIPE, "smallest", "", "SECOND-01", 4, "/dev/vda", NULL},
	{BU_CLASS_WIPE, "smallest", "", "", 8, "/dev/vda", NULL},
	/* by its place it is one, under another name in this boot */
	{BU_CLASS_WIPE, "path:bay-1", "", "", 4, "/dev/vdb", NULL},
	{BU_CLASS_WIPE, "path:bay-7", "", "", 4, NULL,
	 "node001 has no disk path:bay-7 now, which the order is for"},
};

START_TEST(of_equal_disks_without_numbers_none_is_wiped)
{
	bu_autofree char *key = NULL;
	struct bu_desired_hardware *hardware;

	begin_wipe("");
	has_disks("", "", 8);
	key = bu_xasprintf("%s/image.pub", rig.dir);
	json_decref(item_of(key));
	hardware = &rig.fleet->desired->hardware[0];
	for (size_t i = 0; i < BU_LEN(unnumbered); i++) {
		bu_autojson json_t *item = NULL;
		struct bu_err err = {0};

		has_disks(unnumbered[i].first, unnumbered[i].second, unnumbered[i].gib);
		free(hardware->disk);
		hardware->disk = bu_xstrdup(unnumbered[i].selector);
		bu_node_order(node)->class = unnumbered[i].class;
		item = bu_work_make_step(&input, node, &err);
		ck_assert_msg(!item == !unnumbered[i].disk, "row %zu: %s", i, err.text);
		if (item)
			ck_assert_str_eq(bu_json_str(item, "disk", ""),
					 unnumbered[i].disk);
		else
			rig_text_has(err.text, unnumbered[i].says);
	}
	rig_end(&rig);
}
END_TEST

/* What would be lost is not lost by mistake, and what was granted is so for the disk
 * that was named: one that is found later may be a sibling's. */
START_TEST(only_a_wipe_wipes_and_only_a_reimage_keeps)
{
	static const struct {
		enum bu_class class;
		int wipe, keep, unnamed;
	} rows[] = {{BU_CLASS_INSTALL, 0, 0, 0},
		    {BU_CLASS_REIMAGE, 0, 1, 0},
		    {BU_CLASS_WIPE, 1, 0, 0},
		    {BU_CLASS_REIMAGE, 0, 0, 1},
		    {BU_CLASS_WIPE, 0, 0, 1}};
	bu_autofree char *key = NULL;

	begin_wipe("S6X1");
	key = bu_xasprintf("%s/image.pub", rig.dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = NULL, *mark = NULL, *stamp = NULL;
		struct bu_order *order = bu_node_order(rig_node(&rig, 1));

		order->class = rows[i].class;
		if (rows[i].unnamed) {
			order->disk[0] = order->disk_serial[0] = '\0';
			order->disk_size_bytes = 0;
		}
		rig.fleet->epoch = 1700000001 + (int64_t)i;
		item = item_of(key);
		ck_assert_int_eq(bu_json_bool(item, "wipe", !rows[i].wipe),
				 rows[i].wipe);
		ck_assert_int_eq(bu_json_bool(item, "keep", !rows[i].keep),
				 rows[i].keep);
		/* what is left on the disk says of which epoch it is */
		mark = bu_trust_open_signed(rig.trust, json_object_get(item, "mark"),
					    NULL);
		stamp = bu_trust_open_signed(rig.trust, json_object_get(item, "stamp"),
					     NULL);
		ck_assert_int_eq(bu_json_int(mark, "epoch", 0), rig.fleet->epoch);
		ck_assert_int_eq(bu_json_int(stamp, "epoch", 0), rig.fleet->epoch);
		ck_assert_str_eq(bu_json_str(mark, "kind", ""), "mark");
		ck_assert_str_eq(bu_json_str(stamp, "kind", ""), "stamp");
	}
	rig_end(&rig);
}
END_TEST

#define DIRECTORY                                                                      \
	"[access]\ndirectory = ldaps://a\ndirectory_base = dc=a\n"                     \
	"directory_ca = file:%s/ca.pem\ndirectory_user = cn=n\n"                       \
	"directory_key = file:%s/ldap\n[image debian12]"

static void
on_secret(void *arg)
{
}

/* With what the files hold now (NULL = there is no such file); NULL or the work. */
static json_t *
with_directory(const char *ca, const char *key, struct bu_err *err)
{
	bu_autofree char *ca_path = bu_xasprintf("%s/ca.pem", rig.dir);
	bu_autofree char *key_path = bu_xasprintf("%s/ldap", rig.dir);
	json_t *item;

	unlink(ca_path);
	if (ca)
		ck_assert_int_eq(bu_file_write_text(ca_path, 0644, NULL, "%s", ca), 0);
	ck_assert_int_eq(bu_file_write_text(key_path, 0600, NULL, "%s", key), 0);
	memset(err, 0, sizeof(*err));
	input.secrets = bu_secrets_create(rig.loop, on_secret, NULL);
	item = bu_work_make_step(&input, node, err);
	bu_secrets_destroy(input.secrets);
	return item;
}

/* The profile names files; what is in them is read when a node gets its own. */
START_TEST(the_password_of_a_directory_comes_with_the_files)
{
	static const char *const wrong[] = {"two\nlines\n", "", " x\n", "x \n", "\t"};
	bu_autojson json_t *item = NULL;
	bu_autofree char *to = NULL, *certs = NULL;
	const char *ca;
	const json_t *file;
	struct bu_err err = {0};

	begin(BU_CLASS_NONE);
	ca = bu_trust_ca(rig.trust);
	certs = bu_xasprintf("# of the directory\n%s# the last\n", ca);
	to = bu_xasprintf(DIRECTORY, rig.dir, rig.dir);
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", "[image debian12]", to);
	for (int i = 0; i < 100 && node->order->class != BU_CLASS_RECONFIGURE; i++)
		rig_pass(&rig, 1);
	ck_assert_msg(bu_reconcile_begin(rig.rec, node, &err) == 0, "%s", err.text);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	item = with_directory(certs, "hunter2\n", &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	file = file_of(item, "/etc/sssd/conf.d/bringup.conf");
	ck_assert_int_eq(bu_json_int(file, "mode", 0), 0600);
	ck_assert_ptr_nonnull(strstr(bu_json_str(file, "content", ""),
				     "\nldap_default_bind_dn = cn=n\n"));
	ck_assert_ptr_nonnull(strstr(bu_json_str(file, "content", ""),
				     "\nldap_default_authtok = hunter2\n"));
	file = file_of(item, "/etc/sssd/bringup-ca.pem");
	/* certificates, and nothing that stands between them */
	ck_assert_str_eq(bu_json_str(file, "content", ""), ca);
	ck_assert_ptr_null(with_directory("PEM\n", "hunter2\n", &err));
	rig_text_has(err.text, "there is no certificate");
	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		ck_assert_ptr_null(with_directory(ca, wrong[i], &err));
		ck_assert_msg(strstr(err.text, "directory_key") != NULL ||
				      strstr(err.text, "/ldap") != NULL,
			      "%s", err.text);
	}
	ck_assert_ptr_null(with_directory(NULL, "hunter2\n", &err));
	rig_text_has(err.text, "[access] directory_ca");
	rig_text_has(err.text, "/ca.pem");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("work", a_wipe_is_of_the_disk_that_it_was_granted_for,
	 a_granted_disk_is_found_by_its_number, a_wipe_that_names_no_disk_wipes_none,
	 of_equal_disks_without_numbers_none_is_wiped,
	 only_a_wipe_wipes_and_only_a_reimage_keeps, a_live_change_carries_every_file,
	 a_reboot_writes_now_and_switches_off, who_does_not_boot_next_stays_on,
	 an_image_that_is_not_ours_keeps_its_fstab, a_new_hello_tells_drift,
	 the_password_of_a_directory_comes_with_the_files)
