/* SPDX-License-Identifier: Apache-2.0 */
/* A fake bringup-power, the child's side: the files of rig.h are its machines. */
#include "tests/support/paper.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"

static char *
paper_file(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	return bu_file_read(path, 0, NULL, NULL);
}

/* As bringup-power: what is on stays on without a word that it may be reset. */
static json_t *
paper_refusal(const char *name, const char *state, const json_t *request)
{
	struct bu_err err;

	if (!state || strcmp(state, "on") != 0 || bu_json_bool(request, "reset", 0) ||
	    bu_json_int(request, "wait_off_ms", 0) > 0)
		return NULL;
	bu_err_set(&err, BU_ERR_DENIED, 0,
		   "%s is on, and no grant allows switching it off", name);
	return json_pack("{s:o}", "error", bu_json_from_err(&err));
}

/* What the machine's BMC is, beside what the request takes it for: members of the
 * request, and "serial" of the machine. */
static json_t *
paper_stranger(const char *dir, const char *name, const json_t *request)
{
	bu_autofree char *file = bu_xasprintf("bmc.%s", name);
	bu_autofree char *text = paper_file(dir, file);
	bu_autojson json_t *is =
		text ? bu_json_parse(text, strlen(text), file, NULL) : NULL;
	const char *key;
	json_t *value;
	struct bu_err err;

	json_object_foreach (is, key, value) {
		int serial = strcmp(key, "serial") == 0;
		const json_t *of =
			serial ? json_object_get(request, "machine") : request;

		if (strcmp(bu_json_str(of, key, ""), json_string_value(value)) == 0)
			continue;
		bu_err_set(&err, serial ? BU_ERR_FOREIGN : BU_ERR_REMOTE, 0,
			   "%s: %s is %s", name, key, json_string_value(value));
		return json_pack("{s:o}", "error", bu_json_from_err(&err));
	}
	return NULL;
}

static json_t *
paper_boot(const char *dir, const char *name, const json_t *request)
{
	const char *first = bu_json_str(request, "first", "?");
	bu_autofree char *refusal = paper_file(dir, "power.refuse");
	bu_autofree char *log_path = bu_xasprintf("%s/power.log", dir);
	bu_autofree char *path = bu_xasprintf("%s/power.%s", dir, name);
	bu_autofree char *state = bu_file_read(path, 0, NULL, NULL);
	json_t *denied = paper_stranger(dir, name, request);
	FILE *log;
	struct bu_err err;

	if (!denied)
		denied = paper_refusal(name, state, request);
	if (denied)
		return denied;
	log = fopen(log_path, "a");
	if (bu_json_bool(request, "bmc_reset", 0))
		fprintf(log, "bmc-reset %s\n", name);
	fprintf(log, "boot %s %s\n", first, name);
	fclose(log);
	if (refusal) {
		bu_err_set(&err, BU_ERR_REMOTE, 0, "%s", refusal);
		return json_pack("{s:o}", "error", bu_json_from_err(&err));
	}
	bu_ignore(bu_file_write(path, "on", 2, 0600, NULL));
	return json_pack("{s:s}", "power", "on");
}

static void
paper_note_in(const char *dir, const char *file, const char *op, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);
	FILE *log = fopen(path, "a");

	fprintf(log, "%s %s\n", op, name);
	fclose(log);
}

static void
paper_note(const char *dir, const char *op, const char *name)
{
	paper_note_in(dir, "power.log", op, name);
}

/* events.NODE, or an error; each question is noted, with its time. "no time: ..." is of
 * a BMC without a clock. */
static json_t *
paper_events(const char *dir, const char *name, const json_t *request)
{
	bu_autofree char *file = bu_xasprintf("events.%s", name);
	bu_autofree char *text = paper_file(dir, file);
	bu_autofree char *op = bu_xasprintf(
		"events since %lld", (long long)bu_json_int(request, "since_ms", -1));
	struct bu_err err;

	paper_note(dir, op, name);
	if (text)
		return json_pack("{s:[{s:I,s:s,s:s,s:s}],s:b,s:b}", "events", "at_ms",
				 (json_int_t)(strncmp(text, "no time", 7) == 0
						      ? 0
						      : 1700000000000),
				 "severity", "critical", "log", "SEL", "text", text,
				 "more", 0, "full", 0);
	bu_err_set(&err, BU_ERR_REMOTE, 0, "no route to the BMC");
	return json_pack("{s:o}", "error", bu_json_from_err(&err));
}

static json_t *
paper_switch(const char *dir, const char *name, const json_t *request)
{
	const char *op = bu_json_str(request, "op", "");
	const char *first = bu_json_str(request, "first", "disk");
	bu_autofree char *log_path = bu_xasprintf("%s/power.log", dir);
	bu_autofree char *path = bu_xasprintf("%s/power.%s", dir, name);
	FILE *log = fopen(log_path, "a");

	fprintf(log, "%s%s %s\n", op, strcmp(first, "network") == 0 ? " network" : "",
		name);
	fclose(log);
	bu_ignore(bu_file_write(path, op, strlen(op), 0600, NULL));
	return json_pack("{s:s}", "power", op);
}

static json_t *
paper_state(const char *dir, const char *state)
{
	bu_autofree char *away = paper_file(dir, "power.away");
	struct bu_err err;

	if (!away)
		return json_pack("{s:s}", "power", state ? state : "off");
	bu_err_set(&err, BU_ERR_REMOTE, 0, "%s", away);
	return json_pack("{s:o}", "error", bu_json_from_err(&err));
}

int
paper_power(const char *dir)
{
	for (;;) {
		bu_autojson json_t *request = bu_frame_read(BU_WORKER_FD, NULL);
		bu_autojson json_t *reply = NULL;
		const char *target = bu_json_str(request, "target", "#");
		/* qemu:///system#NODE, https://NODE */
		const char *hash = strrchr(target, strchr(target, '#') ? '#' : '/');
		const char *op = bu_json_str(request, "op", "");
		bu_autofree char *state = NULL, *hang = NULL;
		bu_autofree char *file = NULL;

		if (!request)
			return 0;
		hang = paper_file(dir, "power.hang");
		if (strcmp(op, "boot") == 0) {
			reply = paper_boot(dir, hash + 1, request);
		} else if (strcmp(op, "console") == 0) {
			reply = json_pack("{s:s,s:s}", "console", "waits", "words",
					  "another session has it");
		} else if (strcmp(op, "events") == 0) {
			reply = paper_events(dir, hash + 1, request);
		} else if (strcmp(op, "firmware") == 0) {
			paper_note_in(dir, "reads.log", op, hash + 1);
			reply = json_pack("{s:[{s:s,s:s}]}", "firmware", "name", "BIOS",
					  "version", "2.1");
		} else if (strcmp(op, "status") != 0 && strcmp(op, "bmc-reset") != 0) {
			reply = paper_switch(dir, hash + 1, request);
		} else {
			if (strcmp(op, "status") == 0)
				free(bu_steal(&hang));
			else
				paper_note(dir, op, hash + 1);
			file = bu_xasprintf("power.%s", hash + 1);
			state = paper_file(dir, file);
			reply = paper_state(dir, state);
		}
		json_object_set(reply, "id", json_object_get(request, "id"));
		if (!hang && bu_frame_write(BU_WORKER_FD, reply, NULL) != 0)
			return 1;
	}
}
