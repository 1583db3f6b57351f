/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request "console": keeps a machine's console for a while, and opens it when it is
 * closed and due. Called by perform.c. Invariant: a console that is open costs no
 * question to the BMC, and no reading of a secret.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/perform_impl.h"

enum { KEEP_MS = 60000 };

static const char *
node_of(const struct bu_run *run)
{
	return bu_json_str(run->request, "node", "");
}

static void
tell(struct bu_run *run, const char *state, const char *words)
{
	bu_run_tell(run, json_pack("{s:s,s:s}", "console", state, "words", words));
}

int
bu_console_begin(struct bu_run *run)
{
	struct bu_consoles *consoles = run->performer->consoles;
	int64_t keep_ms = bu_json_int(run->request, "keep_ms", KEEP_MS);
	const char *words = "";

	if (!consoles || !*node_of(run)) {
		tell(run, "none", "no folder for it");
		return 1;
	}
	switch (bu_consoles_keep(consoles, node_of(run), run->bmc, keep_ms, &words)) {
	case BU_CONSOLE_OPEN:
		tell(run, "open", "");
		return 1;
	case BU_CONSOLE_WAITS:
		tell(run, "waits", words);
		return 1;
	case BU_CONSOLE_TAKEN:
		tell(run, "taken", words);
		return 1;
	case BU_CONSOLE_DUE:
		break;
	}
	run->order.console_ipmi =
		strcmp(bu_json_str(run->request, "way", ""), "ipmi") == 0;
	return 0;
}

static void
on_way(struct bu_run *run)
{
	struct bu_consoles *consoles = run->performer->consoles;
	const struct bu_power_console *way = &run->answer.console;

	if (run->err.kind != BU_ERR_NONE) {
		bu_consoles_put_off(consoles, node_of(run), run->err.text);
		bu_run_fail(run);
	} else if (way->way == BU_CONSOLE_NONE) {
		bu_consoles_put_off(consoles, node_of(run), way->why);
		tell(run, "none", way->why);
	} else {
		bu_consoles_open(consoles, node_of(run), &run->order.target, way,
				 run->digest);
		if (!bu_console_begin(run))
			tell(run, "waits", "");
	}
}

void
bu_console_ask(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_CONSOLE, on_way);
}
