/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile tunes on a node, its data partitions and its array among it. */
#ifndef BU_CONFIG_TUNING_H
#define BU_CONFIG_TUNING_H

#include "provisioner/config/config.h"

/* Adds the files, and sets the configuration's kargs. */
void bu_config_tuning(const struct bu_config_input *input, struct bu_config *config);
/* The same kargs alone; owned. */
char *bu_config_kargs(const struct bu_desired_node *node);
/* The node's data partitions for the installer, and how much of the disk the image may
 * have (0 = what they leave). How many there are. */
size_t bu_config_data(const struct bu_desired *desired,
		      const struct bu_desired_node *node,
		      struct bu_work_data ret[BU_WORK_DATA_MAX],
		      int64_t *ret_root_bytes);

#endif
