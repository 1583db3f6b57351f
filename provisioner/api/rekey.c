/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change of the appliance's CA and of the secret of tokens, step by step by a
 * person's word. Called by routes.c, and by agents.c with what agents trust. Invariant:
 * no step is taken that cuts off a node whose agent is heard, but by --force.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/api/api.h"
#include "provisioner/node/fence.h"

enum { NAMED = 5 };
#define CERT_MS (BU_AGENT_CERT_DAYS * INT64_C(86400000))

struct ask {
	int to;
	const char *reason;
	int force;
};
static const struct bu_field ask_fields[] = {
	BU_FIELD(WORD, struct ask, to, .words = bu_rotation_names),
	BU_FIELD(STRING, struct ask, reason, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD(FLAG, struct ask, force, .need = BU_OPTIONAL),
	BU_FIELD_END,
};

/* --- agents --- */

/* Its certificate is of the CA of before. */
static int
is_of_before(const struct bu_trust *trust, const struct bu_node *node)
{
	return bu_trust_rotation(trust) == BU_ROTATION_ISSUES &&
	       node->agent_cert_until_ms < bu_trust_rotation_since_ms(trust) + CERT_MS;
}

void
bu_api_rekey_tell(const struct bu_api *api, struct bu_node *node, const char *ca,
		  json_t *answer)
{
	int same = ca && strcmp(ca, bu_trust_ca_digest(api->trust)) == 0;

	bu_node_agent(node)->trusts_cas = same;
	if (ca && !same)
		json_object_set_new(answer, "ca", json_string(bu_trust_ca(api->trust)));
	if (same && is_of_before(api->trust, node))
		json_object_set_new(answer, "renew", json_true());
}

/* The next step would cut it off. */
static int
is_waited_for(const struct bu_trust *trust, const struct bu_node *node)
{
	return node->agent_cert[0] && !node->agent_revoked &&
	       bu_trust_rotation(trust) != BU_ROTATION_NONE &&
	       (!node->live.agent->trusts_cas || is_of_before(trust, node));
}

/* --- people --- */

static json_t *
waited_for(const struct bu_api *api)
{
	json_t *names = json_array();

	for (size_t i = 0; i < api->fleet->count; i++)
		if (is_waited_for(api->trust, api->fleet->nodes[i]))
			json_array_append_new(names,
					      json_string(api->fleet->nodes[i]->name));
	return names;
}

static json_t *
shown(const struct bu_api *api)
{
	const struct bu_trust *trust = api->trust;
	int64_t from_s = 0, until_s = 0;

	bu_ignore(bu_cert_times(bu_trust_ca(trust), &from_s, &until_s, NULL));
	return json_pack("{s:s,s:I,s:b,s:I,s:I,s:o}", "step",
			 bu_rotation_names[bu_trust_rotation(trust)], "since_ms",
			 (json_int_t)bu_trust_rotation_since_ms(trust), "restart",
			 bu_trust_rotation(trust) != bu_trust_rotation_began(trust),
			 "ca_from_s", (json_int_t)from_s, "ca_until_s",
			 (json_int_t)until_s, "waits", waited_for(api));
}

BU_HANDLER(bu_api_rekey_show)
{
	reply->json = shown(arg);
	return BU_ANSWER_NOW;
}

/* Nobody is cut off by what was only told. */
static int
check_nodes(const struct bu_api *api, enum bu_rotation to, struct bu_err *err)
{
	bu_autojson json_t *names = waited_for(api);
	bu_autofree char *list = bu_xstrdup("");
	size_t count = json_array_size(names);

	if (!count || to == BU_ROTATION_TOLD ||
	    (to == BU_ROTATION_NONE &&
	     bu_trust_rotation(api->trust) == BU_ROTATION_TOLD))
		return 0;
	for (size_t i = 0; i < count && i < NAMED; i++)
		bu_text_add(&list, i ? ", " : "", "%s",
			    json_string_value(json_array_get(names, i)));
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "%zu nodes have not taken it yet: %s%s; bringup rekey status "
			  "lists them. With --force they are cut off, and come back by "
			  "bringup node rebuild",
			  count, list, count > NAMED ? ", ..." : "");
}

/* Listeners trust what they trusted when bringupd began. */
static int
check_restarted(const struct bu_trust *trust, enum bu_rotation to, struct bu_err *err)
{
	if (to == BU_ROTATION_TOLD ||
	    bu_trust_rotation(trust) == bu_trust_rotation_began(trust) ||
	    (to == BU_ROTATION_NONE && bu_trust_rotation(trust) == BU_ROTATION_TOLD))
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "bringupd still listens as before the last step; restart it "
			  "first: systemctl restart bringupd");
}

BU_HANDLER(bu_api_rekey)
{
	struct bu_api *api = arg;
	int64_t now_ms = bu_wall_ms(bu_loop_clock(api->fleet->loop));
	const char *by = bu_request_by(request);
	struct bu_event event;
	struct ask ask;

	if (bu_request_read(request, ask_fields, &ask, err) != 0 ||
	    bu_fence_check(api->fleet, BU_ERR_STATE, err) != 0 ||
	    check_restarted(api->trust, ask.to, err) != 0 ||
	    (!ask.force && check_nodes(api, ask.to, err) != 0) ||
	    bu_trust_rotate(api->trust, ask.to, now_ms, err) != 0)
		return BU_ANSWER_ERROR;
	for (size_t i = 0; i < api->fleet->count; i++)
		bu_node_agent(api->fleet->nodes[i])->trusts_cas = 0;
	bu_warn("rekey", "%s: the change of the CA is at '%s'", by,
		bu_rotation_names[ask.to]);
	BU_EVENT_MAKE(&event, BU_EVENT_ROTATED, "", rotated,
		      .to = bu_rotation_names[ask.to], .by = by,
		      .reason = *ask.reason ? ask.reason : NULL);
	bu_reconcile_note(api->rec, &event, 1);
	reply->logged = api->fleet->store;
	reply->json = shown(api);
	return BU_ANSWER_NOW;
}
