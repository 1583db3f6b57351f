/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions: facts that change the meaning of a state ("ready, but its cluster does
 * not know it"). This table is the design; docs, views and nodesets loop over it. Only
 * the event `condition` sets and clears conditions.
 */
#ifndef BU_MODEL_CONDITION_H
#define BU_MODEL_CONDITION_H

#include <jansson.h>
#include <stdint.h>

/* id, name, node or site, counts as away, set when, cleared when, words */
#define BU_CONDITIONS(X)                                                               \
	X(UNREACHABLE, "unreachable", NODE, 1,                                         \
	  "ready, and its agent was not heard for 25 s",                               \
	  "its agent is heard, or it is no longer ready", "its agent does not answer") \
	X(NOT_IN_CLUSTER, "not-in-cluster", NODE, 1,                                   \
	  "ready, and the cluster that it joined answers and does not know it, or "    \
	  "says that it is down or does not respond",                                  \
	  "the cluster has it again, or it is no longer ready",                        \
	  "its cluster does not have it")                                              \
	X(CLUSTER_SILENT, "cluster-silent", NODE, 1,                                   \
	  "ready, and the cluster that it joined gave no answer for 25 s",             \
	  "the cluster answers, or it is no longer ready",                             \
	  "its cluster does not answer")                                               \
	X(DRAINED_BY_OTHER, "drained-by-other", NODE, 1,                               \
	  "ready, and drained in its cluster with a reason that is not bringup's",     \
	  "the drain is resumed there, or it is no longer ready",                      \
	  "drained by another")                                                        \
	X(SUSPENDED, "suspended", NODE, 0,                                             \
	  "ready, and its machine was switched off because its cluster saves power",   \
	  "its machine has started again, or does not start when it is woken, or it "  \
	  "is no longer ready",                                                        \
	  "its cluster has its machine switched off until there is work")              \
	X(STAMP_DIFFERS, "stamp-differs", NODE, 1,                                     \
	  "ready, and its agent does not show the stamp of the last install",          \
	  "its agent shows that stamp, or it is no longer ready",                      \
	  "its system is not the one that was installed")                              \
	X(DRIFTED, "drifted", NODE, 0,                                                 \
	  "ready, and its agent tells settings, files or kernel arguments that are "   \
	  "neither those that its last order wrote nor the applied profile's",         \
	  "an order has written them, they are as they were, or it is no longer "      \
	  "ready",                                                                     \
	  "it is not as it was configured")                                            \
	X(HARDWARE_CHANGED, "hardware-changed", NODE, 0,                               \
	  "its machine has a NIC more or less, or another serial number or UUID, "     \
	  "than when it was installed",                                                \
	  "it is as it was, or it is installed again", "its machine is not as it was") \
	X(SHARED_IDENTITY, "shared-identity", NODE, 0,                                 \
	  "the machine of another node reports the same serial number, UUID or MAC",   \
	  "only one of them reports it", "another machine has the same identity")      \
	X(CLAIMED_BY_OTHER, "claimed-by-other", NODE, 0,                               \
	  "a host that cannot be its machine asked for its boot script or showed a "   \
	  "token of it",                                                               \
	  "none did for 15 minutes", "another host claims to be it")                   \
	X(UNSTEADY_INVENTORY, "unsteady-inventory", NODE, 0,                           \
	  "its inventory changes more often than the log keeps (limit inventories)",   \
	  "every change of the last 30 minutes was kept",                              \
	  "its inventory changes all the time")                                        \
	X(BMC_DIFFERS, "bmc-differs", NODE, 0,                                         \
	  "its BMC reports another serial number or UUID than the profile or its "     \
	  "machine, and the rest is the same",                                         \
	  "its BMC, asked before a power action, reports the same",                    \
	  "its BMC reports another identity of the same machine")                      \
	X(CREDENTIAL_COPIED, "credential-copied", NODE, 0,                             \
	  "its agent's certificate is used from two places, or one that was renewed "  \
	  "is shown again from elsewhere",                                             \
	  "its machine is installed again, which gives it another, or forgotten",      \
	  "its credential was copied; bringup node rebuild gives it another")          \
	X(UNADOPTED, "unadopted", NODE, 0,                                             \
	  "a system with a certificate of this site runs on its machine, the log "     \
	  "does not know it, and its stamp is missing, altered, of another node, "     \
	  "revoked or overtaken",                                                      \
	  "it shows a stamp that is adopted, or it is installed",                      \
	  "a system runs on its machine that is not adopted; nothing is done to it "   \
	  "without a grant")                                                           \
	X(NOT_IN_PROFILE, "not-in-profile", NODE, 0,                                   \
	  "the applied profile has no node of its name",                               \
	  "an applied profile has it again", "it is not in the applied profile")       \
	X(BACKUP_LATE, "backup-late", SITE, 0,                                         \
	  "[site] backup is given, and no backup was made in twice backup_every",      \
	  "a backup is made, or [site] backup is given no more",                       \
	  "the last good backup is too old")                                           \
	X(EPOCH_BEHIND, "epoch-behind", SITE, 0,                                       \
	  "an agent shows an anchor of a later log of this site: of a higher epoch, "  \
	  "or of a row that this log does not have",                                   \
	  "a person says `bringup site take-over`",                                    \
	  "another appliance leads this site, and nothing is done; switch one of "     \
	  "them off, and if this one stays, say bringup site take-over")               \
	X(EPOCH_UNCHECKED, "epoch-unchecked", SITE, 0,                                 \
	  "the log was restored from a backup, or was begun with a site's key",        \
	  "60 s after the first agent that knows of no later log, or a person says "   \
	  "`bringup site take-over`",                                                  \
	  "no agent has confirmed yet that this appliance leads; "                     \
	  "nothing is done. If none can answer: bringup site take-over")               \
	X(WEBHOOK_BEHIND, "webhook-behind", SITE, 0,                                   \
	  "the receiver of a webhook has not taken an event for five minutes",         \
	  "each receiver takes events in less time",                                   \
	  "a receiver of webhooks takes no events")                                    \
	X(DISK_FULL, "disk-full", SITE, 0, "the log cannot be written to",             \
	  "the log can be written to", "the appliance's disk is full")

enum bu_condition_id {
#define X(id, name, of, away, set, cleared, words) BU_CONDITION_##id,
	BU_CONDITIONS(X)
#undef X
		BU_CONDITION_COUNT
};

enum bu_condition_of { BU_CONDITION_OF_NODE, BU_CONDITION_OF_SITE };

struct bu_condition_info {
	const char *name;
	enum bu_condition_of of;
	int away; /* a rollout counts such a node as away */
	const char *set, *cleared, *words;
};

/* A condition of a node or of the site. */
struct bu_condition {
	int on;
	int64_t since_ms; /* Unix time */
	json_t *detail;   /* further facts, a text or a reason; NULL = none. Owned */
};

const struct bu_condition_info *bu_condition_info(enum bu_condition_id id);
/* BU_CONDITION_COUNT = unknown name. */
enum bu_condition_id bu_condition_from_name(const char *name);
/* Sets or clears it; time_ms: since when, where it was not on. detail is taken; NULL or
 * "" = none. */
void bu_condition_set(struct bu_condition *condition, int on, int64_t time_ms,
		      json_t *detail);
/* 1 = both are off, or on with the same detail. */
int bu_condition_same(const struct bu_condition *a, const struct bu_condition *b);
/* Name of the first condition that is on and makes the node away; NULL = none. */
const char *bu_conditions_first(
	const struct bu_condition conditions[BU_CONDITION_COUNT]);
/* The conditions that are on: [{"name","since_ms","detail","away"}]. New reference. */
json_t *bu_conditions_to_json(const struct bu_condition conditions[BU_CONDITION_COUNT]);

#endif
