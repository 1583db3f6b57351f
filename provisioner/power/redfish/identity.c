/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine is behind a BMC; called by driver.c. Serial number and UUID are the
 * system's own. The addresses of its network cards lie in one of three places, and in
 * some trees in none: then there are none, and that is no error.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

/* The address that was burnt in counts; the other one may have been changed. Empty,
 * null, malformed (20 bytes of an Infiniband card) is none. */
static void
add_own(struct bu_machine *machine, const json_t *object)
{
	const char *permanent = bu_json_str(object, "PermanentMACAddress", "");

	bu_machine_add_mac(machine, permanent[0]
					    ? permanent
					    : bu_json_str(object, "MACAddress", NULL));
}

static void
add_list(struct bu_machine *machine, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		bu_machine_add_mac(machine, json_string_value(item));
}

static int
on_interface(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	(void)op, (void)path;
	add_own(arg, member);
	return 0;
}

/* Ports and functions of a card, whatever they are called. */
static int
on_part(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	const json_t *ethernet = json_object_get(member, "Ethernet");

	(void)op, (void)path;
	add_own(arg, ethernet);
	add_list(arg, json_object_get(ethernet, "AssociatedMACAddresses"));
	add_list(arg, json_object_get(member, "AssociatedNetworkAddresses"));
	return 0;
}

static int
on_card(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	static const char *const parts[] = {"NetworkDeviceFunctions", "Ports",
					    "NetworkPorts"};
	struct bu_machine *machine = arg;
	size_t before = machine->macs_count;
	char link[RF_PATH_SIZE];

	(void)path;
	for (size_t i = 0; i < BU_LEN(parts) && machine->macs_count == before; i++) {
		rf_link(op, member, parts[i], link);
		if (link[0])
			bu_ignore(rf_members(op, link, on_part, machine, NULL));
	}
	return 0;
}

static void
read_cards(struct rf_op *op, const json_t *system, struct bu_machine *machine)
{
	const json_t *chassis =
		json_object_get(json_object_get(system, "Links"), "Chassis");
	const json_t *item;
	char path[RF_PATH_SIZE], cards[RF_PATH_SIZE];
	size_t i;

	json_array_foreach (chassis, i, item) {
		bu_autojson json_t *object = NULL;

		if (rf_path(op->bmc, bu_json_str(item, "@odata.id", ""), path) != 0 ||
		    rf_go_on(op, NULL) != 0)
			continue;
		object = rf_get(op, path, NULL, NULL);
		rf_link(op, object, "NetworkAdapters", cards);
		if (cards[0])
			bu_ignore(rf_members(op, cards, on_card, machine, NULL));
	}
}

int
rf_identity(struct rf_op *op, struct bu_machine *ret, struct bu_err *err)
{
	const struct rf_tree *tree = rf_tree(op, err);
	bu_autojson json_t *system = NULL;
	char link[RF_PATH_SIZE], serial[sizeof(ret->serial)];

	memset(ret, 0, sizeof(*ret));
	if (!tree || !(system = rf_get(op, tree->system, NULL, err)))
		return -1;
	bu_text_copy(serial, sizeof(serial), bu_json_str(system, "SerialNumber", ""));
	bu_text_copy(ret->serial, sizeof(ret->serial), bu_text_trim(serial));
	bu_text_copy(ret->uuid, sizeof(ret->uuid), bu_json_str(system, "UUID", ""));
	rf_link(op, system, "EthernetInterfaces", link);
	if (link[0])
		bu_ignore(rf_members(op, link, on_interface, ret, NULL));
	if (ret->macs_count == 0)
		read_cards(op, system, ret);
	return rf_go_on(op, err);
}
