/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped rows are whole, and become expectations. */
#include "fabric/judge/gpus.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static json_t *
load(const char *name)
{
	bu_autofree char *path = bu_xasprintf(BU_SRCDIR "/data/%s", name);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	json_t *value = text ? bu_json_parse(text, strlen(text), name, NULL) : NULL;

	ck_assert_ptr_nonnull(value);
	return value;
}

static void
load_rates(struct bu_rates *rates)
{
	ck_assert_int_eq(bu_rates_load(BU_SRCDIR "/data/rates.json", rates, NULL), 0);
}

START_TEST(the_shipped_rows_are_whole)
{
	bu_autojson json_t *gpus = load("gpus.json");
	struct bu_rates rates;
	struct bu_err err = {0};

	load_rates(&rates);
	ck_assert_msg(bu_gpus_check(gpus, &rates, &err) == 0, "%s", err.text);
	bu_rates_fini(&rates);
}
END_TEST

START_TEST(an_expectation_has_the_rates_below_which_is_rejected)
{
	bu_autojson json_t *gpus = load("gpus.json");
	bu_autojson json_t *expect = NULL, *bare = NULL;
	struct bu_rates rates;
	struct bu_err err = {0};

	load_rates(&rates);
	expect = bu_gpus_expect(gpus, &rates, "h100-80gb", 8, NULL);
	bare = bu_gpus_expect(gpus, &rates, NULL, 4, NULL);
	ck_assert(bu_json_real(expect, "p2p_gbs", 0) == 338.4);
	ck_assert(bu_json_real(expect, "hbm_gbs", 0) == 2245.5);
	ck_assert_int_eq(bu_json_int(expect, "nvlinks", 0), 18);
	ck_assert_uint_eq(json_object_size(bare), 1);
	ck_assert_ptr_null(bu_gpus_expect(gpus, &rates, "h100", 8, &err));
	ck_assert_str_eq(err.text, "no GPU model 'h100' in the data");
	bu_rates_fini(&rates);
}
END_TEST

START_TEST(a_row_without_source_or_with_an_unknown_rate_is_refused)
{
	bu_autojson json_t *gpus = load("gpus.json");
	json_t *row = json_array_get(json_object_get(gpus, "gpus"), 0);
	struct bu_rates rates;
	struct bu_err err = {0};

	load_rates(&rates);
	json_object_set_new(row, "host", json_string("pcie gen9"));
	ck_assert_int_eq(bu_gpus_check(gpus, &rates, &err), -1);
	ck_assert_str_eq(err.text,
			 "GPU 'a10': no rate host 'pcie gen9'; unknown is allowed");
	json_object_del(row, "source");
	ck_assert_int_eq(bu_gpus_check(gpus, &rates, &err), -1);
	ck_assert_str_eq(err.text, "GPU 'a10': a source and its date are needed");
	bu_rates_fini(&rates);
}
END_TEST

BU_UNIT("gpus", the_shipped_rows_are_whole,
	an_expectation_has_the_rates_below_which_is_rejected,
	a_row_without_source_or_with_an_unknown_rate_is_refused)
