/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report of checks as the log keeps it and as people read it. Asked by checks.c.
 * Pure. Invariant: a row that fails is never left out of the verdict.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/internal.h"

/* ROWS_KEPT: of those that do not pass, in the event. */
enum { ROWS_KEPT = 64, ROWS_SAID = 3 };

static int
is_said(enum bu_verdict verdict)
{
	return verdict != BU_VERDICT_PASS;
}

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

			if (row->verdict != order[k] || !is_said(row->verdict) ||
			    json_array_size(rows) >= ROWS_KEPT)
				continue;
			json_array_append_new(
				rows, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "id",
						row->id, "group", row->group, "verdict",
						bu_verdict_name(row->verdict),
						"subject", row->subject, "text",
						row->text, "hint", row->hint));
		}
	}
	return rows;
}

/* What an interface heard: "leaf01:swp3"; NULL. */
static const char *
heard_on(const struct bu_checks *report, const char *netdev)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->list[i].id, "lldp") == 0 &&
		    report->list[i].verdict == BU_VERDICT_PASS &&
		    strcmp(report->list[i].subject, netdev) == 0)
			return report->list[i].seen;
	return NULL;
}

/* {NETWORK: "leaf01:swp3"}: what LLDP was heard, for the topology and the campaign of
 * each rail. */
static void
add_ports(json_t *body, const struct bu_checks *report)
{
	json_t *ports = json_object();

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];
		const char *port = strcmp(row->id, "nic-missing") == 0 &&
						   row->verdict == BU_VERDICT_PASS
					   ? heard_on(report, row->seen)
					   : NULL;

		if (port)
			json_object_set_new(ports, row->subject, json_string(port));
	}
	json_object_set_new(body, "ports", ports);
}

/* "8c3c....1": the NVLink domain and clique of its GPUs, where they agree. */
static void
add_domain(json_t *body, const struct bu_checks *report)
{
	const char *domain = NULL;

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];

		if (strcmp(row->id, "gpu-fabric") != 0 || !row->value[0])
			continue;
		if (domain && strcmp(domain, row->value) != 0)
			return;
		domain = row->value;
	}
	if (domain)
		json_object_set_new(body, "domain", json_string(domain));
}

/* How long it really was under load. */
static void
add_soak_time(json_t *body, const struct bu_checks *report)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];

		if (strcmp(row->id, "soak-time") == 0)
			json_object_set_new(
				body, "soak_ms",
				json_integer(1000 * strtoll(row->seen, NULL, 10)));
	}
}

json_t *
bu_report_body(const struct bu_checks *report, const char *digest)
{
	enum bu_verdict verdict =
		report->count ? bu_checks_worst(report) : BU_VERDICT_PASS;
	json_t *body = json_pack(
		"{s:s,s:s,s:s,s:{s:I,s:I,s:I,s:I},s:o}", "boot_id", report->boot_id,
		"digest", digest, "verdict", bu_verdict_name(verdict), "counts", "pass",
		(json_int_t)bu_checks_count(report, BU_VERDICT_PASS), "warn",
		(json_int_t)bu_checks_count(report, BU_VERDICT_WARN), "fail",
		(json_int_t)bu_checks_count(report, BU_VERDICT_FAIL), "inconclusive",
		(json_int_t)bu_checks_count(report, BU_VERDICT_INCONCLUSIVE), "rows",
		rows_of(report));

	add_soak_time(body, report);
	add_ports(body, report);
	add_domain(body, report);
	json_object_set_new(body, "facts", bu_gate_facts(report));
	return body;
}

/* "check nic-mtu (eth1): MTU is 1500, 9000 is wanted; set it; ..." and what to swap. */
char *
bu_report_words(const json_t *rows, const char **ret_hint)
{
	char *text = bu_xstrdup("");
	size_t i, said = 0, all = 0;
	json_t *row;

	*ret_hint = "";
	json_array_foreach (rows, i, row) {
		bu_autofree char *old = NULL;
		const char *subject = bu_json_str(row, "subject", "");

		if (bu_verdict_of(row) != BU_VERDICT_FAIL || ++all > ROWS_SAID)
			continue;
		old = text;
		text = bu_xasprintf("%s%scheck %s%s%s%s: %s%s%s", old,
				    said++ ? "; " : "", bu_json_str(row, "id", "?"),
				    *subject ? " (" : "", subject, *subject ? ")" : "",
				    bu_json_str(row, "text", ""),
				    *bu_json_str(row, "hint", "") ? "; " : "",
				    bu_json_str(row, "hint", ""));
		if (!**ret_hint)
			*ret_hint = bu_json_str(row, "hint", "");
	}
	if (all > ROWS_SAID) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s; and %zu more", old, all - ROWS_SAID);
	}
	return text;
}
