/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: process 1 of the rack's process namespace. It owns the rack's namespaces
 * and services; when it ends, however it ends, the kernel kills everything in the rack
 * and takes the network away.
 *
 * It is made with a lifeline, a socket to its maker. When the maker goes before it has
 * said "detach", the keeper removes the rack's directory and ends.
 */
#ifndef BU_LAB_KEEPER_H
#define BU_LAB_KEEPER_H

#include <jansson.h>

#include "lab/rack.h"

/* Makes the keeper, which waits for bu_keeper_go(); sets keeper_pid and keeper_start.
 * *ret_lifeline: to be closed by the caller (the rack dies with it until detached). */
bu_must int bu_keeper_spawn(struct bu_rack *rack, int *ret_lifeline,
			    struct bu_err *err);
/* Lets it make mounts, networks and services; returns when they are ready. */
bu_must int bu_keeper_go(const struct bu_rack *rack, int lifeline, struct bu_err *err);
/* The rack now outlives its maker. */
bu_must int bu_keeper_detach(int lifeline, struct bu_err *err);

/* One request to the keeper that runs; *ret_reply (may be NULL) is a new reference.
 *	{"op": "status"}                     → {"libvirtd": true, ...}
 *	{"op": "clean"}                      → ends what was left running, fresh Slurm
 *	{"op": "rate", "node": N, "mbit": M} → both directions of a fabric link */
bu_must int bu_keeper_ask(const struct bu_rack *rack, const json_t *request,
			  json_t **ret_reply, struct bu_err *err);
/* Ends it and waits until every process of the rack is gone. No error when it is dead.
 */
bu_must int bu_keeper_end(const struct bu_rack *rack, struct bu_err *err);

#endif
