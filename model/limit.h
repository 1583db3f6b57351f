/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits per sender, so that no sender keeps others from being served. This table is
 * the design: listeners, log and documents read it. A meter counts one limit by a key:
 * an address, a machine, a user or a node.
 */
#ifndef BU_MODEL_LIMIT_H
#define BU_MODEL_LIMIT_H

#include <stdint.h>

#include "base/loop.h"
#include "base/mem.h"

/* id, name, most, refill per hour (0 = at its end), unit, counted by, over the limit */
#define BU_LIMITS(X)                                                                    \
	X(CONNECTIONS, "connections", 64, 0, "connections",                             \
	  "address, each listener of nodes", "a further one is closed")                 \
	X(PAGE, "page-connections", 512, 0, "connections",                              \
	  "address, listeners of the page (a proxy may stand before it) and of people", \
	  "a further one is closed")                                                    \
	X(USER, "user-connections", 256, 0, "connections",                              \
	  "user, socket of the command line", "a further one is closed")                \
	X(LISTENER, "listener", 16384, 0, "connections or its share of open files",     \
	  "listener; its share of the files that the daemon may open, if that is less", \
	  "the one that is closest to its deadline is closed for a new one; requests "  \
	  "of machines with a certificate never are")                                   \
	X(OPENING, "opening", 30, 0, "seconds",                                         \
	  "connection, until its handshake and first head are there", "closed")         \
	X(BODY, "body", 30, 0, "seconds", "request, from its head to its last byte",    \
	  "closed")                                                                     \
	X(IDLE, "idle", 120, 0, "seconds",                                              \
	  "connection, from an answer to the next "                                     \
	  "head",                                                                       \
	  "closed")                                                                     \
	X(BODIES, "bodies", 8, 0, "unfinished bodies",                                  \
	  "machine by its certificate, else address", "503 with Retry-After")           \
	X(BODY_BYTES, "body-bytes", 64 << 20, 0, "bytes of unfinished bodies",          \
	  "listener, of senders without a certificate",                                 \
	  "the one that stands still the longest is closed")                            \
	X(WAITING, "waiting", 16, 0, "requests without an answer yet",                  \
	  "machine by its certificate", "503 with Retry-After")                         \
	X(STREAMS, "streams", 128, 0, "streams of events",                              \
	  "user of the command line, else address", "503 with Retry-After")             \
	X(LOGINS, "logins", 20, 240, "requests without a good token",                   \
	  "address, listener of people", "503 with Retry-After")                        \
	X(STRANGERS, "strangers", 256, 3600,                                            \
	  "boot scripts, tokens and unknown machines",                                  \
	  "address, without a certificate", "503 with Retry-After")                     \
	X(HELLOS, "hellos", 30, 1200, "hellos", "machine by its certificate",           \
	  "503 with Retry-After")                                                       \
	X(LOG_BYTES, "log-bytes", 4 << 20, 4096 * 3600, "bytes of the log",             \
	  "machine by its certificate, else address", "503 with Retry-After")           \
	X(INVENTORIES, "inventories", 8, 6, "changes of an inventory", "node",          \
	  "not kept; the node has the condition unsteady-inventory")                    \
	X(UNKNOWN, "unknown", 4, 0, "machines of no node",                              \
	  "MAC on the wire, else address", "the one that was heard first makes room")

enum bu_limit {
#define X(id, name, most, hourly, unit, counted, over) BU_LIMIT_##id,
	BU_LIMITS(X)
#undef X
		BU_LIMIT_COUNT
};

struct bu_limit_info {
	const char *name;
	int64_t most, hourly;
	const char *unit, *counted, *over;
};
const struct bu_limit_info *bu_limit_info(enum bu_limit id);

/* Logs refusals, at most one line a minute. */
struct bu_meter;
struct bu_meter *bu_meter_create(struct bu_loop *loop, enum bu_limit id);
void bu_meter_destroy(struct bu_meter *meter);
/* 0 = within the limit, and counted. Else nothing is counted, the refusal is logged,
 * and the result is the seconds until another try. amount 0 only asks. */
bu_must int bu_meter_take(struct bu_meter *meter, const char *key, int64_t amount);
/* Counts an amount known afterwards, also over the limit. */
void bu_meter_charge(struct bu_meter *meter, const char *key, int64_t amount);
/* Gives back an amount that has ended. */
void bu_meter_give(struct bu_meter *meter, const char *key, int64_t amount);
/* Logs a refusal by a limit that is counted elsewhere. */
void bu_meter_refused(struct bu_meter *meter, const char *key);

#endif
