/* SPDX-License-Identifier: Apache-2.0 */
/* A site of which the profile wants incasts, and what its agents are told of one. */
#ifndef BU_TESTS_SUPPORT_INCAST_H
#define BU_TESTS_SUPPORT_INCAST_H

#include "model/work.h"
#include "tests/support/gate.h"

/* All are in service, idle, with agents of this release. */
static inline void
begin_site(struct rig *rig, int nodes, const char *validation)
{
	bu_autofree char *lines = bu_xasprintf("fabric = fabric\n%s", validation);

	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-incast", "fabric = fabric\n", lines);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
	for (int i = 1; i <= nodes; i++)
		rig_join(rig, i);
}

static inline void
hear(struct rig *rig, int nodes)
{
	for (int i = 1; i <= nodes; i++) {
		rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
	}
}

enum { NODES_MAX = 5 };

struct incast {
	struct bu_work_probe work[NODES_MAX + 1];
	char id[BU_NAME_SIZE]; /* "" = there is none */
	int receiver, senders;
};

/* Asks for all work until there is an incast, for so many seconds at most. */
static inline struct incast
find_incast(struct rig *rig, int nodes, int seconds)
{
	struct incast found = {.receiver = 0};

	for (int second = 0; second < seconds && !found.receiver; second++) {
		hear(rig, nodes);
		rig_pass(rig, 1000);
		for (int i = 1; i <= nodes; i++) {
			bu_autojson json_t *item =
				bu_gate_work(rig->gate, rig_node(rig, i));
			struct bu_err err;

			if (!item)
				continue;
			ck_assert_msg(bu_work_probe_from_json(item, &found.work[i],
							      &err) == 0,
				      "%s", err.text);
			snprintf(found.id, sizeof(found.id), "%s",
				 bu_json_str(item, "id", ""));
			found.work[i].work.id = found.id;
			if (found.work[i].role == BU_PROBE_LISTEN)
				found.receiver = i;
			else
				found.senders++;
		}
	}
	return found;
}

#endif
