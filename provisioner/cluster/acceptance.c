/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges what the job of an acceptance has printed. Called by the drivers. Invariant: a
 * text without a number is never good where a figure is wanted.
 */
#include "provisioner/cluster/acceptance.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of a name ("node001", "v2") are no number. */
static int
begins_number(const char *text, size_t at)
{
	return isdigit((unsigned char)text[at]) &&
	       (at == 0 || (!isalnum((unsigned char)text[at - 1]) &&
			    !strchr("._-", text[at - 1])));
}

int
bu_acceptance_figure(const char *text, double *ret)
{
	int found = 0;

	for (size_t at = 0; text[at]; at++) {
		char *end;
		double value;

		if (!begins_number(text, at))
			continue;
		value = strtod(text + at, &end);
		if (isalnum((unsigned char)*end) || *end == '_' || !isfinite(value))
			continue;
		*ret = value;
		found = 1;
		at = (size_t)(end - text) - 1;
	}
	return found;
}

int
bu_acceptance_judge(double least, int status, const char *output, char *ret_words,
		    size_t size)
{
	int has_figure;
	double figure;

	if (status != 0) {
		snprintf(ret_words, size, "exit status %d: %s", status, output);
		return 0;
	}
	has_figure = bu_acceptance_figure(output, &figure);
	if (least <= 0) {
		snprintf(ret_words, size, has_figure ? "%g" : "done", figure);
		return 1;
	}
	if (!has_figure) {
		snprintf(ret_words, size, "printed no number: %s", output);
		return 0;
	}
	snprintf(ret_words, size, "%g, at least %g", figure, least);
	return figure >= least;
}
