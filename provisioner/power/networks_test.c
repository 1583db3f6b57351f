/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-power itself, asked as bringupd asks it: no byte goes to a BMC outside of
 * bmc_networks, whatever its name is and whatever other machines say.
 */
#include "base/file.h"
#include "base/networks.h"
#include "provisioner/power/power.h"
#include "tests/support/ipmi_tool.h"
#include "tests/support/redfish.h"

static struct {
	struct rig rig;
	struct ipmi_tool tool;
	char secret[64], reference[80];
	struct bu_power *power;
	int answers;
	struct bu_power_seen seen;
	struct bu_err err;
} site;

/* By a name a BMC is only reached so. */
static void
over_tls(struct rig *rig)
{
	rig_begin(rig, "dell", 0);
	hostile_destroy(rig->bmc);
	free(rig->url);
	rig->bmc = hostile_create(hostile_shape("dell"), 0, 1);
	rig->url = bu_xstrdup(hostile_url(rig->bmc));
	rig->request.target.fingerprint = hostile_fingerprint(rig->bmc);
}

/* networks: NULL = the key is not in the file. */
static void
begin(const char *networks)
{
	struct bu_err err = {0};

	memset(&site, 0, sizeof(site));
	ipmi_tool_begin(&site.tool);
	ipmi_tool_does(&site.tool, "chassis power status", "echo Chassis Power is on");
	over_tls(&site.rig);
	strcpy(site.secret, "/tmp/bringup-secret-XXXXXX");
	close(mkstemp(site.secret));
	ck_assert_int_eq(bu_file_write_text(site.secret, 0600, NULL, "root:calvin\n"),
			 0);
	snprintf(site.reference, sizeof(site.reference), "file:%s", site.secret);
	site.power = bu_power_create(site.rig.loop, BU_BUILDDIR "/bringup-power",
				     &(struct bu_power_opts){.bmc_networks = networks},
				     &err);
	ck_assert_msg(site.power != NULL, "%s", err.text);
}

static void
finish(void)
{
	bu_power_destroy(site.power);
	rig_end(&site.rig);
	ipmi_tool_end(&site.tool);
	unlink(site.secret);
}

static void
on_seen(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	(void)arg;
	site.answers++;
	site.seen = *seen;
	site.err = err ? *err : (struct bu_err){0};
}

static void
ask(const char *driver, const char *bmc)
{
	const struct bu_power_bmc of = {.driver = driver,
					.bmc = bmc,
					.credentials = site.reference,
					.fingerprint =
						hostile_fingerprint(site.rig.bmc)};
	int answers = site.answers;

	bu_power_status(site.power, &of, on_seen, NULL);
	for (int i = 0; i < 5000 && site.answers == answers; i++)
		bu_loop_step(site.rig.loop, 10);
	ck_assert_int_eq(site.answers, answers + 1);
}

/* "https://HOST:PORT" of the BMC of paper. */
static char *
url_at(const char *host)
{
	return bu_xasprintf("https://%s%s", host, strrchr(site.rig.url, ':'));
}

static void
refuses(const char *driver, const char *bmc, const char *address)
{
	bu_autofree char *called = NULL;

	ask(driver, bmc);
	ck_assert_int_eq(site.err.kind, BU_ERR_INVAL);
	ck_assert_msg(strstr(site.err.text, address) &&
			      strstr(site.err.text, "bmc_networks in bringupd.conf"),
		      "%s %s: %s", driver, bmc, site.err.text);
	ck_assert_int_eq(hostile_count(site.rig.bmc, NULL, ""), 0);
	ck_assert_int_eq(hostile_open(site.rig.bmc), 0);
	called = ipmi_tool_called(&site.tool);
	ck_assert_str_eq(called, "");
}

/* Neither an address nor a name that leads there, nor the same address in other forms;
 * with a fingerprint or without. */
START_TEST(nothing_is_sent_to_an_address_outside_of_the_networks)
{
	static const char *const lists[] = {"10.0.0.0/8, fd00::/8", NULL};

	for (size_t i = 0; i < BU_LEN(lists); i++) {
		bu_autofree char *by_name = NULL, *by_zero = NULL, *mapped = NULL;

		begin(lists[i]);
		by_name = url_at("localhost");
		by_zero = url_at("0.0.0.0");
		mapped = url_at("[::ffff:127.0.0.1]");
		refuses("redfish", site.rig.url, "127.0.0.1 is in no network");
		refuses("redfish", by_name, "1 is in no network");
		refuses("redfish", by_zero, "0.0.0.0 is in no network");
		refuses("redfish", mapped, "127.0.0.1 is in no network");
		refuses("ipmi", "127.0.0.1", "127.0.0.1 is in no network");
		refuses("ipmi", "203.0.113.7:6230", "203.0.113.7 is in no network");
		refuses("ipmi", "localhost", "1 is in no network");
		finish();
	}
}
END_TEST

START_TEST(a_bmc_in_the_networks_is_asked)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < BU_LEN(hosts); i++) {
		bu_autofree char *url = NULL;

		begin("10.0.0.0/8, 127.0.0.0/30");
		url = url_at(hosts[i]);
		ask("redfish", url);
		ck_assert_msg(site.err.kind == BU_ERR_NONE, "%s", site.err.text);
		/* and no further than the list says */
		ask("ipmi", "127.0.0.4");
		ck_assert_int_eq(site.err.kind, BU_ERR_INVAL);
		finish();
	}
}
END_TEST

/* ipmitool would resolve it once more, and the answer may be another one by then. */
START_TEST(ipmitool_is_given_the_address_that_was_looked_at)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *called = NULL;

		begin("127.0.0.0/8");
		ask("ipmi", names[i]);
		ck_assert_msg(site.err.kind == BU_ERR_NONE, "%s", site.err.text);
		ck_assert_int_eq(site.seen.state, BU_POWER_ON);
		called = ipmi_tool_called(&site.tool);
		ck_assert_msg(strstr(called, " -H 127.0.0.1 -p 623 ") != NULL, "%s",
			      called);
		ck_assert_ptr_null(strstr(called, "localhost"));
		finish();
	}
}
END_TEST

START_TEST(a_name_that_nobody_knows_is_an_error_of_the_name)
{
	begin("127.0.0.0/8");
	ask("ipmi", "no-such-bmc.invalid");
	ck_assert_int_eq(site.err.kind, BU_ERR_REMOTE);
	ck_assert_str_eq(site.err.text,
			 "IPMI of no-such-bmc.invalid: its name is not known");
	finish();
}
END_TEST

/* The session and its token are of this BMC. */
START_TEST(a_redirect_leads_to_no_other_machine)
{
	static const char *const elsewhere[] = {
		"Location: https://127.0.0.2:1/redfish/v1",
		"Location: //127.0.0.2:1/redfish/v1",
		"Location: https://localhost@127.0.0.2:1/redfish/v1",
	};

	for (size_t i = 0; i < BU_LEN(elsewhere); i++) {
		const struct hostile_answer answer = {.status = 308,
						      .headers = elsewhere[i]};

		begin("127.0.0.0/8");
		hostile_answer(site.rig.bmc, "GET", "/redfish/v1", &answer, 100);
		hostile_answer(site.rig.bmc, "GET", "/redfish/v1/", &answer, 100);
		ask("redfish", site.rig.url);
		ck_assert_int_ne(site.err.kind, BU_ERR_NONE);
		/* not that nobody answers there */
		ck_assert_msg(strstr(site.err.text,
				     "status 308 leads to another host, 127.0.0.2 (") !=
				      NULL,
			      "%s", site.err.text);
		finish();
	}
}
END_TEST

/* The serial console is a program of its own, which begins later. */
START_TEST(the_console_is_opened_at_the_address_that_answered)
{
	const struct bu_power_console *console;
	struct rig rig;
	char *name;

	over_tls(&rig);
	name = bu_xasprintf("https://localhost%s", strrchr(rig.url, ':'));
	free(rig.url);
	rig.url = name;
	rig.request.console_ipmi = 1;
	ck_assert_int_eq(bu_networks_begin("127.0.0.0/8", NULL), 0);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_CONSOLE), BU_ERR_NONE);
	bu_networks_end();
	console = &rig.answer.console;
	ck_assert_int_eq(console->way, BU_CONSOLE_IPMI);
	ck_assert_str_eq(console->host, "127.0.0.1");
	rig_end(&rig);
}
END_TEST

BU_UNIT("power networks", nothing_is_sent_to_an_address_outside_of_the_networks,
	a_bmc_in_the_networks_is_asked,
	ipmitool_is_given_the_address_that_was_looked_at,
	a_name_that_nobody_knows_is_an_error_of_the_name,
	a_redirect_leads_to_no_other_machine,
	the_console_is_opened_at_the_address_that_answered)
