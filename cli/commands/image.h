/* SPDX-License-Identifier: Apache-2.0 */
/* bringup image ... */
#ifndef BU_CLI_COMMANDS_IMAGE_H
#define BU_CLI_COMMANDS_IMAGE_H

/* argv[0] is "image"; gives the exit code. */
int bu_cmd_image(int argc, char **argv);

#endif
