/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a profile names: they are opened beneath directories that the appliance's
 * own configuration lists, and never in its state directory, by whatever name.
 */
#ifndef BU_BASE_CONFINE_H
#define BU_BASE_CONFINE_H

#include <stddef.h>

#include "base/err.h"

/* Which lists count; a file may be beneath a directory of any of them. */
enum { BU_CONFINE_SECRETS = 1, BU_CONFINE_IMAGES = 2 };

struct bu_confine_opts {
	/* Absolute directories with commas between them; NULL = none. */
	const char *secrets_dir, *image_dirs;
	const char *state; /* NULL = there is none */
};

/* From now on, for the whole process: before it, and in programs that never call it,
 * any path may be opened. BU_ERR_DENIED: a directory holds the state directory, or lies
 * in it and is not its images/. */
bu_must int bu_confine_begin(const struct bu_confine_opts *opts, struct bu_err *err);
void bu_confine_end(void);

/* Links on the way are followed as long as they stay beneath the directory; one at the
 * end, another mount on the way and a second name of a file of the state directory are
 * BU_ERR_DENIED, a missing file BU_ERR_NOTFOUND. */
int bu_confine_open(int lists, const char *path, int flags, struct bu_err *err);
/* The whole file as bu_file_read() has it; owned. */
char *bu_confine_read(int lists, const char *path, size_t max, size_t *ret_size,
		      struct bu_err *err);
/* BU_ERR_DENIED when it may not be opened; that it is not there is no matter. flags:
 * O_DIRECTORY of a folder, which may be reached by a link. */
bu_must int bu_confine_check(int lists, const char *path, int flags,
			     struct bu_err *err);

#endif
