/* SPDX-License-Identifier: Apache-2.0 */
/* Files, folders and programs of the appliance that a profile names. */
#ifndef BU_PROFILES_LOAD_NAMED_H
#define BU_PROFILES_LOAD_NAMED_H

#include "profiles/desired.h"
#include "profiles/language/schema.h"

enum bu_named_kind {
	BU_NAMED_SECRET, /* a secret's file, or a program that the appliance runs */
	BU_NAMED_PUBLIC, /* public keys and certificates */
	BU_NAMED_IMAGES, /* a folder of images */
	BU_NAMED_CONF,   /* a configuration that a program of the appliance reads */
};

struct bu_named {
	enum bu_named_kind kind;
	const struct bu_key *key;
	const char *name; /* of its section; NULL = it has none */
	const char *path;
	struct bu_origin at;
};

/* Calls fn for each; what it gets is borrowed until it returns. References of other
 * kinds (env:, credential:) name no file. */
void bu_named_each(const struct bu_desired *desired,
		   void (*fn)(const struct bu_named *named, void *arg), void *arg);

#endif
