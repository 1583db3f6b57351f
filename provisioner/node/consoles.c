/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consoles that bringup-power keeps: of all nodes of the applied profile, unless the
 * pool has `console = off`. Called at each tick of reconcile.c. Each is asked for every
 * AGAIN_MS, and bringup-power drops one that was not asked for in a minute. So neither
 * a node that leaves the profile nor a restart of bringup-power needs a message.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

/* AGAIN_MS is within the minute of bringup-power. A tick asks for AT_ONCE consoles and
 * one more per AT_ONCE_OF nodes. */
enum { AGAIN_MS = 20000, AT_ONCE = 50, AT_ONCE_OF = 15 };

struct bu_console_ask {
	struct bu_console_ask *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
};

static void
on_kept(const json_t *report, const struct bu_err *err, void *arg)
{
	struct bu_console_ask *ask = arg, **link = &ask->rec->console_asks;
	struct bu_node *node = bu_fleet_node(ask->rec->fleet, ask->node);

	while (*link != ask)
		link = &(*link)->next;
	*link = ask->next;
	free(ask);
	if (!node)
		return;
	bu_node_console(node)->asking = 0;
	bu_text_copy(bu_node_console(node)->state, sizeof(bu_node_console(node)->state),
		     err ? "waits" : bu_json_str(report, "console", ""));
	bu_text_copy(bu_node_console(node)->words, sizeof(bu_node_console(node)->words),
		     err ? err->text : bu_json_str(report, "words", ""));
}

static void
keep(struct bu_reconcile *rec, struct bu_node *node, const struct bu_desired_node *want)
{
	struct bu_console_ask *ask = bu_xcalloc(1, sizeof(*ask));
	struct bu_node_bmc bmc;

	ask->rec = rec;
	memcpy(ask->node, node->name, sizeof(ask->node));
	ask->next = rec->console_asks;
	rec->console_asks = ask;
	bu_node_console(node)->asking = 1;
	bu_node_console(node)->next_ms = bu_loop_now_ms(rec->fleet->loop) + AGAIN_MS;
	bu_node_bmc(rec->fleet, node, &bmc);
	bu_power_console(rec->power, &bmc.bmc, node->name, want->pool->console, on_kept,
			 ask);
}

/* Why the node's console is not kept; NULL = it is kept. */
static const char *
why_not(const struct bu_desired_node *want)
{
	if (!want)
		return "it is not in the applied profile";
	if (bu_manual_is(want))
		return "power = manual: its machine has no BMC that is known";
	return strcmp(want->pool->console, "off") == 0 ? "its pool has console = off"
						       : NULL;
}

void
bu_node_consoles_tick(struct bu_reconcile *rec)
{
	size_t most = AT_ONCE + rec->fleet->count / AT_ONCE_OF;
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);

	if (!rec->console_dir || rec->stopped)
		return;
	for (size_t i = 0; i < rec->fleet->count && most > 0; i++) {
		struct bu_node *node = rec->fleet->nodes[i];
		const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
		const char *not = why_not(want);

		if (not ) {
			strcpy(bu_node_console(node)->state, "off");
			bu_text_copy(bu_node_console(node)->words,
				     sizeof(node->live.console->words), not );
		} else if (!node->live.console->asking &&
			   now_ms >= node->live.console->next_ms) {
			keep(rec, node, want);
			most--;
		}
	}
}

void
bu_node_consoles_drop(struct bu_reconcile *rec)
{
	struct bu_console_ask *ask;

	while ((ask = rec->console_asks)) {
		rec->console_asks = ask->next;
		free(ask);
	}
}

const char *
bu_reconcile_console_dir(const struct bu_reconcile *rec)
{
	return rec->console_dir;
}
