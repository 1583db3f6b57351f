/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory modules in the firmware's tables (SMBIOS type 17). Called by the host checks.
 * Invariant: the table is bytes from outside: nothing is read past its end.
 *
 * Modules of a server are alike; the one that is not, or runs slower than the others,
 * takes bandwidth from all, and so does a slot that is empty among full ones.
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

/* The slots, those with a module first; how many, and how many of them have one. */
static size_t
read_modules(const unsigned char *table, size_t size, struct module *ret,
	     size_t *ret_full)
{
	const unsigned char *end = table + size, *at = table;
	size_t count = 0;

	*ret_full = 0;
	while (at + HEADER <= end && count < MODULES_MAX) {
		size_t length = at[1];

		if (length < HEADER || at + length > end)
			break;
		if (at[0] == MODULE_TYPE) {
			struct module one;

			read_module(at, length, end, &one);
			ret[count++] = ret[*ret_full];
			if (one.size_mib > 0)
				ret[(*ret_full)++] = one;
			else
				ret[count - 1] = one;
		}
		at = next_entry(at + length, end);
	}
	return count;
}

/* The value that most modules have. */
static uint32_t
usual(const struct module *modules, size_t count, uint32_t (*of)(const struct module *))
{
	uint32_t best = 0;
	size_t best_votes = 0;

	for (size_t i = 0; i < count; i++) {
		size_t votes = 0;

		for (size_t j = 0; j < count; j++)
			votes += of(&modules[j]) == of(&modules[i]);
		if (votes > best_votes) {
			best_votes = votes;
			best = of(&modules[i]);
		}
	}
	return best;
}

static uint32_t
size_of(const struct module *module)
{
	return module->size_mib;
}

/* 0 = not told */
static uint32_t
speed_of(const struct module *module)
{
	return module->configured_mts;
}

static int
is_slower(const struct module *module, uint32_t than_mts)
{
	return module->configured_mts && module->configured_mts < than_mts;
}

/* Modules that are not as the others; how many. */
static size_t
find_odd(struct bu_checks *out, const struct module *modules, size_t count)
{
	uint32_t size_mib = usual(modules, count, size_of);
	uint32_t mts = usual(modules, count, speed_of);
	char seen[96], expected[96];
	size_t odd = 0;

	for (size_t i = 0; i < count; i++) {
		const struct module *one = &modules[i];

		if (one->size_mib == size_mib && !is_slower(one, mts))
			continue;
		odd++;
		snprintf(seen, sizeof(seen), "%u MiB at %u MT/s", one->size_mib,
			 one->configured_mts);
		snprintf(expected, sizeof(expected), "%u MiB at %u MT/s, as the others",
			 size_mib, mts);
		bu_host_add(out, "memory-modules", BU_VERDICT_WARN, one->locator, seen,
			    expected);
	}
	return odd;
}

/* All of them at less than their own speed: one remark, no module is at fault. */
static int
find_slow(struct bu_checks *out, const struct module *modules, size_t count)
{
	uint32_t mts = usual(modules, count, speed_of), rated = UINT32_MAX;
	struct bu_check *row;
	char seen[96], expected[96];

	for (size_t i = 0; i < count; i++)
		if (modules[i].speed_mts && modules[i].speed_mts < rated)
			rated = modules[i].speed_mts;
	if (!mts || rated == UINT32_MAX || mts >= rated)
		return 0;
	snprintf(seen, sizeof(seen), "all %zu at %u MT/s", count, mts);
	snprintf(expected, sizeof(expected), "%u MT/s, for which they are rated",
		 rated);
	row = bu_host_add(out, "memory-modules", BU_VERDICT_WARN, "", seen, expected);
	BU_CHECK_SET(row->hint,
		     "usual with two modules a channel, or the most that this CPU can; "
		     "else set the speed of memory in the firmware");
	return 1;
}

/* Slots that are empty among full ones: whoever leaves slots empty leaves one of each
 * channel, or a channel of each CPU, which is a quarter of them or more. */
static size_t
find_empty(struct bu_checks *out, const struct module *empty, size_t count, size_t full)
{
	char expected[96];
	size_t slots = count + full;

	if (count == 0 || (count * 4 >= slots && !(count == 1 && slots > 2)))
		return 0;
	snprintf(expected, sizeof(expected), "a module, as in %zu of %zu slots", full,
		 slots);
	for (size_t i = 0; i < count; i++) {
		struct bu_check *row =
			bu_host_add(out, "memory-modules", BU_VERDICT_WARN,
				    empty[i].locator, "empty", expected);

		BU_CHECK_SET(row->hint,
			     "seat the DIMM again, else swap it: the firmware may have "
			     "switched it off, see the BMC's log");
	}
	return count;
}

void
bu_host_modules(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	size_t size = 0, count, slots, odd;
	bu_autofree char *table = bu_sysroot_read(ctx->root, TABLE_MAX, &size,
						  "sys/firmware/dmi/tables/DMI");
	bu_autofree struct module *modules =
		bu_xcalloc(MODULES_MAX + 1, sizeof(*modules));
	char seen[96];

	slots = table ? read_modules((unsigned char *)table, size, modules, &count) : 0;
	if (slots == 0 || count == 0)
		return;
	odd = find_empty(out, modules + count, slots - count, count);
	odd += find_odd(out, modules, count);
	odd += (size_t)find_slow(out, modules, count);
	if (odd)
		return;
	snprintf(seen, sizeof(seen), "%zu modules of %u MiB", count,
		 usual(modules, count, size_of));
	bu_host_add(out, "memory-modules", BU_VERDICT_PASS, "", seen, "");
}
