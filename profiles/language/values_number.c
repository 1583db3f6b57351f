/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with units and networks: the text to what is stored. Called by values.c and,
 * for the parts of longer values, by values_text.c. Invariant: when a value is refused,
 * the field is as it was.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profiles/desired.h"
#include "profiles/language/values.h"
#include "profiles/nodeset/nodeset.h"

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

const char *
bu_key_type_allowed(enum bu_key_type type)
{
	return allowed[type];
}

int
bu_value_refuse(const struct bu_key *key, const char *text, struct bu_err *err)
{
	/* It may be the secret itself: never say it. */
	if (key->type == BU_KEY_SECRET)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "is not a reference; allowed is %s",
				  allowed[key->type]);
	if (key->type == BU_KEY_BMC || key->type == BU_KEY_URL ||
	    key->type == BU_KEY_PLACE || key->type == BU_KEY_COUNTERS)
		return bu_err_set(err, BU_ERR_INVAL, 0, "is wrong; allowed is %s",
				  allowed[key->type]);
	return bu_err_set(err, BU_ERR_INVAL, 0, "'%.80s' is wrong; allowed is %s", text,
			  allowed[key->type]);
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
		return bu_value_refuse(key, text, err);
	value = strtod(text, &end);
	if (end != text + len)
		return bu_value_refuse(key, text, err);
	end += strspn(end, " \t");
	for (i = 0; i < count && strcmp(units[i].name, end) != 0; i++)
		;
	if (i == count)
		return bu_value_refuse(key, text, err);
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

int
bu_value_number(const struct bu_key *key, const char *text, void *ret,
		struct bu_err *err)
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
		return bu_value_refuse(key, text, err);
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

int
bu_value_cidr(const struct bu_key *key, const char *text, void *ret, struct bu_err *err)
{
	char address[INET_ADDRSTRLEN + 4];
	const char *slash = strchr(text, '/');
	struct in_addr in;
	uint32_t net, mask;
	int64_t bits;

	if (!slash || (size_t)(slash - text) >= sizeof(address) ||
	    bu_text_int(slash + 1, 0, 99, &bits) < 0)
		return bu_value_refuse(key, text, err);
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
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
				  text, address, (int)bits);
	}
	if (ret)
		*(struct bu_cidr *)ret =
			(struct bu_cidr){.net = net, .prefix_len = (int)bits};
	return 0;
}

int
bu_value_limit_ok(const struct bu_key *key, const char *text, struct bu_err *err)
{
	struct bu_key part = {.type = BU_KEY_LIMIT, .min = 1, .max = 100};
	const struct unit *units = strchr(text, '%') ? percents : plain;
	double value;

	if (units == plain)
		part.max = BU_NODESET_MAX;
	if (strchr(text, '.'))
		return bu_value_refuse(key, text, err);
	return parse_quantity(&part, text, units, 1, &value, err);
}
