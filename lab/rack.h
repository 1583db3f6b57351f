/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual rack: one directory that holds everything it has, and one keeper process
 * that everything in it dies with.
 *
 * Node N is called node00N; its addresses follow from N: boot MAC 52:54:00:77:00:NN
 * (hex), fabric MAC 52:54:00:78:00:NN, boot IP 10.77.0.(10+N), fabric
 * IP 10.78.0.(10+N). NIC K of it (boot is 0, fabric 1, then those on br-extra, then the
 * ends of its cables) has the MAC 52:54:00:(77+K):00:NN.
 */
#ifndef BU_LAB_RACK_H
#define BU_LAB_RACK_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/file.h"

#define BU_RACK_DEFAULT_DIR "/var/tmp/bringup-rack"
#define BU_RACK_ADDRESS "10.77.0.1"

/* The directory's length is bound by the unix sockets below it, the nodes by the
 * addresses before 10.77.0.50, where the dynamic range starts. */
enum { BU_RACK_DIR_SIZE = 80, BU_RACK_NODES_MAX = 32, BU_RACK_MEMORY_MIN_MIB = 128 };
enum { BU_RACK_NICS_MIN = 2, BU_RACK_NICS_MAX = 8, BU_RACK_CABLES_MAX = 16 };

struct bu_rack_node {
	int number; /* from 1 */
	int uefi;
	char name[16];
	char serial[16]; /* SMBIOS: LAB-00N */
	char uuid[37];   /* the same for the same rack directory and node */
	char boot_mac[18];
	char fabric_mac[18];
	char boot_tap[8];
	char fabric_tap[8];
	char fabric_from[8]; /* shape what comes from the node */
	char fabric_to[8];   /* and what goes to it, see net.h */
};

/* From a machine to another, past all bridges, which would swallow LACP. */
struct bu_rack_cable {
	int ends[2]; /* numbers of the machines */
};

struct bu_rack {
	char dir[BU_RACK_DIR_SIZE];      /* absolute, without links */
	pid_t keeper_pid;                /* as the host sees it; 0 = none */
	unsigned long long keeper_start; /* of /proc/PID/stat, against reused pids */
	int kvm;
	char accel_reason[200];
	int slurm;
	int memory_mib; /* of each node */
	int fabric_rate_mbit;
	int nics; /* of each node, without cables */
	struct bu_rack_cable cables[BU_RACK_CABLES_MAX];
	size_t cable_count;
	char cache[BU_CACHE_DIR_SIZE]; /* images and ramdisk */
	struct bu_rack_node nodes[BU_RACK_NODES_MAX];
	size_t node_count;
};

/* Sets the directory: `dir`, or BRINGUP_RACK, or the default; made absolute. Its parent
 * must exist. */
bu_must int bu_rack_locate(struct bu_rack *rack, const char *dir, struct bu_err *err);
/* Names and addresses of `count` nodes; bit N of uefi_mask: node N has UEFI firmware.
 */
void bu_rack_fill(struct bu_rack *rack, size_t count, unsigned long uefi_mask);
/* MAC of NIC k of a node, from 0. */
void bu_rack_nic_mac(const struct bu_rack_node *node, int k, char ret_mac[18]);
const struct bu_rack_node *bu_rack_find(const struct bu_rack *rack, const char *name);
/* Path below the directory; owned. */
char *bu_rack_path(const struct bu_rack *rack, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* rack.json and back; the digest of a node's uuid is over directory and name. */
json_t *bu_rack_to_json(const struct bu_rack *rack);
bu_must int bu_rack_from_json(const json_t *json, struct bu_rack *ret_rack,
			      struct bu_err *err);
bu_must int bu_rack_save(const struct bu_rack *rack, struct bu_err *err);
/* BU_ERR_NOTFOUND when there is no rack in rack->dir. */
bu_must int bu_rack_load(struct bu_rack *rack, struct bu_err *err);
/* Sets keeper_pid and keeper_start alone, of a rack of any release; they stay as they
 * are without a rack.json, for then no keeper was ever released. BU_ERR_STATE when it
 * does not tell them. */
bu_must int bu_rack_load_keeper(struct bu_rack *rack, struct bu_err *err);
/* Loads and asks for a keeper that lives; BU_ERR_STATE when it does not. */
bu_must int bu_rack_load_live(struct bu_rack *rack, const char *dir,
			      struct bu_err *err);

/* Adds the last line of RACK/log/NAME.log to the error, for the log goes with a rack
 * that cannot be made; always -1. */
bu_must int bu_rack_add_log_tail(const struct bu_rack *rack, const char *name,
				 struct bu_err *err);

/* Adds "PID STATUS" to RACK/log/ended, for a process of the rack that is not waited
 * for; the status is as a shell has it: 128 and more is a signal. */
bu_must int bu_rack_add_ended(const struct bu_rack *rack, pid_t pid, int status,
			      struct bu_err *err);

/* Makes the directory with its marker; BU_ERR_STATE when there is something. */
bu_must int bu_rack_create_dir(const struct bu_rack *rack, struct bu_err *err);
/* 1 when the directory is a rack of this user: real, owned, marked (or empty). */
int bu_rack_is_ours(const struct bu_rack *rack);

/* Start time (field 22) in the text of a /proc/PID/stat; 0 when there is none. A
 * process that has ended and only waits to be reaped (Z) has none. */
unsigned long long bu_rack_stat_start(const char *stat);
unsigned long long bu_rack_pid_start(pid_t pid);
int bu_rack_keeper_alive(const struct bu_rack *rack);

#endif
