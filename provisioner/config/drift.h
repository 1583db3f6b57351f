/* SPDX-License-Identifier: Apache-2.0 */
/* What the profile says of a node's network against what its agent read back. Pure. */
#ifndef BU_CONFIG_DRIFT_H
#define BU_CONFIG_DRIFT_H

#include "provisioner/config/config.h"

/* [{"network","link","what","want","have","text"}]: what is not as it should be; empty
 * when all is, and for an agent that tells no links. "network" is "" for what carries
 * several. New reference; NULL (BU_ERR_INVAL) when the machine's NICs do not fit the
 * profile. */
json_t *bu_config_drift(const struct bu_config_input *input,
			const struct bu_inventory *now, struct bu_err *err);

#endif
