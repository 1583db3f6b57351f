/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's work item, read strictly. Called by the agent before bu_pair_run().
 * Invariant: what comes out is within the ranges that pair.h states.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fabric/probe/pair.h"
#include "fabric/probe/verbs.h"

enum { SECRET_MIN = 16, DEADLINE_MIN_MS = 1000, DEADLINE_MAX_MS = 3600000 };

static int
copy_optional(const json_t *item, const char *key, char *ret, size_t size,
	      struct bu_err *err)
{
	if (!json_object_get(item, key))
		return 0;
	return bu_json_copy_str(item, key, ret, size, err);
}

static int
get_number(const json_t *item, const char *key, int64_t fallback, int64_t min,
	   int64_t max, int64_t *ret, struct bu_err *err)
{
	*ret = fallback;
	if (json_object_get(item, key) && bu_json_get_int(item, key, ret, err))
		return -1;
	if (*ret < min || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': %" PRId64 " to %" PRId64 " is wanted",
				  key, min, max);
	return 0;
}

static int
read_role(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	const char *role;

	if (bu_json_get_str(item, "role", &role, err))
		return -1;
	opts->listens = strcmp(role, "listen") == 0;
	opts->loopback = strcmp(role, "loopback") == 0;
	if (!opts->listens && !opts->loopback && strcmp(role, "connect") != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'role': listen, connect or loopback is "
				  "wanted");
	return 0;
}

static int
read_names(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	if (bu_json_copy_str(item, "probe", opts->probe, sizeof(opts->probe), err) ||
	    bu_pair_name_check(opts->probe, "probe", err) ||
	    bu_json_copy_str(item, "a", opts->node[0], sizeof(opts->node[0]), err) ||
	    bu_pair_name_check(opts->node[0], "a", err) || read_role(item, opts, err))
		return -1;
	if (opts->loopback) {
		memcpy(opts->node[1], opts->node[0], sizeof(opts->node[1]));
		return 0;
	}
	if (bu_json_copy_str(item, "b", opts->node[1], sizeof(opts->node[1]), err) ||
	    bu_pair_name_check(opts->node[1], "b", err))
		return -1;
	if (strcmp(opts->node[0], opts->node[1]) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "fields 'a' and 'b' are the same");
	return 0;
}

static int
read_self(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	char node[BU_NAME_SIZE] = "";

	opts->self = opts->listens ? BU_END_B : BU_END_A;
	if (copy_optional(item, "node", node, sizeof(node), err))
		return -1;
	if (!node[0])
		return 0;
	if (strcmp(node, opts->node[0]) != 0 && strcmp(node, opts->node[1]) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'node': neither a nor b");
	opts->self = strcmp(node, opts->node[0]) == 0 ? BU_END_A : BU_END_B;
	return 0;
}

static int
read_addresses(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	if (copy_optional(item, "local_ip", opts->local_ip, sizeof(opts->local_ip),
			  err) ||
	    copy_optional(item, "device", opts->device, sizeof(opts->device), err) ||
	    copy_optional(item, "peer", opts->peer, sizeof(opts->peer), err))
		return -1;
	if (!opts->local_ip[0] && !opts->device[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'local_ip' or 'device' is wanted");
	return 0;
}

/* Where the ends meet; those of a loopback need not. */
static int
read_meeting(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	int64_t port;

	if (opts->loopback)
		return 0;
	if (bu_json_copy_str(item, "addr", opts->addr, sizeof(opts->addr), err) ||
	    bu_json_copy_str(item, "secret", opts->secret, sizeof(opts->secret), err) ||
	    get_number(item, "port", -1, 1, 65535, &port, err))
		return -1;
	if (strlen(opts->secret) < SECRET_MIN)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'secret': at least %d characters are wanted",
				  SECRET_MIN);
	opts->port = (int)port;
	return 0;
}

static int
read_numbers(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	int64_t message_bytes, bytes, runs;

	if (get_number(item, "message_bytes", BU_PAIR_MESSAGE_BYTES, 64,
		       BU_VERBS_MESSAGE_MAX, &message_bytes, err) ||
	    get_number(item, "bytes", BU_PAIR_BYTES, 1, INT64_C(1) << 50, &bytes,
		       err) ||
	    get_number(item, "runs", BU_PAIR_RUNS, 1, BU_RUNS_MAX, &runs, err) ||
	    get_number(item, "deadline_ms", BU_PAIR_DEADLINE_MS, DEADLINE_MIN_MS,
		       DEADLINE_MAX_MS, &opts->deadline_ms, err))
		return -1;
	if (message_bytes % 8)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'message_bytes': a multiple of 8 is wanted");
	opts->message_bytes = (uint32_t)message_bytes;
	opts->bytes = (uint64_t)bytes;
	opts->runs = (int)runs;
	return 0;
}

static int
read_op(const json_t *item, const char *key, enum bu_op *ret, struct bu_err *err)
{
	char name[16] = "write";
	int op;

	if (copy_optional(item, key, name, sizeof(name), err))
		return -1;
	op = bu_word_find(bu_op_names, name);
	*ret = (enum bu_op)op;
	if (op < 0 || (*ret == BU_OP_READ && strcmp(key, "lat_op") == 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': write or send (or, as 'op', read) is "
				  "wanted",
				  key);
	return 0;
}

/* What one can ask for beyond the ordinary probe. */
static int
read_manner(const json_t *item, struct bu_pair_opts *opts, struct bu_err *err)
{
	int64_t qps, pings, sport, gid_index, window, gpu;
	const json_t *duplex = json_object_get(item, "duplex");
	const json_t *min = json_object_get(item, "min_gbps");

	if (read_op(item, "op", &opts->op, err) ||
	    read_op(item, "lat_op", &opts->lat_op, err) ||
	    get_number(item, "qps", 1, 1, BU_QPS_MAX, &qps, err) ||
	    get_number(item, "pings", BU_PAIR_PINGS, 0, BU_PAIR_PINGS_MAX, &pings,
		       err) ||
	    get_number(item, "sport", 0, 0, UINT16_MAX, &sport, err) ||
	    get_number(item, "gid_index", -1, -1, UINT8_MAX, &gid_index, err) ||
	    get_number(item, "window_bytes", 0, 0, INT64_C(1) << 36, &window, err) ||
	    get_number(item, "gpu", -1, -1, 63, &gpu, err))
		return -1;
	if (duplex && !json_is_boolean(duplex))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'duplex': true or false is wanted");
	if (sport && sport < 0xc000)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'sport': %d to %d is wanted", 0xc000,
				  UINT16_MAX);
	if (min && (!json_is_number(min) || json_number_value(min) < 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'min_gbps': a rate is wanted");
	opts->min_gbps = json_number_value(min);
	opts->duplex = json_is_true(duplex);
	opts->qps = (int)qps;
	opts->pings = (int)pings;
	opts->sport = (int)sport;
	opts->gid_index = (int)gid_index;
	opts->window_bytes = (uint64_t)window;
	opts->gpu = (int)gpu;
	return 0;
}

int
bu_pair_opts_from_json(const json_t *item, struct bu_pair_opts *ret, struct bu_err *err)
{
	struct bu_pair_opts opts = {.port = 0};

	if (read_names(item, &opts, err) || read_self(item, &opts, err) ||
	    read_addresses(item, &opts, err) || read_meeting(item, &opts, err) ||
	    read_numbers(item, &opts, err) || read_manner(item, &opts, err))
		return bu_err_wrap(err, "probe");
	*ret = opts;
	return 0;
}
