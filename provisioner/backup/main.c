/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-backup: makes and restores backups, in a process of its own, because both
 * block. `make` is bringupd's: JSON in, JSON out. `restore` and `init` are what
 * `bringup restore` and `bringup init` hand over to; no daemon is needed for them.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/record.h"
#include "provisioner/backup/backup.h"

enum { ASK_MAX = 64 * 1024 * 1024 };

static int
fail(const struct bu_err *err)
{
	fprintf(stderr, "bringup: %s\n", err->text);
	return bu_err_exit_code(err->kind);
}

static json_t *
read_ask(struct bu_err *err)
{
	json_error_t bad;
	json_t *ask = json_loadf(stdin, 0, &bad);

	if (!ask)
		bu_err_set(err, BU_ERR_INVAL, 0, "the request: %s", bad.text);
	return ask;
}

static int
make(struct bu_err *err)
{
	bu_autojson json_t *asked = read_ask(err), *answer = NULL;
	struct bu_backup_made made = {0};
	struct bu_backup_ask ask;

	if (!asked ||
	    bu_record_from_json(bu_backup_ask_fields, asked, &ask, err) != 0 ||
	    bu_backup_make(&ask, &made, err) != 0)
		return -1;
	answer = bu_record_to_json(bu_backup_made_fields, &made);
	json_dumpf(answer, stdout, JSON_COMPACT);
	return fflush(stdout) == 0 ? 0
				   : bu_err_set(err, BU_ERR_IO, 0, "say what was made");
}

static int
init(struct bu_err *err)
{
	bu_autojson json_t *asked = read_ask(err);
	struct bu_init_ask ask;

	if (!asked || bu_record_from_json(bu_init_ask_fields, asked, &ask, err) != 0)
		return -1;
	return bu_init(&ask, bu_wall_ms(bu_clock_system()), stdout, err);
}

static const char restore_help[] =
	"usage: bringup restore FILE --identity KEY --state DIR [--keys DIR] "
	"[--dry-run]\n"
	"makes the state directory of an appliance from a backup\n\n"
	"  --identity KEY   the secret file of bringup backup keygen\n"
	"  --state DIR      the state directory to make; missing or empty\n"
	"  --keys DIR       a copy of the appliance's keys, where the backup has none\n"
	"  --dry-run        verify, say what the backup has, and write no state\n";

static int
read_options(int argc, char **argv, struct bu_restore_ask *ask, struct bu_err *err)
{
	static const struct option longs[] = {
		{"identity", 1, NULL, 'i'}, {"state", 1, NULL, 's'},
		{"keys", 1, NULL, 'k'},     {"dry-run", 0, NULL, 'd'},
		{"help", 0, NULL, 'h'},     {0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == 'i')
			ask->identity = optarg;
		else if (option == 's')
			ask->state = optarg;
		else if (option == 'k')
			ask->keys = optarg;
		else if (option == 'd')
			ask->dry_run = 1;
		else if (option == 'h')
			return 1;
		else
			return bu_err_set(err, BU_ERR_USAGE, 0,
					  "restore: '%s' is not an option, or lacks "
					  "its value; see bringup restore --help",
					  argv[optind - 1]);
	}
	if (optind + 1 != argc || !ask->identity || !ask->state)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "restore needs FILE, --identity and --state; see "
				  "bringup restore --help");
	ask->file = argv[optind];
	return 0;
}

static int
restore(int argc, char **argv, struct bu_err *err)
{
	struct bu_restore_ask ask = {.now_ms = bu_wall_ms(bu_clock_system())};
	int rc = read_options(argc, argv, &ask, err);

	if (rc > 0) {
		fputs(restore_help, stdout);
		return 0;
	}
	return rc == 0 ? bu_restore(&ask, stdout, err) : -1;
}

int
main(int argc, char **argv)
{
	struct bu_err err = {0};
	int rc = -1;

	umask(077);
	if (argc == 2 && strcmp(argv[1], "make") == 0)
		rc = make(&err);
	else if (argc == 2 && strcmp(argv[1], "init") == 0)
		rc = init(&err);
	else if (argc > 1 && strcmp(argv[1], "restore") == 0)
		rc = restore(argc - 1, argv + 1, &err);
	else
		bu_err_set(&err, BU_ERR_USAGE, 0,
			   "bringup-backup is started by bringupd and bringup");
	return rc == 0 ? 0 : fail(&err);
}
