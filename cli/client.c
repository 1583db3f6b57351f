/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to bringupd, called by every command that is not local. Invariant: an answer
 * that reaches a command is a JSON object.
 */
#include "cli/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http.h"
#include "base/json.h"
#include "base/url.h"
#include "cli/context.h"
#include "cli/idp.h"
#include "cli/reach.h"
#include "profiles/nodeset/nodeset.h"

enum { ANSWER_MS = 60 * 1000, PAIRS_PAGE = 1000 };

struct bu_client {
	struct bu_http *http; /* NULL = wrong says why */
	struct bu_reach reach;
	char *context;          /* its name; NULL = over the socket */
	struct bu_context kept; /* its contents; empty = over the socket */
	char *where;            /* for errors: the socket, or the context's URL */
	struct bu_err wrong;    /* of the context */
	int64_t answer_ms;
};

struct bu_client *
bu_client_create(const char *socket)
{
	struct bu_client *client = bu_xcalloc(1, sizeof(*client));

	client->answer_ms = ANSWER_MS;
	bu_reach_init(&client->reach, socket);
	client->where = bu_xstrdup(client->reach.path);
	client->http = bu_http_create(&(struct bu_http_opts){
		.base_url = "http://localhost", .unix_socket = client->reach.path});
	return client;
}

static void
connect_context(struct bu_client *client)
{
	client->http = bu_http_create(
		&(struct bu_http_opts){.base_url = client->kept.url,
				       .ca_file = client->kept.ca_file,
				       .cert_file = client->kept.cert_file,
				       .key_file = client->kept.key_file,
				       .token = client->kept.token});
}

static struct bu_client *
open_context(const char *name)
{
	struct bu_client *client = bu_xcalloc(1, sizeof(*client));

	client->answer_ms = ANSWER_MS;
	client->context = bu_xstrdup(name);
	if (bu_context_load(name, &client->kept, &client->wrong) != 0) {
		client->where = bu_xstrdup("");
		return client;
	}
	client->where = bu_xstrdup(client->kept.url);
	connect_context(client);
	return client;
}

int
bu_client_is_over(const struct bu_client *client)
{
	return client->context && bu_context_is_due(&client->kept);
}

/* With a token that is good for this request; 0, or why there is none. */
static int
renew(struct bu_client *client, struct bu_err *err)
{
	if (!bu_client_is_over(client))
		return 0;
	if (bu_context_renew(client->context, &client->kept, err) != 0)
		return bu_err_wrap(err, "context '%s'", client->context);
	bu_http_destroy(bu_steal(&client->http));
	connect_context(client);
	return 0;
}

struct bu_client *
bu_client_open(const struct bu_options *options)
{
	const char *socket = getenv("BRINGUP_SOCKET"),
		   *context = getenv("BRINGUP_CONTEXT");
	struct bu_client *client;

	if (options->context && !options->socket)
		return open_context(options->context);
	if (options->context) {
		client = bu_xcalloc(1, sizeof(*client));
		client->where = bu_xstrdup("");
		bu_err_set(&client->wrong, BU_ERR_USAGE, 0,
			   "--socket and --context name two appliances; give one");
		return client;
	}
	if (!options->socket && !(socket && *socket) && context && *context)
		return open_context(context);
	return bu_client_create(options->socket);
}

void
bu_client_set_answer_ms(struct bu_client *client, int64_t answer_ms)
{
	client->answer_ms = answer_ms;
}

void
bu_cleanup_client(struct bu_client **client)
{
	if (!*client)
		return;
	bu_http_destroy((*client)->http);
	bu_reach_fini(&(*client)->reach);
	free((*client)->context);
	bu_context_fini(&(*client)->kept);
	free((*client)->where);
	free(*client);
}

/* Of a call that nobody answered. */
static void
explain(struct bu_client *client, struct bu_err *err)
{
	/* An answer of bringupd itself needs no more words. */
	if (!err || bu_http_was_told(client->http))
		return;
	if (!client->context)
		bu_reach_explain(&client->reach, err);
	else if (err->kind == BU_ERR_VERIFY)
		bu_err_wrap(err,
			    "context '%s': this is not the appliance that it was made "
			    "for, or that has new keys (then log in again)",
			    client->context);
	else
		bu_err_wrap(err, "context '%s'", client->context);
}

static void
say_wrong(const struct bu_client *client, struct bu_err *err)
{
	if (err)
		*err = client->wrong;
}

static json_t *
call(struct bu_client *client, const char *method, const char *path, const json_t *body,
     int64_t timeout_ms, struct bu_err *err)
{
	const struct bu_http_call wanted = {method, path, body, timeout_ms};
	json_t *reply = NULL;
	int rc;

	if (!client->http) {
		say_wrong(client, err);
		return NULL;
	}
	if (renew(client, err) != 0)
		return NULL;
	rc = client->kept.oidc.token_url
		     ? bu_idp_call(client->http, &wanted, &reply, err)
		     : bu_http_json(client->http, &wanted, &reply, err);
	if (rc != 0) {
		explain(client, err);
		return NULL;
	}
	if (!json_is_object(reply)) {
		json_decref(reply);
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "bringupd at %s: %s %s: the answer is not a JSON object",
			   client->where, method, path);
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
	return call(client, "GET", path, NULL,
		    client->answer_ms + (int64_t)wait_s * 1000, err);
}

struct following {
	int (*fn)(json_t *value, void *arg);
	void *arg;
};

/* Of an event only its data counts here. */
static int
on_line(const char *line, void *arg)
{
	static const char head[] = "data: ";
	const struct following *following = arg;
	bu_autojson json_t *value = NULL;

	if (strncmp(line, head, strlen(head)) != 0)
		return 0;
	value = json_loads(line + strlen(head), 0, NULL);
	return value ? following->fn(value, following->arg) : 0;
}

int
bu_client_follow(struct bu_client *client, const char *path,
		 int (*fn)(json_t *value, void *arg), void *arg, struct bu_err *err)
{
	struct following following = {fn, arg};

	if (client->http && renew(client, err) != 0)
		return -1;
	if (client->http &&
	    bu_http_follow(client->http, path, on_line, &following, err) == 0)
		return 0;
	if (client->http)
		explain(client, err);
	else
		say_wrong(client, err);
	return -1;
}

json_t *
bu_client_post(struct bu_client *client, const char *path, const json_t *body,
	       struct bu_err *err)
{
	return call(client, "POST", path, body, client->answer_ms, err);
}

json_t *
bu_client_nodes(struct bu_client *client, const char *set, struct bu_err *err)
{
	bu_autofree char *escaped = set ? bu_url_escape(set) : NULL;
	json_t *reply = bu_client_get(client, 0, err, "/v1/nodes%s%s",
				      set ? "?set=" : "", set ? escaped : "");

	if (reply && !json_is_array(json_object_get(reply, "nodes"))) {
		json_decref(reply);
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "bringupd answered without a list of nodes");
		return NULL;
	}
	return reply;
}

json_t *
bu_client_node(struct bu_client *client, const char *name, struct bu_err *err)
{
	if (!bu_node_name_ok(name)) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%s' is not a valid node name; `bringup node list` shows "
			   "the nodes",
			   name);
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

json_t *
bu_client_pairs(struct bu_client *client, const char *verdicts, size_t most,
		struct bu_err *err)
{
	json_t *all = json_pack("{s:[]}", "pairs"), *pairs;
	int64_t after = 0;
	int more = 1;

	pairs = json_object_get(all, "pairs");
	while (more && json_array_size(pairs) < most) {
		size_t left = most - json_array_size(pairs);
		bu_autojson json_t *page = bu_client_get(
			client, 0, err, "/v1/fabric/pairs?after=%lld&limit=%zu%s%s",
			(long long)after, left < PAIRS_PAGE ? left : PAIRS_PAGE,
			verdicts ? "&verdict=" : "", verdicts ? verdicts : "");

		if (!page) {
			json_decref(all);
			return NULL;
		}
		json_array_extend(pairs, json_object_get(page, "pairs"));
		after = bu_json_int(page, "after", INT32_MAX);
		more = bu_json_bool(page, "more", 0);
	}
	return all;
}
