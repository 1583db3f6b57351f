/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tree that came from elsewhere, as from inside: its links lead nowhere else.
 */
#ifndef BU_IMAGES_BUILD_INSIDE_H
#define BU_IMAGES_BUILD_INSIDE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

/* A descriptor to close; -1 and errno. Waits for nobody (a pipe, say). */
int bu_inside_open(int root_fd, const char *path, int flags);
int bu_inside_stat(int root_fd, const char *path, struct stat *ret);
/* NULL when there is none. */
DIR *bu_inside_folder(int root_fd, const char *path);
/* 1 when it is a file that can be run. */
int bu_inside_program(int root_fd, const char *path);
/* The whole plain file, NUL-terminated, owned; BU_ERR_NOTFOUND when there is none. */
char *bu_inside_read(int root_fd, const char *path, size_t max, size_t *ret_size,
		     struct bu_err *err);

#endif
