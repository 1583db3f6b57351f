/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON of an answer, read with patience; called by wire.c. Invariant: one number
 * that no parser can hold does not cost the rest of its object, and no number that one
 * can hold is changed. Vendors write their own objects (Oem) without care.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum {
	DEPTH_MAX = 64, /* what frees it recurses, and a task's stack is small */
	WORD_MAX = 400, /* bytes of one number */
};

/* Does the text nest so deep that it is better not read? */
static int
too_deep(const char *text)
{
	int depth = 0, quoted = 0;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == '{' || *text == '['))
			depth++;
		else if (!quoted && (*text == '}' || *text == ']'))
			depth--;
		if (depth > DEPTH_MAX)
			return 1;
	}
	return 0;
}

/* --- numbers that do not fit --- */

static int
is_whole(const char *word)
{
	return bu_text_is(word + (*word == '-'), "0123456789");
}

/* What stands for this word: 18446744073709551615 is 18446744073709551615e0, which is
 * nearly that; 1e999 and NaN are null. The word itself where it may stay. */
static const char *
stand_in(char word[WORD_MAX])
{
	static const char *const none[] = {"nan", "inf", "infinity"};
	const char *digits = word + (*word == '-');

	for (size_t i = 0; i < BU_LEN(none); i++)
		if (strcasecmp(digits, none[i]) == 0)
			return "null";
	if (*digits < '0' || *digits > '9')
		return word;
	errno = 0;
	if (is_whole(word) && (strtoll(word, NULL, 10), errno == ERANGE) &&
	    isfinite(strtod(word, NULL)))
		return strcat(word, "e0");
	return isfinite(strtod(word, NULL)) ? word : "null";
}

/* Where a word of a value ends: numbers, true, null, NaN. */
static size_t
word_size(const char *text)
{
	return strspn(text, "0123456789+-.abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* The text with stand-ins, owned. */
static char *
mend(const char *text)
{
	/* "inf" and a comma become "null" and a comma: a third more at most. */
	char *ret = bu_xmalloc(strlen(text) * 2 + 1), *to = ret;
	int quoted = 0;

	while (*text) {
		size_t size = quoted ? 0 : word_size(text);
		char word[WORD_MAX + 4];

		if (quoted && *text == '\\' && text[1])
			*to++ = *text++;
		else if (*text == '"')
			quoted = !quoted;
		if (size == 0) {
			*to++ = *text++;
			continue;
		}
		if (size < WORD_MAX) {
			bu_text_copy_part(word, WORD_MAX, text, size);
			to = stpcpy(to, stand_in(word));
		} else {
			to = mempcpy(to, text, size);
		}
		text += size;
	}
	*to = '\0';
	return ret;
}

json_t *
rf_json(const char *text, char ret_why[RF_WHY_SIZE])
{
	json_error_t error;
	json_t *json = NULL;

	ret_why[0] = '\0';
	if (too_deep(text)) {
		snprintf(ret_why, RF_WHY_SIZE, "more than %d levels", DEPTH_MAX);
		return NULL;
	}
	json = json_loads(text, JSON_ALLOW_NUL, &error);
	if (!json) {
		bu_autofree char *mended = mend(text);

		json = json_loads(mended, JSON_ALLOW_NUL, NULL);
	}
	if (!json)
		snprintf(ret_why, RF_WHY_SIZE, "line %d: %.*s", error.line,
			 RF_WHY_SIZE - 24, error.text);
	return json;
}
