/* SPDX-License-Identifier: Apache-2.0 */
/* The router of bringup-power; main.c has what it talks to. */
#ifndef BU_POWER_ROUTER_H
#define BU_POWER_ROUTER_H

#include <jansson.h>

#include "base/err.h"
#include "base/loop.h"

/* The operation that a child answers at once, whatever is under way. */
#define BU_ROUTER_PING "ping"

struct bu_router;
/* The answer to the request with this id: one of reply and err, borrowed. */
typedef void (*bu_router_fn)(json_int_t id, const json_t *reply,
			     const struct bu_err *err, void *arg);
/* Its children are this program, with "--driver NAME --connection URI" and what else
 * stands in more (at most 8 words, borrowed; NULL = nothing). */
struct bu_router *bu_router_create(struct bu_loop *loop, const char *const *more,
				   bu_router_fn fn, void *arg);
/* Ends the children; what they were asked is not answered. */
void bu_router_destroy(struct bu_router *router);
/* fn is called once, perhaps before this returns. */
void bu_router_route(struct bu_router *router, const json_t *request);

#endif
