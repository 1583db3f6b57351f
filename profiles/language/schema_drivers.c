/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys and values have a driver in this version, and which driver knows a key.
 * Asked by the loader and by the documentation of the keys; whose driver comes changes
 * its row here.
 */
#include <string.h>

#include "base/mem.h"
#include "profiles/language/schema.h"

/* What the language has words for, and this version does nothing with: of a choice, the
 * values that have a driver; "" = nothing reads the key. */
/* clang-format off */
static const struct {
	const char *section; /* NULL = each that has the key */
	const char *key, *served;
} futures[] = {
	{"cluster", "driver", "kubernetes|slurm"},
	{NULL, "power", "ipmi|libvirt|manual|redfish"},
};
/* clang-format on */

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
bu_key_served(const struct bu_key *key)
{
	for (size_t i = 0; i < BU_LEN(futures); i++)
		if (strcmp(futures[i].key, key->key) == 0 &&
		    (!futures[i].section ||
		     strcmp(futures[i].section, key->section) == 0))
			return futures[i].served;
	return NULL;
}

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
