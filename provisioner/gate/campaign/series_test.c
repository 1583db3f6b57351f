/* SPDX-License-Identifier: Apache-2.0 */
/* Series of a Prometheus: which link they are of, what they add up to over readings,
 * and what is refused. */
#include "provisioner/gate/campaign/series.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

static struct bu_topology shape;

static void
open_shape(void)
{
	static const char *const leaves[] = {"leaf01", "leaf02.x.org", "10"};

	shape = (struct bu_topology){.leaves = 3,
				     .spines = 2,
				     .leaf_ids = {json_array(), json_object()},
				     .spine_ids = {json_array(), json_object()}};
	for (size_t i = 0; i < BU_LEN(leaves); i++)
		bu_ids_place(&shape.leaf_ids, leaves[i]);
	bu_ids_place(&shape.spine_ids, "s1");
	bu_ids_place(&shape.spine_ids, "s2");
}

static struct bu_series_of
series_of(int sent)
{
	return (struct bu_series_of){
		&shape,
		{.device = "instance", .peer = "ifAlias", .port = "ifName"},
		sent};
}

/* "device>peer:port value" with blanks between; owned. */
static json_t *
vector(const char *samples)
{
	bu_autofree char *text = bu_xstrdup(samples);
	json_t *list = json_array();
	char *rest = text, *device;

	while ((device = strsep(&rest, " ")) && *device) {
		char *value = strsep(&rest, " ");
		char *peer = strchr(device, '>'), *port = strchr(peer, '!');

		*peer++ = *port++ = '\0';
		json_array_append_new(
			list, json_pack("{s:{s:s,s:s,s:s,s:s},s:[f,s]}", "metric",
					"__name__", "x", "instance", device, "ifAlias",
					peer, "ifName", port, "value", 1.7e9, value));
	}
	return json_pack("{s:s,s:{s:s,s:o}}", "status", "success", "data", "resultType",
			 "vector", "result", list);
}

/* What a reading of both comes to, "leaf01-s1-up:7 "; owned. */
static char *
read_both(struct bu_series *series, const char *received, const char *sent)
{
	const char *const samples[] = {received, sent};
	struct bu_series_of of = series_of(0);
	bu_autojson json_t *links = NULL;
	struct bu_err err = {0};
	char *text = bu_xstrdup("");
	json_t *one;
	size_t i;

	bu_series_begin(series);
	for (int k = 0; k < 2; k++) {
		bu_autojson json_t *answer = vector(samples[k]);

		of = series_of(k);
		if (bu_series_add(series, &of, answer, &err) != 0) {
			free(text);
			return bu_xstrdup(err.text);
		}
	}
	links = bu_series_links(series, &of, &err);
	json_array_foreach (links, i, one) {
		bu_autofree char *before = text;

		text = bu_xasprintf(
			"%s%s-%s-%s:%g ", before, bu_json_str(one, "leaf", ""),
			bu_json_str(one, "spine", ""), bu_json_str(one, "dir", ""),
			bu_json_real(one, "errors", -1));
	}
	if (!links) {
		free(text);
		text = bu_xstrdup(err.text);
	}
	return text;
}

static void
check(struct bu_series *series, const char *received, const char *sent,
      const char *want)
{
	bu_autofree char *got = read_both(series, received, sent);

	ck_assert_str_eq(got, want);
}

/* What a leaf sends to a spine, or a spine receives from it, goes up. */
START_TEST(both_ends_tell_of_a_link)
{
	struct bu_series series = {0};

	open_shape();
	check(&series, "leaf01>s1!e1 5 s1>leaf01!e9 6", "leaf01>s1!e1 7 s2>leaf01!e9 8",
	      "leaf01-s1-up:0 leaf01-s1-down:0 leaf01-s2-down:0 ");
	check(&series, "leaf01>s1!e1 6 s1>leaf01!e9 16",
	      "leaf01>s1!e1 107 s2>leaf01!e9 1008",
	      "leaf01-s1-up:110 leaf01-s1-down:1 leaf01-s2-down:1000 ");
	bu_series_fini(&series);
	bu_topology_fini(&shape);
}
END_TEST

/* With its port, or its domain; an address is no name with a domain. */
START_TEST(switches_are_found_by_their_names)
{
	struct bu_series series = {0};

	open_shape();
	check(&series,
	      "leaf01:9116>s1!e1 1 leaf01.y.org:161>s2.y.org!e2 1 leaf02.x.org>s1!e1 1 "
	      "leaf02>s2!e1 1 10.0.0.1:9116>s1!e1 1 10:9116>s2!e1 1 other>s1!e1 NaN "
	      "leaf01>server7!e3 NaN",
	      "",
	      "leaf01-s1-down:0 leaf01-s2-down:0 leaf02.x.org-s1-down:0 10-s2-down:0 ");
	bu_series_fini(&series);
	bu_topology_fini(&shape);
}
END_TEST

/* Two cables of a link are added up, each by itself. */
START_TEST(a_port_counts_from_its_first_reading)
{
	struct bu_series series = {0};

	open_shape();
	check(&series, "", "leaf01>s1!e1 500", "leaf01-s1-up:0 ");
	check(&series, "", "leaf01>s1!e1 510 leaf01>s1!e2 90000", "leaf01-s1-up:10 ");
	check(&series, "", "leaf01>s1!e1 511 leaf01>s1!e2 90001", "leaf01-s1-up:12 ");
	/* Its switch was started again: 3 since then. */
	check(&series, "", "leaf01>s1!e1 3 leaf01>s1!e2 90001", "leaf01-s1-up:15 ");
	/* One of its ports is missing: the link was not read, and loses nothing. */
	check(&series, "", "leaf01>s1!e2 90002 s1>leaf02.x.org!e2 0",
	      "leaf02.x.org-s1-down:0 ");
	bu_series_fini(&series);
	bu_topology_fini(&shape);
}
END_TEST

START_TEST(what_is_no_count_is_refused)
{
	static const struct {
		const char *sent, *want;
	} rows[] = {
		{"leaf01>s1!e1 NaN", "series x{instance=\"leaf01\",ifAlias=\"s1\","
				     "ifName=\"e1\"} has a value that is not a count"},
		{"leaf01>s1!e1 +Inf", "has a value that is not a count"},
		{"leaf01>s1!e1 -1", "has a value that is not a count"},
		{"leaf01>s1!e1 7x", "has a value that is not a count"},
		{"leaf01>s1!e1 x", "has a value that is not a count"},
		{"leaf01>s1!e1 7 leaf01>s1!e1 8",
		 "comes twice; make the query give one"},
		{"", "there is no series; correct switch_received and switch_sent"},
		{"leaf01>eth7!e1 7 other>s1!e1 8",
		 "none of 2 series names a leaf and a spine, not even "
		 "x{instance=\"leaf01\",ifAlias=\"eth7\",ifName=\"e1\"}"},
	};

	open_shape();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_series series = {0};
		bu_autofree char *got = read_both(&series, "", rows[i].sent);

		ck_assert_msg(strstr(got, rows[i].want) != NULL, "%zu: %s", i, got);
		bu_series_fini(&series);
	}
	bu_topology_fini(&shape);
}
END_TEST

/* A reading that failed in its middle loses nothing of the next one. */
START_TEST(a_failed_reading_is_made_up_for)
{
	struct bu_series series = {0};
	bu_autofree char *failed = NULL;

	open_shape();
	check(&series, "", "leaf01>s1!e1 1 leaf01>s2!e2 1",
	      "leaf01-s1-up:0 leaf01-s2-up:0 ");
	failed = read_both(&series, "", "leaf01>s1!e1 101 leaf01>s2!e2 NaN");
	ck_assert_ptr_nonnull(strstr(failed, "not a count"));
	check(&series, "", "leaf01>s1!e1 102 leaf01>s2!e2 3",
	      "leaf01-s1-up:101 leaf01-s2-up:2 ");
	/* All at once: nothing reaches the switches any more. */
	check(&series, "", "",
	      "all links that were read before are gone; see whether their switches are "
	      "still reached");
	bu_series_fini(&series);
	bu_topology_fini(&shape);
}
END_TEST

START_TEST(answers_that_are_no_vector_are_refused)
{
	static const char *const answers[] = {
		"{'status':'success','data':{'resultType':'matrix','result':[]}}",
		"{'status':'success','data':{'resultType':'vector','result':{}}}",
		"{'status':'error','data':{'resultType':'vector','result':[]}}",
		"{'status':'success'}",
		"[]",
	};
	struct bu_series_of of = series_of(1);

	open_shape();
	for (size_t i = 0; i < BU_LEN(answers); i++) {
		bu_autojson json_t *answer = quoted(answers[i]);
		struct bu_series series = {0};
		struct bu_err err = {0};

		bu_series_begin(&series);
		ck_assert_int_eq(bu_series_add(&series, &of, answer, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.text, "gives no vector"));
		ck_assert_int_eq(bu_series_check_age(&of, answer, NULL), -1);
		bu_series_fini(&series);
	}
	bu_topology_fini(&shape);
}
END_TEST

START_TEST(an_old_series_of_a_link_is_named)
{
	struct bu_series_of of = series_of(1);
	bu_autojson json_t *old = NULL, *others = NULL;
	struct bu_err err = {0};

	open_shape();
	others = vector("other>s1!e1 170 leaf01>eth7!e1 170");
	old = vector("other>s1!e1 170 leaf01>s2!e4 170");
	ck_assert_int_eq(bu_series_check_age(&of, others, &err), 0);
	ck_assert_int_eq(bu_series_check_age(&of, old, &err), -1);
	ck_assert_ptr_nonnull(
		strstr(err.text, "ifName=\"e4\"} is older than the load"));
	bu_topology_fini(&shape);
}
END_TEST

/* Text as Prometheus writes numbers; what is no text is no number of it. */
START_TEST(values_are_numbers_in_text)
{
	static const struct {
		const char *value;
		double errors; /* grown from 0; -1 = it is refused */
	} rows[] = {{"[1,'1027']", 1027}, {"[1,'1.5e+06']", 1.5e6},
		    {"[1,'0']", 0},       {"[1,'']", -1},
		    {"[1,7]", -1},        {"[1]", -1},
		    {"'7'", -1},          {"[1,'-0.5']", -1}};

	open_shape();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_series_of of = series_of(1);
		struct bu_series series = {0};
		struct bu_err err = {0};
		bu_autojson json_t *links = NULL;

		for (int reading = 0; reading < 2; reading++) {
			bu_autofree char *text = bu_xasprintf(
				"{'status':'success','data':{'resultType':'vector',"
				"'result':[{'metric':{'instance':'leaf01','ifAlias':"
				"'s1','ifName':'e1'},'value':%s}]}}",
				reading ? rows[i].value : "[1,'0']");
			bu_autojson json_t *answer = quoted(text);

			bu_series_begin(&series);
			ck_assert_msg((bu_series_add(&series, &of, answer, &err) ==
				       0) == (!reading || rows[i].errors >= 0),
				      "row %zu", i);
		}
		links = bu_series_links(&series, &of, &err);
		if (rows[i].errors >= 0)
			ck_assert_double_eq(
				bu_json_real(json_array_get(links, 0), "errors", -1),
				rows[i].errors);
		bu_series_fini(&series);
	}
	bu_topology_fini(&shape);
}
END_TEST

/* As an agent reads them: both figures of each, with the same rules. */
START_TEST(ports_of_an_agent_are_both_figures)
{
	static const struct {
		const char *device, *peer, *names[2];
		int rc;
		const char *want; /* of a second reading */
	} rows[] = {
		{"leaf01",
		 "s1",
		 {"received", "sent"},
		 0,
		 "leaf01-s1-up:20 leaf01-s1-down:10 "},
		{"s2",
		 "leaf01",
		 {"received", "sent"},
		 0,
		 "leaf01-s2-up:10 leaf01-s2-down:20 "},
		{"leaf01", "s1", {"received", "got"}, -1, NULL},
		{"leaf01", "s1", {"got", "sent"}, -1, NULL},
	};

	open_shape();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_series_of of = series_of(0);
		bu_autofree char *text = bu_xstrdup("");
		bu_autojson json_t *links = NULL;
		struct bu_series series = {0};
		struct bu_err err = {0};
		json_t *one;
		size_t k;

		for (int reading = 0; reading < 2; reading++) {
			bu_autojson json_t *ports = NULL;

			ports = json_pack("[{s:s,s:s,s:s,s:i,s:i}]", "switch",
					  rows[i].device, "peer", rows[i].peer, "port",
					  "1", rows[i].names[0], 10 * reading,
					  rows[i].names[1], 20 * reading);
			bu_series_begin(&series);
			ck_assert_int_eq(
				bu_series_add_ports(&series, &shape, ports, &err),
				rows[i].rc);
		}
		links = rows[i].rc ? NULL : bu_series_links(&series, &of, &err);
		json_array_foreach (links, k, one) {
			bu_autofree char *before = text;

			text = bu_xasprintf("%s%s-%s-%s:%g ", before,
					    bu_json_str(one, "leaf", ""),
					    bu_json_str(one, "spine", ""),
					    bu_json_str(one, "dir", ""),
					    bu_json_real(one, "errors", -1));
		}
		if (rows[i].want)
			ck_assert_str_eq(text, rows[i].want);
		bu_series_fini(&series);
	}
	bu_topology_fini(&shape);
}
END_TEST

BU_UNIT("series", values_are_numbers_in_text, ports_of_an_agent_are_both_figures,
	both_ends_tell_of_a_link, switches_are_found_by_their_names,
	a_port_counts_from_its_first_reading, what_is_no_count_is_refused,
	a_failed_reading_is_made_up_for, answers_that_are_no_vector_are_refused,
	an_old_series_of_a_link_is_named)
