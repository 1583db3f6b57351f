/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faults of a BMC: each makes it as bad as some real one was. Set by the commands,
 * asked by whatever behaves otherwise under one. Invariant: nothing else knows why the
 * BMC answers so.
 */
#include <string.h>

#include "base/text.h"
#include "lab/bmc/engine.h"

static const struct {
	const char *name, *arg;
} faults[] = {
#define X(id, name, arg, help) {name, arg},
	BU_BMC_FAULTS(X)
#undef X
};

int64_t
bu_bmc_fault_get(const struct bu_bmc *bmc, enum bu_bmc_fault fault)
{
	return bmc->faults[fault];
}

static int
wrong_number(const char *text, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "fault '%s': give a whole number after '='", text);
}

int
bu_bmc_fault_read(const char *text, enum bu_bmc_fault *ret, int64_t *ret_number,
		  struct bu_err *err)
{
	size_t length = strcspn(text, "=");
	const char *arg = text[length] ? text + length + 1 : NULL;
	size_t row = 0;
	int64_t number = INT64_MAX; /* for ever */

	while (row < BU_LEN(faults) && (strlen(faults[row].name) != length ||
					strncmp(faults[row].name, text, length) != 0))
		row++;
	if (row == BU_LEN(faults))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "there is no fault '%s'; see bringup-lab bmc --help",
				  text);
	if (arg && !*faults[row].arg)
		return bu_err_set(err, BU_ERR_USAGE, 0, "fault '%s' takes no number",
				  faults[row].name);
	if (arg ? bu_text_int(arg, 0, 1000000, &number) != 0
		: *faults[row].arg && *faults[row].arg != '[')
		return wrong_number(text, err);
	*ret = (enum bu_bmc_fault)row;
	*ret_number = number;
	return 0;
}
