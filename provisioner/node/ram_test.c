/* SPDX-License-Identifier: Apache-2.0 */
/* A node whose system runs from memory, boot by boot: no step of it writes a disk. */
#include "provisioner/node/ram.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/node/lifecycle.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_node *node;

static const char in_memory[] = "power = libvirt\nroot = ram\n";

/* Inspecting, by an order of the applied profile. */
static void
begin(void)
{
	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "power = libvirt\n", in_memory);
	rig_start(&rig, 1);
	node = rig_node(&rig, 1);
}

static int
admit(const char *step, int attempt, int request, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "any");
	char token[BU_DIGEST_SIZE];
	struct bu_enrolment enrolment = {.token = token,
					 .csr = rig_request(request),
					 .inventory = inventory,
					 .address = "10.77.0.99",
					 .mac = inventory->nics[0].mac};
	bu_autofree char *cert = NULL;

	bu_trust_token(rig.trust, step, attempt, token);
	cert = bu_reconcile_admit(rig.rec, node, &enrolment, err);
	rig_pass(&rig, 1);
	return cert ? 0 : -1;
}

static void
hello_ramdisk(const char *boot_id)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	struct bu_err err = {0};

	/* Its disks are nobody's business. */
	inventory->disks_count = 0;
	ck_assert_msg(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL,
					 inventory, &err) == 0,
		      "%s", err.text);
	rig_pass(&rig, 1);
}

/* With the stamp of a step and an image; digest NULL: it has none of its type. */
static int
hello_loaded(const char *boot_id, const char *step, const char *digest)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	bu_autojson json_t *body =
		json_pack("{s:s,s:s,s:s,s:s,s:o}", "kind", "stamp", "step", step,
			  "machine", node->machine, "image", "debian12", "digest",
			  digest ? json_string(digest) : json_integer(7));
	bu_autojson json_t *stamp = bu_trust_sign(rig.trust, body, NULL);
	int rc = bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp, inventory,
				    NULL);

	rig_pass(&rig, 1);
	return rc;
}

static void
loads(const char *digest)
{
	struct bu_ram_image image;

	ck_assert(bu_ram_loads(rig.rec, node, &image));
	ck_assert_str_eq(image.digest, digest);
	ck_assert_str_eq(image.name, "debian12");
}

static void
loads_not(void)
{
	struct bu_ram_image image;

	ck_assert(!bu_ram_loads(rig.rec, node, &image));
}

/* Its first boot, up to validating. */
static void
first_boot(void)
{
	begin();
	ck_assert_int_eq(admit(node->step.id, node->step.attempt, 0, NULL), 0);
	hello_ramdisk("boot-1");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	loads("d1");
	ck_assert_int_eq(hello_loaded("boot-1", node->admitted_step, "d1"), 0);
	rig_until(&rig, node, BU_STATE_VALIDATING);
}

static void
never_on_disk(void)
{
	char kinds[4096];

	rig_events_after(&rig, 0, kinds);
	ck_assert_int_eq(node->disk_touched, 0);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 0);
	ck_assert_int_ne(node->step.action, BU_ACTION_INSTALL);
	ck_assert_int_ne(node->step.action, BU_ACTION_DISKBOOT);
}

static void
shows_root(const char *root)
{
	bu_autojson json_t *shown = bu_node_to_json(node);

	ck_assert_str_eq(bu_json_str(shown, "root", "?"), root);
}

START_TEST(it_boots_once_and_nothing_is_imaged)
{
	first_boot();
	shows_root("ram");
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(node->ram, 1);
	ck_assert_str_eq(node->installed_digest, "d1");
	never_on_disk();
	loads_not();
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_str_eq(node->facets, "f-d1");
	never_on_disk();
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->ram, 1);
	shows_root("ram");
	rig_end(&rig);
}
END_TEST

/* What was loaded in an earlier boot, or by a copied stamp, is not this boot's. */
START_TEST(only_the_stamp_of_this_boot_counts)
{
	for (int is_mistyped = 0; is_mistyped <= 1; is_mistyped++) {
		begin();
		ck_assert_int_eq(admit(node->step.id, node->step.attempt, 0, NULL), 0);
		hello_ramdisk("boot-1");
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
		ck_assert_int_eq(
			is_mistyped ? hello_loaded("boot-1", node->admitted_step, NULL)
				    : hello_loaded("boot-1", "node001.3.load", "d1"),
			-1);
		ck_assert_int_eq(node->ram, 0);
		rig_end(&rig);
	}
}
END_TEST

/* A reset or a power cut of a node in service: it waits until nobody hears its system,
 * gets one token for one trade, and goes through validating again. */
START_TEST(it_comes_back_by_itself)
{
	char step[BU_RAM_STEP_SIZE], old[BU_RAM_STEP_SIZE], cert[65];
	struct bu_err err = {0};

	first_boot();
	rig_join(&rig, 1);
	strcpy(cert, node->agent_cert);
	node->live.last_seen_ms = rig.clock.fake_wall_ms;
	ck_assert_int_eq(bu_ram_script(rig.rec, node), BU_RAM_WAIT);
	rig.silent = 1 << 1;
	rig_pass(&rig, 13 * 1000);
	ck_assert_int_eq(bu_ram_script(rig.rec, node), BU_RAM_SYSTEM);
	bu_ram_step(node, step);
	ck_assert_int_eq(admit("node001.1.load", 1, 0, &err), -1);
	ck_assert_int_eq(admit(step, 1, 0, &err), 0);
	strcpy(old, step);
	ck_assert_str_eq(node->admitted_step, old);
	/* Of the boot before nothing is left that could speak. */
	ck_assert_int_eq(bu_reconcile_check_peer(rig.rec, node, cert, &err), -1);
	/* The answer may have been lost; another key is another machine. */
	ck_assert_int_eq(admit(old, 1, 0, &err), 0);
	ck_assert_int_eq(admit(old, 1, 1, &err), -1);
	hello_ramdisk("boot-2");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_pass(&rig, 1000);
	rig_why_says(&rig, node, "loads its system into memory");
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	loads("d1");
	ck_assert_int_eq(hello_loaded("boot-2", node->admitted_step, "d1"), 0);
	rig_until(&rig, node, BU_STATE_VALIDATING);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	ck_assert_str_eq(node->facets, "f-d1");
	never_on_disk();
	rig_join(&rig, 1);
	rig_end(&rig);
}
END_TEST

/* In every state but those in which it is nobody's. */
START_TEST(it_is_never_sent_to_its_disk)
{
	first_boot();
	rig.silent = 1 << 1;
	rig_pass(&rig, 13 * 1000);
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		enum bu_ram_script want =
			state == BU_STATE_ENROLLED || state == BU_STATE_RETIRED
				? BU_RAM_OTHER
			: state == BU_STATE_INSPECTING || state == BU_STATE_IMAGING
				? BU_RAM_WAIT
				: BU_RAM_SYSTEM;

		node->state = (enum bu_state)state;
		ck_assert_msg(bu_ram_script(rig.rec, node) == want, "%s",
			      bu_state_name(node->state));
	}
	node->state = BU_STATE_VALIDATING;
	node->agent_revoked = 1;
	ck_assert_int_eq(bu_ram_script(rig.rec, node), BU_RAM_WAIT);
	node->agent_revoked = 0;
	rig_end(&rig);
}
END_TEST

START_TEST(what_cannot_be_loaded_ends_by_name)
{
	struct bu_err away = {0}, wrong = {0};

	begin();
	ck_assert_int_eq(admit(node->step.id, node->step.attempt, 0, NULL), 0);
	hello_ramdisk("boot-1");
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	bu_err_set(&away, BU_ERR_REMOTE, 0, "the server is away");
	bu_ram_result(rig.rec, node, node->admitted_step, &away);
	loads_not();
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	rig_pass(&rig, 31 * 1000);
	loads("d1");
	ck_assert_int_eq(node->live.load->attempt, 1);
	bu_err_set(&wrong, BU_ERR_STATE, 0, "image x needs 9 MiB of memory");
	bu_ram_result(rig.rec, node, "node001.1.load", &wrong);
	loads("d1");
	bu_ram_result(rig.rec, node, node->admitted_step, &wrong);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_has(node->reason, "image x needs 9 MiB of memory");
	rig_pass(&rig, 60 * 1000);
	loads_not();
	rig_end(&rig);
}
END_TEST

/* The ladder boots it from the network, too; another image comes with a reboot. */
START_TEST(a_late_one_and_another_image_boot_from_the_network)
{
	first_boot();
	rig_join(&rig, 1);
	rig_apply(&rig, 1, BU_CLASS_REBOOT, "d2", "power = libvirt\n", in_memory);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until(&rig, node, BU_STATE_DRAINING);
	rig_write(&rig, "sinfo", "");
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	ck_assert_int_eq(bu_ram_script(rig.rec, node), BU_RAM_SYSTEM);
	for (int s = 0; s < 400 && node->repeats == 0; s++)
		rig_pass(&rig, 1000);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 3);
	never_on_disk();
	{
		char step[BU_RAM_STEP_SIZE];

		bu_ram_step(node, step);
		ck_assert_int_eq(admit(step, 1, 0, NULL), 0);
	}
	hello_ramdisk("boot-2");
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	loads("d2");
	ck_assert_int_eq(hello_loaded("boot-2", node->admitted_step, "d2"), 0);
	rig_until(&rig, node, BU_STATE_VALIDATING);
	ck_assert_str_eq(node->installed_digest, "d2");
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_str_eq(node->facets, "f-d2");
	rig_end(&rig);
}
END_TEST

/* Nodes on disks have none of it. */
START_TEST(a_node_on_a_disk_gets_no_token_by_itself)
{
	char step[BU_RAM_STEP_SIZE];
	struct bu_err err = {0};

	node = rig_up_to(&rig, RIG_READY);
	rig.silent = 1 << 1;
	rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(bu_ram_script(rig.rec, node), BU_RAM_OTHER);
	bu_ram_step(node, step);
	ck_assert_int_eq(admit(step, 1, 0, &err), -1);
	rig_text_has(err.text, "no boot of node001 was ordered");
	loads_not();
	rig_end(&rig);
}
END_TEST

static void
power(const char *op)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = "ann",
					.op = op,
					.force = 1,
					.reason = "smoke"};
	bu_autofree char *text = NULL;

	/* Slurm is told of it first. */
	rig_write(&rig, "sinfo.next", "drained\n");
	text = bu_verb_run(rig.rec, node, &ask, &(struct bu_err){0});
	ck_assert_ptr_nonnull(text);
	for (int i = 0; i < 4; i++)
		rig_pass(&rig, 500);
}

/* What is on its disk is somebody else's. */
START_TEST(a_person_who_switches_it_does_not_start_its_disk)
{
	first_boot();
	rig_join(&rig, 1);
	power("cycle");
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	power("off");
	power("on");
	ck_assert_int_eq(rig_count(&rig, "on network node001"), 1);
	ck_assert_int_eq(rig_count(&rig, "on disk node001"), 0);
	never_on_disk();
	rig_end(&rig);
}
END_TEST

RIG_UNIT("node/ram", it_boots_once_and_nothing_is_imaged,
	 only_the_stamp_of_this_boot_counts, it_comes_back_by_itself,
	 it_is_never_sent_to_its_disk, what_cannot_be_loaded_ends_by_name,
	 a_late_one_and_another_image_boot_from_the_network,
	 a_node_on_a_disk_gets_no_token_by_itself,
	 a_person_who_switches_it_does_not_start_its_disk)
