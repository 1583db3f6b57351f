/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two names for one machine. Called by load_checks.c. Invariant: two nodes never share
 * a MAC, a serial number or a BMC, however it is written: a shared BMC would switch off
 * the wrong machine.
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
	return *key ? bu_xstrdup(key) : lower(uuid);
}

/* "https://BMC1.oob:443/" is "https://bmc1.oob": host and scheme know no case, the rest
 * does. Owned. */
static char *
target(const char *bmc)
{
	struct bu_url url;
	bu_autofree char *head = NULL, *port = NULL;
	char *text;

	if (bu_url_parse(bmc, &url) < 0) /* is a finding already */
		return bu_xstrdup(bmc);
	text = bu_xasprintf("%s%s%s", url.scheme, url.scheme[0] ? "://" : "", url.host);
	head = lower(text);
	free(text);
	if (url.port >= 0 && !(url.port == 443 && strncmp(head, "https:", 6) == 0))
		port = bu_xasprintf(":%d", url.port);
	text = bu_xasprintf("%s%s%s", head, port ? port : "", url.path);
	for (size_t size = strlen(text); size > 0 && text[size - 1] == '/'; size--)
		text[size - 1] = '\0';
	return text;
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

		if (strcmp(one->key, two->key) != 0 || one->node == two->node)
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

void
bu_load_check_machines(struct bu_loader *ld)
{
	struct marks serials = {0}, uuids = {0}, bmcs = {0}, macs = {0};

	for (size_t i = 0; i < ld->desired->nodes_count; i++) {
		struct bu_desired_node *node = &ld->desired->nodes[i];

		if (node->serial)
			add(&serials, node, "serial", node->serial,
			    lower(node->serial));
		if (node->uuid)
			add(&uuids, node, "uuid", node->uuid, uuid_mark(node->uuid));
		if (node->bmc)
			add(&bmcs, node, "bmc", node->bmc, target(node->bmc));
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
