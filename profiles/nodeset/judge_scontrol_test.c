/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm's `scontrol show hostnames` judges plain ranges: the names that a pool gives
 * its nodes must be those that Slurm reads from the same text, in the same order.
 * Skipped (exit status 77) where Slurm's client is not installed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/worker.h"
#include "profiles/nodeset/nodeset.h"
#include "tests/support/unit.h"

START_TEST(scontrol_agrees)
{
	static const char *const rows[] = {
		"gpu1",           "gpu[1-3]",    "gpu[001-128,200]",
		"gpu[8-11]",      "gpu[08-11]",  "gpu[098-102]",
		"r[1-2]n[01-03]", "a1,b[2-3],c", "n[1,3,5-7],m[01-02]",
		"login",          "n[0-0]",
	};
	char dir[] = "/tmp/bringup-judge-XXXXXX";
	bu_autofree char *conf = NULL, *env_conf = NULL;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	conf = bu_xasprintf("%s/slurm.conf", dir);
	env_conf = bu_xasprintf("SLURM_CONF=%s", conf);
	ck_assert_int_eq(bu_file_write_text(conf, 0600, &err,
					    "ClusterName=judge\n"
					    "SlurmctldHost=localhost\n"),
			 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const char *const argv[] = {"scontrol", "show", "hostnames", rows[i],
					    NULL};
		const char *const env[] = {env_conf, NULL};
		bu_autofree char *got = NULL;
		struct bu_nodeset *nodeset =
			bu_nodeset_parse(rows[i], NULL, NULL, &err);
		const char *at;

		ck_assert_msg(
			bu_job_run(&(struct bu_job_opts){.argv = argv, .env = env},
				   &got, &err) == 0,
			"%s", err.text);
		at = got;
		for (size_t j = 0; j < nodeset->count; j++) {
			size_t size = strcspn(at, "\n");

			ck_assert_msg(strlen(nodeset->names[j]) == size &&
					      strncmp(at, nodeset->names[j], size) == 0,
				      "%s: scontrol says %.*s, we say %s", rows[i],
				      (int)size, at, nodeset->names[j]);
			at += size + (at[size] == '\n');
		}
		ck_assert_msg(!*at, "%s: scontrol goes on with %s", rows[i], at);
		bu_nodeset_destroy(nodeset);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {scontrol_agrees};

	if (access("/usr/bin/scontrol", X_OK) != 0) {
		puts("skipped: the package slurm-client, which judges nodesets, is not "
		     "installed");
		return 77;
	}
	return bu_unit_run("judge_scontrol", tests, BU_LEN(tests));
}
