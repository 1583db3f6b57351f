/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a value to what the table says that it is. Called by the loader for every
 * key and by the inventory reader for the columns that have a key of the same name.
 * Invariant: when a value is refused, the field is as it was.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "profiles/desired.h"
#include "profiles/nodeset.h"
#include "profiles/values.h"

static const char *const allowed[] = {
#define X(id, stores, text) text,
	BU_KEY_TYPES(X)
#undef X
};

static const char *const type_names[] = {
#define X(id, stores, text) #id,
	BU_KEY_TYPES(X)
#undef X
};

static const struct unit {
	const char *name;
	double factor;
} sizes[] = {{"", 1},
	     {"B", 1},
	     {"KiB", 1024},
	     {"MiB", 1024.0 * 1024},
	     {"GiB", 1024.0 * 1024 * 1024},
	     {"TiB", 1024.0 * 1024 * 1024 * 1024}},
  durations[] = {{"ms", 1},
		 {"s", 1000},
		 {"m", 60000},
		 {"h", 3600000.0},
		 {"d", 86400000.0}},
  percents[] = {{"%", 1}}, plain[] = {{"", 1}};

static int
refuse_type(const struct bu_key *key, const char *text, struct bu_err *err)
{
	/* It may be the secret itself: never say it. */
	if (key->type == BU_KEY_SECRET)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "is no reference; allowed is %s", allowed[key->type]);
	if (key->type == BU_KEY_BMC || key->type == BU_KEY_URL)
		return bu_err_set(err, BU_ERR_INVAL, 0, "is wrong; allowed is %s",
				  allowed[key->type]);
	return bu_err_set(err, BU_ERR_INVAL, 0, "'%.80s' is wrong; allowed is %s", text,
			  allowed[key->type]);
}

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

/* "16 GiB": a decimal number and a unit of the list, a blank between them or not. */
static int
parse_quantity(const struct bu_key *key, const char *text, const struct unit *units,
	       size_t count, double *ret, struct bu_err *err)
{
	size_t len = strspn(text, "0123456789."), i;
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]) || len > 20)
		return refuse_type(key, text, err);
	value = strtod(text, &end);
	if (end != text + len)
		return refuse_type(key, text, err);
	end += strspn(end, " \t");
	for (i = 0; i < count && strcmp(units[i].name, end) != 0; i++)
		;
	if (i == count)
		return refuse_type(key, text, err);
	value *= units[i].factor;
	if (key->max > 0 && (value < key->min || value > key->max)) {
		if (units == durations)
			return bu_err_set(
				err, BU_ERR_INVAL, 0,
				"'%.80s' is out of range; allowed is %.15g s to "
				"%.15g s",
				text, key->min / 1000, key->max / 1000);
		if (key->min == key->max)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%.80s' is unknown; allowed is %.15g", text,
					  key->min);
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"'%.80s' is out of range; allowed is %.15g to %.15g%s", text,
			key->min, key->max, units == sizes ? " bytes" : "");
	}
	*ret = value;
	return 0;
}

static int
parse_number(const struct bu_key *key, const char *text, void *ret, struct bu_err *err)
{
	static const struct {
		const struct unit *units;
		size_t count;
	} forms[] = {
		[BU_KEY_INT] = {plain, BU_LEN(plain)},
		[BU_KEY_REAL] = {plain, BU_LEN(plain)},
		[BU_KEY_PERCENT] = {percents, BU_LEN(percents)},
		[BU_KEY_SIZE] = {sizes, BU_LEN(sizes)},
		[BU_KEY_DURATION] = {durations, BU_LEN(durations)},
	};
	double value;

	if (key->type == BU_KEY_INT && strchr(text, '.'))
		return refuse_type(key, text, err);
	if (parse_quantity(key, text, forms[key->type].units, forms[key->type].count,
			   &value, err) < 0)
		return -1;
	if (!ret)
		return 0;
	if (key->type == BU_KEY_INT)
		*(int *)ret = (int)value;
	else if (key->type == BU_KEY_SIZE)
		*(uint64_t *)ret = (uint64_t)value;
	else if (key->type == BU_KEY_DURATION)
		*(int64_t *)ret = (int64_t)value;
	else
		*(double *)ret = value;
	return 0;
}

static int
parse_cidr(const struct bu_key *key, const char *text, void *ret, struct bu_err *err)
{
	char address[INET_ADDRSTRLEN + 4];
	const char *slash = strchr(text, '/');
	struct in_addr in;
	uint32_t net, mask;
	int bits;

	if (!slash || (size_t)(slash - text) >= sizeof(address) ||
	    strspn(slash + 1, "0123456789") != strlen(slash + 1) || !slash[1] ||
	    strlen(slash + 1) > 2)
		return refuse_type(key, text, err);
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	bits = atoi(slash + 1);
	if (inet_pton(AF_INET, address, &in) != 1 || bits < key->min || bits > key->max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%.40s' is wrong; allowed is a network like "
				  "10.78.0.0/24, prefix /%.0f to /%.0f",
				  text, key->min, key->max);
	net = ntohl(in.s_addr);
	mask = UINT32_MAX << (32 - bits);
	if (net & ~mask) {
		in.s_addr = htonl(net & mask);
		inet_ntop(AF_INET, &in, address, sizeof(address));
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%.40s' has host bits set; the network is %s/%d",
				  text, address, bits);
	}
	if (ret)
		*(struct bu_cidr *)ret =
			(struct bu_cidr){.net = net, .prefix_len = bits};
	return 0;
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
		return refuse_type(key, text, err);
	if (key->type == BU_KEY_CHOICE && find_choice(key->arg, text) < 0)
		return refuse_choice(key, text, err);
	if (strlen(text) > 512 || !bu_value_form_ok(key->type, text))
		return refuse_type(key, text, err);
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
check_limit(const struct bu_key *key, const char *text, struct bu_err *err)
{
	struct bu_key part = {.type = BU_KEY_LIMIT, .min = 1, .max = 100};
	const struct unit *units = strchr(text, '%') ? percents : plain;
	double value;

	if (units == plain)
		part.max = BU_NODESET_MAX;
	if (strchr(text, '.'))
		return refuse_type(key, text, err);
	return parse_quantity(&part, text, units, 1, &value, err);
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
		return parse_number(key, text, ret, err);
	case BU_KEY_CIDR:
		return parse_cidr(key, text, ret, err);
	case BU_KEY_LIMIT:
		return check_limit(key, text, err);
	case BU_KEY_ENUM:
	case BU_KEY_BOOL:
		choice = find_choice(key->type == BU_KEY_BOOL ? "no|yes" : key->arg,
				     text);
		if (choice < 0)
			return key->type == BU_KEY_BOOL ? refuse_type(key, text, err)
							: refuse_choice(key, text, err);
		if (ret)
			*(int *)ret = choice;
		return 0;
	case BU_KEY_ADDRESSES:
	case BU_KEY_NODESET:
	case BU_KEY_ZIP:
		return 0; /* checked where they are expanded: once */
	case BU_KEY_REF:
	case BU_KEY_REFS:
		return bu_value_form_ok(key->type, text) ? 0
							 : refuse_type(key, text, err);
	default:
		return parse_text(key, text, ret, err);
	}
}

const char *
bu_key_type_name(enum bu_key_type type)
{
	return type_names[type];
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
		return bu_xasprintf("%s, %.15g to %.15g", allowed[key->type], key->min,
				    key->max);
	if (key->type == BU_KEY_DURATION && key->max > 0)
		return bu_xasprintf("%s; %.15g s to %.15g s", allowed[key->type],
				    key->min / 1000, key->max / 1000);
	return bu_xstrdup(allowed[key->type]);
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

char *
bu_value_next_word(const char **text)
{
	const char *start = *text + strspn(*text, ", \t");
	size_t len = strcspn(start, ", \t");

	*text = start + len;
	return len ? bu_xstrndup(start, len) : NULL;
}
