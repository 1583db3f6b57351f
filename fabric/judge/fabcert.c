/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes, verifies and checks certificates. Called by the gate and at re-adoption. Pure.
 * Invariant: no field of a certificate is read before its signature is verified, and no
 * certificate is made that does not pass.
 */
#include "fabric/judge/fabcert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "fabric/judge/together.h"
#include "fabric/stages.h"

/* Around the canonical CERT and the signature. */
#define CERT_BEFORE "{\"cert\":"
#define CERT_AFTER ",\"sig\":\""
#define CERT_END "\"}"

static const char *const kind_names[] = {
	[BU_FABCERT_FULL] = "full", [BU_FABCERT_BOOT] = "boot"};

/* canonical: of the CERT. */
static char *
signed_bytes(const char *canonical, size_t length)
{
	return bu_xasprintf("bringup fabcert 1\n%.*s", (int)length, canonical);
}

static int
check_rail(const struct bu_fabcert *cert, const struct bu_fabcert_rail *rail,
	   struct bu_err *err)
{
	if (rail->result_count < 1)
		return bu_err_set(err, BU_ERR_STATE, 0, "rail %s was not probed",
				  rail->name);
	for (int i = 0; i < rail->result_count; i++) {
		const struct bu_pair_result *result = rail->results[i];

		if (strcmp(result->end[0].node, cert->node) != 0 &&
		    strcmp(result->end[1].node, cert->node) != 0)
			return bu_err_set(err, BU_ERR_STATE, 0,
					  "probe %s is of other nodes", result->probe);
	}
	if (rail->verdict != BU_VERDICT_PASS && rail->verdict != BU_VERDICT_WARN)
		return bu_err_set(err, BU_ERR_STATE, 0, "rail %s: the verdict is %s",
				  rail->name, bu_verdict_name(rail->verdict));
	return bu_expect_check(&rail->expect, err);
}

static int
check_cert(const struct bu_fabcert *cert, struct bu_err *err)
{
	if (cert->rail_count < 1)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate of %s: nothing was probed", cert->node);
	for (int i = 0; i < cert->rail_count; i++) {
		if (check_rail(cert, &cert->rails[i], err) != 0)
			return bu_err_wrap(err, "certificate of %s", cert->node);
	}
	return 0;
}

/* Each partner once, in the order of the results. */
static json_t *
partners_of(const struct bu_fabcert *cert)
{
	bu_autojson json_t *seen = json_object();
	json_t *partners = json_array();

	for (int r = 0; r < cert->rail_count; r++) {
		const struct bu_fabcert_rail *rail = &cert->rails[r];

		for (int i = 0; i < rail->result_count; i++) {
			const struct bu_pair_result *result = rail->results[i];
			int own = strcmp(result->end[0].node, cert->node) == 0 ? 0 : 1;
			const char *name = result->end[!own].node;

			if (!json_object_get(seen, name))
				json_array_append_new(partners, json_string(name));
			json_object_set_new(seen, name, json_true());
		}
	}
	return partners;
}

/* The round in which the schedule pairs nodes a and b; -1 = in none. */
static int
round_of(const json_t *schedule, uint64_t seed, const char *a, const char *b)
{
	const json_t *order = json_object_get(schedule, "order");
	int n = (int)json_array_size(order), places[2] = {-1, -1};

	for (int i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(order, (size_t)i));

		if (name && strcmp(name, a) == 0)
			places[0] = i;
		if (name && strcmp(name, b) == 0)
			places[1] = i;
	}
	return places[0] < 0 || places[1] < 0
		       ? -1
		       : bu_stage_group_round_of(n, seed,
						 (int)bu_json_int(schedule, "group", 0),
						 places[0], places[1]);
}

/* Counters and ports are in the log; the certificate has the judged figures. */
static json_t *
result_json(const struct bu_fabcert *cert, const struct bu_fabcert_rail *rail,
	    const struct bu_pair_result *result)
{
	static const char *const dirs[] = {"a_to_b", "b_to_a"};
	static const char *const left_out[] = {"a",          "b",     "sport",
					       "flow_label", "paths", "untraced"};
	json_t *value = bu_pair_result_to_json(result);

	for (int dir = 0; dir < 2; dir++) {
		for (size_t i = 0; i < BU_LEN(left_out); i++)
			json_object_del(json_object_get(value, dirs[dir]), left_out[i]);
	}
	json_object_set_new(value, "rail", json_string(rail->name));
	if (rail->schedule)
		json_object_set_new(value, "round",
				    json_integer(round_of(rail->schedule, cert->seed,
							  result->end[0].node,
							  result->end[1].node)));
	return value;
}

/* An earlier rail with the same schedule; NULL = none. Rails with the same nodes on
 * their leaves share one. The schedule is the larger part of a certificate. */
static const char *
schedule_as(const struct bu_fabcert *cert, int rail)
{
	const json_t *own = cert->rails[rail].schedule;

	for (int r = 0; own && r < rail; r++) {
		if (json_equal(cert->rails[r].schedule, own))
			return cert->rails[r].name;
	}
	return NULL;
}

static json_t *
rail_json(const struct bu_fabcert_rail *rail, const char *as)
{
	json_t *value = json_pack("{s:s,s:o,s:s}", "rail", rail->name, "expect",
				  bu_expect_to_json(&rail->expect), "verdict",
				  bu_verdict_name(rail->verdict));

	if (as)
		json_object_set_new(value, "schedule_as", json_string(as));
	else if (rail->schedule)
		json_object_set(value, "schedule", (json_t *)(uintptr_t)rail->schedule);
	return value;
}

static json_t *
cert_to_json(const struct bu_fabcert *cert)
{
	json_t *results = json_array(), *rails = json_array();
	enum bu_verdict verdict = BU_VERDICT_PASS;
	char seed[24], issued[24];
	json_t *value, *together;

	for (int r = 0; r < cert->rail_count; r++) {
		const struct bu_fabcert_rail *rail = &cert->rails[r];

		json_array_append_new(rails, rail_json(rail, schedule_as(cert, r)));
		for (int i = 0; i < rail->result_count; i++)
			json_array_append_new(
				results, result_json(cert, rail, rail->results[i]));
		if (rail->verdict != BU_VERDICT_PASS)
			verdict = BU_VERDICT_WARN;
	}
	together = bu_together_of(cert->node, rails, results);
	/* JSON integers are signed; a seed may not fit. */
	snprintf(seed, sizeof(seed), "%016" PRIx64, cert->seed);
	bu_time_iso(cert->issued_ms, issued);
	value = json_pack(
		"{s:i, s:s, s:s, s:s, s:O, s:s, s:I, s:s, s:o, s:o, s:o, s:s, s:s, "
		"s:o*}",
		"v", 1, "kind", kind_names[cert->kind], "node", cert->node, "machine",
		cert->machine, "hardware", cert->hardware, "boot_id", cert->boot_id,
		"epoch", (json_int_t)cert->epoch, "issued", issued, "partners",
		partners_of(cert), "results", results, "rails", rails, "seed", seed,
		"verdict", bu_verdict_name(verdict), "together", together);
	bu_assert(value);
	if (cert->checks)
		json_object_set(value, "checks", (json_t *)(uintptr_t)cert->checks);
	return value;
}

char *
bu_fabcert_sign(const struct bu_fabcert *cert, const char *private_pem,
		struct bu_err *err)
{
	bu_autojson json_t *value = NULL;
	bu_autofree char *canonical = NULL, *bytes = NULL;
	char sig[BU_SIG_HEX_SIZE];

	if (check_cert(cert, err))
		return NULL;
	value = cert_to_json(cert);
	canonical = bu_json_canonical(value);
	bytes = signed_bytes(canonical, strlen(canonical));
	if (bu_sign(private_pem, bytes, strlen(bytes), sig, err))
		return NULL;
	/* The keys are sorted: this text is canonical, too. */
	return bu_xasprintf(CERT_BEFORE "%s" CERT_AFTER "%s" CERT_END, canonical, sig);
}

/* Does the signature fit the CERT's bytes as they are in the text? These are canonical
 * unless another program rewrote the text; only canonical bytes are ever signed. */
static int
is_signed_as_written(const char *text, size_t size, const char *sig,
		     const char *public_pem)
{
	size_t before = strlen(CERT_BEFORE),
	       after = strlen(CERT_AFTER) + strlen(sig) + strlen(CERT_END);
	bu_autofree char *bytes = NULL;

	if (size < before + after || memcmp(text, CERT_BEFORE, before) != 0)
		return 0;
	bytes = signed_bytes(text + before, size - before - after);
	return bu_verify(public_pem, bytes, strlen(bytes), sig, NULL) == 0;
}

json_t *
bu_fabcert_verify(const char *text, size_t size, const char *public_pem,
		  struct bu_err *err)
{
	bu_autojson json_t *envelope = NULL;
	bu_autofree char *bytes = NULL;
	json_t *cert;
	const char *sig;

	if (size > BU_FABCERT_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "certificate: over %d bytes",
			   BU_FABCERT_MAX);
		return NULL;
	}
	envelope = bu_json_parse(text, size, "certificate", err);
	if (!envelope || bu_json_get_str(envelope, "sig", &sig, err))
		return NULL;
	cert = json_object_get(envelope, "cert");
	if (!json_is_object(cert)) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "certificate: field 'cert': expected an object");
		return NULL;
	}
	if (!is_signed_as_written(text, size, sig, public_pem)) {
		bu_autofree char *canonical = bu_json_canonical(cert);

		bytes = signed_bytes(canonical, strlen(canonical));
		if (bu_verify(public_pem, bytes, strlen(bytes), sig, err)) {
			bu_err_wrap(err, "certificate");
			return NULL;
		}
	}
	if (bu_json_int(cert, "v", 0) != 1) {
		bu_err_set(err, BU_ERR_INVAL, 0, "certificate: expected version 1");
		return NULL;
	}
	return json_incref(cert);
}

static int
check_field(const json_t *cert, const char *key, const char *wanted, struct bu_err *err)
{
	const char *got = bu_json_str(cert, key, "");

	if (!wanted || !wanted[0] || strcmp(got, wanted) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate: %s is '%.64s', here it is '%s'", key,
				  got, wanted ? wanted : "");
	return 0;
}

int
bu_fabcert_check(const json_t *cert, enum bu_fabcert_kind kind,
		 const struct bu_fabcert_now *now, struct bu_err *err)
{
	enum bu_verdict verdict;

	if (check_field(cert, "kind", kind_names[kind], err) ||
	    check_field(cert, "node", now->node, err) ||
	    check_field(cert, "machine", now->machine, err) ||
	    (kind == BU_FABCERT_BOOT &&
	     check_field(cert, "boot_id", now->boot_id, err)))
		return -1;
	if (!json_equal(json_object_get(cert, "hardware"), now->hardware))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate: the machine's hardware has changed");
	if (bu_verdict_from_name(bu_json_str(cert, "verdict", ""), &verdict) ||
	    (verdict != BU_VERDICT_PASS && verdict != BU_VERDICT_WARN))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate: its verdict does not pass");
	return 0;
}

enum bu_verdict
bu_fabcert_judge(const char *node, const struct bu_expect *expect,
		 const struct bu_pair_result *const *results, int count)
{
	char reason[BU_REASON_SIZE];
	int good[2] = {0, 0}, all_good = count > 0, failed = 0;

	for (int i = 0; i < count; i++) {
		int own = strcmp(results[i]->end[0].node, node) == 0 ? 0 : 1;

		for (int dir = 0; dir < 2; dir++) {
			enum bu_verdict verdict =
				bu_expect_judge(expect, results[i], dir, reason);

			if (verdict == BU_VERDICT_PASS || verdict == BU_VERDICT_WARN)
				good[dir != own] = 1;
			all_good &= verdict == BU_VERDICT_PASS;
			failed |= verdict == BU_VERDICT_FAIL;
		}
	}
	if (good[0] && good[1])
		return all_good ? BU_VERDICT_PASS : BU_VERDICT_WARN;
	return failed ? BU_VERDICT_FAIL : BU_VERDICT_INCONCLUSIVE;
}

int
bu_fabcert_covers(const json_t *cert, const char *rail, int only)
{
	const json_t *rails = json_object_get(cert, "rails");
	size_t i;
	json_t *one;

	if (!rails)
		return only;
	json_array_foreach (rails, i, one) {
		if (strcmp(bu_json_str(one, "rail", ""), rail) == 0)
			return 1;
	}
	return 0;
}

/* The rail's own schedule, else that of the rail in "schedule_as". */
static const json_t *
schedule_in(const json_t *cert, const json_t *rail)
{
	const char *as = bu_json_str(rail, "schedule_as", "");
	size_t i;
	json_t *one;

	json_array_foreach (json_object_get(cert, "rails"), i, one) {
		if (*as && strcmp(bu_json_str(one, "rail", ""), as) == 0)
			return json_object_get(one, "schedule");
	}
	return json_object_get(rail, "schedule");
}

static int
replay_result(const json_t *schedule, uint64_t seed, const struct bu_expect *expect,
	      const json_t *value, struct bu_pair_result *ret, struct bu_err *err)
{
	enum bu_verdict claimed;
	int round;

	if (bu_pair_result_from_json(value, ret, err) != 0)
		return -1;
	claimed = ret->verdict;
	if (bu_expect_judge_pair(expect, ret) != claimed)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "probe %s: its figures give %s, it says %s",
				  ret->probe,
				  bu_verdict_name(bu_expect_judge_pair(expect, ret)),
				  bu_verdict_name(claimed));
	if (!schedule)
		return 0;
	round = round_of(schedule, seed, ret->end[0].node, ret->end[1].node);
	if (round != (int)bu_json_int(value, "round", -2))
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "probe %s: the schedule pairs %s and %s in round %d, "
				  "not in %lld",
				  ret->probe, ret->end[0].node, ret->end[1].node, round,
				  (long long)bu_json_int(value, "round", -2));
	return 0;
}

/* rail: a member of "rails", or the certificate itself where it has none. */
static int
replay_rail(const json_t *cert, const json_t *rail, enum bu_verdict *ret,
	    struct bu_err *err)
{
	const json_t *list = json_object_get(cert, "results");
	const json_t *schedule = schedule_in(cert, rail);
	const char *name = bu_json_str(rail, "rail", "");
	size_t count = json_array_size(list), i;
	bu_autofree struct bu_pair_result *results =
		bu_xcalloc(count, sizeof(*results));
	bu_autofree const struct bu_pair_result **refs =
		bu_xcalloc(count, sizeof(*refs));
	uint64_t seed = strtoull(bu_json_str(cert, "seed", "0"), NULL, 16);
	struct bu_expect expect;
	json_t *value;
	int kept = 0;

	if (bu_expect_from_json(json_object_get(rail, "expect"), &expect, err) != 0)
		return -1;
	json_array_foreach (list, i, value) {
		if (strcmp(bu_json_str(value, "rail", ""), name) != 0)
			continue;
		if (replay_result(schedule, seed, &expect, value, &results[kept],
				  err) != 0)
			return -1;
		refs[kept] = &results[kept];
		kept++;
	}
	*ret = bu_fabcert_judge(bu_json_str(cert, "node", ""), &expect, refs, kept);
	if (bu_json_word(rail, "verdict", bu_verdict_names, -1) != (int)*ret)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "%s%sits figures give %s, the certificate says %s",
				  *name ? name : "", *name ? ": " : "",
				  bu_verdict_name(*ret),
				  bu_json_str(rail, "verdict", ""));
	return 0;
}

/* Old certificates have no "together". */
static int
replay_together(const json_t *cert, struct bu_err *err)
{
	static const char *const sums[] = {"sends_gbps", "receives_gbps", "least_gbps"};
	const json_t *told = json_object_get(cert, "together");
	bu_autojson json_t *is = bu_together_of(bu_json_str(cert, "node", ""),
						json_object_get(cert, "rails"),
						json_object_get(cert, "results"));

	for (size_t i = 0; told && i < BU_LEN(sums); i++) {
		double one = bu_json_real(told, sums[i], -1);

		if (fabs(one - bu_json_real(is, sums[i], -2)) > 1e-6 * one)
			return bu_err_set(
				err, BU_ERR_VERIFY, 0,
				"its rails together: the figures give another "
				"%s than the certificate says",
				sums[i]);
	}
	return 0;
}

int
bu_fabcert_replay(const json_t *cert, struct bu_err *err)
{
	const json_t *rails = json_object_get(cert, "rails");
	enum bu_verdict worst = BU_VERDICT_PASS, verdict;
	size_t i;
	json_t *rail;

	if (!rails)
		return replay_rail(cert, cert, &verdict, err);
	json_array_foreach (rails, i, rail) {
		if (replay_rail(cert, rail, &verdict, err) != 0)
			return -1;
		if (verdict != BU_VERDICT_PASS)
			worst = worst == BU_VERDICT_PASS || worst == BU_VERDICT_WARN
					? verdict
					: worst;
	}
	if (bu_json_word(cert, "verdict", bu_verdict_names, -1) != (int)worst)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "its rails give %s, the certificate says %s",
				  bu_verdict_name(worst),
				  bu_json_str(cert, "verdict", ""));
	return replay_together(cert, err);
}
