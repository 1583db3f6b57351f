/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log's content. An event is a kind, its node ("" = the site) and a JSON body. All
 * state is a function of the events in their order.
 */
#ifndef BU_MODEL_EVENT_H
#define BU_MODEL_EVENT_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_NAME_MAX = 64 /* bytes of a node's name, with NUL */ };

/* id, name, meaning; model/event_body.h has the fields of the body */
#define BU_EVENTS(X)                                                                   \
	X(EPOCH, "epoch",                                                              \
	  "higher than all before it; by: in a take-over, whose word it was; ends: "   \
	  "orders of before are withdrawn, and nodes on their way are held")           \
	X(STARTED, "started",                                                          \
	  "bringup runs from here on (start, room on the disk, clock was set); it "    \
	  "had run for lasted_ms before")                                              \
	X(REVISION, "revision", "the tree is blob `digest`")                           \
	X(PLAN, "plan", "the plan is blob `digest`")                                   \
	X(APPLIED, "applied", "with 0 nodes it starts no rollout")                     \
	X(ORDER, "order",                                                              \
	  "what this node becomes; disk: the one that may lose its data; mirror: the " \
	  "second of its system, scratch: those of its array, likewise; retry: the "   \
	  "failed order again")                                                        \
	X(ROLLOUT, "rollout", "paused, resumed, stopped or aborted")                   \
	X(BRAKE, "brake", "the ladders of a scope freeze or go on")                    \
	X(BOUND, "bound", "the machine that answers as this node")                     \
	X(RENAMED, "renamed", "the same machine has this name from now on")            \
	X(STATE, "state", "a reason is a code with arguments")                         \
	X(INTENT, "intent", "")                                                        \
	X(OUTCOME, "outcome", "joined: of a join, which cluster")                      \
	X(ADMITTED, "admitted", "the token was traded for this certificate")           \
	X(RENEWED, "renewed", "its agent's next certificate")                          \
	X(REVOKED, "revoked",                                                          \
	  "this or all certificates of its agent are no longer valid")                 \
	X(AGENT, "agent",                                                              \
	  "it switched to this agent, or that one failed and the previous one "        \
	  "runs; released: a person lets nodes try it again")                          \
	X(BOOTED, "booted", "")                                                        \
	X(INSTALLED, "installed",                                                      \
	  "with the order's facets; kexec: its agent starts it, past the firmware; "   \
	  "ram: it runs from memory, and is there anew in each boot; raw: the whole "  \
	  "disk is the image's; slot: which of two roots it is; tried: the other one " \
	  "is whole, and the loader goes back to it; reused: it was there already")    \
	X(FELLBACK, "fellback",                                                        \
	  "what was installed did not come up, and the other root runs: that of this " \
	  "step, in slot")                                                             \
	X(RUNS, "runs",                                                                \
	  "what its agent finds on it since then: called, step, facets: of the "       \
	  "record of what was written; kargs: as that has them, loader: as its boot "  \
	  "loader has them, booted: with which this boot began; differs: "             \
	  "[{path, how}] that are not as they were written, more: their number "       \
	  "besides; nothing: its agent tells nothing")                                 \
	X(SEEDED, "seeded",                                                            \
	  "what that step installed asked at its first boot which agent there is; "    \
	  "its token is used")                                                         \
	X(PAIR, "pair",                                                                \
	  "a fabric probe, judged; its result is blob `result`; paths: of its flows; " \
	  "single: of one queue pair and its path")                                    \
	X(LEASE, "lease", "a certified node is used as a partner")                     \
	X(CHECKS, "checks",                                                            \
	  "its report is blob `digest`; rows that other machines' are compared with "  \
	  "are blob `facts`; marks: of values that are its own")                       \
	X(VERDICT, "verdict", "what an outside system says")                           \
	X(SOAK, "soak", "ms under load, without a fault")                              \
	X(INCAST, "incast",                                                            \
	  "several sent to it at once; rails: [{rail, gbps, least_gbps, lost}]; "      \
	  "test: its count in this boot")                                              \
	X(NVLINK, "nvlink",                                                            \
	  "its GPUs copied to those of peer over NVLink, and they to its own; rows "   \
	  "of its report; with: what came of it, by the node, in this boot; "          \
	  "test: its count in this boot")                                              \
	X(EVIDENCE, "evidence", "of a quarantine or failure, blob `digest`")           \
	X(CRASH, "crash",                                                              \
	  "its kernel left blob `digest` when it crashed; told in boot_id")            \
	X(AGAIN, "again", "a person wants it measured again")                          \
	X(CERTIFICATE, "certificate", "issued for this node, blob `digest`")           \
	X(DRAINED, "drained",                                                          \
	  "an administrator's drain, in the cluster that it leaves; when it comes "    \
	  "back it is drained with it again")                                          \
	X(WAITS, "waits", "its deadline stops, or counts on")                          \
	X(CONDITION, "condition", "a fact that changes what a state means")            \
	X(POWER, "power",                                                              \
	  "what a person does to its machine: asked, then done, failed or unknown")    \
	X(OFF, "off",                                                                  \
	  "its machine was seen switched off, without an order: the boot before has "  \
	  "ended; asked: what asked for its power")                                    \
	X(START, "start",                                                              \
	  "machines that are off are switched on in order: begun, at a tier, done or " \
	  "aborted; tier: [pool] start of those whose turn it is")                     \
	X(BACKUP, "backup", "a backup was made, read back, and is at its place")       \
	X(TOKEN, "token",                                                              \
	  "a person or program gets a token; hash: its SHA-256, which opens nothing")  \
	X(TOKEN_REVOKED, "token-revoked", "tokens of this name open nothing any more") \
	X(SCALE, "scale",                                                              \
	  "a pool is to have so many nodes in service; of: what the profile said "     \
	  "then, and with another number this one is over")                            \
	X(CONSENTED, "consented",                                                      \
	  "a person agrees to a plan that needs another person, too; wipes: digest "   \
	  "of what it loses, and of which revision")                                   \
	X(DELIVERED, "delivered",                                                      \
	  "the receiver of a webhook has taken all rows to seq")                       \
	X(ADOPTED, "adopted",                                                          \
	  "its system runs, and the stamp that its agent shows is of a log that is "   \
	  "not this one: all that this log knew of the node ends; facets: of the "     \
	  "system, if they were told")                                                 \
	X(LEARNED, "learned",                                                          \
	  "an agent shows an anchor of a log that is not this one, by which these "    \
	  "were revoked when that had row seq of epoch")                               \
	X(ROTATED, "rotated",                                                          \
	  "the next step of a change of the appliance's CA and of the secret of "      \
	  "tokens: told, issues, none; by: whose word it was")                         \
	X(HELD, "held", "kind: bringup, person or external")                           \
	X(RELEASED, "released", "")

enum bu_event_kind {
#define X(id, name, says) BU_EVENT_##id,
	BU_EVENTS(X)
#undef X
		BU_EVENT_COUNT
};

struct bu_event {
	int64_t seq;     /* 0 = not in the log yet */
	int64_t time_ms; /* Unix time */
	enum bu_event_kind kind;
	char node[BU_NAME_MAX]; /* "" = the site */
	json_t *body;           /* owned by the event */
	/* A large text that goes into the log with the row, whose body has its digest;
	 * text NULL = none. Not there when the row is read. */
	struct bu_event_blob {
		char digest[65];
		char *text; /* owned by the event */
	} blob;
};

const char *bu_event_name(enum bu_event_kind kind);
bu_must int bu_event_from_name(const char *name, enum bu_event_kind *ret,
			       struct bu_err *err);
/* Takes body. */
void bu_event_init(struct bu_event *event, enum bu_event_kind kind, const char *node,
		   json_t *body);
void bu_event_fini(struct bu_event *event);
/* Takes text, and sets the field `key` of the body to its digest. */
void bu_event_attach(struct bu_event *event, const char *key, char *text);
/* {"seq","time_ms","kind","node","text","body"} for views. New reference. */
json_t *bu_event_to_json(const struct bu_event *event);
/* The text of this field of any body; "" = it has none. For copies that others search;
 * who decides by a body reads it by its table (model/event_body.h). Borrowed. */
const char *bu_event_word(const struct bu_event *event, const char *field);
/* One line for a person: "inspecting -> imaging (inspected)"; owned. */
char *bu_event_text(const struct bu_event *event);

#endif
