/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of one probe between two nodes: what both ends measured, in both
 * directions. The agent makes it, the judge gives the verdict, pages and certificates
 * show it. It crosses the network: bu_pair_result_from_json() trusts nothing.
 *
 * {"v":1,"probe","at_ms","a":END,"b":END,"message_bytes","bytes","mtu","seconds",
 *  "a_to_b":DIR,"b_to_a":DIR,"verdict","error":ERROR?}
 * END   {"node","device","gid","gid_index","port","mtu"}
 * DIR   {"bw_gbps":[one per run],"bw_median_gbps","lat_median_us","lat_p99_us",
 *        "lat_count","seconds","error":ERROR?}
 * ERROR {"kind","text","at":"a"|"b"?}
 */
#ifndef BU_MODEL_RESULT_H
#define BU_MODEL_RESULT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_RUNS_MAX = 32, BU_NAME_SIZE = 64 };
/* Index of an end; dir[BU_END_A] is the direction from a to b. */
enum { BU_END_A = 0, BU_END_B = 1, BU_END_NONE = -1 };

#define BU_VERDICTS(X)                                                                 \
	X(INCONCLUSIVE, "inconclusive") /* not judged, or the instrument was wrong */  \
	X(PASS, "pass")                                                                \
	X(WARN, "warn")                                                                \
	X(FAIL, "fail")

enum bu_verdict {
#define X(id, name) BU_VERDICT_##id,
	BU_VERDICTS(X)
#undef X
};
const char *bu_verdict_name(enum bu_verdict verdict);
/* -1 when there is no such name. */
int bu_verdict_from_name(const char *name, enum bu_verdict *ret);

/* kind NONE: there was none. REMOTE (the path lost it), TIMEOUT and VERIFY (payload
 * changed) of a direction are findings about the path; every other one is about the
 * instrument. */
struct bu_pair_error {
	enum bu_err_kind kind;
	int at; /* the end that saw it, BU_END_NONE when unknown */
	char text[240];
};

struct bu_pair_end {
	char node[BU_NAME_SIZE];
	char device[BU_NAME_SIZE]; /* "rxe0" */
	char gid[48];              /* "::ffff:10.78.0.11" */
	int gid_index;
	int port;
	int mtu; /* active_mtu of the port, bytes */
};

struct bu_pair_dir {
	int runs; /* how many of bw_gbps are set */
	double bw_gbps[BU_RUNS_MAX];
	double bw_median_gbps; /* 10^9 bit/s; 0 without a run */
	double lat_median_us;  /* half round trip, started by the sending end */
	double lat_p99_us;
	int lat_count;  /* iterations behind both; 0 = not measured */
	double seconds; /* the whole direction, set-up included */
	struct bu_pair_error error;
};

struct bu_pair_result {
	char probe[BU_NAME_SIZE];
	int64_t at_ms; /* wall clock at the start */
	struct bu_pair_end end[2];
	uint32_t message_bytes;
	uint64_t bytes; /* timed in each run */
	int mtu;        /* path MTU of the connection */
	double seconds;
	struct bu_pair_dir dir[2];
	enum bu_verdict verdict;
	struct bu_pair_error error; /* of the probe as a whole */
};

void bu_pair_result_init(struct bu_pair_result *result);
/* NONE clears. */
void bu_pair_error_set(struct bu_pair_error *error, int at, const struct bu_err *err);
/* Adds one run and keeps the median; at most BU_RUNS_MAX. */
void bu_pair_dir_add(struct bu_pair_dir *dir, double bw_gbps);
/* Sorts values in place. quantile in [0, 1], nearest rank; 0 when there are none. */
double bu_quantile(double *values, size_t count, double quantile);

json_t *bu_pair_result_to_json(const struct bu_pair_result *result); /* new reference */
/* BU_ERR_INVAL names the field. Medians are computed again from the runs. */
int bu_pair_result_from_json(const json_t *value, struct bu_pair_result *ret,
			     struct bu_err *err);
/* Node names and probe ids: 1 to 63 of [A-Za-z0-9._-]. */
int bu_pair_name_check(const char *name, const char *what, struct bu_err *err);

#endif
