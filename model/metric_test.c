/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of metrics, and histograms of durations. */
#include "model/metric.h"

#include "base/mem.h"
#include "tests/support/unit.h"

static void
get_texts(struct bu_metric_out *out, const void *arg)
{
	BU_METRIC(out, 1.5, arg, "b");
	BU_METRIC(out, 123456789012, "plain", "");
}

static void
get_nothing(struct bu_metric_out *out, const void *arg)
{
	(void)out;
	(void)arg;
}

static void
get_alone(struct bu_metric_out *out, const void *arg)
{
	(void)arg;
	BU_METRIC(out, 0.25, NULL);
}

static void
get_histogram(struct bu_metric_out *out, const void *arg)
{
	static const int64_t took_ms[] = {-5, 1000, 1001, 700000, 90000000};
	struct bu_histogram histogram = {0};

	(void)arg;
	for (size_t i = 0; i < BU_LEN(took_ms); i++)
		bu_histogram_add(&histogram, took_ms[i]);
	bu_metric_put_histogram(out, &histogram, (const char *const[]){"x"});
}

static const struct bu_metric table[] = {
	{"bringup_texts", BU_METRIC_GAUGE, "first,second", "Texts.", get_texts},
	{"bringup_nothing", BU_METRIC_GAUGE, "", "Nothing.", get_nothing},
	{"bringup_alone_total", BU_METRIC_COUNTER, "", "One.", get_alone},
	{"bringup_took_seconds", BU_METRIC_HISTOGRAM, "of", "Times.", get_histogram},
	{0},
};

START_TEST(series_are_as_the_format_has_them)
{
	static const char want[] =
		"# HELP bringup_texts Texts.\n# TYPE bringup_texts gauge\n"
		"bringup_texts{first=\"a\\\"} 1\\n\\\\\",second=\"b\"} 1.5\n"
		"bringup_texts{first=\"plain\",second=\"\"} 123456789012\n"
		"# HELP bringup_alone_total One.\n# TYPE bringup_alone_total counter\n"
		"bringup_alone_total 0.25\n"
		"# HELP bringup_took_seconds Times.\n"
		"# TYPE bringup_took_seconds histogram\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"1\"} 2\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"5\"} 3\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"15\"} 3\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"60\"} 3\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"180\"} 3\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"600\"} 3\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"1800\"} 4\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"3600\"} 4\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"14400\"} 4\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"86400\"} 4\n"
		"bringup_took_seconds_bucket{of=\"x\",le=\"+Inf\"} 5\n"
		"bringup_took_seconds_sum{of=\"x\"} 90702.001\n"
		"bringup_took_seconds_count{of=\"x\"} 5\n";
	bu_autofree char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	bu_metrics_write(table, "a\"} 1\n\\", file);
	fclose(file);
	ck_assert_str_eq(text, want);
}
END_TEST

BU_UNIT("metric", series_are_as_the_format_has_them)
