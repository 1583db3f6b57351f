/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node console: the last lines of a machine's serial console, and with --follow
 * what it writes from then on. Read-only: bringup sends nothing to a console.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/terminal.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "profiles/nodeset/nodeset.h"

enum { POLL_MS = 300, PART_MAX = 256 * 1024 };

static volatile sig_atomic_t ended;

static void
on_signal(int signo)
{
	(void)signo;
	ended = 1;
}

/* Prints it; how many bytes there were, -1 when it is no answer. */
static int
print_part(const json_t *reply, int raw, struct bu_terminal_text *text,
	   struct bu_err *err)
{
	bu_autofree char *bytes = bu_xmalloc(PART_MAX);
	size_t size;

	if (bu_base64_decode(bu_json_str(reply, "bytes", "-"), bytes, PART_MAX,
			     &size) != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "bringupd sent something other than console output");
	if (bu_json_bool(reply, "lost", 0))
		fputs("\n[bringup: lines are missing here]\n", stdout);
	if (raw)
		fwrite(bytes, 1, size, stdout);
	else
		bu_terminal_plain(text, bytes, size, stdout);
	fflush(stdout);
	return (int)size;
}

/* That it shows nothing now is no error: what was kept before is there. */
static void
say_state(const char *node, const json_t *reply)
{
	const char *state = bu_json_str(reply, "state", "");
	bu_autofree char *words = bu_out_clean(bu_json_str(reply, "words", ""), 0);

	if (strcmp(state, "open") == 0)
		return;
	if (strcmp(state, "taken") == 0)
		fprintf(stderr,
			"bringup: %s: the console of its BMC is kept as that of %s\n",
			node, words);
	else
		fprintf(stderr, "bringup: %s: its console is not read now: %s\n", node,
			*words ? words : "it was not opened yet");
}

static int
follow(struct bu_client *client, const struct bu_options *options, json_t *reply,
       struct bu_terminal_text *text, struct bu_err *err)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!ended && !ferror(stdout)) {
		bu_autofree char *after =
			bu_xstrdup(bu_json_str(reply, "after", "0:0"));
		json_t *now =
			bu_client_get(client, 0, err, "/v1/nodes/%s/console?after=%s",
				      options->args[0], after);
		int got;

		json_decref(reply);
		reply = now;
		if (!reply)
			return ended ? 0 : -1;
		got = print_part(reply, options->raw, text, err);
		if (got < 0)
			break;
		if (got == 0)
			usleep(POLL_MS * 1000);
	}
	json_decref(reply);
	return ended ? 0 : -1;
}

int
bu_cmd_node_console(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	struct bu_terminal_text text = {0};
	json_t *reply;

	if (!bu_node_name_ok(options->args[0]))
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"node console takes one node, and '%s' is not a node name",
			options->args[0]);
	reply = bu_client_get(client, 0, err, "/v1/nodes/%s/console?lines=%d",
			      options->args[0], options->lines);
	if (!reply)
		return -1;
	say_state(options->args[0], reply);
	if (print_part(reply, options->raw, &text, err) < 0) {
		json_decref(reply);
		return -1;
	}
	if (!options->follow) {
		json_decref(reply);
		return 0;
	}
	fprintf(stderr, "bringup: %s: read-only; Ctrl-C ends it\n", options->args[0]);
	return follow(client, options, reply, &text, err);
}
