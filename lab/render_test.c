/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/render.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>

#include "tests/support/unit.h"

static struct bu_rack rack;

static void
make_rack(void)
{
	memset(&rack, 0, sizeof(rack));
	strcpy(rack.dir, "/x/rack");
	strcpy(rack.cache, "/c");
	rack.memory_mib = 384;
	rack.fabric_rate_mbit = 20;
	bu_rack_fill(&rack, 2, 1ul << 2);
}

static void
check_xpath(const char *xml, const char *xpath, const char *want)
{
	xmlDocPtr doc = xmlParseMemory(xml, (int)strlen(xml));
	xmlXPathContextPtr context;
	xmlXPathObjectPtr found;
	xmlChar *got;

	ck_assert_ptr_nonnull(doc);
	context = xmlXPathNewContext(doc);
	found = xmlXPathEvalExpression((const xmlChar *)xpath, context);
	ck_assert_ptr_nonnull(found);
	got = xmlXPathCastToString(found);
	ck_assert_msg(strcmp((const char *)got, want) == 0, "%s: '%s', not '%s'", xpath,
		      got, want);
	xmlFree(got);
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	xmlFreeDoc(doc);
}

START_TEST(bios_domain)
{
	bu_autofree char *xml = NULL;

	make_rack();
	xml = bu_render_domain(&rack, &rack.nodes[0]);
	check_xpath(xml, "string(/domain/@type)", "qemu");
	check_xpath(xml, "string(/domain/name)", "node001");
	check_xpath(xml, "string(/domain/uuid)", rack.nodes[0].uuid);
	check_xpath(xml, "string(/domain/memory)", "384");
	check_xpath(xml, "string(//sysinfo[@type='smbios']//entry[@name='serial'])",
		    "LAB-001");
	check_xpath(xml, "string(//os/boot[1]/@dev)", "network");
	check_xpath(xml, "string(//os/boot[2]/@dev)", "hd");
	check_xpath(xml, "string(//os/bios/@useserial)", "yes");
	check_xpath(xml, "count(//os/loader)", "0");
	check_xpath(xml, "string(//interface[1]/mac/@address)", "52:54:00:77:00:01");
	check_xpath(xml, "string(//interface[1]/target/@dev)", "b001");
	check_xpath(xml, "string(//interface[2]/mac/@address)", "52:54:00:78:00:01");
	check_xpath(xml, "string(//interface[2]/target/@dev)", "f001");
	check_xpath(xml, "string(//interface[2]/rom/@enabled)", "no");
	check_xpath(xml, "string(//disk/source/@file)", "/x/rack/disks/node001.qcow2");
	check_xpath(xml, "string(//serial[source]/source/@path)",
		    "/x/rack/console/node001.log");
	check_xpath(xml, "string(//cpu/feature/@name)", "rdrand");
}
END_TEST

START_TEST(uefi_domain_under_kvm)
{
	bu_autofree char *xml = NULL;

	make_rack();
	rack.kvm = 1;
	xml = bu_render_domain(&rack, &rack.nodes[1]);
	check_xpath(xml, "string(/domain/@type)", "kvm");
	check_xpath(xml, "string(//cpu/@mode)", "host-passthrough");
	check_xpath(xml, "string(//os/type/@machine)", "q35");
	check_xpath(xml, "string(//os/loader)", BU_OVMF_CODE);
	check_xpath(xml, "string(//os/nvram)", "/x/rack/disks/node002.vars.fd");
	check_xpath(xml, "string(//sysinfo[@type='fwcfg']/entry[1])", "n");
	check_xpath(xml, "count(//os/bios)", "0");
}
END_TEST

START_TEST(inventory_is_a_vendors_csv)
{
	bu_autofree char *csv = NULL;

	make_rack();
	csv = bu_render_csv(&rack);
	ck_assert_str_eq(
		csv, "name,mac,serial,bmc,rack,slot,zone\n"
		     "node001,52:54:00:77:00:01,LAB-001,qemu:///system#node001,lab,1,"
		     "lab\n"
		     "node002,52:54:00:77:00:02,LAB-002,qemu:///system#node002,lab,2,"
		     "lab\n");
}
END_TEST

START_TEST(configuration_names_rack_and_cache)
{
	bu_autofree char *conf = NULL, *slurm = NULL, *hosts = NULL;

	make_rack();
	conf = bu_render_bringupd_conf(&rack);
	ck_assert_ptr_nonnull(strstr(conf, "\n[bringupd]\nstate = /x/rack/state\n"));
	ck_assert_ptr_nonnull(strstr(conf, "\nboot_listen = 10.77.0.1:8080\n"));
	ck_assert_ptr_nonnull(strstr(conf, "\nimages = /c/images\n"));
	ck_assert_ptr_nonnull(
		strstr(conf, "\nimage_dirs = /x/rack/second, /x/rack/bad\n"));
	ck_assert_ptr_nonnull(strstr(conf, "/etc/munge, /etc/slurm, /x/rack/bmc,"));
	slurm = bu_render_slurm_conf(&rack);
	ck_assert_ptr_nonnull(strstr(slurm, "StateSaveLocation=/x/rack/slurm\n"));
	ck_assert_ptr_nonnull(strstr(slurm, "SlurmctldHost=ctl(10.77.0.1)\n"));
	hosts = bu_render_hosts(&rack);
	ck_assert_ptr_nonnull(strstr(hosts, "\n10.77.0.12 node002\n"));
}
END_TEST

START_TEST(both_directions_of_a_cable_are_shaped)
{
	bu_autofree char *ip = NULL, *tc = NULL, *all = NULL;

	make_rack();
	tc = bu_render_tc_node(&rack.nodes[1], 5);
	ck_assert_str_eq(
		tc,
		"qdisc replace dev p002 root tbf rate 5mbit burst 16kb limit 4mb\n"
		"qdisc replace dev u002 root tbf rate 5mbit burst 16kb limit 4mb\n");
	ip = bu_render_ip(&rack);
	ck_assert_ptr_nonnull(strstr(ip, "\nlink set dev p002 master br-fabric up\n"));
	all = bu_render_tc(&rack);
	ck_assert_ptr_nonnull(strstr(all, "dev u001 root tbf rate 20mbit"));
	ck_assert_ptr_nonnull(strstr(all, "dev p002 root tbf rate 20mbit"));
}
END_TEST

/* node002 has two cables, of which the first leads to node001. */
START_TEST(more_nics_and_cables)
{
	bu_autofree char *one = NULL, *two = NULL, *ip = NULL;

	make_rack();
	rack.nics = 4;
	rack.cables[0] = (struct bu_rack_cable){{1, 2}};
	rack.cables[1] = (struct bu_rack_cable){{2, 3}};
	rack.cable_count = 2;
	one = bu_render_domain(&rack, &rack.nodes[0]);
	two = bu_render_domain(&rack, &rack.nodes[1]);
	check_xpath(one, "count(//interface)", "5");
	check_xpath(two, "count(//interface)", "6");
	check_xpath(one, "string(//interface[4]/mac/@address)", "52:54:00:7a:00:01");
	check_xpath(one, "string(//interface[4]/target/@dev)", "x001-3");
	check_xpath(one, "string(//interface[5]/@type)", "udp");
	check_xpath(one, "string(//interface[5]/model/@type)", "e1000e");
	check_xpath(one, "string(//interface[5]/mac/@address)", "52:54:00:7b:00:01");
	check_xpath(one, "string(//interface[5]/source/local/@port)", "20000");
	check_xpath(one, "string(//interface[5]/source/@port)", "20001");
	check_xpath(two, "string(//interface[5]/source/local/@port)", "20001");
	check_xpath(two, "string(//interface[5]/source/@port)", "20000");
	check_xpath(two, "string(//interface[6]/mac/@address)", "52:54:00:7c:00:02");
	check_xpath(two, "string(//interface[6]/source/local/@port)", "20002");
	ip = bu_render_ip(&rack);
	ck_assert_ptr_nonnull(
		strstr(ip, "\nlink set dev x002-3 mtu 9216 master br-extra up\n"));
	ck_assert_ptr_null(strstr(ip, "x001-1"));
	ck_assert_ptr_null(strstr(ip, "x001-4"));
}
END_TEST

BU_UNIT("lab render", more_nics_and_cables, bios_domain, uefi_domain_under_kvm,
	inventory_is_a_vendors_csv, configuration_names_rack_and_cache,
	both_directions_of_a_cable_are_shaped)
