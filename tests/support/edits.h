/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of 1,000 nodes in eight pools, random edits of it, and its cluster. Texts
 * are owned. */
#ifndef BU_TESTS_SUPPORT_EDITS_H
#define BU_TESTS_SUPPORT_EDITS_H

#include "provisioner/cluster/cluster.h"
#include "provisioner/node/fleet.h"

enum { EDITS_NODES = 1000, EDITS_POOLS = 8 };

char *edits_site(void);  /* site.ini */
char *edits_racks(void); /* racks.csv */
/* One byte is lost, doubled, or becomes another. */
char *edits_typo(unsigned int *seed, const char *text);
/* One key of one section gets a value that it may have. */
char *edits_change(unsigned int *seed, const char *text);

/* What leads to the log when a node enters the cluster of its profile. */
enum { EDITS_JOIN = 3 };
void edits_join(struct bu_event ret[EDITS_JOIN], const char *node);

/* A fake cluster: it knows all nodes of this world, and they are idle. */
extern const struct bu_fleet *edits_world;
struct bu_cluster *edits_open(struct bu_loop *loop, const char *conf,
			      bu_cluster_seen_fn seen, void *arg);
void edits_close(struct bu_cluster *cluster);
void edits_observe(struct bu_cluster *cluster);

#endif
