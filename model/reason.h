/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons: why a node waits, is held, is not measured, was refused, failed or went. A
 * reason is a code with arguments. Programs decide by the code; views make the
 * sentence. This table is the design: what ends a reason, whether the state's deadline
 * stops meanwhile, and the sentence.
 *
 * A sentence has arguments: {text}, {#number}, {#count probe|probes} (the word that
 * fits the number), {?flag} (a number that is not shown), {!why} (a reason), {!all;} (a
 * list, with "; " between), {!any|} (with " or "; others have ", "), and {state:help}
 * (a column of another table, see model/sentence.h). A part in [brackets] is left out
 * when all its arguments are empty or 0; a flag in it decides alone.
 *
 * Rows of kind LINE (model/reason_lines.h) are made for a view (model/sentence.h) and
 * never kept in a struct bu_reason.
 *
 * In the log and on the wire: "code" and "args" {name: value}.
 */
#ifndef BU_MODEL_REASON_H
#define BU_MODEL_REASON_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/record.h"
#include "model/reason_lines.h"

/* id, name, kind, its deadline stops, seconds until the next look (0 = an event comes),
 * what ends it, sentence */
#define BU_REASONS(X)                                                                    \
	X(OTHER, "other", CAUSE, 0, 0, "", "{words}")                                    \
	/* waits of a validating node */                                                 \
	X(NOT_IN_PROFILE, "not-in-profile", WAIT, 1, 2,                                  \
	  "a profile that has the node is applied",                                      \
	  "it is not in the applied profile")                                            \
	X(NO_VALIDATION, "no-validation", WAIT, 1, 2,                                    \
	  "a profile that gives its pool a validation is applied",                       \
	  "pool {pool} names no validation, and no node joins without a certificate; "   \
	  "add validation = NAME to the pool")                                           \
	X(SOAKS, "soaks", WAIT, 1, 2, "its agent has reported all slices",               \
	  "soaks: {#done} of {#all} minutes under load")                                 \
	X(NO_PARTNER, "no-partner", WAIT, 1, 2,                                          \
	  "another node of its fabric is validating or certified",                       \
	  "no partner: no other node of its fabric is validating or certified"           \
	  "[ (rail {rail})]")                                                            \
	X(PARTNERS_AWAY, "partners-away", WAIT, 1, 2,                                    \
	  "one of these nodes can be measured, or another one comes",                    \
	  "no partner: {#count other node|other nodes} of its fabric cannot be "         \
	  "measured now, {node} among them; bringup node why {node} says why"            \
	  "[ (rail {rail})]")                                                            \
	X(RAIL_UNPROVEN, "rail-unproven", WAIT, 1, 2,                                    \
	  "another node of its pool is measured on this rail",                           \
	  "no partner: {#count} nodes of its fabric are in service, but were not "       \
	  "measured on this rail yet; bringup node validate NODE, with one of them, "    \
	  "makes it a partner"                                                           \
	  "[ (rail {rail})]")                                                            \
	X(PARTNERS_IN_USE, "partners-in-use", WAIT, 1, 2,                                \
	  "one of these nodes is idle, or partners of its pool allows nodes in use; "    \
	  "after a repair bringup node validate begins its tests anew",                  \
	  "no partner: {#count} certified nodes of its fabric are in use, and "          \
	  "partners of their pools does not allow using them"                            \
	  "[ (rail {rail})]")                                                            \
	X(NO_FREE_PARTNER, "no-free-partner", WAIT, 1, 2,                                \
	  "a partner that could probe it is free",                                       \
	  "no partner is free that could probe it"                                       \
	  "[ (rail {rail})]")                                                            \
	X(TESTED_ACROSS, "tested-across", WAIT, 1, 2,                                    \
	  "the tests between its leaves are done, for three minutes at most",            \
	  "good on its rails; the ways between their leaves are tested, and its "        \
	  "certificate depends on none of that")                                         \
	X(UNDECIDED, "undecided", WAIT, 1, 2,                                            \
	  "bringup node validate asks for it again",                                     \
	  "its tests do not decide: good and bad results alternate; bringup fabric "     \
	  "show has the counters; after a repair bringup node validate measures it "     \
	  "again, without the results of before"                                         \
	  "[ (rail {rail})]")                                                            \
	X(UNDECIDED_YET, "undecided-yet", WAIT, 1, 60,                                   \
	  "its tests decide, or, after a repair, bringup node validate begins them "     \
	  "anew",                                                                        \
	  "its tests do not decide yet: good and bad results alternate; they go on "     \
	  "once a minute"                                                                \
	  "[ (rail {rail})]")                                                            \
	X(OTHERS_UNDECIDED, "others-undecided", WAIT, 1, 60,                             \
	  "the tests of the other nodes decide",                                         \
	  "the tests of other nodes of its fabric do not decide yet; they go on once "   \
	  "a minute"                                                                     \
	  "[ (rail {rail})]")                                                            \
	X(LEAF_ACCUSED, "leaf-accused", WAIT, 1, 2,                                      \
	  "bringup node validate measures its nodes again after a repair of the "        \
	  "switch, or a corrected rate is applied",                                      \
	  "{!seen}; so many nodes of leaf {leaf} are bad that the leaf is accused "      \
	  "and not its nodes: check the switch and the expected rate ({cause})"          \
	  "[ (rail {rail})]")                                                            \
	X(NODE_OR_LEAF, "node-or-leaf", WAIT, 1, 2,                                      \
	  "bringup node validate measures it again after a repair, or a corrected "      \
	  "rate is applied",                                                             \
	  "{!seen}; the tests cannot separate this node from leaf {leaf}: check "        \
	  "the switch and the expected rate; after a repair bringup node validate "      \
	  "{node} measures it again"                                                     \
	  "[ (rail {rail})]")                                                            \
	X(NO_THIRD, "no-third", WAIT, 1, 2,                                              \
	  "another node of its fabric is validating or certified, or bringup node "      \
	  "validate asks for it again",                                                  \
	  "{!seen}; no third machine or certified partner can tell which; after a "      \
	  "repair bringup node validate {node} measures it again"                        \
	  "[ (rail {rail})]")                                                            \
	X(NO_THIRD_IN_USE, "no-third-in-use", WAIT, 1, 2,                                \
	  "a certified node of its fabric is idle or lent, or bringup node validate "    \
	  "asks for it again",                                                           \
	  "{!seen}; a third node can tell which, but partners of their pools does not "  \
	  "lend {#count certified node|certified nodes} in use; after a repair "         \
	  "bringup node validate {node} measures it again"                               \
	  "[ (rail {rail})]")                                                            \
	/* waits before a node joins or boots */                                         \
	X(BMC_AWAITED, "bmc-awaited", WAIT, 1, 1,                                        \
	  "its BMC has answered, or bringup has given the command up",                   \
	  "its BMC has not answered a command: it may still switch the machine off, "    \
	  "or restarts, so no job is let in and no boot begins")                         \
	X(CLUSTER_AWAITED, "cluster-awaited", WAIT, 1, 1, "its cluster answers",         \
	  "cluster {cluster} does not answer: {error}; the node joins when that is "     \
	  "over")                                                                        \
	X(BY_HAND, "by-hand", WAIT, 1, 2, "its machine calls",                           \
	  "power = manual: switch the machine of {node} off and on by hand, so that "    \
	  "it boots from {what}; bringup continues when its agent connects")             \
	/* waits for a booting machine: the deadline goes on */                          \
	X(BMC_REFUSES, "bmc-refuses", WAIT, 0, 1,                                        \
	  "its BMC does as it is told, or the tries are used up",                        \
	  "{error}; try {#tries} of {#of}, the next one at {at}")                        \
	X(NOT_CALLED, "not-called", WAIT, 0, 1, "its agent calls",                       \
	  "{link:done}[ at {at}][; {link:missing}][; its firmware asks for "             \
	  "architecture {arch}, for which there is no loader: see bringupd's log and "   \
	  "docs/boot.md][; another DHCP server ({rival}) answers in the boot network "   \
	  "and may have sent it elsewhere]")                                             \
	/* not measured: the deadline goes on */                                         \
	X(UNHEARD, "unheard", TROUBLE, 0, 2, "its agent is heard",                       \
	  "its agent was not heard since bringupd started")                              \
	X(BOOT_OVER, "boot-over", TROUBLE, 0, 2,                                         \
	  "its agent says hello in a later boot",                                        \
	  "the boot that was known of it has ended ({!how}); the hello of a later one "  \
	  "is waited for")                                                               \
	X(UNHEARD_SINCE, "unheard-since", TROUBLE, 0, 2, "its agent is heard",           \
	  "its agent was last heard at {since}")                                         \
	X(CHECKS_UNASKABLE, "checks-unaskable", TROUBLE, 0, 2,                           \
	  "its revision can be read", "its checks cannot be asked for: {error}")         \
	X(CHECKS_AWAITED, "checks-awaited", TROUBLE, 0, 2,                               \
	  "its agent reports its checks", "its checks gave no report yet")               \
	X(CHECKS_SILENT, "checks-silent", TROUBLE, 0, 2,                                 \
	  "its agent reports its checks",                                                \
	  "its checks gave no report, {#times} times: {!error}")                         \
	X(CHECK_FAILED, "check-failed", TROUBLE, 0, 2, "its next boot passes",           \
	  "a check of this boot failed")                                                 \
	X(PROBES_SILENT, "probes-silent", TROUBLE, 0, 2, "a probe gives a result",       \
	  "{#count probe|probes} {a} <-> {b} gave no result: {error}; it is measured "   \
	  "again[, once a minute{?seldom}]"                                              \
	  "[ (rail {rail})]")                                                            \
	X(PROBES_IN_DOUBT, "probes-in-doubt", TROUBLE, 0, 2,                             \
	  "a probe gives a usable result",                                               \
	  "{#count probe|probes} {a} <-> {b} gave no usable result: {error}; it is "     \
	  "measured again[, once a minute{?seldom}]"                                     \
	  "[ (rail {rail})]")                                                            \
	X(INCONCLUSIVE, "inconclusive", TROUBLE, 0, 2, "its tests decide",               \
	  "{cause}"                                                                      \
	  "[ (rail {rail})]")                                                            \
	X(UNCERTIFIABLE, "uncertifiable", TROUBLE, 0, 60,                                \
	  "its pairs are measured again and are good",                                   \
	  "{error}; its pairs are measured again, one a minute")                         \
	X(RAIL_NOT_PROVEN, "rail-not-proven", TROUBLE, 0, 2,                             \
	  "all its rails are proven", "good on {rail}; {others} not proven yet")         \
	X(NOT_LET_IN, "not-let-in", TROUBLE, 0, 2,                                       \
	  "its certificates are those of its boot and hardware", "{error}")              \
	/* refusals of a machine with the node's token */                                \
	X(NO_IDENTITY, "no-identity", REFUSAL, 0, 0,                                     \
	  "its firmware has a serial "                                                   \
	  "number, a UUID or a MAC",                                                     \
	  "{error}")                                                                     \
	X(OTHER_MAC, "other-mac", REFUSAL, 0, 0,                                         \
	  "the right machine asks, or a corrected profile is applied",                   \
	  "no NIC of this machine has the MAC that the profile gives {node} "            \
	  "({wanted}); its first is {seen}")                                             \
	X(OTHER_MACHINE, "other-machine", REFUSAL, 0, 0,                                 \
	  "the right machine asks, or a corrected profile is applied",                   \
	  "the profile gives {node} {what} {wanted}, this machine reports '{seen}'; "    \
	  "if it is the right machine, correct the profile and apply it, else check "    \
	  "its cabling")                                                                 \
	X(OTHER_HOST, "other-host", REFUSAL, 0, 0, "the right machine asks",             \
	  "a host at {address} with MAC {mac} showed the token of {node}, whose "        \
	  "machine has other MACs; nothing was signed for it; look for that host in "    \
	  "the boot network")                                                            \
	X(OFF_ITS_WIRE, "off-its-wire", REFUSAL, 0, 0, "the right machine asks",         \
	  "a host at {address} showed the token of {node}, and was not seen on the "     \
	  "wire of its boot network; nothing was signed for it; look for a router or "   \
	  "a tunnel into the boot network")                                              \
	X(MACHINE_IN_USE, "machine-in-use", REFUSAL, 0, 0,                               \
	  "the node that has this machine is retired",                                   \
	  "machine {machine} is {owner}, which is {state}[ and held{?held}]; it does "   \
	  "not become {node} while it is in use there: retire {owner} first, or look "   \
	  "for a second machine with its serial number, UUID and MAC")                   \
	/* holds; a wait or a fault may hold a node, too */                              \
	X(PERSON, "person", HOLD, 1, 0, "bringup node release ends the hold",            \
	  "{words}")                                                                     \
	X(IS_ON, "is-on", HOLD, 1, 0,                                                    \
	  "a plan is applied that grants the reset, or bringup node release",            \
	  "{error}; bringup apply with --grant reset:{node} allows it; or switch it "    \
	  "off, then run bringup node release {node}")                                   \
	X(FOREIGN_MACHINE, "foreign-machine", HOLD, 1, 0,                                \
	  "a plan is applied that corrects its bmc, serial, uuid or mac, or bringup "    \
	  "node release, once its machine is back",                                      \
	  "{error}; nothing was switched; correct what the profile says of its bmc, "    \
	  "serial, uuid or mac and apply it, or put its machine back and run bringup "   \
	  "node release {node}; if this is its new machine, run bringup node replace "   \
	  "{node}; if its BMC is wrong about itself, set bmc_identity = ignore in "      \
	  "its pool")                                                                    \
	X(OUTDATED_OFTEN, "outdated-often", HOLD, 1, 0,                                  \
	  "bringup node release, once its devices stay what they are",                   \
	  "its hardware has changed {#times} times since it was measured first in "      \
	  "this boot; look for a device that comes and goes, then run bringup node "     \
	  "release {node}")                                                              \
	X(LEMON, "lemon", HOLD, 1, 0, "bringup node release, after a repair",            \
	  "lemon: this machine was quarantined {#times} times in {#days} days, last "    \
	  "as {node}: {why}; repair it, then release it")                                \
	X(EXTERNAL, "external", HOLD, 1, 2, "its source withdraws the verdict",          \
	  "{source} says: {words}")                                                      \
	/* faults */                                                                     \
	X(LATE, "late", FAULT, 0, 0, "",                                                 \
	  "{what} within {#limit_s} s[: {!seen}][; {#cycles} power cycles did not "      \
	  "help][; bringup node reboot {node} power-cycles it]")                         \
	X(BEGAN_AGAIN, "began-again", FAULT, 0, 0, "",                                   \
	  "its machine began to boot again in the middle of {state}, and its agent "     \
	  "is silent since[; {#cycles} power cycles did not help][; bringup node "       \
	  "reboot {node} power-cycles it]")                                              \
	X(STEP_FAILED, "step-failed", FAULT, 0, 0, "",                                   \
	  "{error}[; tried {#tries} times][; {#cycles} power cycles did not help]"       \
	  "[; bringup node reboot "                                                      \
	  "{node} power-cycles it]")                                                     \
	X(OTHER_SYSTEM, "other-system", FAULT, 0, 0, "",                                 \
	  "booted another system: {error}")                                              \
	X(FELL_BACK, "fell-back", FAULT, 0, 0, "",                                       \
	  "image {failed} did not come up in slot {slot}[: it was not heard within "     \
	  "{#limit_s} s, and bringup power-cycled it][{?switched}: a person switched "   \
	  "its machine off meanwhile, and it is tried once]; its loader went back to "   \
	  "image {image} in slot {other}: bringup node validate takes that into "        \
	  "service, bringup node retry tries the other again")                           \
	X(NOT_CONFIRMED, "not-confirmed", FAULT, 0, 0, "",                               \
	  "image {failed} came up in slot {slot}, and its machine was reset before "     \
	  "its agent had confirmed that root; its loader went back to image {image} "    \
	  "in slot {other}: bringup node validate takes that into service, bringup "     \
	  "node retry tries the other again")                                            \
	X(NO_DISK, "no-disk", FAULT, 0, 0, "",                                           \
	  "hardware class {class} wants disk {disk}; it does not have it")               \
	X(MANY_DISKS, "many-disks", FAULT, 0, 0, "",                                     \
	  "hardware class {class} wants disk {disk}, and {#count} disks are that; "      \
	  "say more of it in the profile")                                               \
	X(NO_BOOT_PAIR, "no-boot-pair", FAULT, 0, 0, "",                                 \
	  "hardware class {class} wants disk {disk}, and its smallest disks are not "    \
	  "two of one model; it has {has}{?smallest}")                                   \
	X(OTHER_PRODUCT, "other-product", FAULT, 0, 0, "",                               \
	  "hardware class {class} wants the product {want}; it is {has}")                \
	X(MIRROR_DISKS, "mirror-disks", FAULT, 0, 0, "",                                 \
	  "hardware class {class} wants one disk that is {disk} besides the "            \
	  "system's, to mirror it; it has {#has}")                                       \
	X(MIRROR_NUMBERS, "mirror-numbers", FAULT, 0, 0, "",                             \
	  "the two disks of its system, which hardware class {class} mirrors, do "       \
	  "not have numbers of their own, and no grant could name them")                 \
	X(SCRATCH_DISKS, "scratch-disks", FAULT, 0, 0, "",                               \
	  "hardware class {class} wants {#want} disks that are {disk}, for its "         \
	  "array; it has {#has}")                                                        \
	X(SCRATCH_NUMBERS, "scratch-numbers", FAULT, 0, 0, "",                           \
	  "its disks {disk}, for the array of hardware class {class}, do not all "       \
	  "have numbers of their own, and no grant could name them")                     \
	X(TOO_LITTLE_MEMORY, "too-little-memory", FAULT, 0, 0, "",                       \
	  "hardware class {class} wants {#want} MiB of memory; it has {#has}")           \
	X(TOO_FEW_CPUS, "too-few-cpus", FAULT, 0, 0, "",                                 \
	  "hardware class {class} wants {#want} CPUs; it has {#has}")                    \
	X(TOO_FEW_NICS, "too-few-nics", FAULT, 0, 0, "",                                 \
	  "hardware class {class} wants {#want} NICs; it has {#has}")                    \
	X(TOO_FEW_GPUS, "too-few-gpus", FAULT, 0, 0, "",                                 \
	  "hardware class {class} wants {#want} GPUs; it has {#has}")                    \
	X(NO_TPM, "no-tpm", FAULT, 0, 0, "",                                             \
	  "pool {pool} has data_keys = tpm, and it shows no TPM 2.0: its firmware "      \
	  "has it switched off, or it has none")                                         \
	X(FABRIC_ACCUSED, "fabric-accused", FAULT, 0, 0, "",                             \
	  "[rail {rail}: ]{!words}")                                                     \
	X(CHECKS_ACCUSED, "checks-accused", FAULT, 0, 0, "", "{words}")                  \
	X(RESTARTED, "restarted", FAULT, 0, 0, "",                                       \
	  "it restarted while it was reconfigured")                                      \
	X(ENDED_IN, "ended-in", FAULT, 0, 0, "", "{state}")                              \
	/* a person's decisions */                                                       \
	X(VERB, "verb", CAUSE, 0, 0, "", "{verb} by {who}[: {words}]")                   \
	X(SCALED, "scaled", CAUSE, 0, 0, "",                                             \
	  "pool {pool} is to have {#count node|nodes} in service, by {who}"              \
	  "[: {words}]")                                                                 \
	X(ORDERED, "ordered", CAUSE, 0, 0, "", "{class} of rollout {rollout}")           \
	X(ORDERED_ANEW, "ordered-anew", CAUSE, 0, 0, "",                                 \
	  "its machine was on; ordered again, with a grant")                             \
	X(ABORTED, "aborted", CAUSE, 0, 0, "", "{who} aborted its rollout")              \
	X(PLAN_REPLACED, "plan-replaced", CAUSE, 0, 0, "",                               \
	  "another plan took its place")                                                 \
	X(TOO_MANY_ROLLOUTS, "too-many-rollouts", CAUSE, 0, 0, "",                       \
	  "too many rollouts are open")                                                  \
	X(LEFT_PROFILE, "left-profile", CAUSE, 0, 0, "",                                 \
	  "it is no longer in the "                                                      \
	  "profile")                                                                     \
	X(ADOPTED, "adopted", CAUSE, 0, 0, "",                                           \
	  "it runs, and was adopted by its stamp")                                       \
	X(EPOCH_BEGAN, "epoch-began", CAUSE, 0, 0, "",                                   \
	  "epoch {#epoch} began, and what happened to it before is not all in this "     \
	  "log")                                                                         \
	X(CLUSTER_REFUSES, "cluster-refuses", CAUSE, 0, 0, "",                           \
	  "{cluster} says {state}[: {why}]")                                             \
	X(OUTDATED, "outdated", CAUSE, 0, 0, "", "it is measured again: {error}")        \
	X(CLUSTER_LOST_IT, "cluster-lost-it", CAUSE, 0, 0, "",                           \
	  "{cluster} does not know it")                                                  \
	/* states of a rollout */                                                        \
	X(ROLLOUT_BY, "rollout-by", CAUSE, 0, 0, "", "by {who}")                         \
	X(BUDGET_SPENT, "budget-spent", CAUSE, 0, 0, "",                                 \
	  "pool {pool}: {#faults} of its failure budget of {#budget}; {node}: {why}")    \
	X(CANARY_FAULT, "canary-fault", CAUSE, 0, 0, "",                                 \
	  "pool {pool}: {#faults} of its failure budget of {#budget}, a canary among "   \
	  "them; {node}: {why}")                                                         \
	/* steps of a plan */                                                            \
	X(NEW, "new", PLAN, 0, 0, "", "new in the profile")                              \
	X(NOT_INSTALLED, "not-installed", PLAN, 0, 0, "",                                \
	  "not installed[; its disk is not empty{?written}]")                            \
	X(OUT_OF_SERVICE, "out-of-service", PLAN, 0, 0, "",                              \
	  "{state}: {!why}[; its disk is not empty{?written}]")                          \
	X(CHANGED, "changed", PLAN, 0, 0, "", "{changes}[; last time: {!last}]")         \
	X(NOT_WANTED, "not-wanted", PLAN, 0, 0, "",                                      \
	  "rollout {rollout} would have changed it; that is no longer wanted")           \
	X(OVERTAKEN, "overtaken", PLAN, 0, 0, "",                                        \
	  "rollout {rollout} would change it by another revision; plan it again "        \
	  "afterwards")                                                                  \
	X(REBUILD, "rebuild", PLAN, 0, 0, "", "to be rebuilt")                           \
	X(WANTS_RESET, "wants-reset", PLAN, 0, 0, "", "{!why}")                          \
	X(REPLACED, "replaced", PLAN, 0, 0, "",                                          \
	  "replaced: the profile means another machine ({what} {wanted}, it was "        \
	  "{seen})")                                                                     \
	X(RENAMED, "renamed", PLAN, 0, 0, "",                                            \
	  "renamed: by its {what} it is the machine of {node}[; {!more}][; last time: "  \
	  "{!last}]")                                                                    \
	X(STILL_CALLED, "still-called", PLAN, 0, 0, "",                                  \
	  "renamed: its system is still called {node}[; {!more}][; last time: {!last}]") \
	/* refusals of a plan */                                                         \
	X(UNDER_WAY, "under-way", PLAN, 0, 0, "",                                        \
	  "it is {state} with {what}; [it is held: bringup node release continues "      \
	  "its order; {?held}][bringup rollout abort {rollout} takes it back; ]plan "    \
	  "again when it is settled")                                                    \
	X(GOES_ON, "goes-on", PLAN, 0, 0, "",                                            \
	  "its order cannot begin anew: {why}; it goes on by its own revision")          \
	X(REPLACED_ON_WAY, "replaced-on-way", PLAN, 0, 0, "",                            \
	  "{!why}; it is {state}: bringup node replace {node} forgets the old one")      \
	X(PARKED, "parked", PLAN, 0, 0, "",                                              \
	  "it is parked; plan again after bringup node resume {node}")                   \
	X(QUARANTINED, "quarantined", PLAN, 0, 0, "",                                    \
	  "it is quarantined: {!why}; bringup node validate {node} tests it again "      \
	  "without a wipe, bringup node rebuild {node} writes it again[; for what "      \
	  "changes plan again after that{?changes}][; held by {who}: bringup node "      \
	  "release comes first]")                                                        \
	X(RETIRED, "retired", PLAN, 0, 0, "",                                            \
	  "it is retired; take it out of the profile, or replace it")                    \
	X(SERVICED, "serviced", PLAN, 0, 0, "",                                          \
	  "it is being serviced; bringup node release {node} ends that")                 \
	X(HELD, "held", PLAN, 0, 0, "",                                                  \
	  "held by {who}: {!why}; bringup node release ends the hold")                   \
	X(APPLY_FIRST, "apply-first", PLAN, 0, 0, "",                                    \
	  "{!why}; run bringup apply first")                                             \
	X(NO_DATA, "no-data", PLAN, 0, 0, "",                                            \
	  "there is no data to keep; rebuild it with --grant wipe")                      \
	X(HOLDS_ANOTHER, "holds-another", PLAN, 0, 0, "",                                \
	  "its {what} is that of the machine of node {owner}, and {node} holds "         \
	  "another machine; names move one at a time: rename {node} to a name that "     \
	  "is free and apply, then go on")                                               \
	X(OWNER_BUSY, "owner-busy", PLAN, 0, 0, "",                                      \
	  "it is the machine of node {owner}, which is {state}; rename it after that")   \
	X(OWNER_OUT, "owner-out", PLAN, 0, 0, "",                                        \
	  "it is the machine of node {owner}, which is {state}; rename it after "        \
	  "bringup node {verb} {owner}")                                                 \
	X(OWNER_LEFT, "owner-left", PLAN, 0, 0, "",                                      \
	  "it is the machine of node {owner}, which left the profile while it was "      \
	  "{state}; bringup node retire {owner} forgets it")                             \
	X(TWO_OWNERS, "two-owners", PLAN, 0, 0, "",                                      \
	  "its {what} is that of node {owner}, its {other} that of node {second}")       \
	X(TWO_NAMES, "two-names", PLAN, 0, 0, "",                                        \
	  "its {what} is that of the machine of node {owner}, which is in the "          \
	  "profile too; a machine has one name")                                         \
	X(TWO_ROWS, "two-rows", PLAN, 0, 0, "",                                          \
	  "its {what} is that of the machine of node {owner}, whose machine {row} "      \
	  "would get, too; a machine has one name")                                      \
	X(OWNER_MOVES, "owner-moves", PLAN, 0, 0, "",                                    \
	  "its {what} is that of the machine of node {owner}, which gets another "       \
	  "one; names move one at a time: take {owner} out of the profile and apply, "   \
	  "then go on")                                                                  \
	X(DATA_NAMED, "data-named", PLAN, 0, 0, "",                                      \
	  "its data partitions are found by the names of site and node; under "          \
	  "another name than {name} it would start without its data; keep {name}, or "   \
	  "save the data, apply the pool without data and the new name after that")      \
	X(BMC_MOVES, "bmc-moves", PLAN, 0, 0, "",                                        \
	  "its BMC is that of node {owner}, which gets another machine; bringup "        \
	  "node replace {owner} forgets the old one, then go on")                        \
	X(BMC_TAKEN, "bmc-taken", PLAN, 0, 0, "",                                        \
	  "its BMC is that of node {owner}, whose machine has other addresses; "         \
	  "bringup node retire {owner} forgets that one")                                \
	BU_REASON_LINES(X)

enum bu_reason_code {
	BU_REASON_NONE, /* no reason */
#define X(id, name, kind, stops, again_s, ends, text) BU_REASON_##id,
	BU_REASONS(X)
#undef X
		BU_REASON_COUNT
};

enum bu_reason_kind {
	BU_REASON_KIND_CAUSE,
	BU_REASON_KIND_WAIT,
	BU_REASON_KIND_TROUBLE,
	BU_REASON_KIND_REFUSAL,
	BU_REASON_KIND_HOLD,
	BU_REASON_KIND_FAULT,
	BU_REASON_KIND_PLAN,
	BU_REASON_KIND_LINE,
};

struct bu_reason_info {
	const char *name;
	enum bu_reason_kind kind;
	int stops_deadline;
	int again_s;
	const char *ends; /* "" = nothing is awaited */
	const char *text;
};

enum { BU_REASON_TEXTS = 4, BU_REASON_NUMBERS = 2, BU_REASON_TEXT_MAX = 640 };

/* In the order of their first use in the sentence. NULL counts as "". */
struct bu_reason_args {
	const char *text[BU_REASON_TEXTS];
	int64_t number[BU_REASON_NUMBERS];
};

/* All zero = no reason. May be copied, and compared with bu_reason_same(). */
struct bu_reason {
	enum bu_reason_code code;
	int64_t number[BU_REASON_NUMBERS];
	char text[BU_REASON_TEXT_MAX]; /* one after the other, each with NUL */
};

const struct bu_reason_info *bu_reason_info(enum bu_reason_code code);
/* "wait", "trouble", ... */
const char *bu_reason_kind_name(enum bu_reason_kind kind);
/* NONE = unknown name. */
enum bu_reason_code bu_reason_from_name(const char *name);
int bu_reason_is(const struct bu_reason *reason, enum bu_reason_kind kind);
int bu_reason_same(const struct bu_reason *a, const struct bu_reason *b);

/* Texts that are too long together are cut, the last ones first. args NULL = none. */
void bu_reason_set(struct bu_reason *ret, enum bu_reason_code code,
		   const struct bu_reason_args *args);
/* BU_REASON_SET(&reason, SOAKS, .number = {5, 25}) */
#define BU_REASON_SET(ret, id, ...)                                                    \
	bu_reason_set((ret), BU_REASON_##id, &(struct bu_reason_args){__VA_ARGS__})
/* Sets one argument by its name; ignores names that the sentence does not have. */
void bu_reason_set_text(struct bu_reason *reason, const char *name, const char *text);
void bu_reason_set_number(struct bu_reason *reason, const char *name, int64_t number);
/* "" = no such argument. Borrowed until the reason changes. */
const char *bu_reason_arg(const struct bu_reason *reason, const char *name);
/* The sentence; "" for NONE. Owned. */
char *bu_reason_text(const struct bu_reason *reason);

/* Sets "code" and "args"; for NONE neither. */
void bu_reason_to_body(const struct bu_reason *reason, json_t *body);
bu_must int bu_reason_from_body(const json_t *body, struct bu_reason *ret,
				struct bu_err *err);
/* As a member of a record: BU_FIELD_REASON(struct hold, reason). */
extern const struct bu_parts bu_reason_parts;
#define BU_FIELD_REASON(type, member)                                                  \
	BU_FIELD(PARTS, type, member, .parts = &bu_reason_parts)

#endif
