/* SPDX-License-Identifier: Apache-2.0 */
/* bringup plan DIR: changes nothing, in no place but the file of --out. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/planned.h"

static void
print(const struct bu_planned *planned, int format)
{
	bu_autofree char *nodes = NULL;
	json_t *value;

	switch (format) {
	case BU_FORMAT_JSON:
		value = bu_planned_to_json(planned);
		bu_out_json(value, stdout);
		json_decref(value);
		break;
	case BU_FORMAT_HOSTLIST:
		nodes = bu_planned_hostlist(planned);
		bu_out_names(nodes, stdout);
		break;
	default:
		bu_planned_print(planned, stdout);
	}
}

int
bu_cmd_plan(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	struct bu_planned planned;
	struct bu_git_source source;
	int code;

	if (bu_git_source_open(options, &source, err) != 0)
		return -1;
	code = bu_planned_make(
		client, &source,
		&(struct bu_planned_request){options->only, options->restart}, &planned,
		err);
	bu_git_source_close(&source);
	if (code != 0)
		return -1;
	code = options->detailed && bu_planned_changes(&planned) ? BU_EXIT_CHANGES : 0;
	if (options->out && bu_planned_save(&planned, options->out, err) != 0)
		code = -1;
	else
		print(&planned, options->format);
	if (code != -1 && bu_planned_allowed(&planned, err) != 0)
		code = -1;
	bu_planned_fini(&planned);
	return code;
}
