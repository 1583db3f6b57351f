/* SPDX-License-Identifier: Apache-2.0 */
/* Traces through real routers: two leaves and two spines of the kernel, which choose by
 * addresses and ports, in network namespaces of this test. What the leaf's kernel says
 * of its own choice is the judge. */
#include "fabric/probe/trace.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/unit.h"

enum { FLOWS = 8, FIRST = 50000 };

static void
run(const char *script)
{
	ck_assert_msg(system(script) == 0, "%s", script);
}

/* This process is the sender, 10.1.0.2; the peer is 10.2.0.2. Of spine N the leg to
 * leaf L is 10.9.NL.2, and the leaf's own 10.9.NL.1; IPv6 likewise. */
static void
begin(void)
{
	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("none", "/run", "tmpfs", 0, NULL), 0);
	run("set -eu\n"
	    "for n in l1 l2 s1 s2 peer; do\n"
	    "	ip netns add $n; ip -n $n link set lo up\n"
	    "	ip netns exec $n sysctl -qw net.ipv4.ip_forward=1 \\\n"
	    "		net.ipv6.conf.all.forwarding=1 net.ipv4.icmp_ratelimit=0 \\\n"
	    "		net.ipv6.icmp.ratelimit=0 net.ipv4.fib_multipath_hash_policy=1 \\\n"
	    "		net.ipv6.fib_multipath_hash_policy=1 \\\n"
	    "		net.ipv6.conf.default.accept_dad=0\n"
	    "done\n"
	    "sysctl -qw net.ipv6.conf.default.accept_dad=0\n"
	    "ip link set lo up\n"
	    "put() { # device, in, address\n"
	    "	ip ${2:+-n $2} address add \"$3\" dev \"$1\"\n"
	    "	ip ${2:+-n $2} link set \"$1\" up\n"
	    "}\n"
	    "ip link add eth0 type veth peer name port netns l1\n"
	    "ip -n peer link add eth0 type veth peer name port netns l2\n"
	    "put eth0 '' 10.1.0.2/24; put port l1 10.1.0.1/24\n"
	    "put eth0 '' fd00:1::2/64; put port l1 fd00:1::1/64\n"
	    "put eth0 peer 10.2.0.2/24; put port l2 10.2.0.1/24\n"
	    "put eth0 peer fd00:2::2/64; put port l2 fd00:2::1/64\n"
	    "for s in 1 2; do for l in 1 2; do\n"
	    "	ip -n l$l link add up$s type veth peer name leaf$l netns s$s\n"
	    "	put up$s l$l 10.9.$s$l.1/24; put leaf$l s$s 10.9.$s$l.2/24\n"
	    "	put up$s l$l fd00:9:$s$l::1/64; put leaf$l s$s fd00:9:$s$l::2/64\n"
	    "	ip -n s$s route add 10.$l.0.0/24 via 10.9.$s$l.1\n"
	    "	ip -n s$s route add fd00:$l::/64 via fd00:9:$s$l::1\n"
	    "done; done\n"
	    "for l in 1 2; do\n"
	    "	o=$((3 - l))\n"
	    "	ip -n l$l route add 10.$o.0.0/24 nexthop via 10.9.1$l.2 \\\n"
	    "		nexthop via 10.9.2$l.2\n"
	    "	ip -n l$l -6 route add fd00:$o::/64 nexthop via fd00:9:1$l::2 \\\n"
	    "		nexthop via fd00:9:2$l::2\n"
	    "done\n"
	    "ip route add 10.2.0.0/24 via 10.1.0.1\n"
	    "ip route add fd00:2::/64 via fd00:1::1\n"
	    "ip -n peer route add default via 10.2.0.1\n"
	    "ip -n peer route add default via fd00:2::1\n");
}

static int
trace(int v6, int deadline_ms, struct bu_pair_way *paths, struct bu_err *err)
{
	uint16_t sports[FLOWS];
	const struct bu_trace_opts opts = {
		.from = v6 ? "fd00:1::2" : "::ffff:10.1.0.2",
		.to = v6 ? "fd00:2::2" : "::ffff:10.2.0.2",
		.netdev = "eth0",
		.sports = sports,
		.count = FLOWS,
		.wait = {.deadline_ns = bu_raw_ns() + deadline_ms * INT64_C(1000000)},
	};

	for (int i = 0; i < FLOWS; i++)
		sports[i] = (uint16_t)(FIRST + i);
	return bu_trace_run(&opts, paths, err);
}

/* The spine that the leaf's kernel chooses for a flow: 1, 2. */
static int
spine_of(int flow)
{
	bu_autofree char *command =
		bu_xasprintf("ip -n l1 route get 10.2.0.2 from 10.1.0.2 iif port "
			     "ipproto udp sport %d dport 4791",
			     FIRST + flow);
	FILE *out = popen(command, "r");
	char line[512] = "";
	size_t size = out ? fread(line, 1, sizeof(line) - 1, out) : 0;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(pclose(out), 0);
	ck_assert_uint_gt(size, 0);
	return strstr(line, "via 10.9.11.2")   ? 1
	       : strstr(line, "via 10.9.21.2") ? 2
					       : 0;
}

static long
received(const char *counter)
{
	bu_autofree char *command = bu_xasprintf(
		"ip netns exec peer cat /proc/net/snmp | awk '/^Udp:/ { if (n) print "
		"$n; else for (i = 1; i <= NF; i++) if ($i == \"%s\") n = i }'",
		counter);
	FILE *out = popen(command, "r");
	long value = -1;

	ck_assert_int_eq(fscanf(out, "%ld", &value), 1);
	pclose(out);
	return value;
}

/* Of each flow its own spine, as the leaf chooses it, and nothing comes to port 4791 of
 * the peer: a socket there would have got it. */
START_TEST(each_flow_has_its_own_way)
{
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};
	int of[3] = {0};

	BU_NEEDS("root", "ip", "sysctl", "awk");
	begin();
	ck_assert_msg(trace(0, BU_TRACE_MS, paths, &err) == 0, "%s", err.text);
	for (int i = 0; i < FLOWS; i++) {
		int spine = spine_of(i);
		bu_autofree char *want = bu_xasprintf("10.9.%d1.2", spine);

		ck_assert_int_eq(paths[i].hops, 3);
		ck_assert_str_eq(paths[i].hop[0], "10.1.0.1");
		ck_assert_str_eq(paths[i].hop[1], want);
		ck_assert_msg(strncmp(paths[i].hop[2], "10.", 3) == 0, "%s",
			      paths[i].hop[2]);
		of[spine]++;
	}
	ck_assert_int_gt(of[1], 0);
	ck_assert_int_gt(of[2], 0);
	/* The one that looked for the peer, and no other. */
	ck_assert_int_eq(received("NoPorts"), 1);
}
END_TEST

START_TEST(ipv6_is_traced_too)
{
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};
	int of[2] = {0};

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	ck_assert_msg(trace(1, BU_TRACE_MS, paths, &err) == 0, "%s", err.text);
	for (int i = 0; i < FLOWS; i++) {
		ck_assert_int_eq(paths[i].hops, 3);
		ck_assert_str_eq(paths[i].hop[0], "fd00:1::1");
		of[0] += strcmp(paths[i].hop[1], "fd00:9:11::2") == 0;
		of[1] += strcmp(paths[i].hop[1], "fd00:9:21::2") == 0;
	}
	ck_assert_int_gt(of[0], 0);
	ck_assert_int_gt(of[1], 0);
	ck_assert_int_eq(of[0] + of[1], FLOWS);
}
END_TEST

/* A spine that forwards and never answers is unknown, and the other one is not taken
 * for it. */
START_TEST(a_silent_spine_is_not_guessed)
{
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};
	int64_t start_ns;

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	run("ip -n s1 rule add iif lo blackhole");
	start_ns = bu_raw_ns();
	ck_assert_msg(trace(0, BU_TRACE_MS, paths, &err) == 0, "%s", err.text);
	ck_assert_int_lt((bu_raw_ns() - start_ns) / 1000000, BU_TRACE_MS + 500);
	for (int i = 0; i < FLOWS; i++) {
		ck_assert_int_eq(paths[i].hops, 3);
		ck_assert_str_eq(paths[i].hop[0], "10.1.0.1");
		ck_assert_str_eq(paths[i].hop[1], spine_of(i) == 1 ? "" : "10.9.21.2");
	}
}
END_TEST

/* What goes to one spine comes to the other one, too, as over a hub: neither is the
 * way. */
START_TEST(two_answers_for_one_hop_are_none)
{
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	run("set -eu\n"
	    "mac=02:00:00:00:00:02\n"
	    "ip -n l1 link delete up1; ip netns add hub\n"
	    "ip -n hub link add hub type bridge; ip -n hub link set hub up\n"
	    "ip -n l1 link add up1 type veth peer name in0 netns hub\n"
	    "ip -n s1 link add leaf1 address $mac type veth peer name in1 netns hub\n"
	    "ip -n s2 link add more address $mac type veth peer name in2 netns hub\n"
	    "for port in in0 in1 in2; do\n"
	    "	ip -n hub link set $port master hub up\n"
	    "	ip -n hub link set $port type bridge_slave learning off\n"
	    "done\n"
	    "ip -n l1 address add 10.9.11.1/24 dev up1; ip -n l1 link set up1 up\n"
	    "ip -n s1 address add 10.9.11.2/24 dev leaf1\n"
	    "ip -n s1 link set leaf1 up; ip -n s2 link set more up\n"
	    "ip -n s1 route add 10.1.0.0/24 via 10.9.11.1\n"
	    "ip -n l1 route replace 10.2.0.0/24 nexthop via 10.9.11.2 \\\n"
	    "	nexthop via 10.9.21.2\n");
	ck_assert_msg(trace(0, BU_TRACE_MS, paths, &err) == 0, "%s", err.text);
	for (int i = 0; i < FLOWS; i++)
		ck_assert_str_eq(paths[i].hop[1], spine_of(i) == 1 ? "" : "10.9.21.2");
}
END_TEST

START_TEST(a_peer_that_does_not_answer_is_no_end_of_a_way)
{
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};
	int64_t start_ns;

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	run("ip -n peer rule add iif lo blackhole");
	start_ns = bu_raw_ns();
	ck_assert_int_eq(trace(0, BU_TRACE_MS, paths, &err), -1);
	ck_assert_int_lt((bu_raw_ns() - start_ns) / 1000000, BU_TRACE_MS + 500);
	ck_assert_msg(strstr(err.text, "its distance is not known") != NULL, "%s",
		      err.text);
}
END_TEST

/* No router is between two of one network. */
START_TEST(a_neighbour_has_no_hops)
{
	struct bu_pair_way path = {.hops = 7};
	const uint16_t sport = FIRST;
	const struct bu_trace_opts opts = {
		.from = "::ffff:10.1.0.2",
		.to = "::ffff:10.1.0.1",
		.netdev = "",
		.sports = &sport,
		.count = 1,
		.wait = {.deadline_ns = bu_raw_ns() + INT64_C(2000000000)},
	};
	struct bu_err err = {0};

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	ck_assert_msg(bu_trace_run(&opts, &path, &err) == 0, "%s", err.text);
	ck_assert_int_eq(path.hops, 0);
}
END_TEST

/* Another process has the port: that flow is unknown, the others are not. */
START_TEST(a_port_that_is_taken_costs_its_own_flow)
{
	struct sockaddr_in taken = {.sin_family = AF_INET,
				    .sin_port = htons(FIRST + 3)};
	struct bu_pair_way paths[FLOWS];
	struct bu_err err = {0};
	bu_autoclose int fd = -1;

	BU_NEEDS("root", "ip", "sysctl");
	begin();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&taken, sizeof(taken)), 0);
	ck_assert_msg(trace(0, BU_TRACE_MS, paths, &err) == 0, "%s", err.text);
	for (int i = 0; i < FLOWS; i++)
		ck_assert_msg((paths[i].hop[1][0] == '\0') == (i == 3), "%d", i);
	ck_assert_str_eq(paths[3].hop[0], "");
}
END_TEST

static int
is_stopped(void *arg, struct bu_err *err)
{
	(void)arg;
	return bu_err_set(err, BU_ERR_CANCELLED, 0, "the probe was cancelled");
}

START_TEST(a_wait_that_is_stopped_ends_it)
{
	struct bu_pair_way path;
	const uint16_t sport = FIRST;
	const struct bu_trace_opts opts = {
		.from = "::ffff:127.0.0.1",
		.to = "::ffff:127.0.0.2",
		.netdev = "",
		.sports = &sport,
		.count = 1,
		.wait = {.deadline_ns = bu_raw_ns() + INT64_C(60000000000),
			 .stop = is_stopped},
	};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_trace_run(&opts, &path, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
}
END_TEST

BU_UNIT("trace", each_flow_has_its_own_way, ipv6_is_traced_too,
	a_silent_spine_is_not_guessed, two_answers_for_one_hop_are_none,
	a_peer_that_does_not_answer_is_no_end_of_a_way, a_neighbour_has_no_hops,
	a_port_that_is_taken_costs_its_own_flow, a_wait_that_is_stopped_ends_it)
