/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the log, one after the other, and what each of them changes: all that the log
 * owns of a node and its rollout, and what memory has to forget. Row n is of second n.
 */
#ifndef BU_TESTS_SUPPORT_ROWS_H
#define BU_TESTS_SUPPORT_ROWS_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/profiles.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"

/* body: with ' for "; changed: "name=value" of each field, with a blank before each;
 * what it does not name stays as it was. */
struct row {
	const char *node; /* "" = of the site */
	enum bu_event_kind kind;
	const char *body, *changed;
};

enum { ROWS_START_MS = 1700000 * 1000 };

struct rows {
	struct rig rig;
	struct bu_fleet *fleet;
	const char *of; /* whose changes are told, of a row that is of the site */
	int64_t seq;
	char rev[65], next[65];
};

/* Those of them that say anything, with a slash between them. */
__attribute__((format(printf, 3, 4))) static inline void
put(json_t *view, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_object_set_new(
		view, name,
		json_string(strspn(text, "/0-") == strlen(text) ? "" : text));
}

/* Of a time its second. */
static inline int
at(int64_t ms)
{
	return (int)(ms > ROWS_START_MS / 2 ? (ms - ROWS_START_MS) / 1000 : ms);
}

static inline void
put_json(json_t *view, const char *name, const json_t *value)
{
	bu_autofree char *text = value ? bu_json_canonical(value) : bu_xstrdup("");

	for (char *c = text; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	put(view, name, "%s", text);
}

#define FLAG(of, field) put(view, #field, "%d", (of)->field)
#define TEXT(of, field) put(view, #field, "%s", (of)->field)

static inline void
put_order(json_t *view, const struct bu_order *order)
{
	put(view, "order", "%d/%d/%s", (int)order->seq, (int)order->first_seq,
	    order->rollout);
	put(view, "to", "%s/%s/%s/%s", order->seq ? bu_class_name(order->class) : "",
	    order->image, order->image_digest, order->facets);
	put(view, "revision", "%.4s/%s", order->revision[0] ? "kept" : "",
	    order->commit);
	put(view, "disk", "%s/%s/%d/%s", order->disk, order->disk_serial,
	    (int)order->disk_size_bytes, order->mirror_serial);
	put_json(view, "scratch", order->scratch);
	FLAG(order, batch);
	FLAG(order, open);
	put(view, "begun", "%d/%d", order->begun, at(order->begun_ms));
	FLAG(order, served);
	FLAG(order, failed);
	FLAG(order, withdrawn);
	put(view, "may_reset", "%d", order->reset);
	FLAG(order, replace);
	FLAG(order, written);
	FLAG(order, installed);
	put(view, "fault", "%d", (int)order->fault_seq);
	put(view, "because", "%s", rig_said(&order->reason));
}

static inline void
put_agent(json_t *view, const struct bu_node *node)
{
	const struct bu_agent_fault *fault = node->agent_failed;

	put(view, "admitted", "%s/%s/%d", node->admitted_step, node->admitted_request,
	    at(node->admitted_ms));
	put(view, "cert", "%s/%d", node->agent_cert, (int)node->agent_cert_until_ms);
	put(view, "cert2", "%s/%d", node->agent_cert_next,
	    node->agent_cert_next[0] ? (int)node->agent_cert_next_until_ms : 0);
	put(view, "revoked", "%d", node->agent_revoked);
	for (int i = 0; i < BU_KEPT_CERTS; i++) {
		const struct bu_kept_cert *kept = &node->kept_certs[i];

		put(view, i ? "kept1" : "kept0", "%s/%d/%s/%d/%s", kept->fingerprint,
		    (int)kept->until_ms, kept->next, (int)kept->next_until_ms,
		    kept->step);
	}
	put(view, "agent", "%s/%s/%d/%s/%d", fault->version, fault->digest,
	    (int)fault->result, fault->detail, at(fault->at_ms));
	put(view, "seeded", "%s/%d", node->seeded_step, at(node->seeded_ms));
}

static inline void
put_system(json_t *view, const struct bu_node *node)
{
	const struct bu_other_root *other = node->other;

	put(view, "touched", "%d", node->disk_touched);
	FLAG(node, writing);
	FLAG(node, kexecs);
	FLAG(node, ram);
	FLAG(node, raw);
	put(view, "boot", "%s/%d/%d", node->boot_id, node->boot_installed,
	    at(node->booted_ms));
	put(view, "ours", "%d", node->booted_by_us);
	put(view, "system", "%s/%s/%s", node->installed_image, node->installed_digest,
	    node->installed_step);
	put(view, "loaded_by", "%.4s", node->installed_revision[0] ? "kept" : "");
	put(view, "slot", "%s/%d", node->slot, node->proven);
	put(view, "other", "%s/%s/%s/%s/%s/%d", other->slot, other->image,
	    other->digest, other->step, other->facets, other->proven);
	TEXT(node, facets);
	TEXT(node, commit);
	TEXT(node, called);
	put(view, "machine", "%s/%s/%s/%s", node->machine, node->serial, node->uuid,
	    node->macs ? node->macs : "");
	put(view, "known", "%s/%s/%s/%s/%d", node->known->id, node->known->serial,
	    node->known->uuid, node->known->macs ? node->known->macs : "",
	    node->known->again);
	TEXT(node, inventory);
}

static inline void
put_service(json_t *view, const struct bu_node *node)
{
	static const char *const status[] = {"", "open", "done", "failed"};
	const struct bu_joined *joined = node->joined;
	const struct bu_node_power_request *request = node->power;

	put(view, "step", "%s/%s/%d/%s/%d", node->step.id,
	    node->step.action ? bu_action_name(node->step.action) : "",
	    node->step.attempt, status[node->step.status], (int)node->step.intent_seq);
	put(view, "error", "%s", node->step_error);
	put(view, "joined", "%s/%s/%s/%s", joined->cluster, joined->driver,
	    joined->handle, joined->node);
	put_json(view, "drained", node->drained);
	FLAG(node, serves);
	FLAG(node, entering);
	put_json(view, "checks", node->checks.body);
	put_json(view, "incast", node->incast.body);
	put_json(view, "nvlink", node->nvlink.body);
	put(view, "full_cert", "%s", node->full_cert);
	put(view, "boot_cert", "%s", node->boot_cert);
	FLAG(node, again);
	put(view, "verdicts", "%d/%s", (int)node->verdicts_count,
	    node->verdicts_count ? node->verdicts[0].is.text : "");
	put(view, "lent", "%s/%d", node->lent_to, at(node->lent_ms));
	put(view, "evidence", "%s/%d", node->evidence, node->evidence_is_now);
	put(view, "crash", "%s/%s/%s/%d/%d", node->crash->digest, node->crash->kind,
	    node->crash->boot_id, at(node->crash->at_ms), at(node->crash->seen_ms));
	put(view, "power", "%s/%s/%s/%s/%s/%d/%d",
	    request->op ? bu_power_request_names[request->op] : "", request->by,
	    request->seq ? bu_outcome_names[request->result] : "", request->power,
	    request->detail, (int)request->seq, at(request->at_ms));
	put(view, "woken", "%d/%d/%d", (int)request->woken.seq,
	    at(request->woken.at_ms), request->woken.failed);
	put(view, "held", "%d/%s/%s", (int)node->hold->owner, node->hold->by,
	    rig_said(&node->hold->reason));
}

static inline void
put_conditions(json_t *view, const struct bu_condition *conditions, const char *of)
{
	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition *condition = &conditions[id];
		bu_autofree char *name =
			bu_xasprintf("%s%s", of, bu_condition_info(id)->name);

		put(view, name, "%d/%s/%d", condition->on,
		    rig_sentence(condition->detail), at(condition->since_ms));
	}
}

/* "memory" is what is given up with a state. */
static inline void
put_memory(json_t *view, const struct bu_node_live *live)
{
	put(view, "profile", "%d/%s", live->in_profile, live->pool);
	put(view, "seen", "%s/%s", live->firmware, live->disk->wanted);
	put(view, "late", "%d/%d", (int)live->late_ms, live->let_go);
	put(view, "clock", "%d/%d/%d", (int)live->clock_ms, (int)live->log_clock_ms,
	    live->wait_logged);
	put(view, "checks_errors", "%d", live->checks_errors);
	put(view, "slow", "%d", live->slow_probe);
	put(view, "rails", "%d/%d", (int)live->rails_good, live->leaf_campaign.over);
	put(view, "asked", "%d", (int)live->cluster->at_ms);
	put(view, "effect", "%d", live->effect_running);
	put(view, "started", "%d", live->join_started);
	put(view, "retry", "%d", (int)live->retry_ms);
	put(view, "refusal", "%d", (int)live->refusal->code);
	put(view, "says", "%d", (int)live->wait_reason->code);
	put(view, "memory", "%s/%d/%d", live->cluster_words,
	    (int)live->progress_total_bytes, (int)live->progress_ms);
}
#define ANEW " effect= started= retry= refusal= says= memory="

static inline void
put_node(json_t *view, const struct bu_node *node)
{
	const struct bu_next *next = node->next;

	put(view, "name", "%s", node->name);
	put(view, "state", "%s/%s/%d/%d", bu_state_name(node->state),
	    bu_trigger_name(node->on), (int)node->state_seq, at(node->since_ms));
	put(view, "reason", "%s", rig_said(node->reason));
	put(view, "next", "%s/%s/%d/%d/%s",
	    next->state ? bu_state_name(next->state) : "", next->by, next->again,
	    next->reset, rig_said(&next->reason));
	FLAG(node, reset);
	put(view, "repeats", "%d/%d/%d", node->repeats, node->power_fails,
	    node->outdated);
	put(view, "stages", "%d/%s/%d", node->stages_count,
	    node->stages_count
		    ? bu_state_name(node->stages[node->stages_count - 1].state)
		    : "",
	    node->stages_count ? (int)node->stages[node->stages_count - 1].took_ms : 0);
	put_order(view, node->order);
	put_agent(view, node);
	put_system(view, node);
	put_service(view, node);
	put_conditions(view, node->conditions, "");
	put_memory(view, &node->live);
}

static inline void
put_site(json_t *view, struct bu_fleet *fleet)
{
	put(view, "epoch", "%d", (int)fleet->epoch);
	put(view, "applied", "%s", fleet->commit);
	put(view, "runs", "%d/%d", (int)fleet->runs_count,
	    fleet->runs_count ? (int)fleet->runs[fleet->runs_count - 1].took_ms : 0);
	put_json(view, "brakes", fleet->brakes);
	put(view, "start", "%d/%d/%d/%s", (int)fleet->start.seq,
	    at(fleet->start.since_ms), (int)fleet->start.tier, fleet->start.by);
	put_json(view, "delivered", fleet->delivered);
	put_conditions(view, fleet->conditions, "site.");
	for (size_t i = 0; i < fleet->rollouts_count; i++) {
		const struct bu_rollout *rollout = &fleet->rollouts[i];

		put(view, rollout->id, "%s/%s/%d:%d:%d:%d/%d-%d/%d/%s",
		    rollout->applied.rollout, bu_rollout_state_name(rollout->state),
		    rollout->total, rollout->done, rollout->failed, rollout->withdrawn,
		    at(rollout->started_ms), at(rollout->ended_ms),
		    (int)rollout->resumed_seq, rig_said(&rollout->reason));
	}
}

static inline json_t *
rows_view(struct bu_fleet *fleet, const char *name)
{
	json_t *view = json_object();
	const struct bu_node *node = bu_fleet_node(fleet, name);

	put_site(view, fleet);
	if (node)
		put_node(view, node);
	return view;
}
#undef FLAG
#undef TEXT

/* Whatever a row has to forget, there is something of it. */
static inline void
rows_stir(struct bu_node *node)
{
	struct bu_node_live *live = &node->live;

	live->effect_running = live->join_started = live->retry_ms = 7;
	bu_node_wait_reason(node)->code = bu_node_refusal(node)->code =
		BU_REASON_NO_PARTNER;
	bu_node_set_cluster_words(node, "busy");
	live->progress_total_bytes = 7;
	live->progress_ms = live->late_ms = 7;
	live->let_go = live->checks_errors = live->slow_probe = 7;
	live->rails_good = live->leaf_campaign.over = 7;
	bu_node_cluster(node)->at_ms = 7;
	live->wait_logged = live->clock_ms = live->log_clock_ms = 7;
	bu_node_set_step_error(node, "old");
}

/* The fields that differ, in the order of the view; owned. */
static inline char *
rows_changed(const json_t *before, json_t *after)
{
	char *text = bu_xstrdup("");
	const char *name;
	json_t *value;

	json_object_foreach (after, name, value) {
		const char *old = bu_json_str(before, name, "");

		if (strcmp(old, json_string_value(value)) != 0)
			bu_text_add(&text, "", " %s=%s", name,
				    json_string_value(value));
	}
	return text;
}

/* So many nodes of an applied profile, REV in the rows; none of them has an order. */
static inline void
rows_begin(struct rows *rows, int nodes)
{
	bu_autofree char *body = NULL;
	struct bu_event event = {.kind = BU_EVENT_APPLIED, .seq = 1};

	rig_begin(&rows->rig, nodes);
	rows->fleet = bu_fleet_create(rows->rig.loop, rows->rig.store);
	rows->of = "node001";
	rows->seq = 0;
	BU_TEXT_COPY(rows->rev, rows->rig.fleet->revision);
	body = bu_xasprintf("{'revision':'%s','nodes':0}", rows->rev);
	event.body = row_whole(event.kind, "", quoted(body));
	event.time_ms = ROWS_START_MS;
	ck_assert_int_eq(bu_fleet_replay(rows->fleet, &event, NULL), 0);
	bu_event_fini(&event);
}

/* Another revision, of so many nodes: NEXT in the rows. */
static inline void
rows_next(struct rows *rows, int nodes)
{
	BU_TEXT_COPY(rows->rev, rows->rig.fleet->revision);
	rig_revise(&rows->rig, nodes, NULL, NULL);
	BU_TEXT_COPY(rows->next, rows->rig.fleet->revision);
}

static inline void
rows_end(struct rows *rows)
{
	bu_fleet_destroy(rows->fleet);
	rig_end(&rows->rig);
}

static inline void
fill_in(char **body, const char *word, const char *value)
{
	bu_autofree char *before = strstr(*body, word) ? *body : NULL;

	if (before)
		*body = bu_testing_replace(before, word, value);
}

/* Reads one more; what it changes of the node, owned. */
static inline char *
rows_read(struct rows *rows, const struct row *row)
{
	const char *name = row->node[0] ? row->node : rows->of;
	struct bu_node *node = bu_fleet_node(rows->fleet, name);
	bu_autojson json_t *before = NULL, *after = NULL;
	struct bu_event event = {.kind = row->kind};
	bu_autofree char *body = NULL;
	struct bu_err err = {0};

	event.seq = ++rows->seq;
	event.time_ms = ROWS_START_MS + rows->seq * 1000;
	rows->rig.clock.fake_mono_ms = rows->seq;
	snprintf(event.node, sizeof(event.node), "%s", row->node);
	body = bu_xstrdup(row->body);
	fill_in(&body, "REV", rows->rev);
	fill_in(&body, "NEXT", rows->next);
	event.body = row_whole(event.kind, row->node, quoted(body));
	if (node)
		rows_stir(node);
	before = rows_view(rows->fleet, name);
	ck_assert_msg(bu_fleet_replay(rows->fleet, &event, &err) == 0, "%s", err.text);
	bu_event_fini(&event);
	after = rows_view(rows->fleet, node ? node->name : name);
	return rows_changed(before, after);
}

static inline void
rows_read_all(struct rows *rows, const char *what, const struct row *list, size_t count)
{
	int bad = 0;

	for (size_t i = 0; i < count; i++) {
		bu_autofree char *changed = rows_read(rows, &list[i]);

		if (strcmp(changed, list[i].changed) == 0)
			continue;
		bad++;
		printf("list %s row %zu, %s %s\n\twants:%s\n\tis:   %s\n", what, i + 1,
		       bu_event_name(list[i].kind), list[i].body, list[i].changed,
		       changed);
	}
	fflush(stdout);
	ck_assert_int_eq(bad, 0);
}

#endif
