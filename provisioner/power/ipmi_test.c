/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPMI driver against Debian's ipmi_sim, which has cipher suite 3 and not 17, and
 * loses the UEFI bit of the boot flags. A script is its chassis, files its state.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "provisioner/power/perform.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

#define GUID "0102030405060708090a0b0c0d0e0f10"

static struct {
	char dir[64], bmc[40], reference[80];
	pid_t sim;
	struct bu_loop *loop;
	void *driver;
	struct bu_performer *performer;
	int answers;
	struct bu_err err;
	char power[16], identity[16];
} site;

static void
put(const char *name, const char *text, mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", site.dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), mode, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static char *
get(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", site.dir, name);
	char *text = bu_file_read(path, 0, NULL, NULL);

	return text ? text : bu_xstrdup("");
}

static void
write_sim(int port)
{
	bu_autofree char *lan = bu_xasprintf(
		"name \"bmc\"\nset_working_mc 0x20\nstartlan 1\naddr 127.0.0.1 %d\n"
		"priv_limit admin\nguid " GUID "\nendlan\n"
		"chassis_control \"%s/chassis %s\"\n"
		"user 2 true \"admin\" \"secret\" admin 10 none md2 md5 straight\n",
		port, site.dir, site.dir);

	put("lan.conf", lan, 0600);
	put("emu",
	    "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x2b 9 8 0x9f 0x1291 0xf02 "
	    "persist_sdr\n"
	    /* Chassis ENC-7, board BD-0042, product SN-0042. */
	    "mc_add_fru_data 0x20 0 72 data 1 0 1 3 6 0 0 0xf5 "
	    "1 2 0x17 0xc0 0xc5 0x45 0x4e 0x43 0x2d 0x37 0xc1 0 0 0 0 0x66 "
	    "1 3 0 0 0 0 0xc0 0xc0 0xc7 0x42 0x44 0x2d 0x30 0x30 0x34 0x32 0xc0 0xc0 "
	    "0xc1 0 0 0 0 0xfb "
	    "1 3 0 0xc0 0xc0 0xc0 0xc0 0xc7 0x53 0x4e 0x2d 0x30 0x30 0x34 0x32 0xc0 "
	    "0xc0 0xc1 0 0 0 0 0 "
	    "0x60\nmc_enable 0x20\n",
	    0600);
	put("chassis",
	    "#!/bin/sh\ncd \"$1\"; how=$2; shift 2\n"
	    "test -e broken && exit 1\n"
	    "while [ $# -gt 0 ]; do case $how in\n"
	    "get) echo \"$1:$(cat $1)\"; shift;;\n"
	    "set) echo $2 >$1; echo \"$1 $2\" >>log; shift 2;;\n"
	    "*) shift;; esac; done\n",
	    0700);
	put("power", "0", 0600);
	put("boot", "default", 0600);
}

static void
begin(void)
{
	bu_autofree char *lan = NULL, *emu = NULL, *state = NULL, *log = NULL;
	int port = free_port_of(SOCK_DGRAM);
	struct bu_err err;

	memset(&site, 0, sizeof(site));
	strcpy(site.dir, "/tmp/bringup-ipmi-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site.dir));
	lan = bu_xasprintf("%s/lan.conf", site.dir);
	emu = bu_xasprintf("%s/emu", site.dir);
	state = bu_xasprintf("%s/state", site.dir);
	log = bu_xasprintf("%s/sim.log", site.dir);
	snprintf(site.bmc, sizeof(site.bmc), "127.0.0.1:%d", port);
	snprintf(site.reference, sizeof(site.reference), "file:%s/secret", site.dir);
	write_sim(port);
	put("secret", "admin:secret\n", 0600);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	site.sim = bu_daemon_spawn(
		&(struct bu_daemon_opts){
			.argv = (const char *const[]){"ipmi_sim", "-c", lan, "-f", emu,
						      "-s", state, "-n", NULL},
			.log_path = log},
		&err);
	ck_assert_msg(site.sim > 0, "%s", err.text);
	site.loop = bu_loop_create(NULL);
	site.driver = bu_power_ipmi.open(site.loop, "", NULL);
	site.performer = bu_performer_create(site.loop, &bu_power_ipmi, site.driver);
}

static void
finish(void)
{
	bu_performer_destroy(site.performer);
	bu_power_ipmi.close(site.driver);
	bu_loop_destroy(site.loop);
	bu_daemon_end(site.sim, 1000);
	ck_assert_int_eq(bu_remove_tree(site.dir, NULL), 0);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	site.answers++;
	site.err = err ? *err : (struct bu_err){0};
	snprintf(site.power, sizeof(site.power), "%s", bu_json_str(reply, "power", ""));
	snprintf(site.identity, sizeof(site.identity), "%s",
		 bu_json_str(reply, "identity", ""));
}

/* As it is expected to be: its "uuid" or "serial". */
static int
ask_of(const char *op, const char *first, const char *key, const char *value)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:{s:s}}", "op", op, "target",
			  site.bmc, "first", first, "mode", "uefi", "credentials",
			  site.reference, "reset", 1, "machine", key, value);
	int answers = site.answers;

	bu_perform(site.performer, request, on_reply, NULL);
	while (site.answers == answers)
		bu_loop_step(site.loop, 100);
	return site.err.kind == BU_ERR_NONE ? 0 : -1;
}

/* uuid: of the machine that is expected. */
static int
ask(const char *op, const char *first, const char *uuid)
{
	return ask_of(op, first, "uuid", uuid);
}

/* The first session may come before the simulator listens. */
static void
until_up(void)
{
	for (int i = 0; i < 3 && ask("status", "disk", "") != 0; i++)
		;
	ck_assert_msg(site.err.kind == BU_ERR_NONE, "%s", site.err.text);
}

/* Suite 17 is refused, 3 is taken; the password is tried once for it. */
START_TEST(a_machine_is_booted_and_switched_off)
{
	bu_autofree char *log = NULL;

	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	ck_assert_str_eq(site.power, "off");
	ck_assert_msg(ask("boot", "network", "") == 0, "%s", site.err.text);
	ck_assert_str_eq(site.power, "on");
	ck_assert_msg(ask("boot", "disk", "") == 0, "%s", site.err.text);
	ck_assert_msg(ask("off", "disk", "") == 0, "%s", site.err.text);
	log = get("log");
	ck_assert_str_eq(log, "boot pxe\npower 1\npower 0\nboot default\npower 1\n"
			      "power 0\n");
	finish();
}
END_TEST

/* Its GUID, in the byte order of the wire, is the UUID that the machine says. */
START_TEST(its_guid_says_whose_it_is)
{
	bu_autofree char *log = NULL;

	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	ck_assert_int_eq(ask("on", "disk", "5f0c6d0e-0000-4000-8000-000000000001"), -1);
	ck_assert_int_eq(site.err.kind, BU_ERR_FOREIGN);
	log = get("log");
	ck_assert_str_eq(log, "");
	ck_assert_msg(ask("on", "disk", "01020304-0506-0708-090a-0b0c0d0e0f10") == 0,
		      "%s", site.err.text);
	ck_assert_str_eq(site.identity, "");
	/* a board that says nothing of itself */
	ck_assert_int_eq(ask("off", "disk", ""), 0);
	ck_assert_str_eq(site.identity, "unsaid");
	finish();
}
END_TEST

/* Of the board's records; by the GUID alone another machine's would not be seen. */
START_TEST(its_serial_says_whose_it_is)
{
	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	ck_assert_int_eq(ask_of("on", "disk", "serial", "SN-0041"), -1);
	ck_assert_msg(site.err.kind == BU_ERR_FOREIGN, "%s: %s", site.identity,
		      site.err.text);
	ck_assert_msg(ask_of("on", "disk", "serial", "SN-0042") == 0, "%s",
		      site.err.text);
	ck_assert_str_eq(site.identity, "");
	/* what firmware may take for the number of the system */
	ck_assert_msg(ask_of("off", "disk", "serial", "bd-0042") == 0, "%s",
		      site.err.text);
	ck_assert_str_eq(site.identity, "");
	ck_assert_msg(ask_of("on", "disk", "serial", "ENC-7") == 0, "%s",
		      site.err.text);
	ck_assert_str_eq(site.identity, "");
	finish();
}
END_TEST

START_TEST(a_wrong_password_is_said_and_tried_twice)
{
	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	put("secret", "admin:wrong\n", 0600);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ask("status", "disk", ""), -1);
		ck_assert_ptr_nonnull(strstr(site.err.text, "RAKP 2 HMAC is invalid"));
	}
	ck_assert_int_eq(ask("status", "disk", ""), -1);
	ck_assert_ptr_nonnull(strstr(site.err.text, "not tried again"));
	put("secret", "nobody:secret\n", 0600);
	ck_assert_int_eq(ask("status", "disk", ""), -1);
	ck_assert_ptr_nonnull(strstr(site.err.text, "unauthorized name"));
	put("secret", "admin:secret\n", 0600);
	ck_assert_int_eq(ask("status", "disk", ""), 0);
	finish();
}
END_TEST

/* From the password that it came with, admin:secret, to this one. */
static int
adopt(const char *ours)
{
	bu_autofree char *journal = bu_xasprintf("%s/journal", site.dir);
	bu_autofree char *before = bu_xasprintf("file:%s/before", site.dir);
	bu_autojson json_t *request = NULL;
	int answers = site.answers;

	bu_performer_journal(site.performer, journal);
	put("before", "admin:secret\n", 0600);
	put("secret", ours, 0600);
	request = json_pack("{s:s,s:s,s:s,s:s}", "op", "status", "target", site.bmc,
			    "credentials", site.reference, "before", before);
	bu_perform(site.performer, request, on_reply, NULL);
	while (site.answers == answers)
		bu_loop_step(site.loop, 100);
	return site.err.kind == BU_ERR_NONE ? 0 : -1;
}

/* It knows no other then. */
START_TEST(its_password_is_changed)
{
	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	ck_assert_msg(adopt("admin:0123456789abcdef\n") == 0, "%s", site.err.text);
	ck_assert_int_eq(ask("status", "disk", ""), 0);
	put("secret", "admin:secret\n", 0600);
	ck_assert_int_eq(ask("status", "disk", ""), -1);
	finish();
}
END_TEST

/* The simulator takes any: an ipmitool in front of the other asks for an account that
 * no BMC has. */
START_TEST(a_password_that_is_not_changed_is_no_change)
{
	bu_autofree char *path = NULL, *old = bu_xstrdup(getenv("PATH"));

	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	until_up();
	put("ipmitool",
	    "#!/bin/sh\nPATH=${PATH#*:}\n"
	    "case \" $* \" in *\" shell \"*)\n"
	    "sed 's/password 2 /password 70 /' | ipmitool \"$@\" ;;\n"
	    "*) exec ipmitool \"$@\" ;; esac\n",
	    0700);
	path = bu_xasprintf("%s:%s", site.dir, old);
	setenv("PATH", path, 1);
	ck_assert_int_eq(adopt("admin:0123456789abcdef\n"), -1);
	setenv("PATH", old, 1);
	ck_assert_ptr_nonnull(strstr(site.err.text, "did not take the new password"));
	ck_assert_ptr_null(strstr(site.err.text, "0123456789abcdef"));
	put("secret", "admin:secret\n", 0600);
	ck_assert_msg(ask("status", "disk", "") == 0, "%s", site.err.text);
	finish();
}
END_TEST

START_TEST(a_target_is_a_host_and_a_port)
{
	static const struct {
		const char *bmc;
		int ok;
	} rows[] = {
		{"10.0.0.1", 1}, {"bmc1.oob:6230", 1}, {"ipmi://bmc1", 0},  {"", 0},
		{"bmc1:0", 0},   {"bmc1:x", 0},        {"https://bmc1", 0}, {"-H", 0},
		{"bmc1/x", 0},   {"bmc1:70000", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};
		bu_autofree char *connection =
			bu_power_ipmi.connection(rows[i].bmc, &err);

		ck_assert_msg((connection != NULL) == rows[i].ok, "%s", rows[i].bmc);
		/* all of them share a child */
		ck_assert_str_eq(connection ? connection : "", "");
	}
}
END_TEST

BU_UNIT("ipmi", a_machine_is_booted_and_switched_off, its_guid_says_whose_it_is,
	its_serial_says_whose_it_is, a_wrong_password_is_said_and_tried_twice,
	its_password_is_changed, a_password_that_is_not_changed_is_no_change,
	a_target_is_a_host_and_a_port)
