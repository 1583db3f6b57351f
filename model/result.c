// SPDX-License-Identifier: Apache-2.0
/*
 * Results of probes as structs and as JSON. Used by the agent's engine, the judge, the
 * gate and whatever shows figures. Invariant: a struct that came out of
 * bu_pair_result_from_json() has finite figures in range, at most BU_RUNS_MAX runs and
 * only printable text, whoever sent it.
 */
#include "model/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const char *const verdict_names[] = {
#define X(id, name) [BU_VERDICT_##id] = name,
	BU_VERDICTS(X)
#undef X
};

/* Nothing that can be measured is above these; larger ones are nonsense or an attack.
 */
static const double gbps_max = 1e5, us_max = 1e9, seconds_max = 1e6;
static const int64_t wall_ms_max = INT64_C(1) << 50;

const char *
bu_verdict_name(enum bu_verdict verdict)
{
	if ((size_t)verdict >= BU_LEN(verdict_names))
		return "inconclusive";
	return verdict_names[verdict];
}

int
bu_verdict_from_name(const char *name, enum bu_verdict *ret)
{
	for (size_t i = 0; name && i < BU_LEN(verdict_names); i++) {
		if (strcmp(name, verdict_names[i]) == 0) {
			*ret = (enum bu_verdict)i;
			return 0;
		}
	}
	return -1;
}

void
bu_pair_result_init(struct bu_pair_result *result)
{
	memset(result, 0, sizeof(*result));
	result->error.at = BU_END_NONE;
	result->dir[BU_END_A].error.at = BU_END_NONE;
	result->dir[BU_END_B].error.at = BU_END_NONE;
}

void
bu_pair_error_set(struct bu_pair_error *error, int at, const struct bu_err *err)
{
	error->kind = err->kind;
	error->at = at;
	snprintf(error->text, sizeof(error->text), "%.*s", (int)sizeof(error->text) - 1,
		 err->text);
	for (char *c = error->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	}
	bu_text_clean(error->text);
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

void
bu_pair_dir_add(struct bu_pair_dir *dir, double bw_gbps)
{
	double sorted[BU_RUNS_MAX];

	bu_assert(dir->runs < BU_RUNS_MAX);
	dir->bw_gbps[dir->runs++] = bw_gbps;
	memcpy(sorted, dir->bw_gbps, sizeof(sorted));
	dir->bw_median_gbps = bu_quantile(sorted, (size_t)dir->runs, 0.5);
}

static void
error_to_json(json_t *object, const struct bu_pair_error *error)
{
	json_t *value;

	if (error->kind == BU_ERR_NONE)
		return;
	value = json_pack("{s:s, s:s}", "kind", bu_err_name(error->kind), "text",
			  error->text);
	if (error->at != BU_END_NONE)
		json_object_set_new(value, "at",
				    json_string(error->at == BU_END_A ? "a" : "b"));
	json_object_set_new(object, "error", value);
}

static json_t *
end_to_json(const struct bu_pair_end *end)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i}", "node", end->node, "device",
			 end->device, "gid", end->gid, "gid_index", end->gid_index,
			 "port", end->port, "mtu", end->mtu);
}

static json_t *
dir_to_json(const struct bu_pair_dir *dir)
{
	json_t *runs = json_array();
	json_t *value;

	for (int i = 0; i < dir->runs; i++)
		json_array_append_new(runs, json_real(dir->bw_gbps[i]));
	value = json_pack("{s:o, s:f, s:f, s:f, s:i, s:f}", "bw_gbps", runs,
			  "bw_median_gbps", dir->bw_median_gbps, "lat_median_us",
			  dir->lat_median_us, "lat_p99_us", dir->lat_p99_us,
			  "lat_count", dir->lat_count, "seconds", dir->seconds);
	error_to_json(value, &dir->error);
	return value;
}

json_t *
bu_pair_result_to_json(const struct bu_pair_result *r)
{
	json_t *value = json_pack(
		"{s:i, s:s, s:I, s:o, s:o, s:I, s:I, s:i, s:f, s:o, s:o, s:s}", "v", 1,
		"probe", r->probe, "at_ms", (json_int_t)r->at_ms, "a",
		end_to_json(&r->end[BU_END_A]), "b", end_to_json(&r->end[BU_END_B]),
		"message_bytes", (json_int_t)r->message_bytes, "bytes",
		(json_int_t)r->bytes, "mtu", r->mtu, "seconds", r->seconds, "a_to_b",
		dir_to_json(&r->dir[BU_END_A]), "b_to_a",
		dir_to_json(&r->dir[BU_END_B]), "verdict", bu_verdict_name(r->verdict));

	bu_assert(value);
	error_to_json(value, &r->error);
	return value;
}

int
bu_pair_name_check(const char *name, const char *what, struct bu_err *err)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
		"YZ0123456789._-";
	size_t size = strlen(name);

	if (size == 0 || size >= BU_NAME_SIZE || strspn(name, allowed) != size)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: a name of 1 to %d of [A-Za-z0-9._-] is wanted",
				  what, BU_NAME_SIZE - 1);
	return 0;
}

static int
get_text(const json_t *object, const char *key, char *ret, size_t size,
	 struct bu_err *err)
{
	if (bu_json_copy_str(object, key, ret, size, err))
		return -1;
	for (const char *c = ret; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field '%s': holds control characters", key);
	}
	return 0;
}

static int
get_name(const json_t *object, const char *key, char *ret, struct bu_err *err)
{
	if (get_text(object, key, ret, BU_NAME_SIZE, err))
		return -1;
	return bu_pair_name_check(ret, key, err);
}

static int
get_int(const json_t *object, const char *key, int64_t max, int64_t *ret,
	struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < 0 || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 0 to %lld is wanted", key,
				  (long long)max);
	return 0;
}

static int
check_real(const json_t *value, const char *key, double max, double *ret,
	   struct bu_err *err)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || !isfinite(number) || number < 0 || number > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': a number from 0 to %g is wanted", key,
				  max);
	*ret = number;
	return 0;
}

static int
get_real(const json_t *object, const char *key, double max, double *ret,
	 struct bu_err *err)
{
	return check_real(json_object_get(object, key), key, max, ret, err);
}

static int
error_from_json(const json_t *object, struct bu_pair_error *ret, struct bu_err *err)
{
	const json_t *value = json_object_get(object, "error");
	const char *at;
	char kind[32];

	if (!value)
		return 0;
	if (get_text(value, "kind", kind, sizeof(kind), err) ||
	    get_text(value, "text", ret->text, sizeof(ret->text), err))
		return bu_err_wrap(err, "field 'error'");
	ret->kind = bu_err_from_name(kind);
	if (ret->kind == BU_ERR_NONE)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'error': kind is 'none'");
	at = bu_json_str(value, "at", "");
	ret->at = strcmp(at, "a") == 0   ? BU_END_A
		  : strcmp(at, "b") == 0 ? BU_END_B
					 : BU_END_NONE;
	return 0;
}

static int
end_from_json(const json_t *object, const char *key, struct bu_pair_end *ret,
	      struct bu_err *err)
{
	const json_t *value = json_object_get(object, key);
	int64_t gid_index, port, mtu;

	if (get_name(value, "node", ret->node, err) ||
	    get_text(value, "device", ret->device, sizeof(ret->device), err) ||
	    get_text(value, "gid", ret->gid, sizeof(ret->gid), err) ||
	    get_int(value, "gid_index", 65535, &gid_index, err) ||
	    get_int(value, "port", 255, &port, err) ||
	    get_int(value, "mtu", 65535, &mtu, err))
		return bu_err_wrap(err, "field '%s'", key);
	ret->gid_index = (int)gid_index;
	ret->port = (int)port;
	ret->mtu = (int)mtu;
	return 0;
}

static int
runs_from_json(const json_t *runs, struct bu_pair_dir *ret, struct bu_err *err)
{
	double bw_gbps;

	if (!json_is_array(runs) || json_array_size(runs) > BU_RUNS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'bw_gbps': an array of at most %d is wanted",
				  BU_RUNS_MAX);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		if (check_real(json_array_get(runs, i), "bw_gbps", gbps_max, &bw_gbps,
			       err))
			return -1;
		bu_pair_dir_add(ret, bw_gbps);
	}
	return 0;
}

static int
dir_from_json(const json_t *object, const char *key, struct bu_pair_dir *ret,
	      struct bu_err *err)
{
	const json_t *value = json_object_get(object, key);
	int64_t lat_count;

	if (runs_from_json(json_object_get(value, "bw_gbps"), ret, err) ||
	    get_real(value, "lat_median_us", us_max, &ret->lat_median_us, err) ||
	    get_real(value, "lat_p99_us", us_max, &ret->lat_p99_us, err) ||
	    get_int(value, "lat_count", 1000000, &lat_count, err) ||
	    get_real(value, "seconds", seconds_max, &ret->seconds, err) ||
	    error_from_json(value, &ret->error, err))
		return bu_err_wrap(err, "field '%s'", key);
	ret->lat_count = (int)lat_count;
	return 0;
}

static int
verdict_from_json(const json_t *value, enum bu_verdict *ret, struct bu_err *err)
{
	char name[32];

	if (get_text(value, "verdict", name, sizeof(name), err))
		return -1;
	if (bu_verdict_from_name(name, ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'verdict': pass, warn, fail or inconclusive");
	return 0;
}

int
bu_pair_result_from_json(const json_t *value, struct bu_pair_result *ret,
			 struct bu_err *err)
{
	struct bu_pair_result r;
	int64_t version, message_bytes, bytes, mtu;

	bu_pair_result_init(&r);
	if (get_int(value, "v", 1, &version, err) ||
	    get_name(value, "probe", r.probe, err) ||
	    get_int(value, "at_ms", wall_ms_max, &r.at_ms, err) ||
	    end_from_json(value, "a", &r.end[BU_END_A], err) ||
	    end_from_json(value, "b", &r.end[BU_END_B], err) ||
	    get_int(value, "message_bytes", INT32_MAX, &message_bytes, err) ||
	    get_int(value, "bytes", INT64_C(1) << 50, &bytes, err) ||
	    get_int(value, "mtu", 65535, &mtu, err) ||
	    get_real(value, "seconds", seconds_max, &r.seconds, err) ||
	    dir_from_json(value, "a_to_b", &r.dir[BU_END_A], err) ||
	    dir_from_json(value, "b_to_a", &r.dir[BU_END_B], err) ||
	    verdict_from_json(value, &r.verdict, err) ||
	    error_from_json(value, &r.error, err))
		return bu_err_wrap(err, "probe result");
	if (version != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "probe result: version %lld, 1 is wanted",
				  (long long)version);
	r.message_bytes = (uint32_t)message_bytes;
	r.bytes = (uint64_t)bytes;
	r.mtu = (int)mtu;
	*ret = r;
	return 0;
}
