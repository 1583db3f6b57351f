/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-lab chassis FOLDER get|set|check NAME [VALUE]...: the chassis of ipmi_sim,
 * which runs it for each question. Invariant: a boot override is spent by the start
 * that follows it. Starting and stopping go on behind ipmi_sim's back, for it answers
 * nobody while this runs; whoever asked looks again, as he must with any BMC.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/bmc/ipmi.h"
#include "lab/commands.h"

struct chassis {
	const char *dir;
	struct bu_bmc_machine *machine; /* NULL: of paper */
};

static void
read_word(const struct chassis *chassis, const char *name, char *ret, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", chassis->dir, name);

	bu_file_line(path, ret, size);
}

static int
write_word(const struct chassis *chassis, const char *name, const char *word,
	   struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", chassis->dir, name);

	return bu_file_write_text(path, 0600, err, "%s\n", word);
}

/* --- the machine --- */

static int
is_on(const struct chassis *chassis, int *ret, struct bu_err *err)
{
	char word[8];

	if (chassis->machine)
		return chassis->machine->ops->is_on(chassis->machine, ret, err);
	read_word(chassis, "power", word, sizeof(word));
	*ret = strcmp(word, "1") == 0;
	return 0;
}

/* ipmi_sim's words for what is booted, and Redfish's. */
static const struct {
	const char *boot, *target;
} targets[] = {{"pxe", "Pxe"}, {"default", "Hdd"}, {"cdrom", "Cd"}};

static int
start(const struct chassis *chassis, struct bu_err *err)
{
	const char *target = "";
	char boot[16];

	read_word(chassis, "boot", boot, sizeof(boot));
	for (size_t i = 0; i < BU_LEN(targets); i++)
		if (strcmp(targets[i].boot, boot) == 0)
			target = targets[i].target;
	if (write_word(chassis, "boot", "none", err) != 0)
		return -1;
	if (chassis->machine)
		return chassis->machine->ops->start(chassis->machine, target, NULL,
						    err);
	return write_word(chassis, "power", "1", err);
}

static int
stop(const struct chassis *chassis, struct bu_err *err)
{
	if (chassis->machine)
		return chassis->machine->ops->stop(chassis->machine, err);
	return write_word(chassis, "power", "0", err);
}

static int
ask_off(const struct chassis *chassis, struct bu_err *err)
{
	return chassis->machine ? chassis->machine->ops->ask_off(chassis->machine, err)
				: stop(chassis, err);
}

/* --- one question --- */

/* 1 in the process that goes on; ipmi_sim waits for the end of the other's output. */
static int
detach(void)
{
	int null;

	if (fork() != 0)
		return 0;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setsid();
	return 1;
}

static int
change(const struct chassis *chassis, const char *name, const char *value,
       struct bu_err *err)
{
	int on = 0, rc = 0;

	if (strcmp(name, "boot") == 0)
		return write_word(chassis, "boot", value, err);
	if (strcmp(name, "power") != 0 && strcmp(name, "reset") != 0 &&
	    strcmp(name, "shutdown") != 0)
		return 0;
	if (is_on(chassis, &on, err) != 0)
		return -1;
	if (chassis->machine && !detach())
		return 0;
	if (strcmp(name, "power") == 0) {
		if (on != (strcmp(value, "1") == 0))
			rc = on ? stop(chassis, err) : start(chassis, err);
	} else if (on && strcmp(name, "shutdown") == 0) {
		rc = ask_off(chassis, err);
	} else if (on) {
		rc = stop(chassis, err);
		rc = rc == 0 ? start(chassis, err) : rc;
	}
	return rc;
}

static int
show(const struct chassis *chassis, const char *name, struct bu_err *err)
{
	char boot[16];
	int on = 0;

	if (strcmp(name, "power") == 0) {
		if (is_on(chassis, &on, err) != 0)
			return -1;
		printf("power:%d\n", on);
	} else if (strcmp(name, "boot") == 0) {
		read_word(chassis, "boot", boot, sizeof(boot));
		printf("boot:%s\n", *boot ? boot : "none");
	}
	return 0;
}

static int
answer(const struct chassis *chassis, int argc, char **argv, struct bu_err *err)
{
	if (strcmp(argv[0], "set") == 0) {
		for (int i = 1; i + 1 < argc; i += 2)
			if (change(chassis, argv[i], argv[i + 1], err) != 0)
				return -1;
		return 0;
	}
	for (int i = 1; strcmp(argv[0], "get") == 0 && i < argc; i++)
		if (show(chassis, argv[i], err) != 0)
			return -1;
	return 0;
}

int
bu_lab_chassis(int argc, char **argv)
{
	struct chassis chassis = {.dir = argc > 1 ? argv[1] : ""};
	struct bu_bmc_identity identity;
	struct bu_err err = {0};
	char place[256];
	int rc = -1;

	read_word(&chassis, "machine", place, sizeof(place));
	if (argc < 3 || !*place)
		bu_err_set(&err, BU_ERR_USAGE, 0,
			   "give the folder of a BMC of bringup-lab ipmi");
	else if (strcmp(place, BU_IPMI_PAPER) != 0)
		chassis.machine = bu_bmc_machine_domain(place, &identity, &err);
	if (!err.kind)
		rc = answer(&chassis, argc - 2, argv + 2, &err);
	if (chassis.machine)
		chassis.machine->ops->close(chassis.machine);
	return rc == 0 ? 0 : bu_lab_fail("chassis", &err);
}
