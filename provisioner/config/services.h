/* SPDX-License-Identifier: Apache-2.0 */
/* Names and time of a node: hosts, resolv.conf, time servers. */
#ifndef BU_CONFIG_SERVICES_H
#define BU_CONFIG_SERVICES_H

#include "provisioner/config/config.h"

void bu_config_services(const struct bu_config_input *input, struct bu_config *config);

#endif
