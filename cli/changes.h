/* SPDX-License-Identifier: Apache-2.0 */
/* A status document kept up to date by the answers to GET /v1/status?since=. */
#ifndef BU_CLI_CHANGES_H
#define BU_CLI_CHANGES_H

#include <jansson.h>

/* Takes an answer into *status (NULL = none yet). A whole answer replaces it; one of
 * changes replaces what it has, node by node, and drops the nodes that are gone. */
void bu_changes_take(json_t **status, json_t *answer);

#endif
