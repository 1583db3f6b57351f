/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate: what was probed, with results, signed by the appliance. Pure.
 *
 * Text, canonical JSON: {"cert":CERT,"sig":"<hex Ed25519>"}. Signed are the bytes
 * "bringup fabcert 1\n" and the canonical CERT, so that no other signed thing of the
 * same key can pass for one. CERT
 * {"v":1,"kind":"full"|"boot","node","machine","hardware":{id: text},"boot_id",
 *  "epoch","issued","partners":[names],"results":[pair results],"rails":[{"rail",
 *  "expect":{"link_gbps","percent"},"verdict","schedule"?:{"group","order":[names]},
 *  "schedule_as"?: the rail that has the same one}],
 *  "together"?: the sum of its rails' rates in one probe (together.h),
 *  "seed":"<hex>","verdict":"pass"|"warn","checks"?:{"digest","verdict","counts"}}
 * A result has {"rail","round"} besides, in which the rail's schedule pairs its ends
 * (-1: in none), and none of the counters. Of a time when one rail was measured there
 * are no "rails": "expect" and "schedule" are the certificate's own.
 */
#ifndef BU_FABRIC_JUDGE_FABCERT_H
#define BU_FABRIC_JUDGE_FABCERT_H

#include <jansson.h>
#include <stdint.h>

#include "fabric/judge/expect.h"
#include "model/result.h"

enum { BU_FABCERT_MAX = 256 * 1024 };

/* full: bound to the machine's hardware ids; boot: bound to its boot id as well. */
enum bu_fabcert_kind { BU_FABCERT_FULL, BU_FABCERT_BOOT };

/* One rail of the node. */
struct bu_fabcert_rail {
	const char *name;                            /* the network's */
	const struct bu_pair_result *const *results; /* whose verdicts are filled in */
	int result_count;
	struct bu_expect expect;
	const json_t *schedule;  /* {"group","order"}: the leaf's places; NULL = none */
	enum bu_verdict verdict; /* bu_fabcert_judge() */
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

/* Owned text. BU_ERR_STATE when the verdict of a rail is neither pass nor warn, when
 * there is no result of it, or one does not name the node: such a certificate would
 * prove nothing. Its verdict is the worst of its rails'; the partners are the other
 * ends of the results, each once. */
char *bu_fabcert_sign(const struct bu_fabcert *cert, const char *private_pem,
		      struct bu_err *err);
/* CERT as a new reference. BU_ERR_VERIFY when the signature is not this key's,
 * BU_ERR_INVAL when the text has another shape. */
json_t *bu_fabcert_verify(const char *text, size_t size, const char *public_pem,
			  struct bu_err *err);
struct bu_fabcert_now {
	const char *node, *machine;
	const json_t *hardware;
	const char *boot_id;
};
/* A verified CERT against the present machine: 0 when it is of this kind, node, machine
 * and hardware, and (boot) of this boot. BU_ERR_STATE says which one differs. */
bu_must int bu_fabcert_check(const json_t *cert, enum bu_fabcert_kind kind,
			     const struct bu_fabcert_now *now, struct bu_err *err);

/* Does a CERT tell of this rail? only: the node has no other one. A CERT of a time when
 * they named none is of one rail, and where there are several it is not known which. */
int bu_fabcert_covers(const json_t *cert, const char *rail, int only);

/* Of one rail. pass: every direction of the node's results passes; warn: each half of
 * it passed at least once; else fail or inconclusive. */
enum bu_verdict bu_fabcert_judge(const char *node, const struct bu_expect *expect,
				 const struct bu_pair_result *const *results,
				 int count);
/* Computes the schedule anew from the seed and judges the figures again: 0 when the
 * pairs, the rounds and every verdict are those that the verified CERT says.
 * BU_ERR_VERIFY names what differs. */
bu_must int bu_fabcert_replay(const json_t *cert, struct bu_err *err);

#endif
