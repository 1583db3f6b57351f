/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wiring as schedulers read it: Slurm's topology.conf, as a tree or as blocks, and
 * topology.yaml, labels for Kubernetes. Called by the command line and the cluster
 * drivers. Invariants: the same wiring gives the same bytes; each node is below exactly
 * one switch, and all switches below one, because a scheduler thinks of parts that are
 * not connected as two clusters.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/wiring.h"

/* Slurm's limit: the greatest block size is the least one times 2^15. */
enum { TIERS_MAX = 8, BLOCK_LEVELS_MAX = 15 };

/* children: object {switch: [names]} in the order of the wiring. */
struct tree {
	json_t *nodes;    /* switch -> array of nodes */
	json_t *switches; /* switch -> array of switches */
	json_t *above;    /* switch -> switch */
};

static void
tree_fini(struct tree *tree)
{
	json_decref(tree->nodes);
	json_decref(tree->switches);
	json_decref(tree->above);
}

/* Switch names of vendors hold blanks and more; schedulers take few characters. */
static void
plain_name(const char *name, char ret[BU_WIRE_TEXT])
{
	snprintf(ret, BU_WIRE_TEXT, "%s", name);
	for (char *c = ret; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '-';
}

static void
append(json_t *object, const char *key, const char *name)
{
	json_t *list = json_object_get(object, key);

	if (!list) {
		list = json_array();
		json_object_set_new(object, key, list);
	}
	json_array_append_new(list, json_string(name));
}

/* Remembers which switch came out with this name. */
static int
note_name(json_t *names, const char *sw, char ret_plain[BU_WIRE_TEXT],
	  struct bu_err *err)
{
	const char *before;

	plain_name(sw, ret_plain);
	before = bu_json_str(names, ret_plain, sw);
	if (strcmp(before, sw) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "topology: switches '%s' and '%s' both become '%s'; "
				  "rename one",
				  before, sw, ret_plain);
	json_object_set_new(names, ret_plain, json_string(sw));
	return 0;
}

static int
hang_nodes(const struct bu_wiring *wiring, json_t *names, struct tree *tree,
	   struct bu_err *err)
{
	for (size_t i = 0; i < wiring->wire_count; i++) {
		const struct bu_wire *wire = &wiring->wires[i];
		char sw[BU_WIRE_TEXT];

		if (i > 0 && strcmp(wiring->wires[i - 1].node, wire->node) == 0)
			continue; /* not its primary one */
		if (note_name(names, wire->sw, sw, err))
			return -1;
		append(tree->nodes, sw, wire->node);
	}
	for (size_t i = 0; i < wiring->rack_count; i++) {
		bu_autofree char *name = bu_xasprintf("rack-%s", wiring->racks[i].of);
		char sw[BU_WIRE_TEXT];

		if (note_name(names, name, sw, err))
			return -1;
		append(tree->nodes, sw, wiring->racks[i].name);
	}
	if (json_object_size(tree->nodes) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "topology: no node's switch or rack is known");
	return 0;
}

/* Schedulers refuse both. */
static int
check_tree(const struct tree *tree, struct bu_err *err)
{
	const char *leaf;
	json_t *nodes;

	json_object_foreach (tree->nodes, leaf, nodes) {
		const char *at = leaf;
		int tier = 0;

		if (json_object_get(tree->switches, leaf))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "topology: switch '%s' has nodes and other "
					  "switches below it",
					  leaf);
		while ((at = bu_json_str(tree->above, at, NULL)))
			if (++tier == TIERS_MAX)
				return bu_err_set(err, BU_ERR_INVAL, 0,
						  "topology: above switch '%s' are "
						  "%d tiers or more, or a circle",
						  leaf, TIERS_MAX);
	}
	return 0;
}

/* Each switch on the way up from those with nodes, once. */
static int
hang_switches(const struct bu_wiring *wiring, json_t *names, struct tree *tree,
	      struct bu_err *err)
{
	bu_autojson json_t *said = json_object();
	const char *leaf;
	json_t *nodes;

	for (size_t i = 0; i < wiring->uplink_count; i++) {
		char sw[BU_WIRE_TEXT], above[BU_WIRE_TEXT];

		/* A leaf hangs below every spine; a tree has room for the first. */
		if (note_name(names, wiring->uplinks[i].name, sw, err) ||
		    note_name(names, wiring->uplinks[i].of, above, err))
			return -1;
		if (!json_object_get(said, sw))
			json_object_set_new(said, sw, json_string(above));
	}
	json_object_foreach (tree->nodes, leaf, nodes) {
		const char *at = leaf, *next;

		while ((next = bu_json_str(said, at, NULL)) &&
		       !json_object_get(tree->above, at)) {
			json_object_set_new(tree->above, at, json_string(next));
			append(tree->switches, next, at);
			at = next;
		}
	}
	return 0;
}

/* What has nothing above it hangs below one switch, when there are several. */
static void
hang_roots(json_t *names, struct tree *tree)
{
	bu_autojson json_t *roots = json_object();
	const json_t *levels[] = {tree->nodes, tree->switches};
	char top[BU_WIRE_TEXT] = "fabric";
	const char *sw;
	json_t *below;

	for (size_t i = 0; i < BU_LEN(levels); i++)
		json_object_foreach ((json_t *)levels[i], sw, below)
			if (!json_object_get(tree->above, sw))
				json_object_set_new(roots, sw, json_true());
	if (json_object_size(roots) < 2)
		return;
	for (int i = 2; json_object_get(names, top); i++)
		snprintf(top, sizeof(top), "fabric-%d", i);
	json_object_foreach (roots, sw, below) {
		json_object_set_new(tree->above, sw, json_string(top));
		append(tree->switches, top, sw);
	}
}

static int
make_tree(const struct bu_wiring *wiring, struct tree *ret, struct bu_err *err)
{
	bu_autojson json_t *names = json_object();
	struct tree tree = {json_object(), json_object(), json_object()};

	if (hang_nodes(wiring, names, &tree, err) ||
	    hang_switches(wiring, names, &tree, err) || check_tree(&tree, err)) {
		tree_fini(&tree);
		return -1;
	}
	hang_roots(names, &tree);
	*ret = tree;
	return 0;
}

static char *
fold_commas(const char *const *names, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out != NULL);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", names[i]);
	fclose(out);
	return text;
}

static char *
fold_list(const json_t *list, bu_wiring_fold_fn fold)
{
	size_t count = json_array_size(list);
	bu_autofree const char **names = bu_xcalloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = json_string_value(json_array_get(list, i));
	return (fold ? fold : fold_commas)(names, count);
}

/* How one of Slurm's two formats writes a tree; as each_switch() has it. */
struct style {
	const char *head, *nodes, *switches;
	int blocks; /* it knows domains */
};

/* Writes each switch, those with nodes first, each tier below the next. */
static void
each_switch(const struct tree *tree, bu_wiring_fold_fn fold, const char *nodes_fmt,
	    const char *switches_fmt, FILE *out)
{
	const struct {
		json_t *level;
		const char *fmt;
	} levels[] = {{tree->nodes, nodes_fmt}, {tree->switches, switches_fmt}};
	const char *sw;
	json_t *list;

	for (size_t i = 0; i < BU_LEN(levels); i++) {
		json_object_foreach (levels[i].level, sw, list) {
			bu_autofree char *folded = fold_list(list, fold);
			const char *rest = levels[i].fmt;

			/* "%S" the switch, "%L" what is below it. */
			for (; *rest; rest++) {
				if (rest[0] == '%' &&
				    (rest[1] == 'S' || rest[1] == 'L'))
					fputs(*++rest == 'S' ? sw : folded, out);
				else
					fputc(*rest, out);
			}
		}
	}
}

/* Nodes by NVLink domain; empty = there is none. New reference. */
static json_t *
domain_blocks(const struct bu_wiring *wiring)
{
	json_t *blocks = json_object();

	for (size_t i = 0; i < wiring->domain_count; i++) {
		char plain[BU_WIRE_TEXT];

		plain_name(wiring->domains[i].of, plain);
		append(blocks, plain, wiring->domains[i].name);
	}
	return blocks;
}

/* "8, 16": sizes for the planning of jobs. The first is the least block's, because
 * Slurm refuses a block that has fewer nodes; each further one is twice the last, until
 * all blocks are one. */
static void
print_sizes(const json_t *blocks, const char *between, FILE *out)
{
	size_t least = 0, count = json_object_size(blocks);
	const char *name;
	json_t *nodes;

	json_object_foreach ((json_t *)(uintptr_t)blocks, name, nodes)
		if (!least || json_array_size(nodes) < least)
			least = json_array_size(nodes);
	for (int i = 0; i <= BLOCK_LEVELS_MAX && (size_t)1 << i <= count; i++)
		fprintf(out, "%s%zu", i ? between : "", least << i);
}

static void
print_blocks(const json_t *blocks, bu_wiring_fold_fn fold, FILE *out)
{
	const char *name;
	json_t *nodes;

	fputs("- topology: nvlink\n  cluster_default: false\n  block:\n"
	      "    block_sizes: [",
	      out);
	print_sizes(blocks, ", ", out);
	fputs("]\n    blocks:\n", out);
	json_object_foreach ((json_t *)(uintptr_t)blocks, name, nodes) {
		bu_autofree char *folded = fold_list(nodes, fold);

		fprintf(out, "      - block: \"%s\"\n        nodes: \"%s\"\n", name,
			folded);
	}
}

char *
bu_wiring_slurm_blocks(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
		       struct bu_err *err)
{
	bu_autojson json_t *blocks = domain_blocks(wiring);
	struct tree tree;
	char *text = NULL;
	const char *name;
	json_t *nodes;
	size_t size;
	FILE *out;

	if (json_object_size(blocks) == 0) {
		if (make_tree(wiring, &tree, err))
			return NULL;
		json_object_update(blocks, tree.nodes);
		tree_fini(&tree);
	}
	out = open_memstream(&text, &size);
	bu_assert(out != NULL);
	fputs("# Made by bringup from the cabling; TopologyPlugin=topology/block.\n",
	      out);
	json_object_foreach (blocks, name, nodes) {
		bu_autofree char *folded = fold_list(nodes, fold);

		fprintf(out, "BlockName=%s Nodes=%s\n", name, folded);
	}
	fputs("BlockSizes=", out);
	print_sizes(blocks, ",", out);
	fputc('\n', out);
	fclose(out);
	return text;
}

static char *
render_tree(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
	    const struct style *style, struct bu_err *err)
{
	struct tree tree;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (make_tree(wiring, &tree, err))
		return NULL;
	out = open_memstream(&text, &size);
	bu_assert(out != NULL);
	fputs(style->head, out);
	each_switch(&tree, fold, style->nodes, style->switches, out);
	if (style->blocks && wiring->domain_count > 0) {
		bu_autojson json_t *blocks = domain_blocks(wiring);

		print_blocks(blocks, fold, out);
	}
	fclose(out);
	tree_fini(&tree);
	return text;
}

char *
bu_wiring_slurm_conf(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
		     struct bu_err *err)
{
	static const struct style style = {
		.head = "# Made by bringup from the cabling; "
			"TopologyPlugin=topology/tree.\n",
		.nodes = "SwitchName=%S Nodes=%L\n",
		.switches = "SwitchName=%S Switches=%L\n",
	};

	return render_tree(wiring, fold, &style, err);
}

char *
bu_wiring_slurm_yaml(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
		     struct bu_err *err)
{
	static const struct style style = {
		.head = "# Made by bringup from the cabling.\n"
			"- topology: fabric\n"
			"  cluster_default: true\n"
			"  tree:\n"
			"    switches:\n",
		.nodes = "      - switch: \"%S\"\n        nodes: \"%L\"\n",
		.switches = "      - switch: \"%S\"\n        children: \"%L\"\n",
		.blocks = 1,
	};

	return render_tree(wiring, fold, &style, err);
}

/* Values of labels have at most 63 characters and start and end with a letter or
 * digit. */
static json_t *
label_value(const char *name)
{
	char plain[BU_WIRE_TEXT];
	char *start = plain, *end;

	plain_name(name, plain);
	while (*start && !isalnum((unsigned char)*start))
		start++;
	end = start + strlen(start);
	while (end > start && !isalnum((unsigned char)end[-1]))
		*--end = '\0';
	return json_string(start);
}

json_t *
bu_wiring_labels(const struct bu_wiring *wiring, struct bu_err *err)
{
	struct tree tree;
	json_t *all;
	const char *leaf;
	json_t *nodes;

	if (make_tree(wiring, &tree, err))
		return NULL;
	all = json_object();
	json_object_foreach (tree.nodes, leaf, nodes) {
		size_t i;
		json_t *node;

		json_array_foreach (nodes, i, node) {
			json_t *labels = json_object();
			const char *sw = leaf;

			for (int tier = 0; sw; tier++) {
				bu_autofree char *key = bu_xasprintf(
					"fabric.topograph.run/tier-%d", tier);

				json_object_set_new(labels, key, label_value(sw));
				sw = bu_json_str(tree.above, sw, NULL);
			}
			json_object_set_new(all, json_string_value(node), labels);
		}
	}
	for (size_t i = 0; i < wiring->domain_count; i++) {
		json_t *labels = json_object_get(all, wiring->domains[i].name);

		if (labels)
			json_object_set_new(labels, "accelerator.topograph.run/domain",
					    label_value(wiring->domains[i].of));
	}
	tree_fini(&tree);
	return all;
}
