/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/probe/channel.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

static const char secret[] = "0123456789abcdef";

struct end {
	struct bu_channel_opts opts;
	int begun;
	int64_t deadline_ms;
	struct bu_channel *channel;
	struct bu_err err;
	pthread_t thread;
};

static struct bu_wait
wait_ms(int64_t ms)
{
	return (struct bu_wait){.deadline_ns = bu_raw_ns() + ms * 1000000};
}

static void *
open_end(void *arg)
{
	struct end *end = arg;
	struct bu_wait wait = wait_ms(end->deadline_ms);

	end->channel = bu_channel_open(&end->opts, end->begun, &wait, &end->err);
	return NULL;
}

static void
prepare(struct end ends[2], int64_t deadline_ms)
{
	int port = free_port();

	memset(ends, 0, 2 * sizeof(*ends));
	for (int i = 0; i < 2; i++) {
		ends[i].opts = (struct bu_channel_opts){.listens = i,
							.addr = "127.0.0.1",
							.port = port,
							.probe = "p1",
							.secret = secret};
		ends[i].begun = -1;
		ends[i].deadline_ms = deadline_ms;
	}
}

static void
open_both(struct end ends[2])
{
	for (int i = 0; i < 2; i++)
		pthread_create(&ends[i].thread, NULL, open_end, &ends[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(ends[i].thread, NULL);
}

static void
close_both(struct end ends[2])
{
	bu_channel_destroy(ends[0].channel);
	bu_channel_destroy(ends[1].channel);
}

START_TEST(talks_both_paths)
{
	struct end ends[2];
	struct bu_wait wait = wait_ms(5000);

	prepare(ends, 5000);
	open_both(ends);
	ck_assert(ends[0].channel && ends[1].channel);
	for (int i = 0; i < 6; i++) {
		bu_autojson json_t *message = json_pack("{s:i}", "n", i);
		bu_autojson json_t *got = NULL;

		ck_assert_int_eq(
			bu_channel_send(ends[i % 2].channel, message, &wait, NULL), 0);
		got = bu_channel_receive(ends[!(i % 2)].channel, &wait, NULL);
		ck_assert(json_equal(message, got));
		ck_assert(!bu_channel_has_input(ends[!(i % 2)].channel));
	}
	bu_channel_destroy(ends[0].channel);
	ends[0].channel = NULL;
	ck_assert_ptr_null(bu_channel_receive(ends[1].channel, &wait, &ends[1].err));
	ck_assert_int_eq(ends[1].err.kind, BU_ERR_REMOTE);
	close_both(ends);
}
END_TEST

/* Whoever begins first: a connection that was refused meanwhile is repeated. */
START_TEST(begins_before_it_opens)
{
	for (int first = 0; first < 2; first++) {
		struct end ends[2];

		prepare(ends, 5000);
		ends[first].begun = bu_channel_begin(&ends[first].opts);
		ck_assert_int_ge(ends[first].begun, 0);
		ends[!first].begun = bu_channel_begin(&ends[!first].opts);
		ck_assert_int_ge(ends[!first].begun, 0);
		open_both(ends);
		ck_assert_msg(ends[0].channel && ends[1].channel, "%s / %s",
			      ends[0].err.text, ends[1].err.text);
		close_both(ends);
	}
}
END_TEST

/* Nobody listens: it is known long before the wait for a whole meeting ends. */
START_TEST(who_has_not_begun_is_not_waited_for)
{
	struct end ends[2];

	prepare(ends, INT64_C(3600000));
	ends[0].opts.come_ms = 50;
	open_end(&ends[0]);
	ck_assert_ptr_null(ends[0].channel);
	ck_assert_int_eq(ends[0].err.kind, BU_ERR_TIMEOUT);
}
END_TEST

/* It has begun, and prepares for longer than that. */
START_TEST(who_has_begun_may_prepare)
{
	for (int slow = 0; slow < 2; slow++) {
		struct end ends[2];

		prepare(ends, 20000);
		ends[!slow].opts.come_ms = 200;
		ends[1].begun = bu_channel_begin(&ends[1].opts);
		ends[0].begun = bu_channel_begin(&ends[0].opts);
		pthread_create(&ends[!slow].thread, NULL, open_end, &ends[!slow]);
		poll(NULL, 0, 600);
		open_end(&ends[slow]);
		pthread_join(ends[!slow].thread, NULL);
		ck_assert_msg(ends[0].channel && ends[1].channel, "%s / %s",
			      ends[0].err.text, ends[1].err.text);
		close_both(ends);
	}
}
END_TEST

/* It began before the other end listened, was refused, and prepares: the listener does
 * not give it up. */
START_TEST(who_began_too_soon_may_prepare)
{
	struct end ends[2];

	prepare(ends, 20000);
	ends[0].opts.come_ms = ends[1].opts.come_ms = 200;
	ends[0].begun = bu_channel_begin(&ends[0].opts);
	ck_assert_int_ge(ends[0].begun, 0);
	ends[1].begun = bu_channel_begin(&ends[1].opts);
	pthread_create(&ends[1].thread, NULL, open_end, &ends[1]);
	poll(NULL, 0, 600);
	open_end(&ends[0]);
	pthread_join(ends[1].thread, NULL);
	ck_assert_msg(ends[0].channel && ends[1].channel, "%s / %s", ends[0].err.text,
		      ends[1].err.text);
	close_both(ends);
}
END_TEST

START_TEST(a_wrong_secret_is_refused)
{
	struct end ends[2];

	prepare(ends, 600);
	ends[0].opts.secret = "fedcba9876543210";
	open_both(ends);
	ck_assert(!ends[0].channel && !ends[1].channel);
	ck_assert_int_eq(ends[0].err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(ends[1].err.kind, BU_ERR_TIMEOUT);
	ck_assert_ptr_nonnull(strstr(ends[1].err.text, "was refused"));
}
END_TEST

START_TEST(another_probe_is_refused)
{
	struct end ends[2];

	prepare(ends, 600);
	ends[0].opts.probe = "p2";
	open_both(ends);
	ck_assert(!ends[0].channel && !ends[1].channel);
}
END_TEST

START_TEST(only_the_expected_peer_comes_in)
{
	struct end ends[2];

	prepare(ends, 600);
	ends[1].opts.peer = "127.0.0.9";
	open_both(ends);
	ck_assert(!ends[0].channel && !ends[1].channel);
	ck_assert_ptr_nonnull(strstr(ends[1].err.text, "expected 127.0.0.9"));
	prepare(ends, 5000);
	ends[1].opts.peer = "127.0.0.1";
	open_both(ends);
	ck_assert(ends[0].channel && ends[1].channel);
	close_both(ends);
}
END_TEST

/* What strangers may say to a listener before the real peer comes. */
START_TEST(strangers_do_not_keep_the_peer_out)
{
	static char long_line[2 * BU_CHANNEL_LINE_MAX];
	const char *const words[] = {"", "GET / HTTP/1.0\r\n\r\n", "{}\n",
				     "{\"nonce\":\"00\",\"probe\":\"p1\"}\n{}\n",
				     long_line};
	struct end ends[2];

	memset(long_line, 'x', sizeof(long_line) - 1);
	prepare(ends, 8000);
	pthread_create(&ends[1].thread, NULL, open_end, &ends[1]);
	for (size_t i = 0; i < BU_LEN(words); i++) {
		struct sockaddr_in at = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					 .sin_port =
						 htons((uint16_t)ends[1].opts.port)};
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		for (int tries = 0; tries < 100; tries++) {
			if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
				break;
			usleep(10000);
		}
		ck_assert_int_ge(send(fd, words[i], strlen(words[i]), MSG_NOSIGNAL), 0);
		close(fd);
	}
	pthread_create(&ends[0].thread, NULL, open_end, &ends[0]);
	for (int i = 0; i < 2; i++)
		pthread_join(ends[i].thread, NULL);
	ck_assert_msg(ends[0].channel && ends[1].channel, "%s / %s", ends[0].err.text,
		      ends[1].err.text);
	close_both(ends);
}
END_TEST

START_TEST(nobody_comes)
{
	struct end ends[2];

	prepare(ends, 300);
	open_end(&ends[0]);
	open_end(&ends[1]);
	ck_assert(!ends[0].channel && !ends[1].channel);
	ck_assert_int_eq(ends[1].err.kind, BU_ERR_TIMEOUT);
}
END_TEST

static int
stop_now(void *arg, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_CANCELLED, 0, "stopped");
}

START_TEST(a_wait_can_be_stopped)
{
	struct end ends[2];
	struct bu_wait wait = wait_ms(60000);
	struct bu_err err;

	prepare(ends, 60000);
	wait.stop = stop_now;
	ck_assert_ptr_null(bu_channel_open(&ends[1].opts, -1, &wait, &err));
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
}
END_TEST

BU_UNIT("channel", talks_both_paths, begins_before_it_opens,
	who_has_not_begun_is_not_waited_for, who_has_begun_may_prepare,
	who_began_too_soon_may_prepare, a_wrong_secret_is_refused,
	another_probe_is_refused, only_the_expected_peer_comes_in,
	strangers_do_not_keep_the_peer_out, nobody_comes, a_wait_can_be_stopped)
