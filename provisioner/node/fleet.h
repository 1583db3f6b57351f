/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringupd knows: the nodes, the applied revision, the epoch. All of it is a
 * function of the log; bu_fleet_replay() is that function, and the only writer.
 */
#ifndef BU_NODE_FLEET_H
#define BU_NODE_FLEET_H

#include <stddef.h>

#include "base/loop.h"
#include "model/event_body.h"
#include "profiles/desired.h"
#include "provisioner/node/measurements.h"
#include "provisioner/node/node.h"
#include "provisioner/store/store.h"

/* id, name */
#define BU_ROLLOUT_STATES(X)                                                           \
	X(RUNNING, "running") /* gives turns */                                        \
	X(PAUSED, "paused")   /* by a person: no new turns */                          \
	X(STOPPED, "stopped") /* by itself: its failure budget is spent */             \
	X(ABORTED, "aborted") /* by a person: what had not begun is withdrawn */       \
	X(DONE, "done")       /* no order of it is open */

enum bu_rollout_state {
#define X(id, name) BU_ROLLOUT_##id,
	BU_ROLLOUT_STATES(X)
#undef X
};
const char *bu_rollout_state_name(enum bu_rollout_state state);

enum { BU_ROLLOUTS_MAX = 32, BU_PAST_MAX = 512 };

/* One applied plan. Its orders are with the nodes. */
struct bu_rollout {
	char id[40];
	json_t *body; /* of its event; the texts of applied are in it */
	struct bu_body_applied applied;
	enum bu_rollout_state state;
	struct bu_reason reason;            /* of the state */
	int64_t started_ms, ended_ms;       /* Unix time; ended 0 = an order is open */
	int64_t resumed_seq;                /* failures before this are forgiven */
	int total, done, failed, withdrawn; /* orders */
};

/* An order that was carried out: what it took, for the next plan. */
struct bu_run {
	char pool[BU_NAME_MAX];
	enum bu_class class;
	int64_t took_ms;
};

/* A revision that an order has begun by (revisions.c). */
struct bu_revision {
	struct bu_revision *next;
	char digest[65];
	int orders;                 /* begun and open */
	struct bu_desired *desired; /* NULL = not loaded, or it is the applied one */
	struct bu_err unread;       /* why it cannot be; kind NONE = it was not tried */
};

/* How long bringup has been at work, by the log (life.c). */
struct bu_life {
	int64_t seq;       /* row with which the present life began; 0 = empty log */
	int64_t base_ms;   /* all lives before it */
	int64_t alive_ms;  /* and it, until the last row */
	int64_t lasted_ms; /* the life before this process */
	int64_t row_seq;   /* the last row that was replayed */
	int64_t row_ms;    /* its Unix time */
};

struct bu_fleet {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_follower *follower; /* of its log; NULL = not loaded */
	int64_t epoch;
	int64_t version;    /* grows with every change, of memory-only facts too */
	int64_t started_ms; /* when this process took over; monotonic */
	/* Last event before this life: what it began was begun by another process, or
	 * before the log could not be written. 0 = none. */
	int64_t loaded_seq;
	int outages; /* so often the log could not be written */
	int loading; /* the log is being read */
	struct bu_life life;
	const char *public_pem;     /* key of our signatures; borrowed */
	char revision[65];          /* applied; "" = none */
	char commit[65];            /* of the applied revision, when it came from git */
	struct bu_desired *desired; /* of the applied revision; NULL = none */
	struct bu_revision *revisions; /* of the orders that have begun */
	/* Why the applied revision cannot be read (a newer bringupd is stricter): until
	 * a corrected one is applied no node is moved. "" = it can. */
	char trouble[400];
	/* While there is trouble, the one before it: names and addresses stay those
	 * that the machines have. */
	struct bu_desired *last;
	int unread; /* the log has such a revision, with nodes that only it knew */
	struct bu_node **nodes; /* sorted by name */
	size_t count;
	size_t cap;
	json_t *machines; /* id of each bound machine: its node's name */
	json_t *told;     /* what bound machines tell (twins.c) */
	struct bu_rollout rollouts[BU_ROLLOUTS_MAX]; /* oldest first */
	size_t rollouts_count;
	struct bu_run runs[BU_PAST_MAX];                    /* a ring */
	size_t runs_count;                                  /* ever */
	struct bu_condition conditions[BU_CONDITION_COUNT]; /* of the site */
	/* Of memory: machines that no node is, by id (api/discover.c). */
	json_t *unknown;
	json_t *brakes; /* that are on, by scope: body, since_ms */
	struct bu_measurements measurements;
	void (*on_change)(struct bu_fleet *fleet, struct bu_node *node, void *arg);
	void *on_change_arg; /* node is NULL when it is about the site */
};

struct bu_fleet *bu_fleet_create(struct bu_loop *loop, struct bu_store *store);
void bu_fleet_destroy(struct bu_fleet *fleet);
struct bu_node *bu_fleet_node(const struct bu_fleet *fleet, const char *name);
/* The node bound to this machine; NULL when none is. */
struct bu_node *bu_fleet_node_of(const struct bu_fleet *fleet, const char *machine);
/* Desired side of a node in the applied revision; NULL when it has left the profile. */
const struct bu_desired_node *bu_fleet_desired(const struct bu_fleet *fleet,
					       const struct bu_node *node);
/*
 * What its steps make of a node: as the revision of its order says it, from the turn of
 * the order to its end; else as the applied one. Borrowed until the next event.
 * BU_ERR_NOTFOUND when that has no such node; what the log does not give back names the
 * revision.
 */
struct bu_target {
	const struct bu_desired *desired;
	const struct bu_desired_node *node; /* of desired */
};
bu_must int bu_fleet_target(struct bu_fleet *fleet, const struct bu_node *node,
			    struct bu_target *ret, struct bu_err *err);
/* Its node; NULL when there is none. */
const struct bu_desired_node *bu_fleet_ordered(struct bu_fleet *fleet,
					       const struct bu_node *node);
/* What its installed system was made of, as its own revision says it for a system in
 * memory and the applied one for others; NULL when that has none of the name. Borrowed
 * until the next event. */
const struct bu_desired_image *bu_fleet_installed_image(struct bu_fleet *fleet,
							const struct bu_node *node);
/* The states that can be read: the applied one, then those by which orders go or of
 * which systems in memory are; NULL = no more. */
const struct bu_desired *bu_fleet_state(struct bu_fleet *fleet, size_t index);
/* reach.c. How its machine is reached and known: as the applied revision says it, also
 * while its order is carried out by another one. Where that has no such node, or means
 * another machine than the bound one, as the revision of its order says it. NULL when
 * neither has it. Borrowed until the next event. */
const struct bu_desired_node *bu_fleet_reach(struct bu_fleet *fleet,
					     const struct bu_node *node);
/* The node whose machine has this MAC, by its reach; NULL when none has. */
struct bu_node *bu_fleet_node_by_mac(struct bu_fleet *fleet, const char *mac);
/* NULL when there is none of this id. */
struct bu_rollout *bu_fleet_rollout(struct bu_fleet *fleet, const char *id);
/* Median of what the last orders of this class took in this pool, first turn to end;
 * installs, reimages and wipes stand in for each other. -1 = none was carried out. */
double bu_fleet_minutes(const struct bu_fleet *fleet, const char *pool,
			enum bu_class class);
/* A memory-only fact changed: version grows, watchers are told. node may be NULL. */
void bu_fleet_touch(struct bu_fleet *fleet, struct bu_node *node);

/* Applies one event of the log. An event that makes no sense is BU_ERR_INVAL and
 * changes nothing. Needs the store for blobs (revisions, inventories). */
bu_must int bu_fleet_replay(struct bu_fleet *fleet, const struct bu_event *event,
			    struct bu_err *err);
/* Replays the whole log, and from then on each row that comes into it. */
bu_must int bu_fleet_load(struct bu_fleet *fleet, struct bu_err *err);

/* Its inventory, NULL when there is none. New reference. */
json_t *bu_fleet_inventory(const struct bu_fleet *fleet, const struct bu_node *node);
/* The disk that a profile wants (profiles/load/disk.h), by the inventory; 0, or -1 when
 * none or more than one is it. */
int bu_fleet_disk(const struct bu_fleet *fleet, const struct bu_node *node,
		  const char *wanted, struct bu_seen_disk *ret);
/* The same of an inventory at hand. */
int bu_fleet_disk_in(const json_t *inventory, const char *wanted,
		     struct bu_seen_disk *ret);
/* All of its inventory of now, as bu_disks_own() leaves them, or as they came. Owned;
 * NULL = it has none. */
struct bu_disk *bu_fleet_disks(const struct bu_fleet *fleet, const struct bu_node *node,
			       int own, size_t *ret_count);
void bu_fleet_tell_disk(const struct bu_disk *disk, const char *wanted,
			struct bu_seen_disk *ret);
/* The second disk of a mirrored system (bu_desired_mirror()), by its class the first
 * not among them: {"path","serial","wwn","size_bytes","holds","written"}. NULL where
 * the inventory has none or leaves a choice. New reference. */
json_t *bu_fleet_mirror(const struct bu_fleet *fleet, const struct bu_node *node,
			const struct bu_desired_hardware *class, const char *wanted);
/* The disks that an array is made of (bu_desired_scratch()), by its class those of the
 * system not among them: the same of each, by their paths. Empty where the inventory
 * has none or the system's are not known. New reference. */
json_t *bu_fleet_scratch(const struct bu_fleet *fleet, const struct bu_node *node,
			 const struct bu_desired_hardware *class, const char *wanted);
/* What a full certificate is bound to: {"machine": id, "<rdma device>": GUID, ...}. */
json_t *bu_fleet_hardware(const struct bu_fleet *fleet, const struct bu_node *node);
/* 0 when the node holds a full certificate for its present hardware and a boot one for
 * its present boot, both signed by us and of every rail that the profile gives it; else
 * err says what is missing. A yes is kept until an event about the node comes. */
bu_must int bu_fleet_certified(const struct bu_fleet *fleet, struct bu_node *node,
			       struct bu_err *err);
/* The gate has signed a full and a boot certificate of all its rails, whose events are
 * on their way to the log: what this process itself wrote of the node as it is needs no
 * second look when they are there. */
void bu_fleet_signed(const struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_event events[2]);
/* Its full certificate is of its present hardware, and covers all its rails. */
int bu_fleet_is_full(const struct bu_fleet *fleet, struct bu_node *node);
/* It was let into its cluster in this boot, and a rail that its pool was given since
 * does not put it out: its certificates are good for all that it had then. */
int bu_fleet_may_stay(const struct bu_fleet *fleet, struct bu_node *node);
/* Bits of the rails, by place in its pool's, that both certificates cover, whatever
 * they say of the others. */
uint64_t bu_fleet_proven_rails(const struct bu_fleet *fleet, struct bu_node *node);
/* Place of this rail among those of the node's pool; -1 = it is none of them. */
int bu_fleet_rail_place(const struct bu_fleet *fleet, const struct bu_node *node,
			const char *rail);

#endif
