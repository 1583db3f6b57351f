/* SPDX-License-Identifier: Apache-2.0 */
/* The IPMI side of the virtual BMC, of paper, judged from outside by ipmitool. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

static struct {
	char dir[64], port[8];
	pid_t sim;
} site;

/* What ipmitool prints, errors as well; owned. */
static char *
ipmitool(const char *password, const char *words)
{
	bu_autofree char *command = bu_xasprintf(
		"ipmitool -I lanplus -H 127.0.0.1 -p %s -U admin -P %s -C 3 -N 2 -R 2 "
		"%s 2>&1",
		site.port, password, words);
	FILE *out = popen(command, "r");
	char text[4096];
	size_t size;

	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	text[size] = '\0';
	pclose(out);
	return bu_xstrdup(text);
}

static void
expect(const char *words, const char *says)
{
	bu_autofree char *text = ipmitool("secret", words);

	ck_assert_msg(strstr(text, says) != NULL, "%s: %s, not %s", words, text, says);
}

static void
begin(void)
{
	bu_autofree char *password = NULL, *listen = NULL, *state = NULL, *log = NULL;
	struct bu_err err = {0};

	strcpy(site.dir, "/tmp/bringup-bmc-ipmi-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site.dir));
	snprintf(site.port, sizeof(site.port), "%d", free_port_of(SOCK_DGRAM));
	password = bu_xasprintf("%s/password", site.dir);
	listen = bu_xasprintf("127.0.0.1:%s", site.port);
	state = bu_xasprintf("%s/bmc", site.dir);
	log = bu_xasprintf("%s/log", site.dir);
	ck_assert_int_eq(bu_file_write_text(password, 0600, &err, "secret\n"), 0);
	site.sim = bu_daemon_spawn(
		&(struct bu_daemon_opts){
			.argv = (const char *const[]){BU_BUILDDIR "/bringup-lab",
						      "ipmi", "--listen", listen,
						      "--state", state,
						      "--password-file", password,
						      NULL},
			.log_path = log},
		&err);
	ck_assert_msg(site.sim > 0, "%s", err.text);
	for (int i = 0; i < 5; i++) {
		bu_autofree char *text = ipmitool("secret", "chassis power status");

		if (strstr(text, "Chassis Power is"))
			return;
	}
	ck_abort_msg("the virtual BMC does not answer");
}

static void
finish(void)
{
	bu_daemon_end(site.sim, 1000);
	ck_assert_int_eq(bu_remove_tree(site.dir, NULL), 0);
}

/* An override is there for one start, and a password must be right. */
START_TEST(ipmitool_finds_a_bmc)
{
	bu_autofree char *refused = NULL;

	BU_NEEDS("ipmi_sim", "ipmitool");
	begin();
	expect("mc guid", "5e000000-b70c-4000-8000-000000000001");
	expect("fru print 0", "Product Serial        : PAPER00001");
	expect("chassis power status", "is off");
	expect("chassis bootdev pxe", "Set Boot Device to pxe");
	expect("chassis bootparam get 5", "Force PXE");
	expect("chassis power on", "Up/On");
	expect("chassis power status", "is on");
	expect("chassis bootparam get 5", "No override");
	expect("chassis bootdev disk", "Set Boot Device to disk");
	expect("chassis power on", "Up/On"); /* it is: that spends nothing */
	expect("chassis bootparam get 5", "Force Boot from default Hard-Drive");
	expect("chassis power reset", "Reset");
	expect("chassis bootparam get 5", "No override");
	expect("chassis power soft", "Soft");
	expect("chassis power status", "is off");
	refused = ipmitool("wrong", "chassis power on");
	ck_assert_ptr_nonnull(strstr(refused, "Unable to establish"));
	expect("chassis power status", "is off");
	finish();
}
END_TEST

BU_UNIT("lab bmc ipmi", ipmitool_finds_a_bmc)
