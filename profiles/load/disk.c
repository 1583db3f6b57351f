/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors of disks. Called for the values of profiles, for plans and before an
 * install. Invariant: the choice does not depend on the order or on the names in which
 * a kernel found the disks.
 */
#include "profiles/load/disk.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/machine.h"

#define BOOT_PAIR "boot-pair"

enum { VALUE_MAX = 127 };

struct term {
	char name[16], value[VALUE_MAX + 1]; /* "" = it has none */
};

/* The next of them; 1, or 0 at the end, or -1 when it is too long or empty. */
static int
next_term(const char **rest, struct term *ret)
{
	const char *begin, *colon;
	size_t size, name;

	if (!*rest)
		return 0;
	begin = *rest + strspn(*rest, " \t");
	size = strcspn(begin, ",");
	*rest = begin[size] ? begin + size + 1 : NULL;
	while (size && isblank((unsigned char)begin[size - 1]))
		size--;
	colon = memchr(begin, ':', size);
	name = colon ? (size_t)(colon - begin) : size;
	if (!name || name >= sizeof(ret->name) || size - name > VALUE_MAX)
		return -1;
	bu_text_copy_part(ret->name, sizeof(ret->name), begin, name);
	bu_text_copy_part(ret->value, sizeof(ret->value), colon ? colon + 1 : "",
			  colon ? size - name - 1 : 0);
	return 1;
}

/* "400GiB" up to `end`; -1 for anything else. */
static int64_t
bytes_of(const char *text, const char *end)
{
	static const char units[] = "KMGT";
	int64_t value = 0;
	const char *unit;
	int power = 0;

	if (!isdigit((unsigned char)*text))
		return -1;
	for (; text < end && isdigit((unsigned char)*text); text++) {
		if (value > 1000000000)
			return -1;
		value = value * 10 + (*text - '0');
	}
	unit = text < end && *text ? strchr(units, *text) : NULL;
	if (!unit || end - text != 3 || memcmp(text + 1, "iB", 2) != 0)
		return -1;
	power = (int)(unit - units) + 1;
	return value >= INT64_C(1) << (62 - 10 * power) ? -1 : value << 10 * power;
}

/* "400GiB-1TiB"; an open end is 0 or INT64_MAX. */
static int
read_range(const char *text, int64_t *ret_min, int64_t *ret_max)
{
	const char *dash = strchr(text, '-');

	if (!dash || (dash == text && !dash[1]))
		return -1;
	*ret_min = dash == text ? 0 : bytes_of(text, dash);
	*ret_max = dash[1] ? bytes_of(dash + 1, text + strlen(text)) : INT64_MAX;
	return *ret_min < 0 || *ret_max < *ret_min ? -1 : 0;
}

static int
is_text(const char *value)
{
	return *value && bu_text_is_ascii(value);
}

static int
is_range(const char *value)
{
	int64_t min, max;

	return read_range(value, &min, &max) == 0;
}

static int
is_yes_no(const char *value)
{
	return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static int
is_nothing(const char *value)
{
	return !*value;
}

static int
by_serial(const struct bu_disk *disk, const char *value)
{
	return bu_machine_says(value) && strcmp(disk->serial, value) == 0;
}

static int
by_wwn(const struct bu_disk *disk, const char *value)
{
	return strcasecmp(disk->wwn, value) == 0;
}

static int
by_path(const struct bu_disk *disk, const char *value)
{
	return *disk->by_path && fnmatch(value, disk->by_path, 0) == 0;
}

static int
by_model(const struct bu_disk *disk, const char *value)
{
	return *disk->model && fnmatch(value, disk->model, 0) == 0;
}

static int
by_size(const struct bu_disk *disk, const char *value)
{
	int64_t min = 0, max = 0;

	return read_range(value, &min, &max) == 0 && disk->size_bytes >= min &&
	       disk->size_bytes <= max;
}

static int
by_rotational(const struct bu_disk *disk, const char *value)
{
	return disk->rotational == (strcmp(value, "yes") == 0);
}

static const struct {
	const char *name;
	int (*value_ok)(const char *value);
	int (*fits)(const struct bu_disk *disk,
		    const char *value); /* NULL: at the end */
} terms[] = {
	{"serial", is_text, by_serial}, {"wwn", is_text, by_wwn},
	{"path", is_text, by_path},     {"model", is_text, by_model},
	{"size", is_range, by_size},    {"rotational", is_yes_no, by_rotational},
	{"smallest", is_nothing, NULL}, {"first", is_nothing, NULL},
	{BOOT_PAIR, is_nothing, NULL},
};

int
bu_disk_form_ok(const char *selector)
{
	const char *rest = selector;
	struct term term;
	int found;

	while ((found = next_term(&rest, &term)) > 0) {
		size_t i = 0;

		while (i < BU_LEN(terms) && strcmp(terms[i].name, term.name) != 0)
			i++;
		if (i == BU_LEN(terms) || !terms[i].value_ok(term.value))
			return 0;
	}
	return found == 0;
}

struct machine {
	const struct bu_disk *disks;
	size_t count;
};

/* By any way: one that was lost and is back is in no multipath map at first. */
static int
is_held(const struct machine *machine, const struct bu_disk *disk)
{
	for (size_t i = 0; i < machine->count; i++)
		if (*machine->disks[i].held_by &&
		    bu_disk_is_same(&machine->disks[i], disk))
			return 1;
	return 0;
}

/* Which of its words hold for the disk itself. */
static int
fits(const struct machine *machine, const struct bu_disk *disk, const char *selector)
{
	const char *rest = selector;
	struct term term;

	if (!bu_disk_bears(disk) || is_held(machine, disk))
		return 0;
	if (*selector == '/')
		return strcmp(disk->path, selector) == 0;
	while (next_term(&rest, &term) > 0)
		for (size_t i = 0; i < BU_LEN(terms); i++)
			if (strcmp(terms[i].name, term.name) == 0 && terms[i].fits &&
			    !terms[i].fits(disk, term.value))
				return 0;
	return 1;
}

static int
says(const char *selector, const char *name)
{
	const char *rest = selector;
	struct term term;

	while (next_term(&rest, &term) > 0)
		if (strcmp(term.name, name) == 0)
			return 1;
	return 0;
}

/* Numbers in a path count as numbers: slot 2 is before slot 10. */
static int
compare_paths(const struct bu_disk *a, const struct bu_disk *b)
{
	int order = strverscmp(a->by_path, b->by_path);

	return order ? order : strcmp(a->serial, b->serial);
}

int
bu_disk_is_for_one(const char *selector)
{
	return says(selector, "smallest") || says(selector, "first") ||
	       says(selector, BOOT_PAIR);
}

int
bu_disk_is_named(const char *selector)
{
	const char *rest = selector;
	struct term term;

	while (next_term(&rest, &term) > 0)
		if (strcmp(term.name, "wwn") == 0 ||
		    (strcmp(term.name, "path") == 0 && !strpbrk(term.value, "*?[\\")))
			return 1;
	return 0;
}

int
bu_disk_is_boot_pair(const char *selector)
{
	return says(selector, BOOT_PAIR);
}

/* Of those that fit: how small is the smallest? */
static int64_t
least_bytes(const struct machine *machine, const char *selector)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < machine->count; i++)
		if (fits(machine, &machine->disks[i], selector) &&
		    machine->disks[i].size_bytes < least)
			least = machine->disks[i].size_bytes;
	return least;
}

/* Why a server does not boot from it; "" when it may. */
static const char *
no_boot_disk(const struct machine *machine, const struct bu_disk *disk)
{
	size_t ways = 0;

	for (size_t i = 0; i < machine->count; i++)
		ways += bu_disk_is_same(&machine->disks[i], disk);
	return disk->removable                  ? ", removable"
	       : !bu_disk_bears(disk)           ? ", not for a system"
	       : is_held(machine, disk)         ? ", in use by an array or a map"
	       : strstr(disk->by_path, "-usb-") ? ", on USB"
	       : ways > 1                       ? ", over several paths"
	       : !*disk->by_path                ? ", in a place that it does not tell"
						: "";
}

/* 1 when the smallest of those are two of one model, and these by their paths in ret;
 * else none is taken: beside one whose twin has failed, equal larger ones are data. 0
 * when a disk may be missing. */
static size_t
choose_pair(const struct machine *machine, const char *selector,
	    const struct bu_disk *ret[2])
{
	int64_t least = INT64_MAX;
	size_t found = 0;

	for (size_t i = 0; i < machine->count; i++) {
		const struct bu_disk *disk = &machine->disks[i];

		if (disk->size_bytes > least || *no_boot_disk(machine, disk) ||
		    !fits(machine, disk, selector))
			continue;
		if (disk->size_bytes < least)
			found = 0;
		least = disk->size_bytes;
		if (found < 2)
			ret[found] = disk;
		found++;
	}
	if (found < 2)
		return 0;
	if (found > 2 || !*ret[0]->model || strcmp(ret[0]->model, ret[1]->model) != 0)
		return found;
	if (compare_paths(ret[1], ret[0]) < 0) {
		const struct bu_disk *first = ret[1];

		ret[1] = ret[0];
		ret[0] = first;
	}
	return 1;
}

size_t
bu_disk_choose(const char *selector, const struct bu_disk *disks, size_t count,
	       const struct bu_disk **ret)
{
	const struct machine machine = {disks, count};
	int64_t most = INT64_MAX;
	const struct bu_disk *best = NULL, *pair[2];
	size_t found = 0;

	if (says(selector, BOOT_PAIR)) {
		found = choose_pair(&machine, selector, pair);
		*ret = found == 1 ? pair[0] : NULL;
		return found;
	}
	if (says(selector, "smallest"))
		most = least_bytes(&machine, selector);
	for (size_t i = 0; i < count; i++) {
		size_t j = 0;

		if (!fits(&machine, &disks[i], selector) || disks[i].size_bytes > most)
			continue;
		if (!best || compare_paths(&disks[i], best) < 0)
			best = &disks[i];
		while (j < i && (!bu_disk_is_same(&disks[j], &disks[i]) ||
				 !fits(&machine, &disks[j], selector)))
			j++;
		found += j == i;
	}
	/* By nothing but the kernel's order would one of them be the first. */
	if (found > 1 && *best->by_path && says(selector, "first"))
		found = 1;
	*ret = found == 1 ? best : NULL;
	return found;
}

size_t
bu_disk_choose_known(const char *serial, const char *wwn, const struct bu_disk *disks,
		     size_t count, const struct bu_disk **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < count; i++)
		if (bu_disk_agrees(&disks[i], serial, wwn) &&
		    (!*ret || compare_paths(&disks[i], *ret) < 0))
			*ret = &disks[i];
	return *ret != NULL;
}

size_t
bu_disk_choose_other(const char *selector, const struct bu_disk *disks, size_t count,
		     const struct bu_disk *except, const struct bu_disk **ret)
{
	bu_autofree struct bu_disk *others = bu_xcalloc(count, sizeof(*others));
	bu_autofree size_t *places = bu_xcalloc(count, sizeof(*places));
	const struct bu_disk *chosen, *pair[2];
	size_t left = 0, found;

	if (says(selector, BOOT_PAIR)) {
		found = choose_pair(&(struct machine){disks, count}, selector, pair);
		*ret = found == 1 ? pair[bu_disk_is_same(except, pair[0])] : NULL;
		return found;
	}
	for (size_t i = 0; i < count; i++) {
		if (bu_disk_is_same(except, &disks[i]))
			continue;
		places[left] = i;
		others[left++] = disks[i];
	}
	found = bu_disk_choose(selector, others, left, &chosen);
	*ret = chosen ? &disks[places[chosen - others]] : NULL;
	return found;
}

static int
by_paths(const void *a, const void *b)
{
	return compare_paths(*(const struct bu_disk *const *)a,
			     *(const struct bu_disk *const *)b);
}

size_t
bu_disk_choose_all(const char *selector, const struct bu_disk *disks, size_t count,
		   const struct bu_disk *const system[2], const struct bu_disk **ret)
{
	const struct machine machine = {disks, count};
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j = 0;

		if (!fits(&machine, &disks[i], selector) ||
		    (system[0] && bu_disk_is_same(system[0], &disks[i])) ||
		    (system[1] && bu_disk_is_same(system[1], &disks[i])))
			continue;
		while (j < found && !bu_disk_is_same(ret[j], &disks[i]))
			j++;
		if (j == found)
			ret[found++] = &disks[i];
	}
	qsort(ret, found, sizeof(*ret), by_paths);
	return found;
}

static int
alike(const struct machine *machine, const struct bu_disk *a, const struct bu_disk *b)
{
	return a->size_bytes == b->size_bytes && strcmp(a->model, b->model) == 0 &&
	       strcmp(no_boot_disk(machine, a), no_boot_disk(machine, b)) == 0;
}

char *
bu_disk_words(const struct bu_disk *disks, size_t count)
{
	const struct machine machine = {disks, count};
	char *text = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct bu_disk *disk = &disks[i];
		size_t before = 0, all = 0;

		for (size_t j = 0; j < count; j++) {
			before += j < i && alike(&machine, disk, &disks[j]);
			all += alike(&machine, disk, &disks[j]);
		}
		if (!before)
			bu_text_add(&text, ", ", "%zu of %lld GiB (%s%s)", all,
				    (long long)(disk->size_bytes >> 30),
				    *disk->model ? disk->model : "no model",
				    no_boot_disk(&machine, disk));
	}
	return text ? text : bu_xstrdup("none");
}
