/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [policy] two_persons: what wipes more nodes than that is carried out when two persons
 * have applied the same. Called by what applies plans. Invariants: one person is one,
 * however it comes; nobody lifts the rule alone; a split plan counts as a whole as long
 * as its parts are open.
 */
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/api/api.h"

struct needed {
	int weakens;     /* the plan's profile lifts the rule */
	int most;        /* of both profiles */
	int count, open; /* nodes that it wipes; others that are being wiped */
};

/* 0 = it asks for no second person. */
static int
most_of(const struct bu_desired *desired)
{
	return desired ? desired->policy.two_persons : 0;
}

static int
is_weaker(int most, int than)
{
	return than && (!most || most > than);
}

/* The nodes that the plan wipes, by name. New reference. */
static json_t *
wiped(const struct bu_plan *plan)
{
	json_t *ret = json_object();

	for (size_t i = 0; i < plan->steps_count; i++)
		if (bu_class_from_name(plan->steps[i].class) == BU_CLASS_WIPE)
			json_object_set_new(ret, plan->steps[i].node, json_true());
	return ret;
}

/* Others that an earlier plan wipes. */
static int
count_open(const struct bu_fleet *fleet, const json_t *wipes)
{
	int count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];

		count += node->order->open && node->order->class == BU_CLASS_WIPE &&
			 !json_object_get(wipes, node->name);
	}
	return count;
}

/* --- persons --- */

/* "alice" of "alice (uid 1000)", "token alice", "oidc:CORP/alice@example.org"; of a
 * certificate the whole name. */
static void
person_of(const char *who, char ret[BU_BY_SIZE])
{
	static const char cert[] = "cert ";
	size_t length = strcspn(who, "(@+");
	size_t at = length;

	if (strncmp(who, cert, strlen(cert)) == 0) {
		bu_text_copy(ret, BU_BY_SIZE, who + strlen(cert));
		return;
	}

	while (at > 0 && who[at - 1] == ' ')
		length = --at;
	while (at > 0 && !strchr(" :/\\|", who[at - 1]))
		at--;
	bu_text_copy_part(ret, BU_BY_SIZE, who + at, length - at);
	if (!*ret)
		bu_text_copy(ret, BU_BY_SIZE, who);
}

/* root, and a user of the same host, who may have become root by sudo. */
static int
is_root_and_user(const char *who, const char *other)
{
	/* As server_caller.c names users, with a name and without. */
	static const char named[] = " (uid ", bare[] = "uid ";

	return strcmp(who, "root") == 0 &&
	       (strstr(other, named) || strncmp(other, bare, strlen(bare)) == 0);
}

static int
is_one(const char *who, const char *other)
{
	char a[BU_BY_SIZE], b[BU_BY_SIZE];

	person_of(who, a);
	person_of(other, b);
	return (a[0] && strcasecmp(a, b) == 0) || is_root_and_user(who, other) ||
	       is_root_and_user(other, who);
}

/* A token counts as its maker, too: who makes one could come with it. */
static int
is_same(const struct bu_agreed *agreed, const struct bu_caller *caller)
{
	return is_one(agreed->by, caller->who) || is_one(agreed->maker, caller->who) ||
	       is_one(agreed->by, caller->maker);
}

/* --- consent --- */

static int
is_fresh(const struct bu_agreed *agreed, const char *wipes, int64_t now_ms)
{
	return agreed->at_ms && strcmp(agreed->wipes, wipes) == 0 &&
	       now_ms - agreed->at_ms < BU_CONSENT_MS;
}

/* The other person's; NULL = none has agreed. own: the caller has. */
static const struct bu_agreed *
find(const struct bu_api *api, const char *wipes, const struct bu_caller *caller,
     int *ret_own)
{
	const struct bu_consents *consents = &api->fleet->consents;
	int64_t now_ms = bu_wall_ms(bu_loop_clock(api->fleet->loop));

	*ret_own = 0;
	for (size_t i = 0; i < BU_CONSENTS_KEPT; i++) {
		const struct bu_agreed *agreed = &consents->list[i];

		if (!is_fresh(agreed, wipes, now_ms))
			continue;
		if (!is_same(agreed, caller))
			return agreed;
		*ret_own |= is_one(agreed->by, caller->who);
	}
	return NULL;
}

static void
note(struct bu_api *api, const char *plan, const char *wipes, int count,
     const struct bu_caller *caller)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_CONSENTED, "", consented, .plan = plan,
		      .wipes = wipes, .nodes = count, .by = caller->who,
		      .maker = caller->maker);
	bu_reconcile_note(api->rec, &event, 1);
}

static int
refuse(const struct needed *needed, const char *plan, const char *by,
       struct bu_err *err)
{
	if (needed->weakens)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"the profile lifts [policy] two_persons = %d; nothing is done until another person applies the same within an hour. The consent of %s to plan %.12s is in the log; a token is its maker's, too",
			needed->most, by, plan);
	return bu_err_set(
		err, BU_ERR_DENIED, 0,
		"%d node(s) would be wiped and %d are being wiped, and [policy] "
		"two_persons = %d; nothing is done until another person applies the same within an hour. The consent of %s to plan %.12s is in the log; a token is its maker's, too",
		needed->count, needed->open, needed->most, by, plan);
}

int
bu_two_persons_check(struct bu_api *api, const struct bu_agreement *asked,
		     const struct bu_caller *caller, struct bu_err *err)
{
	const struct bu_fleet *fleet = api->fleet;
	int now = most_of(fleet->desired ? fleet->desired : fleet->last);
	int then = most_of(asked->desired);
	bu_autojson json_t *wipes = wiped(asked->plan);
	bu_autojson json_t *what = json_pack("{s:O,s:s}", "wipes", wipes, "revision",
					     asked->plan->revision);
	struct needed needed = {.weakens = is_weaker(then, now),
				.most = is_weaker(now, then) ? then : now,
				.count = (int)json_object_size(wipes)};
	const struct bu_agreed *other;
	char digest[BU_DIGEST_SIZE];
	int own;

	if (!needed.most)
		return 0;
	needed.open = needed.count ? count_open(fleet, wipes) : 0;
	if (!needed.weakens && needed.count + needed.open <= needed.most)
		return 0;
	bu_json_digest(what, digest);
	other = find(api, digest, caller, &own);
	if (other) {
		bu_warn("plan", "%s and %s agree to plan %.12s", other->by, caller->who,
			asked->digest);
		return 0;
	}
	if (!own)
		note(api, asked->digest, digest, needed.count, caller);
	return refuse(&needed, asked->digest, caller->who, err);
}
