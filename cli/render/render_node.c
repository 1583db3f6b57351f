/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup node show`: a node as a block of lines. Pure. */
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
render_step(const json_t *step, FILE *out)
{
	bu_autofree char *text = NULL;

	if (!json_is_object(step))
		return;
	text = bu_xasprintf("%s, attempt %lld, %s", bu_json_str(step, "action", "?"),
			    (long long)bu_json_int(step, "attempt", 0),
			    bu_json_str(step, "status", "?"));
	line(out, "step", text);
}

static void
render_order(const json_t *order, FILE *out)
{
	const char *reason = bu_json_str(order, "reason", "");
	bu_autofree char *commit = bu_out_commit(bu_json_str(order, "commit", ""));
	bu_autofree char *text = NULL;

	if (!*bu_json_str(order, "rollout", ""))
		return;
	text = bu_xasprintf(
		"%s to %s%s%s, %s%s%s", bu_json_str(order, "class", "?"),
		bu_json_str(order, "image", "?"), *commit ? " of commit " : "", commit,
		bu_json_str(order, "status", "?"), *reason ? ": " : "", reason);
	line(out, "rollout", bu_json_str(order, "rollout", ""));
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
render_drift(const json_t *drift, FILE *out)
{
	json_t *finding;
	size_t i;

	json_array_foreach (drift, i, finding)
		line(out, "drift", bu_json_str(finding, "text", ""));
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

static void
render_stages(const json_t *stages, FILE *out)
{
	json_t *stage;
	size_t i;

	if (json_array_size(stages))
		fputs("stages\n", out);
	json_array_foreach (stages, i, stage) {
		bu_autofree char *took = bu_out_duration(bu_json_int(stage, "ms", 0));

		fprintf(out, "  %-11s %s\n", bu_json_str(stage, "state", "?"), took);
	}
}

static void
render_conditions(const json_t *conditions, FILE *out)
{
	json_t *condition;
	size_t i;

	json_array_foreach (conditions, i, condition) {
		char since[24];
		bu_autofree char *text = NULL;

		bu_time_iso(bu_json_int(condition, "since_ms", 0), since);
		text = bu_xasprintf("%s since %s: %s",
				    bu_json_str(condition, "name", "?"), since,
				    bu_json_str(condition, "text", "?"));
		line(out, "condition", text);
	}
}

void
bu_render_node(const json_t *node, FILE *out)
{
	static const char *const texts[][2] = {
		{"image", "image"},
		{"machine", "machine"},
		{"firmware", "firmware"},
		{"boot id", "boot_id"},
	};
	bu_autofree char *state = bu_node_state(node);
	bu_autofree char *progress = bu_node_progress(node);
	bu_autofree char *note = bu_node_note(node);
	json_t *certificates = json_object_get(node, "certificates");
	json_t *certificate;
	size_t i;

	line(out, "node", bu_json_str(node, "name", ""));
	line(out, "pool", bu_json_str(node, "pool", ""));
	line(out, "state", state);
	for (i = 0; i < BU_LEN(texts); i++)
		line(out, texts[i][0], bu_json_str(node, texts[i][1], ""));
	time_line(out, "since", bu_json_int(node, "since_ms", 0));
	render_conditions(json_object_get(node, "conditions"), out);
	line(out, "progress", progress);
	line(out, "note", note);
	time_line(out, "last seen", bu_json_int(node, "last_seen_ms", 0));
	if (!bu_json_bool(node, "in_profile", 1))
		line(out, "profile", "the applied profile has no such node");
	line(out, "commit", bu_json_str(node, "commit", ""));
	render_order(json_object_get(node, "order"), out);
	render_step(json_object_get(node, "step"), out);
	json_array_foreach (certificates, i, certificate)
		line(out, "certificate", bu_json_str(certificate, "kind", "?"));
	render_drift(json_object_get(node, "drift"), out);
	render_stages(json_object_get(node, "stages"), out);
	render_inventory(json_object_get(node, "inventory"), out);
}
