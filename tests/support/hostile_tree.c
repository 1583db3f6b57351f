/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of fake BMCs, as captures of real ones show them: where the systems, the
 * allowed values, the settings object and the addresses of network cards are.
 */
#include "tests/support/hostile_impl.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ROOT "/redfish/v1"

const struct hostile_shape hostile_shapes[] = {
	{"dell", "Dell", "Dell", "Integrated Dell Remote Access Controller",
	 "6.10.30.00", "System.Embedded.1", 0, NULL, 0, 0, 0, "", 5},
	{"idrac10", "Dell", "Dell", "Integrated Dell Remote Access Controller",
	 "1.10.17.00", "System.Embedded.1", 0, "Settings", 0, 0, 0, "strong", 2},
	{"hpe", "HPE", "Hpe", "ProLiant DL385 Gen10 Plus", "iLO 5 v2.72", "1", 0, NULL,
	 0, 0, 0, "weak", 7},
	{"lenovo", "Lenovo", "Lenovo", NULL, "AFBT31Z-3.80", "1", 0, "Pending", 0, 0, 1,
	 "strong", 5},
	{"supermicro", NULL, "Supermicro", NULL, "01.01.12", "1", 0, NULL, 0, 1, 0,
	 "strong", 12},
	{"dgx", "AMI", "Ami", "AMI Redfish Server", "23.09.20", "DGX", 1, "SD", 1, 1, 0,
	 "strong", 5},
	{"gb200", "NVIDIA", "Nvidia", "GB200 NVL", "25.01-0", "System_0", 1, "Settings",
	 0, 1, 1, "", 0},
	{NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, NULL, 0},
};

const struct hostile_shape *
hostile_shape(const char *name)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++)
		if (strcmp(shape->name, name) == 0)
			return shape;
	ck_abort_msg("no shape %s", name);
}

static json_t *
link_to(const char *path)
{
	return json_pack("{s:s}", "@odata.id", path);
}

static void
put(json_t *tree, const char *path, json_t *object)
{
	ck_assert_ptr_nonnull(object);
	json_object_set_new(object, "@odata.id", json_string(path));
	json_object_set_new(tree, path, object);
}

static json_t *
targets_of(const struct hostile_shape *shape)
{
	json_t *list = json_pack("[s,s,s,s]", "None", "Pxe", "Hdd", "BiosSetup");

	if (!shape->no_uefi_http)
		json_array_append_new(list, json_string("UefiHttp"));
	return list;
}

static json_t *
boot_of(const struct hostile_shape *shape, int with_values)
{
	json_t *boot = json_pack("{s:s,s:s,s:s}", "BootSourceOverrideTarget", "None",
				 "BootSourceOverrideEnabled", "Disabled",
				 "BootSourceOverrideMode", "UEFI");

	if (with_values) {
		json_object_set_new(boot,
				    "BootSourceOverrideTarget@Redfish.AllowableValues",
				    targets_of(shape));
		json_object_set_new(
			boot, "BootSourceOverrideEnabled@Redfish.AllowableValues",
			json_pack("[s,s,s]", "Disabled", "Once", "Continuous"));
	}
	return boot;
}

static json_t *
resets(void)
{
	return json_pack("[s,s,s,s]", "ForceOff", "ForceRestart", "GracefulShutdown",
			 "On");
}

static json_t *
reset_action(json_t *tree, const struct hostile_shape *shape, const char *system)
{
	bu_autofree char *target =
		bu_xasprintf("%s/Actions/ComputerSystem.Reset", system);
	bu_autofree char *info = bu_xasprintf("%s/ResetActionInfo", system);
	json_t *action = json_pack("{s:s}", "target", target);

	if (!shape->action_info) {
		json_object_set_new(action, "ResetType@Redfish.AllowableValues",
				    resets());
		return action;
	}
	json_object_set_new(action, "@Redfish.ActionInfo", json_string(info));
	put(tree, info,
	    json_pack("{s:[{s:s,s:s},{s:s,s:o}]}", "Parameters", "Name", "Other",
		      "DataType", "String", "Name", "ResetType", "AllowableValues",
		      resets()));
	return action;
}

/* Addresses that a card can have, or none of them. */
static json_t *
address(int habits, int i)
{
	char mac[24];

	if ((habits & HOSTILE_EMPTY_NICS) && i % 3 == 0)
		return json_string("");
	if ((habits & HOSTILE_EMPTY_NICS) && i % 3 == 1)
		return json_null();
	if (habits & HOSTILE_EMPTY_NICS)
		return json_string("80:00:02:08:FE:80:00:00:00:00:00:00:A0:88:C2:03:00:"
				   "4B:5E:10");
	snprintf(mac, sizeof(mac), "B0:7B:25:00:00:%02X", i + 1);
	return json_string(mac);
}

static void
put_interfaces(json_t *tree, const struct hostile_shape *shape, int habits,
	       const char *system, json_t *object)
{
	bu_autofree char *list = bu_xasprintf("%s/EthernetInterfaces", system);
	json_t *members = json_array();

	for (int i = 0; i < shape->interfaces; i++) {
		bu_autofree char *path = bu_xasprintf("%s/NIC.%d", list, i);

		put(tree, path, json_pack("{s:o}", "MACAddress", address(habits, i)));
		json_array_append_new(members, link_to(path));
	}
	put(tree, list, json_pack("{s:o}", "Members", members));
	json_object_set_new(object, "EthernetInterfaces", link_to(list));
}

/* Two cards: the ports of one, the functions of the other. */
static void
put_cards(json_t *tree)
{
	static const char *const card = ROOT "/Chassis/1/NetworkAdapters/card";
	static const char *const other = ROOT "/Chassis/1/NetworkAdapters/other";

	put(tree, ROOT "/Chassis/1",
	    json_pack("{s:o}", "NetworkAdapters",
		      link_to(ROOT "/Chassis/1/NetworkAdapters")));
	put(tree, ROOT "/Chassis/1/NetworkAdapters",
	    json_pack("{s:[o,o]}", "Members", link_to(card), link_to(other)));
	put(tree, card,
	    json_pack("{s:o}", "Ports",
		      link_to(ROOT "/Chassis/1/NetworkAdapters/card/Ports")));
	put(tree, ROOT "/Chassis/1/NetworkAdapters/card/Ports",
	    json_pack("{s:[o]}", "Members",
		      link_to(ROOT "/Chassis/1/NetworkAdapters/card/Ports/1")));
	put(tree, ROOT "/Chassis/1/NetworkAdapters/card/Ports/1",
	    json_pack("{s:{s:[s]}}", "Ethernet", "AssociatedMACAddresses",
		      "A0:88:C2:00:00:01"));
	put(tree, other,
	    json_pack("{s:o}", "NetworkDeviceFunctions",
		      link_to(ROOT "/Chassis/1/NetworkAdapters/other/Functions")));
	put(tree, ROOT "/Chassis/1/NetworkAdapters/other/Functions",
	    json_pack("{s:[o]}", "Members",
		      link_to(ROOT "/Chassis/1/NetworkAdapters/other/Functions/1")));
	put(tree, ROOT "/Chassis/1/NetworkAdapters/other/Functions/1",
	    json_pack("{s:{s:s,s:s}}", "Ethernet", "MACAddress", "02:00:00:00:00:01",
		      "PermanentMACAddress", "A0:88:C2:00:00:02"));
}

static void
put_system(json_t *tree, const struct hostile_shape *shape, int habits,
	   const char *system)
{
	json_t *object = json_pack(
		"{s:s,s:s,s:s,s:s,s:{s:o},s:o,s:{s:[o],s:[o]}}", "SerialNumber",
		" SN123456 ", "UUID", "4C4C4544-0044-4810-8031-C2C04F333233",
		"PowerState", "On", "Model", "Model", "Actions",
		"#ComputerSystem.Reset", reset_action(tree, shape, system), "Boot",
		boot_of(shape, !shape->only_in_settings), "Links", "ManagedBy",
		link_to(ROOT "/Managers/1"), "Chassis", link_to(ROOT "/Chassis/1"));

	if (shape->settings) {
		bu_autofree char *path = bu_xasprintf("%s/%s", system, shape->settings);

		put(tree, path, json_pack("{s:o}", "Boot", boot_of(shape, 1)));
		json_object_set_new(
			object, "@Redfish.Settings",
			json_pack("{s:o}", "SettingsObject", link_to(path)));
	}
	put_interfaces(tree, shape, habits, system, object);
	put(tree, system, object);
}

json_t *
hostile_tree(const struct hostile_shape *shape, int habits)
{
	bu_autofree char *system = bu_xasprintf(ROOT "/Systems/%s", shape->system);
	json_t *tree = json_object(), *members = json_array();

	if (shape->board) {
		json_array_append_new(members,
				      link_to(ROOT "/Systems/HGX_Baseboard_0"));
		put(tree, ROOT "/Systems/HGX_Baseboard_0",
		    json_pack("{s:s,s:s}", "SerialNumber", "BOARD", "PowerState",
			      "On"));
	}
	json_array_append_new(members, link_to(system));
	put(tree, ROOT "/Systems", json_pack("{s:o}", "Members", members));
	put_system(tree, shape, habits, system);
	put_cards(tree);
	put(tree, ROOT "/Managers/1",
	    json_pack("{s:s}", "FirmwareVersion", shape->firmware));
	put(tree, ROOT "/",
	    json_pack("{s:s?,s:s?,s:{s:{}},s:o,s:{s:o}}", "Vendor", shape->vendor,
		      "Product", shape->product, "Oem", shape->oem, "Systems",
		      link_to(ROOT "/Systems"), "Links", "Sessions",
		      link_to(ROOT "/SessionService/Sessions")));
	if (habits & HOSTILE_NO_SERVICE)
		json_object_del(json_object_get(tree, ROOT "/"), "Links");
	return tree;
}
