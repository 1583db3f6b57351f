/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of tables inside manual pages, which the command line and the daemon print when
 * they are built. Invariant: no text of a table reaches roff unescaped.
 */
#include "base/roff.h"

void
bu_roff_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\'')
			fputs("\\(aq", out);
		else
			fputc(*text, out);
	}
}

void
bu_roff_line(FILE *out, const char *request, const char *text)
{
	fprintf(out, "%s\\&", request);
	bu_roff_text(out, text);
	fputc('\n', out);
}

void
bu_roff_head(FILE *out, const char *name, int section, const char *what)
{
	fputs(".TH ", out);
	bu_roff_text(out, name);
	fprintf(out, " %d \"\" \"bringup " BU_VERSION "\" \"bringup\"\n.SH NAME\n",
		section);
	bu_roff_text(out, name);
	fputs(" \\- ", out);
	bu_roff_text(out, what);
	fputc('\n', out);
}
