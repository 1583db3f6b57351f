/* SPDX-License-Identifier: Apache-2.0 */
/* Where a profile tree says what it says about a node. */
#ifndef BU_CLI_KEY_ORIGIN_H
#define BU_CLI_KEY_ORIGIN_H

#include <jansson.h>
#include <stdio.h>

#include "cli/options.h"

/* node show with --origin DIR: an exit code or -1, as commands. */
bu_must int bu_node_origin(const struct bu_options *options, struct bu_err *err);
/* A row for each value that is set; node as bu_desired_node_to_json() makes it. */
void bu_render_origin(const json_t *node, FILE *out);

#endif
