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
#include "model/condition.h"
#include "model/inventory.h"
#include "model/sentence.h"
#include "profiles/load/disk.h"

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
	bu_autofree char *why = bu_said_text(order->reason);
	bu_autofree char *text = NULL;

	if (!*order->rollout)
		return;
	text = bu_xasprintf("%s to %s%s%s, %s%s%s", order->class, order->image,
			    *commit ? " of commit " : "", commit, order->status,
			    *why ? ": " : "", why);
	line(out, "rollout", order->rollout);
	line(out, "ordered", text);
}

/* Of a disk that is here over several paths: the others, behind the first. */
static void
add_paths(const struct bu_inventory *inventory, size_t which, char **text)
{
	for (size_t i = which + 1; i < inventory->disks_count; i++) {
		const struct bu_disk *other = &inventory->disks[i];

		if (!bu_disk_is_same(&inventory->disks[which], other))
			continue;
		bu_text_add(text, "; ", "also %s", other->path);
		if (*other->by_path)
			bu_text_add(text, ", ", "path:%s", other->by_path);
	}
}

/* own: its numbers that are. */
static void
render_disk(const struct bu_inventory *inventory, const struct bu_disk *own,
	    size_t which, FILE *out)
{
	const struct bu_disk *disk = &inventory->disks[which];
	/* As a profile says them. */
	const char *const stays[][2] = {{"serial", own->serial},
					{"wwn", own->wwn},
					{"path", disk->by_path},
					{"model", disk->model}};
	bu_autofree char *text =
		bu_xasprintf("%s, %.1f GB", disk->path, (double)disk->size_bytes / 1e9);

	for (size_t i = 0; i < which; i++)
		if (bu_disk_is_same(&inventory->disks[i], disk))
			return;
	for (size_t i = 0; i < BU_LEN(stays); i++)
		if (*stays[i][1])
			bu_text_add(&text, ", ", "%s:%s", stays[i][0], stays[i][1]);
	if (*disk->serial && !*own->serial)
		bu_text_add(&text, ", ", "serial number %s is not its own",
			    disk->serial);
	if (*disk->wwn && !*own->wwn)
		bu_text_add(&text, ", ", "WWN %s is not its own", disk->wwn);
	add_paths(inventory, which, &text);
	line(out, "  disk", text);
}

static void
render_disks(const struct bu_inventory *inventory, FILE *out)
{
	size_t count = inventory->disks_count;
	bu_autofree struct bu_disk *own = bu_xcalloc(count + 1, sizeof(*own));

	for (size_t i = 0; i < count; i++)
		own[i] = inventory->disks[i];
	bu_disks_own(own, count);
	for (size_t i = 0; i < count; i++)
		render_disk(inventory, &own[i], i, out);
}

static void
render_nic(const struct bu_nic *nic, FILE *out)
{
	bu_autofree char *text = bu_xasprintf("%s, %s, driver %s", nic->name, nic->mac,
					      *nic->driver ? nic->driver : "?");

	line(out, "  nic", text);
}

/* "bond0, bond active-backup (ens4), mtu 9000, 10.79.0.11/24" */
static void
render_link(const struct bu_net_link *link, FILE *out)
{
	bu_autofree char *text = bu_xasprintf("%s, %s", link->name, link->kind);

	if (*link->bond_mode)
		bu_text_add(&text, "", " %s", link->bond_mode);
	if (*link->bond_active)
		bu_text_add(&text, "", " (%s)", link->bond_active);
	if (*link->parent)
		bu_text_add(&text, "", " on %s", link->parent);
	if (*link->master)
		bu_text_add(&text, "", " of %s", link->master);
	bu_text_add(&text, "", ", %s, mtu %d", *link->operstate ? link->operstate : "?",
		    link->mtu);
	if (link->addresses_count)
		bu_text_add(&text, "", ", %s", link->addresses[0]);
	line(out, "  link", text);
}

static void
render_parts(const struct bu_inventory *inventory, FILE *out)
{
	render_disks(inventory, out);
	for (size_t i = 0; i < inventory->nics_count; i++)
		render_nic(&inventory->nics[i], out);
	for (size_t i = 0; i < inventory->links_count; i++)
		render_link(&inventory->links[i], out);
	if (inventory->gpus_count)
		fprintf(out, "%-13s %zu\n", "  gpus", inventory->gpus_count);
}

static void
render_inventory(const json_t *value, FILE *out)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	bu_autofree char *product = NULL, *processor = NULL, *memory = NULL;
	struct bu_err err = {0};

	if (!json_is_object(value))
		return;
	inventory = bu_inventory_from_json(value, &err);
	if (!inventory) {
		line(out, "hardware", err.text);
		return;
	}
	product = bu_xasprintf("%s %s", inventory->dmi.vendor, inventory->dmi.product);
	processor = bu_xasprintf("%s, %d threads", inventory->cpu.model,
				 inventory->cpu.threads);
	memory = bu_xasprintf("%.1f GiB", (double)inventory->memory_bytes / (1 << 30));
	fputs("hardware\n", out);
	line(out, "  product", product);
	line(out, "  serial", inventory->dmi.serial);
	line(out, "  uuid", inventory->dmi.uuid);
	line(out, "  cpu", processor);
	line(out, "  memory", memory);
	render_parts(inventory, out);
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
		bu_autofree char *words =
			bu_said_condition(condition->name, condition->detail);

		bu_time_iso(condition->since_ms, since);
		text = bu_xasprintf("%s since %s: %s", condition->name, since, words);
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

/* Where what is known of its configuration comes from. */
static void
render_found(const json_t *found, FILE *out)
{
	bu_autofree char *kargs = NULL;
	struct bu_shown_found is;

	if (!found || bu_record_from_json(bu_shown_found_fields, found, &is, NULL) != 0)
		return;
	if (is.record && is.booted)
		kargs = bu_xasprintf("arguments %s", *is.booted ? is.booted : "(none)");
	line(out, "written",
	     !is.told    ? "as its last order says; its agent tells nothing of it"
	     : is.record ? "as its agent finds it"
			 : "as its last order says; no record of it lies there");
	line(out, "kernel", kargs ? kargs : "");
}

/* "disk, slot b; the other one has debian12" */
static char *
root_words(const struct bu_shown_node *node)
{
	int two = node->root_slot[0] != '\0', other = node->other_image[0] != '\0';

	return bu_xasprintf("%s%s%s%s%s", node->root, two ? ", slot " : "",
			    node->root_slot, other ? "; the other one has " : "",
			    node->other_image);
}

void
bu_render_node(const struct bu_shown_node *node, FILE *out)
{
	bu_autofree char *state = bu_node_state(node);
	bu_autofree char *progress = bu_node_progress(node);
	bu_autofree char *note = bu_node_note(node);
	bu_autofree char *root = root_words(node);

	line(out, "node", node->name);
	line(out, "pool", node->pool);
	line(out, "state", state);
	line(out, "image", node->image);
	line(out, "root", root);
	line(out, "machine", node->machine);
	line(out, "firmware", node->firmware);
	line(out, "boot id", node->boot_id);
	time_line(out, "since", node->since_ms);
	render_conditions(node, out);
	line(out, "progress", progress);
	line(out, "note", note);
	render_agent(&node->agent, out);
	render_found(node->found, out);
	time_line(out, "last seen", node->last_seen_ms);
	if (!node->in_profile)
		line(out, "profile", "the applied profile has no such node");
	line(out, "commit", node->commit);
	render_order(&node->order, out);
	render_step(&node->step, out);
	for (size_t i = 0; i < node->certificates_count; i++)
		line(out, "certificate", node->certificates[i].kind);
	for (size_t i = 0; i < node->drift_count; i++) {
		bu_autofree char *text = bu_said_text(node->drift[i].said);

		line(out, "drift", text);
	}
	render_stages(node, out);
	render_inventory(node->inventory, out);
	render_firmware(node->firmware_versions, out);
}
