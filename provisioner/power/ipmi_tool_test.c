/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the IPMI driver asks of ipmitool, in which words, and what it makes of each
 * answer: against an ipmitool of paper.
 */
#include "tests/support/ipmi_tool.h"

#include "base/json.h"
#include "provisioner/power/driver.h"
#include "tests/support/quoted.h"

static struct {
	struct ipmi_tool tool;
	struct bu_clock clock;
	struct bu_loop *loop;
	void *driver;
	struct bu_power_request request;
	int answers;
	struct bu_power_answer answer;
	json_t *report;
	struct bu_err err;
} site;

static void
begin(void)
{
	memset(&site, 0, sizeof(site));
	ipmi_tool_begin(&site.tool);
	bu_clock_fake(&site.clock, 1795399384000);
	site.loop = bu_loop_create(&site.clock);
	site.driver = bu_power_ipmi.open(site.loop, "", NULL);
	site.request.target = (struct bu_power_target){
		.bmc = "b:6230", .user = "root", .password = "calvin"};
}

static void
finish(void)
{
	bu_power_ipmi.close(site.driver);
	bu_loop_destroy(site.loop);
	json_decref(site.report);
	ipmi_tool_end(&site.tool);
}

static void
on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	(void)arg;
	ck_assert((answer == NULL) == (err != NULL));
	site.answers++;
	site.err = err ? *err : (struct bu_err){0};
	site.answer = answer ? *answer : (struct bu_power_answer){0};
	if (answer && answer->report) {
		json_decref(site.report);
		site.report = json_incref(answer->report);
	}
}

static void
until(int answers)
{
	for (int i = 0; i < 3000 && site.answers < answers; i++)
		bu_loop_step(site.loop, 10);
	ck_assert_int_eq(site.answers, answers);
}

static enum bu_err_kind
ask(enum bu_power_op op)
{
	int answers = site.answers;

	site.request.op = op;
	bu_power_ipmi.start(site.driver, &site.request, on_done, NULL);
	until(answers + 1);
	return site.err.kind;
}

#define ok(op) ck_assert_msg(ask(op) == BU_ERR_NONE, "%s", site.err.text)

static void
fails(enum bu_power_op op, enum bu_err_kind kind, const char *text)
{
	ck_assert_int_eq(ask(op), kind);
	ck_assert_str_eq(site.err.text, text);
}

#define CALL(how, suite, words)                                                        \
	"calvin UTC " how " -I lanplus -H b -p 6230 -U root -E -C " suite              \
	" -N 2 -R 2 " words "\n"
#define V(words) CALL("-v", "17", words)
#define C(words) CALL("-c", "17", words)

static void
was_called(const char *wanted)
{
	bu_autofree char *called = ipmi_tool_called(&site.tool);

	ck_assert_str_eq(called, wanted);
}

static void
does(const char *words, const char *what)
{
	ipmi_tool_does(&site.tool, words, what);
}

#define BOOT(device) "echo '   - Boot Device Selector : " device "'"

/* The password is no argument, and each program knows whom it asks. */
START_TEST(each_operation_has_its_words)
{
	static const struct {
		enum bu_power_op op;
		enum bu_boot_first first;
		enum bu_boot_mode mode;
		const char *called;
	} rows[] = {
		{BU_POWER_STATUS, 0, 0, V("chassis power status")},
		{BU_POWER_LOGIN, 0, 0, V("chassis power status")},
		{BU_POWER_CONSOLE, 0, 0, V("chassis power status")},
		{BU_POWER_SWITCH_ON, 0, 0, V("chassis power on")},
		{BU_POWER_SWITCH_OFF, 0, 0, V("chassis power off")},
		{BU_POWER_IDENTITY, 0, 0, V("mc guid") V("fru print 0")},
		{BU_POWER_BOOT_FIRST, BU_BOOT_NETWORK, BU_BOOT_MODE_KEPT,
		 V("chassis bootdev pxe") V("chassis bootparam get 5")},
		{BU_POWER_BOOT_FIRST, BU_BOOT_NETWORK, BU_BOOT_MODE_BIOS,
		 V("chassis bootdev pxe") V("chassis bootparam get 5")},
		{BU_POWER_BOOT_FIRST, BU_BOOT_NETWORK, BU_BOOT_MODE_UEFI,
		 V("chassis bootdev pxe options=efiboot") V("chassis bootparam get 5")},
		{BU_POWER_BOOT_FIRST, BU_BOOT_DISK, BU_BOOT_MODE_UEFI,
		 V("chassis bootdev disk options=efiboot")
			 V("chassis bootparam get 5")},
		{BU_POWER_FIRMWARE, 0, 0, V("mc info")},
		{BU_POWER_SENSORS, 0, 0, C("sdr")},
		{BU_POWER_BMC_RESET, 0, 0, V("mc reset cold")},
		{BU_POWER_EVENTS, 0, 0,
		 V("sel time get") V("sel info") C("sel elist last 100")},
	};

	begin();
	does("chassis bootparam get 5",
	     "if test -e $dir/disk; then " BOOT(
		     "Force Boot from default Hard-Drive") "; else " BOOT("Force PXE") "; fi");
	does("sdr", "echo a,1,x,ok");
	does("sel elist last 100", "echo none");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		site.request.first = rows[i].first;
		site.request.mode = rows[i].mode;
		if (rows[i].first == BU_BOOT_DISK && rows[i].op == BU_POWER_BOOT_FIRST)
			ipmi_tool_put(&site.tool, "disk", "");
		ok(rows[i].op);
		was_called(rows[i].called);
	}
	/* of nobody, and without a port */
	site.request.target = (struct bu_power_target){.bmc = "b"};
	ok(BU_POWER_STATUS);
	was_called(
		" UTC -v -I lanplus -H b -p 623 -U  -E -C 17 -N 2 -R 2 chassis power "
		"status\n");
	fails(BU_POWER_OPS, BU_ERR_INVAL, "IPMI of b: it has no operation 14");
	was_called("");
	finish();
}
END_TEST

START_TEST(a_power_state_is_known_by_its_words)
{
	static const struct {
		const char *says;
		enum bu_power_state state;
	} rows[] = {{"echo Chassis Power is on", BU_POWER_ON},
		    {"echo Chassis Power is off", BU_POWER_OFF},
		    {"echo Chassis Power is shy", BU_POWER_UNKNOWN}};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		does("chassis power status", rows[i].says);
		ok(BU_POWER_STATUS);
		ck_assert_int_eq(site.answer.state, rows[i].state);
	}
	ok(BU_POWER_CONSOLE);
	ck_assert_int_eq(site.answer.console.way, BU_CONSOLE_IPMI);
	ck_assert_str_eq(site.answer.console.host, "b");
	ck_assert_str_eq(site.answer.console.port, "6230");
	ck_assert_str_eq(site.answer.console.suite, "17");
	finish();
}
END_TEST

/* A board that has no records, or no GUID, is of nobody; one that cannot be asked is
 * an error. */
START_TEST(a_machine_is_known_by_its_guid_and_its_serial)
{
	begin();
	does("mc guid", "echo 'System GUID  : 0102030405060708090a0b0c0d0e0f10'");
	does("fru print 0", "echo ' Product Serial        : SN-1'");
	ok(BU_POWER_IDENTITY);
	ck_assert_str_eq(site.answer.machine.uuid,
			 "01020304-0506-0708-090a-0b0c0d0e0f10");
	ck_assert_str_eq(site.answer.machine.serial, "SN-1");
	does("mc guid", "echo no such command >&2; exit 1");
	does("fru print 0", "echo no such command >&2; exit 1");
	ok(BU_POWER_IDENTITY);
	ck_assert_str_eq(site.answer.machine.uuid, "");
	ck_assert_str_eq(site.answer.machine.serial, "");
	does("mc guid", "echo Error: Unable to establish IPMI v2 session >&2; exit 1");
	fails(BU_POWER_IDENTITY, BU_ERR_REMOTE, "IPMI of b:6230: Unable to establish");
	finish();
}
END_TEST

/* The device counts; the mode and the valid flag are known to be lost. */
START_TEST(a_boot_device_reads_back)
{
	static const struct {
		enum bu_boot_first first;
		const char *says, *shows; /* NULL: it does */
	} rows[] = {
		{BU_BOOT_NETWORK, BOOT("Force PXE") "; echo EFI boot", NULL},
		{BU_BOOT_NETWORK, BOOT("Force PXE") "; echo Boot Flag Invalid", NULL},
		{BU_BOOT_NETWORK, BOOT("No override"), "No override"},
		{BU_BOOT_NETWORK, BOOT("Force Boot from default Hard-Drive"),
		 "Force Boot from default Hard-Drive"},
		{BU_BOOT_DISK, BOOT("Force Boot from default Hard-Drive"), NULL},
		{BU_BOOT_DISK, BOOT("Force PXE"), "Force PXE"},
		{BU_BOOT_DISK, "true", ""},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf(
			"IPMI of b:6230: told to boot from %s, it shows '%s'",
			rows[i].first == BU_BOOT_DISK
				? "Force Boot from default Hard-Drive"
				: "Force PXE",
			rows[i].shows ? rows[i].shows : "");

		site.request.first = rows[i].first;
		site.request.mode = BU_BOOT_MODE_UEFI;
		does("chassis bootparam get 5", rows[i].says);
		if (rows[i].shows)
			fails(BU_POWER_BOOT_FIRST, BU_ERR_VERIFY, text);
		else
			ok(BU_POWER_BOOT_FIRST);
	}
	finish();
}
END_TEST

/* --- accounts --- */

#define USERS                                                                          \
	"printf 'ID  Name  Callin\\n1   x     true\\n12  root  true\\n0   zero  true\\n'"

START_TEST(a_password_goes_by_standard_input)
{
	bu_autofree char *input = NULL;

	begin();
	site.request.new_password = "s3cret";
	does("user list 1", USERS);
	does("shell", "cat >$dir/input; echo Set User Password command successful");
	ok(BU_POWER_SET_PASSWORD);
	was_called(V("user list 1") V("shell"));
	input = ipmi_tool_get(&site.tool, "input");
	ck_assert_str_eq(input, "user set password 12 s3cret 16\nquit\n");
	does("shell", "cat >/dev/null; echo Set User Password command failed");
	fails(BU_POWER_SET_PASSWORD, BU_ERR_REMOTE,
	      "IPMI of b:6230: it did not take the new password of account 'root'; "
	      "look at its rules for passwords, and at what this account may do");
	site.request.target.user = "other";
	fails(BU_POWER_SET_PASSWORD, BU_ERR_REMOTE,
	      "IPMI of b:6230: it lists no account 'other'");
	site.request.target.user = "zero"; /* no account has the number 0 */
	fails(BU_POWER_SET_PASSWORD, BU_ERR_REMOTE,
	      "IPMI of b:6230: it lists no account 'zero'");
	free(ipmi_tool_called(&site.tool));
	site.request.new_password = "no blanks";
	ck_assert_int_eq(ask(BU_POWER_SET_PASSWORD), BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(site.err.text, "IPMI of b:6230: a new password"));
	was_called("");
	finish();
}
END_TEST

/* --- refusals --- */

/* Suite 17 first, and 3 of a BMC that does not have it, from then on. */
START_TEST(a_cipher_suite_is_found_once)
{
	begin();
	does("chassis power status",
	     "test $host$suite = b17 && echo no matching cipher suite >&2 && exit 1\n"
	     "echo Chassis Power is on");
	for (int i = 0; i < 2; i++) {
		ok(BU_POWER_STATUS);
		ck_assert_int_eq(site.answer.state, BU_POWER_ON);
		was_called(i ? CALL("-v", "3", "chassis power status")
			     : V("chassis power status")
					   CALL("-v", "3", "chassis power status"));
	}
	ok(BU_POWER_CONSOLE);
	ck_assert_str_eq(site.answer.console.suite, "3");
	/* of each BMC by itself */
	site.request.target.bmc = "c";
	ok(BU_POWER_CONSOLE);
	ck_assert_str_eq(site.answer.console.suite, "17");
	/* and there is no third one */
	site.request.target.bmc = "b:6230";
	does("chassis power status", "echo no matching cipher suite >&2; exit 1");
	fails(BU_POWER_STATUS, BU_ERR_REMOTE,
	      "IPMI of b:6230: no matching cipher suite");
	finish();
}
END_TEST

START_TEST(a_refusal_is_known_by_its_words)
{
	static const struct {
		const char *does;
		enum bu_err_kind kind;
		const char *text;
	} rows[] = {
		{"echo RAKP 2 HMAC is invalid >&2; exit 1", BU_ERR_DENIED,
		 "IPMI of b:6230: RAKP 2 HMAC is invalid"},
		{"echo x unauthorized name x; exit 1", BU_ERR_DENIED,
		 "IPMI of b:6230: unauthorized name"},
		{"echo insufficient resources >&2; exit 1", BU_ERR_REMOTE,
		 "IPMI of b:6230: insufficient resources"},
		{"echo Unable to establish >&2; exit 1", BU_ERR_REMOTE,
		 "IPMI of b:6230: Unable to establish"},
		{"echo what >&2; exit 1", BU_ERR_REMOTE, NULL},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		does("chassis power status", rows[i].does);
		ck_assert_int_eq(ask(BU_POWER_STATUS), rows[i].kind);
		if (rows[i].text)
			ck_assert_str_eq(site.err.text, rows[i].text);
		else
			ck_assert_msg(strncmp(site.err.text,
					      "IPMI of b:6230: chassis power: ", 31) ==
					      0,
				      "%s", site.err.text);
	}
	/* what went out without an answer is none */
	does("chassis power on",
	     "echo Unable to set Chassis Power Control to Up/On >&2; exit 1");
	ck_assert_int_eq(ask(BU_POWER_SWITCH_ON), BU_ERR_TIMEOUT);
	does("sdr", "echo what >&2; exit 1");
	ck_assert_int_eq(ask(BU_POWER_SENSORS), BU_ERR_REMOTE);
	ck_assert_msg(strncmp(site.err.text, "IPMI of b:6230: sdr : ", 22) == 0, "%s",
		      site.err.text);
	finish();
}
END_TEST

/* No program, no call. */
START_TEST(without_ipmitool_it_is_said_at_once)
{
	begin();
	setenv("PATH", "/nowhere", 1);
	site.request.op = BU_POWER_STATUS;
	ck_assert_ptr_null(
		bu_power_ipmi.start(site.driver, &site.request, on_done, NULL));
	ck_assert_int_eq(site.answers, 1);
	ck_assert_int_ne(site.err.kind, BU_ERR_NONE);
	finish();
}
END_TEST

/* --- time --- */

static int
lines_of(const char *name)
{
	bu_autofree char *text = ipmi_tool_get(&site.tool, name);
	int count = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static void
until_called(int lines)
{
	for (int i = 0; i < 3000 && lines_of("log") < lines; i++)
		bu_loop_step(site.loop, 10);
	ck_assert_int_eq(lines_of("log"), lines);
}

/* Its program is ended after 20 s, with names of sensors after 30 s; what is no error
 * when it is refused is none when it is late. */
START_TEST(a_program_that_is_late_is_ended)
{
	begin();
	does("chassis power status", "exec sleep 600");
	site.request.op = BU_POWER_STATUS;
	bu_power_ipmi.start(site.driver, &site.request, on_done, NULL);
	until_called(1);
	bu_clock_advance(&site.clock, 19999);
	for (int i = 0; i < 5; i++)
		bu_loop_step(site.loop, 5);
	ck_assert_int_eq(site.answers, 0);
	bu_clock_advance(&site.clock, 1);
	until(1);
	ck_assert_int_eq(site.err.kind, BU_ERR_TIMEOUT);
	free(ipmi_tool_called(&site.tool));

	does("sel elist last 100", "exec sleep 600");
	does("sel list last 100", "echo 1,11/23/26,02:03:04,Fan,low");
	site.request.op = BU_POWER_EVENTS;
	bu_power_ipmi.start(site.driver, &site.request, on_done, NULL);
	until_called(3);
	bu_clock_advance(&site.clock, 29999);
	for (int i = 0; i < 5; i++)
		bu_loop_step(site.loop, 5);
	was_called(V("sel time get") V("sel info") C("sel elist last 100"));
	bu_clock_advance(&site.clock, 1);
	until(2);
	ck_assert_msg(site.err.kind == BU_ERR_NONE, "%s", site.err.text);
	was_called(C("sel list last 100"));
	ck_assert_uint_eq(json_array_size(json_object_get(site.report, "events")), 1);
	finish();
}
END_TEST

/* 32 at a time; one that ends, or is taken back, lets the next one begin. */
START_TEST(so_many_programs_run_side_by_side)
{
	struct bu_power_call *calls[36];

	begin();
	does("chassis power status",
	     "while test ! -e $dir/go -a -e $dir/log; do sleep 0.1; done");
	site.request.op = BU_POWER_STATUS;
	for (size_t i = 0; i < BU_LEN(calls); i++)
		calls[i] =
			bu_power_ipmi.start(site.driver, &site.request, on_done, NULL);
	until_called(32);
	for (int i = 0; i < 10; i++)
		bu_loop_step(site.loop, 5);
	ck_assert_int_eq(lines_of("log"), 32);
	bu_power_ipmi.cancel(site.driver, calls[35]); /* it waits */
	bu_power_ipmi.cancel(site.driver, calls[0]);
	until_called(33);
	for (int i = 0; i < 10; i++)
		bu_loop_step(site.loop, 5);
	ck_assert_int_eq(lines_of("log"), 33);
	ck_assert_int_eq(site.answers, 0);
	ipmi_tool_put(&site.tool, "go", "");
	until(34);
	ck_assert_int_eq(lines_of("log"), 35);
	finish();
}
END_TEST

/* --- reports --- */

static void
expect(enum bu_power_op op, const char *wanted)
{
	bu_autojson json_t *report = quoted(wanted);
	bu_autofree char *want = bu_json_canonical(report), *got = NULL;

	ok(op);
	got = bu_json_canonical(site.report);
	ck_assert_str_eq(got, want);
}

START_TEST(events_are_told_as_they_are_asked_for)
{
	static const struct {
		size_t most;
		const char *words;
	} rows[] = {{0, "sel elist last 100"},
		    {7, "sel elist last 7"},
		    {999, "sel elist last 999"},
		    {1000, "sel elist last 1000"},
		    {1001, "sel elist last 1000"}};

	begin();
	does("sel time get", "echo 11/23/2026 02:04:04");
	does("sel info", "echo 'Overflow         : true'");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		site.request.most = rows[i].most;
		does(rows[i].words,
		     "printf '1,11/23/26,02:03:04,Fan 1,low\\n2,11/23/26,02:04:03,Fan "
		     "2,low,now\\nSEL has more\\n'");
		/* a minute ahead */
		expect(BU_POWER_EVENTS,
		       "{'events':[{'at_ms':1795399324000,'severity':'','log':'SEL',"
		       "'text':'Fan 1, low'},{'at_ms':1795399383000,'severity':'',"
		       "'log':'SEL','text':'Fan 2, low, now'}],'more':false,"
		       "'full':true}");
	}
	does("sel info", "echo 'Overflow         : false'");
	site.request.since_ms = 1795399324001;
	site.request.most = 7;
	expect(BU_POWER_EVENTS,
	       "{'events':[{'at_ms':1795399383000,'severity':'','log':'SEL',"
	       "'text':'Fan 2, low, now'}],'more':false,'full':false}");
	/* without names, and without either */
	does("sel elist last 7", "exit 1");
	does("sel list last 7", "echo 2,11/23/26,02:04:03,Fan '#2'");
	expect(BU_POWER_EVENTS,
	       "{'events':[{'at_ms':1795399383000,'severity':'','log':'SEL',"
	       "'text':'Fan #2'}],'more':false,'full':false}");
	does("sel list last 7", "exit 1");
	expect(BU_POWER_EVENTS, "{'events':[],'more':false,'full':false}");
	does("sel info", "exit 1");
	ck_assert_int_eq(ask(BU_POWER_EVENTS), BU_ERR_REMOTE);
	finish();
}
END_TEST

START_TEST(sensors_and_firmware_are_told)
{
	begin();
	fails(BU_POWER_SENSORS, BU_ERR_INVAL,
	      "IPMI of b:6230: the BMC shows no sensors");
	does("sdr", "printf 'Inlet,23,degrees C,ok\\nFan,,,ns\\n'");
	expect(BU_POWER_SENSORS,
	       "{'more':false,'sensors':[{'name':'Inlet','value':23.0,'unit':'C',"
	       "'health':'ok','state':'enabled'},{'name':'Fan','value':null,'unit':'',"
	       "'health':'','state':'absent'}]}");
	does("mc info", "echo 'Firmware Revision         : 9.08'");
	expect(BU_POWER_FIRMWARE,
	       "{'more':false,'firmware':[{'name':'BMC','version':'9.08'}]}");
	finish();
}
END_TEST

BU_UNIT("ipmitool", each_operation_has_its_words, a_power_state_is_known_by_its_words,
	a_machine_is_known_by_its_guid_and_its_serial, a_boot_device_reads_back,
	a_password_goes_by_standard_input, a_cipher_suite_is_found_once,
	a_refusal_is_known_by_its_words, without_ipmitool_it_is_said_at_once,
	a_program_that_is_late_is_ended, so_many_programs_run_side_by_side,
	events_are_told_as_they_are_asked_for, sensors_and_firmware_are_told)
