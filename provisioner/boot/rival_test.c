/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as bytes; then a real dnsmasq of another team behind a cable. */
#include "provisioner/boot/rival.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static const uint32_t xid = 0x12345678;

/* An offer of 10.77.0.2 with these options behind the cookie. */
static size_t
offer(uint8_t packet[300], const uint8_t *options, size_t size)
{
	memset(packet, 0, 300);
	packet[0] = 2;
	memcpy(packet + 4, &xid, sizeof(xid));
	memcpy(packet + 236, "\x63\x82\x53\x63", 4);
	memcpy(packet + 240, options, size);
	return 240 + size;
}

START_TEST(an_offer_names_its_server)
{
	static const uint8_t good[] = {0, 53, 1, 2, 1, 0, 54, 4, 10, 77, 0, 2, 255};
	uint8_t packet[300];
	char server[BU_RIVAL_SIZE];
	size_t size = offer(packet, good, sizeof(good));

	ck_assert_int_eq(bu_rival_parse(packet, size, xid, server), 0);
	ck_assert_str_eq(server, "10.77.0.2");
	/* An answer to somebody else, a request, another cookie. */
	ck_assert_int_eq(bu_rival_parse(packet, size, xid + 1, server), -1);
	packet[0] = 1;
	ck_assert_int_eq(bu_rival_parse(packet, size, xid, server), -1);
	packet[0] = 2;
	packet[236] = 0;
	ck_assert_int_eq(bu_rival_parse(packet, size, xid, server), -1);
}
END_TEST

/* Cut off everywhere: the sanitizer sees what is read behind the end. */
START_TEST(what_is_cut_off_is_no_offer)
{
	static const uint8_t good[] = {53, 1, 2, 54, 4, 10, 77, 0, 2, 255};
	static const uint8_t ack[] = {53, 1, 5, 54, 4, 10, 77, 0, 2, 255};
	uint8_t packet[300];
	char server[BU_RIVAL_SIZE];
	size_t whole = offer(packet, good, sizeof(good));

	for (size_t size = 0; size < whole - 1; size++) {
		uint8_t *part = bu_xmalloc(size + 1);

		memcpy(part, packet, size);
		ck_assert_int_eq(bu_rival_parse(part, size, xid, server), -1);
		free(part);
	}
	whole = offer(packet, ack, sizeof(ack));
	ck_assert_int_eq(bu_rival_parse(packet, whole, xid, server), -1);
}
END_TEST

struct told {
	char address[BU_RIVAL_SIZE];
	int count;
};

static void
on_rival(const char *address, void *arg)
{
	struct told *told = arg;

	bu_text_copy(told->address, sizeof(told->address), address);
	told->count++;
}

/* The other team's host, and ourselves on a bridge, where dnsmasq answers by our second
 * address. */
static const char network[] =
	"ip link set lo up && ip link add br-boot type bridge forward_delay 0 &&\n"
	"ip addr add 10.77.0.1/24 dev br-boot && ip link set br-boot up &&\n"
	"ip addr add 10.78.0.1/24 dev br-boot &&\n"
	"{ /usr/sbin/dnsmasq -k -C /dev/null -p 0 -i br-boot -z --user=root -x \"\" \\\n"
	"--dhcp-range=10.78.0.60,10.78.0.90,1h -l $1/ours >$1/ours.log 2>&1 & } &&\n"
	"ours=$! &&\n"
	"mkfifo $1/go && { unshare --net sh -c 'read x <$1/go\n"
	"ip address add 10.77.0.2/24 dev eth9 && ip link set eth9 up &&\n"
	"exec /usr/sbin/dnsmasq -k -C /dev/null -p 0 -i eth9 -z --user=root -x \"\" \\\n"
	"--dhcp-range=10.77.0.60,10.77.0.90,1h -l $1/leases' sh $1 >$1/log 2>&1 & } &&\n"
	"sleep 0.3 && ip link add name cable type veth peer name eth9 &&\n"
	"ip link set eth9 netns $! && ip link set cable master br-boot up &&\n"
	"echo go >$1/go && sleep 0.5 && echo $ours $!\n";

/* Time of this machine, for what other programs do. */
static void
run_for(struct bu_loop *loop, int64_t ms)
{
	const struct bu_clock *clock = bu_clock_system();
	int64_t end_ms = bu_mono_ms(clock) + ms;

	while (bu_mono_ms(clock) < end_ms)
		bu_loop_step(loop, 100);
}

static int
open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) != -1;
	return count;
}

/* One of us is the appliance; the other has the address of that server, so its answer
 * is our own, and nothing is told. When the interface goes nothing is known any more.
 */
START_TEST(another_teams_server_is_found_and_our_own_is_none)
{
	char dir[] = "/tmp/bringup-rival-XXXXXX";
	const char *argv[] = {"sh", "-c", network, "sh", dir, NULL};
	struct bu_job_opts job = {.argv = argv, .deadline_ms = 20000};
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_rival *rival, *own;
	struct told told = {.count = 0}, none = {.count = 0};
	bu_autofree char *out = NULL;
	char *end;
	struct bu_err err;
	int files;

	BU_NEEDS("root", "/usr/sbin/dnsmasq");
	bu_clock_fake(&clock, 0);
	loop = bu_loop_create(&clock);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	ck_assert_msg(bu_job_run(&job, &out, &err) == 0, "%s", err.text);
	files = open_files();
	own = bu_rival_create(loop, "br-boot", "10.77.0.2", on_rival, &none);
	rival = bu_rival_create(loop, "br-boot", "10.77.0.1", on_rival, &told);
	bu_clock_advance(&clock, 2000);
	run_for(loop, 4500); /* dnsmasq looks first whether an address is free */
	bu_clock_advance(&clock, 4000);
	run_for(loop, 100);
	ck_assert_int_eq(kill((pid_t)strtol(out, &end, 10), SIGKILL), 0);
	ck_assert_int_eq(kill((pid_t)strtol(end, NULL, 10), SIGKILL), 0);
	ck_assert_str_eq(told.address, "10.77.0.2");
	ck_assert_int_eq(told.count, 1);
	ck_assert_int_eq(none.count, 0);
	ck_assert_int_eq(system("ip link delete br-boot"), 0);
	for (int i = 1; i <= 2; i++) {
		bu_clock_advance(&clock, 60000);
		run_for(loop, 100);
		ck_assert_str_eq(told.address, "");
		ck_assert_int_eq(told.count, 2);
	}
	ck_assert_int_eq(none.count, 0);
	bu_rival_destroy(rival);
	bu_rival_destroy(own);
	ck_assert_int_eq(open_files(), files);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("rival", an_offer_names_its_server, what_is_cut_off_is_no_offer,
	another_teams_server_is_found_and_our_own_is_none)
