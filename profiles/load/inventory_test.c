/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` says of a tree whose inventory is wrong: one finding a cause. */
#include <stdio.h>
#include <string.h>

#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define COLUMNS "name, mac, serial, uuid, bmc, rack, slot, zone, bmc_factory"
#define HEAD "name,mac,serial,bmc\n"
#define A "52:54:00:77:00:01,LAB-001,qemu:///system#node001"
#define B "52:54:00:77:00:02,LAB-002,qemu:///system#node002"
#define ONE "node001," A "\n"
#define TWO "node002," B "\n"

static const struct {
	const char *racks, *want;
} rows[] = {
	{HEAD ONE TWO, ""},
	{"name,mac,serial,bmc,\nnode001," A ",\nnode002," B ",\n", ""},
	{HEAD "node001," A ",\nnode002," B ",,\n", ""},
	{"#" HEAD ONE TWO, ""},
	{"name,mac,serial,bmc,asset,owner\nnode001," A ",1,x\nnode002," B ",2,y\n",
	 "racks.csv:1: columns 'asset', 'owner' are unknown; allowed is " COLUMNS "\n"},
	/* Any of them may be the BMC, or what the machine is known by. */
	{"name,hwaddr,sn,oob-host\nnode001," A "\nnode002," B "\n",
	 "racks.csv:1: columns 'hwaddr', 'sn', 'oob-host' are unknown; allowed is " COLUMNS
	 "\n"},
	{"asset1,asset2,asset3,asset4,asset5,asset6,name,mac,bmc\n"
	 ",,,,,,node001,52:54:00:77:00:01,qemu:///system#a\n"
	 ",,,,,,node002,52:54:00:77:00:02,qemu:///system#b\n",
	 "racks.csv:1: columns 'asset1', 'asset2', 'asset3', 'asset4', 'asset5' and 1 "
	 "more are unknown; allowed is " COLUMNS "\n"},
	{"hostname,mac,serial,bmc\n" ONE TWO,
	 "racks.csv:1: column 'hostname' is unknown, and column 'name' is missing; "
	 "allowed is " COLUMNS "\n"},
	{ONE TWO, "racks.csv:1: columns 'node001', '52:54:00:77:00:01', 'LAB-001', "
		  "'qemu:///system#node001' are unknown, and column 'name' is missing; "
		  "allowed is " COLUMNS "\n"},
	{"",
	 "racks.csv:1: holds no header line; the first line names the columns " COLUMNS
	 "\n"},
	{"name,mac,serial,mac\n" ONE TWO,
	 "racks.csv:1: column 'mac' is there twice; give it once\n"},
	{"name,\x01mac,serial,bmc\n" ONE TWO,
	 "racks.csv:1: holds a control character; the inventory is plain text\n"},
	{"name,\"mac,serial,bmc\n" ONE TWO,
	 "racks.csv:1: has a wrong quote; a quoted cell starts and ends with '\"'\n"},
	{HEAD "node001;52:54:00:77:00:01;LAB-001;x\nnode002;52:54:00:77:00:02;L;y\n",
	 "racks.csv:2: has ';' between its cells, and the header line ','; write the same "
	 "in each line\n"},
	{HEAD "node001," A ",x\n" TWO,
	 "racks.csv:2: has 5 cells; the header line has 4; a cell with a separator in it "
	 "is put in quotes\n"},
	{HEAD ONE "node002,52:54:00:77:00:01\n",
	 "racks.csv:3: has 2 cells; the header line has 4; an empty cell has its "
	 "separator\n"},
	{HEAD "node001," A ",x\nnode002," B ",x\n",
	 "racks.csv:1: has 4 cells, and each of the 2 rows has 5; name each column\n"},
	{HEAD "node001,52:54:00:77:00,LAB-001,qemu:///system#node001\n" TWO,
	 "racks.csv:2: mac: '52:54:00:77:00' is wrong; allowed is a MAC address like "
	 "52:54:00:77:00:01\n"},
	{HEAD "NODE1," A "\n" TWO, "racks.csv:2: name: 'NODE1' is wrong; allowed is "
				   "lower-case letters, digits and '-'\n"},
	{HEAD "\"node001," A "\n" TWO,
	 "racks.csv:2: has a wrong quote; a quoted cell starts and ends with '\"'\n"},
	/* The row of another: its name, and all that is behind it. */
	{HEAD ONE "node002," A "\n",
	 "racks.csv:3: mac: '52:54:00:77:00:01' is in line 2 already; each machine has "
	 "its own\n"},
	{HEAD ONE ONE TWO,
	 "racks.csv:3: name: 'node001' is in line 2 already; each machine has its own\n"},
	{"name,mac,,serial,bmc\n"
	 "node001,52:54:00:77:00:01,x,L1,qemu:///system#a\n"
	 "node002,52:54:00:77:00:02,y,L2,qemu:///system#b\n",
	 "racks.csv:2: has a cell in a column that has no name; name it in the header "
	 "line, or take it out\n"},
	{HEAD ONE,
	 "racks.csv: has no row for node002; add one, or a [node] section with "
	 "a MAC, a serial number or a UUID\n"},
	{HEAD, "racks.csv: has no row for node[001-002]; add one for each, or a [node] "
	       "section with a MAC, a serial number or a UUID\n"},
	/* What has a cause of its own is told. */
	{HEAD "nodes001," A "\n" TWO,
	 "racks.csv: has no row for node001; add one, or a [node] section with a MAC, a "
	 "serial number or a UUID\n"
	 "racks.csv:2: warning: 'nodes001' is in no pool; the row has no effect\n"},
	{HEAD "node001,bad,LAB-001,a b\n" TWO,
	 "racks.csv:2: bmc: is wrong; allowed is a URL or an address, no blanks, no user "
	 "or password\n"
	 "racks.csv:2: mac: 'bad' is wrong; allowed is a MAC address like "
	 "52:54:00:77:00:01\n"},
	{HEAD "node001," A ",x\nnode002,,,qemu:///system#node002\n",
	 "racks.csv:2: has 5 cells; the header line has 4; a cell with a separator in it "
	 "is put in quotes\n"
	 "racks.csv:3: [node node002] mac: is missing, and serial and uuid too; a machine "
	 "needs one of them\n"},
};

START_TEST(a_wrong_inventory_has_one_finding_a_cause)
{
	int failed = 0;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired *desired;
		bu_autofree char *said =
			bu_testing_check(bu_testing_site, rows[i].racks, &desired);

		bu_desired_destroy(desired);
		if (strcmp(said, rows[i].want) == 0)
			continue;
		failed++;
		fprintf(stderr, "%s-- got\n%s-- want\n%s", rows[i].racks, said,
			rows[i].want);
	}
	ck_assert_int_eq(failed, 0);
}
END_TEST

START_TEST(a_missing_inventory_is_one_finding)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "inventory = racks.csv", "inventory = rakcs.csv");
	struct bu_desired *desired;
	bu_autofree char *said = bu_testing_check(site, HEAD, &desired);

	ck_assert_str_eq(said,
			 "site.ini:5: [site] inventory: no file 'rakcs.csv' in the "
			 "tree\n");
}
END_TEST

BU_UNIT("inventory", a_wrong_inventory_has_one_finding_a_cause,
	a_missing_inventory_is_one_finding)
