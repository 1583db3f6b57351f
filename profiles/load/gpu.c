/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How GPUs can be divided. Called by the loader for the key mig. A layout is refused
 * when its instances together need more than 7 slices of computing or 8 of memory (a30:
 * 4 and 4): no order of creating them could work then.
 */
#include "profiles/load/gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { INSTANCES_MAX = 16, GPUS_MAX = 64 };

static const struct instance {
	const char *model, *name;
	int compute, memory; /* slices */
} instances[] = {
	{"a30", "1g.6gb", 1, 1},          {"a30", "2g.12gb", 2, 2},
	{"a30", "4g.24gb", 4, 4},         {"a100-40gb", "1g.5gb", 1, 1},
	{"a100-40gb", "1g.10gb", 1, 2},   {"a100-40gb", "2g.10gb", 2, 2},
	{"a100-40gb", "3g.20gb", 3, 4},   {"a100-40gb", "4g.20gb", 4, 4},
	{"a100-40gb", "7g.40gb", 7, 8},   {"a100-80gb", "1g.10gb", 1, 1},
	{"a100-80gb", "1g.20gb", 1, 2},   {"a100-80gb", "2g.20gb", 2, 2},
	{"a100-80gb", "3g.40gb", 3, 4},   {"a100-80gb", "4g.40gb", 4, 4},
	{"a100-80gb", "7g.80gb", 7, 8},   {"h100-80gb", "1g.10gb", 1, 1},
	{"h100-80gb", "1g.20gb", 1, 2},   {"h100-80gb", "2g.20gb", 2, 2},
	{"h100-80gb", "3g.40gb", 3, 4},   {"h100-80gb", "4g.40gb", 4, 4},
	{"h100-80gb", "7g.80gb", 7, 8},   {"h200-141gb", "1g.18gb", 1, 1},
	{"h200-141gb", "1g.35gb", 1, 2},  {"h200-141gb", "2g.35gb", 2, 2},
	{"h200-141gb", "3g.71gb", 3, 4},  {"h200-141gb", "4g.71gb", 4, 4},
	{"h200-141gb", "7g.141gb", 7, 8}, {"b200-180gb", "1g.23gb", 1, 1},
	{"b200-180gb", "1g.45gb", 1, 2},  {"b200-180gb", "2g.45gb", 2, 2},
	{"b200-180gb", "3g.90gb", 3, 4},  {"b200-180gb", "4g.90gb", 4, 4},
	{"b200-180gb", "7g.180gb", 7, 8},
};

/* One part of a layout: which GPUs, which instances on each of them. */
struct part {
	int first, last; /* -1 = all */
	char names[INSTANCES_MAX][16];
	int counts[INSTANCES_MAX];
	int used;
};

/* Digits at *text, at most 3 of them; -1 when there are none. */
static int
read_number(const char **text)
{
	int value = 0, digits = 0;

	for (; isdigit((unsigned char)**text) && digits < 3; (*text)++, digits++)
		value = value * 10 + (**text - '0');
	return digits ? value : -1;
}

/* "3g.40gb*2" at *text. */
static int
read_instance(const char **text, struct part *part)
{
	const char *start = *text, *p = start;
	size_t size;

	if (part->used == INSTANCES_MAX || read_number(&p) < 1 ||
	    strncmp(p, "g.", 2) != 0)
		return -1;
	p += 2;
	if (read_number(&p) < 1 || strncmp(p, "gb", 2) != 0)
		return -1;
	p += 2;
	size = (size_t)(p - start);
	if (size >= sizeof(part->names[0]))
		return -1;
	snprintf(part->names[part->used], sizeof(part->names[0]), "%.*s", (int)size,
		 start);
	part->counts[part->used] = 1;
	if (*p == '*') {
		p++;
		part->counts[part->used] = read_number(&p);
	}
	if (part->counts[part->used] < 1)
		return -1;
	part->used++;
	*text = p;
	return 0;
}

/* The next part; 1 at the end, -1 when the form is wrong. */
static int
next_part(const char **text, struct part *ret)
{
	const char *p = *text;

	if (!*p)
		return 1;
	*ret = (struct part){.first = -1, .last = -1};
	if (strchr(p, ':') && strcspn(p, ":") < strcspn(p, ",")) {
		ret->first = ret->last = read_number(&p);
		if (*p == '-') {
			p++;
			ret->last = read_number(&p);
		}
		if (ret->first < 0 || ret->last < ret->first || ret->last >= GPUS_MAX ||
		    *p++ != ':')
			return -1;
	}
	do {
		if (read_instance(&p, ret) < 0)
			return -1;
	} while (*p == '+' && p++);
	if (*p == ',' && p[1] && ret->first >= 0)
		p++;
	else if (*p)
		return -1;
	*text = p;
	return 0;
}

int
bu_gpu_mig_form_ok(const char *text)
{
	struct part part;
	int parts = 0, all = 0, rc;

	while ((rc = next_part(&text, &part)) == 0) {
		parts++;
		all += part.first < 0;
	}
	return rc == 1 && parts > 0 && (all == 0 || parts == 1);
}

int
bu_gpu_mig_is_whole(const char *text, int gpus)
{
	unsigned char divided[GPUS_MAX] = {0};
	struct part part;
	int count = 0;

	while (next_part(&text, &part) == 0) {
		if (part.first < 0)
			return 1;
		memset(divided + part.first, 1, (size_t)(part.last - part.first + 1));
	}
	while (count < gpus && count < GPUS_MAX && divided[count])
		count++;
	return count == gpus;
}

/* A card is divided as the module of its name, and an H200 NVL as an H200. */
static int
is_of(const struct instance *instance, const char *model)
{
	static const char card[] = "-pcie";
	size_t size = strlen(instance->model);

	if (strcmp(model, "h200-nvl") == 0)
		model = "h200-141gb";
	return strncmp(instance->model, model, size) == 0 &&
	       (!model[size] || strcmp(model + size, card) == 0);
}

static const struct instance *
find(const char *model, const char *name)
{
	for (size_t i = 0; i < BU_LEN(instances); i++)
		if (is_of(&instances[i], model) && strcmp(instances[i].name, name) == 0)
			return &instances[i];
	return NULL;
}

/* "1g.10gb, 2g.20gb" of the model; owned, "" when it cannot be divided. */
static char *
names_of(const char *model)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < BU_LEN(instances); i++)
		if (is_of(&instances[i], model))
			bu_text_add(&text, ", ", "%s", instances[i].name);
	return text;
}

int
bu_gpu_mig_alike(const char *text, const char *model, double *ret_share)
{
	const struct instance *instance;
	struct part part;

	if (!model || next_part(&text, &part) != 0 || part.first >= 0 || part.used != 1)
		return 0;
	instance = find(model, part.names[0]);
	if (!instance)
		return 0;
	*ret_share = (double)instance->memory / (strcmp(model, "a30") == 0 ? 4 : 8);
	return part.counts[0];
}

static int
check_part(const struct part *part, const char *model, struct bu_err *err)
{
	bu_autofree char *names = names_of(model);
	int compute = 0, memory = 0, most = strcmp(model, "a30") == 0 ? 4 : 7;

	if (!*names)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "no way to divide a %s is known; leave mig out",
				  model);
	for (int i = 0; i < part->used; i++) {
		const struct instance *instance = find(model, part->names[i]);

		if (!instance)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "a %s has no instance %s; allowed is %s",
					  model, part->names[i], names);
		compute += instance->compute * part->counts[i];
		memory += instance->memory * part->counts[i];
	}
	if (compute > most || memory > (most == 4 ? 4 : 8))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "asks for %d compute slices and %d of memory; a %s "
				  "has %d and %d",
				  compute, memory, model, most, most == 4 ? 4 : 8);
	return 0;
}

int
bu_gpu_mig_check(const char *text, const char *model, int gpus, struct bu_err *err)
{
	char seen[GPUS_MAX] = {0};
	struct part part;

	while (next_part(&text, &part) == 0) {
		if (model && check_part(&part, model, err) < 0)
			return -1;
		if (gpus && part.last >= gpus)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "names GPU %d; the machine has GPUs 0 to %d",
					  part.last, gpus - 1);
		for (int i = part.first; i >= 0 && i <= part.last; i++)
			if (seen[i]++)
				return bu_err_set(err, BU_ERR_INVAL, 0,
						  "names GPU %d twice; name each once",
						  i);
	}
	return 0;
}
