/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and shapes the rack's networks with the programs ip and tc. Only the keeper
 * calls this: its network namespace is the rack's.
 */
#include "lab/net.h"

#include "base/file.h"
#include "base/worker.h"
#include "lab/mounts.h"
#include "lab/render.h"

static int
run_batch(const char *program, const char *lines, struct bu_err *err)
{
	const char *const argv[] = {program, "-batch", "-", NULL};
	struct bu_job_opts opts = {.argv = argv, .input = lines, .deadline_ms = 20000};

	return bu_job_run(&opts, NULL, err);
}

int
bu_net_make(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *ip = bu_render_ip(rack);
	bu_autofree char *tc = bu_render_tc(rack);

	/* A bridge gets its carrier with the first machine; its link-local address must
	 * not wait for duplicate detection then, router advertisements come from it. */
	if (bu_file_exists("/proc/sys/net/ipv6/conf/default/accept_dad") &&
	    bu_mounts_poke("/proc/sys/net/ipv6/conf/default/accept_dad", "0", err) != 0)
		return -1;
	if (run_batch("ip", ip, err) != 0)
		return bu_err_wrap(err, "make the rack's networks");
	if (run_batch("tc", tc, err) != 0)
		return bu_err_wrap(err, "shape the rack's fabric links");
	return 0;
}

int
bu_net_set_rate(const struct bu_rack_node *node, int rate_mbit, struct bu_err *err)
{
	bu_autofree char *tc = bu_render_tc_node(node, rate_mbit);

	if (run_batch("tc", tc, err) != 0)
		return bu_err_wrap(err, "shape the fabric link of %s", node->name);
	return 0;
}
