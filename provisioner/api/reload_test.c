/* SPDX-License-Identifier: Apache-2.0 */
/* A node that runs from memory and starts by itself, after a profile with another image
 * was applied: it is loaded from where its own image lies, by the keys of that one. */
#include <string.h>

#include "base/crypto.h"
#include "provisioner/node/binding.h"
#include "tests/support/desk.h"

static const char was[] = "[pool train]\nnodes = node[001-003]\nhardware = vm\n"
			  "image = debian12\n";

static struct desk desk;
static struct rig *rig;
static struct bu_node *node;
static char *lake_key, *lake_pub;

/* An image in a folder of its own, with a key of its own. Owned: the pool with it. */
static char *
paint_lake(void)
{
	bu_autofree char *key_path = bu_xasprintf("%s/lake.pub", desk.site.rig.dir);
	bu_autofree char *dir = bu_xasprintf("%s/lake", desk.site.rig.dir);
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_sign_key_create(&lake_key, &lake_pub, NULL), 0);
	ck_assert_int_eq(
		bu_file_write(key_path, lake_pub, strlen(lake_pub), 0644, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_msg(paper_image(dir, "lake", "2026-01-01T00:00:00Z", lake_key, digest,
				  &err) == 0,
		      "%s", err.text);
	return bu_xasprintf("[image lake]\npath = %s\nkey = file:%s\n[pool train]\n"
			    "nodes = node[001-003]\nhardware = vm\nimage = lake\n"
			    "root = ram\n",
			    dir, key_path);
}

static void
admit(const char *step, int attempt, const char *boot_id)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	char token[BU_DIGEST_SIZE];
	struct bu_enrolment enrolment = {.token = token,
					 .csr = rig_request(0),
					 .inventory = inventory,
					 .address = "10.77.0.99",
					 .mac = inventory->nics[0].mac};
	bu_autofree char *cert = NULL;
	struct bu_err err = {0};

	bu_trust_token(rig->trust, step, attempt, token);
	cert = bu_reconcile_admit(rig->rec, node, &enrolment, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	rig_pass(rig, 1);
	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(rig, node, BU_STATE_BOOTING);
}

/* What its ramdisk is told to load. */
static json_t *
load_work(struct bu_err *err)
{
	struct bu_ram_image image;

	ck_assert(bu_ram_loads(rig->rec, node, &image));
	return bu_work_make_load(&desk.site.api.work, node, &image, err);
}

static void
check_load(void)
{
	bu_autofree char *path = NULL, *manifest = NULL;
	bu_autojson json_t *item = NULL;
	struct bu_err err = {0};

	item = load_work(&err);
	ck_assert_msg(item != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(item, "image", ""), "lake");
	ck_assert_str_eq(bu_json_str(item, "image_key", ""), lake_pub);
	path = bu_xasprintf("/digests/%s/images/lake/manifest.json",
			    bu_json_str(item, "digest", ""));
	manifest = site_text(&desk.site, desk.site.boot, path, 200);
	ck_assert_ptr_nonnull(strstr(manifest, "lake"));
}

/* It is planned, applied and in its system. */
static void
begin_in_system(void)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autojson json_t *planned = NULL, *item = NULL;
	bu_autofree char *is = NULL;
	struct bu_err err = {0};

	begin(&desk);
	rig = &desk.site.rig;
	is = paint_lake();
	planned = plan(&desk, was, is, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	for (int i = 0; i < 100 && !rig->fleet->count; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	node = rig_node(rig, 1);
	admit(node->step.id, node->step.attempt, "boot-1");
	check_load();
	item = load_work(&err);
	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED,
					    json_object_get(item, "stamp"), inventory,
					    &err),
			 0);
	rig_until(rig, node, BU_STATE_VALIDATING);
}

static size_t
states(void)
{
	size_t count = 0;

	while (bu_fleet_state(rig->fleet, count))
		count++;
	return count;
}

START_TEST(it_is_loaded_by_its_own_profile)
{
	char step[BU_RAM_STEP_SIZE];

	begin_in_system();
	rig_join(rig, 1);
	ck_assert(!node->order->open);
	rig_revise(rig, 3, NULL, NULL);
	rig->silent = 1 << 1;
	rig_pass(rig, 20 * 1000);
	bu_ram_step(node, step);
	admit(step, 1, "boot-2");
	check_load();
	/* Also by a log that is read again. */
	site_restart(&desk.site);
	node = rig_node(rig, 1);
	check_load();
	/* Nobody needs it once that system is gone. */
	ck_assert_uint_eq(states(), 2);
	desk.site.pokes = 1;
	bu_binding_forget(rig->fleet, node);
	ck_assert_uint_eq(states(), 1);
	end(&desk);
	free(lake_key);
	free(lake_pub);
}
END_TEST

RIG_UNIT("api/reload", it_is_loaded_by_its_own_profile)
