/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/meta: the tables of the model, for views that have none of their own. States,
 * verbs, classes, conditions and reasons, each with its words, and the columns that
 * sentences quote; and who the caller is. Called by the router. Invariant: but for its
 * caller the answer is the program's alone and never changes while it runs; its ETag is
 * its digest.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "model/boot_link.h"
#include "model/class.h"
#include "model/condition.h"
#include "model/sentence.h"
#include "model/verb.h"
#include "provisioner/api/api.h"

static json_t *
states_json(void)
{
	static const char *const places[] = {"none", "out", "entering", "in",
					     "leaving"};
	json_t *list = json_array();

	for (int state = 0; state < BU_STATE_COUNT; state++) {
		const struct bu_state_info *info = bu_state_info((enum bu_state)state);

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:b,s:s,s:b,s:b}", "name", info->name,
					"help", info->help, "settled", info->settled,
					"place", places[info->place], "bad",
					bu_state_is_bad((enum bu_state)state), "manual",
					state == BU_STATE_SERVICING));
	}
	return list;
}

static json_t *
conditions_json(void)
{
	json_t *list = json_array();

	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition_info *info =
			bu_condition_info((enum bu_condition_id)id);

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:b,s:s,s:s,s:s}", "name", info->name, "of",
				  info->of == BU_CONDITION_OF_SITE ? "site" : "node",
				  "away", info->away, "words", info->words, "set",
				  info->set, "cleared", info->cleared));
	}
	return list;
}

static json_t *
verbs_json(void)
{
	json_t *list = json_array();

	for (int verb = 0; verb < BU_VERB_COUNT; verb++) {
		const struct bu_verb_info *info = bu_verb_info((enum bu_verb)verb);
		json_t *states = json_array();

		for (int state = 0; state < BU_STATE_COUNT; state++)
			if (bu_verb_takes((enum bu_verb)verb, (enum bu_state)state))
				json_array_append_new(states,
						      json_string(bu_state_name(
							      (enum bu_state)state)));
		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:s,s:b,s:b,s:b,s:o}", "name", info->name,
				  "args", info->args, "help", info->help, "grant",
				  info->grants, "held", verb == BU_VERB_RELEASE,
				  "forgets",
				  verb == BU_VERB_REPLACE || verb == BU_VERB_RETIRE,
				  "states", states));
	}
	return list;
}

static json_t *
classes_json(void)
{
	json_t *list = json_array();

	for (int class = 0; class < BU_CLASS_COUNT; class ++) {
		const struct bu_class_info *info = bu_class_info((enum bu_class) class);

		json_array_append_new(list, json_pack("{s:s,s:s,s:b}", "name",
						      info->name, "help", info->help,
						      "grant", info->needs_grant));
	}
	return list;
}

static json_t *
links_json(void)
{
	json_t *list = json_array();

	for (int link = 0; link < BU_PROOF_ROWS; link++) {
		const char *name = bu_boot_link_name((enum bu_proof_link)link);

		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s}", "name", name, "done",
						bu_boot_link_done(name), "missing",
						bu_boot_link_missing(name)));
	}
	return list;
}

/* Names of a sentence's arguments, each once. */
static json_t *
args_json(const char *template)
{
	json_t *seen = json_object(), *list = json_array();

	for (const char *at = strchr(template, '{'); at; at = strchr(at + 1, '{')) {
		char name[16];

		bu_said_arg(at, name);
		if (json_object_get(seen, name))
			continue;
		json_object_set_new(seen, name, json_true());
		json_array_append_new(list, json_string(name));
	}
	json_decref(seen);
	return list;
}

static json_t *
reasons_json(void)
{
	json_t *list = json_array();

	for (int code = BU_REASON_NONE + 1; code < BU_REASON_COUNT; code++) {
		const struct bu_reason_info *info =
			bu_reason_info((enum bu_reason_code)code);

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:s,s:s,s:i,s:o}", "code", info->name,
				  "kind", bu_reason_kind_name(info->kind), "sentence",
				  info->text, "ends", info->ends, "again_s",
				  info->again_s, "args", args_json(info->text)));
	}
	return list;
}

/* The answer, made once. */
static const char *
meta_text(void)
{
	static char *text;
	bu_autojson json_t *meta = NULL;

	if (text)
		return text;
	meta = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "version", BU_VERSION,
			 "states", states_json(), "verbs", verbs_json(), "classes",
			 classes_json(), "conditions", conditions_json(), "links",
			 links_json(), "reasons", reasons_json());
	text = bu_json_canonical(meta);
	return text;
}

/* ["view","operate"]: the roles of routes that a caller may use. */
static json_t *
may_json(unsigned roles)
{
	json_t *list = json_array();

	for (unsigned place = 0; place < BU_CALLER_PLACE_OPEN; place++)
		if (roles >> place & 1U)
			json_array_append_new(
				list, json_string(bu_caller_role_name(
					      (enum bu_caller_role)(1U << place))));
	return list;
}

/* The tables with their caller before them; owned. */
static char *
text_for(const struct bu_request *request)
{
	const struct bu_caller *caller = request->caller;
	unsigned has = caller ? caller->roles : 0;
	bu_autofree char *roles = bu_caller_roles_text(has);
	bu_autojson json_t *you =
		json_pack("{s:s,s:s,s:o,s:b}", "name", caller ? caller->who : "local",
			  "role", roles, "may", may_json(has), "session",
			  bu_request_cookie(request, BU_SESSION_COOKIE) != NULL);
	bu_autofree char *is = bu_json_canonical(you);

	return bu_xasprintf("{\"caller\":%s,%s", is, meta_text() + 1);
}

BU_HANDLER(bu_api_meta)
{
	static char etag[BU_DIGEST_SIZE + 2]; /* of the last answer */
	char digest[BU_DIGEST_SIZE];

	reply->text = text_for(request);
	bu_sha256_hex(reply->text, strlen(reply->text), digest);
	snprintf(etag, sizeof(etag), "\"%s\"", digest);
	reply->etag = etag;
	reply->content_type = "application/json";
	return BU_ANSWER_NOW;
}
