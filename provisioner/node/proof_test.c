/* SPDX-License-Identifier: Apache-2.0 */
/* How far a boot came: what a machine has asked for is told with its time, of this boot
 * alone, and what is missing after it. */
#include "provisioner/node/proof.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static void
words_are(const struct rig *rig, const struct bu_node *node, const char *want)
{
	json_t *lines = json_array();
	bu_autofree char *text = NULL,
			 *wanted = bu_xasprintf("%s%s", want, *want ? "\n" : "");

	bu_proof_say(rig->rec, node, lines);
	text = rig_lines(lines);
	ck_assert_str_eq(text, wanted);
}

/* What it is waited for: the last that was seen, and what has not come after it. */
static void
waits_for(const struct bu_node *node, const char *seen, const char *missing)
{
	const char *said = rig_said(node->live.wait_reason);

	rig_reason_is(node->live.wait_reason, NOT_CALLED);
	rig_text_has(said, seen);
	if (*missing)
		rig_text_has(said, missing);
	else
		ck_assert_ptr_null(strchr(said, ';'));
}

static void
note(struct rig *rig, struct bu_node *node, enum bu_proof_link link)
{
	bu_proof_note(rig->rec, node, link, "10.77.0.11");
}

/* Its machine is being booted by this process, and nothing was seen of it. */
static struct bu_node *
being_booted(struct rig *rig)
{
	struct bu_node *node = rig_up_to(rig, RIG_STARTED);

	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	bu_proof_look(rig->rec, node);
	return node;
}

START_TEST(each_request_is_told_with_what_is_missing_after_it)
{
	struct rig rig;
	struct bu_node *node = being_booted(&rig);

	words_are(&rig, node, "");
	waits_for(node, "its machine has not asked for its boot script", "");
	note(&rig, node, BU_PROOF_SCRIPT);
	waits_for(node, "asked for its boot script at 20",
		  "it has not asked for the kernel");
	rig.clock.fake_wall_ms += 3000;
	note(&rig, node, BU_PROOF_KERNEL);
	waits_for(node, "asked for the kernel at 20",
		  "it has not asked for the ramdisk");
	words_are(
		&rig, node,
		"its boot: asked for its boot script 3 s ago, asked for the kernel 0 s "
		"ago (at 10.77.0.11); there it ends: it has not asked for the ramdisk");
	rig.clock.fake_wall_ms += 2000;
	note(&rig, node, BU_PROOF_KERNEL); /* the second part of the same file */
	words_are(
		&rig, node,
		"its boot: asked for its boot script 5 s ago, asked for the kernel 2 s "
		"ago (at 10.77.0.11); there it ends: it has not asked for the ramdisk");
	note(&rig, node, BU_PROOF_RAMDISK);
	waits_for(node, "asked for the ramdisk at 20", "its agent has not called");
	/* It has begun again. */
	note(&rig, node, BU_PROOF_SCRIPT);
	words_are(
		&rig, node,
		"its boot: asked for its boot script 0 s ago (at 10.77.0.11); there it "
		"ends: it has not asked for the kernel");
	rig.clock.fake_wall_ms += 1000;
	note(&rig, node, BU_PROOF_SCRIPT); /* and once more: the last one counts */
	words_are(
		&rig, node,
		"its boot: asked for its boot script 0 s ago (at 10.77.0.11); there it "
		"ends: it has not asked for the kernel");
	rig_end(&rig);
}
END_TEST

/* Of another step or attempt nothing counts, wherever it came from. */
START_TEST(what_was_seen_is_of_one_attempt)
{
	struct rig rig;
	struct bu_node *node = being_booted(&rig);

	ck_assert_ptr_null(bu_proof_of(rig.fleet, ""));
	ck_assert_ptr_null(bu_proof_of(rig.fleet, "10.77.0.11"));
	note(&rig, node, BU_PROOF_SCRIPT);
	note(&rig, node, BU_PROOF_KERNEL);
	ck_assert_ptr_eq(bu_proof_of(rig.fleet, "10.77.0.11"), node);
	ck_assert_ptr_null(bu_proof_of(rig.fleet, "10.77.0.12"));
	ck_assert_ptr_null(bu_proof_of(rig.fleet, ""));
	node->step.attempt++;
	ck_assert_ptr_null(bu_proof_of(rig.fleet, "10.77.0.11"));
	words_are(&rig, node, "");
	bu_proof_look(rig.rec, node);
	waits_for(node, "its machine has not asked for its boot script", "");
	node->step.attempt--;
	ck_assert_ptr_eq(bu_proof_of(rig.fleet, "10.77.0.11"), node);
	node->step.id[0] ^= 1;
	ck_assert_ptr_null(bu_proof_of(rig.fleet, "10.77.0.11"));
	note(&rig, node, BU_PROOF_KERNEL);
	words_are(&rig, node,
		  "its boot: asked for the kernel 0 s ago (at 10.77.0.11); there it "
		  "ends: it has not asked for the ramdisk");
	rig_end(&rig);
}
END_TEST

/* Who is held, was refused, or is not being booted is not waited for so; what another
 * part of bringup says of it stays. */
START_TEST(only_who_is_being_booted_is_waited_for)
{
	struct rig rig;
	struct bu_node *node = being_booted(&rig);
	static const struct bu_reason none;

	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, NONE);
	bu_node_hold(node)->owner = BU_OWNER_NONE;
	BU_REASON_SET(bu_node_refusal(node), NO_IDENTITY, .text = {"no serial number"});
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, NONE);
	*bu_node_refusal(node) = none;
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, NOT_CALLED);
	bu_reason_set(bu_node_wait_reason(node), BU_REASON_UNHEARD, NULL);
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, UNHEARD);
	/* What a BMC refused is over when its step goes on. */
	bu_reason_set(bu_node_wait_reason(node), BU_REASON_BMC_REFUSES, NULL);
	node->step.status = BU_STEP_FAILED;
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, BMC_REFUSES);
	node->step.status = BU_STEP_DONE;
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, NOT_CALLED);
	rig_inspect(&rig, 1);
	note(&rig, node, BU_PROOF_SCRIPT); /* somebody else's: it is being installed */
	words_are(&rig, node,
		  "its boot: traded its token 0 s ago, its agent said hello 0 s ago");
	rig_end(&rig);
}
END_TEST

/* Each way to boot is waited for in its own words. */
START_TEST(what_has_shown_nothing_is_named_by_its_way_to_boot)
{
	struct rig rig;
	struct bu_node *node = being_booted(&rig);

	bu_proof_rival("10.77.0.99", rig.rec);
	bu_proof_look(rig.rec, node);
	waits_for(
		node, "its machine has not asked for its boot script",
		"another DHCP server (10.77.0.99) answers in the boot network and may "
		"have sent it elsewhere");
	bu_proof_unserved("52:54:00:77:00:01", "22 (U-Boot, arm64)", rig.rec);
	waits_for(node, "its machine has not asked for its boot script",
		  "its firmware asks for architecture 22 (U-Boot, arm64), for which "
		  "there is no loader: see bringupd's log and docs/boot.md");
	bu_proof_unserved("52:54:00:99:99:99", "6 (UEFI)", rig.rec); /* nobody's */
	bu_proof_unserved("52:54:00:77:00:01", "", rig.rec);
	waits_for(
		node, "its machine has not asked for its boot script",
		"another DHCP server (10.77.0.99) answers in the boot network and may "
		"have sent it elsewhere");
	bu_proof_rival("", rig.rec);
	node->kexecs = 1;
	bu_proof_look(rig.rec, node);
	waits_for(node, "its ramdisk starts the installed system by kexec", "");
	node->kexecs = 0;
	node->on = BU_TRIGGER_LOADS;
	bu_proof_look(rig.rec, node);
	waits_for(node, "its ramdisk loads its system into memory", "");
	node->on = BU_TRIGGER_START;
	node->state = BU_STATE_BOOTING;
	node->step.action = BU_ACTION_DISKBOOT;
	bu_proof_look(rig.rec, node);
	waits_for(node, "it was started from its disk, and its agent has not called",
		  "");
	node->state = BU_STATE_INSPECTING; /* from its disk it does not inspect */
	bu_proof_look(rig.rec, node);
	rig_reason_is(node->live.wait_reason, NONE);
	rig_end(&rig);
}
END_TEST

/* Of what was fetched nothing is known any more, and that is said once it boots. */
START_TEST(after_a_restart_what_was_fetched_is_not_known)
{
	struct rig rig;
	struct bu_node *node = being_booted(&rig);

	note(&rig, node, BU_PROOF_SCRIPT);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	bu_proof_look(rig.rec, node);
	waits_for(node, "nothing was seen of its boot since bringupd started", "");
	words_are(&rig, node, "what it fetched before bringupd started is not known");
	note(&rig, node, BU_PROOF_KERNEL);
	words_are(&rig, node,
		  "its boot: asked for the kernel 0 s ago (at 10.77.0.11); there it "
		  "ends: it has not asked for the ramdisk\n"
		  "what it fetched before bringupd started is not known");
	rig_end(&rig);

	rig_up_to(&rig, RIG_READY);
	rig_restart(&rig);
	words_are(&rig, rig_node(&rig, 1), "");
	rig_end(&rig);
}
END_TEST

#define REFUSED                                                                        \
	"another host, %s (MAC 52:54:00:aa:00:01), asked for its boot script or "      \
	"showed its token %d s ago and was refused"
#define PROXY                                                                          \
	"\nthe card with MAC 52:54:00:aa:00:01 answers for %s and %s in the boot "     \
	"network: if it is a router or a switch, switch proxy ARP off there, else "    \
	"look for that host"

static void
refused_are(const struct rig *rig, const char *own, int ago_s, const char *other)
{
	bu_autofree char *first = bu_xasprintf(REFUSED, own, ago_s);
	bu_autofree char *second =
		other ? bu_xasprintf(PROXY, own, other) : bu_xstrdup("");
	bu_autofree char *want = bu_xasprintf("%s%s", first, second);

	words_are(rig, rig_node(rig, 1), want);
}

/* One card that answers for two hosts may be a router's. */
START_TEST(another_host_is_named_and_so_is_a_card_that_answers_for_two)
{
	static const char mac[] = "52:54:00:aa:00:01";
	struct rig rig;
	struct bu_node *a, *b;

	rig_begin(&rig, 2);
	a = rig_node(&rig, 1);
	b = rig_node(&rig, 2);
	bu_proof_stranger(rig.rec, a, "10.77.0.50", mac);
	rig.clock.fake_wall_ms += 2000;
	refused_are(&rig, "10.77.0.50", 2, NULL);
	bu_proof_stranger(rig.rec, b, "10.77.0.50", mac); /* the same host */
	refused_are(&rig, "10.77.0.50", 2, NULL);
	ck_assert_str_eq(rig.rec->proxy, "");
	bu_proof_stranger(rig.rec, b, "10.77.0.51", "52:54:00:aa:00:02");
	refused_are(&rig, "10.77.0.50", 2, NULL);
	bu_proof_stranger(rig.rec, b, "10.77.0.51", mac);
	refused_are(&rig, "10.77.0.50", 2, "10.77.0.51");
	ck_assert_str_eq(rig.rec->proxy, mac);
	b->step.attempt++; /* that was in a boot that is over */
	refused_are(&rig, "10.77.0.50", 2, NULL);
	b->step.attempt--;
	a->step.attempt++;
	words_are(&rig, a, "");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("proof", each_request_is_told_with_what_is_missing_after_it,
	 what_was_seen_is_of_one_attempt, only_who_is_being_booted_is_waited_for,
	 what_has_shown_nothing_is_named_by_its_way_to_boot,
	 after_a_restart_what_was_fetched_is_not_known,
	 another_host_is_named_and_so_is_a_card_that_answers_for_two)
