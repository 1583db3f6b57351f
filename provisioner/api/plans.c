/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes something: plans and their application. A plan holds as long as making
 * it again gives the same one; apply makes it again and compares. Invariant: a plan
 * writes nothing; what an apply needs later is in the store before its events are.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "profiles/load/load.h"
#include "provisioner/api/api.h"
#include "provisioner/plan/plan.h"

struct wanted {
	const json_t *tree;
	const char *commit;
	const char *limit;   /* a nodeset; "" = all nodes */
	const char *restart; /* likewise; "" = no order */
};

static const struct bu_field wanted_fields[] = {
	BU_FIELD(JSON, struct wanted, tree),
	BU_FIELD(STRING, struct wanted, commit, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD(STRING, struct wanted, limit, .need = BU_NULL, .unsaid = ""),
	BU_FIELD(STRING, struct wanted, restart, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_plan)
{
	struct bu_api *api = arg;
	struct wanted wanted;
	struct bu_tree *tree = NULL;
	struct bu_desired *desired;
	json_t *plan = NULL;
	enum bu_answer answer = BU_ANSWER_ERROR;

	if (bu_request_read(request, wanted_fields, &wanted, err) == 0)
		tree = bu_tree_from_json(wanted.tree, err);
	desired = tree ? bu_api_desired(api, tree, err) : NULL;
	if (desired && bu_api_scan(api, desired))
		answer = BU_ANSWER_LATER;
	else if (desired)
		plan = bu_api_make_plan(
			api, desired,
			&(struct bu_api_plan_request){wanted.commit, wanted.limit,
						      wanted.restart, BU_CLASS_NONE},
			err);
	if (plan) {
		bu_autofree char *text = bu_json_canonical(plan);
		bu_autojson json_t *tree_json = bu_tree_to_json(tree);
		bu_autofree char *tree_text = bu_json_canonical(tree_json);
		char digest[BU_DIGEST_SIZE];

		bu_sha256_hex(text, strlen(text), digest);
		bu_api_keep_plan(api, digest, text, tree_text);
		/* As it is kept: a large one is not put into words twice. */
		reply->text =
			bu_xasprintf("{\"digest\":\"%s\",\"plan\":%s}", digest, text);
		reply->content_type = "application/json";
		answer = BU_ANSWER_NOW;
	}
	json_decref(plan);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return answer;
}

/* What is to be applied: what the request says, or else what is kept of it. */
struct order {
	const char *digest;
	json_t *plan, *tree_json;
	json_t *again;             /* the plan, made now */
	struct bu_plan sent, made; /* both, read */
	struct bu_tree *tree;
	struct bu_desired *desired;
};

static void
order_fini(struct order *order)
{
	bu_record_fini(bu_plan_fields, &order->sent);
	bu_record_fini(bu_plan_fields, &order->made);
	json_decref(order->plan);
	json_decref(order->again);
	json_decref(order->tree_json);
	bu_desired_destroy(order->desired);
	bu_tree_destroy(order->tree);
}

/* What was sent is the plan of its digest, or it is none. */
static int
take_sent(const json_t *body, struct order *order, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];

	order->plan = json_incref(json_object_get(body, "plan"));
	order->tree_json = json_incref(json_object_get(body, "tree"));
	if (!json_is_object(order->plan) || !order->tree_json)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "plan %.12s is no longer known: bringupd was "
				  "restarted or made newer plans; plan again",
				  order->digest);
	bu_json_digest(order->plan, digest);
	if (strcmp(digest, order->digest) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "the plan was changed: its digest is %.12s, not %.12s; plan "
			  "again",
			  digest, order->digest);
}

static int
take_kept(const struct bu_kept_plan *kept, struct order *order, struct bu_err *err)
{
	order->plan = bu_json_parse(kept->plan, strlen(kept->plan), "plan", err);
	order->tree_json = bu_json_parse(kept->tree, strlen(kept->tree), "tree", err);
	return order->plan && order->tree_json ? 0 : -1;
}

static int
take(struct bu_api *api, const json_t *body, struct order *order, struct bu_err *err)
{
	const struct bu_kept_plan *kept;

	if (bu_json_get_str(body, "digest", &order->digest, err) != 0)
		return -1;
	kept = bu_api_kept_plan(api, order->digest);
	if ((kept ? take_kept(kept, order, err) : take_sent(body, order, err)) != 0)
		return -1;
	if (bu_plan_read(order->plan, &order->sent, err) != 0)
		return bu_err_wrap(err, "the plan cannot be read; plan again");
	return 0;
}

/* Reads the tree again that the plan was made of. */
static int
read_again(struct bu_api *api, struct order *order, struct bu_err *err)
{
	const char *revision = order->sent.revision;

	order->tree = bu_tree_from_json(order->tree_json, err);
	if (!order->tree)
		return -1;
	if (strcmp(order->tree->digest, revision) != 0)
		return bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"the profile is revision %.12s, the plan is of %.12s; "
			"plan again",
			order->tree->digest, revision);
	order->desired = bu_api_desired(api, order->tree, err);
	return order->desired ? 0 : -1;
}

/* Made again now, the plan must be the same and allowed. It is this one that is carried
 * out: what was sent only says what was agreed to. */
static int
make_again(struct bu_api *api, struct order *order, struct bu_err *err)
{
	order->again = bu_api_make_plan(
		api, order->desired,
		&(struct bu_api_plan_request){order->sent.commit, order->sent.limit,
					      order->sent.restart, BU_CLASS_NONE},
		err);
	if (!order->again || bu_plan_same(order->plan, order->again, err) != 0 ||
	    bu_plan_read(order->again, &order->made, err) != 0)
		return -1;
	return bu_plan_allowed(&order->made, err);
}

/* grants: [{"class","nodes"}]; what they mean is the rollout's to say. */
static int
check_grants(const json_t *grants, struct bu_err *err)
{
	json_t *grant;
	size_t i;

	if (grants && !json_is_array(grants))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'grants': a list is needed");
	json_array_foreach (grants, i, grant) {
		const char *class;

		if (bu_json_get_str(grant, "class", &class, err) != 0)
			return bu_err_wrap(err, "grants[%zu]", i);
		if (!bu_grant_name_ok(class))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' cannot be granted; " BU_GRANT_NAMES
					  " are",
					  class);
	}
	return 0;
}

/* The blobs go before the events that name them. */
static int
carry_out(struct bu_api *api, const struct order *order,
	  const struct bu_request *request, char *ret_id, struct bu_err *err)
{
	const json_t *grants = json_object_get(request->body, "grants");

	if (bu_rollouts_check(api->rollouts, &order->made, grants, err) != 0)
		return -1;
	if (!bu_rollouts_is_done(api->rollouts, &order->made) &&
	    (bu_two_persons_check(api,
				  &(struct bu_agreement){&order->made, order->digest,
							 order->desired},
				  request->caller, err) != 0 ||
	     bu_api_store_plan(api, order->desired, order->plan, order->tree, err) !=
		     0))
		return -1;
	return bu_rollouts_apply(api->rollouts,
				 &(struct bu_consent){&order->made, order->digest,
						      grants, bu_request_by(request)},
				 ret_id, err);
}

BU_HANDLER(bu_api_apply)
{
	struct bu_api *api = arg;
	const json_t *grants = json_object_get(request->body, "grants");
	enum bu_answer answer = BU_ANSWER_ERROR;
	struct order order = {.digest = ""};
	char id[40] = "";

	if ((!json_array_size(grants) ||
	     bu_request_may(request, BU_CALLER_GRANT, err) == 0) &&
	    check_grants(grants, err) == 0 &&
	    take(api, request->body, &order, err) == 0) {
		if (bu_rollouts_changing(api->rollouts, &order.sent))
			answer = BU_ANSWER_LATER;
		else if (read_again(api, &order, err) != 0)
			answer = BU_ANSWER_ERROR;
		else if (bu_api_scan(api, order.desired))
			answer = BU_ANSWER_LATER;
		else if (make_again(api, &order, err) == 0 &&
			 carry_out(api, &order, request, id, err) == 0)
			answer = BU_ANSWER_NOW;
	}
	if (answer == BU_ANSWER_NOW) {
		reply->logged = api->fleet->store;
		reply->json = json_pack("{s:s,s:i,s:O}", "rollout", id, "nodes",
					(int)order.made.steps_count, "refused",
					json_object_get(order.again, "refused"));
	}
	order_fini(&order);
	return answer;
}
