/* SPDX-License-Identifier: Apache-2.0 */
/* Wipes that need two persons: who counts as another one, for what, and how long. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/desk.h"
#include "tests/support/unit.h"

static const char last_key[] = "max_unavailable = 50 %\n";
static const char at_two[] = "max_unavailable = 50 %\n[policy]\ntwo_persons = 2\n";

static const char *const names[] = {"node001", "node002", "node003", "node004"};
static struct site site;

static void
arrange(void)
{
	site_begin(&site, 4);
	rig_revise(&site.rig, 4, last_key, at_two);
	rig_pass(&site.rig, 1);
}

struct ask {
	const char *who, *maker;
	int nodes; /* that are wiped, the first ones */
	const char *revision;
	int most; /* of the plan's profile; -1 = as applied */
};

/* "" = it may be carried out. */
static const char *
asks(const struct ask *ask)
{
	static struct bu_err err;
	struct bu_plan_step steps[BU_LEN(names)] = {{0}};
	struct bu_plan plan = {.revision = ask->revision ? ask->revision : "r1",
			       .steps = steps,
			       .steps_count = BU_LEN(names)};
	struct bu_desired want = *site.rig.fleet->desired;
	struct bu_caller caller = {.roles = BU_CALLER_GRANT};

	memset(&err, 0, sizeof(err));
	for (size_t i = 0; i < BU_LEN(names); i++) {
		steps[i].node = names[i];
		steps[i].class = (int)i < ask->nodes ? "wipe" : "reimage";
	}
	if (ask->most >= 0)
		want.policy.two_persons = ask->most;
	snprintf(caller.who, sizeof(caller.who), "%s", ask->who);
	snprintf(caller.maker, sizeof(caller.maker), "%s",
		 ask->maker ? ask->maker : "");
	if (bu_two_persons_check(
		    &site.api, &(struct bu_agreement){&plan, "0123456789abcdef", &want},
		    &caller, &err) != 0)
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_pass(&site.rig, 1);
	return err.text;
}

static void
may(const struct ask *ask)
{
	ck_assert_str_eq(asks(ask), "");
}

static void
must_wait(const struct ask *ask)
{
	ck_assert_msg(strstr(asks(ask), "another person") != NULL, "%s may alone",
		      ask->who);
}

START_TEST(one_person_wipes_few_and_two_wipe_more)
{
	arrange();
	may(&(struct ask){"alice (uid 1000)", NULL, 2, NULL, -1});
	must_wait(&(struct ask){"alice (uid 1000)", NULL, 3, NULL, -1});
	must_wait(&(struct ask){"alice (uid 1000)", NULL, 3, NULL, -1});
	may(&(struct ask){"bob (uid 1001)", NULL, 3, NULL, -1});
	site_end(&site);
}
END_TEST

/* Alice by each of her ways, and tokens that one of the two has made. */
START_TEST(one_person_is_one_by_each_way)
{
	static const struct ask again[] = {
		{"alice (uid 1000)", NULL, 3, NULL, -1},
		{"token alice", "root", 3, NULL, -1},
		{"oidc:Alice@example.org", NULL, 3, NULL, -1},
		{"oidc:CORP\\alice", NULL, 3, NULL, -1},
		{"oidc:auth0|alice", NULL, 3, NULL, -1},
		{"cert alice", NULL, 3, NULL, -1},
		{"root", NULL, 3, NULL, -1},
		{"token ci", "alice (uid 1000)", 3, NULL, -1},
		{"token ci", "token alice", 3, NULL, -1},
	};

	arrange();
	must_wait(&again[0]);
	for (size_t i = 0; i < BU_LEN(again); i++)
		must_wait(&again[i]);
	site_end(&site);
	/* The other way around: the maker of the first one's token. */
	arrange();
	must_wait(&(struct ask){"token ci", "alice (uid 1000)", 3, NULL, -1});
	must_wait(&(struct ask){"alice (uid 1000)", NULL, 3, NULL, -1});
	must_wait(&(struct ask){"root", NULL, 3, NULL, -1}); /* by sudo */
	may(&(struct ask){"token bob", "root", 3, NULL, -1});
	/* Names without a letter before the mark. */
	must_wait(&(struct ask){"oidc:@a", NULL, 4, NULL, -1});
	must_wait(&(struct ask){"oidc:@a", NULL, 4, NULL, -1});
	site_end(&site);
}
END_TEST

START_TEST(consent_is_to_these_nodes_and_this_revision)
{
	arrange();
	must_wait(&(struct ask){"alice", NULL, 3, NULL, -1});
	must_wait(&(struct ask){"bob", NULL, 4, NULL, -1});
	must_wait(&(struct ask){"bob", NULL, 3, "r2", -1});
	may(&(struct ask){"bob", NULL, 3, NULL, -1});
	may(&(struct ask){"alice", NULL, 4, NULL, -1});
	site_end(&site);
}
END_TEST

START_TEST(it_lasts_an_hour_over_a_restart_and_until_something_is_applied)
{
	arrange();
	must_wait(&(struct ask){"alice", NULL, 3, NULL, -1});
	site_restart(&site);
	may(&(struct ask){"bob", NULL, 3, NULL, -1});
	rig_pass(&site.rig, BU_CONSENT_MS);
	must_wait(&(struct ask){"bob", NULL, 3, NULL, -1});
	rig_revise(&site.rig, 4, last_key, at_two);
	rig_pass(&site.rig, 1);
	must_wait(&(struct ask){"alice", NULL, 3, NULL, -1});
	site_end(&site);
}
END_TEST

/* Nor does anybody by a plan that says less of it, or by parts. */
START_TEST(nobody_lifts_the_rule_alone)
{
	arrange();
	must_wait(&(struct ask){"alice", NULL, 0, NULL, 0});
	must_wait(&(struct ask){"alice", NULL, 0, NULL, 3});
	must_wait(&(struct ask){"alice", NULL, 3, NULL, 0});
	may(&(struct ask){"alice", NULL, 0, NULL, 1});
	must_wait(&(struct ask){"alice", NULL, 2, NULL, 1});
	rig_apply(&site.rig, 2, BU_CLASS_WIPE, "d1", last_key, at_two);
	rig_pass(&site.rig, 1);
	ck_assert(rig_node(&site.rig, 1)->order->open);
	/* Two others are being wiped. */
	must_wait(&(struct ask){"alice", NULL, 3, NULL, -1});
	may(&(struct ask){"alice", NULL, 2, NULL, -1});
	site_end(&site);
}
END_TEST

/* By the routes: the profile that lifts the rule. */
START_TEST(the_routes_ask)
{
	struct desk desk;
	bu_autojson json_t *with = NULL, *without = NULL, *refused = NULL;

	begin(&desk);
	with = plan(&desk, last_key, at_two, NULL, 200);
	json_decref(apply(&desk, with, 200));
	rig_pass(&desk.site.rig, 100);
	without = plan(&desk, NULL, NULL, NULL, 200);
	refused = apply(&desk, without, 403);
	says(refused, "the profile lifts [policy] two_persons = 2");
	rig_pass(&desk.site.rig, 1);
	ck_assert_str_eq(desk.site.rig.fleet->consents.list[0].by, "local");
	end(&desk);
}
END_TEST

RIG_UNIT("two_persons", one_person_wipes_few_and_two_wipe_more,
	 one_person_is_one_by_each_way, consent_is_to_these_nodes_and_this_revision,
	 it_lasts_an_hour_over_a_restart_and_until_something_is_applied,
	 nobody_lifts_the_rule_alone, the_routes_ask)
