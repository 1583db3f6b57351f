/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's connection to bringupd: JSON over its unix socket, or over TLS
 * from another machine. */
#ifndef BU_CLI_CLIENT_H
#define BU_CLI_CLIENT_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/options.h"

struct bu_client;

/* socket: of --socket, may be NULL, see bu_reach_init(). Connects with the first
 * request, and again when bringupd was started again. */
struct bu_client *bu_client_create(const char *socket);
/* The appliance of --socket or --context, else of BRINGUP_SOCKET or BRINGUP_CONTEXT,
 * else that of this machine. What is wrong with a context each call says. */
struct bu_client *bu_client_open(const struct bu_options *options);
/* How long an answer may take beside wait_s; 60 s. */
void bu_client_set_answer_ms(struct bu_client *client, int64_t answer_ms);
/* wait_s: how long the daemon may hold its answer back. New reference, always an
 * object; the errors of bu_http_json(), where nobody answers those of
 * bu_reach_explain(). */
json_t *bu_client_get(struct bu_client *client, int wait_s, struct bu_err *err,
		      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Follows a stream of events: fn gets the JSON of each, until it returns other than 0
 * or the daemon ends. */
bu_must int bu_client_follow(struct bu_client *client, const char *path,
			     int (*fn)(json_t *value, void *arg), void *arg,
			     struct bu_err *err);
/* 1 = the context's token is over, and the next call makes it anew. */
int bu_client_is_over(const struct bu_client *client);
json_t *bu_client_post(struct bu_client *client, const char *path, const json_t *body,
		       struct bu_err *err);
/* Short forms of the nodes of a nodeset (NULL = all): {"nodes":[...],"time_ms"}. */
json_t *bu_client_nodes(struct bu_client *client, const char *set, struct bu_err *err);
/* The pairs that were measured in the present boots, {"pairs":[...]}, by pages: the
 * first `most` of those with one of these verdicts ("fail,warn"; NULL = any). */
json_t *bu_client_pairs(struct bu_client *client, const char *verdicts, size_t most,
			struct bu_err *err);
/* GET /v1/nodes/NAME. BU_ERR_INVAL when the name cannot be one. */
json_t *bu_client_node(struct bu_client *client, const char *name, struct bu_err *err);
/* The whole nodes of a listing's "nodes", in an array. New reference. */
json_t *bu_client_whole(struct bu_client *client, const json_t *listing,
			struct bu_err *err);

void bu_cleanup_client(struct bu_client **client);
#define bu_autoclient __attribute__((cleanup(bu_cleanup_client)))

#endif
