/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the site: nodes, applied revision, rollouts, epoch. The state is a
 * function of the log; bu_fleet_replay() is that function, and the only writer.
 */
#ifndef BU_NODE_FLEET_H
#define BU_NODE_FLEET_H

#include <stddef.h>

#include "base/loop.h"
#include "fabric/judge/fabcert.h"
#include "model/event_body.h"
#include "model/metric.h"
#include "profiles/desired.h"
#include "provisioner/node/consents.h"
#include "provisioner/node/measurements.h"
#include "provisioner/node/node.h"
#include "provisioner/node/scales.h"
#include "provisioner/node/tokens.h"
#include "provisioner/store/store.h"

/* id, name */
#define BU_ROLLOUT_STATES(X)                                                           \
	X(RUNNING, "running") /* gives turns */                                        \
	X(PAUSED, "paused")   /* by a person: no new turns */                          \
	X(STOPPED, "stopped") /* failure budget spent: no new turns */                 \
	X(ABORTED, "aborted") /* by a person: orders not begun are withdrawn */        \
	X(DONE, "done")       /* no order is open */

enum bu_rollout_state {
#define X(id, name) BU_ROLLOUT_##id,
	BU_ROLLOUT_STATES(X)
#undef X
};
const char *bu_rollout_state_name(enum bu_rollout_state state);

enum { BU_ROLLOUTS_MAX = 32, BU_PAST_MAX = 512 };

/* One applied plan. The orders are in struct bu_node. */
struct bu_rollout {
	char id[40];
	json_t *body; /* of its event; `applied` borrows texts from the body */
	struct bu_body_applied applied;
	enum bu_rollout_state state;
	struct bu_reason reason;            /* of the state */
	int64_t started_ms, ended_ms;       /* Unix time; ended 0 = an order is open */
	int64_t resumed_seq;                /* failures before this do not count */
	int total, done, failed, withdrawn; /* orders */
};

/* The duration of an order that was carried out, for the next plan. */
struct bu_run {
	char pool[BU_NAME_MAX];
	enum bu_class class;
	int64_t took_ms;
};

/* A revision of begun orders or of systems in memory (revisions.c). */
struct bu_revision {
	struct bu_revision *next;
	char digest[65];
	int orders;                 /* users: begun open orders, systems in memory */
	struct bu_desired *desired; /* NULL = not loaded, or the applied one */
	struct bu_err unread;       /* error of loading; kind NONE = none so far */
};

/* Time that bringup was at work, by the log (life.c). */
struct bu_life {
	int64_t seq;       /* first row of the present life; 0 = empty log */
	int64_t base_ms;   /* length of all earlier lives */
	int64_t alive_ms;  /* base_ms, and the present life until the last row */
	int64_t lasted_ms; /* length of the life before this process */
	int64_t row_seq;   /* the last replayed row */
	int64_t row_ms;    /* Unix time of the last row */
};

struct bu_epoch {
	int64_t epoch;
	int64_t seq;     /* of its row */
	int64_t time_ms; /* of its row, Unix time */
};

struct bu_fleet {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_follower *follower; /* of the log; NULL = not loaded */
	int64_t epoch;
	/* All epochs of the log, oldest first. The present one is the last. */
	struct bu_epoch *epochs;
	size_t epochs_count, epochs_cap;
	int64_t epoch_heard; /* the greatest of a later log; 0 = none */
	/* Grows with every change, of memory-only facts too. Begins with the Unix time
	 * of the process in microseconds, so that no two processes share one. */
	int64_t version;
	int64_t renewed;    /* the version since which each node is the same node */
	int64_t started_ms; /* monotonic: the start of this process */
	/* Last row before this life; 0 = none. Steps of rows up to it may have been
	 * done, by another process or before the log could not be written. */
	int64_t loaded_seq;
	int outages; /* times that the log could not be written */
	int loading; /* the log is being read */
	struct bu_life life;
	const char *public_pem;     /* key of our signatures; borrowed */
	char revision[65];          /* applied; "" = none */
	char commit[65];            /* of the applied revision; "" = not from git */
	struct bu_desired *desired; /* of the applied revision; NULL = none */
	struct bu_revision *revisions;
	/* Why the applied revision cannot be read: a newer bringupd is stricter. No
	 * node is moved until a corrected revision is applied. "" = readable. */
	char trouble[400];
	/* The revision before the unreadable one. Names and addresses stay those that
	 * the machines have. */
	struct bu_desired *last;
	int unread; /* the log has such a revision: its rows may name unknown nodes */
	struct bu_node **nodes; /* sorted by name */
	size_t count;
	size_t cap;
	json_t *machines; /* id of a bound machine -> its node's name */
	/* Machines that nodes gave up, and fingerprints of agents' certificates that
	 * are no longer valid -> the node's name; for anchors of the log. */
	json_t *revoked;
	/* The list of the newest anchor of another log. */
	struct {
		json_t *revoked; /* as above; NULL = none was shown */
		int64_t epoch, seq;
	} learned;
	int64_t revoked_version; /* grows with each change of the list */
	json_t *told; /* index of serial numbers, UUIDs and MACs (identity_index.c) */
	struct bu_rollout rollouts[BU_ROLLOUTS_MAX]; /* oldest first */
	size_t rollouts_count;
	struct bu_run runs[BU_PAST_MAX];                    /* a ring */
	size_t runs_count;                                  /* ever */
	struct bu_condition conditions[BU_CONDITION_COUNT]; /* of the site */
	struct {                                            /* the last backup */
		int64_t at_ms;    /* Unix time; 0 = none was made */
		int64_t since_ms; /* the profile has a place for them; 0 = it has not */
		int64_t bytes;
		char to[512];
	} backup;
	struct {                  /* the start of all machines (starting.h) */
		int64_t seq;      /* of the row that began it; 0 = none is open */
		int64_t since_ms; /* Unix time of that row */
		int64_t tier;     /* [pool] start of those whose turn it is */
		char by[BU_HOLD_BY_SIZE];
	} start;
	/* Machines without a node, by id; in memory only (api/discover.c). */
	json_t *unknown;
	struct bu_issued *issued; /* secrets of clusters (issued.h) */
	struct bu_tokens tokens;  /* of people and their programs */
	struct bu_scales scales;  /* of pools */
	struct bu_consents consents;
	json_t *delivered; /* name of a webhook -> the last row that it has taken */
	json_t *brakes;    /* set brakes: scope -> body of the event, with since_ms */
	struct bu_measurements measurements;
	/* Durations of states that nodes left, since the log began. */
	struct bu_histogram took[BU_STATE_COUNT];
	struct bu_fleet_watcher *watchers; /* in the order in which they came */
};

/* node: NULL = the site changed. */
typedef void (*bu_fleet_watch_fn)(struct bu_fleet *fleet, struct bu_node *node,
				  void *arg);

struct bu_fleet *bu_fleet_create(struct bu_loop *loop, struct bu_store *store);
void bu_fleet_destroy(struct bu_fleet *fleet);
struct bu_node *bu_fleet_node(const struct bu_fleet *fleet, const char *name);
/* The node bound to this machine; NULL = none. */
struct bu_node *bu_fleet_node_of(const struct bu_fleet *fleet, const char *machine);
/* The node in the applied revision; NULL = not in the profile. */
const struct bu_desired_node *bu_fleet_desired(const struct bu_fleet *fleet,
					       const struct bu_node *node);
/*
 * The revision and node that a node's steps work towards. From the turn of the order to
 * its end the revision is the order's, else the applied one. Borrowed until the next
 * event. BU_ERR_NOTFOUND = that revision has no such node; other errors = the revision,
 * which the error names, cannot be read.
 */
struct bu_target {
	const struct bu_desired *desired;
	const struct bu_desired_node *node; /* of desired */
};
bu_must int bu_fleet_target(struct bu_fleet *fleet, const struct bu_node *node,
			    struct bu_target *ret, struct bu_err *err);
/* The node of bu_fleet_target(); NULL = error. */
const struct bu_desired_node *bu_fleet_ordered(struct bu_fleet *fleet,
					       const struct bu_node *node);
/* The image of the installed system: by installed_revision for a system in memory, by
 * the applied revision for others. NULL = no image of the name. Borrowed until the next
 * event. */
const struct bu_desired_image *bu_fleet_installed_image(struct bu_fleet *fleet,
							const struct bu_node *node);
/* Readable revisions: the applied one, then those in fleet->revisions; NULL = end. */
const struct bu_desired *bu_fleet_state(struct bu_fleet *fleet, size_t index);
/* reach.c. BMC and identity of the node's machine: by the applied revision, also while
 * an order is carried out by another. By the order's revision where the applied one has
 * no such node, or means another machine than the bound one. NULL = neither has the
 * node. Borrowed until the next event. */
const struct bu_desired_node *bu_fleet_reach(struct bu_fleet *fleet,
					     const struct bu_node *node);
/* The node whose machine has this MAC, by its reach; NULL = none. */
struct bu_node *bu_fleet_node_by_mac(struct bu_fleet *fleet, const char *mac);
/* NULL = no rollout has this id. */
struct bu_rollout *bu_fleet_rollout(struct bu_fleet *fleet, const char *id);
/* Median minutes, from turn to end, of the last orders of this class in this pool.
 * Installs, reimages and wipes stand in for each other. -1 = none was carried out. */
double bu_fleet_minutes(const struct bu_fleet *fleet, const char *pool,
			enum bu_class class);
/* Calls fn after each change, until the watch with this fn and arg ends. Neither is
 * called from within fn. */
void bu_fleet_watch(struct bu_fleet *fleet, bu_fleet_watch_fn fn, void *arg);
void bu_fleet_unwatch(struct bu_fleet *fleet, bu_fleet_watch_fn fn, void *arg);
/* Notes a change of a memory-only fact: version grows, watchers are told. node may be
 * NULL. */
void bu_fleet_touch(struct bu_fleet *fleet, struct bu_node *node);
/* The node shows something else from the next version on; a bu_fleet_touch() follows,
 * of this node or of another one. */
void bu_fleet_mark(const struct bu_fleet *fleet, struct bu_node *node);

/* Applies one event of the log. BU_ERR_INVAL = the event makes no sense; nothing
 * changes. Reads blobs (revisions, inventories) from the store. */
bu_must int bu_fleet_replay(struct bu_fleet *fleet, const struct bu_event *event,
			    struct bu_err *err);
/* Replays the whole log, and from then on each new row. */
bu_must int bu_fleet_load(struct bu_fleet *fleet, struct bu_err *err);

/* The node's inventory; NULL = none. New reference. */
json_t *bu_fleet_inventory(const struct bu_fleet *fleet, const struct bu_node *node);
/* The disk of the inventory that a selector chooses (profiles/load/disk.h). -1 = no
 * disk, or more than one. */
int bu_fleet_disk(const struct bu_fleet *fleet, const struct bu_node *node,
		  const char *wanted, struct bu_seen_disk *ret);
/* The same for an inventory at hand. */
int bu_fleet_disk_in(const json_t *inventory, const char *wanted,
		     struct bu_seen_disk *ret);
/* All disks of the node's inventory. own: after bu_disks_own(), else as reported.
 * Owned; NULL = none. */
struct bu_disk *bu_fleet_disks(const struct bu_fleet *fleet, const struct bu_node *node,
			       int own, size_t *ret_count);
void bu_fleet_tell_disk(const struct bu_disk *disk, const char *wanted,
			struct bu_seen_disk *ret);
/* The second disk of a mirrored system (bu_desired_mirror()), other than the class's
 * first: {"path","serial","wwn","size_bytes","holds","written"}. NULL = the inventory
 * has none, or leaves a choice. New reference. */
json_t *bu_fleet_mirror(const struct bu_fleet *fleet, const struct bu_node *node,
			const struct bu_desired_hardware *class, const char *wanted);
/* The disks of the scratch array (bu_desired_scratch()), other than the system's: a
 * list of the same, sorted by path. Empty = the inventory has none, or the system's
 * disks are not known. New reference. */
json_t *bu_fleet_scratch(const struct bu_fleet *fleet, const struct bu_node *node,
			 const struct bu_desired_hardware *class, const char *wanted);
/* The hardware to which a full certificate is bound: {"machine": id, "<rdma device>":
 * GUID, ...}. New reference. */
json_t *bu_fleet_hardware(const struct bu_fleet *fleet, const struct bu_node *node);
/* The text of the node's last certificate of this kind; owned. NULL: BU_ERR_STATE = it
 * has none; other errors = it cannot be read. */
char *bu_fleet_certificate(const struct bu_fleet *fleet, const struct bu_node *node,
			   enum bu_fabcert_kind kind, struct bu_err *err);
/* 0 = the node has a full certificate of its present hardware and a boot certificate of
 * its present boot, both signed by us and of every rail of the pool. Else err names the
 * missing part. Verified once per certificate, hardware, boot and rails. */
bu_must int bu_fleet_certified(const struct bu_fleet *fleet, struct bu_node *node,
			       struct bu_err *err);
/* Keeps the verification of a full and a boot certificate of all rails that this
 * process has just signed. Their events are on their way to the log. */
void bu_fleet_signed(const struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_event events[2]);
/* 1 = the full certificate is of the present hardware, and covers all rails. */
int bu_fleet_is_full(const struct bu_fleet *fleet, struct bu_node *node);
/* 1 = both certificates are of this machine and boot, whatever rails they cover: a rail
 * that is new in the pool does not put a node out of its cluster. */
int bu_fleet_may_stay(const struct bu_fleet *fleet, struct bu_node *node);
/* Rails that both certificates cover, as bits by place in the pool's rails. */
uint64_t bu_fleet_proven_rails(const struct bu_fleet *fleet, struct bu_node *node);
/* Place of this rail in the node's pool; -1 = not in the pool. */
int bu_fleet_rail_place(const struct bu_fleet *fleet, const struct bu_node *node,
			const char *rail);

#endif
