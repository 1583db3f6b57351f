/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of switches from a Prometheus: what the gate makes of its answers, what it
 * asks for and as whom, and that it delays no node, whatever it does. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file.h"
#include "provisioner/gate/campaign/switches_impl.h"
#include "tests/support/fakeprom.h"
#include "tests/support/leaf_campaign.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH, SPINES = 3 };

/* What it says: of the link of leaf02 and s2, what the leaf sends goes bad. */
struct site {
	struct fakeprom prom;
	int readings;     /* of `sent` by now */
	int silent;       /* at this one leaf02 is missing */
	int old;          /* at this one its series are old */
	const char *body; /* instead of all that; NULL = as it should be */
	int status;       /* with it */
	int ages;         /* queries for them */
	char first[200];  /* query of all */
};

static char *
vector(const struct site *site, int sent)
{
	char *list = NULL, *text;

	for (int leaf = 1; leaf <= LEAVES; leaf++) {
		if (leaf == 2 && site->silent && site->readings == site->silent)
			continue;
		for (int spine = 1; spine <= SPINES; spine++) {
			int bad = sent && leaf == 2 && spine == 2;

			bu_text_add(&list, ",",
				    "{\"metric\":{\"instance\":\"leaf0%d:9116\","
				    "\"ifAlias\":\"s%d\",\"ifName\":\"Ethernet%d\"},"
				    "\"value\":[1.7e9,\"%d\"]}",
				    leaf, spine, spine,
				    bad ? 5000 + 100 * site->readings : 70000);
		}
	}
	text = bu_xasprintf(
		"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\","
		"\"result\":[%s]}}",
		list);
	free(list);
	return text;
}

static char *
answer_query(const char *query, int *status, void *arg)
{
	struct site *site = arg;
	int sent = strstr(query, "ifOutErrors") != NULL;

	if (!site->first[0])
		snprintf(site->first, sizeof(site->first), "%s", query);
	if (site->status)
		*status = site->status;
	if (site->body)
		return bu_xstrdup(site->body);
	if (strncmp(query, "timestamp(", 10) == 0) {
		site->ages++;
		if (!sent && site->old && site->readings + 1 == site->old)
			return vector(site, 0);
		return bu_xstrdup("{\"status\":\"success\",\"data\":{\"resultType\":"
				  "\"vector\",\"result\":[]}}");
	}
	site->readings += !sent;
	return vector(site, sent);
}

static void
begin_counted(struct rig *rig, struct paths *paths, const char *url, const char *more)
{
	bu_autofree char *lines =
		bu_xasprintf("routing = sprayed\nspines = s1, s2, s3\n"
			     "switch_counters = %s\n%s",
			     url, more);

	rig_begin(rig, NODES);
	rig_open_gate(rig);
	rig_give_rails_with(rig, NODES, 1, (const char *const[]){lines});
	for (int i = 1; i <= NODES; i++) {
		struct bu_desired_node *node = &rig->fleet->desired->nodes[i - 1];

		rig_to_validating(rig, i);
		paths->leaf[i] = (i - 1) / EACH + 1;
		free(node->switch_ports);
		node->switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d", paths->leaf[i], i);
	}
}

static void
begin_site(struct site *site, struct rig *rig, struct paths *paths, const char *more)
{
	fakeprom_begin(&site->prom, answer_query, site);
	begin_counted(rig, paths, site->prom.url, more);
}

static void
end_site(struct site *site, struct rig *rig, struct paths *paths)
{
	end_fabric(rig, paths);
	fakeprom_end(&site->prom);
}

/* Each test is good: what its leaf sends to the spine alone tells of the link. */
START_TEST(a_bad_link_is_named)
{
	struct paths paths = {.slow = 0};
	struct site site = {.silent = 2};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_site(&site, &rig, &paths, "switch_delay = 5 s\n");
	pass(&rig, &paths, NODES, 20);
	all_join(&rig, NODES);
	pass(&rig, &paths, NODES, 600);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings, "rail fabric: what its switches count accuses the link between "
		       "leaf02 (rail fabric) and spine s2, to the spine: slow or "
		       "lossy: ");
	says(warnings, "readings of its switch; counted not read, 200, 100, 100, ");
	ck_assert_ptr_null(strstr(warnings, "leaf01"));
	ck_assert_ptr_null(strstr(warnings, "could not be read"));
	ck_assert_str_eq(site.prom.path, "POST /api/v1/query");
	ck_assert_str_eq(site.prom.query, "ifOutErrors");
	ck_assert_str_eq(site.prom.who, "");
	/* Two queries of a reading for what ports count, and two for how old that is.
	 */
	ck_assert_int_ge(site.readings, 11);
	ck_assert_int_eq(site.ages, 2 * site.readings);
	ck_assert_int_eq(site.prom.asked, 4 * site.readings);
	end_site(&site, &rig, &paths);
}
END_TEST

/* What was scraped before the load says nothing of it. */
START_TEST(it_is_asked_some_time_after_the_load)
{
	static const char begins[] = "timestamp(a{b=\"c%41&+\"}) < ";
	struct paths paths = {.slow = 0};
	struct site site = {.status = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;
	int64_t asked_s;
	const struct bu_switches *counters;

	begin_site(&site, &rig, &paths,
		   "switch_delay = 40 s\nswitch_received = a{b=\"c%41&+\"}\n"
		   "switch_peer_label = far\n");
	pass(&rig, &paths, NODES, 20);
	all_join(&rig, NODES);
	for (int i = 0; i < 60 && !rig.gate->switches; i++)
		pass(&rig, &paths, NODES, 1);
	ck_assert_ptr_nonnull(rig.gate->switches);
	counters = rig.gate->switches;
	for (int i = 0; i < 60 && !bu_prometheus_is_asked(counters->prometheus); i++)
		pass(&rig, &paths, NODES, 1);
	asked_s = bu_wall_ms(&rig.clock) / 1000;
	pass(&rig, &paths, NODES, 37);
	ck_assert_int_eq(site.prom.asked, 0);
	pass(&rig, &paths, NODES, 5);
	ck_assert_int_eq(site.prom.asked, 4);
	/* As it is written, whatever a form would make of it. */
	ck_assert_int_eq(strncmp(site.first, begins, strlen(begins)), 0);
	ck_assert_int_le(
		llabs(strtoll(site.first + strlen(begins), NULL, 10) - asked_s), 2);
	warnings = warnings_of(&rig);
	says(warnings, "none of ");
	says(warnings, "not even {instance=\"leaf01:9116\",far=\"\",ifName=");
	end_site(&site, &rig, &paths);
}
END_TEST

START_TEST(old_series_are_named_and_read_again)
{
	struct paths paths = {.slow = 0};
	struct site site = {.old = 3};
	bu_autofree char *during = NULL, *after = NULL;
	struct rig rig;

	begin_site(&site, &rig, &paths, "switch_delay = 1 s\n");
	for (int i = 0; i < 200 && site.readings < 2; i++)
		pass(&rig, &paths, NODES, 1);
	pass(&rig, &paths, NODES, 10);
	during = warnings_of(&rig);
	says(during, "switch_received: series {instance=\"leaf01:9116\",ifAlias=\"s1\","
		     "ifName=\"Ethernet1\"} is older than the load: make switch_delay "
		     "longer than it takes to ask all switches");
	site.old = 0;
	pass(&rig, &paths, NODES, 400);
	after = warnings_of(&rig);
	ck_assert_ptr_null(strstr(after, "could not be read"));
	says(after, "the link between leaf02 (rail fabric) and spine s2");
	end_site(&site, &rig, &paths);
}
END_TEST

/* It is said, and costs no node a certificate. */
START_TEST(a_prometheus_that_fails_costs_its_words_alone)
{
	static const struct {
		int status;
		const char *body, *says;
	} rows[] = {
		{400, "{\"status\":\"error\",\"error\":\"unexpected end\"}",
		 "switch_received: it answers with status 400: unexpected end"},
		{503, "<html>", "switch_received: it answers with status 503;"},
		{401, "", "it answers with status 401; give switch_credentials"},
		{403, "", "it answers with status 403; give switch_credentials"},
		{300, "", "it sends its clients elsewhere (status 300)"},
		{399, "", "it sends its clients elsewhere (status 399)"},
		{299, "", "switch_received: it answers with status 299;"},
		{302, "",
		 "it sends its clients elsewhere (status 302); give "
		 "switch_counters the URL of Prometheus itself"},
		{200, "<html>", "its answer"},
		{200,
		 "{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\","
		 "\"result\":[1,\"2\"]}}",
		 "switch_received: the query gives no vector (scalar)"},
		{200,
		 "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\","
		 "\"result\":[]}}",
		 "there is no series; correct switch_received and switch_sent"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site = {.status = rows[i].status, .body = rows[i].body};
		struct paths paths = {.slow = 0};
		bu_autofree char *warnings = NULL, *url = NULL;
		struct rig rig;

		begin_site(&site, &rig, &paths, "switch_delay = 1 s\n");
		pass(&rig, &paths, NODES, 20);
		all_join(&rig, NODES);
		pass(&rig, &paths, NODES, 100);
		warnings = warnings_of(&rig);
		url = bu_xasprintf("stay unseen: %s: ", site.prom.url);
		says(warnings, "rail fabric: its switches' counters could not be read");
		says(warnings, url);
		says(warnings, rows[i].says);
		ck_assert_ptr_null(strstr(warnings, "accuses"));
		end_site(&site, &rig, &paths);
	}
}
END_TEST

/* The profile refuses credentials without https: the loader's tests have that. */
static void
give_credentials(struct rig *rig, const char *kind, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/credentials", rig->dir);
	struct bu_desired_network *network = &rig->fleet->desired->networks[1];
	int is_program = strcmp(kind, "exec") == 0;

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
	ck_assert_int_eq(chmod(path, is_program ? 0700 : 0600), 0);
	free(network->switch_credentials);
	network->switch_credentials = bu_xasprintf("%s:%s", kind, path);
}

START_TEST(it_says_who_it_is)
{
	static const struct {
		const char *kind, *text;
		const char *who;  /* NULL = it is not asked */
		const char *says; /* and this is said */
	} rows[] = {
		{"file", "abc.DEF-1\n", "Bearer abc.DEF-1", NULL},
		{"file", "gate:open:sesame\n", "Basic Z2F0ZTpvcGVuOnNlc2FtZQ==", NULL},
		{"exec", "#!/bin/sh\necho tok3n\n", "Bearer tok3n", NULL},
		{"exec", "#!/bin/sh\necho tok3n >&2; exit 3\n", NULL,
		 ": the program failed"},
		{"file", "abc\nX-More: 1\n", NULL,
		 "is neither a bearer token nor USER:PASSWORD"},
		{"env", "", NULL, "a secret's reference is wrong"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paths paths = {.slow = 0};
		struct site site = {.status = 0};
		bu_autofree char *warnings = NULL;
		struct rig rig;

		begin_site(&site, &rig, &paths, "switch_delay = 1 s\n");
		give_credentials(&rig, rows[i].kind, rows[i].text);
		pass(&rig, &paths, NODES, 100);
		all_join(&rig, NODES);
		warnings = warnings_of(&rig);
		if (rows[i].who) {
			ck_assert_str_eq(site.prom.who, rows[i].who);
			ck_assert_int_gt(site.readings, 2);
			ck_assert_ptr_null(strstr(warnings, "could not be read"));
		} else {
			ck_assert_int_eq(site.prom.asked, 0);
			says(warnings, rows[i].says);
			ck_assert_ptr_null(strstr(warnings, "tok3n"));
			ck_assert_ptr_null(strstr(warnings, "X-More"));
		}
		end_site(&site, &rig, &paths);
	}
}
END_TEST

/* The first reading is wrong as whom it asks: that is said, too. */
START_TEST(wrong_credentials_are_to_be_corrected)
{
	struct paths paths = {.slow = 0};
	struct site site = {.status = 403, .body = ""};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_site(&site, &rig, &paths, "switch_delay = 1 s\n");
	give_credentials(&rig, "file", "abc\n");
	pass(&rig, &paths, NODES, 100);
	warnings = warnings_of(&rig);
	says(warnings, "it answers with status 403; correct switch_credentials");
	end_site(&site, &rig, &paths);
}
END_TEST

/* It takes the connection and no more; nodes come and are certified meanwhile. */
START_TEST(one_that_hangs_delays_no_node)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct paths paths = {.slow = 0};
	bu_autofree char *url = NULL;
	struct rig rig;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	url = bu_xasprintf("http://127.0.0.1:%d", ntohs(at.sin_port));
	begin_counted(&rig, &paths, url, "switch_delay = 1 s\n");
	pass(&rig, &paths, NODES - 1, 25);
	all_join(&rig, NODES - 1);
	rig.hanging = 1;
	pass(&rig, &paths, NODES - 1, 20);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->exchanges, 1);
	pass(&rig, &paths, NODES, 15);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->exchanges, 1);
	all_join(&rig, NODES);
	/* What the profile asks no more is asked no more. */
	free(rig.fleet->desired->networks[1].switch_counters);
	rig.fleet->desired->networks[1].switch_counters = NULL;
	pass(&rig, &paths, NODES, 5);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->exchanges, 0);
	rig.hanging = 0;
	close(fd);
	end_fabric(&rig, &paths);
}
END_TEST

/* Readings of one query say nothing of another one's. */
START_TEST(another_query_begins_anew)
{
	struct paths paths = {.slow = 0};
	struct site site = {.status = 0};
	struct rig rig;
	size_t before;

	begin_site(&site, &rig, &paths, "switch_delay = 1 s\n");
	for (int i = 0; i < 200 && site.readings < 5; i++)
		pass(&rig, &paths, NODES, 1);
	pass(&rig, &paths, NODES, 1);
	before = rig.gate->switches->count;
	ck_assert_uint_ge(before, 4);
	free(rig.fleet->desired->networks[1].switch_sent);
	rig.fleet->desired->networks[1].switch_sent =
		bu_xstrdup("sum by (instance, ifAlias) (ifOutErrors)");
	pass(&rig, &paths, NODES, 3);
	ck_assert_uint_lt(rig.gate->switches->count, before);
	ck_assert_int_ge(site.readings, 6);
	ck_assert_str_eq(site.prom.query, "sum by (instance, ifAlias) (ifOutErrors)");
	end_site(&site, &rig, &paths);
}
END_TEST

RIG_UNIT("prometheus", a_bad_link_is_named, it_is_asked_some_time_after_the_load,
	 old_series_are_named_and_read_again,
	 a_prometheus_that_fails_costs_its_words_alone, it_says_who_it_is,
	 wrong_credentials_are_to_be_corrected, one_that_hangs_delays_no_node,
	 another_query_begins_anew)
