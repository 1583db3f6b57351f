// SPDX-License-Identifier: Apache-2.0
/*
 * Makes, verifies and checks certificates; asked by the gate and at re-adoption. Pure.
 * Invariant: nothing of a certificate is looked at before its signature is verified,
 * and none is made that does not pass.
 */
#include "fabric/judge/fabcert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"

static const char *const kind_names[] = {
	[BU_FABCERT_FULL] = "full", [BU_FABCERT_BOOT] = "boot"};

static char *
signed_bytes(const json_t *cert)
{
	bu_autofree char *canonical = bu_json_canonical(cert);

	return bu_xasprintf("bringup fabcert 1\n%s", canonical);
}

static int
check_cert(const struct bu_fabcert *cert, struct bu_err *err)
{
	if (cert->verdict != BU_VERDICT_PASS && cert->verdict != BU_VERDICT_WARN)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate of %s: the verdict is %s", cert->node,
				  bu_verdict_name(cert->verdict));
	if (cert->result_count < 1)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate of %s: nothing was probed", cert->node);
	for (int i = 0; i < cert->result_count; i++) {
		const struct bu_pair_result *result = cert->results[i];

		if (strcmp(result->end[0].node, cert->node) != 0 &&
		    strcmp(result->end[1].node, cert->node) != 0)
			return bu_err_set(
				err, BU_ERR_STATE, 0,
				"certificate of %s: probe %s is of other nodes",
				cert->node, result->probe);
	}
	return bu_expect_check(&cert->expect, err);
}

static json_t *
partners_of(const struct bu_fabcert *cert)
{
	json_t *partners = json_array();

	for (int i = 0; i < cert->result_count; i++) {
		const struct bu_pair_result *result = cert->results[i];
		int own = strcmp(result->end[0].node, cert->node) == 0 ? 0 : 1;

		json_array_append_new(partners, json_string(result->end[!own].node));
	}
	return partners;
}

static json_t *
cert_to_json(const struct bu_fabcert *cert)
{
	json_t *results = json_array();
	char seed[24], issued[24];
	json_t *value;

	for (int i = 0; i < cert->result_count; i++)
		json_array_append_new(results,
				      bu_pair_result_to_json(cert->results[i]));
	/* JSON integers are signed: a seed may not fit. */
	snprintf(seed, sizeof(seed), "%016" PRIx64, cert->seed);
	bu_time_iso(cert->issued_ms, issued);
	value = json_pack(
		"{s:i, s:s, s:s, s:s, s:O, s:s, s:I, s:s, s:o, s:o, s:o, s:s, s:s}",
		"v", 1, "kind", kind_names[cert->kind], "node", cert->node, "machine",
		cert->machine, "hardware", cert->hardware, "boot_id", cert->boot_id,
		"epoch", (json_int_t)cert->epoch, "issued", issued, "partners",
		partners_of(cert), "results", results, "expect",
		bu_expect_to_json(&cert->expect), "seed", seed, "verdict",
		bu_verdict_name(cert->verdict));
	bu_assert(value);
	return value;
}

char *
bu_fabcert_sign(const struct bu_fabcert *cert, const char *private_pem,
		struct bu_err *err)
{
	bu_autojson json_t *value = NULL, *envelope = NULL;
	bu_autofree char *bytes = NULL;
	char sig[BU_SIG_HEX_SIZE];

	if (check_cert(cert, err))
		return NULL;
	value = cert_to_json(cert);
	bytes = signed_bytes(value);
	if (bu_sign(private_pem, bytes, strlen(bytes), sig, err))
		return NULL;
	envelope = json_pack("{s:O, s:s}", "cert", value, "sig", sig);
	return bu_json_canonical(envelope);
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
			   "certificate: field 'cert': an object is wanted");
		return NULL;
	}
	bytes = signed_bytes(cert);
	if (bu_verify(public_pem, bytes, strlen(bytes), sig, err)) {
		bu_err_wrap(err, "certificate");
		return NULL;
	}
	if (bu_json_int(cert, "v", 0) != 1) {
		bu_err_set(err, BU_ERR_INVAL, 0, "certificate: version 1 is wanted");
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
bu_fabcert_check(const json_t *cert, enum bu_fabcert_kind kind, const char *node,
		 const char *machine, const json_t *hardware, const char *boot_id,
		 struct bu_err *err)
{
	enum bu_verdict verdict;

	if (check_field(cert, "kind", kind_names[kind], err) ||
	    check_field(cert, "node", node, err) ||
	    check_field(cert, "machine", machine, err) ||
	    (kind == BU_FABCERT_BOOT && check_field(cert, "boot_id", boot_id, err)))
		return -1;
	if (!json_equal(json_object_get(cert, "hardware"), hardware))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate: the machine's hardware has changed");
	if (bu_verdict_from_name(bu_json_str(cert, "verdict", ""), &verdict) ||
	    (verdict != BU_VERDICT_PASS && verdict != BU_VERDICT_WARN))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "certificate: its verdict does not pass");
	return 0;
}
