/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what the machine is made of, from sysfs and procfs. Reads only. */
#ifndef BU_AGENT_INVENTORY_H
#define BU_AGENT_INVENTORY_H

#include "base/err.h"
#include "model/inventory.h"

/* root: the folder that holds proc, sys and dev; "" is the running system. Owned; what
 * cannot be read is empty or 0, a disk that cannot be read has a signature.
 * BU_ERR_NOTFOUND when proc or sys is not mounted there. Blocks for the two MiB that it
 * reads of each disk. */
struct bu_inventory *bu_inventory_collect(const char *root, struct bu_err *err);
/* The same without what a driver of a network card asks its hardware for, which may
 * hang: speeds, states and rates of ports, links. */
struct bu_inventory *bu_inventory_collect_quietly(const char *root, struct bu_err *err);

#endif
