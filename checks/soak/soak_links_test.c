/* SPDX-License-Identifier: Apache-2.0 */
/* Links under load between two machines that soak, over the stand-in for libibverbs;
 * and what their counters may do meanwhile. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "checks/soak/soak_impl.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096 };

/* Below those that the kernel gives out. */
static int
free_port(void)
{
	static int last;

	if (!last)
		last = 30000 + getpid() % 2000;
	for (;;) {
		struct sockaddr_in at = {.sin_family = AF_INET,
					 .sin_port = htons((uint16_t)++last),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		int rc = bind(fd, (struct sockaddr *)&at, sizeof(at));

		close(fd);
		if (rc == 0)
			return last;
	}
}

static json_t *
make_item(int port, int listens)
{
	return json_pack(
		"{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:i, "
		"s:i, s:i, s:i, s:b, s:[{s:s, s:s}]}",
		"kind", "probe", "id", "soak-1", "attempt", 1, "probe", "soak-1",
		"role", listens ? "listen" : "connect", "a", "node001", "b", "node002",
		"node", listens ? "node002" : "node001", "addr", "127.0.0.1", "port",
		port, "secret", "0123456789abcdef", "message_bytes", MESSAGE, "bytes",
		8 * MESSAGE, "runs", 2, "pings", 0, "deadline_ms", 4000, "duplex", 1,
		"rails", "rail", "fabric", "address",
		listens ? "127.0.0.2" : "127.0.0.1");
}

struct machine {
	json_t *expect;
	struct bu_checks_ctx ctx;
	struct bu_soak_links links;
	struct bu_checks rows;
};
static struct machine machines[2];

static void
begin(int count)
{
	int port = free_port();

	for (int i = 0; i < count; i++) {
		struct machine *m = &machines[i];

		memset(m, 0, sizeof(*m));
		m->expect = json_pack("{s:{s:o}}", "soak", "link", make_item(port, i));
		m->ctx = (struct bu_checks_ctx){.root = "", .expect = m->expect};
		bu_checks_init(&m->rows);
		bu_soak_links_begin(&m->ctx, &m->links);
	}
}

static void
end(int count)
{
	for (int i = 0; i < count; i++)
		bu_soak_links_end(&machines[i].links, &machines[i].rows);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

static void
forget(int count)
{
	for (int i = 0; i < count; i++) {
		bu_checks_fini(&machines[i].rows);
		json_decref(machines[i].expect);
	}
}

static const struct bu_check *
row_of(int machine, const char *id)
{
	const struct bu_checks *rows = &machines[machine].rows;

	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->list[i].id, id) == 0)
			return &rows->list[i];
	return NULL;
}

static void
set_faults(const struct fakeverbs_faults *of_first)
{
	static const struct fakeverbs_faults none;

	for (int i = 0; i < FAKEVERBS_DEVICES; i++)
		fakeverbs_set(i, i == 0 ? of_first : &none);
}

START_TEST(neighbours_that_soak_load_each_others_links)
{
	const struct fakeverbs_faults none = {.port_down = 0};

	set_faults(&none);
	begin(2);
	usleep(1500 * 1000);
	end(2);
	for (int i = 0; i < 2; i++) {
		const struct bu_check *row = row_of(i, "soak-links");

		ck_assert_ptr_nonnull(row);
		ck_assert_msg(row->verdict == BU_VERDICT_PASS, "%s", row->text);
		ck_assert_ptr_nonnull(strstr(row->seen, i ? "laps with node001"
							  : "laps with node002"));
		ck_assert_int_ge(machines[i].links.laps, 1);
		ck_assert_uint_eq(machines[i].rows.count, 1);
	}
	forget(2);
}
END_TEST

/* The card of the first changes payload, and both ends see it: both say so, with the
 * rail, and neither is accused, for the second is healthy. */
START_TEST(changed_payload_accuses_neither_neighbour)
{
	const struct fakeverbs_faults spoil = {.corrupt_from = 5};

	set_faults(&spoil);
	begin(2);
	usleep(1500 * 1000);
	end(2);
	for (int i = 0; i < 2; i++) {
		const struct bu_check *row = row_of(i, "soak-payload");

		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->verdict, BU_VERDICT_WARN);
		ck_assert_str_eq(row->subject, "fabric");
		/* and the slice counts: nobody soaks for as long as it has this
		 * neighbour */
		ck_assert_int_eq(bu_checks_worst(&machines[i].rows), BU_VERDICT_WARN);
	}
	forget(2);
}
END_TEST

/* Its neighbour is between two slices: nothing fails, and the end does not wait. */
START_TEST(a_neighbour_that_is_away_is_no_fault)
{
	const struct fakeverbs_faults none = {.port_down = 0};
	const struct bu_check *row;

	set_faults(&none);
	begin(1);
	usleep(300 * 1000);
	end(1);
	row = row_of(0, "soak-links");
	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(row->verdict, BU_VERDICT_WARN);
	ck_assert_ptr_nonnull(strstr(row->text, "not one lap with node002"));
	ck_assert_uint_eq(machines[0].rows.count, 1);
	forget(1);
}
END_TEST

START_TEST(without_a_neighbour_nothing_is_loaded)
{
	struct bu_checks_ctx ctx = {.root = ""};
	struct bu_soak_links links;
	struct bu_checks rows;

	bu_checks_init(&rows);
	bu_soak_links_begin(&ctx, &links);
	bu_soak_links_end(&links, &rows);
	ck_assert_uint_eq(rows.count, 0);
	bu_checks_fini(&rows);
}
END_TEST

/* What was added in so many seconds, with so many packets, and the row that it makes.
 */
static const struct {
	enum bu_counter counter;
	int64_t more;
	double seconds;
	int64_t sent;
	const char *id;
	enum bu_verdict verdict;
} added[] = {
	{BU_COUNTER_LINK_ERROR_RECOVERY, 5, 60, 0, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_LINK_ERROR_RECOVERY, 11, 60, 0, "soak-link-recoveries",
	 BU_VERDICT_FAIL},
	{BU_COUNTER_LINK_ERROR_RECOVERY, 11, 600, 0, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_NP_CNP_SENT, 90, 60, 10000, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_NP_CNP_SENT, 110, 60, 10000, "soak-congestion", BU_VERDICT_WARN},
	{BU_COUNTER_ROCE_SLOW_RESTART, 600, 60, 0, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_ROCE_SLOW_RESTART, 700, 60, 0, "soak-congestion", BU_VERDICT_WARN},
	{BU_COUNTER_REQ_CQE_ERROR, 1000, 60, 0, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_REQ_CQE_ERROR, 9000, 60, 0, "soak-rdma-errors", BU_VERDICT_WARN},
	{BU_COUNTER_PORT_XMIT_DATA, 1000000, 60, 0, NULL, BU_VERDICT_PASS},
	{BU_COUNTER_BUFFER_OVERRUN, 1, 600, 0, "soak-overruns", BU_VERDICT_FAIL},
	/* It was reset: nothing is known. */
	{BU_COUNTER_LINK_DOWNED, -7, 600, 0, NULL, BU_VERDICT_PASS},
};

START_TEST(counters_grow_by_as_much_as_they_may)
{
	for (size_t i = 0; i < BU_LEN(added); i++) {
		struct bu_soak_port port[2] = {{.subject = "mlx5_3"},
					       {.subject = "mlx5_3"}};
		struct bu_soak_ports ports[2] = {{.list = &port[0], .count = 1},
						 {.list = &port[1], .count = 1}};
		struct bu_checks rows;

		bu_checks_init(&rows);
		for (int k = 0; k < 2; k++) {
			bu_counters_init(&port[k].count);
			port[k].count.count[added[i].counter] =
				10 + (k ? added[i].more : 0);
			port[k].count.count[BU_COUNTER_PORT_XMIT_PACKETS] =
				k ? added[i].sent : 0;
		}
		bu_soak_ports_judge(&ports[0], &ports[1], added[i].seconds, &rows);
		ck_assert_msg(rows.count == (added[i].id != NULL), "row %zu", i);
		if (added[i].id) {
			ck_assert_str_eq(rows.list[0].id, added[i].id);
			ck_assert_int_eq(rows.list[0].verdict, added[i].verdict);
			ck_assert_str_eq(rows.list[0].subject, "mlx5_3");
		}
		bu_checks_fini(&rows);
	}
}
END_TEST

/* In a slice of so many seconds; two rows: that there are any, and that there are too
 * many. 100 an hour are few, in a slice with half as many again as well. */
static const struct {
	int64_t more;
	double seconds;
	int fails;
} symbols[] = {
	{100, 3600, 0}, {17, 600, 0},  {25, 600, 0}, {2, 60, 0},
	{600, 3600, 1}, {100, 600, 1}, {130, 60, 1}, {41, 600, 1},
};

START_TEST(many_symbol_errors_fail)
{
	for (size_t i = 0; i < BU_LEN(symbols); i++) {
		struct bu_soak_port port[2] = {{.subject = "ib0"}, {.subject = "ib0"}};
		struct bu_soak_ports ports[2] = {{.list = &port[0], .count = 1},
						 {.list = &port[1], .count = 1}};
		struct bu_checks rows;

		bu_checks_init(&rows);
		for (int k = 0; k < 2; k++) {
			bu_counters_init(&port[k].count);
			port[k].count.count[BU_COUNTER_SYMBOL_ERROR] =
				k ? symbols[i].more : 0;
		}
		bu_soak_ports_judge(&ports[0], &ports[1], symbols[i].seconds, &rows);
		ck_assert_uint_eq(rows.count, symbols[i].fails ? 2 : 1);
		ck_assert_int_eq(bu_checks_worst(&rows),
				 symbols[i].fails ? BU_VERDICT_FAIL : BU_VERDICT_WARN);
		bu_checks_fini(&rows);
	}
}
END_TEST

BU_UNIT("soak-links", neighbours_that_soak_load_each_others_links,
	changed_payload_accuses_neither_neighbour, a_neighbour_that_is_away_is_no_fault,
	without_a_neighbour_nothing_is_loaded, counters_grow_by_as_much_as_they_may,
	many_symbol_errors_fail)
