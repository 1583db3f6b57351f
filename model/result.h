/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of one probe between two nodes, in both directions. The agents measure,
 * the judge gives the verdict, pages and certificates show it. Results cross the
 * network: bu_pair_result_from_json() trusts nothing.
 *
 * {"v":2,"probe","at_ms","a":END,"b":END,"message_bytes","bytes","mtu","seconds",
 *  "op","lat_op","qps","duplex","a_to_b":DIR,"b_to_a":DIR,"verdict","error":ERROR?}
 * END   {"node","device","gid","gid_index","port","mtu","address","gid_type","link",
 *        "rate_gbps","numa","cpu","memory","memory_found","window_bytes","rail"?,
 *        "lid"?,"pkey"?,"sl"?,"traffic_class"?}
 * DIR   {"bw_gbps":[one per run],"bw_median_gbps","lat_median_us","lat_p99_us",
 *        "lat_count","seconds","lat_min_us","lat_p90_us","lat_p999_us","lat_max_us",
 *        "setup_seconds","clock_seconds":[sender's,receiver's],"sent_bytes",
 *        "sport":[one per queue pair]?,"flow_label":[same]?,
 *        "paths":[{"hops":[address]}, same]?,"untraced"?,"a":COUNTERS?,"b":COUNTERS?,
 *        "error":ERROR?}
 * COUNTERS: model/counter.h; ERROR {"kind","text","at":"a"|"b"?}
 *
 * Fields with '?' are left out when empty; all others are required.
 */
#ifndef BU_MODEL_RESULT_H
#define BU_MODEL_RESULT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/record.h"
#include "model/counter.h"

enum {
	BU_RUNS_MAX = 32,
	BU_NAME_SIZE = 64,
	BU_QPS_MAX = 16,
	BU_HOPS_MAX = 8,
	BU_HOP_SIZE = 46,
};
/* Index of an end; dir[BU_END_A] is from a to b. */
enum { BU_END_A = 0, BU_END_B = 1, BU_END_NONE = -1 };

#define BU_VERDICTS(X)                                                                 \
	X(INCONCLUSIVE, "inconclusive") /* not judged, or a wrong instrument */        \
	X(PASS, "pass")                                                                \
	X(WARN, "warn")                                                                \
	X(FAIL, "fail")

enum bu_verdict {
#define X(id, name) BU_VERDICT_##id,
	BU_VERDICTS(X)
#undef X
};
extern const char *const bu_verdict_names[];
const char *bu_verdict_name(enum bu_verdict verdict);
/* Verdict of an object's "verdict"; missing = INCONCLUSIVE. */
enum bu_verdict bu_verdict_of(const json_t *object);
/* -1 = unknown name. */
int bu_verdict_from_name(const char *name, enum bu_verdict *ret);

/* RDMA operation that moves the payload. A direction's sender is the source of the
 * bytes: a read is posted by the other end. */
#define BU_OPS(X)                                                                      \
	X(WRITE, "write")                                                              \
	X(READ, "read")                                                                \
	X(SEND, "send")

enum bu_op {
#define X(id, name) BU_OP_##id,
	BU_OPS(X)
#undef X
};
extern const char *const bu_op_names[];

#define BU_GID_TYPES(X)                                                                \
	X(UNKNOWN, "")                                                                 \
	X(IB, "ib")                                                                    \
	X(ROCE_V1, "rocev1")                                                           \
	X(ROCE_V2, "rocev2")

enum bu_gid_type {
#define X(id, name) BU_GID_##id,
	BU_GID_TYPES(X)
#undef X
};

/* Memory of the payload. DMABUF and PEERMEM are two ways to register GPU memory. */
#define BU_MEMORIES(X)                                                                 \
	X(UNKNOWN, "")                                                                 \
	X(HOST, "host")                                                                \
	X(DMABUF, "gpu dmabuf")                                                        \
	X(PEERMEM, "gpu peermem")

enum bu_memory {
#define X(id, name) BU_MEMORY_##id,
	BU_MEMORIES(X)
#undef X
};
extern const char *const bu_gid_type_names[], *const bu_memory_names[];
const char *bu_gid_type_name(enum bu_gid_type type);
const char *bu_memory_name(enum bu_memory memory);

/* kind NONE = no error. In a direction REMOTE (lost), TIMEOUT and VERIFY (payload
 * changed) are findings about the path. All other errors are about the instrument. */
struct bu_pair_error {
	enum bu_err_kind kind;
	int at; /* the end that saw the error; BU_END_NONE = unknown */
	char text[240];
};

struct bu_pair_end {
	char node[BU_NAME_SIZE];
	char device[BU_NAME_SIZE]; /* "rxe0" */
	char gid[48];              /* "::ffff:10.78.0.11" */
	int gid_index;
	int port;
	int mtu; /* active_mtu of the port, bytes */
	/* Unknown members are 0, "", UNKNOWN or -1. */
	char address[48]; /* IPv4 on the fabric, as in the work item */
	enum bu_gid_type gid_type;
	int infiniband;              /* the port's link layer; 0 = Ethernet */
	double rate_gbps;            /* of the port, by the port itself */
	int numa;                    /* node of the adapter */
	int cpu;                     /* of the measuring thread */
	enum bu_memory memory;       /* as registered */
	enum bu_memory memory_found; /* as read back; UNKNOWN = not proven */
	int64_t window_bytes;        /* memory over which the payload rotates */
	char rail[BU_NAME_SIZE];     /* the port's network */
	int lid;                     /* 0 = none (RoCE) */
	int pkey;                    /* partition of the queue pairs */
	int sl, traffic_class;
};

/* The routers on the way of one flow, from the sender on, without the peer. */
struct bu_pair_way {
	int hops;
	char hop[BU_HOPS_MAX]
		[BU_HOP_SIZE]; /* address; "" = no answer, or different ones */
};

struct bu_pair_dir {
	int runs; /* number of bw_gbps */
	double bw_gbps[BU_RUNS_MAX];
	double bw_median_gbps; /* 10^9 bit/s; 0 without a run */
	double lat_median_us;  /* half a round trip, started by the sending end */
	double lat_p99_us;
	int lat_count;  /* samples behind both; 0 = not measured */
	double seconds; /* the whole direction, set-up included */
	double lat_min_us, lat_p90_us, lat_p999_us, lat_max_us;
	double setup_seconds; /* from both ends having the work item to both being able
				 to send */
	/* The runs only, by the sender's clock and by the receiver's; 0 = not told. */
	double clock_seconds[2];
	uint64_t sent_bytes; /* acknowledged payload of all runs, warm-up included */
	int qps;             /* length of these; 0 = not told */
	uint16_t sport[BU_QPS_MAX]; /* UDP source port of the sender; 0 = unknown */
	uint32_t flow_label[BU_QPS_MAX]; /* as asked for; 0 = none */
	int paths;                       /* length of way: one per queue pair, or 0 */
	struct bu_pair_way path[BU_QPS_MAX];
	char untraced[160]; /* why there are no ways; "" = no trace was asked for */
	struct bu_counters counters[2]; /* of each end's port, in the runs */
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
	enum bu_op op, lat_op;
	int qps;    /* queue pairs */
	int duplex; /* both directions at the same time */
	struct bu_pair_dir dir[2];
	enum bu_verdict verdict;
	struct bu_pair_error error; /* of the probe as a whole */
};

void bu_pair_result_init(struct bu_pair_result *result);
/* 1 = both ends are one port: the payload never left the adapter. */
int bu_pair_is_loopback(const struct bu_pair_result *result);
/* The rail of a pair in words: "rail0", or across rails "rail0/rail1". */
static inline int
bu_rail_is_across(const char *rail)
{
	return strchr(rail, '/') != NULL;
}
/* samples: halves of round trips in us, sorted in place. Sets minimum, maximum and
 * percentiles. */
void bu_pair_dir_latency(struct bu_pair_dir *dir, double *samples_us, size_t count);
/* kind NONE clears. */
void bu_pair_error_set(struct bu_pair_error *error, int at, const struct bu_err *err);
/* Adds one run and updates the median; at most BU_RUNS_MAX. */
void bu_pair_dir_add(struct bu_pair_dir *dir, double bw_gbps);
/* Keeps the first `runs` runs. */
void bu_pair_dir_drop(struct bu_pair_dir *dir, int runs);
/* Sorts values in place. quantile in [0, 1], nearest rank; 0 without values. */
double bu_quantile(double *values, size_t count, double quantile);

/* An end alone, for the exchange between both ends; a direction's trace. */
extern const struct bu_field bu_pair_end_fields[], bu_pair_trace_fields[];
json_t *bu_pair_result_to_json(const struct bu_pair_result *result); /* new reference */
/* BU_ERR_INVAL: err names the field. Medians are computed again from the runs. */
bu_must int bu_pair_result_from_json(const json_t *value, struct bu_pair_result *ret,
				     struct bu_err *err);
/* Node names and probe ids: 1 to 63 of [A-Za-z0-9._-]. */
extern const struct bu_form bu_pair_name_form;
bu_must int bu_pair_name_check(const char *name, const char *what, struct bu_err *err);

#endif
