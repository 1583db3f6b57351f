/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware that fetches a file by TFTP, so often at once; called by storm.c. Each asks
 * for blocks of 1,468 bytes (RFC 2348), says again what it said last when it has heard
 * nothing for four seconds, and gives up after six times, as EDK2 does. Firmware is
 * slow: it takes a while over each block.
 */
#include "tests/support/storm.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

enum { READ = 1, DATA = 3, ACK, ERROR, OPTIONS_ACK };
enum { PORT = 69, BLOCK = 1468, HEAD = 4, SILENCE_MS = 4000, TRIES = 6 };
enum { START_MS = 1000, STEP_MS = 1 };

struct pull {
	int fd, ended, failed, tries;
	struct sockaddr_in to; /* its port is the transfer's after the first answer */
	uint16_t block;        /* the last one that came */
	int64_t said_ms, done_ms, got;
	int64_t answer_ms; /* when it acknowledges that; 0 = it has */
	int is_last;
};

struct pulls {
	int poll_fd, count, open, failed, pace_ms;
	long again;
	int64_t begin_ms;
	const char *file;
	struct pull *list;
};

static int64_t
now_ms(void)
{
	return bu_mono_ms(bu_clock_system());
}

static void
end(struct pulls *all, struct pull *pull, int failed)
{
	close(pull->fd);
	pull->ended = 1;
	pull->failed = failed;
	pull->done_ms = now_ms() - all->begin_ms;
	all->failed += failed;
	all->open--;
}

/* The request until somebody has answered, then the block that came last. */
static void
speak(const struct pulls *all, struct pull *pull)
{
	char packet[512] = {0, READ};
	size_t size = 2;

	if (pull->to.sin_port == htons(PORT)) {
		size += (size_t)snprintf(packet + size, sizeof(packet) - size,
					 "%s%coctet%cblksize%c%d", all->file, 0, 0, 0,
					 BLOCK) +
			1;
	} else {
		packet[1] = ACK;
		packet[2] = (char)(pull->block >> 8);
		packet[3] = (char)(pull->block & 0xff);
		size = HEAD;
	}
	pull->said_ms = now_ms();
	/* One that is lost is said again. */
	(void)!sendto(pull->fd, packet, size, 0, (const void *)&pull->to,
		      sizeof(pull->to));
}

static void
begin(struct pulls *all, struct pull *pull, const struct sockaddr_in *to)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = pull};

	pull->to = *to;
	pull->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pull->fd < 0 ||
	    epoll_ctl(all->poll_fd, EPOLL_CTL_ADD, pull->fd, &event) != 0) {
		perror("socket");
		exit(1);
	}
	all->open++;
	pull->said_ms = all->begin_ms - SILENCE_MS + rand() % START_MS;
	pull->tries = -1; /* the first time is none again */
}

static void
hear(struct pulls *all, struct pull *pull)
{
	unsigned char packet[HEAD + BLOCK];
	struct sockaddr_in from;
	socklen_t from_size = sizeof(from);
	ssize_t size = recvfrom(pull->fd, packet, sizeof(packet), 0, (void *)&from,
				&from_size);
	uint16_t block;

	if (size < HEAD)
		return;
	block = (uint16_t)(packet[2] << 8 | packet[3]);
	if (packet[1] == ERROR) {
		end(all, pull, 1);
		return;
	}
	if (pull->to.sin_port == htons(PORT))
		pull->to = from;
	else if (pull->to.sin_port != from.sin_port)
		return; /* a second transfer, for a request that was made again */
	if (packet[1] == DATA && block != (uint16_t)(pull->block + 1))
		return;
	pull->tries = 0;
	if (packet[1] == DATA) {
		pull->block = block;
		pull->got += size - HEAD;
		pull->is_last = size < HEAD + BLOCK;
	}
	pull->said_ms = now_ms();
	pull->answer_ms = pull->said_ms + all->pace_ms;
}

static void
answer(struct pulls *all)
{
	int64_t now = now_ms();

	for (int i = 0; i < all->count; i++) {
		struct pull *pull = &all->list[i];

		if (pull->ended || !pull->answer_ms || now < pull->answer_ms)
			continue;
		pull->answer_ms = 0;
		speak(all, pull);
		if (pull->is_last)
			end(all, pull, 0);
	}
}

static void
say_again(struct pulls *all)
{
	int64_t now = now_ms();

	for (int i = 0; i < all->count; i++) {
		struct pull *pull = &all->list[i];

		if (pull->ended || pull->answer_ms || now - pull->said_ms < SILENCE_MS)
			continue;
		if (++pull->tries > TRIES) {
			end(all, pull, 1);
			continue;
		}
		all->again += pull->tries > 0;
		speak(all, pull);
	}
}

static int
tell(const struct pulls *all)
{
	int64_t last_ms = 0, size = 0, sum = 0;
	int odd = 0;

	for (int i = 0; i < all->count; i++) {
		const struct pull *pull = &all->list[i];

		if (pull->failed)
			continue;
		size = size ? size : pull->got;
		odd += pull->got != size;
		sum += pull->got;
		last_ms = pull->done_ms > last_ms ? pull->done_ms : last_ms;
	}
	printf("%d of %d have %s (%.1f MB) by TFTP, %d gave up; the last after %.1f s; "
	       "%ld times something was said again; %.0f MB/s together\n",
	       all->count - all->failed - odd, all->count, all->file,
	       (double)size / 1e6, all->failed, (double)last_ms / 1e3, all->again,
	       last_ms ? (double)sum / 1e3 / (double)last_ms : 0.0);
	return all->failed || odd ? 1 : 0;
}

int
storm_tftp(const char *address, const char *file, int count, int pace_ms)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct pulls all = {
		.count = count, .pace_ms = pace_ms, .file = file, .begin_ms = now_ms()};
	struct epoll_event events[64];
	int rc;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return 1;
	all.list = bu_xcalloc((size_t)count, sizeof(*all.list));
	all.poll_fd = epoll_create1(EPOLL_CLOEXEC);
	srand(1);
	for (int i = 0; i < count; i++)
		begin(&all, &all.list[i], &to);
	while (all.open) {
		int ready = epoll_wait(all.poll_fd, events, BU_LEN(events), STEP_MS);

		for (int i = 0; i < ready; i++)
			hear(&all, events[i].data.ptr);
		answer(&all);
		say_again(&all);
	}
	rc = tell(&all);
	close(all.poll_fd);
	free(all.list);
	return rc;
}
