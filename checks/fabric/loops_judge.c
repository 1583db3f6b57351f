/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop means. Called by loops.c. Invariants: only what moved and was too slow,
 * was lost on its way or came back changed is a finding; whatever kept a loop from
 * moving at all is inconclusive.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "checks/fabric/loops_impl.h"

/* Of the least rate with host memory, which is 95 % of what the link's framing leaves,
 * so much with a GPU's below the same PCIe switch: nine tenths of the link. Azure
 * accepts 180 of 200 and 360 of 400 Gbit/s of this loop (azurehpc-health-checks,
 * conf/nd96asr_v4.conf and nd96isr_h200_v5.conf), where host memory must reach 188.8
 * and 377.6. */
static const double gpu_share = 180 / 188.8;

/* id, what, hint */
#define ROWS(X)                                                                        \
	X(SELF, "port-loop",                                                           \
	  "each rail's port to itself, through its adapter, both ways at once",        \
	  "no cable is in this path: look at pcie-width, pcie-gen and nic-numa of "    \
	  "the card, then at its firmware; then swap the card")                        \
	X(GPU, "port-loop-gpu", "the same with the memory of the GPU next to it",      \
	  "look at port-loop first; then at gpu-direct, pcie-acs and iommu, then at "  \
	  "gpu-pcie")                                                                  \
	X(PAIR, "port-to-port",                                                        \
	  "from port to port of the machine, where both are at one InfiniBand switch", \
	  "look at port-loop of both ports; if both are good, swap the cable of the "  \
	  "one that sends or receives too little")                                     \
	X(TOGETHER, "ports-together",                                                  \
	  "the loops of all rails at once, against the sum of what each must carry",   \
	  "each port is good alone: look at what they share, at pcie-gen and "         \
	  "pcie-width of the switches above them, at nic-numa and at the memory's "    \
	  "bandwidth")

static const struct bu_loops_row rows[] = {
#define X(id, name, what, hint) [BU_LOOP_##id] = {name, what, hint},
	ROWS(X)
#undef X
};

const struct bu_loops_row *
bu_loops_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

static struct bu_check *
add(const struct bu_loop *loop, enum bu_verdict verdict, const char *subject,
    struct bu_checks *out)
{
	struct bu_check *row =
		bu_checks_add(out, "fabric", rows[loop->row].id, verdict, subject);

	if (verdict != BU_VERDICT_PASS)
		BU_CHECK_SET(row->hint, "%s", rows[loop->row].hint);
	return row;
}

void
bu_loop_unmeasured(const struct bu_loop *loop, const char *why, struct bu_checks *out)
{
	struct bu_check *row = add(loop, BU_VERDICT_INCONCLUSIVE, loop->subject, out);

	BU_CHECK_SET(row->seen, "unknown");
	BU_CHECK_SET(row->text, "rail %s: %s was not measured: %s", loop->subject,
		     rows[loop->row].id, why);
}

static void
fail(const struct bu_loop *loop, const char *subject, const char *seen,
     const char *expected, struct bu_checks *out)
{
	struct bu_check *row = add(loop, BU_VERDICT_FAIL, subject, out);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	BU_CHECK_SET(row->text, "rail %s: %s: %s; expected %s", subject,
		     loop->row == BU_LOOP_PAIR ? "inside the machine"
					       : "in a loop inside the machine",
		     seen, expected);
}

static void
rate_text(double gbps, char ret[32])
{
	if (gbps < 1)
		snprintf(ret, 32, "%.2f Mbit/s", gbps * 1000);
	else
		snprintf(ret, 32, "%.2f Gbit/s", gbps);
}

double
bu_loop_gbps(const struct bu_pair_result *result)
{
	return 2 * fmin(result->dir[0].bw_median_gbps, result->dir[1].bw_median_gbps);
}

/* A warning: a pair's probe measures all rails, too, and there each must carry its own;
 * a loop takes twice as much of the memory as they do. */
void
bu_loops_judge_sum(size_t rails, double gbps, double least, struct bu_checks *out)
{
	const struct bu_loop loop = {.row = BU_LOOP_TOGETHER};
	bu_autofree char *subject = bu_xasprintf("%zu rails", rails);
	char rate[32], wanted[32];
	struct bu_check *row;

	rate_text(gbps, rate);
	rate_text(least, wanted);
	row = add(&loop, gbps < least ? BU_VERDICT_WARN : BU_VERDICT_PASS, subject,
		  out);
	BU_CHECK_SET(row->seen, "%s", rate);
	BU_CHECK_SET(row->expected, "at least %s", wanted);
	if (gbps < least)
		BU_CHECK_SET(row->text,
			     "%zu rails together reach %s of %s in loops inside the "
			     "machine, and each of them its own alone",
			     rails, rate, wanted);
}

/* Through the root complex of a CPU, which carries what it can: nobody has published
 * how much that is, so that it is no fault of the machine. */
static void
warn_far(const struct bu_loop *loop, const char *seen, const char *expected,
	 struct bu_checks *out)
{
	struct bu_check *row = add(loop, BU_VERDICT_WARN, loop->subject, out);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s, below a common switch", expected);
	BU_CHECK_SET(row->hint,
		     "GPU and adapter have no PCIe switch in common: compare it with a "
		     "machine of this kind");
	BU_CHECK_SET(row->text,
		     "rail %s: no PCIe switch joins the two, and a loop inside the "
		     "machine carries %s; below one it would be %s",
		     loop->subject, seen, expected);
}

/* "by dmabuf" of GPU memory. */
static void
judge_rate(const struct bu_loop *loop, const char *subject, double gbps, double least,
	   struct bu_checks *out)
{
	enum bu_memory memory = loop->result.end[0].memory_found;
	char rate[32], wanted[32], seen[80], expected[48] = "no least rate is known";
	struct bu_check *row;

	rate_text(gbps, rate);
	rate_text(least, wanted);
	if (least > 0)
		snprintf(expected, sizeof(expected), "at least %s", wanted);
	snprintf(seen, sizeof(seen), "%s%s%s", rate,
		 memory == BU_MEMORY_HOST ? "" : ", ",
		 memory == BU_MEMORY_HOST ? "" : bu_memory_name(memory));
	if (gbps < least && loop->row == BU_LOOP_GPU && !loop->has_switch) {
		warn_far(loop, seen, expected, out);
		return;
	}
	if (gbps < least) {
		fail(loop, subject, seen, expected, out);
		return;
	}
	row = add(loop, BU_VERDICT_PASS, subject, out);
	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
}

/* The error that tells most: what changed, then what was lost; NULL = none. */
static const struct bu_pair_error *
error_of(const struct bu_pair_result *result)
{
	const struct bu_pair_error *errors[] = {&result->error, &result->dir[0].error,
						&result->dir[1].error};
	const struct bu_pair_error *found = NULL;

	for (size_t i = 0; i < BU_LEN(errors); i++) {
		if (errors[i]->kind == BU_ERR_NONE)
			continue;
		if (!found || errors[i]->kind == BU_ERR_VERIFY)
			found = errors[i];
	}
	return found;
}

/* Something came back before, so it is not that the adapter does not send to itself. */
static int
is_finding(const struct bu_pair_result *result, const struct bu_pair_error *error)
{
	int moved = result->dir[0].runs || result->dir[1].runs;

	return error->kind == BU_ERR_VERIFY ||
	       (moved &&
		(error->kind == BU_ERR_REMOTE || error->kind == BU_ERR_TIMEOUT));
}

/* Host memory in a GPU's place would be a sound figure about the wrong path. */
static int
is_in_place(const struct bu_loop *loop)
{
	for (int i = 0; i < 2; i++) {
		enum bu_memory memory = loop->result.end[i].memory_found;

		if (loop->row == BU_LOOP_GPU && memory != BU_MEMORY_DMABUF &&
		    memory != BU_MEMORY_PEERMEM)
			return 0;
	}
	return 1;
}

/* In a loop both directions pass through the same halves of the port and of its slot:
 * together they carry what one direction of the link does. Both move as much, so that
 * the slower one tells how long they took, however they shared. */
static void
judge_rates(const struct bu_loop *loop, struct bu_checks *out)
{
	const struct bu_pair_dir *dir = loop->result.dir;

	if (loop->row != BU_LOOP_PAIR) {
		double share = loop->row == BU_LOOP_GPU ? gpu_share : 1;

		judge_rate(loop, loop->subject, bu_loop_gbps(&loop->result),
			   share * loop->rails[0]->min_gbps, out);
		return;
	}
	for (int i = 0; i < 2; i++) {
		char subject[2 * BU_NAME_SIZE + 8];
		double least = loop->rails[0]->min_gbps;

		if (loop->rails[1]->min_gbps < least)
			least = loop->rails[1]->min_gbps;
		snprintf(subject, sizeof(subject), "%s to %s", loop->rails[i]->rail,
			 loop->rails[!i]->rail);
		judge_rate(loop, subject, dir[i].bw_median_gbps, least, out);
	}
}

void
bu_loop_judge(const struct bu_loop *loop, struct bu_checks *out)
{
	const struct bu_pair_error *error = error_of(&loop->result);

	int finding = error && is_finding(&loop->result, error);

	if (error && !finding)
		bu_loop_unmeasured(loop, error->text, out);
	else if (!is_in_place(loop))
		bu_loop_unmeasured(loop,
				   "the memory that CUDA gave is not proven to be the "
				   "GPU's",
				   out);
	else if (finding)
		fail(loop, loop->subject, error->text, "all of it, unchanged", out);
	else
		judge_rates(loop, out);
}
