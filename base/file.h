/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole reads, atomic writes, directories. What is missing is BU_ERR_NOTFOUND, a
 * file over a limit BU_ERR_INVAL, the rest BU_ERR_IO. */
#ifndef BU_BASE_FILE_H
#define BU_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* The whole file, NUL-terminated, at most max bytes (0 = 64 MiB); owned. Works for
 * files of /proc and /sys too. */
char *bu_file_read(const char *path, size_t max, size_t *ret_size, struct bu_err *err);
/* Writes beside it, syncs, renames: there is the old content or the new. */
bu_must int bu_file_write(const char *path, const void *data, size_t size, mode_t mode,
			  struct bu_err *err);
bu_must int bu_file_write_text(const char *path, mode_t mode, struct bu_err *err,
			       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* First line of a small file without its end, "" when it cannot be read. */
void bu_file_line(const char *path, char *ret_text, size_t size);
bu_must int bu_mkdir_p(const char *path, mode_t mode, struct bu_err *err);
/* Removes a tree that is a real directory; never follows links, never crosses a
 * mount (BU_ERR_STATE).
 * A missing one is no error. */
bu_must int bu_remove_tree(const char *path, struct bu_err *err);
int bu_file_exists(const char *path);
struct stat;
/* 1 = both are of one file, and it was not written in between. */
int bu_file_is_version(const struct stat *a, const struct stat *b);
/* All bytes, or -1 (BU_ERR_IO). */
bu_must int bu_write_all(int fd, const void *data, size_t size, struct bu_err *err);
/* The same from a place in a file or on a disk; where it ends is an error. */
bu_must int bu_read_at(int fd, void *buf, size_t size, uint64_t offset,
		       struct bu_err *err);
int bu_set_cloexec(int fd, int on);
/* Lets this process open so many files, or as many as its hard limit allows. A higher
 * limit stays. */
void bu_raise_open_files(unsigned long count);

/* The rest is in places.c and not for the agent. Path of a data file ("webui",
 * "images/build/recipes"): below $BRINGUP_DATADIR, the source tree when the program
 * runs from its build tree, else the installed place; owned. */
char *bu_data_path(const char *relative);
/* Path of a program of ours ("bringup-power"): beside the running one, else the
 * installed place; owned. */
char *bu_program_path(const char *name);
/* Images, boot ramdisk and what building them keeps: $BRINGUP_CACHE, else
 * ~/.cache/bringup (without HOME that of this user); owned, need not exist.
 * BU_ERR_INVAL unless it is plain. */
enum { BU_CACHE_DIR_SIZE = 256 };
char *bu_cache_dir(struct bu_err *err);

#endif
