/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of agents; called by api/agents.c with each poll of a node. Invariants: agents
 * tell which agent a node runs. The log has the failure of an agent, and while that
 * counts no node gets this agent.
 */
#include "provisioner/rollout/travel.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "images/manifest.h"
#include "images/store.h"
#include "model/sentence.h"

/* TURN_MS: a turn costs a pass over all nodes, and each node asks for one. */
enum { LOOK_MS = 2000, LENT_MS = 60 * 1000, TURN_MS = 200, AGAIN_MS = 60 * 1000 };

struct bu_travels {
	struct bu_travels_opts opts;
	struct bu_bundle bundle;
	char *key; /* NULL = none is served */
	struct bu_err fault;
	struct stat seen;
	int64_t looked_ms; /* monotonic; 0 = never */
	int64_t turned_ms; /* likewise */
};

/* --- the served bundle --- */

static int
load(struct bu_travels *travels, struct bu_err *err)
{
	const struct bu_travels_opts *opts = &travels->opts;
	bu_autofree char *list = bu_xasprintf("%s/bundle.json", opts->dir);
	bu_autofree char *sigs = bu_xasprintf("%s/bundle.sig", opts->dir);
	size_t size = 0;
	bu_autofree char *text = bu_file_read(list, BU_BUNDLE_LIST_MAX, &size, err);
	bu_autofree char *sig = text ? bu_file_read(sigs, 4096, NULL, err) : NULL;
	bu_autofree char *key = sig ? bu_image_keys_read(opts->key, err) : NULL;

	if (!key || bu_manifest_verify(text, size, sig, key, err) != 0 ||
	    bu_bundle_parse(text, size, &travels->bundle, err) != 0)
		return -1;
	if (strcmp(travels->bundle.version, opts->version) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the boot ramdisk has agent %s, this is bringup %s; "
				  "build it: bringup image build ramdisk",
				  travels->bundle.version, opts->version);
	travels->key = bu_steal(&key);
	return 0;
}

static int
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int
is_as_seen(struct bu_travels *travels)
{
	bu_autofree char *list = bu_xasprintf("%s/bundle.json", travels->opts.dir);
	struct stat now = {0};
	const struct stat *was = &travels->seen;
	int same;

	bu_ignore(stat(list, &now));
	same = now.st_ino == was->st_ino && now.st_size == was->st_size &&
	       same_time(&now.st_mtim, &was->st_mtim) &&
	       same_time(&now.st_ctim, &was->st_ctim);
	travels->seen = now;
	return same;
}

static void
look(struct bu_travels *travels)
{
	int first = !travels->looked_ms;

	travels->looked_ms = bu_loop_now_ms(travels->opts.fleet->loop);
	if (is_as_seen(travels) && !first)
		return;
	bu_bundle_fini(&travels->bundle);
	free(travels->key);
	travels->key = NULL;
	memset(&travels->fault, 0, sizeof(travels->fault));
	if (load(travels, &travels->fault) != 0)
		bu_warn("agents", "no agent travels: %s", travels->fault.text);
	else
		bu_info("agents", "agent %s (%.12s) travels", travels->bundle.version,
			travels->bundle.digest);
}

static void
refresh(struct bu_travels *travels)
{
	int64_t now_ms = bu_loop_now_ms(travels->opts.fleet->loop);

	if (!travels->looked_ms || now_ms - travels->looked_ms >= LOOK_MS)
		look(travels);
}

void
bu_travels_offer(struct bu_travels *travels, struct bu_offer *ret)
{
	refresh(travels);
	*ret = (struct bu_offer){travels->key ? &travels->bundle : NULL, travels->key,
				 travels->fault.text};
}

struct bu_travels *
bu_travels_create(const struct bu_travels_opts *opts)
{
	struct bu_travels *travels = bu_xcalloc(1, sizeof(*travels));

	travels->opts = *opts;
	return travels;
}

void
bu_travels_destroy(struct bu_travels *travels)
{
	if (!travels)
		return;
	bu_bundle_fini(&travels->bundle);
	free(travels->key);
	free(travels);
}

/* --- events of agents --- */

static void
note(struct bu_travels *travels, const struct bu_node *node,
     const struct bu_agent_failed *what, const char *detail)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_AGENT, node->name, agent,
		      .version = what->version, .digest = what->digest,
		      .result = what->why, .detail = detail);
	bu_reconcile_note(travels->opts.rec, &event, 1);
}

static int64_t
wall_ms(const struct bu_travels *travels)
{
	return bu_wall_ms(bu_loop_clock(travels->opts.fleet->loop));
}

/* Does the node's failure of this agent still count? */
static int
counts(const struct bu_travels *travels, const struct bu_node *node, const char *digest)
{
	return node->agent_failed->at_ms &&
	       !strcmp(node->agent_failed->digest, digest) &&
	       wall_ms(travels) - node->agent_failed->at_ms < BU_TRAVELS_STOP_MS;
}

static const struct bu_node *
stopped_by(const struct bu_travels *travels)
{
	const struct bu_fleet *fleet = travels->opts.fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (counts(travels, fleet->nodes[i], travels->bundle.digest))
			return fleet->nodes[i];
	return NULL;
}

/* Logs a failed trial once: the agent repeats it until it is acknowledged. A failure of
 * an agent that bringupd did not ask for is not logged. */
static int
hear_failed(struct bu_travels *travels, struct bu_node *node, const json_t *said,
	    struct bu_err *err)
{
	const struct bu_agent_fact *fact = node->live.agent;
	struct bu_agent_failed failed;

	if (!said || json_is_null(said))
		return 0;
	if (bu_record_from_json(bu_agent_failed_fields, said, &failed, err) != 0)
		return bu_err_wrap(err, "agent.failed");
	if (failed.why == BU_AGENT_RELEASED)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "agent.failed: only people release");
	if ((fact->asked_ms || fact->trial) && !counts(travels, node, failed.digest))
		note(travels, node, &failed, "");
	return 0;
}

int
bu_travels_hello(struct bu_travels *travels, struct bu_node *node, const json_t *said,
		 struct bu_err *err)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	struct bu_agent_said agent = {.version = "", .digest = ""};
	int changing = fact->asked_ms || fact->trial, news;

	if (said && !json_is_null(said) &&
	    (bu_record_from_json(bu_agent_said_fields, said, &agent, err) != 0 ||
	     hear_failed(travels, node, agent.failed, err) != 0))
		return bu_err_wrap(err, "agent");
	if (changing && travels->key && !strcmp(agent.digest, travels->bundle.digest) &&
	    !agent.trial)
		note(travels, node,
		     &(struct bu_agent_failed){agent.version, agent.digest,
					       BU_AGENT_CHANGED},
		     "");
	/* A node on trial keeps its turn. */
	if (!agent.trial)
		fact->asked_ms = 0;
	news = strcmp(fact->digest, agent.digest) != 0 || fact->trial != agent.trial;
	bu_text_copy(fact->version, sizeof(fact->version), agent.version);
	bu_text_copy(fact->digest, sizeof(fact->digest), agent.digest);
	fact->trial = agent.trial;
	if (news)
		bu_fleet_touch(travels->opts.fleet, node);
	return 0;
}

/* Id of the work, new for each bundle and start of bringupd: an agent may remember its
 * answer to an earlier one. */
static char *
id_of(const struct bu_travels *travels, const struct bu_node *node)
{
	return bu_xasprintf("%s-agent-%.12s-%lld", node->name, travels->bundle.digest,
			    (long long)travels->opts.fleet->epoch);
}

int
bu_travels_work(struct bu_travels *travels, const struct bu_node *node,
		struct bu_work *ret, char **ret_id)
{
	refresh(travels);
	if (!travels->key)
		return -1;
	*ret_id = id_of(travels, node);
	*ret = (struct bu_work){.id = *ret_id, .attempt = node->live.agent->attempt};
	return 0;
}

void
bu_travels_result(struct bu_travels *travels, struct bu_node *node, const char *id,
		  const struct bu_err *failure)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	bu_autofree char *present = NULL;

	if (!failure || !fact->asked_ms)
		return;
	fact->asked_ms = 0;
	fact->again_ms = bu_loop_now_ms(travels->opts.fleet->loop) + AGAIN_MS;
	/* the bundle may have been replaced this moment */
	look(travels);
	present = id_of(travels, node);
	if (!travels->key || strcmp(id, present) != 0)
		return;
	/* these kinds may pass on another try */
	if (failure->kind == BU_ERR_REMOTE || failure->kind == BU_ERR_TIMEOUT ||
	    failure->kind == BU_ERR_BUSY)
		return;
	note(travels, node,
	     &(struct bu_agent_failed){travels->bundle.version, travels->bundle.digest,
				       BU_AGENT_REFUSED},
	     failure->text);
}

/* --- turns --- */

static int
has_served(const struct bu_travels *travels, const struct bu_node *node)
{
	return strcmp(node->live.agent->digest, travels->bundle.digest) == 0;
}

/* Can the node be two seconds without its agent? */
static int
is_at_rest(const struct bu_travels *travels, const struct bu_node *node)
{
	return bu_state_info(node->state)->settled &&
	       node->state != BU_STATE_SERVICING && node->boot_installed &&
	       !node->hold->owner && node->step.status != BU_STEP_OPEN &&
	       !(node->order->open && node->order->begun) && !node->live.appending &&
	       wall_ms(travels) - node->lent_ms >= LENT_MS;
}

struct share {
	int total, proven, changing;
};

/* Has a person or an order taken the node since it was asked? Then its silence is no
 * failure of the agent. Deeds of bringup to a silent node do not count as that. */
static int
is_taken(const struct bu_travels *travels, const struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(travels->opts.fleet->loop);
	int64_t asked_ms = wall_ms(travels) - (now_ms - node->live.agent->asked_ms);
	int moved = node->reason->code == BU_REASON_VERB ||
		    node->next->reason.code == BU_REASON_VERB;

	return !node->boot_installed || (node->order->open && node->order->begun) ||
	       (node->hold->owner && node->hold->owner != BU_OWNER_BRINGUP) ||
	       (moved && node->since_ms >= asked_ms) || node->power->at_ms >= asked_ms;
}

/* A node that was asked and stays silent has failed. */
static void
miss(struct bu_travels *travels, struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(travels->opts.fleet->loop);
	struct bu_agent_fact *fact;

	if (!node->live.agent->asked_ms)
		return;
	fact = bu_node_agent(node);
	if (strcmp(fact->asked, travels->bundle.digest) != 0 ||
	    is_taken(travels, node)) {
		fact->asked_ms = 0;
		return;
	}
	if (now_ms - fact->asked_ms < BU_TRAVELS_AWAY_MS)
		return;
	fact->asked_ms = 0;
	note(travels, node,
	     &(struct bu_agent_failed){travels->bundle.version, travels->bundle.digest,
				       BU_AGENT_SILENT},
	     "");
}

/* A node that was silent for BU_TRAVELS_AWAY_MS on trial no longer counts. */
static int
is_on_trial(const struct bu_travels *travels, const struct bu_node *node)
{
	return node->live.agent->trial &&
	       wall_ms(travels) - node->live.last_seen_ms < BU_TRAVELS_AWAY_MS;
}

static void
count(struct bu_travels *travels, const struct bu_desired_pool *pool,
      struct share *share)
{
	const struct bu_fleet *fleet = travels->opts.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		const struct bu_agent_fact *fact = node->live.agent;
		const struct bu_desired_node *want = bu_fleet_desired(fleet, node);

		if (!want || want->pool != pool)
			continue;
		share->total++;
		share->proven += has_served(travels, node) && !fact->trial;
		/* A trial may be older than this bringupd. A node that is missed now
		 * counts until the log has its failure. */
		share->changing += fact->asked_ms || is_on_trial(travels, node);
		miss(travels, node);
	}
}

static int
at_once(const struct share *share)
{
	int limit = share->proven ? share->total / BU_TRAVELS_SHARE : 1;

	return limit < 1 ? 1 : limit > BU_TRAVELS_MAX ? BU_TRAVELS_MAX : limit;
}

int
bu_travels_turn(struct bu_travels *travels, struct bu_node *node)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	const struct bu_desired_node *want =
		bu_fleet_desired(travels->opts.fleet, node);
	int64_t now_ms = bu_loop_now_ms(travels->opts.fleet->loop);
	struct share share = {0};

	/* another change would drop the agent to which a trial returns */
	if (!want || !fact->digest[0] || fact->trial ||
	    (!fact->asked_ms && now_ms < fact->again_ms))
		return 0;
	refresh(travels);
	if (!travels->key || has_served(travels, node) || !is_at_rest(travels, node))
		return 0;
	if (!fact->asked_ms && travels->turned_ms &&
	    now_ms - travels->turned_ms < TURN_MS)
		return 0;
	travels->turned_ms = now_ms;
	if (stopped_by(travels))
		return 0;
	if (strcmp(fact->asked, travels->bundle.digest) != 0)
		fact->asked_ms = 0;
	count(travels, want->pool, &share);
	if (!fact->asked_ms && share.changing >= at_once(&share))
		return 0;
	if (!fact->asked_ms) {
		bu_info("agents", "%s changes from agent %s to %s", node->name,
			fact->version, travels->bundle.version);
		fact->attempt++;
		BU_TEXT_COPY(fact->asked, travels->bundle.digest);
	}
	fact->asked_ms = now_ms;
	return 1;
}

/* --- for people --- */

/* New reference; NULL = none. */
static json_t *
trouble(struct bu_travels *travels)
{
	const struct bu_node *node = travels->key ? stopped_by(travels) : NULL;

	if (!travels->key)
		return BU_SAID(NO_AGENT, BU_ARG("error", travels->fault.text));
	return node ? BU_SAID(AGENT_STOPPED, BU_ARG("version", travels->bundle.version),
			      BU_ARG("node", node->name))
		    : NULL;
}

json_t *
bu_travels_json(struct bu_travels *travels)
{
	const struct bu_fleet *fleet = travels->opts.fleet;
	json_t *changing = json_array();
	int have = 0, others = 0;

	refresh(travels);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const struct bu_agent_fact *fact = node->live.agent;

		if (!fact->digest[0])
			continue;
		have += travels->key && has_served(travels, node);
		others += !travels->key || !has_served(travels, node);
		if (fact->asked_ms || fact->trial)
			json_array_append_new(changing, json_string(node->name));
	}
	return json_pack("{s:s,s:s,s:i,s:i,s:o,s:o*}", "version",
			 travels->key ? travels->bundle.version : "", "digest",
			 travels->key ? travels->bundle.digest : "", "have", have,
			 "others", others, "changing", changing, "trouble",
			 trouble(travels));
}
