/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in the log. An event is a kind, the node that it is about ("" for the site)
 * and a JSON body; state is a function of the events in their order.
 */
#ifndef BU_MODEL_EVENT_H
#define BU_MODEL_EVENT_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_NAME_MAX = 64 /* bytes of a node's name with NUL */ };

/* id, name, body */
#define BU_EVENTS(X)                                                                   \
	X(EPOCH, "epoch", "{epoch}")                                                   \
	X(STARTED, "started",                                                          \
	  "{why, lasted_ms}: bringup runs from here on (start, room on the disk, "     \
	  "clock was set); it had run for lasted_ms before")                           \
	X(REVISION, "revision", "{digest, commit}; the tree is blob `digest`")         \
	X(PLAN, "plan", "{digest, revision}; the plan is blob `digest`")               \
	X(APPLIED, "applied",                                                          \
	  "{rollout, plan, revision, commit, limit, nodes, grants, by}; with 0 "       \
	  "nodes it starts no rollout")                                                \
	X(ORDER, "order",                                                              \
	  "{rollout, class, image, digest, facets, revision, commit, batch, reset, "   \
	  "replace, disk: {path, serial, size_bytes}}: what this node becomes; "       \
	  "disk: the one that may lose its data; {retry, begun, by}: the failed "      \
	  "order again")                                                               \
	X(ROLLOUT, "rollout",                                                          \
	  "{rollout, to, by, code, args, reason}: paused, resumed, stopped or "        \
	  "aborted")                                                                   \
	X(BRAKE, "brake",                                                              \
	  "{scope, on, late, of, text}: the ladders of a scope freeze or go on")       \
	X(BOUND, "bound",                                                              \
	  "{machine, inventory}: the machine that answers as this node")               \
	X(RENAMED, "renamed", "{to}: the same machine has this name from now on")      \
	X(STATE, "state",                                                              \
	  "{from, to, on, code, args, reason, by, reset, next: {state, by, code, "     \
	  "args, reason, again, reset}}: a reason is a code with arguments, and the "  \
	  "sentence of then")                                                          \
	X(INTENT, "intent", "{step, attempt, epoch, action}")                          \
	X(OUTCOME, "outcome",                                                          \
	  "{step, attempt, action, result, kind, detail, joined}: of a join, which "   \
	  "cluster")                                                                   \
	X(ADMITTED, "admitted",                                                        \
	  "{step, machine, told, request, fingerprint, until_ms}: the token was "      \
	  "traded for "                                                                \
	  "this certificate")                                                          \
	X(RENEWED, "renewed", "{fingerprint, until_ms}: its agent's next certificate") \
	X(REVOKED, "revoked",                                                          \
	  "{fingerprint, all, reason}: this or all certificates of its agent are no "  \
	  "longer valid")                                                              \
	X(AGENT, "agent",                                                              \
	  "{version, digest, result, detail}: it changed to this agent, or that "      \
	  "ended, was silent or refused, and the one before goes on")                  \
	X(BOOTED, "booted", "{boot_id, where}")                                        \
	X(INSTALLED, "installed",                                                      \
	  "{step, image, digest, kexec}: with the order's facets; kexec: its agent "   \
	  "starts it, past the firmware")                                              \
	X(PAIR, "pair", "{a, b, ...}: a fabric probe, judged")                         \
	X(LEASE, "lease", "{probe, for}: a certified node is used as a partner")       \
	X(CHECKS, "checks",                                                            \
	  "{boot_id, digest, verdict, counts, rows, ports, domain, facts}: its "       \
	  "report is "                                                                 \
	  "blob `digest`")                                                             \
	X(VERDICT, "verdict",                                                          \
	  "{source, verdict, text, until_ms}: what an outside system says")            \
	X(SOAK, "soak", "{boot_id, ms, digest, verdict}: under load, without a fault") \
	X(INCAST, "incast",                                                            \
	  "{probe, boot_id, senders, rails: [{rail, gbps, least_gbps, lost}], "        \
	  "verdict, error}: several sent to it at once")                               \
	X(EVIDENCE, "evidence",                                                        \
	  "{digest, hint}: of a quarantine or failure, blob `digest`")                 \
	X(AGAIN, "again", "{by}: a person wants it measured again")                    \
	X(CERTIFICATE, "certificate", "{kind, text}: issued for this node")            \
	X(DRAINED, "drained",                                                          \
	  "{cluster, reason}: an administrator's drain, in the cluster that it "       \
	  "leaves; when it comes back it is drained with it again")                    \
	X(WAITS, "waits", "{on}: its deadline stops, or counts on")                    \
	X(CONDITION, "condition",                                                      \
	  "{name, on, detail, since_ms}: a fact that changes what a state "            \
	  "means")                                                                     \
	X(POWER, "power",                                                              \
	  "{op, by, reason, force, result, power, detail}: what a person does to its " \
	  "machine: asked, then done, failed or unknown")                              \
	X(HELD, "held",                                                                \
	  "{owner, kind, code, args, reason}: kind: bringup, person or external")      \
	X(RELEASED, "released", "{by}")

enum bu_event_kind {
#define X(id, name, body) BU_EVENT_##id,
	BU_EVENTS(X)
#undef X
		BU_EVENT_COUNT
};

struct bu_event {
	int64_t seq;     /* 0 until it is in the log */
	int64_t time_ms; /* Unix time */
	enum bu_event_kind kind;
	char node[BU_NAME_MAX]; /* "" = the site */
	json_t *body;           /* owned by the event */
};

const char *bu_event_name(enum bu_event_kind kind);
bu_must int bu_event_from_name(const char *name, enum bu_event_kind *ret,
			       struct bu_err *err);
/* Takes body. */
void bu_event_init(struct bu_event *event, enum bu_event_kind kind, const char *node,
		   json_t *body);
void bu_event_fini(struct bu_event *event);
/* {"seq","time_ms","kind","node","text","body"} for people and tools. New reference. */
json_t *bu_event_to_json(const struct bu_event *event);
/* One line for a person: "inspecting -> imaging (inspected)"; owned. */
char *bu_event_text(const struct bu_event *event);

#endif
