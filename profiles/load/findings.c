/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what a check found. Filled by the scanner, the schema and the loader,
 * shown by the command line and the API. Invariant: errors and warnings are counted
 * even when the list is full, so that a caller may trust `errors` alone.
 */
#include "profiles/load/findings.h"
#include "base/text.h"

#include <string.h>

static size_t *
counter(struct bu_findings *findings, enum bu_finding_level level)
{
	size_t *const counters[] = {
		[BU_FINDING_WARNING] = &findings->warnings,
		[BU_FINDING_POLICY] = &findings->violations,
		[BU_FINDING_ERROR] = &findings->errors,
	};

	return counters[level];
}

void
bu_findings_add(struct bu_findings *findings, enum bu_finding_level level,
		const char *file, int line, const char *fmt, ...)
{
	struct bu_finding *item;
	va_list args;

	++*counter(findings, level);
	if (findings->count >= BU_FINDINGS_MAX) {
		findings->left_out++;
		return;
	}
	findings->items = bu_xgrow(findings->items, &findings->cap, findings->count + 1,
				   sizeof(*findings->items));
	item = &findings->items[findings->count++];
	item->level = level;
	item->file = bu_xstrdup(file);
	item->line = line;
	va_start(args, fmt);
	item->text = bu_xvasprintf(fmt, args);
	va_end(args);
}

void
bu_findings_drop(struct bu_findings *findings, enum bu_finding_level level)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++) {
		if (findings->items[i].level != level) {
			findings->items[kept++] = findings->items[i];
			continue;
		}
		free(findings->items[i].file);
		free(findings->items[i].text);
	}
	findings->count = kept;
	*counter(findings, level) = 0;
	findings->left_out =
		findings->errors + findings->warnings + findings->violations - kept;
}

static int
compare(const void *a, const void *b)
{
	const struct bu_finding *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (order == 0)
		order = (x->line > y->line) - (x->line < y->line);
	return order ? order : strcmp(x->text, y->text);
}

void
bu_findings_sort(struct bu_findings *findings)
{
	if (findings->count)
		qsort(findings->items, findings->count, sizeof(*findings->items),
		      compare);
}

/* "site.ini:4: text", with the mark before the text; owned. */
static char *
placed(const struct bu_finding *item, const char *mark)
{
	if (!item->file[0])
		return bu_xasprintf("%s%s", mark, item->text);
	if (item->line == 0)
		return bu_xasprintf("%s: %s%s", item->file, mark, item->text);
	return bu_xasprintf("%s:%d: %s%s", item->file, item->line, mark, item->text);
}

static char *
finding_text(const struct bu_finding *item)
{
	return placed(item, item->level == BU_FINDING_WARNING ? "warning: " : "");
}

void
bu_findings_print(const struct bu_findings *findings, FILE *out)
{
	for (size_t i = 0; i < findings->count; i++) {
		bu_autofree char *text = finding_text(&findings->items[i]);

		fprintf(out, "%s\n", text);
	}
	if (findings->left_out)
		fprintf(out, "... and %zu more\n", findings->left_out);
}

json_t *
bu_findings_json(const struct bu_findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct bu_finding *item = &findings->items[i];
		static const char *const levels[] = {"warning", "policy", "error"};

		json_array_append_new(list, json_pack("{ss ss si ss}", "level",
						      levels[item->level], "file",
						      item->file, "line", item->line,
						      "text", item->text));
	}
	return list;
}

int
bu_findings_err(const struct bu_findings *findings, struct bu_err *err)
{
	enum { ROOM = 340 }; /* of what a text of an error holds */
	bu_autofree char *all = NULL;
	size_t said = 0;

	for (size_t i = 0; i < findings->count; i++) {
		bu_autofree char *text = NULL;

		if (findings->items[i].level != BU_FINDING_ERROR)
			continue;
		text = placed(&findings->items[i], "");
		if (said && strlen(all) + strlen(text) > ROOM)
			break;
		bu_text_add(&all, "; ", "%s", text);
		said++;
	}
	if (!said)
		return bu_err_set(err, BU_ERR_INVAL, 0, "the profile has %zu errors",
				  findings->errors);
	if (said == findings->errors)
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s", all);
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s (and %zu more error%s; bringup check shows those of the "
			  "tree)",
			  all, findings->errors - said,
			  findings->errors - said == 1 ? "" : "s");
}

void
bu_findings_clear(struct bu_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].file);
		free(findings->items[i].text);
	}
	free(findings->items);
	*findings = (struct bu_findings){0};
}
