/* SPDX-License-Identifier: Apache-2.0 */
/* Several rails of two nodes in one work item each, over the stand-in for libibverbs.
 */
#include "fabric/probe/rails.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096, BYTES = 64 * MESSAGE };

struct node {
	struct bu_work_probe work;
	struct bu_rails_kept kept;
	json_t *result;
	pthread_t thread;
	int rc;
};

static struct node nodes[3];

/* Rails of a: fake0 and fake2, of b: fake1 and fake3. */
static json_t *
make_item(int port, int listens)
{
	return json_pack(
		"{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:i, "
		"s:i, s:i, s:[{s:s, s:s}, {s:s, s:s}]}",
		"kind", "probe", "id", "w1", "attempt", 1, "probe", "p1", "role",
		listens ? "listen" : "connect", "a", "node001", "b", "node002", "addr",
		"127.0.0.1", "port", port, "secret", "0123456789abcdef",
		"message_bytes", MESSAGE, "bytes", BYTES, "runs", 2, "pings", 5,
		"deadline_ms", 8000, "rails", "rail", "fabric0", "address",
		listens ? "127.0.0.2" : "127.0.0.1", "rail", "fabric1", "address",
		listens ? "127.0.0.4" : "127.0.0.3");
}

static int
is_free(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int rc = bind(fd, (struct sockaddr *)&at, sizeof(at));

	close(fd);
	return rc == 0;
}

/* Below those that the kernel gives out: the stand-in's queue pairs have some of them.
 */
static int
two_ports(void)
{
	static int last;

	if (!last)
		last = 20000 + getpid() % 5000 * 2;
	for (;;) {
		last += 2;
		if (is_free(last) && is_free(last + 1))
			return last;
	}
}

static void
prepare(void)
{
	static const struct fakeverbs_faults none;
	int port = two_ports();

	for (int i = 0; i < FAKEVERBS_DEVICES; i++)
		fakeverbs_set(i, &none);
	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *item = make_item(port, i);
		struct bu_err err = {.text = ""};

		ck_assert_msg(bu_work_probe_from_json(item, &nodes[i].work, &err) == 0,
			      "%s", err.text);
	}
}

static void *
run_node(void *arg)
{
	struct node *node = arg;

	node->rc = bu_rails_run(&node->work, &node->kept, &node->result, NULL);
	return NULL;
}

static double
run_both(void)
{
	int64_t start_ns = bu_raw_ns();

	for (int i = 0; i < 2; i++)
		pthread_create(&nodes[i].thread, NULL, run_node, &nodes[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(nodes[i].thread, NULL);
		ck_assert_int_eq(nodes[i].rc, 0);
	}
	return (double)(bu_raw_ns() - start_ns) / 1e9;
}

static struct bu_pair_result
take(int node, size_t rail)
{
	const json_t *rails = json_object_get(nodes[node].result, "rails");
	struct bu_pair_result result;
	struct bu_err err = {.text = ""};

	ck_assert_uint_eq(json_array_size(rails), 2);
	ck_assert_msg(bu_pair_result_from_json(json_array_get(rails, rail), &result,
					       &err) == 0,
		      "%s", err.text);
	return result;
}

static void
finish(void)
{
	for (int i = 0; i < 3; i++) {
		bu_rails_drop(&nodes[i].kept);
		json_decref(nodes[i].result);
		nodes[i].result = NULL;
	}
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

START_TEST(each_rail_has_its_result)
{
	static const char *const devices[2][2] = {{"fake0", "fake2"},
						  {"fake1", "fake3"}};
	static const char *const names[] = {"fabric0", "fabric1"};

	for (int again = 0; again < 2; again++) {
		prepare();
		run_both();
		for (size_t rail = 0; rail < 2; rail++) {
			const struct bu_pair_result result = take(0, rail);

			ck_assert_int_eq(result.error.kind, BU_ERR_NONE);
			for (int i = 0; i < 2; i++) {
				ck_assert_str_eq(result.end[i].device,
						 devices[i][rail]);
				ck_assert_str_eq(result.end[i].rail, names[rail]);
				ck_assert_int_eq(result.dir[i].runs, 2);
				ck_assert_int_eq(result.dir[i].error.kind, BU_ERR_NONE);
			}
		}
		for (int i = 0; i < 2; i++) {
			json_decref(nodes[i].result);
			nodes[i].result = NULL;
		}
	}
	finish();
}
END_TEST

/* Each line is capped on its own: together they take the time of one. */
START_TEST(rails_are_measured_at_once)
{
	const struct fakeverbs_faults slow = {.rate_gbps = 0.02};
	double alone, together;

	prepare();
	fakeverbs_set(0, &slow);
	fakeverbs_set(2, &slow);
	for (int i = 0; i < 2; i++)
		nodes[i].work.rails_count = 1;
	alone = run_both();
	finish();
	prepare();
	fakeverbs_set(0, &slow);
	fakeverbs_set(2, &slow);
	together = run_both();
	ck_assert_msg(together < 1.6 * alone, "%.2f s alone, %.2f s together", alone,
		      together);
	finish();
}
END_TEST

START_TEST(a_bad_rail_leaves_the_other_one_alone)
{
	const struct fakeverbs_faults dead = {.lose_from = 1};
	struct bu_pair_result result;

	prepare();
	strcpy(nodes[1].work.rails[1].address, "127.0.0.9");
	run_both();
	result = take(0, 0);
	ck_assert_int_eq(result.dir[0].error.kind, BU_ERR_NONE);
	ck_assert_int_eq(result.dir[0].runs, 2);
	result = take(1, 1);
	ck_assert_int_eq(result.dir[1].error.kind, BU_ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(result.dir[1].error.text, "127.0.0.9"));
	finish();

	prepare();
	fakeverbs_set(2, &dead);
	fakeverbs_set(3, &dead);
	run_both();
	ck_assert_int_eq(take(0, 0).dir[0].error.kind, BU_ERR_NONE);
	ck_assert_int_eq(take(0, 1).dir[0].error.kind, BU_ERR_REMOTE);
	finish();

	prepare(); /* one that is wrong in itself */
	nodes[0].work.rails_count = nodes[1].work.rails_count = 1;
	nodes[0].work.rails[0].address[0] = nodes[1].work.rails[0].address[0] = '\0';
	run_both();
	result = (struct bu_pair_result){.qps = 0};
	ck_assert_int_eq(
		bu_pair_result_from_json(
			json_array_get(json_object_get(nodes[0].result, "rails"), 0),
			&result, NULL),
		0);
	ck_assert_str_eq(result.probe, "p1");
	ck_assert_int_ne(result.dir[0].error.kind, BU_ERR_NONE);
	finish();
}
END_TEST

START_TEST(an_item_without_rails_is_refused)
{
	struct bu_err err = {0};

	prepare();
	nodes[0].work.rails_count = 0;
	ck_assert_int_eq(
		bu_rails_run(&nodes[0].work, &nodes[0].kept, &nodes[0].result, &err),
		-1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_null(nodes[0].result);
	finish();
}
END_TEST

/* An incast: two nodes send to one port of a third at once, each over a connection of
 * its own. Both are its end "senders". */
START_TEST(two_send_to_one_port_at_once)
{
	static const char *const addresses[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};
	static const struct fakeverbs_faults none;
	int port = two_ports();
	bu_autojson json_t *item = make_item(port, 1);

	json_object_set_new(item, "a", json_string("senders"));
	json_object_set_new(item, "b", json_string("node001"));
	for (int i = 0; i < 3; i++) {
		struct bu_work_probe *work = &nodes[i].work;

		fakeverbs_set(i, &none);
		ck_assert_int_eq(bu_work_probe_from_json(item, work, NULL), 0);
		work->role = i ? BU_PROBE_CONNECT : BU_PROBE_LISTEN;
		work->rails_count = i ? 1 : 2;
		work->port = i ? port + i - 1 : port;
		for (size_t k = 0; k < work->rails_count; k++)
			strcpy(work->rails[k].address, addresses[i]);
		strcpy(work->self, work->node[i ? BU_END_A : BU_END_B]);
		pthread_create(&nodes[i].thread, NULL, run_node, &nodes[i]);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(nodes[i].thread, NULL);
		ck_assert_int_eq(nodes[i].rc, 0);
	}
	for (size_t k = 0; k < 2; k++) {
		const struct bu_pair_result result = take(0, k);

		ck_assert_msg(result.error.kind == BU_ERR_NONE, "%s",
			      result.error.text);
		ck_assert_int_eq(result.dir[BU_END_A].error.kind, BU_ERR_NONE);
		ck_assert_int_eq(result.dir[BU_END_A].runs, 2);
		ck_assert_str_eq(result.end[BU_END_A].device, k ? "fake2" : "fake1");
		ck_assert_str_eq(result.end[BU_END_B].device, "fake0");
	}
	finish();
}
END_TEST

BU_UNIT("rails", an_item_without_rails_is_refused, two_send_to_one_port_at_once,
	each_rail_has_its_result, rails_are_measured_at_once,
	a_bad_rail_leaves_the_other_one_alone)
