/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what bringupd says: pure, from its JSON to a stream. */
#ifndef BU_CLI_RENDER_RENDER_H
#define BU_CLI_RENDER_RENDER_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* now_ms: Unix time of the appliance, from which the time in a state is counted. */
void bu_render_nodes(const json_t *nodes, int64_t now_ms, FILE *out);
/* Machines that are no node (/v1/machines), as rows of an inventory. */
void bu_render_unknown(const json_t *unknown, FILE *out);
void bu_render_pairs(const json_t *pairs, FILE *out);
/* One column for each state that took time in one of the nodes, and the sum. */
void bu_render_stages(const json_t *nodes, FILE *out);
/* The whole status document. */
void bu_render_status(const json_t *status, FILE *out);
/* "2026-11-21T15:04:05Z  node001      state    enrolled -> inspecting (start)" */
void bu_render_event(const json_t *event, FILE *out);
/* A node with its hardware, certificates and order, as GET /v1/nodes/NAME has it. */
void bu_render_node(const json_t *node, FILE *out);
/* "done", but "ended" when not all of its nodes are as they were ordered. Borrowed. */
const char *bu_rollout_state(const json_t *rollout);
/* "ended: 3 done, 2 failed", "paused: 1 done, 1 not yet begun: by local"; owned. */
char *bu_rollout_words(const json_t *rollout);
/* [rollout] of GET /v1/rollouts, and one whole as GET /v1/rollouts/ID has it. */
void bu_render_rollouts(const json_t *rollouts, FILE *out);
void bu_render_rollout(const json_t *rollout, FILE *out);
/* {"kind","text"}: text is the signed JSON. */
void bu_render_certificate(const json_t *certificate, FILE *out);

/* What speaks for and against a node, as GET /v1/nodes/NAME/fabric has it. */
void bu_render_evidence(const json_t *shown, FILE *out);

#endif
