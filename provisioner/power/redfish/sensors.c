/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensors and firmware versions; called by driver.c. Older trees have all sensors of a
 * chassis in its Thermal and its Power, newer ones a resource for each. Invariant: a
 * sensor without a reading stays one: it is neither left out nor a zero.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"
#include "provisioner/power/report.h"

enum { CHASSIS_MAX = 8, ROWS_MAX = 400 };

/* resource of the chassis, its list, the member that is the reading, its unit; the unit
 * may be said by the member ReadingUnits. */
static const struct {
	const char *resource, *list, *reading, *unit;
} places[] = {
	{"Thermal", "Temperatures", "ReadingCelsius", "C"},
	{"Thermal", "Fans", "Reading", "RPM"},
	{"Power", "PowerControl", "PowerConsumedWatts", "W"},
	{"Power", "Voltages", "ReadingVolts", "V"},
	{"Power", "PowerSupplies", "PowerInputWatts", "W"},
};

struct sensors {
	json_t *list;
	int more;
};

static const char *
unit_of(const json_t *sensor, const char *fallback)
{
	const char *unit = bu_json_str(sensor, "ReadingUnits", fallback);

	if (strcmp(unit, "Cel") == 0)
		return "C";
	return strcmp(unit, "Percent") == 0 ? "%" : unit;
}

static void
add(struct sensors *sensors, const json_t *sensor, const char *reading,
    const char *unit)
{
	const json_t *status = json_object_get(sensor, "Status");
	const char *name = bu_json_str(
		sensor, "Name",
		bu_json_str(sensor, "FanName", bu_json_str(sensor, "MemberId", "")));

	if (json_array_size(sensors->list) >= ROWS_MAX) {
		sensors->more = 1;
		return;
	}
	bu_bmc_sensor_add(sensors->list, name, json_object_get(sensor, reading),
			  unit_of(sensor, unit), bu_json_str(status, "Health", ""),
			  bu_json_str(status, "State", ""));
}

static void
add_lists(struct sensors *sensors, const json_t *object, const char *resource)
{
	for (size_t i = 0; i < BU_LEN(places); i++) {
		const json_t *list = json_object_get(object, places[i].list), *one;
		size_t k;

		if (strcmp(places[i].resource, resource) != 0)
			continue;
		json_array_foreach (list, k, one)
			add(sensors, one, places[i].reading, places[i].unit);
	}
}

static int
on_sensor(struct rf_op *op, const char *path, const json_t *sensor, void *arg)
{
	(void)op, (void)path;
	add(arg, sensor, "Reading", "");
	return 0;
}

/* How many a collection has beyond those that rf_members() visits. */
static int
is_long(struct rf_op *op, const char *collection)
{
	bu_autojson json_t *page = rf_get(op, collection, NULL, NULL);

	return bu_json_int(page, "Members@odata.count", 0) > RF_MEMBERS_MAX;
}

static void
read_chassis(struct rf_op *op, const json_t *chassis, struct sensors *sensors)
{
	static const char *const old[] = {"Thermal", "Power"};
	char link[RF_PATH_SIZE];
	int seen = 0;

	for (size_t i = 0; i < BU_LEN(old); i++) {
		bu_autojson json_t *object = NULL;

		rf_link(op, chassis, old[i], link);
		if (link[0])
			object = rf_get(op, link, NULL, NULL);
		seen += object != NULL;
		add_lists(sensors, object, old[i]);
	}
	rf_link(op, chassis, "Sensors", link);
	if (seen || !link[0])
		return;
	bu_ignore(rf_members(op, link, on_sensor, sensors, NULL));
	sensors->more |= is_long(op, link);
}

int
rf_sensors(struct rf_op *op, json_t **ret, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	const json_t *list = json_object_get(json_object_get(system, "Links"),
					     "Chassis"),
		     *item;
	struct sensors sensors = {0};
	char path[RF_PATH_SIZE];
	size_t i;

	if (!system)
		return -1;
	sensors.list = json_array();
	json_array_foreach (list, i, item) {
		bu_autojson json_t *chassis = NULL;

		if (i == CHASSIS_MAX || rf_go_on(op, NULL) != 0) {
			sensors.more = 1;
			break;
		}
		if (rf_path(op->bmc, bu_json_str(item, "@odata.id", ""), path) == 0)
			chassis = rf_get(op, path, NULL, NULL);
		read_chassis(op, chassis, &sensors);
	}
	*ret = json_pack("{s:o,s:b}", "sensors", sensors.list, "more", sensors.more);
	if (json_array_size(sensors.list) > 0)
		return 0;
	json_decref(*ret);
	*ret = NULL;
	if (rf_go_on(op, err) == 0)
		bu_err_set(err, BU_ERR_INVAL, 0, "%s: the BMC shows no sensors",
			   op->bmc->origin);
	return -1;
}

/* --- firmware --- */

/* What only lies ready, or lay there before, does not run. */
static int
on_firmware(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	const char *state = bu_json_str(json_object_get(member, "Status"), "State", "");
	char name[80], version[80];

	(void)op;
	bu_text_copy(name, sizeof(name),
		     bu_json_str(member, "Name", bu_json_str(member, "Id", path)));
	bu_text_copy(version, sizeof(version), bu_json_str(member, "Version", ""));
	if (*version && strcmp(state, "StandbyOffline") != 0 &&
	    strcmp(state, "StandbySpare") != 0)
		json_array_append_new(
			arg, json_pack("{s:s,s:s}", "name", name, "version", version));
	return 0;
}

int
rf_firmware(struct rf_op *op, json_t **ret, struct bu_err *err)
{
	const char *updates = op->bmc->root.updates;
	bu_autojson json_t *service = NULL;
	bu_autojson json_t *list = json_array();
	char link[RF_PATH_SIZE];

	/* A BMC that had none may have one since. */
	if (!updates[0])
		op->bmc->root.until_ms = 0;
	if (rf_root(op, err) != 0)
		return -1;
	if (updates[0] && !(service = rf_get(op, updates, NULL, err)))
		return -1;
	rf_link(op, service, "FirmwareInventory", link);
	if (!link[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the BMC shows no firmware versions",
				  op->bmc->origin);
	if (rf_members(op, link, on_firmware, list, err) != 0)
		return -1;
	*ret = json_pack("{s:O,s:b}", "firmware", list, "more", is_long(op, link));
	return 0;
}
