/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of what identifies a machine, and of two names for one machine. Called by
 * load_checks.c. Invariants: two nodes never share a MAC, a serial number or a BMC,
 * however it is written, for a shared BMC would switch off the wrong machine; no node
 * has a placeholder for a serial number or UUID.
 */
#include <ctype.h>
#include <string.h>

#include "base/url.h"
#include "model/machine.h"
#include "profiles/load/load_internal.h"

/* One thing by which a machine is known. */
struct mark {
	char *key; /* owned; as it is compared */
	const char *text;
	const char *of; /* the key of the profile */
	struct bu_desired_node *node;
};

struct marks {
	struct mark *list;
	size_t count, cap;
};

static int
compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : strcmp(x->node->name, y->node->name);
}

static void
add(struct marks *marks, struct bu_desired_node *node, const char *of, const char *text,
    char *key)
{
	marks->list = bu_xgrow(marks->list, &marks->cap, marks->count + 1,
			       sizeof(*marks->list));
	marks->list[marks->count++] = (struct mark){key, text, of, node};
}

static char *
lower(const char *text)
{
	char *copy = bu_xstrdup(text);

	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

/* In any order of its bytes, as firmware and BMC print it. Owned. */
static char *
uuid_mark(const char *uuid)
{
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(uuid, key);
	return bu_xstrdup(key);
}

/* Owned. */
static char *
bmc_mark(const char *bmc)
{
	char *key = bu_url_key(bmc);

	return key ? key : bu_xstrdup(bmc); /* is a finding already */
}

/* "fabric=52:54:00:78:00:01,..." */
static void
add_nics(struct marks *marks, struct bu_desired_node *node)
{
	const char *rest = node->nics;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		const char *mac = strchr(word, '=');

		if (mac)
			add(marks, node, "nics", NULL, lower(mac + 1));
		free(word);
	}
}

static void
said_at(const struct mark *mark, const char **ret_file, int *ret_line)
{
	const struct bu_origin *at = bu_desired_origin(mark->node, mark->of);

	*ret_file = at ? at->file : mark->node->origin.file;
	*ret_line = at ? at->line : mark->node->origin.line;
}

/* A BMC without a path is asked for its only system, which another node may name. */
static int
is_same_mark(const char *one, const char *two)
{
	size_t size = strlen(one);

	return strncmp(one, two, size) == 0 && (!two[size] || two[size] == ' ');
}

/* A finding for each that two nodes have; frees the marks. */
static void
check_marks(struct bu_loader *ld, struct marks *marks)
{
	if (marks->count)
		qsort(marks->list, marks->count, sizeof(*marks->list), compare_marks);
	for (size_t i = 1; i < marks->count; i++) {
		const struct mark *one = &marks->list[i - 1], *two = &marks->list[i];
		const char *file, *other;
		int line, other_line;

		if (!is_same_mark(one->key, two->key) || one->node == two->node)
			continue;
		said_at(two, &file, &line);
		said_at(one, &other, &other_line);
		bu_findings_add(
			ld->findings, BU_FINDING_ERROR, file, line,
			"[node %s] %s: '%s' is that of node '%s' (%s:%d); each machine "
			"has its own",
			two->node->name, two->of, two->text ? two->text : two->key,
			one->node->name, other, other_line);
	}
	for (size_t i = 0; i < marks->count; i++)
		free(marks->list[i].key);
	free(marks->list);
}

static int
compare_macs(const void *a, const void *b)
{
	return strcmp((*(struct bu_desired_node *const *)a)->mac,
		      (*(struct bu_desired_node *const *)b)->mac);
}

static void
sort_by_mac(struct bu_desired *desired)
{
	desired->by_mac = bu_xcalloc(desired->nodes_count, sizeof(*desired->by_mac));
	for (size_t i = 0; i < desired->nodes_count; i++)
		if (desired->nodes[i].mac)
			desired->by_mac[desired->by_mac_count++] = &desired->nodes[i];
	if (desired->by_mac_count)
		qsort(desired->by_mac, desired->by_mac_count, sizeof(*desired->by_mac),
		      compare_macs);
}

/* Takes the placeholder out, as if it were not there: where it stood, and what it was,
 * owned. NULL: it is none. */
static char *
take_placeholder(struct bu_desired_node *node, const char *of, char *text,
		 struct bu_origin *ret_at)
{
	const struct bu_origin *at = bu_desired_origin(node, of);
	char *words;

	if (!text || bu_machine_says(text))
		return NULL;
	*ret_at = at ? *at : node->origin;
	words = bu_xasprintf(
		"%s: '%.80s' is a placeholder, which identifies no machine", of, text);
	bu_load_set_text(node, bu_schema_key("node", of), NULL);
	return words;
}

static int
is_unread(const struct bu_loader *ld, const struct bu_desired_node *node)
{
	return bu_load_is_unread(ld, node, "mac") ||
	       bu_load_is_unread(ld, node, "serial") ||
	       bu_load_is_unread(ld, node, "uuid");
}

/* Spreadsheets have a placeholder in each row: one warning tells of all. */
static void
check_identities(struct bu_loader *ld)
{
	bu_autofree char *first = NULL, *others = NULL;
	struct bu_origin at, first_at = {0};
	size_t count = 0;

	for (size_t i = 0; i < ld->desired->nodes_count; i++) {
		struct bu_desired_node *node = &ld->desired->nodes[i];
		bu_autofree char *uuid =
			take_placeholder(node, "uuid", node->uuid, &at);
		bu_autofree char *serial =
			take_placeholder(node, "serial", node->serial, &at);
		const char *left = serial ? serial : uuid;

		if (!node->mac && !node->serial && !node->uuid && is_unread(ld, node))
			continue;
		if (!node->mac && !node->serial && !node->uuid)
			bu_findings_add(
				ld->findings, BU_FINDING_ERROR,
				left ? at.file : node->origin.file,
				left ? at.line : node->origin.line,
				"[node %s] %s; a machine needs %s", node->name,
				left ? left
				     : "mac: is missing, and serial and uuid too",
				left ? "a MAC, a serial number or a UUID"
				     : "one of them");
		else if (left && ++count == 1) {
			first = bu_xasprintf("[node %s] %s", node->name, left);
			first_at = at;
		}
	}
	if (count > 1)
		others = bu_xasprintf(", as on %zu other node%s", count - 1,
				      count == 2 ? "" : "s");
	if (first)
		bu_findings_add(ld->findings, BU_FINDING_WARNING, first_at.file,
				first_at.line, "%s; left out%s", first,
				others ? others : "");
}

void
bu_load_check_machines(struct bu_loader *ld)
{
	struct marks serials = {0}, uuids = {0}, bmcs = {0}, macs = {0};

	check_identities(ld);
	for (size_t i = 0; i < ld->desired->nodes_count; i++) {
		struct bu_desired_node *node = &ld->desired->nodes[i];

		if (node->serial)
			add(&serials, node, "serial", node->serial,
			    lower(node->serial));
		if (node->uuid)
			add(&uuids, node, "uuid", node->uuid, uuid_mark(node->uuid));
		if (node->bmc)
			add(&bmcs, node, "bmc", node->bmc, bmc_mark(node->bmc));
		if (node->mac)
			add(&macs, node, "mac", node->mac, lower(node->mac));
		add_nics(&macs, node);
	}
	check_marks(ld, &serials);
	check_marks(ld, &uuids);
	check_marks(ld, &bmcs);
	check_marks(ld, &macs);
	sort_by_mac(ld->desired);
}
