/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report of checks in the log's form and in words. Called by checks.c. Pure.
 * Invariant: a row that fails is never left out of the verdict.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/gate/internal.h"

/* ROWS_KEPT: in the event, of those that do not pass. ROWS_SAID: in words. */
enum { ROWS_KEPT = 64, ROWS_SAID = 3 };

/* The rows that do not pass, failures first. */
static json_t *
rows_of(const struct bu_checks *report)
{
	static const enum bu_verdict order[] = {
		BU_VERDICT_FAIL, BU_VERDICT_INCONCLUSIVE, BU_VERDICT_WARN};
	json_t *rows = json_array();

	for (size_t k = 0; k < BU_LEN(order); k++) {
		for (size_t i = 0; i < report->count; i++) {
			const struct bu_check *row = &report->list[i];

			if (row->verdict != order[k] ||
			    json_array_size(rows) >= ROWS_KEPT)
				continue;
			json_array_append_new(
				rows,
				bu_record_to_json(bu_check_said_fields,
						  &(struct bu_check_said){
							  row->id, row->group,
							  row->verdict, row->subject,
							  row->text, row->hint}));
		}
	}
	return rows;
}

/* The switch port that an interface heard by LLDP: "leaf01:swp3"; NULL = none. */
static const char *
heard_on(const struct bu_checks *report, const char *netdev)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->list[i].id, BU_CHECK_LLDP) == 0 &&
		    report->list[i].verdict == BU_VERDICT_PASS &&
		    strcmp(report->list[i].subject, netdev) == 0)
			return bu_check_value(&report->list[i]);
	return NULL;
}

/* {NETWORK: "leaf01:swp3"} by LLDP, for the topology of each rail. New reference. */
static json_t *
ports_of(const struct bu_checks *report)
{
	json_t *ports = json_object();

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];
		const char *port = strcmp(row->id, BU_CHECK_NIC_MISSING) == 0 &&
						   row->verdict == BU_VERDICT_PASS
					   ? heard_on(report, row->seen)
					   : NULL;

		if (port)
			json_object_set_new(ports, row->subject, json_string(port));
	}
	return ports;
}

/* "8c3c....1": the NVLink domain and clique of the GPUs; NULL = none, or several. */
static const char *
domain_of(const struct bu_checks *report)
{
	const char *domain = NULL;

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];

		if (strcmp(row->id, BU_CHECK_GPU_FABRIC) != 0 || !row->value[0])
			continue;
		if (domain && strcmp(domain, row->value) != 0)
			return NULL;
		domain = row->value;
	}
	return domain;
}

/* The time under load that the report gives, in ms. */
static int64_t
soak_ms_of(const struct bu_checks *report)
{
	int64_t ms = BU_UNSAID_INT;

	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->list[i].id, BU_CHECK_SOAK_TIME) == 0)
			ms = 1000 * strtoll(report->list[i].seen, NULL, 10);
	return ms;
}

static json_t *
counts_of(const struct bu_checks *report)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "pass",
			 (json_int_t)bu_checks_count(report, BU_VERDICT_PASS), "warn",
			 (json_int_t)bu_checks_count(report, BU_VERDICT_WARN), "fail",
			 (json_int_t)bu_checks_count(report, BU_VERDICT_FAIL),
			 "inconclusive",
			 (json_int_t)bu_checks_count(report, BU_VERDICT_INCONCLUSIVE));
}

json_t *
bu_report_body(const struct bu_checks *report, const char *digest, int64_t slice_ms,
	       const char *peer)
{
	enum bu_verdict verdict =
		report->count ? bu_checks_worst(report) : BU_VERDICT_PASS;
	bu_autojson json_t *counts = counts_of(report), *rows = rows_of(report);
	bu_autojson json_t *ports = ports_of(report);
	bu_autofree char *marks = bu_gate_marks(report);
	struct bu_body_checks body = {.boot_id = report->boot_id,
				      .digest = digest,
				      .verdict = verdict,
				      .counts = counts,
				      .rows = rows,
				      .soak_ms = soak_ms_of(report),
				      .ports = ports,
				      .domain = domain_of(report),
				      .marks = marks,
				      .miscabled = bu_gate_is_miscabled(report),
				      .ms = slice_ms,
				      .peer = peer};

	/* A slice that did not pass counts for no time. */
	if (slice_ms != BU_UNSAID_INT && body.soak_ms != BU_UNSAID_INT)
		body.ms = body.soak_ms;
	if (slice_ms != BU_UNSAID_INT && verdict != BU_VERDICT_PASS &&
	    verdict != BU_VERDICT_WARN)
		body.ms = 0;
	return bu_record_to_json(bu_body_fields(BU_EVENT_CHECKS), &body);
}

/* "check nic-mtu (eth1): MTU is 1500, 9000 is wanted; HINT; and 2 more". */
char *
bu_report_words(const json_t *rows, const char **ret_hint)
{
	char *text = NULL;
	size_t i, all = 0;
	json_t *value;

	*ret_hint = "";
	json_array_foreach ((json_t *)rows, i, value) {
		bu_autofree char *name = NULL;
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields, value, &row, NULL) != 0 ||
		    row.verdict != BU_VERDICT_FAIL || ++all > ROWS_SAID)
			continue;
		name = bu_check_said_name(&row);
		bu_text_add(&text, "; ", "%s: %s%s%s", name, row.text,
			    *row.hint ? "; " : "", row.hint);
		if (!**ret_hint)
			*ret_hint = row.hint;
	}
	if (all > ROWS_SAID)
		bu_text_add(&text, "; ", "and %zu more", all - ROWS_SAID);
	return text ? text : bu_xstrdup("");
}
