/* SPDX-License-Identifier: Apache-2.0 */
/* The names of people's roles, called by the API and the command line. */
#include "model/person.h"

#include <string.h>

#include "base/text.h"

static const char *const names[] = {
#define X(id, name, help) name,
	BU_PERSONS(X)
#undef X
};

const char *
bu_person_name(enum bu_person person)
{
	return person < BU_PERSON_COUNT ? names[person] : "unknown";
}

int
bu_person_from_name(const char *name, enum bu_person *ret, struct bu_err *err)
{
	bu_autofree char *all = NULL;

	for (int i = 0; i < BU_PERSON_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (enum bu_person)i;
			return 0;
		}
		bu_text_add(&all, ", ", "%s", names[i]);
	}
	return bu_err_set(err, BU_ERR_INVAL, 0, "no role '%.40s'; the roles are %s",
			  name, all);
}

int
bu_person_is_label(const char *text)
{
	return *text && *text != '.' && *text != '-' &&
	       bu_text_is(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789._-") &&
	       strlen(text) < BU_TOKEN_NAME_SIZE;
}
