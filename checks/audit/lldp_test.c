/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLDP: frames good and bad, and real switches: two lldpd, each with its own host name
 * and port, in namespaces of this test.
 */
#include "checks/audit/lldp.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "checks/audit/audit.h"
#include "tests/support/unit.h"

#define CHASSIS "\x02\x07\x04\x02\x00\x00\x00\x00\x01"
#define PORT "\x04\x05\x05swp3"
#define TTL "\x06\x02\x00\x78"
#define NAME "\x0a\x0dleaf01.falcon"
#define END "\x00\x00"

static int
parse(const char *frame, size_t size, struct bu_lldp *ret, struct bu_err *err)
{
	memset(ret, 0, sizeof(*ret));
	return bu_lldp_parse((const uint8_t *)frame, size, ret, err);
}
#define PARSE(frame, ret, err) parse(frame, sizeof(frame) - 1, ret, err)

START_TEST(reads_a_frame)
{
	struct bu_lldp got;

	ck_assert_int_eq(PARSE(CHASSIS PORT TTL "\x08\x06to gpu" NAME
						"\xfe\x06\x00\x12\x0f\x02\x01\x02" END
						"padding",
			       &got, NULL),
			 0);
	ck_assert_str_eq(got.chassis, "02:00:00:00:00:01");
	ck_assert_str_eq(got.port, "swp3");
	ck_assert_str_eq(got.name, "leaf01.falcon");
	ck_assert_str_eq(got.description, "to gpu");
	ck_assert_int_eq(got.ttl_s, 120);
	ck_assert_str_eq(bu_lldp_switch(&got), "leaf01.falcon");
	ck_assert_str_eq(bu_lldp_port(&got), "swp3");
	/* Without its end, and with a chassis that is an address. */
	ck_assert_int_eq(PARSE("\x02\x06\x05\x01\x0a\x00\x00\x01" PORT TTL, &got, NULL),
			 0);
	ck_assert_str_eq(got.chassis, "10.0.0.1");
	ck_assert_str_eq(bu_lldp_switch(&got), "10.0.0.1");
	/* A port that is only a MAC address goes by its description. */
	ck_assert_int_eq(PARSE(CHASSIS "\x04\x07\x03\x02\x00\x00\x00\x00\x05" TTL
				       "\x08\x04swp7",
			       &got, NULL),
			 0);
	ck_assert_str_eq(got.port, "02:00:00:00:00:05");
	ck_assert_str_eq(bu_lldp_port(&got), "swp7");
	ck_assert_int_eq(PARSE("\x02\x04\x07"
			       "a\x1b\xff" PORT TTL,
			       &got, NULL),
			 0);
	ck_assert_str_eq(got.chassis, "a??");
}
END_TEST

START_TEST(refuses_what_is_no_frame)
{
	static const struct {
		const char *frame;
		size_t size;
		enum bu_err_kind kind;
		const char *text;
	} bad[] = {
#define ROW(frame, kind, text) {frame, sizeof(frame) - 1, BU_ERR_##kind, text}
		ROW("", INVAL, "expected chassis, port and time"),
		ROW(END, INVAL, "expected chassis, port and time"),
		ROW(CHASSIS PORT, INVAL, "expected chassis, port and time"),
		ROW(CHASSIS TTL PORT, INVAL, "part 2 of type 3"),
		ROW(PORT CHASSIS TTL, INVAL, "part 1 of type 2"),
		ROW(CHASSIS PORT TTL PORT, INVAL, "part 4 of type 2"),
		ROW(CHASSIS PORT "\x06\x01\x00", INVAL, "part 3 of type 3"),
		ROW("\x02\x01\x04" PORT TTL, INVAL, "part 1 of type 1"),
		ROW(CHASSIS PORT TTL "\x0b\xff x", INVAL, "part 4 is longer"),
		ROW("\x03\xff", INVAL, "part 1 is longer"),
		ROW(CHASSIS PORT "\x06\x02\x00\x00" END, STATE, "announces its end"),
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_lldp got;
		struct bu_err err = {0};

		ck_assert_int_eq(parse(bad[i].frame, bad[i].size, &got, &err), -1);
		ck_assert_int_eq(err.kind, bad[i].kind);
		ck_assert_msg(strstr(err.text, bad[i].text), "%zu: %s", i, err.text);
		ck_assert_str_eq(got.chassis, ""); /* nothing changed */
	}
}
END_TEST

START_TEST(knows_its_switch_port)
{
	const struct bu_lldp port = {.chassis = "02:00:00:00:00:01",
				     .port = "swp3",
				     .name = "leaf01.falcon",
				     .description = "Ethernet1/3"};
	static const char *const yes[] = {
		"leaf01:swp3",           "LEAF01:SWP3", "leaf01.falcon:swp3",
		"leaf01:Ethernet1/3",    "leaf01",      "02:00:00:00:00:01",
		"02:00:00:00:00:01:swp3"};
	static const char *const no[] = {"leaf02:swp3",
					 "leaf01:swp4",
					 "leaf0",
					 "leaf01:swp",
					 "leaf01:",
					 ":swp3",
					 "swp3",
					 "",
					 "leaf011",
					 "leaf01.other:swp3",
					 "02:00:00:00:00:02:swp3"};

	for (size_t i = 0; i < BU_LEN(yes); i++)
		ck_assert_msg(bu_lldp_is(&port, yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < BU_LEN(no); i++)
		ck_assert_msg(!bu_lldp_is(&port, no[i]), "%s", no[i]);
	/* What a switch does not say equals nothing. */
	ck_assert(!bu_lldp_is(&(struct bu_lldp){.chassis = "a", .port = "b"}, ":"));
	ck_assert(!bu_lldp_is(&(struct bu_lldp){.chassis = "a", .port = "b"}, "a:"));
}
END_TEST

/* --- real switches --- */

static const char rig[] =
	"set -e; mount -t tmpfs tmpfs /run; mkdir /run/lldpd; mount -t sysfs sysfs "
	"/sys;"
	"ip link set lo up;"
	"ip link add eth1 type veth peer name swp1;"
	"ip link add eth2 type veth peer name swp2;"
	"ip link add eth3 type veth peer name swp3;"
	"for i in eth1 eth2 eth3 swp1 swp2 swp3; do ip link set $i up; done;"
	"echo 'configure lldp tx-interval 1' >/run/lldpd.conf;"
	"for n in 1 2; do "
	"unshare -u sh -c \"hostname leaf0$n; exec lldpd -d -u /run/leaf$n.sock"
	" -I swp$n -C swp$n -O /run/lldpd.conf\" </dev/null >/dev/null 2>&1 & done";

static json_t *
network(const char *netdev)
{
	return json_pack("{s:s,s:s,s:s}", "name", netdev, "role", "fabric", "netdev",
			 netdev);
}

static const char *
text_of(const struct bu_checks *checks, const char *id, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strcmp(checks->list[i].subject, subject) == 0)
			return *checks->list[i].text ? checks->list[i].text
						     : checks->list[i].seen;
	return "no such row";
}

static int
same(const struct bu_checks *checks, const char *id, const char *subject,
     const char *want)
{
	const char *have = text_of(checks, id, subject);

	if (strcmp(have, want) == 0)
		return 1;
	fprintf(stderr, "%s %s: '%s', wanted '%s'\n", id, subject, have, want);
	return 0;
}

/* In its namespaces: the audit of the running system with cables as they are, then as
 * if two were swapped. 0 when all is as it should be. */
static int
audit_cables(void)
{
	static const struct bu_audit_probes probes = {.lldp = bu_lldp_listen};
	static const char *const expects[] = {
		"{\"eth1\":\"leaf01:swp1\",\"eth2\":\"leaf02:swp2\"}",
		"{\"eth1\":\"leaf02:swp2\",\"eth2\":\"leaf01:swp1\","
		"\"eth3\":\"leaf03\"}",
	};
	int good = 1;

	for (size_t i = 0; i < BU_LEN(expects); i++) {
		/* Silence is waited for only where somebody should speak. */
		bu_autojson json_t *expect = json_pack(
			"{s:[o,o,o],s:o,s:{s:i}}", "networks", network("eth1"),
			network("eth2"), i ? network("eth3") : network("none"), "lldp",
			json_loads(expects[i], 0, NULL), "thresholds", "lldp_wait_ms",
			i ? 4000 : 60000);
		struct bu_checks_ctx ctx = {.root = "", .expect = expect};
		struct bu_checks checks;

		bu_checks_init(&checks);
		good &= bu_audit_run_with(&ctx, &probes, &checks, NULL) == 0;
		good &= same(&checks, "lldp", "eth1", "leaf01:swp1");
		good &= same(&checks, "lldp", "eth2", "leaf02:swp2");
		good &= same(&checks, "cabling", "eth1",
			     i ? "eth1 (network eth1) is cabled to leaf01:swp1, the "
				 "profile says leaf02:swp2: its cable is swapped with "
				 "that of eth2"
			       : "leaf01:swp1");
		good &= same(&checks, "cabling", "eth2",
			     i ? "eth2 (network eth2) is cabled to leaf02:swp2, the "
				 "profile says leaf01:swp1: its cable is swapped with "
				 "that of eth1"
			       : "leaf02:swp2");
		if (i)
			good &= same(&checks, "lldp", "eth3",
				     "eth3 (network eth3): no LLDP was heard, so it "
				     "is unknown whether it is cabled to leaf03");
		bu_checks_fini(&checks);
	}
	return good ? 0 : 1;
}

/* The first process of its namespaces: whatever it starts ends with it. */
static int
in_namespaces(void)
{
	int status;
	pid_t first;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID) != 0)
		return 3;
	first = fork();
	if (first == 0) {
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    system(rig) != 0)
			_exit(2);
		_exit(audit_cables());
	}
	return first > 0 && waitpid(first, &status, 0) == first && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 4;
}

START_TEST(two_real_switches)
{
	int status;
	pid_t child;

	BU_NEEDS("root", "/usr/sbin/lldpd");
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(in_namespaces());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

static int
at_the_second_look(void *arg)
{
	return ++*(int *)arg > 1;
}

/* Nor is it waited for. */
START_TEST(a_port_that_is_not_there_is_not_heard)
{
	int looks = 0;
	struct bu_lldp ports[BU_LLDP_PORTS_MAX + 1] = {{.netdev = "nothere0"}};
	struct bu_err err = {0};

	ck_assert_int_eq(
		bu_lldp_listen(ports, BU_LLDP_PORTS_MAX + 1, 0, NULL, NULL, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	BU_NEEDS("root");
	ck_assert_int_eq(
		bu_lldp_listen(ports, 1, 60000, at_the_second_look, &looks, &err), 0);
	ck_assert_int_eq(ports[0].heard, 0);
	ck_assert_int_eq(looks, 1);
}
END_TEST

BU_UNIT("lldp", reads_a_frame, refuses_what_is_no_frame, knows_its_switch_port,
	a_port_that_is_not_there_is_not_heard, two_real_switches)
