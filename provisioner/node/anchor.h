/* SPDX-License-Identifier: Apache-2.0 */
/* The anchor of the log, as of now (model/anchor.h). */
#ifndef BU_NODE_ANCHOR_H
#define BU_NODE_ANCHOR_H

#include <jansson.h>

#include "provisioner/node/fleet.h"
#include "provisioner/trust/trust.h"

/* {"text","sig","revoked"}; new reference. BU_ERR_STATE: the log is empty. */
json_t *bu_anchor_make(const struct bu_fleet *fleet, const struct bu_trust *trust,
		       struct bu_err *err);

#endif
