/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server inside the loop; the only user of libmicrohttpd. Listeners share one
 * table of routes. Each route names its listeners.
 */
#ifndef BU_API_SERVER_H
#define BU_API_SERVER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/record.h"
#include "base/tls_person.h"
#include "model/limit.h"
#include "model/person.h"
#include "provisioner/api/wire.h"
#include "provisioner/store/store.h"

enum bu_listener {
	BU_LISTEN_BOOT = 1,    /* plain HTTP for boot files and image parts */
	BU_LISTEN_AGENT = 2,   /* TLS, client certificates */
	BU_LISTEN_LOCAL = 4,   /* unix socket of the command line */
	BU_LISTEN_PAGE = 8,    /* 127.0.0.1, plain, read-only */
	BU_LISTEN_PEOPLE = 16, /* TLS, tokens or client certificates: the page, and the
				  command line of other machines */
};

struct bu_server;

/* What a caller may do; each is a bit. id, name, help */
#define BU_CALLER_ROLES(X)                                                             \
	X(NODE, "node", "machines: boot, enroll, work")                                \
	X(VIEW, "view", "look at nodes, rollouts, measurements and events")            \
	X(OPERATE, "operate", "verbs on nodes, plans, rollouts; BMCs and consoles")    \
	X(GRANT, "grant", "allow what resets, reimages or wipes")                      \
	X(ADMIN, "admin", "tokens of callers; backups")                                \
	X(AUDIT, "audit", "the hashes of the log")                                     \
	X(OPEN, "open", "the page's own files, and its login")

enum bu_caller_role_place {
#define X(id, name, help) BU_CALLER_PLACE_##id,
	BU_CALLER_ROLES(X)
#undef X
		BU_CALLER_ROLE_COUNT
};
enum bu_caller_role {
#define X(id, name, help) BU_CALLER_##id = 1 << BU_CALLER_PLACE_##id,
	BU_CALLER_ROLES(X)
#undef X
};
const char *bu_caller_role_name(enum bu_caller_role role);

enum { BU_BY_SIZE = 96 };
/* Who asks, and the roles that they have. who is the log's `by`: over the unix socket
 * the user at its other end, "root" or "alice (uid 1000)"; over TLS "token NAME", or
 * "oidc:NAME", of people's certificates "cert NAME", of nodes the name in the
 * certificate; "local" = somebody on this machine. */
struct bu_caller {
	char who[BU_BY_SIZE];
	char maker[BU_BY_SIZE]; /* who made the token; "" = it came with none */
	unsigned roles;         /* bits of enum bu_caller_role */
};

/* The cookie of the page's session. */
#define BU_SESSION_COOKIE "__Host-bringup"

struct MHD_Connection;
/* Who may come over the unix socket, beside root and this process's own user, and with
 * a token. Texts are borrowed. */
struct bu_callers {
	struct bu_callers_group {
		const char *name;
		int64_t gid; /* -1 = there is no such group */
	} groups[BU_PERSON_COUNT];
	/* The caller with this token. BU_ERR_DENIED: err says why there is none. NULL =
	 * nobody has one. */
	int (*token)(void *arg, const char *text, struct bu_caller *ret,
		     struct bu_err *err);
	/* The same with this cookie of the page. */
	int (*session)(void *arg, const char *cookie, struct bu_caller *ret,
		       struct bu_err *err);
	void *arg;
	/* Of people's certificates, whose organisations are names of groups. NULL =
	 * nobody comes with one. */
	struct bu_person_ca *people;
};
/* Roles of the members of this group: of the system, of an identity provider or of
 * certificates. "" has none. */
unsigned bu_callers_roles(const struct bu_callers *callers, const char *group);
/* Names of the groups that have a role, "a, b"; missing: put after those that the
 * system does not have. Owned; NULL = none. */
char *bu_callers_groups(const struct bu_callers *callers, const char *missing);
/* What a person of this role may do; bits of enum bu_caller_role. */
unsigned bu_person_roles(enum bu_person person);
/* "operator", or "view, audit" of what no one role is; owned. */
char *bu_caller_roles_text(unsigned roles);
/* The only place where a caller is made. peer: the name in the verified certificate, ""
 * = none. BU_ERR_DENIED: nobody that may come; err says what to do. */
bu_must int bu_caller_make(const struct bu_callers *callers, enum bu_listener kind,
			   struct MHD_Connection *connection, const char *peer,
			   struct bu_caller *ret, struct bu_err *err);

enum { BU_PARAMS_MAX = 4 };

struct bu_request {
	enum bu_listener listener; /* the listener of its connection */
	const struct bu_caller *caller;
	const char *method;
	const char *path;
	const char *params[BU_PARAMS_MAX]; /* matches of '*' in the route */
	const json_t *body;                /* NULL = none */
	const char *peer;       /* name in the verified client certificate; "" = none */
	const char *peer_cert;  /* its fingerprint */
	const char *peer_fault; /* why peer is ""; "" = not known */
	int64_t waited_ms;      /* since the whole request came; 0 at the first call */
	void *connection;       /* for bu_request_query() */
	void *exchange;         /* for bu_request_within(); NULL = no limits */
};
enum { BU_ADDRESS_SIZE = 46 };
/* The client's address, "10.77.0.11"; "" over a unix socket. */
void bu_request_address(const struct bu_request *request, char ret[BU_ADDRESS_SIZE]);
/* The client's network card, seen when its connection came. */
void bu_request_seen(const struct bu_request *request, struct bu_seen *ret);
/* The caller, for the log, whatever the client says of itself. */
const char *bu_request_by(const struct bu_request *request);
/* BU_ERR_DENIED: the caller lacks this role; err names both. */
bu_must int bu_request_may(const struct bu_request *request, enum bu_caller_role role,
			   struct bu_err *err);
/* Value of ?name=; NULL = missing. */
const char *bu_request_query(const struct bu_request *request, const char *name);
/* 1 = ?name is there, with or without a value. */
int bu_request_has(const struct bu_request *request, const char *name);
/* Value of a header; NULL = missing. */
const char *bu_request_header(const struct bu_request *request, const char *name);
/* Value of a cookie; NULL = missing. */
const char *bu_request_cookie(const struct bu_request *request, const char *name);
/* The query's value as a number from 0 to most; fallback when missing. */
int64_t bu_request_number(const struct bu_request *request, const char *name,
			  int64_t fallback, int64_t most);
/* Counts the request at its first call, for its machine, or for its address without a
 * certificate. BU_ERR_BUSY: over the limit; the answer has Retry-After. */
bu_must int bu_request_within(const struct bu_request *request, enum bu_limit id,
			      struct bu_err *err);
/* Reads the body by its table of fields; no body counts as an empty object.
 * BU_ERR_INVAL: err has the path of the wrong field. */
bu_must int bu_request_read(const struct bu_request *request,
			    const struct bu_field *fields, void *ret,
			    struct bu_err *err);

struct bu_overlay {
	uint64_t offset;
	size_t size;
	char bytes[4096];
};

/* JSON text that many answers share; it goes with the last reference. */
struct bu_shared;
struct bu_shared *bu_shared_create(char *text /* taken */);
struct bu_shared *bu_shared_ref(struct bu_shared *shared);
const char *bu_shared_text(const struct bu_shared *shared);
void bu_shared_unref(struct bu_shared *shared);

/* An answer without an end: server-sent events. */
struct bu_stream {
	/* The next part of the text, owned; NULL = there is none now: asked again after
	 * bu_server_wake(), and after one second. */
	char *(*next)(void *state);
	void (*end)(void *state); /* when the client is gone */
	void *state;
};

/* The handler's answer; starts empty. One of json, shared, text, fd and stream is used.
 */
struct bu_reply {
	int status;               /* 0 = 200 */
	int retry_s;              /* Retry-After of 503; 0 = the default */
	json_t *json;             /* taken */
	struct bu_shared *shared; /* a reference, taken */
	char *text;               /* taken */
	const char *content_type;
	char *cookie;     /* value of Set-Cookie; taken. NULL = none is set */
	const char *etag; /* borrowed; a client that shows it is answered 304. NULL =
			     none */
	int has_fd;
	int fd; /* taken; Range is honoured */
	uint64_t fd_size;
	uint64_t *fd_sent; /* counts bytes of the file that are sent; NULL = nobody */
	struct bu_stream stream; /* its state is taken */
	/* Replacements for parts of the file; taken. */
	struct bu_overlay *overlays;
	size_t overlays_count;
	/* The answer is sent after this log has all rows appended so far, so that the
	 * client may rely on them. NULL = at once. */
	const struct bu_store *logged;
};

enum bu_answer { BU_ANSWER_NOW = 0, BU_ANSWER_ERROR = -1, BU_ANSWER_LATER = 1 };

/* LATER: called again after bu_server_wake(), and after one second. */
typedef enum bu_answer (*bu_handler_fn)(void *arg, const struct bu_request *request,
					struct bu_reply *reply, struct bu_err *err);

struct bu_route {
	const char *method;
	const char *path; /* "*" matches one segment, a last "**" all the rest */
	int listeners;
	enum bu_caller_role role; /* that a caller needs */
	bu_handler_fn fn;
	const char *help;
};

/* routes: ends with a NULL method. arg: for every handler. */
struct bu_server *bu_server_create(struct bu_loop *loop, const struct bu_route *routes,
				   void *arg);
void bu_server_destroy(struct bu_server *server);
/* Files in PEM. */
struct bu_server_tls {
	const char *cert, *key;
	/* CA of client certificates; NULL = clients have none. Those of BU_LISTEN_BOOT
	 * are firmware then, perhaps with TLS 1.2 only. */
	const char *ca;
};
/* Takes fd, a listening socket. tls: NULL = plain HTTP. */
bu_must int bu_server_listen(struct bu_server *server, enum bu_listener kind, int fd,
			     const struct bu_server_tls *tls, struct bu_err *err);
/* Sets the host names of the server, separated by commas; "localhost" and its own
 * addresses need none. A request for another host is answered 421. */
void bu_server_names(struct bu_server *server, const char *names);
/* Copies callers; until then root and this process's own user may come. */
void bu_server_callers(struct bu_server *server, const struct bu_callers *callers);
/* Rows that agents' requests append to this log count for their machines' limits. */
void bu_server_counts_log(struct bu_server *server, const struct bu_store *log);
/* Logs, once a minute, that a handler refused by this limit. */
void bu_server_refused(struct bu_server *server, enum bu_limit id, const char *key);
/* Calls waiting handlers again, at most ten times a second, and some in each turn of
 * the loop. */
void bu_server_wake(struct bu_server *server);

/* "10.0.0.1:8080" -> a listening socket, or -1 and err. */
bu_must int bu_listen_tcp(const char *address, struct bu_err *err);
/* A listening socket that every user may open: callers are told apart by their
 * credentials. Replaces a stale file. Makes a missing folder, and
 * opens it and /run/bringup for every user to pass. BU_ERR_STATE: a program listens
 * there, or the file is not a socket. */
bu_must int bu_listen_unix(const char *path, struct bu_err *err);
/* The socket that systemd opened for this process; -1 = none. */
bu_must int bu_listen_inherited(void);

#endif
