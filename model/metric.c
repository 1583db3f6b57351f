/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text format of Prometheus: one writer for all metrics. Called by
 * provisioner/api/metrics.c. Invariant: values of labels are escaped here alone, so
 * that a text of a machine or a profile stays inside its quotes.
 */
#include "model/metric.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

const int bu_histogram_bounds_s[BU_HISTOGRAM_BUCKETS] = {1,   5,    15,   60,    180,
							 600, 1800, 3600, 14400, 86400};

static const char *const type_names[] = {"gauge", "counter", "histogram"};

void
bu_histogram_add(struct bu_histogram *histogram, int64_t took_ms)
{
	int at = 0;

	if (took_ms < 0)
		took_ms = 0;
	while (at < BU_HISTOGRAM_BUCKETS &&
	       took_ms > (int64_t)bu_histogram_bounds_s[at] * 1000)
		at++;
	histogram->counts[at]++;
	histogram->sum_ms += took_ms;
}

static void
write_quoted(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', file);
		if (*text == '\n')
			fputs("\\n", file);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

/* {pool="train",le="5"}; le NULL = without. */
static void
write_labels(const struct bu_metric_out *out, const char *const *values, const char *le)
{
	const char *name = out->metric->labels;
	const char *separator = "{";

	for (size_t i = 0; *name; i++) {
		size_t size = strcspn(name, ",");

		fprintf(out->file, "%s%.*s=", separator, (int)size, name);
		write_quoted(out->file, values[i]);
		separator = ",";
		name += size + (name[size] == ',');
	}
	if (le)
		fprintf(out->file, "%sle=\"%s\"", separator, le);
	if (le || *separator == ',')
		fputc('}', out->file);
}

static void
write_series(const struct bu_metric_out *out, const char *suffix,
	     const char *const *values, const char *le, double value)
{
	fprintf(out->file, "%s%s", out->metric->name, suffix);
	write_labels(out, values, le);
	fprintf(out->file, " %.15g\n", value);
}

void
bu_metric_put(struct bu_metric_out *out, double value, const char *const *values)
{
	write_series(out, "", values, NULL, value);
}

void
bu_metric_put_histogram(struct bu_metric_out *out, const struct bu_histogram *histogram,
			const char *const *values)
{
	int64_t count = 0;

	for (int i = 0; i < BU_HISTOGRAM_BUCKETS; i++) {
		bu_autofree char *le = bu_xasprintf("%d", bu_histogram_bounds_s[i]);

		count += histogram->counts[i];
		write_series(out, "_bucket", values, le, (double)count);
	}
	count += histogram->counts[BU_HISTOGRAM_BUCKETS];
	write_series(out, "_bucket", values, "+Inf", (double)count);
	write_series(out, "_sum", values, NULL, (double)histogram->sum_ms / 1000);
	write_series(out, "_count", values, NULL, (double)count);
}

static void
write_metric(const struct bu_metric *metric, const void *arg, FILE *file)
{
	bu_autofree char *series = NULL;
	size_t size = 0;
	struct bu_metric_out out = {open_memstream(&series, &size), metric};

	bu_assert(out.file);
	metric->get(&out, arg);
	fclose(out.file);
	if (!size)
		return;
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n%s", metric->name, metric->help,
		metric->name, type_names[metric->type], series);
}

void
bu_metrics_write(const struct bu_metric *table, const void *arg, FILE *file)
{
	for (; table->name; table++)
		write_metric(table, arg, file);
}
