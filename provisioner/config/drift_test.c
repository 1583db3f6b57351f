/* SPDX-License-Identifier: Apache-2.0 */
/* A node that is what its profile says, then one thing wrong at a time. */
#include "provisioner/config/drift.h"

#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static const struct bu_nic nics[] = {
	{.mac = "52:54:00:77:00:01", .pci = "0000:01:00.0", .name = "ens1"},
	{.mac = "52:54:00:79:00:01", .pci = "0000:3b:00.0", .name = "ens4"},
	{.mac = "52:54:00:79:00:02", .pci = "0000:3b:00.1", .name = "ens5"},
};

static const char site_text[] =
	"[site]\nformat = 1\nname = lab\ninventory = racks.csv\n"
	"[network boot]\nrole = boot\ncidr = 10.77.0.0/24\n"
	"addresses = 10.77.0.[11-14]\ngateway = 10.77.0.1\n"
	"[network lake]\nrole = storage\ncidr = 10.81.0.0/16\n"
	"addresses = 10.81.0.[11-14]\nbond = 802.3ad\nbond_nics = 1, 2\nvlan = 300\n"
	"mtu = 9000\nroutes = 10.90.0.0/16 via 10.81.0.1\n"
	"[image own]\n"
	"[hardware vm]\ndisk = smallest\n"
	"[pool train]\nnodes = node[001-002]\nhardware = vm\nimage = own\n"
	"power = libvirt\nnetworks = boot, lake\n";

static const struct bu_net_link good[] = {
	{.name = "bond0",
	 .kind = "bond",
	 .mtu = 9000,
	 .bond_mode = "802.3ad",
	 .bond_miimon_ms = 100,
	 .bond_hash = "layer3+4",
	 .bond_partner = "52:54:00:7b:00:02",
	 .bond_aggregator = 1},
	{.name = "ens1",
	 .kind = "ethernet",
	 .mtu = 1500,
	 .addresses_count = 1,
	 .addresses = {"10.77.0.11/24"},
	 .routes_count = 1,
	 .routes = {"0.0.0.0/0 via 10.77.0.1"}},
	{.name = "ens4",
	 .kind = "ethernet",
	 .mtu = 9000,
	 .master = "bond0",
	 .bond_aggregator = 1},
	{.name = "ens5",
	 .kind = "ethernet",
	 .mtu = 9000,
	 .master = "bond0",
	 .bond_aggregator = 1},
	{.name = "vlan300",
	 .kind = "vlan",
	 .mtu = 9000,
	 .vlan = 300,
	 .parent = "bond0",
	 .addresses_count = 1,
	 .addresses = {"10.81.0.11/16"},
	 .routes_count = 1,
	 .routes = {"10.90.0.0/16 via 10.81.0.1"}},
};

enum { BOND, BOOT, PORT_1, PORT_2, VLAN, COUNT };
static struct bu_net_link now[COUNT];

static json_t *
drift(size_t count)
{
	struct bu_desired *desired = NULL;
	bu_autofree char *found =
		bu_testing_check(site_text, bu_testing_racks, &desired);
	struct bu_inventory inventory = {.nics = (struct bu_nic *)nics,
					 .nics_count = BU_LEN(nics),
					 .links = now,
					 .links_count = count};
	struct bu_config_input input = {.desired = desired,
					.nics = nics,
					.nic_count = BU_LEN(nics),
					.appliance = "10.77.0.1"};
	struct bu_err err = {0};
	json_t *findings;

	ck_assert_msg(desired != NULL, "%s", found);
	input.node = bu_desired_node(desired, "node001");
	findings = bu_config_drift(&input, &inventory, &err);
	ck_assert_msg(findings != NULL, "%s", err.text);
	bu_desired_destroy(desired);
	return findings;
}

/* One finding, and it reads so; the links are good again afterwards. */
static void
finds(const char *text)
{
	bu_autojson json_t *findings = drift(COUNT);
	bu_autofree char *all = json_dumps(findings, 0);
	bu_autofree char *said =
		bu_said_text(json_object_get(json_array_get(findings, 0), "said"));

	ck_assert_msg(json_array_size(findings) == 1, "%s: %s", text, all);
	ck_assert_str_eq(said, text);
	memcpy(now, good, sizeof(now));
}

START_TEST(nothing_is_found_where_all_is_well)
{
	json_t *findings;

	memcpy(now, good, sizeof(now));
	findings = drift(COUNT);
	ck_assert_uint_eq(json_array_size(findings), 0);
	json_decref(findings);
	findings = drift(0); /* an agent that tells no links */
	ck_assert_uint_eq(json_array_size(findings), 0);
	json_decref(findings);
}
END_TEST

START_TEST(each_difference_is_named)
{
	memcpy(now, good, sizeof(now));
	now[VLAN].mtu = 1500;
	finds("network lake: MTU is 1500, the profile says 9000");
	now[VLAN].vlan = 30;
	finds("network lake: VLAN is 30, the profile says 300");
	strcpy(now[VLAN].parent, "ens1");
	finds("network lake: carrier of the VLAN is ens1, the profile says bond0");
	strcpy(now[VLAN].addresses[0], "10.81.0.12/16");
	finds("network lake: address is missing, the profile says 10.81.0.11/16");
	now[VLAN].routes_count = 0;
	finds("network lake: route is missing, the profile says 10.90.0.0/16 via "
	      "10.81.0.1");
	strcpy(now[VLAN].name, "vlan30");
	finds("network lake: link is missing, the profile says vlan300");
	strcpy(now[BOND].bond_hash, "layer2");
	finds("bond0: bond hash is layer2, the profile says layer3+4");
	now[BOND].bond_miimon_ms = 0;
	finds("bond0: bond miimon (ms) is 0, the profile says 100");
	strcpy(now[BOND].bond_mode, "active-backup");
	finds("bond0: bond mode is active-backup, the profile says 802.3ad");
	now[BOND].bond_partner[0] = '\0';
	finds("bond0: LACP partner is missing, the profile says any");
	now[PORT_2].bond_aggregator = 2;
	finds("ens5: its port is out of it, the profile says in the aggregator");
	/* Links come by their names: a port may be the first of all. */
	now[PORT_2] = good[BOND];
	now[BOND] = good[PORT_2];
	now[BOND].bond_aggregator = 2;
	finds("ens5: its port is out of it, the profile says in the aggregator");
	now[PORT_1].master[0] = '\0';
	finds("ens4: bond is missing, the profile says bond0");
	now[BOOT].routes_count = 0;
	finds("network boot: default route is missing, the profile says 0.0.0.0/0 via "
	      "10.77.0.1");
}
END_TEST

BU_UNIT("drift", nothing_is_found_where_all_is_well, each_difference_is_named)
