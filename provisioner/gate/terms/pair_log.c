/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the measurements of one pair. Called by all of the gate. Invariant: results of
 * boots that have ended do not count.
 */
#include <string.h>

#include "provisioner/gate/terms/terms.h"

static int
is_doubtful(const struct bu_measured *m)
{
	return m->dir[0].doubt || m->dir[1].doubt;
}

int
bu_gate_failures(const struct bu_pair_log *log)
{
	size_t sound = log->count;

	while (sound > 0 && is_doubtful(&log->list[sound - 1]))
		sound--;
	return log->errors + (int)(log->count - sound);
}

const struct bu_pair_log *
bu_gate_log(const struct bu_gate *gate, const char *rail, const struct bu_node *a,
	    const struct bu_node *b, int *ret_place, int *ret_dir)
{
	const struct bu_measurements *measurements = &gate->fleet->measurements;
	int place = bu_measurements_find(gate->fleet, a->name, b->name, rail);
	const struct bu_pair_log *log = place < 0 ? NULL : &measurements->logs[place];

	if (!log)
		return NULL;
	*ret_place = place;
	*ret_dir = strcmp(log->name[0], a->name) != 0;
	return strcmp(log->boot[*ret_dir], a->boot_id) == 0 &&
			       strcmp(log->boot[!*ret_dir], b->boot_id) == 0
		       ? log
		       : NULL;
}

int
bu_gate_is_of(const struct bu_pair_log *log, const char *rail,
	      const struct bu_node *node, int *ret_side)
{
	int side = strcmp(log->name[1], node->name) == 0;

	*ret_side = side;
	return strcmp(log->name[side], node->name) == 0 &&
	       strcmp(log->rail, rail) == 0 &&
	       strcmp(log->boot[side], node->boot_id) == 0;
}

size_t
bu_gate_next_sound(const struct bu_pair_log *log, size_t at, int dir)
{
	while (at < log->count && log->list[at].dir[dir].doubt)
		at++;
	return at;
}

void
bu_gate_give(const struct bu_measured *measured, int dir, struct bu_flow *flow)
{
	const struct bu_measured_dir *m = &measured->dir[dir];

	flow->mtu = (uint16_t)measured->mtu;
	flow->rate_gbps = m->rate_gbps;
	flow->lat_us = m->lat_us;
	flow->lat99_us = m->lat99_us;
	flow->lost = m->lost;
	flow->doubt = 0;
}
