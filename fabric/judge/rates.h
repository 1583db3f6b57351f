/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected rates as data (data/rates.json), and the linter that refuses a limit which
 * every part passes or no healthy part does.
 *
 * {"format":1,"rates":[{"what":"link"|"p2p"|"hbm"|"pcie"|"c2c","sku","mtu"?,
 *  "unit":"Gbit/s"|"GB/s","line"?,"overhead_bytes"?,"limit","healthy"?,"reject",
 *  "warn"?,"method"?,
 *  "mark":"S"|"T"|"M"|"D","source","date":"YYYY-MM-DD","waiver"?}]}
 */
#ifndef BU_FABRIC_JUDGE_RATES_H
#define BU_FABRIC_JUDGE_RATES_H

#include <jansson.h>

#include "base/err.h"

struct bu_rate {
	char what[16];
	char sku[48];
	int mtu; /* links: bytes; else 0 */
	char unit[8];
	char method[16];                     /* hbm: how the rate was measured */
	double limit, healthy, reject, warn; /* in unit; 0 = not known */
	char source[240];
};

struct bu_rates {
	struct bu_rate *list;
	int count;
};

/* Reads and lints; BU_ERR_INVAL names the row and what is wrong with it. */
bu_must int bu_rates_from_json(const json_t *value, struct bu_rates *ret,
			       struct bu_err *err);
bu_must int bu_rates_load(const char *path, struct bu_rates *ret, struct bu_err *err);
void bu_rates_fini(struct bu_rates *rates);
/* Exact names only: "H200" does not find "GH200". mtu: 0 but for links. NULL = no such
 * row. */
const struct bu_rate *bu_rates_find(const struct bu_rates *rates, const char *what,
				    const char *sku, int mtu);

#endif
