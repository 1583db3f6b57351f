/* SPDX-License-Identifier: Apache-2.0 */
/* bringup node events|sensors|firmware: what a node's BMC says now. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "profiles/nodeset/nodeset.h"

/* As long as bringupd waits for a BMC. */
enum { WAIT_S = 60 };

static int
show(const struct bu_options *options, const char *what,
     void (*render)(const json_t *report, FILE *out), struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *report = NULL;

	if (!bu_node_name_ok(options->args[0]))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node %s takes one node, and '%s' is not a node name",
				  what, options->args[0]);
	report = bu_client_get(client, WAIT_S, err, "/v1/nodes/%s/bmc/%s",
			       options->args[0], what);
	if (!report)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(report, stdout);
	else
		render(report, stdout);
	return 0;
}

int
bu_cmd_node_events(const struct bu_options *options, struct bu_err *err)
{
	return show(options, "events", bu_render_bmc_events, err);
}

int
bu_cmd_node_sensors(const struct bu_options *options, struct bu_err *err)
{
	return show(options, "sensors", bu_render_bmc_sensors, err);
}

int
bu_cmd_node_firmware(const struct bu_options *options, struct bu_err *err)
{
	return show(options, "firmware", bu_render_bmc_firmware, err);
}
