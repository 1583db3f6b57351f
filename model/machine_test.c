/* SPDX-License-Identifier: Apache-2.0 */
/* Who a machine is, whatever its vendor has left in the firmware. */
#include "model/machine.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

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
		/* a board was replaced; a card moved to another machine */
		{"S1", "5f0c6d0e-1122-4344-8566-000000000002", "", BU_MACHINE_SAME},
		{"S2", "", "52:54:00:77:00:01", BU_MACHINE_OTHER},
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
		{"000", 1},  {"0000-0001", 1}, {"--A-", 1},
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

BU_UNIT("machine", a_network_card_that_is_a_computer_is_known_by_its_name,
	a_machine_behind_a_bmc_is_compared, macs_of_any_spelling,
	an_id_is_of_what_tells_machines_apart, what_vendors_leave_is_nothing,
	a_uuid_has_one_key_in_any_order_of_its_bytes, a_machine_has_its_macs,
	macs_are_added_once_and_only_good_ones, one_character_says_nothing)
