/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to bringupd, called by every command that is not local. Invariant: an answer
 * that reaches a command is a JSON object.
 */
#include "cli/client.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/http.h"
#include "base/json.h"
#include "profiles/nodeset.h"

enum { ANSWER_MS = 60 * 1000 };

struct bu_client {
	struct bu_http *http;
	char *socket;
};

char *
bu_client_socket(const char *socket)
{
	const char *rack = getenv("BRINGUP_RACK");

	if (!socket)
		socket = getenv("BRINGUP_SOCKET");
	if (socket && *socket)
		return bu_xstrdup(socket);
	if (rack && *rack)
		return bu_xasprintf("%s/run/bringup/sock", rack);
	return bu_xstrdup("/run/bringup/sock");
}

struct bu_client *
bu_client_create(const char *socket)
{
	struct bu_client *client = bu_xcalloc(1, sizeof(*client));

	client->socket = bu_client_socket(socket);
	client->http = bu_http_create(&(struct bu_http_opts){
		.base_url = "http://localhost", .unix_socket = client->socket});
	return client;
}

void
bu_client_destroy(struct bu_client *client)
{
	if (!client)
		return;
	bu_http_destroy(client->http);
	free(client->socket);
	free(client);
}

void
bu_cleanup_client(struct bu_client **client)
{
	bu_client_destroy(*client);
}

/* What bringupd itself said needs no more words. */
static void
explain(const struct bu_client *client, struct bu_err *err)
{
	if (access(client->socket, F_OK) != 0)
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s: %m; is bringupd running here? --socket, "
			   "BRINGUP_SOCKET or BRINGUP_RACK say where it listens",
			   client->socket);
	else if (err && (err->kind == BU_ERR_REMOTE || err->kind == BU_ERR_TIMEOUT))
		bu_err_wrap(err, "bringupd at %s", client->socket);
}

static json_t *
call(struct bu_client *client, const char *method, const char *path, const json_t *body,
     int64_t timeout_ms, struct bu_err *err)
{
	json_t *reply = NULL;

	if (bu_http_json(client->http, method, path, body, timeout_ms, &reply, err) !=
	    0) {
		explain(client, err);
		return NULL;
	}
	if (!json_is_object(reply)) {
		json_decref(reply);
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "bringupd at %s: %s %s: the answer is no JSON object",
			   client->socket, method, path);
		return NULL;
	}
	return reply;
}

json_t *
bu_client_get(struct bu_client *client, int wait_s, struct bu_err *err, const char *fmt,
	      ...)
{
	bu_autofree char *path = NULL;
	va_list args;

	va_start(args, fmt);
	path = bu_xvasprintf(fmt, args);
	va_end(args);
	return call(client, "GET", path, NULL, ANSWER_MS + (int64_t)wait_s * 1000, err);
}

json_t *
bu_client_post(struct bu_client *client, const char *path, const json_t *body,
	       struct bu_err *err)
{
	return call(client, "POST", path, body, ANSWER_MS, err);
}

char *
bu_client_escape(const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-._~";
	char *escaped = bu_xmalloc(3 * strlen(text) + 1), *to = escaped;

	for (const char *p = text; *p; p++) {
		if (strchr(plain, *p))
			*to++ = *p;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*p);
	}
	*to = '\0';
	return escaped;
}

json_t *
bu_client_nodes(struct bu_client *client, const char *set, struct bu_err *err)
{
	bu_autofree char *escaped = set ? bu_client_escape(set) : NULL;
	json_t *reply = bu_client_get(client, 0, err, "/v1/nodes%s%s",
				      set ? "?set=" : "", set ? escaped : "");

	if (reply && !json_is_array(json_object_get(reply, "nodes"))) {
		json_decref(reply);
		bu_err_set(err, BU_ERR_REMOTE, 0, "bringupd's list of nodes is none");
		return NULL;
	}
	return reply;
}

json_t *
bu_client_node(struct bu_client *client, const char *name, struct bu_err *err)
{
	if (!bu_node_name_ok(name)) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%s' cannot be a node; `bringup node list` has them", name);
		return NULL;
	}
	return bu_client_get(client, 0, err, "/v1/nodes/%s", name);
}

json_t *
bu_client_whole(struct bu_client *client, const json_t *listing, struct bu_err *err)
{
	json_t *nodes = json_array();
	const json_t *brief;
	size_t i;

	json_array_foreach (json_object_get(listing, "nodes"), i, brief) {
		json_t *node =
			bu_client_node(client, bu_json_str(brief, "name", ""), err);

		if (!node) {
			json_decref(nodes);
			return NULL;
		}
		json_array_append_new(nodes, node);
	}
	return nodes;
}
