/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup fabric show NODE`: what speaks for and against a node, short. Pure; the
 * whole bundle comes with -o json. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/result.h"
#include "model/sentence.h"

static void
line(const char *name, const char *text, FILE *out)
{
	bu_autofree char *clean = bu_out_clean(text, 0);

	fprintf(out, "%-10s %s\n", name, clean);
}

static void
said(const char *name, const json_t *reason, FILE *out)
{
	bu_autofree char *text = bu_said_text(reason);

	line(name, text, out);
}

static void
show_result(const json_t *result, FILE *out)
{
	const char *rail = bu_json_str(result, "rail", "");
	bu_autofree char *text = bu_xasprintf(
		"%s%s%s -> %s %.4f Gbit/s, back %.4f Gbit/s: %s %s", rail,
		*rail ? ": " : "",
		bu_json_str(json_object_get(result, "a"), "node", "?"),
		bu_json_str(json_object_get(result, "b"), "node", "?"),
		bu_json_real(json_object_get(result, "a_to_b"), "bw_median_gbps", 0),
		bu_json_real(json_object_get(result, "b_to_a"), "bw_median_gbps", 0),
		bu_json_str(result, "verdict", "?"),
		bu_json_str(json_object_get(result, "error"), "text", ""));

	line("probe", text, out);
}

static void
show_check(const json_t *check, FILE *out)
{
	enum bu_verdict verdict = bu_verdict_of(check);
	const char *subject = bu_json_str(check, "subject", "");
	bu_autofree char *text = NULL;

	if (verdict == BU_VERDICT_PASS)
		return;
	text = bu_xasprintf("%s %s%s%s%s: %s; %s", bu_verdict_name(verdict),
			    bu_json_str(check, "id", "?"), *subject ? " (" : "",
			    subject, *subject ? ")" : "",
			    bu_json_str(check, "text", ""),
			    bu_json_str(check, "hint", ""));
	line("check", text, out);
}

/* A rate, or what was found. */
static void
show_nvlink(const json_t *row, FILE *out)
{
	bu_autofree char *text = bu_xasprintf(
		"%s: %s, %s: %s %s", bu_json_str(row, "id", "?"),
		bu_json_str(row, "subject", "?"), bu_json_str(row, "seen", ""),
		bu_json_str(row, "verdict", "?"), bu_json_str(row, "expected", ""));

	line("nvlink", text, out);
}

void
bu_render_evidence(const json_t *shown, FILE *out)
{
	const json_t *checks =
		json_object_get(json_object_get(shown, "checks"), "checks");
	const json_t *incidents = json_object_get(shown, "incidents");
	size_t i;
	json_t *one;

	line("node", bu_json_str(shown, "node", "?"), out);
	if (json_object_get(shown, "code"))
		said("reason", shown, out);
	if (*bu_json_str(shown, "hint", ""))
		line("to do", bu_json_str(shown, "hint", ""), out);
	json_array_foreach (checks, i, one)
		show_check(one, out);
	json_array_foreach (json_object_get(shown, "results"), i, one)
		show_result(one, out);
	json_array_foreach (json_object_get(json_object_get(shown, "nvlink"), "rows"),
			    i, one)
		show_nvlink(one, out);
	json_array_foreach (json_object_get(shown, "remarks"), i, one)
		said("warning", one, out);
	json_array_foreach (incidents, i, one)
		line("incident", bu_json_str(one, "reason", ""), out);
}
