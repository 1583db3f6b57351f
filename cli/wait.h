/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the end of a rollout. */
#ifndef BU_CLI_WAIT_H
#define BU_CLI_WAIT_H

#include "base/err.h"
#include "cli/client.h"
#include "cli/render/planned.h"

/* 0 when every node is as it was ordered and can be used. BU_ERR_VERIFY when some are
 * not or the rollout has stopped itself, BU_ERR_CANCELLED when a person aborted it,
 * BU_ERR_TIMEOUT when that takes longer. */
bu_must int bu_wait_for(struct bu_client *client, const struct bu_planned *planned,
			const char *rollout, int timeout_s, struct bu_err *err);

#endif
