/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: the table's row, the one writer of Prometheus' text format (version 0.0.4),
 * and histograms of durations. Names begin with "bringup_", units are base units
 * (seconds, bytes, bytes per second), counters end in "_total".
 */
#ifndef BU_MODEL_METRIC_H
#define BU_MODEL_METRIC_H

#include <stdint.h>
#include <stdio.h>

enum bu_metric_type { BU_METRIC_GAUGE, BU_METRIC_COUNTER, BU_METRIC_HISTOGRAM };

struct bu_metric;

/* The series of one metric on their way to `file`. */
struct bu_metric_out {
	FILE *file;
	const struct bu_metric *metric;
};

struct bu_metric {
	const char *name;
	enum bu_metric_type type;
	const char *labels; /* "pool,state": the order of the values; "" = no label */
	const char *help;
	void (*get)(struct bu_metric_out *out, const void *arg);
};

enum { BU_HISTOGRAM_BUCKETS = 10 };
/* Upper ends of the buckets, in seconds: from a step that is done at once to a day. */
extern const int bu_histogram_bounds_s[BU_HISTOGRAM_BUCKETS];
struct bu_histogram {
	int64_t counts[BU_HISTOGRAM_BUCKETS + 1]; /* the last is above all bounds */
	int64_t sum_ms;
};
/* Negative durations (a clock that was set back) count as 0. */
void bu_histogram_add(struct bu_histogram *histogram, int64_t took_ms);

/* One series; values: as many as the metric has labels. */
void bu_metric_put(struct bu_metric_out *out, double value, const char *const *values);
#define BU_METRIC(out, value, ...)                                                     \
	bu_metric_put(out, value, (const char *const[]){__VA_ARGS__})
void bu_metric_put_histogram(struct bu_metric_out *out,
			     const struct bu_histogram *histogram,
			     const char *const *values);

/* All metrics of the table, which ends with a NULL name. A metric without a series is
 * left out. */
void bu_metrics_write(const struct bu_metric *table, const void *arg, FILE *file);

#endif
