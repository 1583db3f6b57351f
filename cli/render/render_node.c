/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup node show`: a node as a block of lines. Pure. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

/* Nothing is printed for what is not known. */
static void
line(FILE *out, const char *name, const char *text)
{
	bu_autofree char *clean = bu_out_clean(text, 0);

	if (*clean)
		fprintf(out, "%-13s %s\n", name, clean);
}

static void
time_line(FILE *out, const char *name, int64_t time_ms)
{
	char text[24];

	if (time_ms <= 0)
		return;
	bu_time_iso(time_ms, text);
	line(out, name, text);
}

static void
render_step(const struct bu_shown_step *step, FILE *out)
{
	bu_autofree char *text = NULL;

	if (!step->id)
		return;
	text = bu_xasprintf("%s, attempt %" PRId64 ", %s", step->action, step->attempt,
			    step->status);
	line(out, "step", text);
}

static void
render_order(const struct bu_shown_wanted *order, FILE *out)
{
	bu_autofree char *commit = bu_out_commit(order->commit);
	bu_autofree char *text = NULL;

	if (!*order->rollout)
		return;
	text = bu_xasprintf("%s to %s%s%s, %s%s%s", order->class, order->image,
			    *commit ? " of commit " : "", commit, order->status,
			    *order->reason ? ": " : "", order->reason);
	line(out, "rollout", order->rollout);
	line(out, "ordered", text);
}

static void
render_disks(const json_t *disks, FILE *out)
{
	json_t *disk;
	size_t i;

	json_array_foreach (disks, i, disk) {
		/* As a profile says them. */
		static const char *const stays[][2] = {{"serial", "serial"},
						       {"wwn", "wwn"},
						       {"by_path", "path"},
						       {"model", "model"}};
		bu_autofree char *text =
			bu_xasprintf("%s, %.1f GB", bu_json_str(disk, "path", "?"),
				     (double)bu_json_int(disk, "size_bytes", 0) / 1e9);

		for (size_t k = 0; k < BU_LEN(stays); k++)
			if (*bu_json_str(disk, stays[k][0], ""))
				bu_text_add(&text, ", ", "%s:%s", stays[k][1],
					    bu_json_str(disk, stays[k][0], ""));
		line(out, "  disk", text);
	}
}

static void
render_nics(const json_t *nics, FILE *out)
{
	json_t *nic;
	size_t i;

	json_array_foreach (nics, i, nic) {
		bu_autofree char *text = bu_xasprintf(
			"%s, %s, driver %s", bu_json_str(nic, "name", "?"),
			bu_json_str(nic, "mac", "?"), bu_json_str(nic, "driver", "?"));

		line(out, "  nic", text);
	}
}

/* "bond0, bond active-backup (ens4), mtu 9000, 10.79.0.11/24" */
static void
render_links(const json_t *links, FILE *out)
{
	json_t *link;
	size_t i;

	json_array_foreach (links, i, link) {
		const char *mode = bu_json_str(link, "bond_mode", "");
		const char *active = bu_json_str(link, "bond_active", "");
		const char *parent = bu_json_str(link, "parent", "");
		const char *master = bu_json_str(link, "master", "");
		const json_t *first =
			json_array_get(json_object_get(link, "addresses"), 0);
		bu_autofree char *text = bu_xasprintf(
			"%s, %s%s%s%s%s%s%s%s%s%s, %s, mtu %lld%s%s",
			bu_json_str(link, "name", "?"), bu_json_str(link, "kind", "?"),
			*mode ? " " : "", mode, *active ? " (" : "", active,
			*active ? ")" : "", *parent ? " on " : "", parent,
			*master ? " of " : "", master,
			bu_json_str(link, "operstate", "?"),
			(long long)bu_json_int(link, "mtu", 0), first ? ", " : "",
			first ? json_string_value(first) : "");

		line(out, "  link", text);
	}
}

static void
render_inventory(const json_t *inventory, FILE *out)
{
	const json_t *dmi = json_object_get(inventory, "dmi");
	const json_t *cpu = json_object_get(inventory, "cpu");
	bu_autofree char *product = NULL;
	bu_autofree char *processor = NULL;
	bu_autofree char *memory = NULL;

	if (!json_is_object(inventory))
		return;
	product = bu_xasprintf("%s %s", bu_json_str(dmi, "vendor", ""),
			       bu_json_str(dmi, "product", ""));
	processor = bu_xasprintf("%s, %lld threads", bu_json_str(cpu, "model", ""),
				 (long long)bu_json_int(cpu, "threads", 0));
	memory = bu_xasprintf("%.1f GiB",
			      (double)bu_json_int(inventory, "memory_bytes", 0) /
				      (1 << 30));
	fputs("hardware\n", out);
	line(out, "  product", product);
	line(out, "  serial", bu_json_str(dmi, "serial", ""));
	line(out, "  uuid", bu_json_str(dmi, "uuid", ""));
	line(out, "  cpu", processor);
	line(out, "  memory", memory);
	render_disks(json_object_get(inventory, "disks"), out);
	render_nics(json_object_get(inventory, "nics"), out);
	render_links(json_object_get(inventory, "links"), out);
	if (json_array_size(json_object_get(inventory, "gpus"))) {
		bu_autofree char *gpus = bu_xasprintf(
			"%zu", json_array_size(json_object_get(inventory, "gpus")));

		line(out, "  gpus", gpus);
	}
}

/* As its BMC said last; bringup node firmware asks it now. */
static void
render_firmware(const json_t *versions, FILE *out)
{
	json_t *one;
	size_t i;

	if (json_array_size(versions))
		fputs("firmware\n", out);
	json_array_foreach (versions, i, one) {
		bu_autofree char *name = bu_out_clean(bu_json_str(one, "name", ""), 0);
		bu_autofree char *version =
			bu_out_clean(bu_json_str(one, "version", ""), 0);

		fprintf(out, "  %-32s %s\n", name, version);
	}
}

static void
render_stages(const struct bu_shown_node *node, FILE *out)
{
	if (node->stages_count)
		fputs("stages\n", out);
	for (size_t i = 0; i < node->stages_count; i++) {
		bu_autofree char *took = bu_out_duration(node->stages[i].ms);

		fprintf(out, "  %-11s %s\n", node->stages[i].state, took);
	}
}

static void
render_conditions(const struct bu_shown_node *node, FILE *out)
{
	for (size_t i = 0; i < node->conditions_count; i++) {
		const struct bu_shown_condition *condition = &node->conditions[i];
		char since[24];
		bu_autofree char *text = NULL;

		bu_time_iso(condition->since_ms, since);
		text = bu_xasprintf("%s since %s: %s", condition->name, since,
				    condition->text);
		line(out, "condition", text);
	}
}

/* "0.2.0 (1c766a5e4b96), on trial" */
static void
render_agent(const struct bu_shown_agent *agent, FILE *out)
{
	bu_autofree char *text = NULL;

	if (!agent->version)
		return;
	text = bu_xasprintf("%s (%.12s)%s", agent->version, agent->digest,
			    agent->trial ? ", on trial" : "");
	line(out, "agent", text);
}

void
bu_render_node(const struct bu_shown_node *node, FILE *out)
{
	bu_autofree char *state = bu_node_state(node);
	bu_autofree char *progress = bu_node_progress(node);
	bu_autofree char *note = bu_node_note(node);

	line(out, "node", node->name);
	line(out, "pool", node->pool);
	line(out, "state", state);
	line(out, "image", node->image);
	line(out, "machine", node->machine);
	line(out, "firmware", node->firmware);
	line(out, "boot id", node->boot_id);
	time_line(out, "since", node->since_ms);
	render_conditions(node, out);
	line(out, "progress", progress);
	line(out, "note", note);
	render_agent(&node->agent, out);
	time_line(out, "last seen", node->last_seen_ms);
	if (!node->in_profile)
		line(out, "profile", "the applied profile has no such node");
	line(out, "commit", node->commit);
	render_order(&node->order, out);
	render_step(&node->step, out);
	for (size_t i = 0; i < node->certificates_count; i++)
		line(out, "certificate", node->certificates[i].kind);
	for (size_t i = 0; i < node->drift_count; i++)
		line(out, "drift", node->drift[i].text);
	render_stages(node, out);
	render_inventory(node->inventory, out);
	render_firmware(node->firmware_versions, out);
}
