/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent reads the installed system that it is in: the kernel, the arguments of
 * that, and whether each file of the configuration is there as it was written
 * (model/applied.h).
 */
#ifndef BU_AGENT_ITSELF_H
#define BU_AGENT_ITSELF_H

#include <jansson.h>

#include "base/err.h"

struct bu_itself {
	const char *root; /* prefix of all paths; "" on a node */
	/* bu_bootargs_system(); NULL = the boot loader is not looked at. */
	int (*bootargs)(const char *kargs, char **ret_old, struct bu_err *err);
	char *loader; /* the node's part of its arguments, looked at last; NULL = it
			 could not be read */
};

/* With a look at the boot loader, which mounts its partition: at the start, and when
 * something was written. */
void bu_itself_look(struct bu_itself *itself);
/* bu_runs_fields. New reference. */
json_t *bu_itself_tell(const struct bu_itself *itself);
void bu_itself_fini(struct bu_itself *itself);

#endif
