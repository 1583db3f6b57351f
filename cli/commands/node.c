/* SPDX-License-Identifier: Apache-2.0 */
/* bringup node list|show|why, fabric certificate: what is asked about nodes. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/key_origin.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/sentence.h"
#include "profiles/nodeset/nodeset.h"

/* Whole nodes of a nodeset, in an array. A plain name is asked for as it is. */
static json_t *
ask(struct bu_client *client, const char *set, struct bu_err *err)
{
	bu_autojson json_t *reply = NULL;

	if (bu_node_name_ok(set)) {
		json_t *node = bu_client_node(client, set, err);

		return node ? json_pack("[o]", node) : NULL;
	}
	reply = bu_client_nodes(client, set, err);
	return reply ? bu_client_whole(client, reply, err) : NULL;
}

static void
print_hostlist(const json_t *nodes)
{
	bu_autojson json_t *names = bu_out_pick(nodes, "name");
	bu_autofree char *text = bu_out_fold(names);

	bu_out_names(text, stdout);
}

static int
list_unknown(struct bu_client *client, const struct bu_options *options,
	     struct bu_err *err)
{
	bu_autojson json_t *reply = bu_client_get(client, 0, err, "/v1/machines");
	const json_t *unknown = json_object_get(reply, "unknown");

	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(unknown, stdout);
	else
		bu_render_unknown(unknown, stdout);
	return 0;
}

static int
print_nodes(const json_t *reply, struct bu_err *err)
{
	struct bu_shown_nodes nodes;

	if (bu_answer_read(bu_shown_nodes_fields, reply, &nodes, err) != 0)
		return -1;
	bu_render_nodes(&nodes, stdout);
	bu_record_fini(bu_shown_nodes_fields, &nodes);
	return 0;
}

int
bu_cmd_node_list(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = NULL;
	const json_t *nodes;

	if (options->unknown)
		return list_unknown(client, options, err);
	reply = bu_client_nodes(client, options->args_count ? options->args[0] : NULL,
				err);
	if (!reply)
		return -1;
	nodes = json_object_get(reply, "nodes");
	if (options->args_count && json_array_size(nodes) == 0)
		fprintf(stderr, "bringup: no node is in '%s'\n", options->args[0]);
	if (options->format == BU_FORMAT_TABLE)
		return print_nodes(reply, err);
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(nodes, stdout);
	else
		print_hostlist(nodes);
	return 0;
}

/* Each with a line between. */
static int
print_each(const json_t *nodes, void (*print)(const struct bu_shown_node *, FILE *),
	   struct bu_err *err)
{
	json_t *answer;
	size_t i;

	json_array_foreach (nodes, i, answer) {
		struct bu_shown_node node;

		if (bu_answer_read(bu_shown_whole_fields, answer, &node, err) != 0)
			return -1;
		if (i)
			putchar('\n');
		print(&node, stdout);
		bu_record_fini(bu_shown_whole_fields, &node);
	}
	return 0;
}

int
bu_cmd_node_show(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = NULL;
	bu_autojson json_t *nodes = NULL;

	if (options->origin)
		return bu_node_origin(options, err);
	client = bu_client_open(options);
	nodes = ask(client, options->args[0], err);
	if (!nodes)
		return -1;
	if (options->format == BU_FORMAT_TABLE)
		return print_each(nodes, bu_render_node, err);
	if (options->format == BU_FORMAT_HOSTLIST)
		print_hostlist(nodes);
	else
		/* One that was named is an object, a set is a list. */
		bu_out_json(bu_node_name_ok(options->args[0]) ? json_array_get(nodes, 0)
							      : nodes,
			    stdout);
	return 0;
}

static void
print_why(const struct bu_shown_node *node, FILE *out)
{
	bu_autofree char *lines = bu_said_lines(node->why);
	bu_autofree char *why = bu_out_clean(lines, 1);
	size_t size = strlen(why);

	fprintf(out, "%s%s", why, size && why[size - 1] == '\n' ? "" : "\n");
}

/* [{"name","why"}] */
static void
print_why_json(const json_t *nodes)
{
	bu_autojson json_t *list = json_array();
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node)
		json_array_append_new(list,
				      json_pack("{s:O,s:O}", "name",
						json_object_get(node, "name"), "why",
						json_object_get(node, "why")));
	bu_out_json(list, stdout);
}

int
bu_cmd_node_why(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *nodes = ask(client, options->args[0], err);

	if (!nodes)
		return -1;
	if (options->format == BU_FORMAT_TABLE)
		return print_each(nodes, print_why, err);
	if (options->format == BU_FORMAT_JSON)
		print_why_json(nodes);
	else
		print_hostlist(nodes);
	return 0;
}

static void
print_certificates(const struct bu_shown_node *node, FILE *out)
{
	for (size_t i = 0; i < node->certificates_count; i++)
		bu_render_certificate(&node->certificates[i], out);
}

int
bu_cmd_fabric_certificate(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *node = bu_client_node(client, options->args[0], err);
	bu_autojson json_t *nodes = node ? json_pack("[O]", node) : NULL;
	const json_t *certificates = json_object_get(node, "certificates");

	if (!node)
		return -1;
	if (options->format == BU_FORMAT_JSON) {
		bu_out_json(certificates, stdout);
		return 0;
	}
	if (json_array_size(certificates) == 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "%s has no certificate; bringup node why %s says "
				  "what it waits for",
				  options->args[0], options->args[0]);
	if (options->format == BU_FORMAT_TABLE)
		return print_each(nodes, print_certificates, err);
	puts(options->args[0]);
	return 0;
}
