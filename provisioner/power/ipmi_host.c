/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which address ipmitool is given for a BMC. Called by ipmi_run.c before the first
 * program of a call. Invariants: the address was looked at (base/networks.h), and
 * ipmitool never sees a name, which might lead elsewhere the next time; names are
 * resolved by a program, for a slow server delays no other BMC.
 */
#include <stdio.h>
#include <string.h>

#include "base/networks.h"
#include "base/text.h"
#include "provisioner/power/ipmi_impl.h"
#include "provisioner/power/ipmi_text.h"

enum { RESOLVE_MS = 10000 };

/* The first one that BMCs may have; lines as "10.0.0.1  STREAM bmc1.oob". */
static int
choose(const char *lines, char *ret, size_t size, struct bu_err *err)
{
	bu_autofree char *text = bu_xstrdup(lines);
	char *next = text, *line;

	bu_err_set(err, BU_ERR_REMOTE, 0, "its name leads to no address");
	while ((line = strsep(&next, "\n"))) {
		union bu_address address;

		line[strcspn(line, " \t")] = '\0';
		if (bu_address_read(line, &address) != 0 ||
		    bu_networks_check(&address.any, err) != 0)
			continue;
		bu_text_copy(ret, size, line);
		return 0;
	}
	return -1;
}

static void
on_resolved(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_power_call *call = arg;
	struct bu_err why;

	call->job = NULL;
	call->ipmi->running--;
	if (err && err->kind != BU_ERR_TIMEOUT)
		bu_err_set(&why, BU_ERR_REMOTE, 0, "its name is not known");
	else if (err)
		why = *err;
	else if (choose(result->out, call->host, sizeof(call->host), &why) == 0) {
		call->found(call, NULL);
		return;
	}
	call->found(call, &why);
}

static void
resolve(struct bu_power_call *call, const char *name)
{
	const char *const argv[] = {"getent", "ahosts", name, NULL};
	struct bu_err err;

	call->job = bu_job_start(
		call->ipmi->loop,
		&(struct bu_job_opts){.argv = argv, .deadline_ms = RESOLVE_MS},
		on_resolved, call, &err);
	if (call->job)
		call->ipmi->running++;
	else
		call->found(call, &err);
}

void
bu_ipmi_find_host(struct bu_power_call *call, bu_ipmi_host_fn found)
{
	union bu_address address;
	struct bu_err err;
	char host[256];

	call->found = found;
	bu_assert(bu_ipmi_split(call->request->target.bmc, host, call->port) == 0);
	if (bu_networks_begun() && bu_address_read(host, &address) != 0) {
		resolve(call, host);
		return;
	}
	if (bu_networks_begun() && bu_networks_check(&address.any, &err) != 0) {
		found(call, &err);
		return;
	}
	BU_TEXT_COPY(call->host, host);
	found(call, NULL);
}
