/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of a machine's soak slices: its time under load, the counters that grew, and
 * the neighbours with which payload came changed. Written in replay alone; read by the
 * gate and by why.c. Invariants: the results are the machine's, whatever its node;
 * after a quarantine they begin anew.
 */
#include <string.h>

#include "base/json.h"
#include "model/check.h"
#include "model/sentence.h"
#include "provisioner/node/fleet.h"

static json_t *
member_of(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!value) {
		value = json_object();
		json_object_set_new(object, key, value);
	}
	return value;
}

/* Keeps the last row of a name, and counts them. */
static void
keep_row(json_t *rows, const struct bu_check_said *row, json_t *value)
{
	bu_autofree char *name = bu_check_said_name(row);
	json_int_t times = bu_json_int(json_object_get(rows, name), "times", 0);

	json_object_set_new(rows, name,
			    json_pack("{s:O,s:I}", "row", value, "times", times + 1));
}

int
bu_measurements_soak(BU_REPLAY_ARGS)
{
	struct bu_measurements *measurements = &fleet->measurements;
	json_int_t before = bu_json_int(measurements->soaked, node->machine, 0);
	json_t *showed, *value;
	size_t i;

	/* A failed slice is evidence of the quarantine that follows. */
	if (!node->machine[0] || body->soak.verdict == BU_VERDICT_FAIL)
		return 0;
	if (body->soak.ms > 0)
		json_object_set_new(measurements->soaked, node->machine,
				    json_integer(before + body->soak.ms));
	showed = member_of(measurements->showed, node->machine);
	json_array_foreach ((json_t *)(uintptr_t)body->soak.rows, i, value) {
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields, value, &row, NULL) != 0)
			continue;
		keep_row(member_of(showed, "rows"), &row, value);
		if (body->soak.peer && strcmp(row.id, BU_CHECK_SOAK_PAYLOAD) == 0)
			json_object_set_new(member_of(showed, "changed"),
					    body->soak.peer, json_true());
	}
	return 0;
}

void
bu_measurements_soak_anew(struct bu_fleet *fleet, const char *machine)
{
	json_object_del(fleet->measurements.soaked, machine);
	json_object_del(fleet->measurements.showed, machine);
}

static const json_t *
showed_of(const struct bu_fleet *fleet, const char *machine, const char *key)
{
	return json_object_get(json_object_get(fleet->measurements.showed, machine),
			       key);
}

const json_t *
bu_measurements_changed(const struct bu_fleet *fleet, const char *machine)
{
	return showed_of(fleet, machine, "changed");
}

void
bu_measurements_soak_say(const struct bu_fleet *fleet, const char *machine,
			 json_t *lines)
{
	const json_t *rows = showed_of(fleet, machine, "rows");
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)rows, name, value) {
		json_int_t times = bu_json_int(value, "times", 1);
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields,
					json_object_get(value, "row"), &row, NULL) != 0)
			continue;
		json_array_append_new(
			lines,
			BU_SAID(CHECK_SAYS, BU_ARG("name", name),
				BU_ARG("verdict", bu_verdict_name(row.verdict)),
				BU_ARG_NUMBER("times", times > 1 ? times : 0),
				BU_ARG("words", row.text), BU_ARG("hint", row.hint)));
	}
}
