/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BMC begins and ends here. Called by the commands and the service; everything else
 * of it is in answer.c.
 */
#include "lab/bmc/bmc.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/text.h"
#include "lab/bmc/engine.h"

struct bu_bmc *
bu_bmc_create(const struct bu_bmc_opts *opts)
{
	struct bu_bmc *bmc = bu_xcalloc(1, sizeof(*bmc));
	uint8_t hash[BU_SHA256_SIZE];

	bmc->tree = opts->tree;
	bmc->machine = opts->machine;
	bmc->identity = *opts->identity;
	bmc->fetch = opts->fetch;
	bmc->own = json_object();
	bmc->now_ms = opts->now_ms;
	bmc->wall_ms = bmc->reset_ms = opts->wall_ms;
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

int
bu_bmc_fault(struct bu_bmc *bmc, const char *text, struct bu_err *err)
{
	enum bu_bmc_fault fault;
	int64_t number;

	if (bu_bmc_fault_read(text, &fault, &number, err) != 0)
		return -1;
	bmc->faults[fault] = number;
	if (fault == BU_BMC_FAULT_MUST_CHANGE)
		bu_bmc_demand_change(bmc);
	if (fault == BU_BMC_FAULT_LOG_ROWS)
		bu_bmc_log_rows(bmc, number);
	return 0;
}
