/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the replay share: a function for each kind of event. */
#ifndef BU_NODE_REPLAY_IMPL_H
#define BU_NODE_REPLAY_IMPL_H

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/fleet.h"

/* A text of the body as it fits; "" where there is none. */
static inline void
bu_replay_copy(char *ret, size_t size, const json_t *body, const char *key)
{
	bu_text_copy(ret, size, bu_json_str(body, key, ""));
}

bu_must int bu_replay_intent(struct bu_fleet *fleet, struct bu_node *node,
			     const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_outcome(struct bu_fleet *fleet, struct bu_node *node,
			      const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_admitted(struct bu_fleet *fleet, struct bu_node *node,
			       const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_renewed(struct bu_fleet *fleet, struct bu_node *node,
			      const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_agent(struct bu_fleet *fleet, struct bu_node *node,
			    const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_revoked(struct bu_fleet *fleet, struct bu_node *node,
			      const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_booted(struct bu_fleet *fleet, struct bu_node *node,
			     const struct bu_event *event, struct bu_err *err);
bu_must int bu_replay_installed(struct bu_fleet *fleet, struct bu_node *node,
				const struct bu_event *event, struct bu_err *err);

#endif
