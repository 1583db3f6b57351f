/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of InfiniBand switches: names and sums of packets, and a simulated fabric
 * (ibsim, with LIDs from opensm) whose device is put under this program, which runs
 * again as "read DEVICE PORT NAME...".
 */
#include "checks/audit/ibfabric.h"

#include <infiniband/mad.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks/audit/ibfabric_impl.h"
#include "tests/support/ibsim.h"

/* Bytes, packets and waits are none. */
START_TEST(errors_are_added_up)
{
	uint8_t data[IB_MAD_SIZE] = {0};
	const char *full = NULL;
	uint64_t sums[2];

	mad_set_field(data, 0, IB_PC_ERR_SYM_F, 40000);
	mad_set_field(data, 0, IB_PC_LINK_RECOVERS_F, 2);
	mad_set_field(data, 0, IB_PC_LINK_DOWNED_F, 3);
	mad_set_field(data, 0, IB_PC_ERR_RCV_F, 500);
	mad_set_field(data, 0, IB_PC_ERR_PHYSRCV_F, 60);
	mad_set_field(data, 0, IB_PC_ERR_LOCALINTEG_F, 7);
	mad_set_field(data, 0, IB_PC_ERR_EXCESS_OVR_F, 8);
	mad_set_field(data, 0, IB_PC_VL15_DROPPED_F, 9);
	mad_set_field(data, 0, IB_PC_XMT_DISCARDS_F, 11);
	mad_set_field(data, 0, IB_PC_XMT_WAIT_F, 1000000);
	mad_set_field(data, 0, IB_PC_XMT_BYTES_F, 1000000);
	mad_set_field(data, 0, IB_PC_ERR_SWITCH_REL_F, 1000);
	bu_ib_fabric_sums(data, 0, sums, &full);
	ck_assert_uint_eq(sums[0], 40000 + 2 + 3 + 500 + 60 + 7 + 8 + 9);
	ck_assert_uint_eq(sums[1], 11);
	ck_assert_ptr_null(full);
}
END_TEST

START_TEST(a_counter_at_its_end_is_named)
{
	static const struct {
		enum MAD_FIELDS field;
		unsigned end;
	} rows[] = {
		{IB_PC_ERR_SYM_F, 0xffff},      {IB_PC_LINK_RECOVERS_F, 0xff},
		{IB_PC_LINK_DOWNED_F, 0xff},    {IB_PC_ERR_RCV_F, 0xffff},
		{IB_PC_ERR_PHYSRCV_F, 0xffff},  {IB_PC_ERR_LOCALINTEG_F, 0xf},
		{IB_PC_ERR_EXCESS_OVR_F, 0xf},  {IB_PC_VL15_DROPPED_F, 0xffff},
		{IB_PC_XMT_DISCARDS_F, 0xffff},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		uint8_t data[IB_MAD_SIZE] = {0};
		const char *full = NULL;
		uint64_t sums[2];

		mad_set_field(data, 0, rows[i].field, rows[i].end - 1);
		bu_ib_fabric_sums(data, 0, sums, &full);
		ck_assert_ptr_null(full);
		mad_set_field(data, 0, rows[i].field, rows[i].end);
		bu_ib_fabric_sums(data, 0, sums, &full);
		ck_assert_ptr_nonnull(full);
		ck_assert_str_eq(full, mad_field_name(rows[i].field));
	}
}
END_TEST

START_TEST(long_counters_are_read_where_there_are_some)
{
	uint8_t data[IB_MAD_SIZE] = {0};
	const char *full = NULL;
	uint64_t sums[2];

	mad_set_field64(data, 0, IB_PC_EXT_ERR_SYM_F, 0xffff);
	mad_set_field64(data, 0, IB_PC_EXT_VL15_DROPPED_F, 5000000000);
	mad_set_field64(data, 0, IB_PC_EXT_XMT_DISCARDS_F, 7);
	mad_set_field64(data, 0, IB_PC_EXT_XMT_WAIT_F, 1000000);
	mad_set_field64(data, 0, IB_PC_EXT_RCV_BYTES_F, 1000000);
	bu_ib_fabric_sums(data, 1, sums, &full);
	ck_assert_uint_eq(sums[0], 0xffff + 5000000000);
	ck_assert_uint_eq(sums[1], 7);
	ck_assert_ptr_null(full);
}
END_TEST

START_TEST(without_a_device_there_is_an_error)
{
	bu_autojson json_t *names = json_object();
	struct bu_ib_fabric of = {"nothing0", 1, names, 1000};
	struct bu_err err = {0};

	ck_assert_ptr_null(bu_ib_fabric_read(&of, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(err.text, "load ib_umad"));
}
END_TEST

/* --- a simulated fabric --- */

/* Two leaves, two spines, and a second cable between leaf02 and spine01. */
static const char net[] =
	"Switch 8 \"leaf01\"\n[1] \"gpu001\"[1]\n[5] \"spine01\"[1]\n"
	"[6] \"spine02\"[1]\n\n"
	"Switch 8 \"leaf02\"\n[1] \"gpu002\"[1]\n[5] \"spine01\"[2]\n"
	"[6] \"spine02\"[2]\n[7] \"spine01\"[3]\n\n"
	"Switch 8 \"spine01\"\n[1] \"leaf01\"[5]\n[2] \"leaf02\"[5]\n"
	"[3] \"leaf02\"[7]\n\n"
	"Switch 8 \"spine02\"\n[1] \"leaf01\"[6]\n[2] \"leaf02\"[6]\n\n"
	"Hca 1 \"gpu001\"\n[1] \"leaf01\"[1]\n\n"
	"Hca 1 \"gpu002\"\n[1] \"leaf02\"[1]\n";

/* Errors of the link between leaf02 and spine02, at both of its ends; waits of another
 * one, and errors of a port that leads to a node. */
static const char commands[] =
	"PerformanceSet \"leaf02\"[6] PortCounters.SymbolErrorCounter=120\n"
	"PerformanceSet \"leaf02\"[6] PortCounters.PortXmitDiscards=3\n"
	"PerformanceSet \"spine02\"[2] PortCounters.PortRcvErrors=45\n"
	"PerformanceSet \"spine02\"[1] PortCounters.LinkDownedCounter=255\n"
	"PerformanceSet \"leaf01\"[5] PortCounters.PortXmitWait=9999\n"
	"PerformanceSet \"leaf01\"[1] PortCounters.SymbolErrorCounter=777\n";

static const char reads[] =
	"at gpu001 20 read ibsim0 1 leaf01 leaf02 spine01 spine02 >first 2>errs; "
	"at gpu001 20 read ibsim0 1 leaf01 leaf99 >second 2>>errs; "
	"exec 3>&-; cat first second errs >said";

static int
read_fabric(int argc, char **argv)
{
	struct bu_ib_fabric of = {argv[0], atoi(argv[1]), json_object(), 10000};
	struct bu_err err = {0};
	bu_autojson json_t *answer = NULL;
	const json_t *port;
	size_t i;

	for (int k = 2; k < argc; k++)
		json_object_set_new((json_t *)of.names, argv[k], json_true());
	answer = bu_ib_fabric_read(&of, &err);
	if (!answer)
		printf("error: %s\n", err.text);
	json_array_foreach (json_object_get(answer, "ports"), i, port) {
		printf("%s:%s-%s %lld %lld\n", bu_json_str(port, "switch", "?"),
		       bu_json_str(port, "port", "?"), bu_json_str(port, "peer", "?"),
		       (long long)bu_json_int(port, "received", -1),
		       (long long)bu_json_int(port, "sent", -1));
	}
	if (json_object_get(answer, "full"))
		printf("full: %s\n", bu_json_str(answer, "full", ""));
	return 0;
}

/* Each link at both of its ends, in the order in which they are found. */
static const char wanted[] =
	"leaf01:5-spine01 0 0\n"
	"leaf01:6-spine02 0 0\n"
	"spine01:1-leaf01 0 0\n"
	"spine01:2-leaf02 0 0\n"
	"spine01:3-leaf02 0 0\n"
	"spine02:1-leaf01 255 0\n"
	"spine02:2-leaf02 45 0\n"
	"leaf02:5-spine01 0 0\n"
	"leaf02:6-spine02 120 3\n"
	"leaf02:7-spine01 0 0\n"
	"full: LinkDownedCounter of port 1 of spine02\n"
	"error: ibsim0 port 1: of 4 switches that answer, none has a "
	"link between a leaf and a spine";

static int
ask_fabric(void)
{
	bu_autofree char *said = NULL;

	if (ibsim_counts("gpu002", commands, reads) != 0)
		return 3;
	said = bu_file_read("/run/said", 0, NULL, NULL);
	if (said && strncmp(said, wanted, strlen(wanted)) == 0)
		return 0;
	fprintf(stderr, "the fabric is said to be:\n%s", said ? said : "nothing");
	return 1;
}

START_TEST(a_simulated_fabric_is_read)
{
	BU_NEEDS("root", "/usr/bin/ibsim", "/usr/sbin/opensm", umad2sim);
	ibsim_asks(net, ask_fabric);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		errors_are_added_up, a_counter_at_its_end_is_named,
		long_counters_are_read_where_there_are_some,
		without_a_device_there_is_an_error, a_simulated_fabric_is_read};

	if (argc > 4 && strcmp(argv[1], "read") == 0)
		return read_fabric(argc - 2, argv + 2);
	return bu_unit_run("ibfabric", tests, BU_LEN(tests));
}
