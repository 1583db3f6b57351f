/* SPDX-License-Identifier: Apache-2.0 */
/* bringup-lab: a virtual rack on this machine. This file has the table of commands. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "lab/commands.h"

static const struct {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *args;
	const char *help;
} commands[] = {
	{"up", bu_lab_up,
	 "[--nodes N] [--uefi LIST] [--memory MIB] [--fabric-rate MBIT] [--no-slurm]\n"
	 "              [--nics N] [--cable A:B[*COUNT]]... [--accel auto|kvm|tcg]",
	 "make the rack; it stays until `down`"},
	{"run", bu_lab_run, "[options of up] -- COMMAND...",
	 "make a rack, run COMMAND with BRINGUP_RACK set, remove the rack"},
	{"exec", bu_lab_exec,
	 "[--listen 127.0.0.1:PORT]... [--detach [--log FILE]] -- COMMAND...",
	 "run COMMAND inside the rack's namespaces"},
	{"status", bu_lab_status, "[-o table|json]",
	 "machines and services of the rack"},
	{"link", bu_lab_link, "NODE --rate MBIT|default",
	 "limit both directions of a node's fabric link"},
	{"slurm", bu_lab_slurm, "stop|start|forget",
	 "end slurmctld, start it again, or start it with an empty state"},
	{"bmc", bu_lab_bmc, "--listen ADDRESS:PORT --tree NAME [--machine URI#DOMAIN]",
	 "a strict virtual BMC (Redfish), of paper or of a machine; bmc --help"},
	{"ipmi", bu_lab_ipmi,
	 "--listen ADDRESS:PORT --state FOLDER --password-file FILE [--user NAME]\n"
	 "              [--machine URI#DOMAIN]",
	 "a virtual BMC that speaks IPMI (ipmi_sim), of paper or of a machine"},
	{"chassis", bu_lab_chassis, "FOLDER get|set NAME...",
	 "what that BMC runs for a question about power and boot"},
	{"reset", bu_lab_reset, "",
	 "put it back as after `up`: machines off, disks empty, nothing left running"},
	{"down", bu_lab_down, "", "end and remove the rack; also after a crash"},
};

static void
usage(FILE *out)
{
	fprintf(out, "usage: bringup-lab COMMAND [--dir RACK] ...\n\n");
	for (size_t i = 0; i < BU_LEN(commands); i++)
		fprintf(out, "  %-7s %s\n          %s\n", commands[i].name,
			commands[i].args, commands[i].help);
	fprintf(out, "\nRACK is the rack's directory: --dir, or $BRINGUP_RACK, or "
		     "/var/tmp/bringup-rack.\n"
		     "Images and ramdisk are looked for in $BRINGUP_CACHE or "
		     "~/.cache/bringup.\n");
}

/* ip, libvirtd and slurmctld are in sbin, which a user's PATH may lack. */
static void
add_sbin_to_path(void)
{
	const char *path = getenv("PATH");
	bu_autofree char *full = bu_xasprintf("%s:/usr/local/sbin:/usr/sbin:/sbin",
					      path ? path : "/usr/bin:/bin");

	setenv("PATH", full, 1);
}

int
main(int argc, char **argv)
{
	add_sbin_to_path();
	bu_log_init("bringup-lab", BU_LOG_WARN);
	if (argc >= 2 && (strcmp(argv[1], "--help") == 0 ||
			  strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; argc >= 2 && i < BU_LEN(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].fn(argc - 1, argv + 1);
	if (argc >= 2)
		fprintf(stderr, "bringup-lab: unknown command '%s'\n\n", argv[1]);
	usage(stderr);
	return 1;
}
