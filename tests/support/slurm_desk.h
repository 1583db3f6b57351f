/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of Slurm before a fake Slurm, and how its operations end. */
#ifndef BU_TESTS_SUPPORT_SLURM_DESK_H
#define BU_TESTS_SUPPORT_SLURM_DESK_H

#include <stdio.h>
#include <string.h>

#include "provisioner/cluster/cluster.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

struct ended {
	int times;
	struct bu_err err;
	char words[400], detail[240], drained[160];
};

static inline void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct ended *ended = arg;

	ended->times++;
	memset(&ended->err, 0, sizeof(ended->err));
	if (err)
		ended->err = *err;
	snprintf(ended->detail, sizeof(ended->detail), "%s", done->detail);
	snprintf(ended->drained, sizeof(ended->drained), "%s", done->drained);
}

static inline void
on_words(const char *text, void *arg)
{
	struct ended *ended = arg;

	snprintf(ended->words, sizeof(ended->words), "%s", text);
}

static inline const struct bu_cluster_driver *
slurm(void)
{
	return bu_cluster_driver("slurm");
}

/* The last two: with an administrator's drain ("DIMM A3") in the log. */
enum verb { ADMIT, LEAVE, RELABEL, ADMIT_DRAINED, LEAVE_DRAINED };

static inline struct bu_cluster_op *
begin_op(struct bu_cluster *cluster, enum verb verb, const char *node,
	 struct ended *ended)
{
	struct bu_cluster_target target = {.member.name = node,
					   .drained = verb >= ADMIT_DRAINED ? "DIMM A3"
									    : NULL,
					   .words = on_words};
	int admits = verb == ADMIT || verb == ADMIT_DRAINED;

	memset(ended, 0, sizeof(*ended));
	if (admits || verb == RELABEL)
		target.deadline_ms = 20000;
	if (admits)
		return slurm()->admit(cluster, &target, on_end, ended);
	if (verb == RELABEL)
		return slurm()->relabel(cluster, &target, on_end, ended);
	return slurm()->leave(cluster, &target, on_end, ended);
}

struct desk {
	struct rig rig;
	struct bu_cluster *cluster;
	int seen;            /* answers */
	struct bu_err error; /* of the last one */
	size_t count;
};

static inline void
on_seen(const struct bu_cluster_row *rows, size_t count, const struct bu_err *err,
	void *arg)
{
	struct desk *desk = arg;

	desk->seen++;
	desk->count = count;
	memset(&desk->error, 0, sizeof(desk->error));
	if (err)
		desk->error = *err;
}

static inline void
begin(struct desk *desk, const char *sinfo)
{
	memset(desk, 0, sizeof(*desk));
	rig_begin(&desk->rig, 0);
	rig_write(&desk->rig, "sinfo", sinfo);
	desk->cluster = slurm()->open(desk->rig.loop, "/etc/paper.conf", on_seen, desk);
}

static inline void
end(struct desk *desk)
{
	slurm()->close(desk->cluster);
	rig_end(&desk->rig);
}

static inline void
pass(struct desk *desk, int64_t ms)
{
	for (; ms > 0; ms -= 100)
		rig_pass(&desk->rig, 97);
}

static inline void
until_ended(struct desk *desk, const struct ended *ended)
{
	for (int i = 0; i < 400 && !ended->times; i++)
		pass(desk, 100);
	ck_assert_int_eq(ended->times, 1);
}

/* The words that scontrol was told; owned. */
static inline char *
told(const struct desk *desk)
{
	return rig_read(&desk->rig, "scontrol.log");
}

#define ck_assert_told(desk, want)                                                     \
	do {                                                                           \
		bu_autofree char *text_ = told(desk);                                  \
                                                                                       \
		ck_assert_str_eq(text_, want);                                         \
	} while (0)

#endif
