/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ejects the boot medium when it is not needed any more: an admitted ramdisk is in
 * memory as a whole. Called by reconcile.c at each tick. Invariants: the drive's
 * content is a fact of memory, unknown after a restart; a machine in servicing is left
 * alone; a drive that does not open is left as it is until the next boot.
 */
#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

enum { AGAIN_MS = 5 * 60 * 1000, TRIES_MAX = 3 };
enum { UNKNOWN, MAY_BE_IN, OUT };

struct bu_medium_ask {
	struct bu_medium_ask *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
};

static void
on_ejected(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct bu_medium_ask *ask = arg, **link = &ask->rec->medium_asks;
	struct bu_node *node = bu_fleet_node(ask->rec->fleet, ask->node);

	(void)seen;
	while (*link != ask)
		link = &(*link)->next;
	*link = ask->next;
	if (node) {
		node->live.medium_asked = 0;
		node->live.medium_tries += err != NULL;
		if (!err && !bu_reconcile_boots(node))
			node->live.medium = OUT;
		else
			node->live.medium_ms =
				bu_loop_now_ms(ask->rec->fleet->loop) + AGAIN_MS;
	}
	if (err)
		bu_warn("boot", "%s: its boot medium is not out of the drive: %s",
			ask->node, err->text);
	free(ask);
}

static void
eject(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_medium_ask *ask = bu_xcalloc(1, sizeof(*ask));
	struct bu_node_bmc bmc;

	ask->rec = rec;
	bu_text_copy(ask->node, sizeof(ask->node), node->name);
	ask->next = rec->medium_asks;
	rec->medium_asks = ask;
	node->live.medium_asked = 1;
	bu_medium_bmc(rec, node, &bmc);
	bu_power_eject(rec->power, &bmc.bmc, on_ejected, ask);
}

void
bu_medium_look(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);

	if (rec->stopped || !rec->alive || !rec->media_url || !want ||
	    !bu_medium_is(want))
		return;
	if (bu_reconcile_boots(node)) {
		node->live.medium = MAY_BE_IN;
		node->live.medium_tries = 0;
		return;
	}
	/* A ready node has booted from its disk, after its medium was ejected. */
	if (node->live.medium == UNKNOWN && node->state == BU_STATE_READY)
		node->live.medium = OUT;
	if (node->state == BU_STATE_SERVICING || node->live.medium_tries >= TRIES_MAX)
		return;
	if (node->live.medium != OUT && !node->live.medium_asked &&
	    !bu_effects_switch(rec, node) &&
	    bu_loop_now_ms(rec->fleet->loop) >= node->live.medium_ms)
		eject(rec, node);
}

void
bu_medium_drop(struct bu_reconcile *rec)
{
	struct bu_medium_ask *ask;

	while ((ask = rec->medium_asks)) {
		rec->medium_asks = ask->next;
		free(ask);
	}
}
