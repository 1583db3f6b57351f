/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric of which agents read the switches, over a log that the test writes. */
#ifndef BU_TESTS_SUPPORT_COUNTED_H
#define BU_TESTS_SUPPORT_COUNTED_H

#include "provisioner/gate/campaign/switches_impl.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves, an agent reads two spines. */
enum { NODES = 6, EACH = 2, LEAVES = 3, SPINES = 2 };
enum { GATHER_MS = 30000, LATE_MS = 900000 };

static inline void
replace(char **text, const char *by)
{
	free(*text);
	*text = by ? bu_xstrdup(by) : NULL;
}

static inline void
counted_begin(struct between *b)
{
	struct bu_desired_network *network;

	between_begin(b, NODES, 1, EACH, NULL);
	network = between_network(b, "fabric");
	replace((char **)(uintptr_t)&network->switch_counters, "infiniband");
	replace((char **)(uintptr_t)&network->spines, "s1, s2");
	b->rig.clock.fake_mono_ms += 2 * LATE_MS;
	for (int i = 1; i <= NODES; i++) {
		rig_node(&b->rig, i)->state = BU_STATE_READY;
		rig_node(&b->rig, i)->live.last_seen_ms = b->rig.clock.fake_wall_ms;
	}
}

static inline void
certify_all(struct between *b)
{
	for (int i = 0; i < NODES; i++)
		b->gate->roles[i].certified = 1;
}

static inline struct bu_switches *
look(struct between *b, int64_t ms)
{
	b->rig.clock.fake_mono_ms += ms;
	for (int i = 1; i <= NODES; i++)
		rig_node(&b->rig, i)->live.last_seen_ms = b->rig.clock.fake_wall_ms;
	bu_switches_look(b->gate);
	return b->gate->switches;
}

/* The agent that is asked says what each port counted: that of leaf02 to s2 so much. */
static inline void
answer(struct between *b, int bad)
{
	struct bu_switches *one = b->gate->switches;
	json_t *ports = json_array();
	bu_autojson json_t *result = json_pack("{s:o}", "ports", ports);

	ck_assert_ptr_nonnull(one->agent.task);
	for (int leaf = 1; leaf <= LEAVES; leaf++) {
		for (int spine = 1; spine <= SPINES; spine++) {
			bu_autofree char *l = bu_xasprintf("leaf0%d", leaf);
			bu_autofree char *s = bu_xasprintf("s%d", spine);

			json_array_append_new(
				ports,
				json_pack("{s:s,s:s,s:s,s:i,s:i}", "switch", l, "peer",
					  s, "port", "1", "received", 7, "sent",
					  leaf == 2 && spine == 2 ? bad : 7));
		}
	}
	ck_assert_int_eq(
		bu_task_result(b->gate,
			       bu_fleet_node(b->rig.fleet, one->agent.task->name[0]),
			       one->agent.task->id, result, NULL),
		1);
}

/* All of them are certified, and have waited for each other. */
static inline struct bu_switches *
gathered(struct between *b)
{
	counted_begin(b);
	certify_all(b);
	look(b, 0);
	return look(b, GATHER_MS);
}

#endif
