/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of the classes. */
#include "model/class.h"

#include <string.h>

static const struct bu_class_info classes[] = {
#define X(id, name, grant, disturbs, in_service, configures, next, disk, help)         \
	{name,       grant,           disturbs,       BU_ACTION_##in_service,          \
	 configures, BU_STATE_##next, BU_DISK_##disk, help},
	BU_CLASSES(X)
#undef X
};

const struct bu_class_info *bu_class_info(enum bu_class class)
{
	bu_assert(class < BU_CLASS_COUNT);
	return &classes[class];
}

const char *bu_class_name(enum bu_class class)
{
	return bu_class_info(class)->name;
}

int bu_class_needs_grant(enum bu_class class)
{
	return bu_class_info(class)->needs_grant;
}

int bu_class_installs(enum bu_class class)
{
	return bu_class_info(class)->disk != BU_DISK_STAYS;
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
bu_class_read(const char *name, enum bu_class *ret, struct bu_err *err)
{
	*ret = bu_class_from_name(name);
	if (strcmp(bu_class_name(*ret), name) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0, "class '%.40s' is unknown", name);
}

int
bu_grant_name_ok(const char *name)
{
	return strcmp(name, BU_GRANT_RESET) == 0 ||
	       bu_class_needs_grant(bu_class_from_name(name));
}
