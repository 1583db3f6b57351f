/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What newer versions of NVML say of a GPU's health: its fabric's, the action that the
 * driver asks for, the threshold of SRAM errors, persistence mode. Called by
 * gpu_rows.c. Invariant: what a library does not tell yet is not judged.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "checks/gpu/gpu_impl.h"

enum { HEALTH_TRUE = 1, MISCONFIGURED_SHIFT = 8, CONFIG_GOOD = 1 };

/* Bits of the mask, two each; the newer summary of all. */
static const struct {
	int shift;
	const char *name;
	enum bu_verdict verdict;
} healths[] = {
	{0, "degraded bandwidth", BU_VERDICT_FAIL},
	{2, "its routes recover", BU_VERDICT_WARN},
	{4, "a route is unhealthy", BU_VERDICT_FAIL},
	{6, "it recovers from a timeout", BU_VERDICT_WARN},
};
enum { SUMMARY_UNHEALTHY = 2, SUMMARY_LIMITED = 3 };

static void
say_more(struct bu_gpu_case *c, const char *what)
{
	size_t used = strlen(c->row->seen);

	snprintf(c->row->seen + used, sizeof(c->row->seen) - used, ", %s", what);
}

static int
judge_health(struct bu_gpu_case *c)
{
	unsigned int mask = c->gpu->fabric_mask, summary = c->gpu->fabric_summary;
	enum bu_verdict worst = BU_VERDICT_PASS;

	for (size_t i = 0; i < BU_LEN(healths); i++) {
		if ((mask >> healths[i].shift & 3) != HEALTH_TRUE)
			continue;
		say_more(c, healths[i].name);
		if (worst != BU_VERDICT_FAIL)
			worst = healths[i].verdict;
	}
	if ((mask >> MISCONFIGURED_SHIFT & 15) > CONFIG_GOOD) {
		say_more(c, "wrongly configured");
		worst = BU_VERDICT_FAIL;
	}
	if (worst == BU_VERDICT_PASS && summary >= SUMMARY_UNHEALTHY) {
		say_more(c,
			 summary == SUMMARY_LIMITED ? "limited capacity" : "unhealthy");
		worst = summary == SUMMARY_LIMITED ? BU_VERDICT_WARN : BU_VERDICT_FAIL;
	}
	if (worst != BU_VERDICT_PASS)
		BU_CHECK_SET(
			c->row->hint,
			"look at the NVLinks and NVSwitches of its domain and at the "
			"fabric manager's log; reset the GPU, then reseat its board");
	return (int)worst;
}

int
bu_gpu_fabric_judge(struct bu_gpu_case *c)
{
	static const char *const states[] = {"not supported", "not started",
					     "in progress", "completed"};
	int wanted = bu_json_bool(c->expect, "fabric", 0);
	int state = c->gpu->fabric;

	if (!wanted && state <= BU_GPU_FABRIC_NONE)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "completed, status 0");
	if (state < 0 || state >= (int)BU_LEN(states))
		BU_CHECK_SET(c->row->seen, "unknown");
	else
		BU_CHECK_SET(c->row->seen, "%s, status %d", states[state],
			     c->gpu->fabric_status);
	/* For the topology: GPUs of one domain and clique reach each other. */
	if (state == BU_GPU_FABRIC_COMPLETED && c->gpu->fabric_uuid[0]) {
		BU_CHECK_SET(c->row->value, "%s.%u", c->gpu->fabric_uuid,
			     c->gpu->fabric_clique);
		BU_CHECK_SET(c->row->seen, "completed, status %d, domain %s",
			     c->gpu->fabric_status, c->row->value);
	}
	if (state != BU_GPU_FABRIC_COMPLETED || c->gpu->fabric_status != 0)
		return BU_VERDICT_FAIL;
	return judge_health(c);
}

int
bu_gpu_recovery_judge(struct bu_gpu_case *c)
{
	static const struct {
		const char *name, *hint;
	} actions[] = {
		{"none", ""},
		{"reset the GPU", "end what runs on the GPU, then nvidia-smi -r"},
		{"restart the machine", "restart the machine"},
		{"drain what uses its peers",
		 "end what copies between GPUs, then look again: it asks for another "
		 "action then"},
		{"drain and reset", "end what runs on the GPU, then nvidia-smi -r"},
		{"recover the IMEX domain",
		 "restart nvidia-imex on the nodes of its domain"},
		{"reset its PCIe bus", "reset the GPU's bus, or restart the machine"},
		{"restart the system", "restart the machine"},
	};
	int action = c->gpu->recovery;

	if (action == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "none");
	if (action < 0 || action >= (int)BU_LEN(actions)) {
		BU_CHECK_SET(c->row->seen, "action %d, unknown here", action);
		BU_CHECK_SET(c->row->hint, "see nvidia-smi -q for what it asks for");
		return BU_VERDICT_WARN;
	}
	BU_CHECK_SET(c->row->seen, "%s", actions[action].name);
	BU_CHECK_SET(c->row->hint, "%s", actions[action].hint);
	return action ? BU_VERDICT_FAIL : BU_VERDICT_PASS;
}

int
bu_gpu_sram_judge(struct bu_gpu_case *c)
{
	if (c->gpu->sram_exceeded == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "below NVIDIA's threshold");
	BU_CHECK_SET(c->row->seen, "%s NVIDIA's threshold",
		     c->gpu->sram_exceeded ? "above" : "below");
	return c->gpu->sram_exceeded ? BU_VERDICT_FAIL : BU_VERDICT_PASS;
}

int
bu_gpu_persistence_judge(struct bu_gpu_case *c)
{
	if (c->gpu->persistence == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "on");
	BU_CHECK_SET(c->row->seen, "%s", c->gpu->persistence ? "on" : "off");
	return c->gpu->persistence ? BU_VERDICT_PASS : BU_VERDICT_WARN;
}
