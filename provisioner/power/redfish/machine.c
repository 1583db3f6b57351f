/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine is behind a BMC; called by driver.c. Vendors take the number of the
 * board, of the chassis or the service tag for the serial number of the system: all are
 * read, until the machine is known. The addresses of its network cards lie in one of
 * three places, and in some trees in none: then there are none, and that is no error.
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

/* Whose it is, is known: a BMC that takes seconds for an answer is asked no further. */
static int
is_decided(const struct rf_op *op, const struct bu_machine *seen)
{
	return op->expected &&
	       bu_machine_compare(op->expected, seen) == BU_MACHINE_SAME;
}

/* Nothing that is still to be read could say otherwise. */
static int
is_known(const struct rf_op *op, const struct bu_machine *seen)
{
	bu_autofree char *differs = NULL;

	if (!is_decided(op, seen))
		return 0;
	differs = bu_machine_differs(op->expected, seen);
	return !differs;
}

static int
on_interface(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	(void)path;
	add_own(arg, member);
	return is_decided(op, arg);
}

/* Ports and functions of a card, whatever they are called. */
static int
on_part(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	const json_t *ethernet = json_object_get(member, "Ethernet");

	(void)path;
	add_own(arg, ethernet);
	add_list(arg, json_object_get(ethernet, "AssociatedMACAddresses"));
	add_list(arg, json_object_get(member, "AssociatedNetworkAddresses"));
	return is_decided(op, arg);
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
	return is_decided(op, machine);
}

/* A sled or a blade is the machine alone; any other chassis may hold several. */
static void
add_chassis_numbers(const json_t *chassis, struct bu_machine *machine)
{
	static const char *const alone[] = {"Sled", "Blade"};
	const char *type = bu_json_str(chassis, "ChassisType", "");
	enum bu_number_of of = BU_NUMBER_CHASSIS;

	for (size_t i = 0; i < BU_LEN(alone); i++)
		if (strcmp(type, alone[i]) == 0)
			of = BU_NUMBER_TAG;
	bu_machine_add_number(machine, of, bu_json_str(chassis, "SerialNumber", NULL));
	bu_machine_add_number(machine, of, bu_json_str(chassis, "SKU", NULL));
}

/* The board's number is no member of the standard; vendors have it in "Oem". */
static void
add_board_number(const json_t *object, struct bu_machine *machine)
{
	const json_t *oem = json_object_get(object, "Oem"), *vendor;
	const char *name;

	json_object_foreach ((json_t *)(uintptr_t)oem, name, vendor)
		bu_machine_add_number(machine, BU_NUMBER_TAG,
				      bu_json_str(vendor, "BoardSerialNumber", NULL));
}

/* Numbers of the chassis that the system links to; their cards, where the system itself
 * tells no MAC. */
static void
read_chassis(struct rf_op *op, const json_t *system, struct bu_machine *machine)
{
	const json_t *chassis =
		json_object_get(json_object_get(system, "Links"), "Chassis");
	int lacks_macs = machine->macs_count == 0 &&
			 !(op->expected && op->expected->macs_count == 0);
	const json_t *item;
	char path[RF_PATH_SIZE], cards[RF_PATH_SIZE];
	size_t i;

	json_array_foreach (chassis, i, item) {
		bu_autojson json_t *object = NULL;

		if (rf_path(op->bmc, bu_json_str(item, "@odata.id", ""), path) != 0 ||
		    rf_go_on(op, NULL) != 0 || is_known(op, machine))
			continue;
		object = rf_get(op, path, NULL, NULL);
		add_chassis_numbers(object, machine);
		add_board_number(object, machine);
		rf_link(op, object, "NetworkAdapters", cards);
		if (cards[0] && lacks_macs)
			bu_ignore(rf_members(op, cards, on_card, machine, NULL));
	}
}

int
rf_identity(struct rf_op *op, struct bu_machine *ret, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	char link[RF_PATH_SIZE], serial[sizeof(ret->serial)];

	memset(ret, 0, sizeof(*ret));
	if (!system)
		return -1;
	bu_text_copy(serial, sizeof(serial), bu_json_str(system, "SerialNumber", ""));
	bu_text_copy(ret->serial, sizeof(ret->serial), bu_text_trim(serial));
	bu_text_copy(ret->uuid, sizeof(ret->uuid), bu_json_str(system, "UUID", ""));
	bu_machine_add_number(ret, BU_NUMBER_TAG, bu_json_str(system, "SKU", NULL));
	add_board_number(system, ret);
	if (is_known(op, ret))
		return 0;
	rf_link(op, system, "EthernetInterfaces", link);
	if (link[0] && !(op->expected && op->expected->macs_count == 0))
		bu_ignore(rf_members(op, link, on_interface, ret, NULL));
	if (!is_known(op, ret))
		read_chassis(op, system, ret);
	return rf_go_on(op, err);
}
