/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BMC begins and ends here, and its faults are set: each makes it as bad as some real
 * one was, and nothing else knows why it answers so.
 */
#include "lab/bmc/bmc.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/text.h"
#include "lab/bmc/engine.h"

static const struct {
	const char *name, *arg;
} faults[] = {
#define X(id, name, arg, help) {name, arg},
	BU_BMC_FAULTS(X)
#undef X
};

struct bu_bmc *
bu_bmc_create(const struct bu_bmc_opts *opts)
{
	struct bu_bmc *bmc = bu_xcalloc(1, sizeof(*bmc));
	uint8_t hash[BU_SHA256_SIZE];

	bmc->tree = opts->tree;
	bmc->machine = opts->machine;
	bmc->identity = *opts->identity;
	bmc->own = json_object();
	bmc->now_ms = opts->now_ms;
	bmc->wall_ms = opts->wall_ms;
	bmc->watched_ms = INT64_MIN / 2;
	for (int i = 0; i < BU_BMC_FAULT_COUNT; i++)
		bmc->faults[i] = BU_BMC_NOT;
	bu_sha256(bmc->identity.uuid, strlen(bmc->identity.uuid), hash);
	snprintf(
		bmc->service, sizeof(bmc->service),
		"%02x%02x%02x%02x-%02x%02x-4%01x%02x-8%01x%02x-%02x%02x%02x%02x%02x%02x",
		hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 15,
		hash[7], hash[8] & 15, hash[9], hash[10], hash[11], hash[12], hash[13],
		hash[14], hash[15]);
	bu_bmc_first_account(
		bmc, opts->user ? opts->user : bu_bmc_tree_user(opts->tree),
		opts->password ? opts->password : bu_bmc_tree_password(opts->tree));
	bu_bmc_power_begin(bmc);
	return bmc;
}

void
bu_bmc_destroy(struct bu_bmc *bmc)
{
	if (!bmc)
		return;
	bmc->machine->ops->close(bmc->machine);
	json_decref(bmc->own);
	free(bmc);
}

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
bu_bmc_fault(struct bu_bmc *bmc, const char *text, struct bu_err *err)
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
	bmc->faults[row] = number;
	if (row == BU_BMC_FAULT_MUST_CHANGE)
		bu_bmc_demand_change(bmc);
	return 0;
}
