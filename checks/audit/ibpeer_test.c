/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbour over InfiniBand: its answers, and a simulated fabric (ibsim)
 * whose device is put under this program, which runs again as "peer DEVICE PORT".
 */
#include "checks/audit/ibpeer.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/ibsim.h"

START_TEST(reads_answers)
{
	uint8_t info[64] = {0}, description[64] = {0};
	struct bu_lldp got = {.netdev = "ib0"};

	memcpy(info + 12, "\x0c\x42\xa1\x03\x00\x5e\x00\x01", 8);
	info[36] = 17;
	memcpy(description, "leaf\x01 rack 7  ", 14);
	bu_ib_peer_parse(info, description, &got);
	ck_assert_str_eq(got.netdev, "ib0");
	ck_assert_int_eq(got.heard, 1);
	ck_assert_str_eq(got.chassis, "0x0c42a103005e0001");
	ck_assert_str_eq(got.name, "leaf? rack 7");
	ck_assert_str_eq(got.port, "17");
	ck_assert(bu_lldp_is(&got, "0x0c42a103005e0001:17"));
	/* A managed switch goes by its own name, as it does where it is read. */
	memset(description, 0, 64);
	memcpy(description, "MF0;leaf01:MQM9700/U1", 21);
	bu_ib_peer_parse(info, description, &got);
	ck_assert_str_eq(bu_lldp_switch(&got), "leaf01");
	ck_assert_uint_eq(bu_lldp_is(&got, "leaf01:17"), 6);
	ck_assert_uint_eq(bu_lldp_is(&got, "LEAF01"), 6);
	ck_assert_uint_eq(bu_lldp_is(&got, "0x0c42a103005e0001:17"), 18);
	ck_assert_uint_eq(bu_lldp_is(&got, "leaf01:18"), 0);
	/* A description without an end. */
	memset(description, 'x', 64);
	bu_ib_peer_parse(info, description, &got);
	ck_assert_uint_eq(strlen(got.name), 63);
}
END_TEST

START_TEST(a_switch_has_its_name_in_its_description)
{
	static const char *const rows[][2] = {
		{"leaf01", "leaf01"},
		{"MF0;leaf01:MQM8700/U1", "leaf01"},
		/* the leaf of a director is the card */
		{"MF0;ib-core:CS7500/L07/U1", "ib-core/L07"},
		{"MF0;ib-core:CS7500/L08/U1  ", "ib-core/L08"},
		{"MF0;ib-core:CS8500/L08/U3", "ib-core/L08/U3"},
		{"MF0;ib-core:CS7500/S02/U1", "ib-core/S02"},
		{"leaf 7  ", "leaf 7"},
		{"MF0;leaf01", "MF0;leaf01"},
		{"a:b", "a:b"},
		{"", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char got[64];

		bu_ib_peer_name(rows[i][0], got, sizeof(got));
		ck_assert_str_eq(got, rows[i][1]);
	}
}
END_TEST

/* All of a kind have the same words: two leaves are not one. */
START_TEST(a_switch_without_a_name_goes_by_its_guid)
{
	uint8_t info[64] = {0}, description[64] = "Quantum Mellanox Technologies";
	struct bu_lldp got = {.netdev = "ib0"};

	info[2] = 2; /* a switch */
	memcpy(info + 12, "\x0c\x42\xa1\x03\x00\x5e\x00\x01", 8);
	info[36] = 17;
	bu_ib_peer_parse(info, description, &got);
	ck_assert_str_eq(bu_lldp_switch(&got), "0x0c42a103005e0001");
	ck_assert_uint_eq(bu_lldp_is(&got, "0x0c42a103005e0001:17"), 18);
	/* The card that it is in decides, not the whole switch. */
	memset(description, 0, 64);
	memcpy(description, "MF0;ib-core:CS7500/L08/U1", 25);
	bu_ib_peer_parse(info, description, &got);
	ck_assert_uint_eq(bu_lldp_is(&got, "ib-core/L08:17"), 11);
	ck_assert_uint_eq(bu_lldp_is(&got, "ib-core/L07:17"), 0);
	ck_assert_uint_eq(bu_lldp_is(&got, "ib-core:17"), 0);
}
END_TEST

START_TEST(without_a_device_nobody_is_asked)
{
	struct bu_lldp got = {.heard = 0};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_ib_peer("/nowhere", "mlx5_0", 1, 10, &got, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	err.kind = BU_ERR_NONE;
	ck_assert_int_eq(bu_ib_peer("", "nothing0", 1, 10, &got, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(got.heard, 0);
	ck_assert_ptr_nonnull(strstr(err.text, "load ib_umad"));
}
END_TEST

/* --- a simulated fabric --- */

static const char net[] =
	"Switch 4 \"leaf01\"\n[1] \"gpu001\"[1]\n[3] \"gpu002\"[1]\n\n"
	"Switch 4 \"leaf02\"\n[2] \"gpu003\"[1]\n\n"
	"Hca 1 \"gpu001\"\n[1] \"leaf01\"[1]\n\n"
	"Hca 1 \"gpu002\"\n[1] \"leaf01\"[3]\n\n"
	"Hca 1 \"gpu003\"\n[1] \"leaf02\"[2]\n";

/* The simulator reads past a buffer of its own, which is not our business. */
static const char rig[] =
	"cd /run; ip link set lo up; sleep 30 | ibsim -s net >/dev/null 2>&1 &"
	"cd /run; for n in 1 2 3; do i=0; until [ -s peer$n ] || [ $i = 20 ]; do"
	" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:replace_intrin=0 "
	"SIM_HOST=gpu00$n "
	"LD_PRELOAD=$UMAD2SIM timeout 5 $SELF peer ibsim0 1"
	" >peer$n 2>/dev/null || : >peer$n; i=$((i+1)); [ -s peer$n ] || sleep 0.2;"
	" done; done; cat peer1 peer2 peer3 >peers";

static int
peer(const char *device, int port)
{
	struct bu_lldp got = {.heard = 0};
	struct bu_err err = {0};

	if (bu_ib_peer("", device, port, 2000, &got, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s:%s\n", bu_lldp_switch(&got), bu_lldp_port(&got));
	return 0;
}

static int
ask_fabric(void)
{
	bu_autofree char *peers = NULL;

	if (system(rig) != 0)
		return 3;
	peers = bu_file_read("/run/peers", 0, NULL, NULL);
	if (peers && strcmp(peers, "leaf01:1\nleaf01:3\nleaf02:2\n") == 0)
		return 0;
	fprintf(stderr, "the neighbours are said to be:\n%s", peers ? peers : "nobody");
	return 1;
}

START_TEST(a_simulated_fabric_answers)
{
	BU_NEEDS("root", "/usr/bin/ibsim", umad2sim);
	ibsim_asks(net, ask_fabric);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		reads_answers, a_switch_has_its_name_in_its_description,
		a_switch_without_a_name_goes_by_its_guid,
		without_a_device_nobody_is_asked, a_simulated_fabric_answers};

	if (argc == 4 && strcmp(argv[1], "peer") == 0)
		return peer(argv[2], atoi(argv[3]));
	return bu_unit_run("ibpeer", tests, BU_LEN(tests));
}
