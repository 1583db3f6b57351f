/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of actions and classes. */
#include "model/step.h"

#include <string.h>

static const struct {
	const char *name;
	enum bu_actor actor;
} actions[] = {
#define X(id, name, actor, help) {name, BU_ACTOR_##actor},
	BU_ACTIONS(X)
#undef X
};

static const struct {
	const char *name;
	int needs_grant;
} classes[] = {
#define X(id, name, grant, help) {name, grant},
	BU_CLASSES(X)
#undef X
};

const char *
bu_action_name(enum bu_action action)
{
	return actions[action].name;
}

enum bu_actor
bu_action_actor(enum bu_action action)
{
	return actions[action].actor;
}

enum bu_action
bu_action_from_name(const char *name)
{
	for (size_t i = 0; i < BU_LEN(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			return (enum bu_action)i;
	return BU_ACTION_NONE;
}

const char *bu_class_name(enum bu_class class)
{
	return classes[class].name;
}

int bu_class_needs_grant(enum bu_class class)
{
	return classes[class].needs_grant;
}

enum bu_class
bu_class_from_name(const char *name)
{
	for (size_t i = 0; i < BU_LEN(classes); i++)
		if (strcmp(classes[i].name, name) == 0)
			return (enum bu_class)i;
	return BU_CLASS_NONE;
}

int
bu_grant_name_ok(const char *name)
{
	return strcmp(name, BU_GRANT_RESET) == 0 ||
	       bu_class_needs_grant(bu_class_from_name(name));
}
