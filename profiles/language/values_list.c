/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists as values have them, with commas between their items. Called by the other files
 * of values, and by what walks a list of the desired state. Invariant: no item changes.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "model/sshkey.h"
#include "profiles/desired.h"
#include "profiles/language/values.h"

/* "a , b" becomes "a,b"; blanks inside an item stay ("10.0.0.0/8 via 10.78.0.1"). */
char *
bu_value_tidy(const char *text)
{
	char *copy = bu_xstrdup(text), *to = copy;

	for (const char *p = text; *p; p++) {
		const char *next = p + strspn(p, " \t");

		if (isblank((unsigned char)*p) &&
		    (to == copy || to[-1] == ',' || *next == ',' || !*next))
			continue;
		*to++ = *p;
	}
	*to = '\0';
	return copy;
}

char *
bu_value_sshkeys(const char *text, struct bu_err *err)
{
	struct bu_sshkey *key = bu_xcalloc(1, sizeof(*key));
	char *tidy = NULL, *line;
	int rc = 0;

	while (rc == 0 && (line = bu_sshkey_next(&text))) {
		rc = bu_sshkey_parse(line, key, err);
		bu_text_add(&tidy, ",", "%s", line);
		free(line);
	}
	free(key);
	if (rc == 0)
		return tidy;
	free(tidy);
	return NULL;
}

char *
bu_value_next_word(const char **text)
{
	const char *start = *text + strspn(*text, ", \t");
	size_t len = strcspn(start, ", \t");

	*text = start + len;
	return len ? bu_xstrndup(start, len) : NULL;
}
