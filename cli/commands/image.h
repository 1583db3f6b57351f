/* SPDX-License-Identifier: Apache-2.0 */
/* bringup image ... */
#ifndef BU_CLI_COMMANDS_IMAGE_H
#define BU_CLI_COMMANDS_IMAGE_H

#include "profiles/desired.h"
#include "profiles/load/findings.h"

/* argv[0] is "image"; gives the exit code. */
int bu_cmd_image(int argc, char **argv);

/* Adds what [policy] registries says of the profile's images that this machine has. */
void bu_image_policy_check(const struct bu_desired *desired,
			   struct bu_findings *findings);

#endif
