/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPMI side of the virtual BMC: Debian's ipmi_sim, whose chassis is the machine.
 *
 * `bringup-lab ipmi` writes what ipmi_sim reads and becomes it; ipmi_sim runs
 * `bringup-lab chassis` for each question about power and boot. What has to last from
 * one question to the next lies in the folder of the BMC: `machine`, which it is,
 * `boot`, the override that the next start spends, and `power` of a machine of paper.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/url.h"
#include "lab/bmc/ipmi.h"
#include "lab/commands.h"

enum { FRU_SIZE = 128, SERIAL_MAX = 40, PASSWORD_MAX = 20 };

struct opts {
	const char *listen, *state, *machine, *user, *password_file;
};

static int
usage(struct bu_err *err)
{
	return bu_err_set(
		err, BU_ERR_USAGE, 0,
		"give --listen ADDRESS:PORT --state FOLDER --password-file FILE "
		"[--user NAME] [--machine URI#DOMAIN]");
}

static int
parse(int argc, char **argv, struct opts *opts, struct bu_err *err)
{
	static const struct option options[] = {
		{"listen", required_argument, NULL, 'l'},
		{"state", required_argument, NULL, 's'},
		{"machine", required_argument, NULL, 'm'},
		{"user", required_argument, NULL, 'u'},
		{"password-file", required_argument, NULL, 'p'},
		{0},
	};
	const char **texts[] = {['l'] = &opts->listen,
				['s'] = &opts->state,
				['m'] = &opts->machine,
				['u'] = &opts->user,
				['p'] = &opts->password_file};
	int c;

	*opts = (struct opts){.user = "admin"};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c >= (int)BU_LEN(texts) || !texts[c])
			return usage(err);
		*texts[c] = optarg;
	}
	if (optind < argc || !opts->listen || !opts->state || !opts->password_file)
		return usage(err);
	return 0;
}

/* --- what the machine's FRU says: its serial number, as a type-length field --- */

static unsigned char
checksum(const unsigned char *bytes, size_t size)
{
	unsigned char sum = 0;

	while (size-- > 0)
		sum = (unsigned char)(sum + *bytes++);
	return (unsigned char)-sum;
}

/* Maker, product, part, version, serial, tag, file: behind the area's first 3 bytes. */
static void
fill_product(unsigned char *area, size_t size, const char *serial)
{
	const char *const fields[] = {"bringup", "virtual machine", "", "", serial, "",
				      ""};
	size_t at = 3;

	area[0] = 1;
	area[1] = (unsigned char)(size / 8);
	for (size_t i = 0; i < BU_LEN(fields); i++) {
		size_t length = strlen(fields[i]);

		area[at++] = (unsigned char)(length ? 0xc0 | length : 0);
		memcpy(area + at, fields[i], length);
		at += length;
	}
	area[at] = 0xc1;
	area[size - 1] = checksum(area, size - 1);
}

/* The bytes of a FRU with this serial number, " 0x01 0x00 ..."; owned. */
static char *
fru_bytes(const char *serial)
{
	unsigned char fru[FRU_SIZE] = {1, 0, 0, 0, 1};
	char *text = bu_xstrdup("");
	char known[SERIAL_MAX];

	bu_text_copy(known, sizeof(known), serial);
	fru[7] = checksum(fru, 7);
	fill_product(fru + 8, FRU_SIZE - 8, known);
	for (size_t i = 0; i < FRU_SIZE; i++) {
		bu_autofree char *before = text;

		text = bu_xasprintf("%s 0x%02x", before, fru[i]);
	}
	return text;
}

/* --- what ipmi_sim reads --- */

static char *
read_password(const struct opts *opts, struct bu_err *err)
{
	char *password = bu_file_read(opts->password_file, 4096, NULL, err);

	if (!password)
		return NULL;
	bu_text_trim(password);
	if (*password && strlen(password) <= PASSWORD_MAX && !strpbrk(password, "\"\\"))
		return password;
	bu_err_set(err, BU_ERR_INVAL, 0,
		   "%s: a password of IPMI has 1 to %d characters, no quotes",
		   opts->password_file, PASSWORD_MAX);
	free(password);
	return NULL;
}

static int
write_lan(const struct opts *opts, const struct sockaddr_in *at, const char *uuid,
	  struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/lan.conf", opts->state);
	bu_autofree char *self = bu_program_path("bringup-lab");
	bu_autofree char *password = read_password(opts, err);
	char host[INET_ADDRSTRLEN], guid[40] = "";
	size_t length = 0;

	if (!password)
		return -1;
	for (const char *c = uuid; *c && length + 1 < sizeof(guid); c++)
		if (*c != '-')
			guid[length++] = *c;
	inet_ntop(AF_INET, &at->sin_addr, host, sizeof(host));
	return bu_file_write_text(
		path, 0600, err,
		"name \"bmc\"\nset_working_mc 0x20\nstartlan 1\naddr %s %d\n"
		"priv_limit admin\nguid %s\nendlan\n"
		"chassis_control \"%s chassis %s\"\n"
		"user 2 true \"%s\" \"%s\" admin 10 none md2 md5 straight\n",
		host, ntohs(at->sin_port), guid, self, opts->state, opts->user,
		password);
}

static int
write_files(const struct opts *opts, const struct sockaddr_in *at, struct bu_err *err)
{
	bu_autofree char *emu = bu_xasprintf("%s/emu", opts->state);
	bu_autofree char *state = bu_xasprintf("%s/state", opts->state);
	bu_autofree char *place = bu_xasprintf("%s/machine", opts->state);
	bu_autofree char *fru = NULL;
	struct bu_bmc_identity identity;
	struct bu_bmc_machine *machine =
		opts->machine ? bu_bmc_machine_domain(opts->machine, &identity, err)
			      : bu_bmc_machine_paper(0, 0, &identity);

	if (!machine)
		return -1;
	machine->ops->close(machine);
	fru = fru_bytes(identity.serial);
	if (bu_mkdir_p(state, 0700, err) != 0 ||
	    bu_file_write_text(place, 0600, err, "%s\n",
			       opts->machine ? opts->machine : BU_IPMI_PAPER) != 0 ||
	    write_lan(opts, at, identity.uuid, err) != 0)
		return -1;
	return bu_file_write_text(
		emu, 0600, err,
		"mc_setbmc 0x20\n"
		"mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n"
		"sel_enable 0x20 1000 0x0a\n"
		"mc_add_fru_data 0x20 0 %d data%s\nmc_enable 0x20\n",
		FRU_SIZE, fru);
}

int
bu_lab_ipmi(int argc, char **argv)
{
	bu_autofree char *lan = NULL, *emu = NULL, *state = NULL;
	struct bu_err err = {0};
	struct sockaddr_in at;
	struct opts opts;

	if (parse(argc, argv, &opts, &err) == 0 &&
	    (bu_url_socket(opts.listen, &at) < 0 || !at.sin_port))
		bu_err_set(&err, BU_ERR_USAGE, 0,
			   "--listen '%s': give ADDRESS:PORT, for example "
			   "127.0.0.1:6230",
			   opts.listen);
	if (err.kind || write_files(&opts, &at, &err) != 0)
		return bu_lab_fail("ipmi", &err);
	lan = bu_xasprintf("%s/lan.conf", opts.state);
	emu = bu_xasprintf("%s/emu", opts.state);
	state = bu_xasprintf("%s/state", opts.state);
	execlp("ipmi_sim", "ipmi_sim", "-c", lan, "-f", emu, "-s", state, "-n", NULL);
	bu_err_set(&err, BU_ERR_IO, errno,
		   "run ipmi_sim; the Debian package openipmi has it");
	return bu_lab_fail("ipmi", &err);
}
