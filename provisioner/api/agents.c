/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agents' protocol. But for enroll, the peer is known by its client certificate,
 * whose name is the machine's id; the node is the one that the log binds to it.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/hello.h"
#include "model/stamp.h"
#include "model/work.h"
#include "provisioner/api/api.h"
#include "provisioner/api/strangers.h"
#include "provisioner/node/drifted.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/holders.h"
#include "provisioner/node/over.h"
#include "provisioner/node/stamp.h"

/* POLL: so that a settled agent is heard often enough to be missed soon. ITEM: of work
 * that names no deadline of its own. */
enum { POLL_MAX_MS = 8000, ITEM_MS = 900 * 1000, WRITES_MS = 30 * 1000 };

static int64_t
wall_ms(const struct bu_api *api)
{
	return bu_wall_ms(bu_loop_clock(api->fleet->loop));
}

static void
hear(struct bu_api *api, struct bu_node *node)
{
	node->live.last_seen_ms = wall_ms(api);
	bu_reconcile_heard(api->rec, node);
}

/* Its boot is in a hello and in each question for work. */
static void
holder_of(const struct bu_request *request, struct bu_holder *ret)
{
	const json_t *inventory = json_object_get(request->body, "inventory");

	memset(ret, 0, sizeof(*ret));
	bu_request_address(request, ret->address);
	BU_TEXT_COPY(ret->boot_id,
		     bu_json_str(inventory ? inventory : request->body, "boot_id", ""));
}

struct bu_node *
bu_api_peer_node(struct bu_api *api, const struct bu_request *request,
		 struct bu_err *err)
{
	struct bu_node *node = bu_fleet_node_of(api->fleet, request->peer);
	const char *cert = request->peer_cert ? request->peer_cert : "";
	struct bu_holder who;
	int64_t until_ms;

	if (!*request->peer) {
		const char *fault = request->peer_fault ? request->peer_fault : "";

		bu_err_set(err, BU_ERR_DENIED, 0, "a client certificate is needed%s%s",
			   *fault ? ": " : "", fault);
		return NULL;
	}
	if (!node) {
		bu_err_set(err, BU_ERR_DENIED, 0, "machine %s is bound to no node",
			   request->peer);
		return NULL;
	}
	holder_of(request, &who);
	if (bu_reconcile_check_peer(api->rec, node, request->peer_cert, err) != 0) {
		bu_holders_refused(api->rec, node, cert, &who);
		return NULL;
	}
	/* Who is refused is not heard: it could do nothing that it is asked for. */
	if (json_object_get(request->body, "protocol") &&
	    bu_hello_check_protocol(request->body, node->name, err) != 0) {
		bu_warn("agents", "%s", err->text);
		return NULL;
	}
	if (request->waited_ms == 0)
		bu_holders_spoke(api->rec, node, cert, &who);
	/* A request that still waits is no news: its agent may be gone by now. Nor is
	 * one of the system of before, or of a boot that has ended: what is waited for
	 * is another one. */
	if (request->waited_ms == 0 && !bu_over_is(node) &&
	    !bu_fallback_is_kept(node, request->peer_cert, &until_ms))
		hear(api, node);
	return node;
}

/* What comes with a token that is good. */
static char *
admit(struct bu_api *api, struct bu_node *node, const struct bu_request *request,
      const struct bu_enroll *asks, struct bu_err *err)
{
	char address[BU_ADDRESS_SIZE];
	struct bu_seen seen;
	bu_autoinventory struct bu_inventory *inventory =
		bu_inventory_from_json(asks->inventory, err);
	struct bu_enrolment enrolment = {
		.token = asks->token, .csr = asks->csr, .inventory = inventory};

	if (!inventory)
		return NULL;
	bu_request_address(request, address);
	enrolment.address = address;
	bu_request_seen(request, &seen);
	if (seen.place == BU_WIRE_ON)
		enrolment.mac = seen.mac;
	if (*seen.answers)
		enrolment.answers = seen.answers;
	enrolment.elsewhere =
		!enrolment.mac &&
		bu_stranger_attached(api, bu_fleet_reach(api->fleet, node));
	return bu_reconcile_admit(api->rec, node, &enrolment, err);
}

BU_HANDLER(bu_api_agent_enroll)
{
	struct bu_api *api = arg;
	struct bu_enroll asks;
	struct bu_node *node;
	bu_autofree char *cert = NULL;

	if (bu_request_within(request, BU_LIMIT_STRANGERS, err) != 0 ||
	    bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0 ||
	    bu_record_from_json(bu_enroll_fields, request->body, &asks, err) != 0)
		return BU_ANSWER_ERROR;
	node = bu_fleet_node(api->fleet, asks.node);
	if (!node)
		return bu_err_set(err, BU_ERR_DENIED, 0, "no node '%s'", asks.node);
	if (bu_reconcile_check_token(api->rec, node, asks.token, err) == 0) {
		if (node->live.appending)
			return BU_ANSWER_LATER;
		cert = admit(api, node, request, &asks, err);
	}
	if (!cert) {
		bu_warn("agents", "%s: %s", node->name, err->text);
		return BU_ANSWER_ERROR;
	}
	node->live.last_seen_ms = wall_ms(api);
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s,s:s}", "cert", cert, "node", node->name);
	return BU_ANSWER_NOW;
}

/* One that its loader may have gone back to gets what is for the system that the node
 * has, and its next certificate, only when it is known as that. */
static int
check_greeted(const struct bu_node *node, const struct bu_request *request,
	      struct bu_err *err)
{
	int64_t until_ms;

	if (!bu_fallback_is_kept(node, request->peer_cert, &until_ms))
		return 0;
	return bu_err_set(err, BU_ERR_BUSY, 0,
			  "it is not known yet that %s has gone back to this system; "
			  "ask again after the hello",
			  node->name);
}

/* Each answer that an agent acts on has the epoch. anchor: borrowed; NULL = the agent
 * needs none. */
static void
tell_epoch(const struct bu_api *api, json_t *anchor, json_t *answer)
{
	json_object_set_new(answer, "epoch",
			    json_integer((json_int_t)api->fleet->epoch));
	if (anchor)
		json_object_set(answer, "anchor", anchor);
}

/* Over the agent's own channel; the one that it has counts until the new one is used.
 */
BU_HANDLER(bu_api_agent_renew)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	bu_autofree char *cert = NULL;
	const char *csr;

	if (!node || bu_json_get_str(request->body, "csr", &csr, err) != 0)
		return BU_ANSWER_ERROR;
	if (check_greeted(node, request, err) != 0 ||
	    bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0)
		return BU_ANSWER_ERROR;
	if (node->live.appending)
		return BU_ANSWER_LATER;
	cert = bu_reconcile_renew(api->rec, node, csr, err);
	if (!cert)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s}", "cert", cert);
	tell_epoch(api, NULL, reply->json);
	return BU_ANSWER_NOW;
}

/* `of` of the stamp that the agent keeps, if that is whole. */
static const char *
kept_stamp(const struct bu_api *api, const json_t *settled, struct bu_stamp *stamp)
{
	return settled && bu_stamp_open(settled, api->fleet->public_pem, stamp, NULL) ==
				       0
		       ? stamp->of
		       : "";
}

static void
tell_stamp(struct bu_api *api, const struct bu_node *node, const char *of,
	   json_t *answer)
{
	json_t *stamp = bu_stamp_tell(api->rec, node, of);

	if (stamp)
		json_object_set_new(answer, "stamp", stamp);
}

BU_HANDLER(bu_api_agent_hello)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_hello hello;
	struct bu_stamp stamp;

	if (bu_api_adopts(api, request, node, err) || !node ||
	    bu_request_within(request, BU_LIMIT_HELLOS, err) != 0)
		return BU_ANSWER_ERROR;
	if (node->live.appending)
		return BU_ANSWER_LATER;
	if (bu_record_from_json(bu_hello_fields, request->body, &hello, err) == 0)
		inventory = bu_inventory_from_json(hello.inventory, err);
	if (!inventory || bu_reconcile_hello(api->rec, node, hello.where, hello.stamp,
					     inventory, err) != 0) {
		bu_warn("agents", "hello of %s: %s", node->name, err->text);
		return BU_ANSWER_ERROR;
	}
	hear(api, node);
	bu_reconcile_crashed(api->rec, node, inventory->boot_id, hello.crash);
	if (hello.where == BU_WHERE_INSTALLED)
		bu_drifted_tell(api->rec, node, hello.runs);
	if (hello.where == BU_WHERE_INSTALLED &&
	    bu_agent_upgrades_hello(api->work.upgrades, node, hello.agent, err) != 0)
		return BU_ANSWER_ERROR;
	/* A node that was greeted does not say it again. */
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s}", "node", node->name);
	tell_epoch(api, bu_fence_anchor(api->rec, NULL), reply->json);
	if (hello.where == BU_WHERE_INSTALLED)
		tell_stamp(api, node, kept_stamp(api, hello.settled, &stamp),
			   reply->json);
	return BU_ANSWER_NOW;
}

/* It changes itself to the agent of this appliance. */
static json_t *
upgrade_work(struct bu_api *api, const struct bu_node *node)
{
	bu_autofree char *url = bu_xasprintf("%s/" BU_BUNDLE_DIR, api->work.http_url);
	bu_autofree char *id = NULL;
	struct bu_offer offer;
	struct bu_work work;

	if (bu_agent_upgrades_work(api->work.upgrades, node, &work, &id) != 0)
		return NULL;
	bu_agent_upgrades_offer(api->work.upgrades, &offer);
	return bu_record_to_json(bu_work_agent_fields,
				 &(struct bu_work_agent){
					 .work = work,
					 .base_url = url,
					 .version = offer.bundle->version,
					 .digest = offer.bundle->digest,
					 .key = offer.key,
					 .deadline_ms = BU_AGENT_UPGRADES_ITEM_MS,
				 });
}

/* The probe first: its partner is waiting. */
static json_t *
work_of(struct bu_api *api, struct bu_node *node, struct bu_err *err)
{
	struct bu_ram_image image;
	json_t *work = NULL;

	if (!api->fleet->desired || bu_store_down(api->fleet->store) ||
	    bu_fence_is_shut(api->fleet) || bu_over_is(node))
		return NULL;
	work = bu_gate_work(api->gate, node);

	if (!work && bu_reconcile_wants_agent(node) && !node->live.appending)
		work = bu_work_make_step(&api->work, node, err);
	if (!work && !node->live.appending && bu_ram_loads(api->rec, node, &image))
		return bu_work_make_load(&api->work, node, &image, err);
	if (!work && bu_agent_upgrades_turn(api->work.upgrades, node))
		work = upgrade_work(api, node);
	return work;
}

/* How long its agent may be silent over it. The files of a node in service are written
 * in seconds, and proven over a new connection within the pool's deadline. */
static int64_t
item_ms(struct bu_api *api, const struct bu_node *node, const json_t *work)
{
	const struct bu_desired_node *want = bu_fleet_ordered(api->fleet, node);
	int64_t usual_ms = ITEM_MS;

	if (want && node->step.action == BU_ACTION_CONFIGURE)
		usual_ms = want->pool->confirm_deadline_ms + WRITES_MS;
	return bu_json_int(work, "deadline_ms", usual_ms);
}

BU_HANDLER(bu_api_agent_work)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct bu_err failure = {0};
	struct bu_ask_work ask;
	json_t *work;

	if (!node ||
	    bu_record_from_json(bu_ask_work_fields, request->body, &ask, err) != 0 ||
	    check_greeted(node, request, err) != 0)
		return BU_ANSWER_ERROR;
	bu_reconcile_busy(api->rec, node, 0);
	if (!bu_over_is(node))
		bu_fallback_confirm(api->rec, node, request->peer_cert);
	work = work_of(api, node, &failure);
	/* Busy: a part of it is still to come. */
	if (failure.kind && failure.kind != BU_ERR_BUSY) {
		/* Ours to mend, not the agent's: the step has failed. */
		bu_error("agents", "work for %s: %s", node->name, failure.text);
		bu_ram_result(api->rec, node, node->admitted_step, &failure);
		bu_reconcile_result(api->rec, node, node->step.id, node->step.attempt,
				    &failure);
	}
	if (!work && request->waited_ms < ask.wait_ms &&
	    request->waited_ms < POLL_MAX_MS)
		return BU_ANSWER_LATER;
	if (work)
		bu_reconcile_busy(api->rec, node, item_ms(api, node, work));
	reply->json = json_pack("{s:o}", "work", work ? work : json_null());
	/* An agent of before keeps none. */
	tell_epoch(api, ask.revoked ? bu_fence_anchor(api->rec, ask.revoked) : NULL,
		   reply->json);
	if (ask.settled)
		tell_stamp(api, node, ask.settled, reply->json);
	bu_api_rekey_tell(api, node, ask.ca, reply->json);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_agent_progress)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct bu_progress told;
	struct bu_ram_image image;
	int current;

	if (!node ||
	    bu_record_from_json(bu_progress_fields, request->body, &told, err) != 0)
		return BU_ANSWER_ERROR;
	current = (strcmp(told.id, node->step.id) == 0 &&
		   node->step.status == BU_STEP_OPEN) ||
		  (strcmp(told.id, node->admitted_step) == 0 &&
		   bu_ram_loads(api->rec, node, &image));
	if (current)
		bu_reconcile_progress(api->rec, node, told.stage,
				      (uint64_t)told.done_bytes,
				      (uint64_t)told.total_bytes);
	/* While its change is on the way to the log it is unknown: let it go on. */
	reply->json = json_pack("{s:b}", "cancel",
				!current && !node->live.appending &&
					!bu_gate_wants(api->gate, node, told.id));
	return BU_ANSWER_NOW;
}

/* An agent that has changed its network asks whether it still gets here; that it does
 * is the answer. */
BU_HANDLER(bu_api_agent_confirm)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);

	if (!node)
		return BU_ANSWER_ERROR;
	bu_info("agents", "%s: reached after %s", node->name,
		bu_json_str(request->body, "id", "a change"));
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_agent_clock)
{
	if (!bu_api_peer_node(arg, request, err))
		return BU_ANSWER_ERROR;
	reply->json = json_pack("{s:I}", "time_us", (json_int_t)bu_wall_us());
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_agent_result)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct bu_work_result told;
	struct bu_err failure = {0};
	struct bu_work_installed installed;
	const struct bu_err *down;
	const char *id, *kind;

	if (!node ||
	    bu_record_from_json(bu_work_result_fields, request->body, &told, err) != 0)
		return BU_ANSWER_ERROR;
	id = told.work.id;
	kind = told.work.kind;
	if (node->live.appending)
		return BU_ANSWER_LATER;
	/* Nothing of it could be kept: it says it again. */
	down = bu_store_down(api->fleet->store);
	if (down) {
		*err = *down;
		return BU_ANSWER_ERROR;
	}
	bu_reconcile_busy(api->rec, node, 0);
	if (told.error.kind) {
		bu_json_to_err(json_object_get(request->body, "error"), &failure);
		bu_warn("agents", "%s: %s: %s", node->name, id, failure.text);
	}
	if (strcmp(kind, "load") == 0) {
		bu_ram_result(api->rec, node, id, failure.kind ? &failure : NULL);
	} else if (strcmp(kind, "agent") == 0) {
		bu_agent_upgrades_result(api->work.upgrades, node, id,
					 failure.kind ? &failure : NULL);
		reply->logged = api->fleet->store;
	} else if (strcmp(kind, "probe") == 0 || strcmp(kind, "checks") == 0) {
		/* One that is lost, or of a boot that has ended, is measured again. */
		if (!bu_over_is(node))
			bu_gate_result(api->gate, node, id, told.result,
				       failure.kind ? &failure : NULL);
	} else {
		/* Who hears that it is taken switches off, and says it to nobody else.
		 */
		if (!failure.kind && strcmp(kind, "install") == 0 &&
		    bu_record_from_json(bu_work_installed_fields, told.result,
					&installed, NULL) == 0)
			bu_reconcile_installed(api->rec, node, id, told.work.attempt,
					       &installed);
		else
			bu_reconcile_result(api->rec, node, id, told.work.attempt,
					    failure.kind ? &failure : NULL);
		reply->logged = api->fleet->store;
	}
	reply->json = json_object();
	return BU_ANSWER_NOW;
}
