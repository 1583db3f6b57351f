/* SPDX-License-Identifier: Apache-2.0 */
/* Options and places of the verbs of `bringup image`, for image.c and image_shelf.c. */
#ifndef BU_CLI_COMMANDS_IMAGE_IMPL_H
#define BU_CLI_COMMANDS_IMAGE_IMPL_H

#include "base/err.h"

struct bu_image_place {
	char *cache;
	char *images;
};

struct bu_image_options {
	const char *agent;
	const char *socket;
	const char *key;
	const char *profile;
	const char *platform;
	int force;
	int json;
	int sbom;
	int yes;
	int offline;
	int help;
};

#define BU_IMAGE_VERB(name)                                                            \
	int name(const struct bu_image_place *place,                                   \
		 const struct bu_image_options *options, char **names, int count,      \
		 struct bu_err *err)

BU_IMAGE_VERB(bu_image_cmd_list);
BU_IMAGE_VERB(bu_image_cmd_show);
BU_IMAGE_VERB(bu_image_cmd_stored);
BU_IMAGE_VERB(bu_image_cmd_rollback);
BU_IMAGE_VERB(bu_image_cmd_gc);

/* BU_ERR_DENIED where [policy] registries of that profile does not allow the source of
 * an import. Nothing is fetched to say so. */
bu_must int bu_image_policy_source(const char *dir, const char *name,
				   const char *source, struct bu_err *err);

#endif
