/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of agents; called by api/agents.c with each poll of a node. Invariants: agents
 * tell which agent a node runs. The log has the failure of an agent, and while that
 * counts no node gets this agent.
 */
#include "provisioner/rollout/agent_upgrade.h"

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

struct bu_agent_upgrades {
	struct bu_agent_upgrades_opts opts;
	struct bu_bundle bundle;
	char *key; /* NULL = none is served */
	struct bu_err fault;
	struct stat seen;
	int64_t looked_ms; /* monotonic; 0 = never */
	int64_t turned_ms; /* likewise */
};

/* --- the served bundle --- */

static int
load(struct bu_agent_upgrades *upgrades, struct bu_err *err)
{
	const struct bu_agent_upgrades_opts *opts = &upgrades->opts;
	bu_autofree char *list = bu_xasprintf("%s/bundle.json", opts->dir);
	bu_autofree char *sigs = bu_xasprintf("%s/bundle.sig", opts->dir);
	size_t size = 0;
	bu_autofree char *text = bu_file_read(list, BU_BUNDLE_LIST_MAX, &size, err);
	bu_autofree char *sig = text ? bu_file_read(sigs, 4096, NULL, err) : NULL;
	bu_autofree char *key = sig ? bu_image_keys_read(opts->key, err) : NULL;

	if (!key || bu_manifest_verify(text, size, sig, key, err) != 0 ||
	    bu_bundle_parse(text, size, &upgrades->bundle, err) != 0)
		return -1;
	if (strcmp(upgrades->bundle.version, opts->version) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the boot ramdisk has agent %s, this is bringup %s; "
				  "build it: bringup image build ramdisk",
				  upgrades->bundle.version, opts->version);
	upgrades->key = bu_steal(&key);
	return 0;
}

static int
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int
is_as_seen(struct bu_agent_upgrades *upgrades)
{
	bu_autofree char *list = bu_xasprintf("%s/bundle.json", upgrades->opts.dir);
	struct stat now = {0};
	const struct stat *was = &upgrades->seen;
	int same;

	bu_ignore(stat(list, &now));
	same = now.st_ino == was->st_ino && now.st_size == was->st_size &&
	       same_time(&now.st_mtim, &was->st_mtim) &&
	       same_time(&now.st_ctim, &was->st_ctim);
	upgrades->seen = now;
	return same;
}

static void
look(struct bu_agent_upgrades *upgrades)
{
	int first = !upgrades->looked_ms;

	upgrades->looked_ms = bu_loop_now_ms(upgrades->opts.fleet->loop);
	if (is_as_seen(upgrades) && !first)
		return;
	bu_bundle_fini(&upgrades->bundle);
	free(upgrades->key);
	upgrades->key = NULL;
	memset(&upgrades->fault, 0, sizeof(upgrades->fault));
	if (load(upgrades, &upgrades->fault) != 0)
		bu_warn("agents", "no agent travels: %s", upgrades->fault.text);
	else
		bu_info("agents", "agent %s (%.12s) travels", upgrades->bundle.version,
			upgrades->bundle.digest);
}

static void
refresh(struct bu_agent_upgrades *upgrades)
{
	int64_t now_ms = bu_loop_now_ms(upgrades->opts.fleet->loop);

	if (!upgrades->looked_ms || now_ms - upgrades->looked_ms >= LOOK_MS)
		look(upgrades);
}

void
bu_agent_upgrades_offer(struct bu_agent_upgrades *upgrades, struct bu_offer *ret)
{
	refresh(upgrades);
	*ret = (struct bu_offer){upgrades->key ? &upgrades->bundle : NULL,
				 upgrades->key, upgrades->fault.text};
}

struct bu_agent_upgrades *
bu_agent_upgrades_create(const struct bu_agent_upgrades_opts *opts)
{
	struct bu_agent_upgrades *upgrades = bu_xcalloc(1, sizeof(*upgrades));

	upgrades->opts = *opts;
	return upgrades;
}

void
bu_agent_upgrades_destroy(struct bu_agent_upgrades *upgrades)
{
	if (!upgrades)
		return;
	bu_bundle_fini(&upgrades->bundle);
	free(upgrades->key);
	free(upgrades);
}

/* --- events of agents --- */

static void
note(struct bu_agent_upgrades *upgrades, const struct bu_node *node,
     const struct bu_agent_failed *what, const char *detail)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_AGENT, node->name, agent,
		      .version = what->version, .digest = what->digest,
		      .result = what->why, .detail = detail);
	bu_reconcile_note(upgrades->opts.rec, &event, 1);
}

static int64_t
wall_ms(const struct bu_agent_upgrades *upgrades)
{
	return bu_wall_ms(bu_loop_clock(upgrades->opts.fleet->loop));
}

/* Does the node's failure of this agent still count? */
static int
counts(const struct bu_agent_upgrades *upgrades, const struct bu_node *node,
       const char *digest)
{
	return node->agent_failed->at_ms &&
	       !strcmp(node->agent_failed->digest, digest) &&
	       wall_ms(upgrades) - node->agent_failed->at_ms <
		       BU_AGENT_UPGRADES_STOP_MS;
}

static const struct bu_node *
stopped_by(const struct bu_agent_upgrades *upgrades)
{
	const struct bu_fleet *fleet = upgrades->opts.fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (counts(upgrades, fleet->nodes[i], upgrades->bundle.digest))
			return fleet->nodes[i];
	return NULL;
}

/* Logs a failed trial once: the agent repeats it until it is acknowledged. A failure of
 * an agent that bringupd did not ask for is not logged. */
static int
hear_failed(struct bu_agent_upgrades *upgrades, struct bu_node *node,
	    const json_t *said, struct bu_err *err)
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
	if ((fact->asked_ms || fact->trial) && !counts(upgrades, node, failed.digest))
		note(upgrades, node, &failed, "");
	return 0;
}

int
bu_agent_upgrades_hello(struct bu_agent_upgrades *upgrades, struct bu_node *node,
			const json_t *said, struct bu_err *err)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	struct bu_agent_said agent = {.version = "", .digest = ""};
	int changing = fact->asked_ms || fact->trial, news;

	if (said && !json_is_null(said) &&
	    (bu_record_from_json(bu_agent_said_fields, said, &agent, err) != 0 ||
	     hear_failed(upgrades, node, agent.failed, err) != 0))
		return bu_err_wrap(err, "agent");
	if (changing && upgrades->key &&
	    !strcmp(agent.digest, upgrades->bundle.digest) && !agent.trial)
		note(upgrades, node,
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
		bu_fleet_touch(upgrades->opts.fleet, node);
	return 0;
}

/* Id of the work, new for each bundle and start of bringupd: an agent may remember its
 * answer to an earlier one. */
static char *
id_of(const struct bu_agent_upgrades *upgrades, const struct bu_node *node)
{
	return bu_xasprintf("%s-agent-%.12s-%lld", node->name, upgrades->bundle.digest,
			    (long long)upgrades->opts.fleet->epoch);
}

int
bu_agent_upgrades_work(struct bu_agent_upgrades *upgrades, const struct bu_node *node,
		       struct bu_work *ret, char **ret_id)
{
	refresh(upgrades);
	if (!upgrades->key)
		return -1;
	*ret_id = id_of(upgrades, node);
	*ret = (struct bu_work){.id = *ret_id, .attempt = node->live.agent->attempt};
	return 0;
}

void
bu_agent_upgrades_result(struct bu_agent_upgrades *upgrades, struct bu_node *node,
			 const char *id, const struct bu_err *failure)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	bu_autofree char *present = NULL;

	if (!failure || !fact->asked_ms)
		return;
	fact->asked_ms = 0;
	fact->again_ms = bu_loop_now_ms(upgrades->opts.fleet->loop) + AGAIN_MS;
	/* the bundle may have been replaced this moment */
	look(upgrades);
	present = id_of(upgrades, node);
	if (!upgrades->key || strcmp(id, present) != 0)
		return;
	/* these kinds may pass on another try */
	if (failure->kind == BU_ERR_REMOTE || failure->kind == BU_ERR_TIMEOUT ||
	    failure->kind == BU_ERR_BUSY)
		return;
	note(upgrades, node,
	     &(struct bu_agent_failed){upgrades->bundle.version,
				       upgrades->bundle.digest, BU_AGENT_REFUSED},
	     failure->text);
}

/* --- turns --- */

static int
has_served(const struct bu_agent_upgrades *upgrades, const struct bu_node *node)
{
	return strcmp(node->live.agent->digest, upgrades->bundle.digest) == 0;
}

/* Can the node be two seconds without its agent? */
static int
is_at_rest(const struct bu_agent_upgrades *upgrades, const struct bu_node *node)
{
	return bu_state_info(node->state)->settled &&
	       node->state != BU_STATE_SERVICING && node->boot_installed &&
	       !node->hold->owner && node->step.status != BU_STEP_OPEN &&
	       !(node->order->open && node->order->begun) && !node->live.appending &&
	       wall_ms(upgrades) - node->lent_ms >= LENT_MS;
}

struct share {
	int total, proven, changing;
};

/* Has a person or an order taken the node since it was asked? Then its silence is no
 * failure of the agent. Actions of bringup on a silent node do not count as that. */
static int
is_taken(const struct bu_agent_upgrades *upgrades, const struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(upgrades->opts.fleet->loop);
	int64_t asked_ms = wall_ms(upgrades) - (now_ms - node->live.agent->asked_ms);
	int moved = node->reason->code == BU_REASON_VERB ||
		    node->next->reason.code == BU_REASON_VERB;

	return !node->boot_installed || (node->order->open && node->order->begun) ||
	       (node->hold->owner && node->hold->owner != BU_OWNER_BRINGUP) ||
	       (moved && node->since_ms >= asked_ms) || node->power->at_ms >= asked_ms;
}

/* A node that was asked and stays silent has failed. */
static void
miss(struct bu_agent_upgrades *upgrades, struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(upgrades->opts.fleet->loop);
	struct bu_agent_fact *fact;

	if (!node->live.agent->asked_ms)
		return;
	fact = bu_node_agent(node);
	if (strcmp(fact->asked, upgrades->bundle.digest) != 0 ||
	    is_taken(upgrades, node)) {
		fact->asked_ms = 0;
		return;
	}
	if (now_ms - fact->asked_ms < BU_AGENT_UPGRADES_AWAY_MS)
		return;
	fact->asked_ms = 0;
	note(upgrades, node,
	     &(struct bu_agent_failed){upgrades->bundle.version,
				       upgrades->bundle.digest, BU_AGENT_SILENT},
	     "");
}

/* A node that was silent for BU_AGENT_UPGRADES_AWAY_MS on trial no longer counts. */
static int
is_on_trial(const struct bu_agent_upgrades *upgrades, const struct bu_node *node)
{
	return node->live.agent->trial &&
	       wall_ms(upgrades) - node->live.last_seen_ms < BU_AGENT_UPGRADES_AWAY_MS;
}

static void
count(struct bu_agent_upgrades *upgrades, const struct bu_desired_pool *pool,
      struct share *share)
{
	const struct bu_fleet *fleet = upgrades->opts.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		const struct bu_agent_fact *fact = node->live.agent;
		const struct bu_desired_node *want = bu_fleet_desired(fleet, node);

		if (!want || want->pool != pool)
			continue;
		share->total++;
		share->proven += has_served(upgrades, node) && !fact->trial;
		/* A trial may be older than this bringupd. A node that is missed now
		 * counts until the log has its failure. */
		share->changing += fact->asked_ms || is_on_trial(upgrades, node);
		miss(upgrades, node);
	}
}

static int
at_once(const struct share *share)
{
	int limit = share->proven ? share->total / BU_AGENT_UPGRADES_SHARE : 1;

	return limit < 1                       ? 1
	       : limit > BU_AGENT_UPGRADES_MAX ? BU_AGENT_UPGRADES_MAX
					       : limit;
}

int
bu_agent_upgrades_turn(struct bu_agent_upgrades *upgrades, struct bu_node *node)
{
	struct bu_agent_fact *fact = bu_node_agent(node);
	const struct bu_desired_node *want =
		bu_fleet_desired(upgrades->opts.fleet, node);
	int64_t now_ms = bu_loop_now_ms(upgrades->opts.fleet->loop);
	struct share share = {0};

	/* another change would drop the agent to which a trial returns */
	if (!want || !fact->digest[0] || fact->trial ||
	    (!fact->asked_ms && now_ms < fact->again_ms))
		return 0;
	refresh(upgrades);
	if (!upgrades->key || has_served(upgrades, node) || !is_at_rest(upgrades, node))
		return 0;
	if (!fact->asked_ms && upgrades->turned_ms &&
	    now_ms - upgrades->turned_ms < TURN_MS)
		return 0;
	upgrades->turned_ms = now_ms;
	if (stopped_by(upgrades))
		return 0;
	if (strcmp(fact->asked, upgrades->bundle.digest) != 0)
		fact->asked_ms = 0;
	count(upgrades, want->pool, &share);
	if (!fact->asked_ms && share.changing >= at_once(&share))
		return 0;
	if (!fact->asked_ms) {
		bu_info("agents", "%s changes from agent %s to %s", node->name,
			fact->version, upgrades->bundle.version);
		fact->attempt++;
		BU_TEXT_COPY(fact->asked, upgrades->bundle.digest);
	}
	fact->asked_ms = now_ms;
	return 1;
}

/* --- for people --- */

/* New reference; NULL = none. */
static json_t *
trouble(struct bu_agent_upgrades *upgrades)
{
	const struct bu_node *node = upgrades->key ? stopped_by(upgrades) : NULL;

	if (!upgrades->key)
		return BU_SAID(NO_AGENT, BU_ARG("error", upgrades->fault.text));
	return node ? BU_SAID(AGENT_STOPPED,
			      BU_ARG("version", upgrades->bundle.version),
			      BU_ARG("node", node->name))
		    : NULL;
}

json_t *
bu_agent_upgrades_json(struct bu_agent_upgrades *upgrades)
{
	const struct bu_fleet *fleet = upgrades->opts.fleet;
	json_t *changing = json_array();
	int have = 0, others = 0;

	refresh(upgrades);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const struct bu_agent_fact *fact = node->live.agent;

		if (!fact->digest[0])
			continue;
		have += upgrades->key && has_served(upgrades, node);
		others += !upgrades->key || !has_served(upgrades, node);
		if (fact->asked_ms || fact->trial)
			json_array_append_new(changing, json_string(node->name));
	}
	return json_pack("{s:s,s:s,s:i,s:i,s:o,s:o*}", "version",
			 upgrades->key ? upgrades->bundle.version : "", "digest",
			 upgrades->key ? upgrades->bundle.digest : "", "have", have,
			 "others", others, "changing", changing, "trouble",
			 trouble(upgrades));
}
