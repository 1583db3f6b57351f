/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a boot by what its machine asks for. */
#include "provisioner/node/proof.h"

#include <stdlib.h>

#include "tests/support/site.h"
#include "tests/support/unit.h"

static void
fetch(struct site *site, const char *path)
{
	free(site_text(site, site->boot, path, 200));
}

static void
waits(const struct site *site, const char *words)
{
	struct bu_node *node = rig_node(&site->rig, 1);

	rig_reason_is(node->live.wait_reason, NOT_CALLED);
	rig_reason_has(node->live.wait_reason, words);
	rig_why_says(&site->rig, node, words);
}

/* Each link of it, where it ended, and what a restart leaves of it. */
START_TEST(a_boot_is_proven_by_what_its_machine_asks_for)
{
	struct site site;
	struct bu_node *node;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	site_begin(&site, 1);
	rig_write(&site.rig, "ramdisk/vmlinuz", "k");
	rig_write(&site.rig, "ramdisk/agent.img", "r");
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	rig_pass(&site.rig, 1000);
	waits(&site, "its machine has not asked for its boot script");
	bu_proof_rival("10.77.0.2", site.rig.rec);
	rig_pass(&site.rig, 1000);
	waits(&site, "another DHCP server (10.77.0.2) answers in the boot network");
	bu_proof_rival("", site.rig.rec);
	/* Files alone are nobody's. */
	fetch(&site, "/boot/vmlinuz");
	waits(&site, "its machine has not asked for its boot script");
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	waits(&site, "it has not asked for the kernel");
	rig_pass(&site.rig, 2000);
	fetch(&site, "/boot/vmlinuz");
	rig_pass(&site.rig, 38000);
	waits(&site, "it has not asked for the ramdisk");
	rig_why_says(&site.rig, node,
		     "asked for the kernel 38 s ago (at 127.0.0.1); there it ends");
	fetch(&site, "/boot/agent.img");
	waits(&site, "its agent has not called");
	/* It has begun again: what it had then, it has no more. */
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	waits(&site, "it has not asked for the kernel");
	ck_assert_int_eq(rig_admit(&site.rig, node, rig_request(0), inventory, NULL),
			 0);
	rig_pass(&site.rig, 1000);
	waits(&site, "its agent has not said hello");
	/* Token and hello are in the log, the rest is said to be unknown. */
	site_restart(&site);
	rig_pass(&site.rig, 1000);
	node = rig_node(&site.rig, 1);
	waits(&site, "its agent has not said hello");
	rig_why_says(&site.rig, node, "before bringupd started is not known");
	ck_assert_int_eq(bu_reconcile_hello(site.rig.rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(&site.rig, node, BU_STATE_IMAGING);
	rig_pass(&site.rig, 1000);
	rig_reason_is(node->live.wait_reason, NONE);
	rig_why_says(&site.rig, node, "its agent said hello");
	/* From its disk it boots without asking anybody. */
	rig_until_step(&site.rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
	rig_install(&site.rig, 1);
	rig_pass(&site.rig, 1000);
	waits(&site, "it was started from its disk, and its agent has not called");
	site_end(&site);
}
END_TEST

/* Where it ended is in the reason of its ladder, too. */
START_TEST(who_is_late_says_where_its_boot_ended)
{
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	for (int i = 0; i < 900 && !node->repeats; i++)
		rig_pass(&site.rig, 1000);
	ck_assert_int_eq(node->repeats, 1);
	rig_reason_has(node->reason, "asked for its boot script at");
	rig_reason_has(node->reason, "it has not asked for the kernel");
	site_end(&site);
}
END_TEST

static void
pass_seconds(struct site *site, int seconds)
{
	while (seconds--)
		rig_pass(&site->rig, 1000);
}

/* The power went in the middle of what it was at: longer than a minute before it would
 * be late. */
static void
lose_power(struct site *site, int seconds)
{
	struct bu_node *node = rig_node(&site->rig, 1);

	/* Anybody in the boot network can ask in its name. */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, seconds);
	ck_assert_int_eq(node->repeats, 0);
	/* And an agent may be silent for its network alone. */
	site->rig.silent = 1 << 1;
	pass_seconds(site, seconds);
	ck_assert_int_eq(node->repeats, 0);
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 40);
	/* its firmware has found nothing, and asks again */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 18);
	ck_assert_int_eq(node->repeats, 0);
	pass_seconds(site, 4);
	ck_assert_int_eq(node->repeats, 1);
	rig_reason_is(node->reason, BEGAN_AGAIN);
	rig_until_step(&site->rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&site->rig, "boot network node001"), 2);
	/* This boot is ours: it gets the agent, and is late by its own deadline. */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 120);
	ck_assert_int_eq(node->repeats, 1);
}

START_TEST(who_lost_its_power_in_the_middle_begins_again_within_minutes)
{
	struct site site;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	lose_power(&site, 300);
	rig_why_says(&site.rig, rig_node(&site.rig, 1),
		     "began to boot again in the middle of imaging");
	site_end(&site);
}
END_TEST

/* It has traded its token, and never said hello. */
START_TEST(who_lost_its_power_before_its_hello_does_so_too)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	ck_assert_int_eq(rig_admit(&site.rig, node, rig_request(0), inventory, NULL),
			 0);
	rig_pass(&site.rig, 1000);
	lose_power(&site, 90);
	site_end(&site);
}
END_TEST

RIG_UNIT("boot proof", a_boot_is_proven_by_what_its_machine_asks_for,
	 who_is_late_says_where_its_boot_ended,
	 who_lost_its_power_in_the_middle_begins_again_within_minutes,
	 who_lost_its_power_before_its_hello_does_so_too)
