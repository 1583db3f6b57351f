/* SPDX-License-Identifier: Apache-2.0 */
/* How the command line writes JSON, times, names and texts of others. */
#include "cli/render/output.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/err.h"
#include "base/json.h"
#include "base/plain.h"
#include "cli/render/columns.h"
#include "model/sentence.h"
#include "profiles/nodeset/nodeset.h"

static enum bu_style style;

void
bu_out_begin(enum bu_style chosen)
{
	style = chosen;
}

int
bu_out_is_wide(void)
{
	return style == BU_STYLE_WIDE;
}

/* Columns of the terminal; 0 = there is none. */
static int
width_of(FILE *out)
{
	struct winsize size = {0};

	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void
bu_out_table(const struct bu_table *table, FILE *out)
{
	bu_autofree char *text = NULL;
	int width = style == BU_STYLE_WIDE ? 0 : width_of(out);
	char *rest, *line;
	size_t size;
	FILE *lines;

	if (!width) {
		bu_table_print(table, out);
		return;
	}
	lines = open_memstream(&text, &size);
	bu_assert(lines);
	bu_table_print(table, lines);
	fclose(lines);
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL && rest) {
		bu_autofree char *cut = bu_columns_wrap(line, width, 0, 1);

		fprintf(out, "%s\n", cut);
	}
}

void
bu_out_names(const char *hostlist, FILE *out)
{
	struct bu_nodeset *nodeset =
		style == BU_STYLE_NAME ? bu_nodeset_expand(hostlist, NULL) : NULL;

	if (!nodeset) {
		fprintf(out, "%s\n", hostlist);
		return;
	}
	for (size_t i = 0; i < nodeset->count; i++)
		fprintf(out, "%s\n", nodeset->names[i]);
	bu_nodeset_destroy(nodeset);
}

void
bu_out_json(const json_t *value, FILE *out)
{
	if (style == BU_STYLE_YAML) {
		bu_out_yaml(value, out);
		return;
	}
	json_dumpf(value, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
	fputc('\n', out);
}

void
bu_out_json_line(const json_t *value, FILE *out)
{
	if (style == BU_STYLE_YAML) {
		fputs("---\n", out);
		bu_out_yaml(value, out);
		fflush(out);
		return;
	}
	json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY);
	fputc('\n', out);
	fflush(out);
}

char *
bu_out_duration(int64_t ms)
{
	long long s = ms / 1000;

	if (ms < 0)
		return bu_xstrdup("0.0 s");
	if (ms < 10 * 1000)
		return bu_xasprintf("%lld.%lld s", s, (long long)(ms % 1000 / 100));
	if (s < 2 * 60)
		return bu_xasprintf("%lld s", s);
	if (s < 2 * 3600)
		return bu_xasprintf("%lldm %02llds", s / 60, s % 60);
	if (s < 2 * 24 * 3600)
		return bu_xasprintf("%lldh %02lldm", s / 3600, s / 60 % 60);
	return bu_xasprintf("%lldd %02lldh", s / 86400, s / 3600 % 24);
}

char *
bu_out_commit(const char *commit)
{
	return bu_xasprintf("%.12s%s", commit,
			    strstr(commit, "-dirty") ? "-dirty" : "");
}

char *
bu_out_clean(const char *text, int keep_lines)
{
	bu_autofree char *plain = bu_plain(text, keep_lines);
	char *clean = bu_xcalloc(strlen(plain) + 1, 1), *to = clean;

	/* A terminal of any locale shows it. */
	for (const char *at = plain; *at; at++)
		if (strncmp(at, "\xef\xbf\xbd", 3) == 0) {
			*to++ = '?';
			at += 2;
		} else {
			*to++ = *at;
		}
	return clean;
}

char *
bu_out_said(const json_t *reason)
{
	bu_autofree char *text = bu_said_text(reason);

	return bu_out_clean(text, 0);
}

char *
bu_out_fold(const json_t *names)
{
	size_t count = json_array_size(names), i;
	bu_autofree const char **texts = bu_xcalloc(count, sizeof(*texts));
	json_t *name;

	json_array_foreach (names, i, name)
		texts[i] = json_is_string(name) ? json_string_value(name) : "?";
	return bu_nodeset_fold(texts, count);
}

json_t *
bu_out_pick(const json_t *objects, const char *key)
{
	json_t *picked = json_array(), *object;
	size_t i;

	json_array_foreach (objects, i, object)
		json_array_append_new(picked,
				      json_string(bu_json_str(object, key, "?")));
	return picked;
}
