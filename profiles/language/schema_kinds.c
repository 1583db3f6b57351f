/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the kinds of sections; what they hold is in schema_keys.c. */
#include <assert.h>

#include "profiles/language/schema.h"

static const struct bu_section_kind kinds[] = {
	{"site", NULL, "the tree as a whole; goes into site.ini"},
	{"policy", NULL, "rules for every plan"},
	{"access", NULL, "the CAs that sign the ssh keys of people and of nodes"},
	{"group", "a group", "a group of users, on every node"},
	{"user", "a user", "a person with an account on every node"},
	{"network", "a network", "an IP network that nodes have a NIC in"},
	{"image", "an image", "what a node runs"},
	{"disks", "a set of disks", "what becomes of the disks besides the system's"},
	{"mount", "a mount", "a file system of a server, such as NFS or Lustre"},
	{"hardware", "a hardware class",
	 "what a machine must have, and settings for all machines of the class"},
	{"cluster", "a cluster", "the cluster that nodes join"},
	{"validation", "a validation", "what a node must prove before it joins"},
	{"pool", "a pool", "nodes that share hardware class, image and cluster"},
	{"node", "a node", "what differs for one node of a pool"},
};

static_assert(BU_LEN(kinds) <= BU_SCHEMA_KINDS_MAX, "the table fits");

const struct bu_section_kind *
bu_schema_kinds(size_t *ret_count)
{
	*ret_count = BU_LEN(kinds);
	return kinds;
}
