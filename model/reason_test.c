/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons: the table, the sentences, the shape in the log, rows of other bringupds. */
#include "model/reason.h"

#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

static void
says(const struct bu_reason *reason, const char *want)
{
	bu_autofree char *text = bu_reason_text(reason);

	ck_assert_str_eq(text, want);
}

/* Each text is its own name, each number is 2. */
static void
fill(struct bu_reason *ret, enum bu_reason_code code)
{
	bu_autojson json_t *body = json_object();
	const char *name;
	json_t *args, *value;

	bu_reason_set(ret, code, NULL);
	bu_reason_to_body(ret, body);
	args = json_object_get(body, "args");
	json_object_foreach (args, name, value) {
		bu_autofree char *text = NULL;

		if (json_is_integer(value)) {
			bu_reason_set_number(ret, name, 2);
			continue;
		}
		text = bu_xasprintf("<%s>", name);
		bu_reason_set_text(ret, name, text);
	}
}

/* To be read together: what a person is told at night. */
static const char *const sentences[] = {
	[BU_REASON_NONE] = "",
	[BU_REASON_OTHER] = "<words>",
	[BU_REASON_NOT_IN_PROFILE] = "it is not in the applied profile",
	[BU_REASON_NO_VALIDATION] =
		"pool <pool> names no validation, and no node joins without a "
		"certificate; add validation = NAME to the pool",
	[BU_REASON_SOAKS] = "soaks: 2 of 2 minutes under load",
	[BU_REASON_NO_PARTNER] =
		"no partner: no other node of its fabric is validating or certified (rail <rail>)",
	[BU_REASON_PARTNERS_AWAY] =
		"no partner: 2 other nodes of its fabric cannot be measured now, "
		"<node> among them; bringup node why <node> says why (rail <rail>)",
	[BU_REASON_RAIL_UNPROVEN] =
		"no partner: 2 nodes of its fabric are in service, but were not "
		"measured on this rail yet; bringup node validate NODE, with one of "
		"them, makes it a partner (rail <rail>)",
	[BU_REASON_PARTNERS_IN_USE] =
		"no partner: 2 certified nodes of its fabric are in use, and partners "
		"of their pools does not allow using them (rail <rail>)",
	[BU_REASON_TESTED_ACROSS] =
		"good on its rails; the ways between their leaves are tested, and its "
		"certificate depends on none of that",
	[BU_REASON_NO_FREE_PARTNER] =
		"no partner is free that could probe it (rail <rail>)",
	[BU_REASON_UNDECIDED] =
		"its tests do not decide: good and bad results alternate; bringup "
		"fabric show has the counters; after a repair bringup node validate measures it "
		"again, without the results of before (rail <rail>)",
	[BU_REASON_UNDECIDED_YET] = "its tests do not decide yet: good and bad results "
				    "alternate; they go on once a minute (rail <rail>)",
	[BU_REASON_OTHERS_UNDECIDED] =
		"the tests of other nodes of its fabric do not "
		"decide yet; they go on once a minute (rail <rail>)",
	[BU_REASON_LEAF_ACCUSED] =
		"<seen>; so many nodes of leaf <leaf> are bad that the leaf is "
		"accused and not its nodes: check the switch and the expected rate "
		"(<cause>) (rail <rail>)",
	[BU_REASON_NODE_OR_LEAF] =
		"<seen>; the tests cannot separate this node from leaf "
		"<leaf>: check the switch and the expected rate; "
		"after a repair bringup node validate <node> "
		"measures it again (rail <rail>)",
	[BU_REASON_BMC_AWAITED] =
		"its BMC has not answered a command: it may still switch the machine "
		"off, or restarts, so no job is let in and no boot begins",
	[BU_REASON_CLUSTER_AWAITED] =
		"cluster <cluster> does not answer: <error>; the node joins when that is "
		"over",
	[BU_REASON_NO_THIRD] =
		"<seen>; no third machine or certified partner can tell which; after "
		"a repair bringup node validate <node> measures it again (rail <rail>)",
	[BU_REASON_NO_THIRD_IN_USE] =
		"<seen>; a third node can tell which, but partners of their pools does "
		"not lend 2 certified nodes in use; after a repair bringup node "
		"validate <node> measures it again (rail <rail>)",
	[BU_REASON_BY_HAND] =
		"power = manual: switch the machine of <node> off and on by hand, so "
		"that it boots from <what>; bringup continues when its agent connects",
	[BU_REASON_UNHEARD] = "its agent was not heard since bringupd started",
	[BU_REASON_BOOT_OVER] =
		"the boot that was known of it has ended (<how>); the hello of a later "
		"one is waited for",
	[BU_REASON_UNHEARD_SINCE] = "its agent was last heard at <since>",
	[BU_REASON_CHECKS_UNASKABLE] = "its checks cannot be asked for: <error>",
	[BU_REASON_CHECKS_AWAITED] = "its checks gave no report yet",
	[BU_REASON_CHECKS_SILENT] = "its checks gave no report, 2 times: <error>",
	[BU_REASON_CHECK_FAILED] = "a check of this boot failed",
	[BU_REASON_PROBES_SILENT] = "2 probes <a> <-> <b> gave no result: <error>; it "
				    "is measured again, once a minute (rail <rail>)",
	[BU_REASON_PROBES_IN_DOUBT] =
		"2 probes <a> <-> <b> gave no usable result: "
		"<error>; it is measured again, once a minute (rail <rail>)",
	[BU_REASON_INCONCLUSIVE] = "<cause> (rail <rail>)",
	[BU_REASON_UNCERTIFIABLE] =
		"<error>; its pairs are measured again, one a minute",
	[BU_REASON_RAIL_NOT_PROVEN] = "good on <rail>; <others> not proven yet",
	[BU_REASON_NOT_LET_IN] = "<error>",
	[BU_REASON_NO_IDENTITY] = "<error>",
	[BU_REASON_OTHER_MAC] = "no NIC of this machine has the MAC that the profile "
				"gives <node> (<wanted>); its first is <seen>",
	[BU_REASON_OTHER_MACHINE] =
		"the profile gives <node> <what> <wanted>, this machine reports "
		"'<seen>'; if it is the right machine, correct the profile and apply "
		"it, else check its cabling",
	[BU_REASON_BMC_REFUSES] = "<error>; try 2 of 2, the next one at <at>",
	[BU_REASON_NOT_CALLED] =
		" at <at>; its firmware asks for architecture <arch>, for which there "
		"is no loader: see bringupd's log and docs/boot.md; another DHCP server "
		"(<rival>) answers in the boot network and may have sent it elsewhere",
	[BU_REASON_OTHER_HOST] =
		"a host at <address> with MAC <mac> showed the token of <node>, whose "
		"machine has other MACs; nothing was signed for it; look for that host "
		"in the boot network",
	[BU_REASON_OFF_ITS_WIRE] =
		"a host at <address> showed the token of <node>, and was not seen on "
		"the wire of its boot network; nothing was signed for it; look for a "
		"router or a tunnel into the boot network",
	[BU_REASON_MACHINE_IN_USE] =
		"machine <machine> is <owner>, which is <state> and held; it does not "
		"become <node> while it is in use there: retire <owner> first, or look "
		"for a second machine with its serial number, UUID and MAC",
	[BU_REASON_PERSON] = "<words>",
	[BU_REASON_IS_ON] =
		"<error>; bringup apply with --grant reset:<node> allows it; or "
		"switch it off, then run bringup node release <node>",
	[BU_REASON_FOREIGN_MACHINE] =
		"<error>; nothing was switched; correct what the profile says of its "
		"bmc, serial, uuid or mac and apply it, or put its machine back and "
		"run bringup node release <node>; if this is its new machine, run "
		"bringup node replace <node>; if its BMC is wrong about itself, set "
		"bmc_identity = ignore in its pool",
	[BU_REASON_OUTDATED_OFTEN] =
		"its hardware has changed 2 times since it was measured first in this "
		"boot; look for a device that comes and goes, then run bringup node "
		"release <node>",
	[BU_REASON_LEMON] = "lemon: this machine was quarantined 2 times in 2 days, "
			    "last as <node>: <why>; repair it, then release it",
	[BU_REASON_EXTERNAL] = "<source> says: <words>",
	[BU_REASON_LATE] = "<what> within 2 s: <seen>; 2 power cycles did not help; "
			   "bringup node reboot <node> power-cycles it",
	[BU_REASON_BEGAN_AGAIN] =
		"its machine began to boot again in the middle of <state>, and its "
		"agent is silent since; 2 power cycles did not help; bringup node "
		"reboot <node> power-cycles it",
	[BU_REASON_STEP_FAILED] =
		"<error>; tried 2 times; 2 power cycles did not help; bringup node "
		"reboot <node> power-cycles it",
	[BU_REASON_OTHER_SYSTEM] = "booted another system: <error>",
	[BU_REASON_FELL_BACK] =
		"image <failed> did not come up in slot <slot>: it was not heard within "
		"2 s, and bringup power-cycled it: a person switched its machine off "
		"meanwhile, and it is tried once; its loader went back to image <image> "
		"in slot <other>: bringup node validate takes that into service, bringup "
		"node retry tries the other again",
	[BU_REASON_NOT_CONFIRMED] =
		"image <failed> came up in slot <slot>, and its machine was reset before "
		"its agent had confirmed that root; its loader went back to image "
		"<image> in slot <other>: bringup node validate takes that into service, "
		"bringup node retry tries the other again",
	[BU_REASON_NO_DISK] =
		"hardware class <class> wants disk <disk>; it does not have it",
	[BU_REASON_MANY_DISKS] =
		"hardware class <class> wants disk <disk>, and 2 disks "
		"are that; say more of it in the profile",
	[BU_REASON_NO_BOOT_PAIR] =
		"hardware class <class> wants disk <disk>, and its smallest disks are "
		"not two of one model; it has <has>",
	[BU_REASON_OTHER_PRODUCT] =
		"hardware class <class> wants the product <want>; it is <has>",
	[BU_REASON_MIRROR_DISKS] =
		"hardware class <class> wants one disk that is <disk> besides the "
		"system's, to mirror it; it has 2",
	[BU_REASON_MIRROR_NUMBERS] =
		"the two disks of its system, which hardware class <class> mirrors, do "
		"not have numbers of their own, and no grant could name them",
	[BU_REASON_SCRATCH_DISKS] = "hardware class <class> wants 2 disks that are "
				    "<disk>, for its array; it has 2",
	[BU_REASON_SCRATCH_NUMBERS] =
		"its disks <disk>, for the array of hardware class <class>, do not "
		"all have numbers of their own, and no grant could name them",
	[BU_REASON_TOO_LITTLE_MEMORY] =
		"hardware class <class> wants 2 MiB of memory; it has 2",
	[BU_REASON_TOO_FEW_CPUS] = "hardware class <class> wants 2 CPUs; it has 2",
	[BU_REASON_TOO_FEW_NICS] = "hardware class <class> wants 2 NICs; it has 2",
	[BU_REASON_TOO_FEW_GPUS] = "hardware class <class> wants 2 GPUs; it has 2",
	[BU_REASON_NO_TPM] =
		"pool <pool> has data_keys = tpm, and it shows no TPM 2.0: its "
		"firmware has it switched off, or it has none",
	[BU_REASON_FABRIC_ACCUSED] = "rail <rail>: <words>",
	[BU_REASON_CHECKS_ACCUSED] = "<words>",
	[BU_REASON_RESTARTED] = "it restarted while it was reconfigured",
	[BU_REASON_ENDED_IN] = "<state>",
	[BU_REASON_VERB] = "<verb> by <who>: <words>",
	[BU_REASON_SCALED] = "pool <pool> is to have 2 nodes in service, by <who>: "
			     "<words>",
	[BU_REASON_ORDERED] = "<class> of rollout <rollout>",
	[BU_REASON_ORDERED_ANEW] = "its machine was on; ordered again, with a grant",
	[BU_REASON_ABORTED] = "<who> aborted its rollout",
	[BU_REASON_PLAN_REPLACED] = "another plan took its place",
	[BU_REASON_TOO_MANY_ROLLOUTS] = "too many rollouts are open",
	[BU_REASON_LEFT_PROFILE] = "it is no longer in the profile",
	[BU_REASON_ADOPTED] = "it runs, and was adopted by its stamp",
	[BU_REASON_EPOCH_BEGAN] =
		"epoch 2 began, and what happened to it before is not all in this log",
	[BU_REASON_CLUSTER_REFUSES] = "<cluster> says <state>: <why>",
	[BU_REASON_OUTDATED] = "it is measured again: <error>",
	[BU_REASON_CLUSTER_LOST_IT] = "<cluster> does not know it",
	[BU_REASON_ROLLOUT_BY] = "by <who>",
	[BU_REASON_BUDGET_SPENT] =
		"pool <pool>: 2 of its failure budget of 2; <node>: <why>",
	[BU_REASON_CANARY_FAULT] = "pool <pool>: 2 of its failure budget of 2, a "
				   "canary among them; <node>: <why>",
	[BU_REASON_NEW] = "new in the profile",
	[BU_REASON_NOT_INSTALLED] = "not installed; its disk is not empty",
	[BU_REASON_OUT_OF_SERVICE] = "<state>: <why>; its disk is not empty",
	[BU_REASON_CHANGED] = "<changes>; last time: <last>",
	[BU_REASON_NOT_WANTED] =
		"rollout <rollout> would have changed it; that is no longer wanted",
	[BU_REASON_OVERTAKEN] = "rollout <rollout> would change it by another "
				"revision; plan it again afterwards",
	[BU_REASON_REBUILD] = "to be rebuilt",
	[BU_REASON_WANTS_RESET] = "<why>",
	[BU_REASON_REPLACED] = "replaced: the profile means another machine (<what> "
			       "<wanted>, it was <seen>)",
	[BU_REASON_RENAMED] = "renamed: by its <what> it is the machine of <node>; "
			      "<more>; last time: <last>",
	[BU_REASON_STILL_CALLED] = "renamed: its system is still called <node>; "
				   "<more>; last time: <last>",
	[BU_REASON_UNDER_WAY] =
		"it is <state> with <what>; it is held: bringup node release "
		"continues its order; bringup rollout abort <rollout> takes it back; "
		"plan again when it is settled",
	[BU_REASON_GOES_ON] = "its order cannot begin anew: <why>; it goes on by its "
			      "own revision",
	[BU_REASON_REPLACED_ON_WAY] =
		"<why>; it is <state>: bringup node replace <node> forgets the old one",
	[BU_REASON_PARKED] =
		"it is parked; plan again after bringup node resume <node>",
	[BU_REASON_QUARANTINED] =
		"it is quarantined: <why>; bringup node validate <node> tests it again "
		"without a wipe, bringup node rebuild <node> writes it again; for what "
		"changes plan again after that; held by <who>: bringup node release "
		"comes first",
	[BU_REASON_RETIRED] =
		"it is retired; take it out of the profile, or replace it",
	[BU_REASON_SERVICED] =
		"it is being serviced; bringup node release <node> ends that",
	[BU_REASON_HELD] = "held by <who>: <why>; bringup node release ends the hold",
	[BU_REASON_APPLY_FIRST] = "<why>; run bringup apply first",
	[BU_REASON_NO_DATA] = "there is no data to keep; rebuild it with --grant wipe",
	[BU_REASON_HOLDS_ANOTHER] =
		"its <what> is that of the machine of node <owner>, and <node> holds "
		"another machine; names move one at a time: rename <node> to a name "
		"that is free and apply, then go on",
	[BU_REASON_OWNER_BUSY] = "it is the machine of node <owner>, which is "
				 "<state>; rename it after that",
	[BU_REASON_OWNER_OUT] = "it is the machine of node <owner>, which is <state>; "
				"rename it after bringup node <verb> <owner>",
	[BU_REASON_OWNER_LEFT] =
		"it is the machine of node <owner>, which left the profile while it "
		"was <state>; bringup node retire <owner> forgets it",
	[BU_REASON_TWO_OWNERS] =
		"its <what> is that of node <owner>, its <other> that of node <second>",
	[BU_REASON_TWO_NAMES] =
		"its <what> is that of the machine of node <owner>, which is in the "
		"profile too; a machine has one name",
	[BU_REASON_TWO_ROWS] = "its <what> is that of the machine of node <owner>, "
			       "whose machine <row> "
			       "would get, too; a machine has one name",
	[BU_REASON_OWNER_MOVES] =
		"its <what> is that of the machine of node <owner>, which gets another "
		"one; names move one at a time: take <owner> out of the profile and "
		"apply, then go on",
	[BU_REASON_DATA_NAMED] =
		"its data partitions are found by the names of site and node; under "
		"another name than <name> it would start without its data; keep "
		"<name>, or save the data, apply the pool without data and the new "
		"name after that",
	[BU_REASON_BMC_MOVES] =
		"its BMC is that of node <owner>, which gets another machine; bringup "
		"node replace <owner> forgets the old one, then go on",
	[BU_REASON_BMC_TAKEN] =
		"its BMC is that of node <owner>, whose machine has other addresses; "
		"bringup node retire <owner> forgets that one",
};

START_TEST(each_sentence_reads_so)
{
	ck_assert_uint_eq(BU_LEN(sentences), BU_REASON_IS_SO);
	for (int code = 0; code < BU_REASON_IS_SO; code++) {
		struct bu_reason reason;

		fill(&reason, (enum bu_reason_code)code);
		says(&reason, sentences[code]);
	}
}
END_TEST

START_TEST(what_is_empty_is_left_out_and_words_fit_their_number)
{
	struct bu_reason reason;

	BU_REASON_SET(&reason, LATE, .text = {"it did not boot"}, .number = {300});
	says(&reason, "it did not boot within 300 s");
	BU_REASON_SET(&reason, LATE, .text = {"it did not boot", "no link"},
		      .number = {300, 2});
	says(&reason, "it did not boot within 300 s: no link; 2 power cycles did not "
		      "help");
	bu_reason_set_number(&reason, "cycles", 0);
	bu_reason_set_text(&reason, "node", "n1");
	says(&reason, "it did not boot within 300 s: no link; bringup node reboot n1 "
		      "power-cycles it");
	BU_REASON_SET(&reason, PROBES_SILENT, .text = {"n1", "n2", "no route"},
		      .number = {1, 0});
	says(&reason, "1 probe n1 <-> n2 gave no result: no route; it is measured "
		      "again");
	bu_reason_set_number(&reason, "count", 11);
	bu_reason_set_number(&reason, "seldom", 1);
	says(&reason, "11 probes n1 <-> n2 gave no result: no route; it is measured "
		      "again, once a minute");
}
END_TEST

START_TEST(each_row_of_the_table_is_whole)
{
	for (int code = 1; code < BU_REASON_COUNT; code++) {
		const struct bu_reason_info *info =
			bu_reason_info((enum bu_reason_code)code);
		int is_awaited = info->kind != BU_REASON_KIND_CAUSE &&
				 info->kind != BU_REASON_KIND_FAULT &&
				 info->kind != BU_REASON_KIND_PLAN &&
				 info->kind != BU_REASON_KIND_LINE;

		ck_assert_int_eq(bu_reason_from_name(info->name), code);
		ck_assert_uint_gt(strlen(info->text), 0);
		ck_assert_uint_gt(strlen(bu_reason_kind_name(info->kind)), 0);
		/* Of what is awaited is known what ends it, and no wait is forgotten.
		 */
		ck_assert_int_eq(*info->ends != '\0', is_awaited);
		ck_assert(info->kind != BU_REASON_KIND_WAIT || info->again_s > 0);
		ck_assert(is_awaited || !info->stops_deadline);
	}
	ck_assert_int_eq(bu_reason_from_name("martians"), BU_REASON_NONE);
	ck_assert_int_eq(bu_reason_from_name(""), BU_REASON_NONE);
}
END_TEST

START_TEST(arguments_are_told_apart_by_their_names)
{
	struct bu_reason reason, other;

	BU_REASON_SET(&reason, LEMON, .text = {"n7", "a fan"}, .number = {3, 30});
	ck_assert_str_eq(bu_reason_arg(&reason, "why"), "a fan");
	ck_assert_str_eq(bu_reason_arg(&reason, "node"), "n7");
	ck_assert_str_eq(bu_reason_arg(&reason, "nod"), "");
	/* A name that it has not changes nothing. */
	other = reason;
	bu_reason_set_text(&other, "who", "ann");
	bu_reason_set_number(&other, "limit_s", 5);
	ck_assert(bu_reason_same(&reason, &other));
	bu_reason_set_text(&other, "node", "n8");
	ck_assert(!bu_reason_same(&reason, &other));
	says(&other, "lemon: this machine was quarantined 3 times in 30 days, last as "
		     "n8: a fan; repair it, then release it");
	/* What was longer before leaves nothing behind. */
	bu_reason_set_text(&other, "node", "a-longer-name-than-that");
	bu_reason_set_text(&other, "node", "n7");
	ck_assert(bu_reason_same(&reason, &other));
}
END_TEST

START_TEST(long_texts_are_cut_where_a_character_ends)
{
	char words[2000] = "";
	struct bu_reason reason;
	bu_autofree char *text = NULL;

	for (int i = 0; i < 600; i++)
		strcat(words, "\xe2\x82\xac");
	BU_REASON_SET(&reason, VERB, .text = {"drain", "ann", words});
	text = bu_reason_text(&reason);
	ck_assert_uint_lt(strlen(text), BU_REASON_TEXT_MAX + 20);
	ck_assert_uint_gt(strlen(text), BU_REASON_TEXT_MAX - 20);
	ck_assert_uint_eq((strlen(text) - strlen("drain by ann: ")) % 3, 0);
	ck_assert_str_eq(bu_reason_arg(&reason, "who"), "ann");
	/* The first takes all; the others are empty, and nothing is overrun. */
	BU_REASON_SET(&reason, VERB, .text = {words, "ann", words});
	ck_assert_str_eq(bu_reason_arg(&reason, "words"), "");
}
END_TEST

START_TEST(the_log_keeps_code_and_arguments)
{
	for (int code = 0; code < BU_REASON_IS_SO; code++) {
		bu_autojson json_t *body = json_object();
		struct bu_reason reason, back;

		fill(&reason, (enum bu_reason_code)code);
		bu_reason_to_body(&reason, body);
		ck_assert_int_eq(bu_reason_from_body(body, &back, NULL), 0);
		ck_assert_msg(bu_reason_same(&reason, &back), "%s",
			      bu_reason_info(reason.code)->name);
	}
}
END_TEST

START_TEST(its_shape_is_what_tools_read)
{
	bu_autojson json_t *body = json_object(), *want = NULL;
	struct bu_reason reason;

	BU_REASON_SET(&reason, SOAKS, .number = {5, 25});
	bu_reason_to_body(&reason, body);
	want = quoted("{'code':'soaks','args':{'done':5,'all':25}}");
	ck_assert(json_equal(body, want));
}
END_TEST

/* A reason among the arguments is an object in the log, and comes back from there. */
START_TEST(a_reason_may_be_an_argument)
{
	static const char whole[] =
		"{'code':'boot-over','args':{'how':{'code':'over-deed','args':{'op':"
		"'cycle','by':'ann','at':'noon'}}}}";
	bu_autojson json_t *body = quoted(whole), *again = json_object();
	struct bu_reason reason, cut;
	char broken[BU_REASON_TEXT_MAX];

	ck_assert_int_eq(bu_reason_from_body(body, &reason, NULL), 0);
	says(&reason, "the boot that was known of it has ended (power cycle by ann, "
		      "noon); the hello of a later one is waited for");
	bu_reason_to_body(&reason, again);
	ck_assert(json_equal(body, again));
	/* Of one that was cut off nothing is shown. */
	snprintf(broken, sizeof(broken), "%.20s", bu_reason_arg(&reason, "how"));
	BU_REASON_SET(&cut, BOOT_OVER, .text = {broken});
	says(&cut, "the boot that was known of it has ended (); the hello of a later "
		   "one is waited for");
}
END_TEST

START_TEST(what_is_no_reason_is_refused)
{
	static const char *const rows[][2] = {
		{"{'code':'martians'}", "code: no reason 'martians'"},
		{"{'code':'is-so'}", "code: no reason 'is-so'"},
		{"{'code':'','args':{}}", NULL},
		{"{'code':7}", "code: expected a text"},
		{"{'code':'soaks','args':[]}", "args: expected an object"},
		{"{'code':'soaks','args':{'done':'5'}}",
		 "args.done: expected a whole number"},
		{"{'code':'verb','args':{'who':5}}", "args.who: expected a text"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *body = quoted(rows[i][0]);
		struct bu_reason reason;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_reason_from_body(body, &reason, &err),
				 rows[i][1] ? -1 : 0);
		ck_assert_str_eq(err.text, rows[i][1] ? rows[i][1] : "");
	}
}
END_TEST

BU_UNIT("reason", each_sentence_reads_so,
	what_is_empty_is_left_out_and_words_fit_their_number,
	each_row_of_the_table_is_whole, arguments_are_told_apart_by_their_names,
	long_texts_are_cut_where_a_character_ends, the_log_keeps_code_and_arguments,
	its_shape_is_what_tools_read, a_reason_may_be_an_argument,
	what_is_no_reason_is_refused)
