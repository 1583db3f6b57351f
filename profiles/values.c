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
#include "profiles/schema.h"

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static const char *const allowed[] = {
#define X(id, stores, text) text,
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
				"'%.80s' is out of range; allowed is %.0f s to "
				"%.0f s",
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

static int
words_ok(const char *text)
{
	while (1) {
		size_t len = strcspn(text, ",");
		size_t skip = strspn(text, " \t"), word;

		if (skip > len)
			return 0;
		word = strspn(text + skip, ALNUM "-_.:/@+*?=");
		if (word == 0)
			return 0;
		skip += word;
		skip += strspn(text + skip, " \t");
		if (skip != len)
			return 0;
		if (!text[len])
			return 1;
		text += len + 1;
	}
}

/* "a , b" becomes "a,b": what a cluster's configuration wants. */
static char *
without_blanks(const char *text)
{
	char *copy = bu_xstrdup(text), *to = copy;

	for (const char *p = text; *p; p++)
		if (!isblank((unsigned char)*p))
			*to++ = *p;
	*to = '\0';
	return copy;
}

static int
path_ok(const char *text)
{
	return text[0] == '/' && text[1] && !strstr(text, "/../") &&
	       !strstr(text, "//") && !strpbrk(text, " \t\"'\\");
}

static int
hostport_ok(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t host = colon ? (size_t)(colon - text) : 0, port;

	if (host == 0 || strspn(text, ALNUM "-.") != host)
		return 0;
	port = strspn(colon + 1, "0123456789");
	return port > 0 && port <= 5 && !colon[1 + port] && atoi(colon + 1) > 0 &&
	       atoi(colon + 1) < 65536;
}

static int
text_ok(enum bu_key_type type, const char *text)
{
	switch (type) {
	case BU_KEY_NAME:
		return bu_node_name_ok(text);
	case BU_KEY_WORD:
		return strspn(text, ALNUM "-_.:/@+") == strlen(text);
	case BU_KEY_WORDS:
	case BU_KEY_REFS:
		return words_ok(text);
	case BU_KEY_PATH:
		return path_ok(text);
	case BU_KEY_FILE:
		return text[0] != '/' && !strstr(text, "..");
	case BU_KEY_SECRET:
		return strncmp(text, "file:", 5) == 0 && path_ok(text + 5);
	case BU_KEY_URL:
		return !strpbrk(text, " \t\"'\\") && text[0] != '-';
	case BU_KEY_HOSTPORT:
		return hostport_ok(text);
	case BU_KEY_REF:
		return strspn(text, ALNUM "-_.") == strlen(text);
	default:
		return 1;
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
		return refuse_type(key, text, err);
	if (key->type == BU_KEY_CHOICE && find_choice(key->arg, text) < 0)
		return refuse_choice(key, text, err);
	if (strlen(text) > 512 || !text_ok(key->type, text))
		return refuse_type(key, text, err);
	if (!ret)
		return 0;
	if (key->type == BU_KEY_MAC)
		copy = bu_xstrdup(mac);
	else if (key->type == BU_KEY_WORDS)
		copy = without_blanks(text);
	else
		copy = bu_xstrdup(key->type == BU_KEY_SECRET ? text + 5 : text);
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
		return 0; /* checked where they are expanded: once */
	case BU_KEY_REF:
	case BU_KEY_REFS:
		return text_ok(key->type, text) ? 0 : refuse_type(key, text, err);
	default:
		return parse_text(key, text, ret, err);
	}
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
