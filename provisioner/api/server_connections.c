/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by server.c for each connection that comes, goes or gets further.
 * libmicrohttpd counts silence alone, which a byte now and then breaks, and takes
 * nobody any more when it is full; so the deadlines and the room are kept here.
 * Invariants: a stage other than ANSWER ends by its deadline; a full listener closes
 * the connection that waits for its sender the longest, so a new one always gets in
 * unless machines with a certificate have all of them; what is closed here is shut
 * down, and libmicrohttpd ends it.
 */
#include "provisioner/api/server_connections.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

enum {
	SWEEP_MS = 1000,
	SHARES = 16,
	SLACK = 512, /* that are shut down, and not ended yet */
	LATER_S = 5,
	KEY_SIZE = 80, /* a machine's id is the longest */
};

/* Sixteenths of the files that may be open; who serves files has two of each
 * connection. What is left is the daemon's own. */
static const struct share {
	enum bu_listener kind;
	int tls, sixteenths;
} shares[] = {
	{BU_LISTEN_BOOT, 0, 3},  {BU_LISTEN_BOOT, 1, 1},   {BU_LISTEN_AGENT, 1, 5},
	{BU_LISTEN_LOCAL, 0, 1}, {BU_LISTEN_PEOPLE, 1, 1}, {BU_LISTEN_PAGE, 0, 1},
};

static const enum bu_limit deadlines[] = {
	[BU_STAGE_OPENING] = BU_LIMIT_OPENING,
	[BU_STAGE_BODY] = BU_LIMIT_BODY,
	[BU_STAGE_IDLE] = BU_LIMIT_IDLE,
};

struct queue {
	struct bu_connection *first, *last;
};

struct bu_connections {
	struct bu_loop *loop;
	enum bu_listener kind;
	struct bu_meter *const *meters;
	struct bu_meter *senders; /* connections of each */
	struct bu_wire *wire;
	struct bu_timer *sweep;
	unsigned most, open;                    /* open: those that are not shut down */
	size_t body_bytes;                      /* of those that are not known */
	struct queue queues[2][BU_STAGE_COUNT]; /* of unknown ones, and of known ones */
};

struct bu_connection {
	struct bu_connections *all;
	struct bu_connection *next, *prev;
	int fd;
	enum bu_stage stage;
	int known, is_shut, has_body;
	int64_t due_ms;
	size_t body_bytes;
	char address[BU_ADDRESS_SIZE];
	char from[KEY_SIZE]; /* who opened it: an address, a user */
	struct bu_seen seen;
	char machine[KEY_SIZE]; /* "" = no certificate was shown */
	struct bu_tls_peer peer;
};

static enum bu_limit
limit_of(enum bu_listener kind)
{
	return kind == BU_LISTEN_LOCAL ? BU_LIMIT_USER
	       : kind == BU_LISTEN_PAGE || kind == BU_LISTEN_PEOPLE
		       ? BU_LIMIT_PAGE
		       : BU_LIMIT_CONNECTIONS;
}

static unsigned
share_of(enum bu_listener kind, int tls)
{
	unsigned most = (unsigned)bu_limit_info(BU_LIMIT_LISTENER)->most;
	struct rlimit files;
	size_t i = 0;

	while (i + 1 < BU_LEN(shares) &&
	       (shares[i].kind != kind || shares[i].tls != tls))
		i++;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur / SHARES * (rlim_t)shares[i].sixteenths < most)
		most = (unsigned)(files.rlim_cur / SHARES *
				  (rlim_t)shares[i].sixteenths);
	return most;
}

static struct queue *
queue_of(struct bu_connection *one)
{
	return &one->all->queues[one->known][one->stage];
}

static void
unlink_one(struct bu_connection *one)
{
	struct queue *queue = queue_of(one);

	*(one->prev ? &one->prev->next : &queue->first) = one->next;
	*(one->next ? &one->next->prev : &queue->last) = one->prev;
	one->next = one->prev = NULL;
}

static void
link_last(struct bu_connection *one)
{
	struct queue *queue = queue_of(one);

	one->prev = queue->last;
	*(queue->last ? &queue->last->next : &queue->first) = one;
	queue->last = one;
}

const char *
bu_connection_address(const struct bu_connection *one)
{
	return one->address;
}

const char *
bu_connection_key(const struct bu_connection *one)
{
	return one->machine[0] ? one->machine : one->from;
}

struct bu_tls_peer *
bu_connection_peer(struct bu_connection *one)
{
	return &one->peer;
}

const struct bu_seen *
bu_connection_seen(const struct bu_connection *one)
{
	return &one->seen;
}

static void
drop_body(struct bu_connection *one)
{
	if (one->has_body)
		bu_meter_give(one->all->meters[BU_LIMIT_BODIES], bu_connection_key(one),
			      1);
	one->has_body = 0;
	if (!one->known)
		one->all->body_bytes -= one->body_bytes;
	one->body_bytes = 0;
}

static void
shut(struct bu_connection *one)
{
	drop_body(one);
	unlink_one(one);
	one->is_shut = 1;
	one->all->open--;
	shutdown(one->fd, SHUT_RDWR);
}

/* The one that waits for its sender the longest; NULL = all are being answered to
 * machines with a certificate. */
static struct bu_connection *
find_room(struct bu_connections *all)
{
	for (int known = 0; known < 2; known++)
		for (int stage = 0; stage < BU_STAGE_COUNT; stage++)
			if (all->queues[known][stage].first &&
			    !(known && stage == BU_STAGE_ANSWER))
				return all->queues[known][stage].first;
	return NULL;
}

/* Who has nothing to ask keeps to the rules. */
static void
say_late(const struct bu_connection *one)
{
	if (one->stage != BU_STAGE_IDLE)
		bu_meter_refused(one->all->meters[deadlines[one->stage]], one->from);
}

/* Bodies are in the order of their last byte, so each is looked at. */
static void
on_sweep(void *arg)
{
	struct bu_connections *all = arg;
	int64_t now_ms = bu_loop_now_ms(all->loop);

	for (int known = 0; known < 2; known++)
		for (int stage = 0; stage < BU_STAGE_ANSWER; stage++) {
			struct bu_connection *one = all->queues[known][stage].first;

			while (one) {
				struct bu_connection *next = one->next;

				if (now_ms >= one->due_ms) {
					say_late(one);
					shut(one);
				} else if (stage != BU_STAGE_BODY) {
					break;
				}
				one = next;
			}
		}
	if (all->open)
		bu_timer_set(all->sweep, SWEEP_MS);
}

struct bu_connections *
bu_connections_create(struct bu_loop *loop, enum bu_listener kind, int tls,
		      struct bu_meter *const *meters, struct bu_wire *wire)
{
	struct bu_connections *all = bu_xcalloc(1, sizeof(*all));

	all->loop = loop;
	all->kind = kind;
	all->meters = meters;
	all->senders = bu_meter_create(loop, limit_of(kind));
	all->wire = wire;
	all->most = share_of(kind, tls);
	all->sweep = bu_timer_create(loop, on_sweep, all);
	return all;
}

void
bu_connections_destroy(struct bu_connections *all)
{
	if (!all)
		return;
	bu_timer_destroy(all->sweep);
	bu_meter_destroy(all->senders);
	free(all);
}

unsigned
bu_connections_most(const struct bu_connections *all)
{
	return all->most + SLACK;
}

static void
print_address(const struct sockaddr *from, char ret[BU_ADDRESS_SIZE])
{
	const void *in = NULL;

	ret[0] = '\0';
	if (from && from->sa_family == AF_INET)
		in = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
	else if (from && from->sa_family == AF_INET6)
		in = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	if (in && !inet_ntop(from->sa_family, in, ret, BU_ADDRESS_SIZE))
		ret[0] = '\0';
}

/* Before anything is kept for it. */
enum MHD_Result
bu_connections_accept(void *arg, const struct sockaddr *from, socklen_t size)
{
	struct bu_connections *all = arg;
	char address[BU_ADDRESS_SIZE];
	struct bu_connection *other;

	print_address(from, address);
	if (*address) {
		if (bu_meter_take(all->senders, address, 1) != 0)
			return MHD_NO;
		bu_meter_give(all->senders, address,
			      1); /* it is counted when it is there */
	}
	if (all->open < all->most)
		return MHD_YES;
	other = find_room(all);
	bu_meter_refused(all->meters[BU_LIMIT_LISTENER], other ? other->from : address);
	if (!other)
		return MHD_NO;
	shut(other);
	return MHD_YES;
}

static int
fd_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* Its address, or the user at the other end of a unix socket. */
static void
read_sender(struct bu_connection *one, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct ucred user = {.uid = (uid_t)-1};
	socklen_t size = sizeof(user);

	print_address(info ? info->client_addr : NULL, one->address);
	BU_TEXT_COPY(one->from, one->address);
	if (one->all->wire && info && info->client_addr &&
	    info->client_addr->sa_family == AF_INET)
		bu_wire_look(one->all->wire, (const void *)info->client_addr,
			     &one->seen);
	if (one->all->kind != BU_LISTEN_LOCAL)
		return;
	one->known = 1;
	if (*one->address ||
	    getsockopt(one->fd, SOL_SOCKET, SO_PEERCRED, &user, &size) != 0)
		return;
	snprintf(one->from, sizeof(one->from), "user %u", (unsigned)user.uid);
	/* Any user can connect: others are known once they are found in a group. */
	one->known = user.uid == 0 || user.uid == geteuid();
}

static void
begin(struct bu_connections *all, struct MHD_Connection *connection, void **context)
{
	struct bu_connection *one = bu_xcalloc(1, sizeof(*one));

	*context = one;
	one->all = all;
	one->fd = fd_of(connection);
	read_sender(one, connection);
	one->due_ms = bu_loop_now_ms(all->loop) +
		      1000 * bu_limit_info(BU_LIMIT_OPENING)->most;
	link_last(one);
	if (!all->open++)
		bu_timer_set(all->sweep, SWEEP_MS);
	if (bu_meter_take(all->senders, one->from, 1) != 0) {
		shut(one);
		/* It is given back with the others. */
		bu_meter_charge(all->senders, one->from, 1);
	}
}

static void
end(struct bu_connection *one)
{
	bu_meter_give(one->all->senders, one->from, 1);
	if (!one->is_shut) {
		drop_body(one);
		unlink_one(one);
		one->all->open--;
	}
	free(one);
}

void
bu_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
		      enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		begin(arg, connection, context);
	} else if (*context) {
		end(*context);
		*context = NULL;
	}
}

struct bu_connection *
bu_connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void
bu_connection_known(struct bu_connection *one, const char *machine)
{
	if (one->is_shut || one->machine[0])
		return;
	drop_body(one);
	unlink_one(one);
	one->known = 1;
	BU_TEXT_COPY(one->machine, machine);
	link_last(one);
}

int
bu_connection_set(struct bu_connection *one, enum bu_stage stage)
{
	int wait_s;

	if (one->is_shut)
		return LATER_S;
	/* A user of the command line has the limit of its connections. */
	if (stage == BU_STAGE_BODY && one->all->kind != BU_LISTEN_LOCAL) {
		wait_s = bu_meter_take(one->all->meters[BU_LIMIT_BODIES],
				       bu_connection_key(one), 1);
		if (wait_s)
			return wait_s;
	} else {
		drop_body(one);
	}
	unlink_one(one);
	one->stage = stage;
	one->has_body = stage == BU_STAGE_BODY && one->all->kind != BU_LISTEN_LOCAL;
	if (stage != BU_STAGE_ANSWER)
		one->due_ms = bu_loop_now_ms(one->all->loop) +
			      1000 * bu_limit_info(deadlines[stage])->most;
	link_last(one);
	return 0;
}

int
bu_connection_grow(struct bu_connection *one, size_t bytes)
{
	struct bu_connections *all = one->all;
	size_t most = (size_t)bu_limit_info(BU_LIMIT_BODY_BYTES)->most;

	if (one->is_shut)
		return -1;
	one->body_bytes += bytes;
	unlink_one(one); /* it has got further */
	link_last(one);
	if (one->known)
		return 0;
	all->body_bytes += bytes;
	while (all->body_bytes > most && all->queues[0][BU_STAGE_BODY].first != one) {
		bu_meter_refused(all->meters[BU_LIMIT_BODY_BYTES],
				 all->queues[0][BU_STAGE_BODY].first->from);
		shut(all->queues[0][BU_STAGE_BODY].first);
	}
	return 0;
}
