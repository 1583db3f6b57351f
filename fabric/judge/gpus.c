/* SPDX-License-Identifier: Apache-2.0 */
/* From a row of data to an expectation. Called by the gate. */
#include "fabric/judge/gpus.h"

#include <string.h>

#include "base/json.h"

/* Rates by their own name, and the member of the expectation that they become. */
static const struct {
	const char *what, *member;
} kinds[] = {{"pcie", "pcie_gbs"}, {"p2p", "p2p_gbs"}, {"hbm", "hbm_gbs"}};

static const char *const copied[] = {"names",  "memory_bytes", "nvlinks",
				     "fabric", "pcie_gen",     "pcie_width"};

static int
check_row(const json_t *row, const struct bu_rates *rates, struct bu_err *err)
{
	const char *model = bu_json_str(row, "model", "");

	if (!*model || !json_array_size(json_object_get(row, "names")) ||
	    bu_json_int(row, "memory_bytes", 0) <= 0 ||
	    bu_json_int(row, "pcie_gen", 0) <= 0 ||
	    bu_json_int(row, "pcie_width", 0) <= 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU '%s': model, names, memory_bytes, pcie_gen and "
				  "pcie_width are needed",
				  model);
	if (strlen(bu_json_str(row, "source", "")) < 10 ||
	    strlen(bu_json_str(row, "date", "")) != 10)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU '%s': a source and its date are needed", model);
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		const char *sku = bu_json_str(row, kinds[i].what, NULL);

		if (sku && !bu_rates_find(rates, kinds[i].what, sku, 0))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "GPU '%s': no rate %s '%s'", model,
					  kinds[i].what, sku);
	}
	return 0;
}

int
bu_gpus_check(const json_t *gpus, const struct bu_rates *rates, struct bu_err *err)
{
	const json_t *rows = json_object_get(gpus, "gpus");
	size_t i;
	json_t *row;

	if (bu_json_int(gpus, "format", 0) != 1 || !json_array_size(rows))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU models: 'format' must be 1 and 'gpus' a list");
	json_array_foreach (rows, i, row)
		if (check_row(row, rates, err) != 0)
			return -1;
	return 0;
}

static const json_t *
find(const json_t *gpus, const char *model)
{
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(gpus, "gpus"), i, row)
		if (strcmp(bu_json_str(row, "model", ""), model) == 0)
			return row;
	return NULL;
}

json_t *
bu_gpus_expect(const json_t *gpus, const struct bu_rates *rates, const char *model,
	       int count, struct bu_err *err)
{
	const json_t *row = model ? find(gpus, model) : NULL;
	json_t *expect;

	if (model && !row) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no GPU model '%s' in the data",
			   model);
		return NULL;
	}
	expect = json_pack("{s:i}", "count", count);
	for (size_t i = 0; i < BU_LEN(copied); i++)
		if (json_object_get(row, copied[i]))
			json_object_set(expect, copied[i],
					json_object_get(row, copied[i]));
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		const char *sku = bu_json_str(row, kinds[i].what, NULL);
		const struct bu_rate *rate =
			sku ? bu_rates_find(rates, kinds[i].what, sku, 0) : NULL;

		if (rate)
			json_object_set_new(expect, kinds[i].member,
					    json_real(rate->reject));
	}
	return expect;
}
