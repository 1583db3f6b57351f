/* SPDX-License-Identifier: Apache-2.0 */
/* bringup node show|why|release, fabric certificate: what is asked about one node. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/origin.h"
#include "cli/output.h"
#include "cli/render.h"

int
bu_cmd_node_show(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = NULL;
	bu_autojson json_t *node = NULL;

	if (options->origin)
		return bu_node_origin(options, err);
	client = bu_client_create(options->socket);
	node = bu_client_node(client, options->args[0], err);
	if (!node)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(node, stdout);
	else
		bu_render_node(node, stdout);
	return 0;
}

int
bu_cmd_node_why(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *node = bu_client_node(client, options->args[0], err);
	bu_autofree char *why = NULL;
	const char *text;

	if (!node || bu_json_get_str(node, "why", &text, err) != 0)
		return -1;
	why = bu_out_clean(text, 1);
	printf("%s%s", why, *why && why[strlen(why) - 1] == '\n' ? "" : "\n");
	return 0;
}

int
bu_cmd_node_release(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	const char *name = options->args[0];
	bu_autofree char *path = bu_xasprintf("/v1/nodes/%s/release", name);
	bu_autojson json_t *empty = json_object();
	bu_autojson json_t *node = bu_client_node(client, name, err);
	bu_autojson json_t *reply =
		node ? bu_client_post(client, path, empty, err) : NULL;

	if (!reply)
		return -1;
	printf("%s: released\n", name);
	return 0;
}

int
bu_cmd_fabric_certificate(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *node = bu_client_node(client, options->args[0], err);
	const json_t *certificates = json_object_get(node, "certificates");
	json_t *certificate;
	size_t i;

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
	if (options->format == BU_FORMAT_HOSTLIST) {
		puts(options->args[0]);
		return 0;
	}
	json_array_foreach (certificates, i, certificate)
		bu_render_certificate(certificate, stdout);
	return 0;
}
