/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ipmitool of paper, first in the PATH: it notes how it was called, and does for its
 * words what a test says, in the shell's language.
 */
#ifndef BU_TESTS_SUPPORT_IPMI_TOOL_H
#define BU_TESTS_SUPPORT_IPMI_TOOL_H

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/support/unit.h"

struct ipmi_tool {
	char dir[64];
	char *path; /* as it was */
};

static inline void
ipmi_tool_put(const struct ipmi_tool *tool, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", tool->dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0700, NULL), 0);
	ck_assert_int_eq(chmod(path, 0700), 0);
}

/* words: "chassis power status"; it is silent, and done, about all others. */
static inline void
ipmi_tool_does(const struct ipmi_tool *tool, const char *words, const char *what)
{
	bu_autofree char *name = bu_xasprintf("do %s", words);

	ipmi_tool_put(tool, name, what);
}

/* The words begin behind the last option that takes one; "-C" may be missing. */
static inline void
ipmi_tool_begin(struct ipmi_tool *tool)
{
	bu_autofree char *path = NULL;

	strcpy(tool->dir, "/tmp/bringup-tool-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tool->dir));
	ipmi_tool_put(tool, "ipmitool",
		      "#!/bin/sh\ndir=${0%/*}\n"
		      "echo \"$IPMI_PASSWORD $TZ $*\" >>$dir/log\n"
		      "while :; do case $1 in\n"
		      "-[vcE]) shift;;\n-C) suite=$2; shift 2;;\n"
		      "-H) host=$2; shift 2;;\n-*) shift 2;;\n*) break;; esac; done\n"
		      "test -e \"$dir/do $*\" && . \"$dir/do $*\"\nexit 0\n");
	tool->path = bu_xstrdup(getenv("PATH"));
	path = bu_xasprintf("%s:%s", tool->dir, tool->path);
	setenv("PATH", path, 1);
}

static inline void
ipmi_tool_end(struct ipmi_tool *tool)
{
	setenv("PATH", tool->path, 1);
	free(tool->path);
	ck_assert_int_eq(bu_remove_tree(tool->dir, NULL), 0);
}

/* What a file of it has; "" = there is none. Owned. */
static inline char *
ipmi_tool_get(const struct ipmi_tool *tool, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", tool->dir, name);
	char *text = bu_file_read(path, 0, NULL, NULL);

	return text ? text : bu_xstrdup("");
}

/* How it was called since then: "PASSWORD ZONE ARGUMENTS" a line. Owned. */
static inline char *
ipmi_tool_called(const struct ipmi_tool *tool)
{
	char *text = ipmi_tool_get(tool, "log");

	ipmi_tool_put(tool, "log", "");
	return text;
}

#endif
