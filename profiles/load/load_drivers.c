/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that depend on the power driver where the profile is silent.
 */
#include <string.h>

#include "profiles/language/values.h"
#include "profiles/load/load_internal.h"

enum { POST_MS = 8 * 60 * 1000, DISK_WAIT_MS = 30 * 1000 };

/* Servers with much memory and many cards take minutes; a virtual machine seconds,
 * which the deadline of its state has room for. */
int64_t
bu_desired_post_ms(const struct bu_desired_node *node)
{
	if (node->hardware->post_ms)
		return node->hardware->post_ms;
	return strcmp(node->pool->power, "libvirt") == 0 ? 0 : POST_MS;
}

int64_t
bu_desired_disk_wait_ms(const struct bu_desired_node *node)
{
	return node->hardware->disk_wait_ms ? node->hardware->disk_wait_ms
					    : DISK_WAIT_MS;
}
