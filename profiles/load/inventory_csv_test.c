/* SPDX-License-Identifier: Apache-2.0 */
/* Inventories as vendors ship them, and the wrong ones. */
#include "profiles/load/inventory_csv.h"

#include <string.h>

#include "tests/support/unit.h"

#define COLUMNS "name, mac, serial, uuid, bmc, rack, slot, zone, bmc_factory"

static struct bu_findings findings;

static struct bu_inventory_csv *
parse(const char *text)
{
	struct bu_tree_file file = {
		.path = "racks.csv", .text = (char *)text, .size = strlen(text)};

	bu_findings_clear(&findings);
	return bu_inventory_csv_parse(&file, &findings);
}

START_TEST(vendor_quirks_do_not_matter)
{
	static const char *const same[] = {
		"name,mac,serial,bmc\nn1,52:54:00:77:00:0a,S1,10.0.0.1\n",
		"\xef\xbb\xbfName,MAC,Serial,BMC\r\nn1,52-54-00-77-00-0A,S1,10.0.0."
		"1\r\n",
		"bmc ; serial;mac ;name\n10.0.0.1; S1; 52540077000a ;n1\n",
		"# shipped "
		"2026-11-02\n\nserial,name,mac,bmc\n\"S1\",\"n1\",\"5254.0077.000A\","
		"\"10.0.0.1\"",
		"name,mac,serial,rack,bmc\n n1 ,\t52540077000a, S1 "
		",,10.0.0.1\n\n,,,,\n",
		"name,mac,serial,bmc,\nn1,52540077000a,S1,10.0.0.1,\n",
		"name,mac,serial,bmc,,\nn1,52540077000a,S1,10.0.0.1\n",
		"name,mac,serial,bmc\nn1,52540077000a,S1,10.0.0.1,,\n",
		"name,mac,,serial,bmc\nn1,52540077000a,,S1,10.0.0.1\n",
		"name\tmac\tserial\tbmc\track\nn1\t52540077000a\tS1\t10.0.0.1\t\n",
		"rack\tname\tmac\tserial\tbmc\r\n\tn1\t52540077000a\tS1\t10.0.0.1\r\n",
		"#name,mac,serial,bmc\nn1,52540077000a,S1,10.0.0.1\n",
		"# Serial; Name; MAC; BMC\n# of 2026\nS1;n1;52540077000a;10.0.0.1\n",
		"\"#name\",\"mac\",\"serial\",\"bmc\"\nn1,52540077000a,S1,10.0.0.1\n",
		"# name, serial\nname,mac,serial,bmc\nn1,52540077000a,S1,10.0.0.1\n",
		"# name\nmac,name,serial,bmc\n52540077000a,n1,S1,10.0.0.1\n",
	};

	for (size_t i = 0; i < BU_LEN(same); i++) {
		struct bu_inventory_csv *inventory = parse(same[i]);
		char **fields;

		ck_assert_msg(findings.count == 0, "%zu: %s", i,
			      findings.count ? findings.items[0].text : "");
		ck_assert_uint_eq(inventory->count, 1);
		fields = inventory->rows[0].fields;
		ck_assert_str_eq(fields[BU_INVENTORY_CSV_NAME], "n1");
		ck_assert_str_eq(fields[BU_INVENTORY_CSV_MAC], "52:54:00:77:00:0a");
		ck_assert_str_eq(fields[BU_INVENTORY_CSV_SERIAL], "S1");
		ck_assert_str_eq(fields[BU_INVENTORY_CSV_BMC], "10.0.0.1");
		ck_assert_ptr_null(fields[BU_INVENTORY_CSV_RACK]);
		bu_inventory_csv_destroy(inventory);
	}
	bu_findings_clear(&findings);
}
END_TEST

/* What bringup wrote for a spreadsheet: the apostrophe is no part of it. */
START_TEST(a_cell_that_is_no_formula_is_what_it_was)
{
	static const char *const same[] = {
		"name,mac,rack\nn1,52:54:00:77:00:0a,'-S1\n",
		"name,mac,rack\nn1,52:54:00:77:00:0a,\"'-S1\"\n",
		"name,mac,rack\nn1,52:54:00:77:00:0a,-S1\n",
	};

	for (size_t i = 0; i < BU_LEN(same); i++) {
		struct bu_inventory_csv *inventory = parse(same[i]);

		ck_assert_msg(findings.count == 0, "%zu: %s", i,
			      findings.count ? findings.items[0].text : "");
		ck_assert_uint_eq(inventory->count, 1);
		ck_assert_str_eq(inventory->rows[0].fields[BU_INVENTORY_CSV_RACK],
				 "-S1");
		bu_inventory_csv_destroy(inventory);
	}
	bu_findings_clear(&findings);
}
END_TEST

START_TEST(wrong_inventories_get_line_and_reason)
{
	static const struct {
		const char *text;
		int line;
		const char *want;
	} rows[] = {
		{"", 1,
		 "holds no header line; the first line names the columns " COLUMNS},
		{"mac\n", 1,
		 "column 'name' is missing; the first line names the columns"},
		{"name,mca\n", 1,
		 "column 'mca' (did you mean 'mac'?) is unknown; allowed is " COLUMNS},
		{"name,mac,MAC\n", 1, "column 'mac' is there twice; give it once"},
		{"name,mac\nn1\n", 2,
		 "has 1 cell; the header line has 2; an empty cell has its separator"},
		{"name,mac\nn1,a,b\n", 2,
		 "has 3 cells; the header line has 2; a cell with a separator in it is put in quotes"},
		{"name,mac\nn1,52:54:00:77:00\n", 2,
		 "mac: '52:54:00:77:00' is wrong; allowed is a MAC address like "
		 "52:54:00:77:00:01"},
		{"name,mac\nn1,ff:ff:ff:ff:ff:ff\n", 2,
		 "mac: 'ff:ff:ff:ff:ff:ff' is wrong; allowed is a MAC address like "
		 "52:54:00:77:00:01"},
		{"name,mac\nn1,525400 77000a\n", 2,
		 "mac: '525400 77000a' is wrong; allowed is a MAC address like "
		 "52:54:00:77:00:01"},
		{"name,mac\nN1,\n", 2,
		 "name: 'N1' is wrong; allowed is lower-case letters, digits and '-'"},
		{"name,mac\n,52:54:00:77:00:01\n", 2,
		 "name: is empty; each row names a node"},
		{"name,serial\n\"n1,S1\n", 2,
		 "has a wrong quote; a quoted cell starts and ends with '\"'"},
		{"name,serial\nn1,\"S1\"x\n", 2,
		 "has a wrong quote; a quoted cell starts and ends with '\"'"},
		{"name,serial\nn1,S1\n\nn1,S2\n", 4,
		 "name: 'n1' is in line 2 already; each machine has its own"},
		{"name,mac\nn1,52:54:00:77:00:01\nn2,5254.0077.0001\n", 3,
		 "mac: '52:54:00:77:00:01' is in line 2 already; each machine has its "
		 "own"},
		{"name,serial\nn1,S1\nn2,S1\n", 3,
		 "serial: 'S1' is in line 2 already; each machine has its own"},
		{"name,uuid\nn1,4c4c4544-0042\nn2,4c4c4544-0042\n", 3,
		 "uuid: '4c4c4544-0042' is in line 2 already; each machine has its "
		 "own"},
		{"name,bmc\nn1,10.0.0.1\nn2,10.0.0.1\n", 3,
		 "bmc: '10.0.0.1' is in line 2 already; each machine has its own"},
		{"name,bmc\nn1,\x01\n", 2,
		 "holds a control character; the inventory is plain text"},
		{"name,bmc\nn1,a b\n", 2,
		 "bmc: is wrong; allowed is a URL or an address, no blanks, no user or "
		 "password"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_inventory_csv *inventory = parse(rows[i].text);

		ck_assert_msg(findings.errors == 1, "row %zu: %zu errors", i,
			      findings.errors);
		ck_assert_str_eq(findings.items[0].text, rows[i].want);
		ck_assert_int_eq(findings.items[0].line, rows[i].line);
		ck_assert_str_eq(findings.items[0].file, "racks.csv");
		bu_inventory_csv_destroy(inventory);
	}
	bu_findings_clear(&findings);
}
END_TEST

START_TEST(rows_that_are_not_read_are_told_by_their_names)
{
	static const struct {
		const char *text;
		const char *unread; /* with blanks between them */
		int nameless;
		size_t rows;
	} rows[] = {
		{"name,mac\nn1,52540077000a\n", "", 0, 1},
		{"name,mac\nn1,bad\nn2,52540077000a\n", "n1", 0, 1},
		{"mac,name\nbad,n1\n", "n1", 0, 0},
		{"name,mac\nn1,a,b\nn2,52540077000a\n", "n1", 0, 1},
		{"name,mac\nn1\n", "n1", 0, 0},
		{"name,mac\nn1,\"a\n", "n1", 0, 0},
		{"name,mac\n\"n1,a\n", "", 1, 0},
		{"name,mac\nN1,52540077000a\n", "", 1, 0},
		{"name,mac\n,52540077000a\n", "", 1, 0},
		{"name,mac\nn1;52540077000a\n", "", 1, 0},
		{"name,mac\nn1,\x01\n", "", 1, 0},
		{"name,mac\n# \x01\nn1,52540077000a\n", "", 0, 1},
		{"mac\n52540077000a\n", "", 1, 0},
		{"name,mac\nn1,52540077000a\nn2,52540077000a\n", "n2", 0, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_inventory_csv *inventory = parse(rows[i].text);
		bu_autofree char *unread = bu_xstrdup("");

		for (size_t j = 0; j < inventory->unread_count; j++) {
			char *more = bu_xasprintf("%s%s%s", unread, j ? " " : "",
						  inventory->unread[j]);

			free(unread);
			unread = more;
		}
		ck_assert_str_eq(unread, rows[i].unread);
		ck_assert_msg(inventory->nameless == rows[i].nameless, "%zu", i);
		ck_assert_msg(inventory->count == rows[i].rows, "%zu", i);
		bu_inventory_csv_destroy(inventory);
	}
	bu_findings_clear(&findings);
}
END_TEST

START_TEST(long_lines_and_many_fields_are_refused)
{
	bu_autofree char *fields = bu_xmalloc(4200), *text = NULL;
	struct bu_inventory_csv *inventory;

	memset(fields, ',', 100);
	fields[100] = '\0';
	text = bu_xasprintf("name\nx%s\n", fields);
	inventory = parse(text);
	ck_assert_uint_eq(findings.errors, 1);
	ck_assert_str_eq(findings.items[0].text,
			 "has too many cells; take out what is not needed");
	bu_inventory_csv_destroy(inventory);
	free(text);
	memset(fields, 'a', 4199);
	fields[4199] = '\0';
	text = bu_xasprintf("name\n%s\n", fields);
	inventory = parse(text);
	ck_assert_uint_eq(findings.errors, 1);
	ck_assert_str_eq(findings.items[0].text, "the line is longer than 4096 bytes");
	bu_inventory_csv_destroy(inventory);
	bu_findings_clear(&findings);
}
END_TEST

BU_UNIT("inventory_csv", vendor_quirks_do_not_matter,
	a_cell_that_is_no_formula_is_what_it_was, wrong_inventories_get_line_and_reason,
	rows_that_are_not_read_are_told_by_their_names,
	long_lines_and_many_fields_are_refused)
