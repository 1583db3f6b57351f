/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake BMC share: hostile.c, hostile_tree.c, hostile_look.c.
 */
#ifndef BU_TESTS_SUPPORT_HOSTILE_IMPL_H
#define BU_TESTS_SUPPORT_HOSTILE_IMPL_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/crypto.h"
#include "tests/support/hostile.h"

enum { REQUESTS_MAX = 2000, PLANS_MAX = 24 };

struct plan {
	char method[8], end[80], message[64];
	int status, times;
	char *body, *headers; /* owned; NULL: an error with the message */
};

struct hostile_bmc {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	const struct hostile_shape *shape;
	int habits;
	json_t *objects; /* path -> object */
	char url[64], fingerprint[BU_DIGEST_SIZE];
	struct plan plans[PLANS_MAX];
	char *requests[REQUESTS_MAX]; /* "GET /redfish/v1/" */
	char *bodies[REQUESTS_MAX], *matches[REQUESTS_MAX];
	char *queries[REQUESTS_MAX]; /* "", or with their "?" */
	int requests_count, now, most, open;
	char token[16]; /* "" = no session */
	int token_uses, sessions, tokens, passwords, task_reads;
	json_t *boot_before; /* shown for so many looks */
	int looks_before;
	int etag, sticks, serves, delay_ms;
	char changed[80]; /* path of the last change */
	char course[16];  /* shown as PowerState after a reset */
	int course_looks, course_lost, looks_left;
};

/* Path -> object; new reference. */
json_t *hostile_tree(const struct hostile_shape *shape, int habits);
int hostile_lasts(const json_t *boot); /* its override is Continuous */
/* A request has come over this connection; MHD_NO when that is reset instead. */
enum MHD_Result hostile_serve(struct hostile_bmc *bmc,
			      struct MHD_Connection *connection);
int hostile_ends(const char *text, const char *end);

#endif
