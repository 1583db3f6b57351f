/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a value to what the table says that it is. Called by the loader for every
 * key and by the inventory reader for the columns that have a key of the same name.
 * Invariant: when a value is refused, the field is as it was.
 */
#include <string.h>

#include "profiles/desired.h"
#include "profiles/language/values.h"

static int
refuse_choice(const struct bu_key *key, const char *text, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_INVAL, 0, "'%.80s' is unknown; allowed is %s",
			  text, key->arg);
}

/* Position of the text in "a|b|c", -1 when it is not there. */
static int
find_choice(const char *choices, const char *text)
{
	size_t len = strlen(text);

	for (int i = 0;; i++) {
		size_t size = strcspn(choices, "|");

		if (size == len && strncmp(choices, text, len) == 0)
			return i;
		if (!choices[size])
			return -1;
		choices += size + 1;
	}
}

int
bu_key_is_text(const struct bu_key *key)
{
	return key->type <= BU_KEY_MAC;
}

static int
parse_text(const struct bu_key *key, const char *text, void *ret, struct bu_err *err)
{
	char mac[18], *copy;

	if (key->type == BU_KEY_MAC && bu_mac_normalize(text, mac) < 0)
		return bu_value_refuse(key, text, err);
	if (key->type == BU_KEY_CHOICE && find_choice(key->arg, text) < 0)
		return refuse_choice(key, text, err);
	if (strlen(text) > 512 || !bu_value_form_ok(key->type, text))
		return bu_value_refuse(key, text, err);
	if (!ret)
		return 0;
	if (key->type == BU_KEY_MAC)
		copy = bu_xstrdup(mac);
	else if (key->type == BU_KEY_TEXT)
		copy = bu_xstrdup(text);
	else
		copy = bu_value_tidy(key->type == BU_KEY_KEYFILE ? text + 5 : text);
	free(*(char **)ret);
	*(char **)ret = copy;
	return 0;
}

static int
parse_sshkeys(const char *text, char **ret, struct bu_err *err)
{
	char *keys = bu_value_sshkeys(text, err);

	if (!keys)
		return -1;
	if (ret) {
		free(*ret);
		*ret = keys;
	} else {
		free(keys);
	}
	return 0;
}

int
bu_value_parse(const struct bu_key *key, const char *text, void *ret,
	       struct bu_err *err)
{
	int choice;

	switch (key->type) {
	case BU_KEY_INT:
	case BU_KEY_REAL:
	case BU_KEY_PERCENT:
	case BU_KEY_SIZE:
	case BU_KEY_DURATION:
		return bu_value_number(key, text, ret, err);
	case BU_KEY_CIDR:
		return bu_value_cidr(key, text, ret, err);
	case BU_KEY_LIMIT:
		return bu_value_limit_ok(key, text, err);
	case BU_KEY_ENUM:
		choice = find_choice(key->arg, text);
		if (choice < 0)
			return refuse_choice(key, text, err);
		if (ret)
			*(int *)ret = choice;
		return 0;
	case BU_KEY_ADDRESSES:
	case BU_KEY_NODESET:
	case BU_KEY_ZIP:
		return 0; /* checked where they are expanded: once */
	case BU_KEY_REF:
	case BU_KEY_REFS:
		return bu_value_form_ok(key->type, text)
			       ? 0
			       : bu_value_refuse(key, text, err);
	case BU_KEY_SSHKEYS:
		return parse_sshkeys(text, ret, err);
	default:
		return parse_text(key, text, ret, err);
	}
}

char *
bu_key_allowed(const struct bu_key *key)
{
	int number = key->type == BU_KEY_INT || key->type == BU_KEY_REAL;

	if (key->type == BU_KEY_CHOICE || key->type == BU_KEY_ENUM)
		return bu_xstrdup(key->arg);
	if (key->type == BU_KEY_REF || key->type == BU_KEY_REFS)
		return bu_xasprintf(key->type == BU_KEY_REF
					    ? "the name of a [%s]"
					    : "names of [%s], with commas",
				    key->arg);
	if (number && key->min == key->max && key->max > 0)
		return bu_xasprintf("%.15g", key->min);
	if (number && key->max > 0)
		return bu_xasprintf("%s, %.15g to %.15g",
				    bu_key_type_allowed(key->type), key->min, key->max);
	if (key->type == BU_KEY_DURATION && key->max > 0)
		return bu_xasprintf("%s; %.15g s to %.15g s",
				    bu_key_type_allowed(key->type), key->min / 1000,
				    key->max / 1000);
	return bu_xstrdup(bu_key_type_allowed(key->type));
}

int
bu_value_limit(const char *text, size_t total)
{
	long value = strtol(text, NULL, 10);

	if (strchr(text, '%'))
		value = (long)(total * (size_t)value / 100);
	if (value > (long)total)
		value = (long)total;
	return value < 1 ? 1 : (int)value;
}
