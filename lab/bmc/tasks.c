/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks: what is answered with 202. A task ends after its time, or at the next reset;
 * its monitor says 202 until then and 204 afterwards.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "lab/bmc/engine.h"

static const char tasks[] = "/redfish/v1/TaskService/Tasks";
static const char monitors[] = "/redfish/v1/TaskService/TaskMonitors/";

static int
is_over(const json_t *task)
{
	return strcmp(bu_json_str(task, "TaskState", ""), "Completed") == 0;
}

static void
point_to(struct bu_bmc_call *call, const char *uri)
{
	call->reply->status = 202;
	json_decref(call->reply->body);
	call->reply->body = bu_bmc_render(call->bmc, uri);
	bu_bmc_header(call->reply, "Location", "%s%s", monitors,
		      bu_json_str(call->reply->body, "Id", ""));
	bu_bmc_header(call->reply, "Retry-After", "1");
}

void
bu_bmc_begin_task(struct bu_bmc_call *call, const char *name, int64_t in_ms)
{
	struct bu_bmc *bmc = call->bmc;
	int at_reset = in_ms == BU_BMC_AT_RESET;
	char uri[256], now[24];
	json_t *task;

	bu_bmc_time(bmc, now);
	task = json_pack(
		"{s:s,s:s,s:s,s:s,s:i,s:s,s:[],s:I}", "@odata.type",
		"#Task.v1_6_0.Task", "Name", name, "TaskState",
		at_reset ? "Pending" : "Running", "TaskStatus", "OK", "PercentComplete",
		0, "StartTime", now, "Messages", "#due_ms",
		(json_int_t)(at_reset ? BU_BMC_AT_RESET : bmc->now_ms + in_ms));
	bu_bmc_add(bmc, tasks, BU_BMC_ID_TASK, task, uri);
	json_object_set_new(
		task, "TaskMonitor",
		json_sprintf("%s%s", monitors, bu_json_str(task, "Id", "")));
	point_to(call, uri);
}

static int
finish(struct bu_bmc *bmc, const char *uri, const json_t *task, void *arg)
{
	int64_t due_ms = bu_json_int(task, "#due_ms", 0);
	int at_reset = *(int *)arg;
	char now[24];
	json_t *own;

	if (is_over(task) || (due_ms == BU_BMC_AT_RESET) != at_reset ||
	    (!at_reset && bmc->now_ms < due_ms))
		return 0;
	own = bu_bmc_own(bmc, uri);
	bu_bmc_time(bmc, now);
	json_object_set_new(own, "TaskState", json_string("Completed"));
	json_object_set_new(own, "PercentComplete", json_integer(100));
	json_object_set_new(own, "EndTime", json_string(now));
	return 0;
}

void
bu_bmc_finish_tasks(struct bu_bmc *bmc, int at_reset)
{
	if (bmc->last[BU_BMC_ID_TASK])
		bu_bmc_members(bmc, tasks, finish, &at_reset);
}

int
bu_bmc_monitor(struct bu_bmc_call *call)
{
	bu_autofree char *uri = NULL;
	const json_t *task;

	if (strncmp(call->uri, monitors, strlen(monitors)) != 0)
		return 0;
	uri = bu_xasprintf("%s/%s", tasks, call->uri + strlen(monitors));
	task = bu_bmc_get(call->bmc, uri);
	if (!task)
		return 0;
	if (is_over(task))
		call->reply->status = 204;
	else
		point_to(call, uri);
	return 1;
}
