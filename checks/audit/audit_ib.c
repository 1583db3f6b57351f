/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about InfiniBand, for ports that carry a network; called by
 * audit.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

static const char ib[] = "sys/class/infiniband";

enum { PKEYS_MAX = 256 };

static int64_t
port_number(const struct bu_audit *a, const struct bu_audit_port *port,
	    const char *file)
{
	return bu_sysroot_int(a->root, -1, "%s/%s/ports/%d/%s", ib, port->device,
			      port->port, file);
}

static void
judge_sm(struct bu_audit *a, const struct bu_audit_port *port)
{
	int64_t lid = port_number(a, port, "sm_lid");

	if (!port->infiniband)
		return;
	if (lid > 0 && lid < 0xc000)
		bu_audit_good(a, port->name, "SM at LID %lld", (long long)lid);
	else
		bu_audit_bad(a, port->name, "none", "an active subnet manager",
			     "InfiniBand port %s of network %s has no subnet manager",
			     port->name, bu_audit_network_name(port->network));
}

void
bu_audit_ib_sm(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_sm);
}

static void
judge_lid(struct bu_audit *a, const struct bu_audit_port *port)
{
	int64_t lid = port_number(a, port, "lid");
	char seen[32];

	if (!port->infiniband)
		return;
	snprintf(seen, sizeof(seen), "0x%llx", (long long)(lid < 0 ? 0 : lid));
	bu_audit_judge(a, lid > 0 && lid < 0xc000, port->name, seen, "0x1 to 0xbfff",
		       "InfiniBand port %s of network %s has LID %s", port->name,
		       bu_audit_network_name(port->network), seen);
}

void
bu_audit_ib_lid(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_lid);
}

static void
judge_ib_gid(struct bu_audit *a, const struct bu_audit_port *port)
{
	char gid[48];

	if (!port->infiniband)
		return;
	bu_sysroot_line(a->root, gid, sizeof(gid), "%s/%s/ports/%d/gids/0", ib,
			port->device, port->port);
	if (strlen(gid) == 39 && strncmp(gid, "0000:0000:0000:0000", 19) != 0 &&
	    strcmp(gid + 20, "0000:0000:0000:0000") != 0)
		bu_audit_good(a, port->name, "%s", gid);
	else
		bu_audit_bad(a, port->name, *gid ? gid : "none",
			     "a subnet prefix and a GUID",
			     "InfiniBand port %s of network %s has no valid GID 0 (%s)",
			     port->name, bu_audit_network_name(port->network),
			     *gid ? gid : "none");
}

void
bu_audit_ib_gid(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_ib_gid);
}

/* All keys that are not 0, as "0xffff,0x8001". */
static json_t *
read_pkeys(const struct bu_audit *a, const struct bu_audit_port *port, char *ret_text,
	   size_t size)
{
	json_t *keys = json_object();
	size_t used = 0;

	ret_text[0] = '\0';
	for (int i = 0; i < PKEYS_MAX; i++) {
		int64_t key = bu_sysroot_int(a->root, -1, "%s/%s/ports/%d/pkeys/%d", ib,
					     port->device, port->port, i);
		char text[16];

		if (key < 0)
			break;
		if (key == 0)
			continue;
		snprintf(text, sizeof(text), "0x%04llx", (long long)(key & 0xffff));
		if (used + 8 < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 used ? "," : "", text);
		json_object_set_new(keys, text, json_true());
	}
	return keys;
}

static void
judge_pkeys(struct bu_audit *a, const struct bu_audit_port *port)
{
	const json_t *want = json_object_get(port->network, "pkeys");
	bu_autojson json_t *keys = NULL;
	char seen[160];
	size_t i;
	json_t *key;

	if (!port->infiniband)
		return;
	keys = read_pkeys(a, port, seen, sizeof(seen));
	json_array_foreach (want, i, key) {
		char full[16];

		/* Bit 15: full member; without it two such nodes cannot talk. */
		snprintf(full, sizeof(full), "0x%04llx",
			 strtoll(json_is_string(key) ? json_string_value(key) : "",
				 NULL, 0) |
				 0x8000);
		if (json_object_get(keys, full))
			continue;
		bu_audit_bad(a, port->name, *seen ? seen : "none", full,
			     "InfiniBand port %s of network %s is not a full member of "
			     "partition %s",
			     port->name, bu_audit_network_name(port->network), full);
		return;
	}
	bu_audit_good(a, port->name, "%s", seen);
}

void
bu_audit_ib_pkey(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_pkeys);
}
