/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of agents on their nodes: their way into the log, and which of them are
 * drift. Called by the API with each hello, by observe.c for the condition, and by
 * views. Invariants: a report alone decides nothing; root on a machine cannot fill the
 * log, whatever it tells and how often.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/applied.h"
#include "model/sentence.h"
#include "model/shown_node.h"
#include "profiles/export/facets.h"
#include "provisioner/node/drifted.h"
#include "provisioner/node/found.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"

enum { ROWS_MAX = 8, ROWS_MS = 3600 * 1000 };

/* --- into the log --- */

/* Makes the body of the row; empty for an agent that tells nothing, or nothing valid.
 * Texts are borrowed from runs. */
static void
body_of(const struct bu_node *node, const json_t *runs, struct bu_body_runs *ret)
{
	struct bu_runs told;
	struct bu_err err = {0};

	memset(ret, 0, sizeof(*ret));
	if (!runs)
		return;
	if (bu_record_from_json(bu_runs_fields, runs, &told, &err) != 0) {
		bu_warn("agents", "what runs on %s: %s", node->name, err.text);
		return;
	}
	*ret = (struct bu_body_runs){
		.kernel = told.kernel,
		.cmdline = told.cmdline,
		.called = told.node,
		.step = told.step,
		.facets = told.facets,
		.kargs = told.kargs,
		.loader = told.loader,
		.booted = told.booted,
		.differs = told.differs_count ? json_object_get(runs, "differs") : NULL,
		.more = told.more,
	};
}

static int
is_new(const struct bu_node *node, const struct bu_body_runs *body)
{
	char digest[65];

	if (!body->kernel)
		return node->found->row[0] != '\0';
	bu_found_digest(body, digest);
	return strcmp(digest, node->found->row) != 0;
}

void
bu_drifted_tell(struct bu_reconcile *rec, struct bu_node *node, const json_t *runs)
{
	json_decref(node->live.finds.runs);
	node->live.finds.runs = json_incref((json_t *)(uintptr_t)runs);
	node->live.finds.due = 1;
	bu_drifted_look(rec, node);
}

/* ROWS_MAX per ROWS_MS: a person at work on a node causes several. */
static int
may_write(struct bu_reconcile *rec, struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);

	if (!node->live.finds.rows || now_ms - node->live.finds.since_ms >= ROWS_MS) {
		node->live.finds.rows = 0;
		node->live.finds.since_ms = now_ms;
	}
	if (node->live.finds.rows >= ROWS_MAX)
		return 0;
	node->live.finds.rows++;
	return 1;
}

void
bu_drifted_look(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_body_runs body;
	struct bu_event event;

	if (!node->live.finds.due || node->live.appending)
		return;
	body_of(node, node->live.finds.runs, &body);
	if (is_new(node, &body)) {
		if (!may_write(rec, node))
			return;
		bu_event_make(&event, BU_EVENT_RUNS, node->name,
			      &(union bu_body){.runs = body});
		bu_reconcile_append(rec, node, &event, 1);
	}
	node->live.finds.due = 0;
	json_decref(bu_steal(&node->live.finds.runs));
}

/* --- drift --- */

/* Takes said. */
static void
add(json_t *list, const char *what, const char *want, const char *have, json_t *said)
{
	json_array_append_new(
		list, bu_record_to_json(bu_shown_drift_fields,
					&(struct bu_shown_drift){"", "", what, want,
								 have, said}));
	json_decref(said);
}

static void
add_files(const struct bu_runs_found *found, json_t *list)
{
	size_t i;
	json_t *file;

	json_array_foreach (found->differs, i, file) {
		const char *path = bu_json_str(file, "path", "");
		const char *how = bu_json_str(file, "how", "");

		add(list, path, "as written", how,
		    BU_SAID(DRIFT_FILE, BU_ARG("what", path), BU_ARG("have", how)));
	}
	if (found->more)
		add(list, "files", "as written", "changed",
		    BU_SAID(DRIFT_FILES, BU_ARG_NUMBER("count", found->more)));
}

/* Arguments of a boot that has ended do not count. */
static void
add_kargs(const struct bu_node *node, json_t *list)
{
	const struct bu_runs_found *found = node->found;
	const struct {
		const char *what, *has;
	} rows[] = {
		{"kargs", bu_over_is(node) ? NULL : found->booted},
		{"next kargs", found->loader},
	};

	for (size_t i = 0; found->kargs && i < BU_LEN(rows); i++) {
		if (!rows[i].has || strcmp(rows[i].has, found->kargs) == 0)
			continue;
		add(list, rows[i].what, found->kargs, rows[i].has,
		    BU_SAID(DRIFT_KARGS, BU_ARG_NUMBER("next", i),
			    BU_ARG("have", rows[i].has),
			    BU_ARG_NUMBER("no", !*rows[i].has),
			    BU_ARG("want", found->kargs),
			    BU_ARG_NUMBER("unwanted", !*found->kargs)));
	}
}

static json_t *
facets_of(const struct bu_fleet *fleet, const char *digest)
{
	bu_autofree char *text =
		*digest ? bu_store_get_blob(fleet->store, digest, NULL) : NULL;

	return text ? bu_json_parse(text, strlen(text), "facets", NULL) : NULL;
}

static const char *
value_of(const json_t *facets, const char *name)
{
	const char *value = bu_json_str(facets, name, NULL);

	return value ? value : bu_facet_default(name);
}

/* Facets as told by the agent, of the last order done, and of the profile. */
struct orders {
	const json_t *told, *last, *wanted;
	json_t *list;
};

static void
compare_facet(const struct orders *orders, const char *name)
{
	const char *have = value_of(orders->told, name);
	const char *want = value_of(orders->wanted, name);

	if (!bu_found_lies(name) || strcmp(have, want) == 0 ||
	    strcmp(have, value_of(orders->last, name)) == 0)
		return;
	add(orders->list, name, want, have,
	    BU_SAID(DRIFT_FACET, BU_ARG("what", name), BU_ARG("have", have),
		    BU_ARG_NUMBER("no", !*have), BU_ARG("want", want),
		    BU_ARG_NUMBER("unwanted", !*want)));
}

static void
add_facets(const struct bu_fleet *fleet, const struct bu_node *node, json_t *list)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	bu_autojson json_t *told = NULL, *last = NULL, *wanted = NULL, *all = NULL;
	char digest[65] = "";
	const char *name;
	json_t *value;

	if (!node->found->facets[0] || !node->facets[0] ||
	    strcmp(node->found->facets, node->facets) == 0)
		return;
	wanted = want ? bu_facets_json(fleet->desired, want) : NULL;
	if (wanted)
		bu_json_digest(wanted, digest);
	if (strcmp(node->found->facets, digest) == 0)
		return;
	told = facets_of(fleet, node->found->facets);
	last = facets_of(fleet, node->facets);
	if (!told) {
		add(list, "settings", "the profile's", "unknown",
		    BU_SAID_ALONE(DRIFT_UNKNOWN));
		return;
	}
	if (!wanted)
		wanted = json_incref(last);
	all = json_copy(told);
	json_object_update(all, wanted);
	json_object_foreach (all, name, value)
		compare_facet(&(struct orders){told, last, wanted, list}, name);
}

void
bu_drifted_list(const struct bu_fleet *fleet, const struct bu_node *node, json_t *list)
{
	/* Until its order is done, the node need not be what the profile says. */
	if (!node->found->row[0] || (node->order->open && node->order->begun))
		return;
	add_facets(fleet, node, list);
	add_kargs(node, list);
	add_files(node->found, list);
}

json_t *
bu_drifted_said(const struct bu_fleet *fleet, struct bu_node *node)
{
	bu_autojson json_t *list = NULL;
	char of[sizeof(node->live.drift->of)];
	struct bu_drift *drift;
	json_t *first;
	size_t count;

	if (!node->found->row[0])
		return NULL;
	/* Called for every node each second: kept while `of` is the same. */
	snprintf(of, sizeof(of), "%.32s %.64s %.64s %d%d", node->found->row,
		 node->facets, fleet->revision, node->order->open && node->order->begun,
		 bu_over_is(node));
	if (strcmp(of, node->live.drift->of) == 0)
		return node->live.drift->said;
	drift = bu_node_drift(node);
	BU_TEXT_COPY(drift->of, of);
	list = json_array();
	bu_drifted_list(fleet, node, list);
	count = json_array_size(list);
	first = json_incref(json_object_get(json_array_get(list, 0), "said"));
	json_decref(drift->said);
	drift->said = count > 1 ? BU_SAID(DRIFT_MORE, BU_ARG_SAID("first", first),
					  BU_ARG_NUMBER("more", count - 1))
				: first;
	return drift->said;
}
