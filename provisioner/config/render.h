/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that make an image a certain node: names, network, tuning, data
 * partitions. Pure: the same input gives the same bytes and the same digest.
 */
#ifndef BU_CONFIG_RENDER_H
#define BU_CONFIG_RENDER_H

#include "provisioner/config/config.h"

/*
 * What every node gets: its name, the others' names, DNS and time servers, the network
 * for what the image brings it up with, /etc/bringup/rxe ("rxe0 MAC" or "rxe0 bond0" a
 * line) where a network has rdma = rxe, and the tuning that its profile asks for.
 * BU_ERR_INVAL when the machine's NICs do not fit the profile.
 */
struct bu_config *bu_config_render(const struct bu_config_input *input,
				   struct bu_err *err);
/* Paths with '*' for any characters but '/': a file that matches one of them and is not
 * in the configuration is an old one of ours, and goes. Ends with NULL. */
extern const char *const bu_config_patterns[];

#endif
