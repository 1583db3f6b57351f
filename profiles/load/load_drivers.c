/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the language has words for, and no driver or other part of this version carries
 * out. Called by load_objects.c for each key that is given. Such a profile can be read;
 * `check` refuses it, and bringupd plans none, so that no node begins what it cannot
 * end, and nobody relies on what is not done. And what depends on the driver where the
 * profile is silent.
 */
#include <string.h>

#include "profiles/language/values.h"
#include "profiles/load/load_internal.h"

enum { POST_MS = 8 * 60 * 1000, DISK_WAIT_MS = 30 * 1000 };

void
bu_load_check_served(struct bu_loader *ld, const struct bu_ini_section *section,
		     const struct bu_key *key, const struct bu_ini_entry *entry)
{
	const char *served = bu_key_served(key);
	bu_autofree char *who =
		bu_xasprintf("[%s%s%s] %s", section->kind, section->name[0] ? " " : "",
			     section->name, key->key);

	if (bu_key_is_served(key, entry->value))
		return;
	if (*served)
		bu_findings_add(ld->findings, BU_FINDING_UNSUPPORTED, entry->file,
				entry->line,
				"%s: no driver of this bringup serves '%s' yet; use %s",
				who, entry->value, served);
	else
		bu_findings_add(
			ld->findings, BU_FINDING_UNSUPPORTED, entry->file, entry->line,
			"%s: nothing in this bringup reads it yet; take it out", who);
}

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
