/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup fabric topology: which switch port each node is cabled to, as it was
 * heard or as the profile says; for Slurm and Kubernetes in their own words.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "model/wiring.h"
#include "profiles/nodeset/nodeset.h"

static int
print_table(const struct bu_wiring *wiring)
{
	static const char *const headings[] = {"node",   "network", ">rail",
					       "switch", "port",    NULL};
	struct bu_table *table = bu_table_create(headings);

	for (size_t i = 0; i < wiring->wire_count; i++) {
		const struct bu_wire *wire = &wiring->wires[i];
		bu_autofree char *rail = bu_xasprintf("%d", wire->rail);
		const char *const cells[] = {wire->node, wire->network,
					     wire->rail < 0 ? NULL : rail, wire->sw,
					     wire->port};

		bu_table_row(table, cells);
	}
	if (wiring->wire_count)
		bu_out_table(table, stdout);
	else
		puts("no switch port is known yet; nodes listen for theirs where the "
		     "profile gives them switch_ports");
	bu_table_destroy(table);
	return 0;
}

static int
print_text(char *text)
{
	if (text)
		fputs(text, stdout);
	free(text);
	return text ? 0 : -1;
}

static int
print_labels(const struct bu_wiring *wiring, struct bu_err *err)
{
	bu_autojson json_t *labels = bu_wiring_labels(wiring, err);

	if (labels)
		bu_out_json(labels, stdout);
	return labels ? 0 : -1;
}

static int
print_as(const struct bu_wiring *wiring, const char *format, struct bu_err *err)
{
	if (strcmp(format, "slurm") == 0)
		return print_text(bu_wiring_slurm_conf(wiring, bu_nodeset_fold, err));
	if (strcmp(format, "blocks") == 0)
		return print_text(bu_wiring_slurm_blocks(wiring, bu_nodeset_fold, err));
	if (strcmp(format, "yaml") == 0)
		return print_text(bu_wiring_slurm_yaml(wiring, bu_nodeset_fold, err));
	if (strcmp(format, "labels") == 0)
		return print_labels(wiring, err);
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "unknown format '%s'; give slurm (topology.conf as a "
			  "tree), blocks (the same as blocks), yaml (Slurm's "
			  "topology.yaml) or labels (Kubernetes)",
			  format);
}

int
bu_cmd_fabric_topology(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *json = bu_client_get(client, 0, err, "/v1/topology");
	struct bu_wiring wiring;
	int rc = 0;

	if (!json || bu_wiring_from_json(json, &wiring, err) != 0)
		return -1;
	if (options->args_count)
		rc = print_as(&wiring, options->args[0], err);
	else if (options->format == BU_FORMAT_JSON)
		bu_out_json(json, stdout);
	else
		rc = print_table(&wiring);
	bu_wiring_fini(&wiring);
	return rc;
}
