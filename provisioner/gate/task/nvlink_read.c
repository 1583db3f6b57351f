/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what nodes report of NVLink: their domain, the report of a pair, and its
 * verdict for each end. Called by nvlink.c and nvlink_words.c. Invariant: a fault of
 * one node says nothing about the path to its peer.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/task/nvlink.h"
#include "provisioner/gate/task/soak.h"

const char *
bu_gate_nvlink_domain(const struct bu_node *node)
{
	return bu_gate_has_checks(node) ? node->checks.is.domain : NULL;
}

const struct bu_body_nvlink *
bu_gate_nvlink_of(const struct bu_node *node)
{
	return node->nvlink.body && strcmp(node->nvlink.is.boot_id, node->boot_id) == 0
		       ? &node->nvlink.is
		       : NULL;
}

/* A row of a report, as the log has it. */
#define SAID_ROWS(X, T)                                                                \
	X(T, STRING, id)                                                               \
	X(T, STRING, subject)                                                          \
	X(T, STRING, seen)                                                             \
	X(T, STRING, expected)                                                         \
	X(T, WORD, verdict, .words = bu_verdict_names) X(T, STRING, text)
struct said BU_ROW_STRUCT(SAID_ROWS);
static const struct bu_field said_fields[] = BU_ROW_TABLE(SAID_ROWS, struct said);

/* Rows about the node alone, judged before it connects to its peer. */
static int
is_of_node(const char *id)
{
	return strcmp(id, "nvlink-imex") == 0;
}

static int
is_rate(const char *id)
{
	return strcmp(id, "nvlink-rate") == 0 || strcmp(id, "nvlink-both") == 0;
}

static int
is_finding(const struct bu_check *row)
{
	return row->verdict == BU_VERDICT_WARN || row->verdict == BU_VERDICT_FAIL;
}

static json_t *
row_to_json(const struct bu_check *row)
{
	return bu_record_to_json(said_fields, &(struct said){
						      .id = row->id,
						      .subject = row->subject,
						      .seen = row->seen,
						      .expected = row->expected,
						      .verdict = (int)row->verdict,
						      .text = row->text,
					      });
}

json_t *
bu_gate_nvlink_read(const json_t *report)
{
	int rates = 0, of_node = 0, of_pair = 0;
	json_t *rows = json_array(), *said;
	const char *error = "";
	struct bu_checks checks;

	if (!report || bu_checks_from_json(report, &checks, NULL) != 0) {
		json_decref(rows);
		return NULL;
	}
	for (size_t i = 0; i < checks.count; i++) {
		const struct bu_check *row = &checks.list[i];

		if (strcmp(row->group, "nvlink") != 0)
			continue;
		json_array_append_new(rows, row_to_json(row));
		rates += is_rate(row->id);
		of_node |= is_finding(row) && is_of_node(row->id);
		of_pair |= is_finding(row) && !is_of_node(row->id);
		if (row->verdict != BU_VERDICT_PASS && !*error)
			error = row->text;
	}
	said = json_pack("{s:o,s:s,s:b,s:b,s:b}", "rows", rows, "error", error, "rates",
			 rates > 0 && !*error, "of_node", of_node, "of_pair", of_pair);
	bu_checks_fini(&checks);
	return said;
}

int
bu_gate_nvlink_is_of_pair(const json_t *own, const json_t *other)
{
	return bu_json_bool(own, "of_pair", 0) || bu_json_bool(other, "of_pair", 0) ||
	       (bu_json_bool(own, "rates", 0) && bu_json_bool(other, "rates", 0));
}

enum bu_verdict
bu_gate_nvlink_verdict(const json_t *own, const json_t *other)
{
	if (bu_json_bool(own, "of_pair", 0) || bu_json_bool(other, "of_pair", 0) ||
	    bu_json_bool(own, "of_node", 0))
		return BU_VERDICT_WARN;
	return bu_json_bool(own, "rates", 0) && bu_json_bool(other, "rates", 0)
		       ? BU_VERDICT_PASS
		       : BU_VERDICT_INCONCLUSIVE;
}
