/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory modules in the firmware's tables (SMBIOS type 17). Called by the host checks.
 * Invariant: the table is bytes from outside: nothing is read past its end.
 *
 * Modules of a server are alike; the one that is not, or that runs slower than it can,
 * takes bandwidth from all.
 */
#include <stdio.h>
#include <string.h>

#include "base/sysroot.h"
#include "checks/host/host_impl.h"

enum {
	TABLE_MAX = 1024 * 1024,
	MODULE_TYPE = 17,
	MODULES_MAX = 256,
	HEADER = 4,
	AT_SIZE = 0x0c,
	AT_LOCATOR = 0x10,
	AT_SPEED = 0x15,
	AT_LARGE_SIZE = 0x1c,
	AT_CONFIGURED = 0x20,
};

struct module {
	char locator[32];
	uint32_t size_mib;
	uint32_t speed_mts, configured_mts; /* 0 = not told */
};

static uint32_t
number(const unsigned char *entry, size_t size, size_t at, size_t bytes)
{
	uint32_t value = 0;

	if (at + bytes > size)
		return 0;
	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | entry[at + i];
	return value;
}

/* The index-th string behind an entry; end is that of the table. */
static void
copy_string(const unsigned char *strings, const unsigned char *end, unsigned int index,
	    char *ret, size_t size)
{
	ret[0] = '\0';
	while (index > 1 && strings < end && *strings) {
		strings += strnlen((const char *)strings, (size_t)(end - strings)) + 1;
		index--;
	}
	if (index == 1 && strings < end)
		snprintf(ret, size, "%.*s",
			 (int)strnlen((const char *)strings, (size_t)(end - strings)),
			 (const char *)strings);
	for (char *p = ret; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

static void
read_module(const unsigned char *entry, size_t size, const unsigned char *end,
	    struct module *ret)
{
	uint32_t raw = number(entry, size, AT_SIZE, 2);

	memset(ret, 0, sizeof(*ret));
	if (raw == 0x7fff)
		ret->size_mib = number(entry, size, AT_LARGE_SIZE, 4) & 0x7fffffff;
	else if (raw != 0xffff)
		ret->size_mib = raw & 0x8000 ? (raw & 0x7fff) / 1024 : raw;
	ret->speed_mts = number(entry, size, AT_SPEED, 2);
	ret->configured_mts = number(entry, size, AT_CONFIGURED, 2);
	copy_string(entry + size, end, size > AT_LOCATOR ? entry[AT_LOCATOR] : 0,
		    ret->locator, sizeof(ret->locator));
}

/* Where the next entry begins: behind the two NUL bytes that end the strings. */
static const unsigned char *
next_entry(const unsigned char *strings, const unsigned char *end)
{
	while (strings + 1 < end && (strings[0] || strings[1]))
		strings++;
	return strings + 2;
}

/* The modules that are there, not the empty slots; how many. */
static size_t
read_modules(const unsigned char *table, size_t size, struct module *ret)
{
	const unsigned char *end = table + size, *at = table;
	size_t count = 0;

	while (at + HEADER <= end && count < MODULES_MAX) {
		size_t length = at[1];

		if (length < HEADER || at + length > end)
			break;
		if (at[0] == MODULE_TYPE) {
			read_module(at, length, end, &ret[count]);
			count += ret[count].size_mib > 0;
		}
		at = next_entry(at + length, end);
	}
	return count;
}

/* The size that most modules have. */
static uint32_t
usual_size(const struct module *modules, size_t count)
{
	uint32_t best = 0;
	size_t best_votes = 0;

	for (size_t i = 0; i < count; i++) {
		size_t votes = 0;

		for (size_t j = 0; j < count; j++)
			votes += modules[j].size_mib == modules[i].size_mib;
		if (votes > best_votes) {
			best_votes = votes;
			best = modules[i].size_mib;
		}
	}
	return best;
}

void
bu_host_modules(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	size_t size = 0, count, odd = 0;
	bu_autofree char *table = bu_sysroot_read(ctx->root, TABLE_MAX, &size,
						  "sys/firmware/dmi/tables/DMI");
	bu_autofree struct module *modules =
		bu_xcalloc(MODULES_MAX + 1, sizeof(*modules));
	uint32_t usual;
	char seen[96], expected[96];

	count = table ? read_modules((unsigned char *)table, size, modules) : 0;
	if (count == 0)
		return;
	usual = usual_size(modules, count);
	for (size_t i = 0; i < count; i++) {
		const struct module *one = &modules[i];

		if (one->size_mib == usual &&
		    (!one->configured_mts || !one->speed_mts ||
		     one->configured_mts >= one->speed_mts))
			continue;
		odd++;
		snprintf(seen, sizeof(seen), "%u MiB at %u MT/s", one->size_mib,
			 one->configured_mts);
		snprintf(expected, sizeof(expected), "%u MiB at %u MT/s, as the others",
			 usual, one->speed_mts);
		bu_host_add(out, "memory-modules", BU_VERDICT_WARN, one->locator, seen,
			    expected);
	}
	if (odd)
		return;
	snprintf(seen, sizeof(seen), "%zu modules of %u MiB", count, usual);
	bu_host_add(out, "memory-modules", BU_VERDICT_PASS, "", seen, "");
}
