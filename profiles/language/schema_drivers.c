/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which driver of a cluster knows a key. Asked by the loader and by the documentation
 * of the keys.
 */
#include <string.h>

#include "base/mem.h"
#include "profiles/language/schema.h"

/* Keys that only one kind of cluster knows. */
static const struct {
	const char *section; /* NULL = each that has the key */
	const char *key, *driver;
} driver_keys[] = {
	{"cluster", "munge_key", "slurm"},  {"cluster", "slurm_conf", "slurm"},
	{"cluster", "token", "kubernetes"}, {"cluster", "ca", "kubernetes"},
	{NULL, "features", "slurm"},        {NULL, "gres", "slurm"},
	{NULL, "labels", "kubernetes"},     {NULL, "taints", "kubernetes"},
};

const char *
bu_key_driver(const struct bu_key *key)
{
	for (size_t i = 0; i < BU_LEN(driver_keys); i++)
		if (strcmp(driver_keys[i].key, key->key) == 0 &&
		    (!driver_keys[i].section ||
		     strcmp(driver_keys[i].section, key->section) == 0))
			return driver_keys[i].driver;
	return NULL;
}
