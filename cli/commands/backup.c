/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup backup: asks the daemon for one and waits for its end. bringup backup keygen:
 * makes the pair, without a daemon and best on another machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"

/* A path from here, as the daemon has to have it; owned. */
static char *
place(const char *to)
{
	bu_autofree char *here = NULL;

	if (!to)
		return bu_xstrdup("");
	if (to[0] == '/' || strncmp(to, "http", 4) == 0 || strncmp(to, "exec:", 5) == 0)
		return bu_xstrdup(to);
	here = getcwd(NULL, 0);
	return bu_xasprintf("%s/%s", here ? here : "", to);
}

static json_t *
wait_for_end(struct bu_client *client, int64_t id, struct bu_err *err)
{
	json_t *reply = NULL;

	do {
		json_decref(reply);
		reply = bu_client_get(client, 30, err, "/v1/backups/%lld?wait=30",
				      (long long)id);
	} while (reply && bu_json_bool(reply, "running", 0));
	return reply;
}

int
bu_cmd_backup(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *to = place(options->to);
	bu_autojson json_t *body =
		json_pack("{s:s,s:b}", "to", to, "keys", options->with_keys);
	bu_autojson json_t *started = bu_client_post(client, "/v1/backups", body, err);
	bu_autojson json_t *reply =
		started ? wait_for_end(client, bu_json_int(started, "id", 0), err)
			: NULL;

	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(reply, stdout);
	else
		printf("%s: %lld bytes, SHA-256 %s; it was read back and opens%s\n",
		       bu_json_str(reply, "to", ""),
		       (long long)bu_json_int(reply, "bytes", 0),
		       bu_json_str(reply, "digest", ""),
		       options->with_keys ? "; the appliance's keys are in it" : "");
	return 0;
}

int
bu_cmd_backup_keygen(const struct bu_options *options, struct bu_err *err)
{
	char identity[BU_SEAL_TEXT_SIZE], recipient[BU_SEAL_TEXT_SIZE];
	const char *path = options->args[0];
	bu_autoclose int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bu_autofree char *text = NULL;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, 0,
				  "write '%s': %m; an identity is never written over",
				  path);
	bu_seal_pair(identity, recipient);
	text = bu_xasprintf("# opens the backups of bringup that are sealed to\n"
			    "# %s\n%s\n",
			    recipient, identity);
	if (bu_write_all(fd, text, strlen(text), err) != 0)
		return bu_err_wrap(err, "%s", path);
	if (fsync(fd) != 0)
		return bu_err_set(err, BU_ERR_IO, 0, "sync '%s': %m", path);
	puts(recipient);
	fprintf(stderr,
		"write into site.ini:  backup_recipient = (the line above)\n"
		"keep '%s' away from the appliance; without it no backup opens\n",
		path);
	return 0;
}
