/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of probes as structs (as JSON: result_json.c). Used by the agent's engine,
 * the judge, the gate and whatever shows figures. Invariant: a result never holds more
 * than BU_RUNS_MAX runs, and its texts are printable.
 */
#include "model/result.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *const bu_verdict_names[] = {
#define X(id, name) [BU_VERDICT_##id] = name,
	BU_VERDICTS(X)
#undef X
		NULL,
};

const char *const bu_op_names[] = {
#define X(id, name) [BU_OP_##id] = name,
	BU_OPS(X)
#undef X
		NULL,
};

const char *const bu_gid_type_names[] = {
#define X(id, name) [BU_GID_##id] = name,
	BU_GID_TYPES(X)
#undef X
		NULL,
};

const char *const bu_memory_names[] = {
#define X(id, name) [BU_MEMORY_##id] = name,
	BU_MEMORIES(X)
#undef X
		NULL,
};

const char *
bu_gid_type_name(enum bu_gid_type type)
{
	return bu_gid_type_names[type];
}

const char *
bu_memory_name(enum bu_memory memory)
{
	return bu_memory_names[memory];
}

const char *
bu_verdict_name(enum bu_verdict verdict)
{
	return bu_verdict_names[verdict];
}

enum bu_verdict
bu_verdict_of(const json_t *object)
{
	return (enum bu_verdict)bu_json_word(object, "verdict", bu_verdict_names,
					     BU_VERDICT_INCONCLUSIVE);
}

int
bu_verdict_from_name(const char *name, enum bu_verdict *ret)
{
	int place = bu_word_find(bu_verdict_names, name);

	if (place >= 0)
		*ret = (enum bu_verdict)place;
	return place >= 0 ? 0 : -1;
}

int
bu_pair_is_loopback(const struct bu_pair_result *result)
{
	const struct bu_pair_end *a = &result->end[BU_END_A],
				 *b = &result->end[BU_END_B];

	return a->gid[0] && strcmp(a->gid, b->gid) == 0;
}

void
bu_pair_error_set(struct bu_pair_error *error, int at, const struct bu_err *err)
{
	*error = (struct bu_pair_error){.kind = err->kind, .at = BU_END_NONE};
	if (err->kind == BU_ERR_NONE)
		return;
	error->at = at;
	bu_text_copy(error->text, sizeof(error->text), err->text);
	for (char *c = error->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	}
}

static int
compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
bu_quantile(double *values, size_t count, double quantile)
{
	size_t rank;

	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), compare_double);
	rank = (size_t)(quantile * (double)count);
	if ((double)rank < quantile * (double)count)
		rank++;
	return values[rank == 0 ? 0 : rank > count ? count - 1 : rank - 1];
}

static void
set_median(struct bu_pair_dir *dir)
{
	double sorted[BU_RUNS_MAX];

	memcpy(sorted, dir->bw_gbps, sizeof(sorted));
	dir->bw_median_gbps = bu_quantile(sorted, (size_t)dir->runs, 0.5);
}

void
bu_pair_dir_add(struct bu_pair_dir *dir, double bw_gbps)
{
	bu_assert(dir->runs < BU_RUNS_MAX);
	dir->bw_gbps[dir->runs++] = bw_gbps;
	set_median(dir);
}

void
bu_pair_dir_drop(struct bu_pair_dir *dir, int runs)
{
	if (dir->runs > runs)
		dir->runs = runs;
	set_median(dir);
}

void
bu_pair_dir_latency(struct bu_pair_dir *dir, double *samples_us, size_t count)
{
	dir->lat_median_us = bu_quantile(samples_us, count, 0.5);
	dir->lat_p90_us = bu_quantile(samples_us, count, 0.9);
	dir->lat_p99_us = bu_quantile(samples_us, count, 0.99);
	dir->lat_p999_us = bu_quantile(samples_us, count, 0.999);
	dir->lat_min_us = bu_quantile(samples_us, count, 0);
	dir->lat_max_us = bu_quantile(samples_us, count, 1);
	dir->lat_count = (int)count;
}

static int
is_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
		"YZ0123456789._-";
	size_t size = strlen(name);

	return size > 0 && size < BU_NAME_SIZE && strspn(name, allowed) == size;
}

const struct bu_form bu_pair_name_form = {is_name,
					  "a name of 1 to 63 of [A-Za-z0-9._-]"};

int
bu_pair_name_check(const char *name, const char *what, struct bu_err *err)
{
	return is_name(name) ? 0
			     : bu_err_set(err, BU_ERR_INVAL, 0, "%s: is not %s", what,
					  bu_pair_name_form.what);
}
