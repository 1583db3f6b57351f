/* SPDX-License-Identifier: Apache-2.0 */
/* The router of bringup-power; main.c calls it. */
#ifndef BU_POWER_ROUTER_H
#define BU_POWER_ROUTER_H

#include <jansson.h>

#include "base/err.h"
#include "base/loop.h"

/* A child answers this operation at once, beside any other. */
#define BU_ROUTER_PING "ping"

struct bu_router;
/* Answer to the request with this id: one of reply and err, borrowed. */
typedef void (*bu_router_fn)(json_int_t id, const json_t *reply,
			     const struct bu_err *err, void *arg);
/* Children are this program with "--driver NAME --connection URI" and the words of
 * `more` (at most 8, borrowed; NULL = none). */
struct bu_router *bu_router_create(struct bu_loop *loop, const char *const *more,
				   bu_router_fn fn, void *arg);
/* Ends the children; their open requests get no answer. */
void bu_router_destroy(struct bu_router *router);
/* fn is called once, perhaps before this returns. */
void bu_router_route(struct bu_router *router, const json_t *request);

#endif
