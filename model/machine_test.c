/* SPDX-License-Identifier: Apache-2.0 */
/* Who a machine is, whatever its vendor has left in the firmware. */
#include "model/machine.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unseen.h"

START_TEST(macs_of_any_spelling)
{
	static const char *const good[] = {
		"52:54:00:ab:cd:ef",
		"52-54-00-AB-CD-EF",
		"5254.00ab.cdef",
		"525400ABCDEF",
	};
	static const char *const bad[] = {
		"",
		"52:54:00:ab:cd",
		"52:54:00:ab:cd:ef:01",
		"52:54:00:ab:cd:eg",
		"52:54:00:ab:cd:",
		":52:54:00:ab:cd:ef",
		"52::54:00:ab:cd:ef",
		"00:00:00:00:00:00",
		"ff:ff:ff:ff:ff:ff",
		"01:00:5e:00:00:01",
		"52:5400abcdef",
		"52 54 00 ab cd ef",
		"52:54:00:ab:cd:ef\n",
	};
	char mac[BU_MAC_SIZE] = "untouched";

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		ck_assert_msg(bu_mac_normalize(bad[i], mac) == -1, "'%s'", bad[i]);
		ck_assert_str_eq(mac, "untouched");
	}
	for (size_t i = 0; i < BU_LEN(good); i++) {
		ck_assert_int_eq(bu_mac_normalize(good[i], mac), 0);
		ck_assert_str_eq(mac, "52:54:00:ab:cd:ef");
	}
}
END_TEST

static struct bu_machine
machine(const char *uuid, const char *serial, const char *mac, const char *mac2)
{
	struct bu_machine ret = {.macs_count = 0};

	strcpy(ret.uuid, uuid);
	strcpy(ret.serial, serial);
	if (*mac)
		strcpy(ret.macs[ret.macs_count++], mac);
	if (*mac2)
		strcpy(ret.macs[ret.macs_count++], mac2);
	return ret;
}

static const char mac1[] = "52:54:00:00:00:01", mac2[] = "52:54:00:00:00:02";

START_TEST(an_id_is_of_what_tells_machines_apart)
{
	struct bu_machine a = machine("u-1", "S1", mac1, mac2);
	struct bu_machine same = machine(" U-1 ", "s1\t", mac2, mac1);
	/* A card more, one less: its MACs are a hint. */
	struct bu_machine cards = machine("u-1", "S1", mac2, "");
	struct bu_machine others[] = {
		machine("u-2", "S1", mac1, mac2), machine("u-1", "S2", mac1, mac2),
		machine("u-1", "", mac1, mac2),   machine("", "S1", mac1, mac2),
		machine("", "", mac1, mac2),
	};
	char id[BU_MACHINE_ID_SIZE], other[BU_MACHINE_ID_SIZE];

	ck_assert_int_eq(bu_machine_id(&a, id, NULL), 0);
	ck_assert_uint_eq(strspn(id, "0123456789abcdef"), 16);
	ck_assert_int_eq(bu_machine_id(&same, other, NULL), 0);
	ck_assert_str_eq(id, other);
	ck_assert_int_eq(bu_machine_id(&cards, other, NULL), 0);
	ck_assert_str_eq(id, other);
	for (size_t i = 0; i < BU_LEN(others); i++) {
		ck_assert_int_eq(bu_machine_id(&others[i], other, NULL), 0);
		ck_assert_str_ne(id, other);
	}
}
END_TEST

START_TEST(what_vendors_leave_is_nothing)
{
	struct bu_machine plain = machine("", "", mac1, "");
	struct bu_machine left = machine("03000200-0400-0500-0006-000700080009",
					 "To Be Filled By O.E.M.", mac1, "");
	struct bu_machine none = machine("Not Specified", "None", "", "");
	char id[BU_MACHINE_ID_SIZE], other[BU_MACHINE_ID_SIZE];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_machine_id(&plain, id, NULL), 0);
	ck_assert_int_eq(bu_machine_id(&left, other, NULL), 0);
	ck_assert_str_eq(id, other);
	ck_assert_int_eq(bu_machine_id(&none, other, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(other, id); /* untouched */
}
END_TEST

START_TEST(a_machine_has_its_macs)
{
	struct bu_machine a = machine("u", "s", mac1, mac2);

	ck_assert_int_eq(bu_machine_has_mac(&a, "52-54-00-00-00-02"), 1);
	ck_assert_int_eq(bu_machine_has_mac(&a, "52:54:00:00:00:03"), 0);
	ck_assert_int_eq(bu_machine_has_mac(&a, "nonsense"), 0);
}
END_TEST

/* Machine as a BMC says it, against serial S1, UUID 5f0c6d0e-..., MAC ...:01. */
START_TEST(a_machine_behind_a_bmc_is_compared)
{
	static const struct {
		const char *serial, *uuid, *mac;
		enum bu_machine_match match;
	} rows[] = {
		{"", "", "", BU_MACHINE_UNSAID},
		{"S1", "", "", BU_MACHINE_SAME},
		{" s1", "", "", BU_MACHINE_SAME},
		{"S2", "", "", BU_MACHINE_OTHER},
		{"None", "", "", BU_MACHINE_UNSAID},
		{"", "5F0C6D0E-1122-4344-8566-000000000001", "", BU_MACHINE_SAME},
		/* the wire's byte order */
		{"", "0e6d0c5f-2211-4443-8566-000000000001", "", BU_MACHINE_SAME},
		{"", "0e6d0c5f-2211-4443-8566-000000000002", "", BU_MACHINE_OTHER},
		{"", "01000000-0000-6685-4443-22110e6d0c5f", "", BU_MACHINE_SAME},
		{"", "00000000-0000-0000-0000-000000000000", "", BU_MACHINE_UNSAID},
		/* a board was replaced; another number beside the same card */
		{"S1", "5f0c6d0e-1122-4344-8566-000000000002", "", BU_MACHINE_SAME},
		{"S2", "", "52:54:00:77:00:01", BU_MACHINE_SAME},
		{"", "5f0c6d0e-1122-4344-8566-000000000002", "52:54:00:77:00:01",
		 BU_MACHINE_SAME},
		{"S2", "5f0c6d0e-1122-4344-8566-000000000001", "52:54:00:77:00:02",
		 BU_MACHINE_SAME},
		/* a card moved to another machine; a serial number was given twice */
		{"S2", "5f0c6d0e-1122-4344-8566-000000000002", "52:54:00:77:00:01",
		 BU_MACHINE_OTHER},
		{"S1", "5f0c6d0e-1122-4344-8566-000000000002", "52:54:00:77:00:02",
		 BU_MACHINE_OTHER},
		{"", "", "52:54:00:77:00:01", BU_MACHINE_SAME},
		{"", "", "52:54:00:77:00:02", BU_MACHINE_OTHER},
		{"To be filled by O.E.M.", "", "52:54:00:77:00:02", BU_MACHINE_OTHER},
	};
	const struct bu_machine expected = {
		.serial = "S1",
		.uuid = "5f0c6d0e-1122-4344-8566-000000000001",
		.macs_count = 1,
		.macs = {"52:54:00:77:00:01"},
	};
	const struct bu_machine nothing = {.serial = "Default string"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_machine seen = {.macs_count = rows[i].mac[0] != 0}, read;
		bu_autojson json_t *value = NULL;

		strcpy(seen.serial, rows[i].serial);
		strcpy(seen.uuid, rows[i].uuid);
		strcpy(seen.macs[0], rows[i].mac);
		/* as it comes over the wire */
		value = bu_machine_to_json(&seen);
		bu_machine_from_json(value, &read);
		ck_assert_msg(bu_machine_compare(&expected, &read) == rows[i].match,
			      "row %zu", i);
		ck_assert_int_eq(bu_machine_compare(&nothing, &read),
				 BU_MACHINE_UNSAID);
	}
}
END_TEST

/* "serial|board|tag|chassis|uuid|mac", each of them may be left empty. */
static struct bu_machine
machine_of(const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text);
	char *rest = copy, *parts[6];
	struct bu_machine ret;

	for (size_t i = 0; i < BU_LEN(parts); i++)
		parts[i] = strsep(&rest, "|");
	bu_machine_of(parts[0], parts[4], parts[5], &ret);
	for (int of = 0; of < BU_NUMBER_KINDS; of++)
		bu_machine_add_number(&ret, (enum bu_number_of)of, parts[1 + of]);
	return ret;
}

#define ONE "52:54:00:77:00:01"
#define TWO "52:54:00:77:00:02"
#define UUID_1 "5f0c6d0e-1122-4344-8566-000000000001"
#define UUID_2 "5f0c6d0e-1122-4344-8566-000000000002"

/* What one side calls the serial number of the system the other may call that of the
 * board, of the chassis, or a service tag. */
START_TEST(any_serial_number_of_a_machine_is_its_own)
{
	static const struct {
		const char *expected, *seen;
		enum bu_machine_match match;
		const char *differs;
	} rows[] = {
		/* the service tag of the profile, and a board that a BMC numbers */
		{"7XKQ2Z3|||||", "CNFCP1234567||7XKQ2Z3|||", BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|||||", "CNFCP1234567|7xkq2z3||||", BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|||||", "CNFCP1234567|||7XKQ2Z3||", BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|||||", "|||7XKQ2Z3||", BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|/7XKQ2Z3/CNFCP1234567/||||", "CNFCP1234567|||||",
		 BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|.7XKQ2Z3.CNFCP1234567.01.||||", "CNFCP1234567|||||",
		 BU_MACHINE_SAME, NULL},
		{"||||" UUID_1 "|", "CN1||||" UUID_1 "|", BU_MACHINE_SAME, NULL},
		{"7XKQ2Z3|||||" ONE, "CNFCP1234567|||||" ONE, BU_MACHINE_SAME,
		 "serial number 'CNFCP1234567', expected is '7XKQ2Z3'"},
		{"7XKQ2Z3||||" UUID_1 "|", "CN1||||" UUID_1 "|" TWO, BU_MACHINE_SAME,
		 "serial number 'CN1', expected is '7XKQ2Z3'"},
		{"7XKQ2Z3||||" UUID_1 "|" ONE, "7XKQ2Z3||||" UUID_2 "|" ONE,
		 BU_MACHINE_SAME, "UUID '" UUID_2 "', expected is '" UUID_1 "'"},
		/* nothing is the same */
		{"7XKQ2Z3|||||", "CNFCP1234567||8YLR3A4|||", BU_MACHINE_OTHER, NULL},
		{"S1|B1|T1|C1||" ONE, "S2|B2|T2|C2||" TWO, BU_MACHINE_OTHER, NULL},
		{"|B1||||", "|B2||||", BU_MACHINE_OTHER, NULL},
		{"S1|||||" ONE, "|||||" TWO, BU_MACHINE_OTHER, NULL},
		/* two machines in one chassis, of which each tells the number */
		{"S1|B1||C1||", "S2|B2||C1||", BU_MACHINE_OTHER, NULL},
		{"S1|||C1||", "S2|||C1||", BU_MACHINE_OTHER, NULL},
		{"|||C1|" UUID_1 "|", "|||C1|" UUID_2 "|", BU_MACHINE_OTHER, NULL},
		{"|||C1||" ONE, "|||C1||" TWO, BU_MACHINE_OTHER, NULL},
		{"C1|||||" ONE, "S2|||C1||" TWO, BU_MACHINE_OTHER, NULL},
		{"C1||||" UUID_1 "|", "C1||||" UUID_2 "|", BU_MACHINE_SAME,
		 "UUID '" UUID_2 "', expected is '" UUID_1 "'"},
		{"C1||||" UUID_1 "|" ONE, "C1||||" UUID_2 "|" TWO, BU_MACHINE_OTHER,
		 NULL},
		/* what says nothing */
		{"S1|||||", "|B2||C2||", BU_MACHINE_UNSAID, NULL},
		{"S1|||||", "N/A||P52499-B21|To be filled by O.E.M.||",
		 BU_MACHINE_UNSAID, NULL},
		{"N/A|none||0000||", "N/A|none||0000||", BU_MACHINE_UNSAID, NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_machine expected = machine_of(rows[i].expected);
		struct bu_machine seen = machine_of(rows[i].seen), read;
		bu_autojson json_t *value = bu_machine_to_json(&seen);
		bu_autofree char *differs = NULL;

		bu_machine_from_json(value, &read);
		ck_assert_msg(bu_machine_compare(&expected, &read) == rows[i].match,
			      "row %zu", i);
		if (rows[i].match != BU_MACHINE_SAME)
			continue;
		differs = bu_machine_differs(&expected, &read);
		ck_assert_pstr_eq(differs, rows[i].differs);
	}
}
END_TEST

START_TEST(further_numbers_are_kept_as_one_text)
{
	struct bu_machine a = machine_of("S1|B 1|T1|C1||"), b = {0}, full = {0};
	bu_autofree char *text = bu_machine_numbers(&a), *words = NULL;

	ck_assert_str_eq(text, "board B 1\ntag T1\nchassis C1");
	bu_machine_add_numbers(&b, text);
	ck_assert_uint_eq(b.numbers_count, 3);
	ck_assert_int_eq(bu_machine_tells(&b, "b1"), BU_MACHINE_OWN);
	ck_assert_int_eq(bu_machine_tells(&b, "C1"), BU_MACHINE_SHARED);
	ck_assert_int_eq(bu_machine_tells(&b, "S1"), BU_MACHINE_SILENT);
	words = bu_machine_words(&a);
	ck_assert_str_eq(words, "serial S1, board number B 1, service tag T1, chassis "
				"number C1");
	bu_machine_add_numbers(&b, NULL);
	bu_machine_add_numbers(&b, "board\n\nboard \nboard N/A\nboard t1");
	ck_assert_uint_eq(b.numbers_count, 3);
	for (int i = 0; i < 20; i++) {
		bu_autofree char *number = bu_xasprintf("N-%d", i);

		bu_machine_add_number(&full, BU_NUMBER_TAG, number);
	}
	ck_assert_uint_eq(full.numbers_count, BU_NUMBERS_MAX);
}
END_TEST

/* One is the key of all its orders, and of nothing else. */
START_TEST(a_uuid_has_one_key_in_any_order_of_its_bytes)
{
	static const char *const orders[] = {
		"5f0c6d0e-1122-4344-8566-0123456789ab",
		"5F0C6D0E112243448566 0123456789AB",
		"0e6d0c5f-2211-4443-8566-0123456789ab",
		"ab896745-2301-6685-4443-22110e6d0c5f",
		"ab896745-2301-6685-4344-11225f0c6d0e",
		"456789ab-0123-8566-4443-22110e6d0c5f",
		"5f0c6d0e-1122-4344-6685-2301ab896745",
	};
	char first[BU_MACHINE_TEXT_SIZE], key[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(orders[0], first);
	for (size_t i = 0; i < BU_LEN(orders); i++) {
		bu_machine_uuid_key(orders[i], key);
		ck_assert_msg(strcmp(key, first) == 0, "%s: %s", orders[i], key);
		ck_assert_int_eq(bu_machine_same_uuid(orders[0], orders[i]), 1);
	}
	bu_machine_uuid_key("5f0c6d0e-1122-4344-8566-0123456789ac", key);
	ck_assert_str_ne(key, first);
	/* two swapped in one field are another one */
	bu_machine_uuid_key("5f0c0e6d-1122-4344-8566-0123456789ab", key);
	ck_assert_str_ne(key, first);
	/* what is none is compared as it stands */
	bu_machine_uuid_key("VM 7", key);
	ck_assert_str_eq(key, "vm7");
	bu_machine_uuid_key("xabcdefghijklmnopqrstuvwxyz01234", key);
	ck_assert_str_eq(key, "xabcdefghijklmnopqrstuvwxyz01234");
	bu_machine_uuid_key("f0e0d0c0b0a0908070605040302010000f", key);
	ck_assert_str_eq(key, "f0e0d0c0b0a0908070605040302010000f");
	bu_machine_uuid_key("ffffffff-ffff-ffff-ffff-ffffffffffff", key);
	ck_assert_str_eq(key, "");
	bu_machine_uuid_key(NULL, key);
	ck_assert_str_eq(key, "");
	ck_assert_int_eq(bu_machine_same_uuid("", ""), 0);
}
END_TEST

/* However a vendor fills what it has not written. */
START_TEST(one_character_says_nothing)
{
	static const struct {
		const char *text;
		int says;
	} rows[] = {
		{"0000", 0}, {"XXXXXXXX", 0},  {"xxxx-xxxx-xxxx", 0},
		{"----", 0}, {"0000-0000", 0}, {"111-1", 0},
		{"000", 0},  {"0000-0001", 1}, {"--A-", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(!!bu_machine_says(rows[i].text) == rows[i].says, "%s",
			      rows[i].text);
		ck_assert_msg(bu_machine_same(rows[i].text, rows[i].text) ==
				      rows[i].says,
			      "%s", rows[i].text);
	}
	/* and is no other's, however that one is spaced */
	ck_assert_int_eq(bu_machine_same("XXXX", "XX XX"), 0);
	ck_assert_int_eq(bu_machine_same("XX XX", "XXXX"), 0);
}
END_TEST

/* Vendors and spreadsheets write the same in many ways. */
static const char *const nothings[] = {
	"N/A",
	"n.a.",
	"NA",
	"None",
	"(none)",
	"<none>",
	"NULL",
	"(null)",
	"unknown",
	"Unknown!",
	"Not Specified",
	"NOT_SPECIFIED",
	"not-specified",
	"Not Available",
	"To be filled by O.E.M.",
	"To Be Filled By OEM",
	"to-be-filled-by-o.e.m",
	"To be filled by O. E. M. ",
	"Default string",
	"Default_String",
	"System Serial Number",
	"system-serial-number",
	"Chassis Serial Number",
	"Base Board Serial Number",
	"0123456789",
	"01234567890123456789",
	"123456789",
	"1234567890",
	"12345678",
	"123456",
	"0",
	"00",
	"0-0",
	"0000000000",
	"XXXX",
	"xx-xx",
	"xx",
	"..............",
	"-",
	"   ",
	"*",
	"SSN12345678901234567",
	"00000000-0000-0000-0000-000000000000",
	"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
	"FEFEFEFE-FEFE-FEFE-FEFE-FEFEFEFEFEFE",
	"01234567-89AB-CDEF-0123-456789ABCDEF",
	"03000200-0400-0500-0006-000700080009",
	"03000200040005000006000700080009",
	/* as a BMC turns it, and IPMI */
	"00020003-0004-0005-0006-000700080009",
	"09000800-0700-0600-0005-000400020003",
	"4C4C4544-0000-2010-8020-80C04F202020",
};

START_TEST(placeholders_are_nothing_in_any_spelling)
{
	static const char *const says[] = {
		"A",
		"X",
		"S1",
		"7XKQ2Z3",
		"CNFCP1234567",
		"12345",
		"1234568",
		"234567890",
		"0123456788",
		"N/A-7",
		"NONE1",
		"XXXX1",
		"0000-0001",
		"OEM-4",
		"4c4c4544-0042-3510-8053-b4c04f4e4d32",
		"00000000-0000-0000-0000-ac1f6b000001",
	};
	char key[BU_MACHINE_TEXT_SIZE];

	for (size_t i = 0; i < BU_LEN(nothings); i++) {
		ck_assert_msg(!bu_machine_says(nothings[i]), "'%s'", nothings[i]);
		bu_machine_uuid_key(nothings[i], key);
		ck_assert_msg(!*key, "'%s'", nothings[i]);
	}
	for (size_t i = 0; i < BU_LEN(says); i++)
		ck_assert_msg(bu_machine_says(says[i]), "'%s'", says[i]);
}
END_TEST

START_TEST(macs_are_added_once_and_only_good_ones)
{
	struct bu_machine ret = {.macs_count = 0};

	bu_machine_add_mac(&ret, NULL);
	bu_machine_add_mac(&ret, "");
	bu_machine_add_mac(&ret, "00:00:00:00:00:00");
	bu_machine_add_mac(&ret, "52-54-00-00-00-0A");
	bu_machine_add_mac(&ret, "5254.0000.000a");
	ck_assert_uint_eq(ret.macs_count, 1);
	ck_assert_str_eq(ret.macs[0], "52:54:00:00:00:0a");
	for (int i = 0; i < BU_MACS_MAX + 5; i++) {
		bu_autofree char *mac = bu_xasprintf("52:54:00:00:01:%02x", i);

		bu_machine_add_mac(&ret, mac);
	}
	ck_assert_uint_eq(ret.macs_count, BU_MACS_MAX);
}
END_TEST

START_TEST(a_network_card_that_is_a_computer_is_known_by_its_name)
{
	static const struct {
		const char *name;
		int is_dpu;
	} rows[] = {
		{"Bluefield", 1},     {"BlueField-3 SmartNIC Main Card", 1},
		{"BlueField SoC", 1}, {"NVIDIA BLUEFIELD-2 DPU", 1},
		{"DGXH100", 0},       {"PowerEdge XE9680", 0},
		{"BladeField", 0},    {"", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_machine_is_dpu(rows[i].name) == rows[i].is_dpu, "%s",
			      rows[i].name);
}
END_TEST

static json_t *
again(const json_t *document)
{
	struct bu_machine machine;

	bu_machine_from_json(document, &machine);
	return bu_machine_to_json(&machine);
}

START_TEST(no_text_of_a_machine_is_unseen)
{
	bu_autojson json_t *document =
		json_pack("{s:s,s:s,s:[s],s:[{s:s,s:s}]}", "serial", "S1", "uuid", "U1",
			  "macs", "52:54:00:77:00:01", "numbers", "of", "board",
			  "number", "CN779203910077");

	unseen_everywhere(document, again, 5);
}
END_TEST

BU_UNIT("machine", no_text_of_a_machine_is_unseen,
	any_serial_number_of_a_machine_is_its_own, further_numbers_are_kept_as_one_text,
	placeholders_are_nothing_in_any_spelling,
	a_network_card_that_is_a_computer_is_known_by_its_name,
	a_machine_behind_a_bmc_is_compared, macs_of_any_spelling,
	an_id_is_of_what_tells_machines_apart, what_vendors_leave_is_nothing,
	a_uuid_has_one_key_in_any_order_of_its_bytes, a_machine_has_its_macs,
	macs_are_added_once_and_only_good_ones, one_character_says_nothing)
