/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that divides GPUs, against a fake nvidia-smi: three GPUs whose mode
 * and instances are files, and a log of what was changed. What matters is what it
 * leaves alone, because dividing a GPU ends whatever runs on it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static const char paper[] =
	"#!/bin/sh\n"
	"cd \"$PAPER\" || exit 9\n"
	"log() { echo \"$*\" >>log; }\n"
	"gpu=\n"
	"case \"$*\" in *'-i '*) gpu=${*#*-i }; gpu=${gpu%% *} ;; esac\n"
	"case \"$*\" in\n"
	"--query-gpu=index*) printf '0\\n1\\n2\\n' ;;\n"
	"*mig.mode.current*) cat mode$gpu ;;\n"
	"-L) for i in 0 1 2; do echo \"GPU $i: H100 (UUID: GPU-x$i)\"\n"
	"	awk '{ print \"  MIG \" $1 \"     Device  0: (UUID: MIG-y)\" }' has$i\n"
	"	done ;;\n"
	"*' -mig 1') log on $gpu; echo Enabled >mode$gpu ;;\n"
	"*' -mig 0') log off $gpu; echo Disabled >mode$gpu ;;\n"
	"*-dci) [ -s has$gpu ] || exit 6 ;;\n"
	"*-dgi) [ -s has$gpu ] || exit 6; log clear $gpu; : >has$gpu ;;\n"
	"*-cgi*) list=${*##*-cgi }; list=${list% -C}; log make $gpu $list\n"
	"	[ ! -e full ] || exit 4; echo \"$list\" | tr , '\\n' >has$gpu ;;\n"
	"*) log what \"$*\"; exit 9 ;;\n"
	"esac\n";

static char dir[] = "/tmp/bringup-gpu-XXXXXX";

static void
put(const char *name, const char *text, mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), mode, NULL), 0);
}

/* GPU 0 is whole, GPU 1 has two instances, GPU 2 the mode alone. */
static void
begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	put("nvidia-smi", paper, 0755);
	put("mode0", "Disabled\n", 0644);
	put("mode1", "Enabled\n", 0644);
	put("mode2", "Enabled\n", 0644);
	put("has0", "", 0644);
	put("has1", "3g.40gb\n1g.10gb\n", 0644);
	put("has2", "", 0644);
}

/* The script over this file: 0 or its status; what it changed is `want`. */
static void
divide(const char *file, int ok, const char *want)
{
	bu_autofree char *path = bu_xasprintf("PATH=%s:/usr/bin:/bin", dir);
	bu_autofree char *where = bu_xasprintf("PAPER=%s", dir);
	bu_autofree char *conf = bu_xasprintf("%s/gpu", dir);
	bu_autofree char *log = bu_xasprintf("%s/log", dir), *got = NULL;
	const char *env[] = {path, where, NULL};
	const char *argv[] = {"/bin/sh", BU_SRCDIR "/images/build/recipes/gpu", conf,
			      NULL};
	struct bu_job_opts opts = {.argv = argv, .env = env, .deadline_ms = 60000};

	put("log", "", 0644);
	put("gpu", file, 0644);
	ck_assert_int_eq(bu_job_run(&opts, NULL, NULL) == 0, ok);
	got = bu_file_read(log, 0, NULL, NULL);
	ck_assert_str_eq(got, want);
}

START_TEST(only_what_is_not_so_is_changed)
{
	begin();
	divide("# GPU\n0 7g.80gb\n1 1g.10gb,3g.40gb\n2 1g.10gb,1g.10gb\n", 1,
	       "on 0\nmake 0 7g.80gb\nmake 2 1g.10gb,1g.10gb\n");
	divide("# GPU\n0 7g.80gb\n1 1g.10gb,3g.40gb\n2 1g.10gb,1g.10gb\n", 1, "");
	divide("1 3g.40gb,3g.40gb\n0 7g.80gb\n2 1g.10gb,1g.10gb\n", 1,
	       "clear 1\nmake 1 3g.40gb,3g.40gb\n");
	/* What is not in the file is whole. */
	divide("0 7g.80gb\n", 1, "clear 1\noff 1\nclear 2\noff 2\n");
	divide("0 7g.80gb\n", 1, "");
	/* A refusal is told, and the others are done. */
	put("full", "", 0644);
	divide("0 3g.40gb\n", 0, "clear 0\nmake 0 3g.40gb\n");
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

START_TEST(without_the_driver_nothing_happens)
{
	bu_autofree char *path = NULL;
	const char *env[] = {NULL, NULL};
	const char *argv[] = {"/bin/sh", BU_SRCDIR "/images/build/recipes/gpu",
			      "/no/such/file", NULL};
	struct bu_job_opts opts = {.argv = argv, .env = env, .deadline_ms = 60000};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("PATH=%s", dir);
	env[0] = path;
	ck_assert_int_eq(bu_job_run(&opts, NULL, NULL), 0);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("gpu", only_what_is_not_so_is_changed, without_the_driver_nothing_happens)
