/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/judge/rates.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

START_TEST(what_is_shipped_passes_the_linter)
{
	struct bu_rates rates;
	struct bu_err err = {0};
	const struct bu_rate *rate;

	ck_assert_msg(bu_rates_load(BU_SRCDIR "/data/rates.json", &rates, &err) == 0,
		      "%s", err.text);
	rate = bu_rates_find(&rates, "link", "ndr-ib", 4096);
	ck_assert_double_eq_tol(rate->limit, 397.5, 0.05);
	ck_assert_double_eq_tol(rate->reject, 377.6, 0.05);
	rate = bu_rates_find(&rates, "link", "400g-roce", 4096);
	ck_assert_double_eq_tol(rate->reject, 372.5, 0.05);
	ck_assert_double_eq_tol(rate->warn, 384.3, 0.05);
	/* 372.5 still rejects a path MTU of 1024. */
	ck_assert_double_gt(rate->reject,
			    bu_rates_find(&rates, "link", "400g-roce", 1024)->limit);
	ck_assert_ptr_nonnull(bu_rates_find(&rates, "hbm", "H100 SXM", 0));
	ck_assert_ptr_null(bu_rates_find(&rates, "hbm", "GH100 SXM", 0));
	ck_assert_ptr_null(bu_rates_find(&rates, "hbm", "H100", 0));
	ck_assert_ptr_null(bu_rates_find(&rates, "link", "ndr-ib", 1024));
	bu_rates_fini(&rates);
}
END_TEST

#define ROW(rest)                                                                      \
	"{\"format\":1,\"rates\":[{\"source\":\"x\",\"date\":\"2026-01-02\","          \
	"\"mark\":\"T\"," rest "}]}"
#define HBM(rest)                                                                      \
	ROW("\"what\":\"hbm\",\"unit\":\"GB/s\",\"sku\":\"H200 SXM\",\"method\":\"copy\"," rest)

START_TEST(refuses_gates_that_cannot_fail)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		/* DCGM's row of the H200: 2.333 GB/s by a slip of the unit. */
		{HBM("\"limit\":4800,\"healthy\":3110,\"reject\":2.333"), "vacuous"},
		/* 150 GB/s where 376 are healthy. */
		{ROW("\"what\":\"p2p\",\"unit\":\"GB/s\",\"sku\":\"H100 SXM\","
		     "\"limit\":450,\"healthy\":376,\"reject\":150"),
		 "vacuous"},
		{HBM("\"limit\":4800,\"healthy\":3110,\"reject\":0"), "'reject'"},
		{HBM("\"limit\":4800,\"healthy\":3110"), "'reject'"},
		{HBM("\"limit\":4800,\"healthy\":3110,\"reject\":3200"),
		 "rejects healthy"},
		{HBM("\"limit\":3000,\"healthy\":3110,\"reject\":2900"),
		 "more than the limit"},
		{HBM("\"limit\":4800000,\"reject\":4700000"), "plausible"},
		{HBM("\"limit\":4800,\"reject\":4700,\"mtu\":4096"), "'mtu'"},
		{HBM("\"limit\":4800,\"reject\":4700,\"wran\":4096"),
		 "unknown field 'wran'"},
		{HBM("\"limit\":4800,\"reject\":4700,\"warn\":4600"), "'warn'"},
		{ROW("\"what\":\"hbm\",\"unit\":\"MB/"
		     "s\",\"sku\":\"H200\",\"limit\":4800,"
		     "\"reject\":4700"),
		 "'unit'"},
		{ROW("\"what\":\"link\",\"unit\":\"Gbit/"
		     "s\",\"sku\":\"ndr-ib\",\"mtu\":4096,"
		     "\"line\":400,\"overhead_bytes\":26,\"limit\":400,\"reject\":380"),
		 "is 397.5"},
		{"{\"format\":1,\"rates\":[{\"what\":\"hbm\",\"sku\":\"x\",\"unit\":"
		 "\"GB/s\","
		 "\"source\":\"x\",\"mark\":\"U\",\"limit\":1,\"reject\":1,"
		 "\"date\":\"2026-01-02\"}]}",
		 "'mark'"},
		{"{\"format\":1,\"rates\":[{\"what\":\"hbm\",\"sku\":\"x\",\"unit\":"
		 "\"GB/s\","
		 "\"source\":\"x\",\"mark\":\"M\",\"limit\":1,\"reject\":1,"
		 "\"date\":\"May\"}]}",
		 "'date'"},
		{"{\"format\":1,\"rates\":[{\"what\":\"hbm\",\"sku\":\"x\",\"unit\":"
		 "\"GB/s\","
		 "\"mark\":\"M\",\"limit\":1,\"reject\":1}]}",
		 "'source'"},
		/* DCGM's figure, where copies are measured. */
		{ROW("\"what\":\"hbm\",\"unit\":\"GB/s\",\"sku\":\"H200\","
		     "\"method\":\"dcgm\",\"limit\":4800,\"reject\":4700"),
		 "'method'"},
		{"{}", "rates: expected {"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *value = json_loads(rows[i].text, 0, NULL);
		struct bu_rates rates;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_rates_from_json(value, &rates, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].error) != NULL, "%s: %s",
			      rows[i].text, err.text);
	}
}
END_TEST

START_TEST(a_waiver_says_why)
{
	bu_autojson json_t *value =
		json_loads(HBM("\"limit\":4800,\"healthy\":3110,\"reject\":2000,"
			       "\"waiver\":\"a pool "
			       "of old boards\""),
			   0, NULL);
	struct bu_rates rates;

	ck_assert_int_eq(bu_rates_from_json(value, &rates, NULL), 0);
	ck_assert_int_eq(rates.count, 1);
	bu_rates_fini(&rates);
}
END_TEST

BU_UNIT("rates", what_is_shipped_passes_the_linter, refuses_gates_that_cannot_fail,
	a_waiver_says_why)
