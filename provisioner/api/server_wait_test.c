/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait: for news, for the log, and many at once. */
#include <sys/resource.h>

#include "tests/support/server.h"

/* An agent of a large site each. */
START_TEST(more_wait_than_select_could_watch)
{
	struct rlimit files;
	struct site site;
	bu_autofree struct talk *talks = bu_xcalloc(CLIENTS_MAX, sizeof(*talks));
	char from[32];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = 6 * CLIENTS_MAX; /* of which the listener has 3/16 */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	begin(&site);
	site.port = listen_on(&site, BU_LISTEN_BOOT);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		bu_autofree char *text = bu_xasprintf(
			"GET /later?n=%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i);

		snprintf(from, sizeof(from), "127.0.%d.1", i / 50);
		talk_from(&talks[i], from, site.port, text, 0);
		bu_loop_step(site.loop, 0);
	}
	for (int i = 0; i < PATIENCE && site.clients < CLIENTS_MAX; i++)
		bu_loop_step(site.loop, 1);
	ck_assert_int_ge(site.clients, CLIENTS_MAX);
	site.open = 1;
	bu_server_wake(site.server);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		for (int k = 0; k < PATIENCE && !talks[i].size; k++)
			turn(&site, &talks[i]);
		ck_assert_int_eq(talks[i].status, 200);
		talk_end(&talks[i]);
	}
	finish(&site);
}
END_TEST

START_TEST(who_waits_is_woken)
{
	struct site site;
	struct talk talk;
	int asked;

	begin(&site);
	talk_begin(
		&talk, site.port,
		"GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		0);
	for (int i = 0; i < PATIENCE && !site.asked; i++)
		turn(&site, &talk);
	for (int i = 0; i < 10; i++)
		turn(&site, &talk);
	asked = site.asked;
	ck_assert_int_eq(asked, 1); /* it is not asked all the time */
	ck_assert_int_eq(talk.ended, 0);
	bu_server_wake(site.server);
	for (int i = 0; i < PATIENCE && site.asked == asked; i++)
		turn(&site, &talk);
	ck_assert_int_eq(site.asked, 2);
	site.open = 1; /* nobody wakes: a second later it is asked anyway */
	for (int i = 0; i < PATIENCE && !talk.ended; i++)
		turn(&site, &talk);
	ck_assert_str_eq(talk.body, "{\"waited\":true}");
	talk_end(&talk);
	finish(&site);
}
END_TEST

/* An agent's poll whose body came a moment after its head counted as one that waits,
 * and its node as silent. */
START_TEST(a_request_that_comes_in_pieces_has_not_waited)
{
	static const char head[] = "POST /later HTTP/1.1\r\nHost: localhost\r\n"
				   "Content-Length: 2\r\n\r\n";
	struct site site;
	struct talk talk;

	begin(&site);
	site.waited_ms = -1;
	talk_begin(&talk, site.port, head, 0);
	for (int i = 0; i < 10; i++)
		turn(&site, &talk);
	ck_assert_int_eq(site.asked, 0);
	ahead_ms += 100;
	bu_loop_step(site.loop, 0);
	ck_assert_int_eq(write(talk.fd, "{}", 2), 2);
	for (int i = 0; i < PATIENCE && !site.asked; i++)
		turn(&site, &talk);
	ck_assert_int_eq(site.waited_ms, 0);
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(an_answer_that_needs_the_log_waits_for_it)
{
	struct site site;
	struct talk talk;

	begin(&site);
	site.store = bu_store_create(site.loop, &paper_log, &site);
	talk_begin(&talk, site.port, "GET /logged HTTP/1.1\r\nHost: localhost\r\n\r\n",
		   0);
	site.client = talk.fd;
	while (!bu_store_committed(site.store))
		bu_loop_step(site.loop, 5);
	ck_assert_int_eq(site.early, 0);
	for (int i = 0; i < PATIENCE && !talk.size; i++)
		turn(&site, &talk);
	ck_assert_str_eq(talk.body, "it is in the log");
	ck_assert_int_eq(site.asked, 1);
	talk_end(&talk);
	/* one that is cut off leaves nothing behind */
	talk_begin(&talk, site.port, "GET /logged HTTP/1.1\r\nHost: localhost\r\n\r\n",
		   0);
	while (site.asked < 2)
		bu_loop_step(site.loop, 5);
	talk_end(&talk);
	bu_server_destroy(bu_steal(&site.server));
	bu_store_destroy(site.store);
	finish(&site);
}
END_TEST

/* Each row: how the log fails, what whoever asked is told. */
START_TEST(an_answer_whose_rows_are_not_in_the_log_is_none)
{
	static const struct {
		enum bu_proposal_end end;
		const char *says;
	} rows[] = {
		{BU_PROPOSAL_NOT, "\"the disk is full; 0 bytes are free\""},
		{BU_PROPOSAL_UNKNOWN,
		 "\"it is not known yet whether this is in the log: "
		 "the disk is full; 0 bytes are free\""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct talk talk;

		begin(&site);
		site.end = rows[i].end;
		site.store = bu_store_create(site.loop, &paper_log, &site);
		talk_begin(&talk, site.port,
			   "GET /logged HTTP/1.1\r\nHost: localhost\r\n\r\n", 0);
		site.client = talk.fd;
		while (!bu_store_down(site.store))
			turn(&site, &talk);
		turn(&site, &talk);
		ck_assert_uint_eq(talk.size, 0); /* whoever waits is woken at times */
		for (int k = 0; k < PATIENCE && !talk.size; k++) {
			ahead_ms += 100;
			turn(&site, &talk);
		}
		ck_assert_int_eq(talk.status, 500);
		ck_assert_ptr_nonnull(strstr(talk.body, rows[i].says));
		ck_assert_ptr_nonnull(strstr(talk.body, "\"kind\":\"io\""));
		talk_end(&talk);
		bu_server_destroy(bu_steal(&site.server));
		bu_store_destroy(site.store);
		finish(&site);
	}
}
END_TEST

START_TEST(many_wait_and_some_go_away)
{
	struct site site;
	struct talk talks[20];

	begin(&site);
	for (int i = 0; i < 20; i++)
		talk_begin(
			&talks[i], site.port,
			"GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			0);
	for (int i = 0; i < PATIENCE && site.asked < 20; i++)
		bu_loop_step(site.loop, 10);
	for (int i = 0; i < 20; i += 2)
		talk_end(&talks[i]);
	site.open = 1;
	bu_server_wake(site.server);
	for (int i = 1; i < 20; i += 2) {
		for (int k = 0; k < PATIENCE && !talks[i].ended; k++)
			turn(&site, &talks[i]);
		ck_assert_str_eq(talks[i].body, "{\"waited\":true}");
		talk_end(&talks[i]);
	}
	finish(&site);
}
END_TEST

START_TEST(a_server_ends_with_clients_waiting)
{
	struct site site;
	struct talk talk;

	begin(&site);
	talk_begin(
		&talk, site.port,
		"GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		0);
	for (int i = 0; i < PATIENCE && !site.asked; i++)
		turn(&site, &talk);
	finish(&site);
	talk_end(&talk);
}
END_TEST

BU_UNIT("server_wait", more_wait_than_select_could_watch, who_waits_is_woken,
	a_request_that_comes_in_pieces_has_not_waited,
	an_answer_that_needs_the_log_waits_for_it,
	an_answer_whose_rows_are_not_in_the_log_is_none, many_wait_and_some_go_away,
	a_server_ends_with_clients_waiting)
