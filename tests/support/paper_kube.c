/* SPDX-License-Identifier: Apache-2.0 */
/* The API server of paper: connections, and what is answered; paper_patch.c patches. */
#include "tests/support/paper_kube.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/support/paper_patch.h"

struct paper_conn {
	struct paper_conn *next;
	struct paper_kube *kube;
	struct bu_watch *watch;
	int fd;
	int watches; /* a kind, -1 = none */
	char *in;
	size_t size, cap;
};

struct asked {
	char method[8], path[512];
	const char *query;
	char type[64];
	json_t *body;
};

static const char *const bases[PAPER_KINDS] = {
	[PAPER_NODES] = "/api/v1/nodes",
	[PAPER_PODS] = "/api/v1/pods",
	[PAPER_CSRS] = "/apis/certificates.k8s.io/v1/certificatesigningrequests",
	[PAPER_SECRETS] = "/api/v1/namespaces/kube-system/secrets",
	[PAPER_REPAIRS] = "/apis/paper.example.org/v1/externalremediationrequests",
};

/* --- connections --- */

static void
say(const struct paper_conn *conn, const char *text, size_t size)
{
	ck_assert_int_eq((int)send(conn->fd, text, size, MSG_NOSIGNAL), (int)size);
}

static void
hang_up(struct paper_conn *conn)
{
	struct paper_conn **link = &conn->kube->conns;

	while (*link != conn)
		link = &(*link)->next;
	*link = conn->next;
	bu_watch_destroy(conn->watch);
	close(conn->fd);
	free(conn->in);
	free(conn);
}

void
paper_kube_hang_up(struct paper_kube *kube)
{
	struct paper_conn *next;

	for (struct paper_conn *conn = kube->conns; conn; conn = next) {
		next = conn->next;
		if (conn->watches >= 0)
			hang_up(conn);
	}
}

static void
say_event(const struct paper_conn *conn, const char *type, json_t *object)
{
	bu_autojson json_t *event =
		json_pack("{s:s,s:O}", "type", type, "object", object);
	bu_autofree char *line = json_dumps(event, JSON_COMPACT);
	bu_autofree char *chunk =
		bu_xasprintf("%zx\r\n%s\n\r\n", strlen(line) + 1, line);

	say(conn, chunk, strlen(chunk));
}

static void
tell(struct paper_kube *kube, enum paper_kind kind, const char *type, json_t *object)
{
	bu_autofree char *version = bu_xasprintf("%lld", (long long)++kube->version);

	json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
			    json_string(version));
	for (struct paper_conn *conn = kube->conns; conn; conn = conn->next)
		if (conn->watches == (int)kind)
			say_event(conn, type, object);
}

static const char *
name_of(const json_t *object)
{
	return bu_json_str(json_object_get(object, "metadata"), "name", "");
}

void
paper_kube_put(struct paper_kube *kube, enum paper_kind kind, json_t *object)
{
	const char *name = name_of(object);
	int old = json_object_get(kube->objects[kind], name) != NULL;

	json_object_set_new(kube->objects[kind], name, object);
	tell(kube, kind, old ? "MODIFIED" : "ADDED", object);
}

void
paper_kube_remove(struct paper_kube *kube, enum paper_kind kind, const char *name)
{
	bu_autojson json_t *object =
		json_incref(json_object_get(kube->objects[kind], name));

	if (!object)
		return;
	json_object_del(kube->objects[kind], name);
	tell(kube, kind, "DELETED", object);
}

json_t *
paper_kube_get(const struct paper_kube *kube, enum paper_kind kind, const char *name)
{
	return json_object_get(kube->objects[kind], name);
}

/* --- answers --- */

static void
answer(const struct paper_conn *conn, int status, json_t *body)
{
	bu_autofree char *text = json_dumps(body, JSON_COMPACT);
	bu_autofree char *all =
		bu_xasprintf("HTTP/1.1 %d x\r\nContent-Type: application/json\r\n"
			     "Content-Length: %zu\r\n\r\n%s",
			     status, strlen(text), text);

	say(conn, all, strlen(all));
	json_decref(body);
}

static void
refuse(const struct paper_conn *conn, int status, const char *message,
       const char *cause, const char *cause_text)
{
	answer(conn, status,
	       json_pack("{s:s,s:i,s:s,s:{s:[{s:s,s:s}]}}", "kind", "Status", "code",
			 status, "message", message, "details", "causes", "reason",
			 cause, "message", cause_text));
}

/* "…spec.nodeName%3Dnode001" */
static int
is_selected(const struct asked *asked, const json_t *object)
{
	const char *of = strstr(asked->query, "spec.nodeName%3D");
	const char *node = bu_json_str(json_object_get(object, "spec"), "nodeName", "");

	return !of || strncmp(of + strlen("spec.nodeName%3D"), node, strlen(node)) == 0;
}

static void
answer_list(struct paper_conn *conn, const struct asked *asked, enum paper_kind kind)
{
	bu_autofree char *version =
		bu_xasprintf("%lld", (long long)conn->kube->version);
	json_t *items = json_array(), *object;
	const char *name;

	json_object_foreach (conn->kube->objects[kind], name, object)
		if (is_selected(asked, object))
			json_array_append(items, object);
	conn->kube->lists[kind] += strstr(asked->query, "limit=") != NULL;
	answer(conn, 200,
	       json_pack("{s:{s:s},s:o}", "metadata", "resourceVersion", version,
			 "items", items));
}

static void
answer_watch(struct paper_conn *conn, enum paper_kind kind)
{
	static const char head[] =
		"HTTP/1.1 200 x\r\nContent-Type: application/json\r\n"
		"Transfer-Encoding: chunked\r\n\r\n";
	bu_autojson json_t *gone =
		json_pack("{s:s,s:i}", "kind", "Status", "code", 410);

	say(conn, head, strlen(head));
	conn->watches = (int)kind;
	if (conn->kube->forgets)
		say_event(conn, "ERROR", gone);
	conn->kube->forgets = 0;
}

static void
answer_node_patch(struct paper_conn *conn, const struct asked *asked, json_t *node)
{
	struct paper_kube *kube = conn->kube;
	bu_autojson json_t *copy = json_deep_copy(node);
	int done = 0;

	if (kube->holder[0] && strstr(asked->type, "apply") &&
	    json_object_get(
		    json_object_get(json_object_get(asked->body, "metadata"), "labels"),
		    kube->held)) {
		refuse(conn, 409, "Apply failed with 1 conflict: conflict with \"him\"",
		       "FieldManagerConflict", "conflict");
		return;
	}
	if (kube->raced > 0 && strstr(asked->type, "json-patch")) {
		kube->raced--;
		refuse(conn, 422, "the server rejected our request", "x", "test");
		return;
	}
	done = strstr(asked->type, "json-patch") ? paper_patch(copy, asked->body)
	       : strstr(asked->type, "apply")    ? paper_apply(copy, asked->body)
						 : paper_merge(copy, asked->body);
	if (done != 0) {
		refuse(conn, 422, "the patch does not fit", "x", "x");
		return;
	}
	paper_kube_put(kube, PAPER_NODES, json_incref(copy));
	answer(conn, 200, json_incref(copy));
}

static void
answer_eviction(struct paper_conn *conn, const char *pod)
{
	struct paper_kube *kube = conn->kube;

	if (!paper_kube_get(kube, PAPER_PODS, pod)) {
		refuse(conn, 404, "no such pod", "x", "x");
	} else if (kube->budget) {
		refuse(conn, 429, "Cannot evict pod", "DisruptionBudget",
		       "The disruption budget keep needs 1 healthy pods and has 1");
	} else {
		paper_kube_remove(kube, PAPER_PODS, pod);
		answer(conn, 201, json_object());
	}
}

static void
answer_post(struct paper_conn *conn, const struct asked *asked, enum paper_kind kind)
{
	const char *name = name_of(asked->body);

	if (paper_kube_get(conn->kube, kind, name)) {
		refuse(conn, 409, "it exists", "AlreadyExists", "x");
		return;
	}
	paper_kube_put(conn->kube, kind, json_incref(asked->body));
	answer(conn, 201, json_incref(asked->body));
}

static void
answer_approval(struct paper_conn *conn, const struct asked *asked)
{
	struct paper_kube *kube = conn->kube;
	const json_t *first = json_array_get(
		json_object_get(json_object_get(asked->body, "status"), "conditions"),
		0);

	snprintf(kube->last_approval, sizeof(kube->last_approval), "%s",
		 bu_json_str(first, "type", ""));
	paper_kube_put(kube, PAPER_CSRS, json_incref(asked->body));
	answer(conn, 200, json_incref(asked->body));
}

/* RFC 7396, of the status, by the version that was read. */
static void
answer_repair(struct paper_conn *conn, const struct asked *asked, const json_t *object)
{
	bu_autojson json_t *copy = json_deep_copy(object);
	const char *version =
		bu_json_str(json_object_get(copy, "metadata"), "resourceVersion", "");
	const char *read = bu_json_str(json_object_get(asked->body, "metadata"),
				       "resourceVersion", "");

	ck_assert_ptr_nonnull(strstr(asked->type, "merge-patch"));
	if (strcmp(version, read) != 0) {
		refuse(conn, 409, "the object has been modified", "Conflict", "x");
		return;
	}
	json_object_set(copy, "status", json_object_get(asked->body, "status"));
	paper_kube_put(conn->kube, PAPER_REPAIRS, json_incref(copy));
	answer(conn, 200, json_incref(copy));
}

static void
answer_kinds(struct paper_conn *conn)
{
	conn->kube->discoveries++;
	if (!conn->kube->repairs) {
		answer(conn, 200, json_pack("{s:[]}", "items"));
		return;
	}
	answer(conn, 200,
	       json_pack("{s:[{s:{s:s},s:[]},{s:{s:s},s:[{s:s,s:[{s:s},{s:s}]}]}]}",
			 "items", "metadata", "name", "apps", "versions", "metadata",
			 "name", "paper.example.org", "versions", "version", "v1",
			 "resources", "resource", "rebootnodes", "resource",
			 "externalremediationrequests"));
}

static void
answer_one(struct paper_conn *conn, const struct asked *asked, enum paper_kind kind,
	   const char *name, const char *part)
{
	json_t *object = paper_kube_get(conn->kube, kind, name);

	if (!object) {
		refuse(conn, 404, "there is none", "NotFound", "x");
	} else if (strcmp(asked->method, "DELETE") == 0) {
		conn->kube->deletes++;
		paper_kube_remove(conn->kube, kind, name);
		answer(conn, 200, json_object());
	} else if (strcmp(part, "/approval") == 0) {
		answer_approval(conn, asked);
	} else if (strcmp(asked->method, "PATCH") == 0 && kind == PAPER_REPAIRS) {
		answer_repair(conn, asked, object);
	} else if (strcmp(asked->method, "PATCH") == 0) {
		answer_node_patch(conn, asked, object);
	} else {
		answer(conn, 200, json_incref(object));
	}
}

/* Of the path; 0 = it is of another kind. Pods have two bases. */
static size_t
base_size(const char *path, enum paper_kind kind)
{
	static const char ours[] = "/api/v1/namespaces/bringup/pods";

	if (strncmp(path, bases[kind], strlen(bases[kind])) == 0)
		return strlen(bases[kind]);
	return kind == PAPER_PODS && strncmp(path, ours, strlen(ours)) == 0
		       ? strlen(ours)
		       : 0;
}

static void
answer_asked(struct paper_conn *conn, const struct asked *asked)
{
	char name[256], part[16] = "";

	if (conn->kube->silent) {
		refuse(conn, 503, "etcd has no leader", "x", "x");
		return;
	}
	if (sscanf(asked->path, "/api/v1/namespaces/default/pods/%255[^/]/evic",
		   name) == 1 &&
	    strcmp(asked->method, "POST") == 0) {
		answer_eviction(conn, name);
		return;
	}
	if (strcmp(asked->path, "/apis") == 0) {
		answer_kinds(conn);
		return;
	}
	for (enum paper_kind kind = 0; kind < PAPER_KINDS; kind++) {
		size_t head = base_size(asked->path, kind);

		if (!head)
			continue;
		if (sscanf(asked->path + head, "/%255[^/]%15s", name, part) >= 1)
			answer_one(conn, asked, kind, name, part);
		else if (strcmp(asked->method, "POST") == 0)
			answer_post(conn, asked, kind);
		else if (strstr(asked->query, "watch=1"))
			answer_watch(conn, kind);
		else
			answer_list(conn, asked, kind);
		return;
	}
	refuse(conn, 404, "no such path", "x", "x");
}

/* --- requests --- */

/* A whole request from the start of what came in; 0 = not yet. */
static size_t
read_asked(const char *in, struct asked *ret)
{
	const char *end = strstr(in, "\r\n\r\n"), *length, *type;
	size_t size, body = 0;
	char *query;

	if (!end)
		return 0;
	length = strcasestr(in, "content-length: ");
	if (length && length < end)
		body = (size_t)atoi(length + strlen("content-length: "));
	size = (size_t)(end - in) + 4;
	if (strlen(in) < size + body)
		return 0;
	type = strcasestr(in, "content-type: ");
	ck_assert_int_eq(sscanf(in, "%7s %511s", ret->method, ret->path), 2);
	ck_assert_ptr_nonnull(strstr(in, "Authorization: Bearer paper-token\r\n"));
	snprintf(ret->type, sizeof(ret->type), "%s", type ? type : "");
	ret->body = body ? json_loadb(in + size, body, 0, NULL) : NULL;
	query = strchr(ret->path, '?');
	ret->query = query ? query + 1 : "";
	if (query)
		*query = '\0';
	return size + body;
}

static void
on_readable(int fd, int what, void *arg)
{
	struct paper_conn *conn = arg;
	struct asked asked;
	char part[16384];
	ssize_t got = recv(fd, part, sizeof(part), MSG_DONTWAIT);
	size_t size;

	if (got <= 0) {
		hang_up(conn);
		return;
	}
	conn->in = bu_xgrow(conn->in, &conn->cap, conn->size + (size_t)got + 1, 1);
	memcpy(conn->in + conn->size, part, (size_t)got);
	conn->size += (size_t)got;
	conn->in[conn->size] = '\0';
	while (conn->size && (size = read_asked(conn->in, &asked))) {
		memmove(conn->in, conn->in + size, conn->size - size + 1);
		conn->size -= size;
		answer_asked(conn, &asked);
		json_decref(asked.body);
	}
}

static void
on_connection(int fd, int what, void *arg)
{
	struct paper_kube *kube = arg;
	struct paper_conn *conn = bu_xcalloc(1, sizeof(*conn));

	conn->kube = kube;
	conn->watches = -1;
	conn->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(conn->fd, 0);
	conn->watch =
		bu_watch_create(kube->loop, conn->fd, BU_READABLE, on_readable, conn);
	conn->next = kube->conns;
	kube->conns = conn;
}

struct paper_kube *
paper_kube_start(struct bu_loop *loop)
{
	struct paper_kube *kube = bu_xcalloc(1, sizeof(*kube));
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	kube->loop = loop;
	kube->version = 100;
	for (int i = 0; i < PAPER_KINDS; i++)
		kube->objects[i] = json_object();
	kube->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(kube->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(kube->fd, 64), 0);
	ck_assert_int_eq(getsockname(kube->fd, (struct sockaddr *)&at, &size), 0);
	kube->port = ntohs(at.sin_port);
	kube->watch = bu_watch_create(loop, kube->fd, BU_READABLE, on_connection, kube);
	return kube;
}

void
paper_kube_stop(struct paper_kube *kube)
{
	while (kube->conns)
		hang_up(kube->conns);
	for (int i = 0; i < PAPER_KINDS; i++)
		json_decref(kube->objects[i]);
	bu_watch_destroy(kube->watch);
	close(kube->fd);
	free(kube);
}
