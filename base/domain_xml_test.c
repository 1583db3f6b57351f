/* SPDX-License-Identifier: Apache-2.0 */
/* The XML of a libvirt domain: its order, its serial number, its addresses. */
#include "base/domain_xml.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tests/support/unit.h"

static const char *const disk_first[] = {"hd", "network"};

/* Its first sysinfo is of the firmware, as of a domain that gets an ignition file. */
static const char domain[] =
	"<domain><name>a</name>"
	"<sysinfo type='fwcfg'><entry name='opt/x' file='/y'/></sysinfo>"
	"<sysinfo type='smbios'><system><entry name='family'>f</entry>"
	"<entry name='serial'>LAB-001</entry></system></sysinfo>"
	"<os><type>hvm</type><boot dev='network'/><boot dev='cdrom'/></os>"
	"<devices><disk><boot order='1'/></disk>"
	"<interface><mac address='52:54:00:77:00:01'/><boot order='2'/></interface>"
	"<hostdev><mac address='52:54:00:99:00:01'/></hostdev>"
	"<interface/><interface><mac address='52:54:00:77:00:02'/></interface>"
	"</devices></domain>";

START_TEST(the_serial_may_stand_in_the_second_sysinfo)
{
	char serial[16] = "before", small[4];

	bu_domain_xml_serial(domain, serial, sizeof(serial));
	ck_assert_str_eq(serial, "LAB-001");
	bu_domain_xml_serial(domain, small, sizeof(small));
	ck_assert_str_eq(small, "LAB");
	bu_domain_xml_serial("<domain/>", serial, sizeof(serial));
	ck_assert_str_eq(serial, "");
	strcpy(serial, "before");
	bu_domain_xml_serial("not XML", serial, sizeof(serial));
	ck_assert_str_eq(serial, "");
}
END_TEST

static void
on_mac(const char *mac, void *arg)
{
	bu_text_add(arg, " ", "%s", mac);
}

START_TEST(the_addresses_are_those_of_network_cards)
{
	bu_autofree char *list = NULL;

	bu_domain_xml_macs("not XML", on_mac, &list);
	ck_assert_ptr_null(list);
	bu_domain_xml_macs(domain, on_mac, &list);
	ck_assert_str_eq(list, "52:54:00:77:00:01 52:54:00:77:00:02");
}
END_TEST

START_TEST(the_order_is_the_one_that_is_asked_for_and_no_other)
{
	bu_autofree char *xml = bu_domain_xml_reorder(domain, disk_first);
	char *os, *end;

	ck_assert_ptr_nonnull(xml);
	os = strstr(xml, "<os>");
	ck_assert_ptr_nonnull(os);
	end = strstr(os, "</os>");
	ck_assert_ptr_nonnull(strstr(xml, "<name>a</name>"));
	ck_assert_int_eq(strncmp(os,
				 "<os><type>hvm</type><boot dev=\"hd\"/>"
				 "<boot dev=\"network\"/></os>",
				 (size_t)(end - os)),
			 0);
	ck_assert_ptr_null(strstr(end, "<boot"));
	ck_assert_ptr_null(bu_domain_xml_reorder("<domain/>", disk_first));
	ck_assert_ptr_null(bu_domain_xml_reorder("not XML", disk_first));
}
END_TEST

START_TEST(the_first_serial_port_is_found)
{
	static const char *const rows[][2] = {
		{"<serial type='file'><source path='/x/n1.log'/></serial>",
		 "/x/n1.log"},
		{"<serial type='pty'><source path='/dev/pts/3'/></serial>", "pty"},
		{"<console type='pty'/>", "pty"},
		{"<serial type='tcp'/><serial type='pty'/>", "tcp"},
		{"<disk/>", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *xml = bu_xasprintf(
			"<domain><devices>%s</devices></domain>", rows[i][0]);
		char where[64];

		bu_domain_xml_console(xml, where, sizeof(where));
		ck_assert_str_eq(where, rows[i][1]);
	}
}
END_TEST

BU_UNIT("domain XML", the_first_serial_port_is_found,
	the_serial_may_stand_in_the_second_sysinfo,
	the_addresses_are_those_of_network_cards,
	the_order_is_the_one_that_is_asked_for_and_no_other)
