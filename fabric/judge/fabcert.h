/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's certificate: its probes with their results, signed by the appliance. Pure.
 *
 * Text, canonical JSON: {"cert":CERT,"sig":"<hex Ed25519>"}. Signed are the bytes
 * "bringup fabcert 1\n" and the canonical CERT, so that no other text that the same key
 * signed passes for a certificate. CERT
 * {"v":1,"kind":"full"|"boot","node","machine","hardware":{id: text},"boot_id",
 *  "epoch","issued","partners":[names],"results":[pair results],"rails":[{"rail",
 *  "expect":{"link_gbps","percent"},"verdict","schedule"?:{"group","order":[names]},
 *  "schedule_as"?: the rail with the same schedule}],
 *  "together"?: the summed rates of its rails in one probe (together.h),
 *  "seed":"<hex>","verdict":"pass"|"warn","checks"?:{"digest","verdict","counts"}}
 * A result has "rail" and "round", but no counters. The rail's schedule pairs the ends
 * of the result in that round, -1 = in none. An old CERT, of one rail, has no "rails":
 * "expect" and "schedule" are its own members.
 */
#ifndef BU_FABRIC_JUDGE_FABCERT_H
#define BU_FABRIC_JUDGE_FABCERT_H

#include <jansson.h>
#include <stdint.h>

#include "fabric/judge/expect.h"
#include "model/result.h"

enum { BU_FABCERT_MAX = 256 * 1024 };

/* full: bound to the machine's hardware ids; boot: to its boot id, too. */
enum bu_fabcert_kind { BU_FABCERT_FULL, BU_FABCERT_BOOT };

/* One rail of the node. */
struct bu_fabcert_rail {
	const char *name;                            /* of the network */
	const struct bu_pair_result *const *results; /* with verdicts */
	int result_count;
	struct bu_expect expect;
	const json_t *schedule;  /* {"group","order"}: nodes by place; NULL = none */
	enum bu_verdict verdict; /* of bu_fabcert_judge() */
};

struct bu_fabcert {
	enum bu_fabcert_kind kind;
	const char *node;
	const char *machine;    /* machine id */
	const json_t *hardware; /* object of texts: serial, UUID, GUIDs; borrowed */
	const char *boot_id;
	int64_t epoch;
	int64_t issued_ms; /* wall clock */
	const struct bu_fabcert_rail *rails;
	int rail_count;
	uint64_t seed;        /* of the schedule */
	const json_t *checks; /* {"digest","verdict","counts"}; NULL = none; borrowed */
};

/* Owned text. BU_ERR_STATE where the certificate would prove nothing: a rail has no
 * result or another verdict than pass and warn, or a result is of other nodes. Its
 * verdict is the worst of its rails'; its partners are the other ends, each once. */
char *bu_fabcert_sign(const struct bu_fabcert *cert, const char *private_pem,
		      struct bu_err *err);
/* The CERT, a new reference. BU_ERR_VERIFY: the signature is not this key's.
 * BU_ERR_INVAL: the text has another shape or over BU_FABCERT_MAX bytes. */
json_t *bu_fabcert_verify(const char *text, size_t size, const char *public_pem,
			  struct bu_err *err);
struct bu_fabcert_now {
	const char *node, *machine;
	const json_t *hardware;
	const char *boot_id;
};
/* 0: the verified CERT passes and is of this kind, node, machine, hardware and, of kind
 * boot, this boot. BU_ERR_STATE names the field that differs. */
bu_must int bu_fabcert_check(const json_t *cert, enum bu_fabcert_kind kind,
			     const struct bu_fabcert_now *now, struct bu_err *err);

/* Does the CERT cover this rail? only: the node has no other rail. An old CERT names no
 * rail: it covers the only one, and none where there are several. */
int bu_fabcert_covers(const json_t *cert, const char *rail, int only);

/* The verdict of one rail. pass: every direction of the results passes. warn: the node
 * sent well at least once and received well at least once. Else fail where a direction
 * failed, or inconclusive. */
enum bu_verdict bu_fabcert_judge(const char *node, const struct bu_expect *expect,
				 const struct bu_pair_result *const *results,
				 int count);
/* Computes the rounds of a verified CERT from its seed, and its verdicts and sums from
 * its figures. BU_ERR_VERIFY names the one that differs from the CERT. */
bu_must int bu_fabcert_replay(const json_t *cert, struct bu_err *err);

#endif
