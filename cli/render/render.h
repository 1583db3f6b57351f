/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what bringupd says: pure, from what is read of its answer to a stream. */
#ifndef BU_CLI_RENDER_RENDER_H
#define BU_CLI_RENDER_RENDER_H

#include <stdio.h>

#include "model/shown_status.h"

/* The time in a state is counted from time_ms. */
void bu_render_nodes(const struct bu_shown_nodes *nodes, FILE *out);
/* Machines that are no node (/v1/machines), as rows of an inventory. */
void bu_render_unknown(const json_t *unknown, FILE *out);
void bu_render_pairs(const struct bu_shown_pair *pairs, size_t count, FILE *out);
/* One column for each state that took time in one of the nodes, and the sum. */
void bu_render_stages(const struct bu_shown_nodes *nodes, FILE *out);
/* The whole status document. */
void bu_render_status(const struct bu_shown_status *status, FILE *out);
/* "2026-11-21T15:04:05Z  node001      state    enrolled -> inspecting (start)" */
void bu_render_event(const json_t *event, FILE *out);
/* A node with its hardware, certificates and order, as it is shown alone. */
void bu_render_node(const struct bu_shown_node *node, FILE *out);
/* "done", but "ended" when not all of its nodes are as they were ordered. Borrowed. */
const char *bu_rollout_state(const struct bu_shown_rollout *rollout);
/* "ended: 3 done, 2 failed", "paused: 1 done, 1 not yet begun: by local"; owned. */
char *bu_rollout_words(const struct bu_shown_rollout *rollout);
void bu_render_rollouts(const struct bu_shown_rollouts *rollouts, FILE *out);
void bu_render_rollout(const struct bu_shown_rollout *rollout, FILE *out);
void bu_render_certificate(const struct bu_shown_certificate *certificate, FILE *out);

/* What speaks for and against a node, as GET /v1/nodes/NAME/fabric has it. */
void bu_render_evidence(const json_t *shown, FILE *out);

/* What a BMC says: GET /v1/nodes/NAME/bmc/events, sensors, firmware. */
void bu_render_bmc_events(const json_t *report, FILE *out);
void bu_render_bmc_sensors(const json_t *report, FILE *out);
void bu_render_bmc_firmware(const json_t *report, FILE *out);

#endif
