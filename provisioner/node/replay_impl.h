/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of events on the log's state: a function for each kind of event, called by
 * replay.c alone. */
#ifndef BU_NODE_REPLAY_IMPL_H
#define BU_NODE_REPLAY_IMPL_H

#include "model/event_body.h"

struct bu_fleet;
struct bu_node;

/* node: NULL = an event of the site. err: the event makes no sense; nothing was
 * changed. */
#define BU_REPLAY_ARGS                                                                 \
	struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,    \
		const union bu_body *body, struct bu_err *err

bu_must int bu_replay_intent(BU_REPLAY_ARGS);
bu_must int bu_replay_outcome(BU_REPLAY_ARGS);
bu_must int bu_replay_admitted(BU_REPLAY_ARGS);
bu_must int bu_replay_renewed(BU_REPLAY_ARGS);
bu_must int bu_replay_agent(BU_REPLAY_ARGS);
bu_must int bu_replay_revoked(BU_REPLAY_ARGS);
bu_must int bu_replay_booted(BU_REPLAY_ARGS);
bu_must int bu_replay_installed(BU_REPLAY_ARGS);
bu_must int bu_replay_fellback(BU_REPLAY_ARGS);
bu_must int bu_replay_power(BU_REPLAY_ARGS);
bu_must int bu_replay_adopted(BU_REPLAY_ARGS);
bu_must int bu_replay_learned(BU_REPLAY_ARGS);
bu_must int bu_replay_scale(BU_REPLAY_ARGS);
/* adopted.c. An epoch begins that is not the first: ends what was allowed before. */
void bu_adopted_epoch(struct bu_fleet *fleet, const struct bu_event *event);
bu_must int bu_replay_seeded(BU_REPLAY_ARGS);
bu_must int bu_replay_delivered(BU_REPLAY_ARGS);
bu_must int bu_replay_token(BU_REPLAY_ARGS);
bu_must int bu_replay_token_revoked(BU_REPLAY_ARGS);

/* journald.c: a row that has just come into the log. */
void bu_journald_row(const struct bu_event *event);

#endif
