/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of events: one table for each kind, for writing into the log and reading back.
 * model/event.h has the meaning of each event. Texts and values are borrowed: from the
 * caller while the event is made, from the body when it is read.
 */
#ifndef BU_MODEL_EVENT_BODY_H
#define BU_MODEL_EVENT_BODY_H

#include <jansson.h>
#include <stdint.h>

#include "model/event.h"
#include "model/hello.h"
#include "model/power_request.h"
#include "model/reason.h"
#include "model/result.h"

/*
 * F(how, of, field, more). Required fields; a missing one is an error:
 *	TEXT, TEXT_AS(key), INT, REAL, FLAG, WORD(names), WORD_OR(names, other), JSON
 *	REASON a struct bu_reason: "code", "args" and the sentence of that time
 * Optional fields, with the value that stands for a missing one:
 *	IF_TEXT NULL      IF_INT BU_UNSAID_INT        IF_MORE an integer, 0
 *	IF_FLAG BU_UNSAID
 *	IF_TRUE a flag    IF_JSON NULL                IF_PART(table) its own defaults
 *	IF_MANY(table) a list, at most as long as its array
 * An unknown word is of another version, and reads as `other` or as the first name. A
 * wrong type is an error.
 */
enum { BU_UNSAID = -1 };
#define BU_UNSAID_INT INT64_MIN /* -1 is a batch */

/* clang-format off */
/* B(part, fields) */
#define BU_BODY_PARTS(B, F)                                                            \
	/* a part whose first field is NULL is missing */                              \
	B(disk, F(IF_TEXT, disk, path) F(IF_TEXT, disk, serial) F(IF_TEXT, disk, wwn) \
		F(IF_MORE, disk, size_bytes) F(IF_TEXT, disk, holds)                   \
		F(IF_TEXT, disk, wanted) F(IF_TRUE, disk, written))                    \
	B(next, F(IF_TEXT, next, state) F(TEXT, next, by) F(FLAG, next, again)         \
		F(FLAG, next, reset) F(REASON, next, reason))                          \
	B(joined, F(IF_TEXT, joined, cluster) F(TEXT, joined, driver)                  \
		F(TEXT, joined, handle) F(TEXT, joined, node))                           \
	B(flow, F(REAL, flow, rate_gbps) F(REAL, flow, lat_us) F(REAL, flow, lat99_us) \
		F(REAL, flow, lat_min_us) F(REAL, flow, lost) F(INT, flow, doubt))
/* For a soak: ms = the time that counts; peer = the neighbour on the links */
#define BU_BODY_REPORT(F, of)                                                          \
	F(TEXT, of, boot_id) F(TEXT, of, digest) F(WORD, of, verdict, bu_verdict_names) \
	F(JSON, of, counts) F(JSON, of, rows) F(IF_INT, of, soak_ms)             \
	F(JSON, of, ports) F(IF_TEXT, of, domain) F(IF_TEXT, of, facts)             \
	F(IF_TEXT, of, marks) F(IF_TRUE, of, miscabled) F(IF_INT, of, ms)              \
	F(IF_TEXT, of, peer)
/* B(event, body, fields) */
#define BU_BODIES(B, F)                                                                \
	B(EPOCH, epoch, F(INT, epoch, epoch) F(IF_TEXT, epoch, by)                     \
		F(IF_TEXT, epoch, reason) F(IF_TRUE, epoch, ends))                     \
	B(STARTED, started, F(TEXT, started, why) F(INT, started, lasted_ms))          \
	B(REVISION, revision, F(TEXT, revision, digest) F(TEXT, revision, commit))     \
	B(PLAN, plan, F(TEXT, plan, digest) F(TEXT, plan, revision))                   \
	B(APPLIED, applied, F(TEXT, applied, rollout) F(TEXT, applied, plan)           \
		F(TEXT, applied, revision) F(TEXT, applied, commit)                    \
		F(TEXT, applied, limit) F(INT, applied, nodes)                   \
		F(JSON, applied, grants) F(TEXT, applied, by))                      \
	B(ORDER, order, F(TEXT, order, rollout) F(IF_TEXT, order, revision)            \
		F(IF_TEXT, order, commit) F(IF_INT, order, batch)                      \
		F(IF_FLAG, order, reset) F(IF_FLAG, order, replace)                    \
		F(TEXT, order, class) F(IF_TEXT, order, image)                         \
		F(IF_TEXT, order, digest) F(IF_TEXT, order, facets)                    \
		F(IF_PART, order, disk, disk) F(IF_PART, order, mirror, disk)          \
		F(IF_JSON, order, scratch)                                             \
		F(IF_TRUE, order, retry) F(IF_FLAG, order, begun)                      \
		F(IF_TEXT, order, by))                                                 \
	B(ROLLOUT, rollout, F(TEXT, rollout, rollout) F(TEXT, rollout, to)             \
		F(TEXT, rollout, by) F(REASON, rollout, reason))               \
	B(BRAKE, brake, F(TEXT, brake, scope) F(FLAG, brake, on) F(INT, brake, late)   \
		F(INT, brake, of))                                \
	/* disk: the one that the class of the time chose, written: it has a signature */ \
	B(BOUND, bound, F(TEXT, bound, machine) F(TEXT, bound, inventory)              \
		F(IF_JSON, bound, told) F(IF_TEXT, bound, firmware)                    \
		F(IF_PART, bound, disk, disk))                                         \
	B(RENAMED, renamed, F(TEXT, renamed, to))                                      \
	B(STATE, state, F(TEXT, state, from) F(TEXT, state, to) F(TEXT, state, on)     \
		F(REASON, state, reason) F(IF_TEXT, state, by)                         \
		F(IF_TRUE, state, reset) F(IF_PART, state, next, next))                \
	B(INTENT, intent, F(TEXT, intent, step) F(INT, intent, attempt)          \
		F(INT, intent, epoch) F(TEXT, intent, action))                         \
	B(OUTCOME, outcome, F(TEXT, outcome, step) F(INT, outcome, attempt)            \
		F(TEXT, outcome, action)                                               \
		F(WORD_OR, outcome, result, bu_outcome_names, BU_OUTCOME_FAILED)       \
		F(TEXT, outcome, kind) F(TEXT, outcome, detail)                        \
		F(IF_PART, outcome, joined, joined))                                   \
	B(ADMITTED, admitted, F(TEXT, admitted, step) F(TEXT, admitted, machine)       \
		F(TEXT, admitted, request) F(JSON, admitted, told)                  \
		F(TEXT, admitted, fingerprint) F(INT, admitted, until_ms))             \
	B(RENEWED, renewed, F(TEXT, renewed, fingerprint) F(INT, renewed, until_ms))   \
	B(REVOKED, revoked, F(TEXT, revoked, fingerprint) F(FLAG, revoked, all)        \
		F(TEXT, revoked, reason))                                              \
	B(AGENT, agent, F(TEXT, agent, version) F(TEXT, agent, digest)                 \
		F(WORD, agent, result, bu_agent_change_names) F(TEXT, agent, detail))  \
	B(BOOTED, booted, F(TEXT, booted, boot_id)                                     \
		F(WORD, booted, where, bu_where_names))                                \
	B(INSTALLED, installed, F(TEXT, installed, step) F(TEXT, installed, image)     \
		F(TEXT, installed, digest) F(IF_TRUE, installed, kexec)                    \
		F(IF_TRUE, installed, ram) F(IF_TRUE, installed, raw)                  \
		F(IF_TEXT, installed, slot) F(IF_TRUE, installed, tried)               \
		F(IF_TRUE, installed, reused))                                         \
	B(FELLBACK, fellback, F(TEXT, fellback, step) F(TEXT, fellback, image)         \
		F(TEXT, fellback, digest) F(TEXT, fellback, slot))                     \
	B(RUNS, runs, F(IF_TEXT, runs, kernel) F(IF_TEXT, runs, cmdline)               \
		F(IF_TEXT, runs, called) F(IF_TEXT, runs, step)                        \
		F(IF_TEXT, runs, facets) F(IF_TEXT, runs, kargs)                       \
		F(IF_TEXT, runs, loader) F(IF_TEXT, runs, booted)                      \
		F(IF_JSON, runs, differs) F(IF_MORE, runs, more))                      \
	B(SEEDED, seeded, F(TEXT, seeded, step) F(TEXT, seeded, address))              \
	/* errors in a row, where it has no flows: this one too */                     \
	B(PAIR, pair, F(TEXT, pair, probe) F(TEXT, pair, rail) F(TEXT, pair, a)        \
		F(TEXT, pair, b) F(TEXT, pair, boot_a) F(TEXT, pair, boot_b)           \
		F(REAL, pair, ab_gbps) F(REAL, pair, ba_gbps)                          \
		F(REAL, pair, expect_gbps) F(REAL, pair, lat_us)                       \
		F(WORD, pair, verdict, bu_verdict_names) F(TEXT, pair, error)          \
		F(INT, pair, mtu) F(IF_TEXT, pair, result) F(IF_JSON, pair, paths)      \
		F(IF_MANY, pair, flows, flow) F(IF_MORE, pair, errors)                 \
		F(IF_TRUE, pair, single))                                              \
	B(LEASE, lease, F(TEXT, lease, probe) F(TEXT_AS, lease, to, "for"))            \
	B(CHECKS, checks, BU_BODY_REPORT(F, checks))                                   \
	B(VERDICT, verdict, F(TEXT, verdict, source)                                   \
		F(WORD, verdict, verdict, bu_verdict_names) F(TEXT, verdict, text)     \
		F(INT, verdict, until_ms))                                             \
	B(SOAK, soak, BU_BODY_REPORT(F, soak))                                         \
	B(INCAST, incast, F(TEXT, incast, probe) F(TEXT, incast, boot_id)              \
		F(JSON, incast, senders) F(JSON, incast, rails)                  \
		F(WORD, incast, verdict, bu_verdict_names) F(TEXT, incast, error)      \
		F(INT, incast, test))                                            \
	B(NVLINK, nvlink, F(TEXT, nvlink, probe) F(TEXT, nvlink, boot_id)              \
		F(TEXT, nvlink, peer) F(WORD, nvlink, verdict, bu_verdict_names)       \
		F(IF_JSON, nvlink, rows) F(JSON, nvlink, with)                      \
		F(TEXT, nvlink, error) F(INT, nvlink, test))                     \
	B(EVIDENCE, evidence, F(TEXT, evidence, digest) F(TEXT, evidence, hint))       \
	B(CRASH, crash, F(TEXT, crash, digest) F(TEXT, crash, kind)                    \
		F(INT, crash, at_ms) F(TEXT, crash, boot_id))                          \
	B(AGAIN, again, F(TEXT, again, by))                                            \
	B(CERTIFICATE, certificate, F(WORD, certificate, kind, bu_certificate_kinds)   \
		F(TEXT, certificate, digest))                                          \
	B(DRAINED, drained, F(TEXT, drained, cluster) F(TEXT, drained, reason))        \
	B(WAITS, waits, F(FLAG, waits, on))                                            \
	/* since_ms 0 = the time of the event; epoch: the one that was heard of */      \
	B(CONDITION, condition, F(TEXT, condition, name) F(FLAG, condition, on)        \
		F(IF_JSON, condition, detail) F(IF_MORE, condition, since_ms)          \
		F(IF_MORE, condition, epoch))                                          \
	B(POWER, power, F(WORD, power, op, bu_power_request_names) F(IF_TEXT, power, by)        \
		F(IF_TEXT, power, reason) F(IF_FLAG, power, force)                     \
		F(WORD_OR, power, result, bu_outcome_names, BU_OUTCOME_UNKNOWN)        \
		F(IF_TEXT, power, power) F(IF_TEXT, power, detail))                    \
	B(OFF, off, F(TEXT, off, asked))                                               \
	B(START, start, F(TEXT, start, to) F(INT, start, tier) F(TEXT, start, by)      \
		F(IF_TEXT, start, reason))                                             \
	B(BACKUP, backup, F(TEXT, backup, to) F(TEXT, backup, digest)                  \
		F(INT, backup, bytes) F(FLAG, backup, keys) F(TEXT, backup, by))       \
	B(TOKEN, token, F(TEXT, token, name) F(TEXT, token, role) F(TEXT, token, hash)  \
		F(INT, token, until_ms) F(TEXT, token, by))                            \
	B(TOKEN_REVOKED, token_revoked, F(TEXT, token_revoked, name)                   \
		F(TEXT, token_revoked, by))                                            \
	B(SCALE, scale, F(TEXT, scale, pool) F(INT, scale, count) F(INT, scale, of)    \
		F(TEXT, scale, by) F(IF_TEXT, scale, reason))                          \
	B(CONSENTED, consented, F(TEXT, consented, plan) F(TEXT, consented, wipes)     \
		F(INT, consented, nodes) F(TEXT, consented, by)                        \
		F(IF_TEXT, consented, maker))                                          \
	B(DELIVERED, delivered, F(TEXT, delivered, webhook) F(INT, delivered, seq))    \
	/* stamp: model/stamp.h */                                                     \
	B(ADOPTED, adopted, F(JSON, adopted, stamp) F(JSON, adopted, told)             \
		F(TEXT, adopted, boot_id) F(IF_TEXT, adopted, facets))                 \
	B(LEARNED, learned, F(JSON, learned, revoked) F(INT, learned, epoch)           \
		F(INT, learned, seq) F(TEXT, learned, by))                             \
	B(ROTATED, rotated, F(TEXT, rotated, to) F(TEXT, rotated, by)                  \
		F(IF_TEXT, rotated, reason))                                           \
	B(HELD, held, F(TEXT, held, owner) F(TEXT, held, kind) F(REASON, held, reason)) \
	B(RELEASED, released, F(TEXT, released, by))

enum { BU_BODY_MANY = 2 };
#define BU_MEMBER_TEXT(field, ...) const char *field;
#define BU_MEMBER_TEXT_AS BU_MEMBER_TEXT
#define BU_MEMBER_INT(field, ...) int64_t field;
#define BU_MEMBER_REAL(field, ...) double field;
#define BU_MEMBER_FLAG(field, ...) int field;
#define BU_MEMBER_WORD BU_MEMBER_FLAG
#define BU_MEMBER_WORD_OR BU_MEMBER_FLAG
#define BU_MEMBER_REASON(field, ...) struct bu_reason field;
#define BU_MEMBER_IF_TEXT BU_MEMBER_TEXT
#define BU_MEMBER_IF_INT BU_MEMBER_INT
#define BU_MEMBER_IF_MORE BU_MEMBER_INT
#define BU_MEMBER_IF_FLAG BU_MEMBER_FLAG
#define BU_MEMBER_IF_TRUE BU_MEMBER_FLAG
#define BU_MEMBER_JSON(field, ...) const json_t *field;
#define BU_MEMBER_IF_JSON BU_MEMBER_JSON
#define BU_MEMBER_IF_PART(field, table) struct bu_body_##table field;
#define BU_MEMBER_IF_MANY(field, table)                                                \
	struct bu_body_##table field[BU_BODY_MANY];                                    \
	size_t field##_count;
/* clang-format on */

#define BU_MEMBER(how, of, ...) BU_MEMBER_##how(__VA_ARGS__)
#define B(body, ...)                                                                   \
	struct bu_body_##body {                                                        \
		__VA_ARGS__                                                            \
	};
BU_BODY_PARTS(B, BU_MEMBER)
#undef B
union bu_body {
#define B(event, body, ...)                                                            \
	struct bu_body_##body {                                                        \
		__VA_ARGS__                                                            \
	} body;
	BU_BODIES(B, BU_MEMBER)
#undef B
};

enum {
#define B(event, body, ...) BU_BODY_OF_##body = BU_EVENT_##event,
	BU_BODIES(B, BU_MEMBER)
#undef B
};

enum { BU_CERTIFICATE_BOOT, BU_CERTIFICATE_FULL };
extern const char *const bu_certificate_kinds[];

const struct bu_field *bu_body_fields(enum bu_event_kind kind);
/* BU_EVENT_MAKE(&event, BU_EVENT_AGAIN, node->name, again, .by = by); the event is
 * owned as by bu_event_init(). */
#define BU_EVENT_MAKE(ret, kind, node, body, ...)                                      \
	do {                                                                           \
		_Static_assert((int)(kind) == (int)BU_BODY_OF_##body,                  \
			       "another's body");                                      \
		bu_event_make((ret), (kind), (node),                                   \
			      &(union bu_body){.body = {__VA_ARGS__}});                \
	} while (0)
void bu_event_make(struct bu_event *ret, enum bu_event_kind kind, const char *node,
		   const union bu_body *body);
/* BU_ERR_INVAL: err has the path of the field. */
bu_must int bu_event_read(const struct bu_event *event, union bu_body *ret,
			  struct bu_err *err);

/* NULL as "". */
static inline const char *
bu_body_text(const char *text)
{
	return text ? text : "";
}

#endif
