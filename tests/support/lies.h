/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on a node: a folder as its root, written as work items say it, and what the
 * agent itself reads there.
 */
#ifndef BU_TESTS_SUPPORT_LIES_H
#define BU_TESTS_SUPPORT_LIES_H

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/itself.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "model/applied.h"
#include "tests/support/unit.h"

static char lies_root[64];
static char lies_loader[256]; /* the node's kernel arguments, for the next boot */

static inline char *
lies_path(const char *path)
{
	return bu_xasprintf("%s%s", lies_root, path);
}

static inline void
lies_put(const char *path, mode_t mode, const void *content, size_t size)
{
	bu_autofree char *full = lies_path(path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, content, size, mode, NULL), 0);
}

static inline void
lies_edit(const char *path, const char *text)
{
	lies_put(path, 0644, text, strlen(text));
}

static inline void
lies_begin(void)
{
	strcpy(lies_root, "/tmp/bringup-lies-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(lies_root));
	lies_loader[0] = '\0';
}

static inline void
lies_end(void)
{
	ck_assert_int_eq(bu_remove_tree(lies_root, NULL), 0);
}

static inline void
lies_write_file(const json_t *file)
{
	const char *text = bu_json_str(file, "content", NULL);
	const char *hex = bu_json_str(file, "content_hex", "");
	size_t size = text ? strlen(text) : strlen(hex) / 2;
	bu_autofree char *bytes = bu_xmalloc(size + 1);

	if (text)
		memcpy(bytes, text, size);
	else
		ck_assert_int_eq(bu_hex_decode(hex, bytes, size), 0);
	lies_put(bu_json_str(file, "path", ""), (mode_t)bu_json_int(file, "mode", 0),
		 bytes, size);
}

/* What is written of the item before the agent is cut off: so many files (-1 = all of
 * it). */
static inline void
lies_write(const json_t *item, int files)
{
	size_t i;
	json_t *file;

	if (files < 0 && json_is_string(json_object_get(item, "kargs")))
		snprintf(lies_loader, sizeof(lies_loader), "%s",
			 bu_json_str(item, "kargs", ""));
	json_array_foreach (json_object_get(item, "files"), i, file)
		if (files < 0 || i < (size_t)files)
			lies_write_file(file);
}

/* A boot: the loader and the firmware add words of their own. */
static inline void
lies_boot(void)
{
	bu_autofree char *run = lies_path("/run");
	bu_autofree char *line =
		bu_xasprintf("BOOT_IMAGE=/vmlinuz bringup.esp=A-B root=UUID=7 ro "
			     "console=ttyS0 %s initrd=/initrd.img\n",
			     lies_loader);

	ck_assert_int_eq(bu_remove_tree(run, NULL), 0);
	lies_edit("/proc/cmdline", line);
	lies_edit("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
}

static inline int
lies_bootargs(const char *kargs, char **ret_old, struct bu_err *err)
{
	ck_assert_ptr_null(kargs);
	*ret_old = bu_xstrdup(lies_loader);
	return 0;
}

/* What its agent says with a hello. New reference. */
static inline json_t *
lies_told(void)
{
	struct bu_itself itself = {.root = lies_root, .bootargs = lies_bootargs};
	json_t *told;

	bu_itself_look(&itself);
	told = bu_itself_tell(&itself);
	bu_itself_fini(&itself);
	return told;
}

#endif
