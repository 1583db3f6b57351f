/* SPDX-License-Identifier: Apache-2.0 */
/* The driver against a Slurm of paper: two scripts that stand first in PATH. */
#include "provisioner/cluster/slurm.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "provisioner/cluster/cluster.h"
#include "tests/support/unit.h"
#include "tests/support/world.h"

START_TEST(words_of_sinfo)
{
	static const struct {
		const char *text;
		enum bu_slurm_view view;
	} rows[] = {
		{"", BU_SLURM_UNKNOWN},           {"idle", BU_SLURM_TAKING},
		{"idle*", BU_SLURM_UNKNOWN},      {"down*", BU_SLURM_UNKNOWN},
		{"mixed", BU_SLURM_TAKING},       {"allocated+", BU_SLURM_TAKING},
		{"completing", BU_SLURM_TAKING},  {"planned", BU_SLURM_TAKING},
		{"reserved", BU_SLURM_TAKING},    {"maint", BU_SLURM_TAKING},
		{"drained", BU_SLURM_DRAINED},    {"draining", BU_SLURM_DRAINING},
		{"draining@", BU_SLURM_DRAINING}, {"drained*", BU_SLURM_UNKNOWN},
		{"down", BU_SLURM_DRAINED},       {"inval", BU_SLURM_INVALID},
		{"future", BU_SLURM_UNKNOWN},     {"error: no", BU_SLURM_UNKNOWN},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_slurm_view(rows[i].text) == rows[i].view, "'%s'",
			      rows[i].text);
}
END_TEST

struct ended {
	int times;
	struct bu_err err;
};

static void
on_end(const struct bu_err *err, void *arg)
{
	struct ended *ended = arg;

	ended->times++;
	memset(&ended->err, 0, sizeof(ended->err));
	if (err)
		ended->err = *err;
}

static struct bu_cluster_op *
begin_op(struct rig *rig, int admit, struct ended *ended)
{
	const struct bu_cluster_driver *driver = bu_cluster_driver("slurm");
	struct bu_cluster_target target = {
		.conf = "/etc/paper.conf", .node = "node001", .deadline_ms = 20000};

	memset(ended, 0, sizeof(*ended));
	return (admit ? driver->admit : driver->leave)(rig->loop, &target, on_end,
						       ended);
}

/* Until it has ended; turns of half a second. Returns what scontrol was told; owned. */
static char *
run_op(struct rig *rig, int admit, const char *sinfo, const char *next,
       struct ended *ended)
{
	rig_begin(rig, 0);
	rig_write(rig, "sinfo", sinfo);
	if (next)
		rig_write(rig, "sinfo.next", next);
	begin_op(rig, admit, ended);
	ck_assert_int_eq(ended->times, 0);
	for (int i = 0; i < 4000 && !ended->times; i++)
		rig_pass(rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended->times, 1);
	return rig_read(rig, "scontrol.log");
}

START_TEST(an_idle_node_is_admitted)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "idle\nidle\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(a_drained_node_is_resumed)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "drained\n", "idle\n", &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "update nodename=node001 state=resume\n");
	rig_end(&rig);
}
END_TEST

START_TEST(less_than_configured_is_an_error)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "inval\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(ended.err.text, "scontrol show node node001"));
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_does_not_come_is_late)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "down*\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text,
			 "Slurm says 'down*' for node001; see sinfo -R");
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(an_idle_node_is_drained_then_deleted)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = NULL;

	rig_begin(&rig, 0);
	rig_write(&rig, "sinfo", "mixed\n");
	rig_write(&rig, "sinfo.next", "draining\n");
	begin_op(&rig, 0, &ended);
	for (int i = 0; i < 200; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended.times, 0); /* its jobs still run */
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "update nodename=node001 state=drain reason=bringup: "
			       "leaves the cluster\n");
	rig_write(&rig, "sinfo.next", "");
	rig_write(&rig, "sinfo", "drained\n");
	for (int i = 0; i < 4000 && !ended.times; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	free(told);
	told = rig_read(&rig, "scontrol.log");
	ck_assert_ptr_nonnull(strstr(told, "\ndelete nodename=node001\n"));
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_not_there_has_left)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 0, "", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

static void
sinfo_script(const struct rig *rig, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/sinfo", rig->dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(its_configuration_is_handed_on_and_its_errors_are_waited_out)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *script = NULL, *asked = NULL;

	rig_begin(&rig, 0);
	script = bu_xasprintf("#!/bin/sh\necho \"$SLURM_CONF $*\" >'%s/asked'\n"
			      "echo no slurmctld >&2\nexit 1\n",
			      rig.dir);
	sinfo_script(&rig, script);
	begin_op(&rig, 1, &ended);
	for (int i = 0; i < 4000 && !ended.times; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	asked = rig_read(&rig, "asked");
	ck_assert_str_eq(asked, "/etc/paper.conf -h -N -o %T -n node001\n");
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text,
			 "Slurm says 'sinfo failed' for node001; see sinfo -R");
	rig_end(&rig);
}
END_TEST

START_TEST(a_cancelled_operation_is_silent)
{
	struct rig rig;
	struct ended ended;
	struct bu_cluster_op *op;

	rig_begin(&rig, 0);
	sinfo_script(&rig, "#!/bin/sh\nsleep 60\n");
	op = begin_op(&rig, 1, &ended);
	bu_cluster_driver("slurm")->cancel(op); /* before it has looked */
	op = begin_op(&rig, 1, &ended);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1);
	bu_cluster_driver("slurm")->cancel(op); /* while it looks */
	for (int i = 0; i < 50; i++)
		rig_pass(&rig, 500);
	ck_assert_int_eq(ended.times, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(an_unknown_driver_is_none)
{
	ck_assert_ptr_nonnull(bu_cluster_driver("slurm"));
	ck_assert_ptr_null(bu_cluster_driver("pbs"));
}
END_TEST

RIG_UNIT("slurm", words_of_sinfo, an_idle_node_is_admitted, a_drained_node_is_resumed,
	 less_than_configured_is_an_error, a_node_that_does_not_come_is_late,
	 an_idle_node_is_drained_then_deleted, who_is_not_there_has_left,
	 its_configuration_is_handed_on_and_its_errors_are_waited_out,
	 a_cancelled_operation_is_silent, an_unknown_driver_is_none)
