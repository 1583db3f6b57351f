/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake Redfish BMC, in the test's own process: a tree of one vendor's shape, and
 * habits that a client must survive. It answers from a thread of its own; what a test
 * reads of it, it reads when nothing is under way.
 */
#ifndef BU_TESTS_SUPPORT_HOSTILE_H
#define BU_TESTS_SUPPORT_HOSTILE_H

#include <jansson.h>

enum {
	HOSTILE_NEEDS_ETAG = 1 << 0,   /* 428 without If-Match, 412 with another one */
	HOSTILE_STRONG_ETAG = 1 << 1,  /* gives W/"x" and wants "x" */
	HOSTILE_GZIP_ETAG = 1 << 2,    /* gives "x-gzip" and wants "x" */
	HOSTILE_BARE_ETAG = 1 << 3,    /* gives x and wants "x" */
	HOSTILE_NO_ETAG = 1 << 4,      /* 412 with any If-Match */
	HOSTILE_NO_MODE = 1 << 5,      /* 400 to the mode */
	HOSTILE_WANTS_ALL = 1 << 6,    /* a mode that is not sent becomes Legacy */
	HOSTILE_REVERTS_MODE = 1 << 7, /* 200, and the mode is Legacy */
	HOSTILE_DROPS_BOOT = 1 << 8,   /* 200, and nothing changed */
	HOSTILE_SYSTEM_FIXED = 1 << 9, /* 405 to changes of the system */
	HOSTILE_NO_NONE = 1 << 10,     /* 400 to target None */
	HOSTILE_CONTINUOUS = 1 << 11,  /* Once reads back as Continuous */
	HOSTILE_NO_SESSIONS = 1 << 12, /* 404 */
	HOSTILE_FULL = 1 << 13,        /* 503 RAC0218 to a new session */
	HOSTILE_FORGETS = 1 << 14,     /* no token is good for more than 3 requests */
	HOSTILE_DENIES_TOKENS = 1 << 15,  /* 401 to its own tokens */
	HOSTILE_NEW_PASSWORD = 1 << 16,   /* 403 PasswordChangeRequired */
	HOSTILE_NO_IDENTITY = 1 << 17,    /* 406 to Accept-Encoding: identity */
	HOSTILE_TASKS = 1 << 18,          /* 202 and a task to what changes something */
	HOSTILE_BAD_TASKS = 1 << 19,      /* which end as Exception */
	HOSTILE_LIES = 1 << 20,           /* 204 to a reset, and nothing happens */
	HOSTILE_LEADS_AWAY = 1 << 21,     /* 302 to another host for the systems */
	HOSTILE_NAMES = 1 << 22,          /* 307 from /Systems/name to the system */
	HOSTILE_DEEP = 1 << 23,           /* the system is nested 100,000 deep */
	HOSTILE_HUGE = 1 << 24,           /* the system does not end */
	HOSTILE_EMPTY_NICS = 1 << 25,     /* "", null and 20 bytes as addresses */
	HOSTILE_NO_ACTION_ETAG = 1 << 26, /* 412 to an action with If-Match */
	HOSTILE_OPEN = 1 << 27,           /* asks nobody who he is */
	HOSTILE_NO_SERVICE = 1 << 28,     /* the root names no sessions; 401 there */
	HOSTILE_LATE_BOOT = 1 << 29,      /* shows a boot change at the third look */
	HOSTILE_NEW_ETAGS = 1 << 30,      /* 412 to all, and another ETag each time */
};

/* How a vendor's tree looks (reference: captures of real ones). */
struct hostile_shape {
	const char *name, *vendor /* NULL = null */, *oem, *product, *firmware;
	const char *system;
	int board;            /* another member without reset and boot */
	const char *settings; /* below the system; NULL = none */
	int only_in_settings; /* the allowed boot targets */
	int action_info;      /* allowed resets are not inline */
	int no_uefi_http;
	const char *etag; /* "", "weak" or "strong" */
	int interfaces;   /* MACs in EthernetInterfaces; 0 = in the cards */
};
extern const struct hostile_shape hostile_shapes[];
const struct hostile_shape *hostile_shape(const char *name);

struct hostile_bmc;
/* tls: listens on https with a new certificate. */
struct hostile_bmc *hostile_create(const struct hostile_shape *shape, int habits,
				   int tls);
void hostile_destroy(struct hostile_bmc *bmc);
const char *hostile_url(const struct hostile_bmc *bmc); /* "http://127.0.0.1:PORT" */
const char *hostile_fingerprint(const struct hostile_bmc *bmc);
void hostile_habits(struct hostile_bmc *bmc, int habits);

/* The next `times` requests of this method whose path ends so are answered with this
 * status, and with a message of this MessageId when it is not NULL. Status 0: the
 * connection is closed without an answer; -1: no answer for long. */
void hostile_plan(struct hostile_bmc *bmc, const char *method, const char *end,
		  int status, const char *message, int times);
/* The same with an answer of one's own. */
struct hostile_answer {
	int status;
	const char *body;    /* JSON with ' for "; NULL = {} */
	const char *headers; /* "Location: /x\nRetry-After: 1"; NULL = none */
};
void hostile_answer(struct hostile_bmc *bmc, const char *method, const char *end,
		    const struct hostile_answer *answer, int times);
/* Each connection serves so many requests; under the next one it is reset. 0: all. */
void hostile_serves(struct hostile_bmc *bmc, int requests);
/* This text is what a GET of the path brings from now on, be it JSON or not. */
void hostile_raw(struct hostile_bmc *bmc, const char *path, const char *text);
/* The resource with a member whose value is this text; owned. */
char *hostile_text(struct hostile_bmc *bmc, const char *path, const char *key,
		   const char *value);
/* Drops what was planned. */
void hostile_unplan(struct hostile_bmc *bmc);
/* Each answer takes so long. */
void hostile_delay(struct hostile_bmc *bmc, int ms);
/* The only system is this copy of it, at this path. */
void hostile_move(struct hostile_bmc *bmc, json_t *system, const char *path);
/* Values of the machine. */
const char *hostile_power(struct hostile_bmc *bmc);
void hostile_set_power(struct hostile_bmc *bmc, const char *state);
/* After each reset so many looks show this instead; lost: of the next one the answer
 * does not come. */
void hostile_course(struct hostile_bmc *bmc, const char *shown, int looks, int lost);
/* An override that lasts stays so until Disabled is written. */
void hostile_sticks(struct hostile_bmc *bmc);
/* "Pxe Once UEFI": what the next start will do. */
char *hostile_boot(struct hostile_bmc *bmc);
void hostile_set(struct hostile_bmc *bmc, const char *path, const char *key,
		 json_t *value);
/* The resource that is there; borrowed. */
json_t *hostile_object(struct hostile_bmc *bmc, const char *path);
/* A resource, with ' for "; instead of the one that is there. */
void hostile_put(struct hostile_bmc *bmc, const char *path, const char *object);
int hostile_sessions(struct hostile_bmc *bmc);  /* open ones */
int hostile_passwords(struct hostile_bmc *bmc); /* how often a wrong one was tried */
/* How many requests so far had this method and a path that ends so; NULL = any. */
int hostile_count(struct hostile_bmc *bmc, const char *method, const char *end);
int hostile_most(struct hostile_bmc *bmc); /* requests at the same time, at most */
int hostile_open(struct hostile_bmc *bmc); /* connections now */
/* The bodies of all requests of this method whose path ends so, a line each; owned. */
char *hostile_bodies(struct hostile_bmc *bmc, const char *method, const char *end);
/* What changes something but sessions, in its order: "POST /x, PATCH /y"; owned. */
char *hostile_changes(struct hostile_bmc *bmc);
/* How many requests begin so: "GET /x/". */
int hostile_under(struct hostile_bmc *bmc, const char *begin);
/* What stood behind this path when it was asked for, "?skip=2"; owned. */
char *hostile_queries(struct hostile_bmc *bmc, const char *end);
/* What their If-Match were: "W/"e1", -": - for none; owned. */
char *hostile_matches(struct hostile_bmc *bmc, const char *method);

#endif
