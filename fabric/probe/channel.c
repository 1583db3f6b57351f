/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection of a probe. Called by pair.c. Invariant: of a peer without a
 * proof of the secret at most BU_CHANNEL_LINE_MAX bytes are kept, and only the two
 * lines of the proof are read.
 */
#include "fabric/probe/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"

enum {
	NONCE_BYTES = 32,
	NONCE_HEX = 65,
	PROOF_MS = 3000,
	RETRY_MS = 2,
	RETRY_MAX_MS = 64,
	BACKLOG = 4
};

struct bu_channel {
	int fd;
	int listens;
	char key[BU_DIGEST_SIZE]; /* session key */
	uint64_t sent, received;  /* lines, numbered in the MAC */
	size_t size;
	char line[BU_CHANNEL_LINE_MAX];
};

void
bu_channel_destroy(struct bu_channel *channel)
{
	if (!channel)
		return;
	close(channel->fd);
	explicit_bzero(channel->key, sizeof(channel->key));
	free(channel);
}

int
bu_channel_has_input(const struct bu_channel *channel)
{
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};

	return channel->size > 0 || poll(&fd, 1, 0) > 0;
}

static int
send_bytes(struct bu_channel *channel, const char *text, size_t size,
	   struct bu_wait *wait, struct bu_err *err)
{
	while (size > 0) {
		ssize_t done =
			send(channel->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (done >= 0) {
			text += done;
			size -= (size_t)done;
		} else if (errno != EAGAIN && errno != EINTR) {
			return bu_err_set(err, BU_ERR_REMOTE, errno,
					  "send to the peer");
		} else if (bu_wait_fd(wait, channel->fd, POLLOUT, "send to the peer",
				      err)) {
			return -1;
		}
	}
	return 0;
}

/* Reads one line, returned without its newline; owned. */
static char *
read_line(struct bu_channel *channel, struct bu_wait *wait, struct bu_err *err)
{
	for (;;) {
		char *end = memchr(channel->line, '\n', channel->size);
		ssize_t got;

		if (end) {
			size_t size = (size_t)(end - channel->line);
			char *text = bu_xstrndup(channel->line, size);

			channel->size -= size + 1;
			memmove(channel->line, end + 1, channel->size);
			return text;
		}
		if (channel->size == sizeof(channel->line)) {
			bu_err_set(err, BU_ERR_REMOTE, 0,
				   "peer's line is over %d bytes", BU_CHANNEL_LINE_MAX);
			return NULL;
		}
		if (bu_wait_fd(wait, channel->fd, POLLIN, "word from the peer", err))
			return NULL;
		got = recv(channel->fd, channel->line + channel->size,
			   sizeof(channel->line) - channel->size, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0) {
			bu_err_set(err, BU_ERR_REMOTE, got < 0 ? errno : 0,
				   "the peer closed the control connection");
			return NULL;
		}
		channel->size += (size_t)got;
	}
}

/* Each MAC includes the sending end: a line cannot be played back to its sender. */
static void
line_mac(const struct bu_channel *channel, int by_listener, uint64_t number,
	 const char *text, char ret_hex[BU_DIGEST_SIZE])
{
	bu_autofree char *data = bu_xasprintf(
		"%s %" PRIu64 " %s", by_listener ? "listen" : "connect", number, text);

	bu_hmac_hex(channel->key, strlen(channel->key), data, strlen(data), ret_hex);
}

int
bu_channel_send(struct bu_channel *channel, const json_t *message, struct bu_wait *wait,
		struct bu_err *err)
{
	bu_autofree char *text = bu_json_canonical(message);
	bu_autofree char *line = NULL;
	char mac[BU_DIGEST_SIZE];

	line_mac(channel, channel->listens, channel->sent, text, mac);
	line = bu_xasprintf("%s %s\n", mac, text);
	bu_assert(strlen(line) <= BU_CHANNEL_LINE_MAX);
	if (send_bytes(channel, line, strlen(line), wait, err))
		return -1;
	channel->sent++;
	return 0;
}

json_t *
bu_channel_receive(struct bu_channel *channel, struct bu_wait *wait, struct bu_err *err)
{
	bu_autofree char *line = read_line(channel, wait, err);
	char mac[BU_DIGEST_SIZE];
	char *text;

	if (!line)
		return NULL;
	text = strchr(line, ' ');
	if (text)
		*text++ = '\0';
	else
		text = line;
	line_mac(channel, !channel->listens, channel->received, text, mac);
	if (text == line || !bu_equal_secret(mac, line)) {
		bu_err_set(err, BU_ERR_DENIED, 0, "peer's line has a wrong MAC");
		return NULL;
	}
	channel->received++;
	return bu_json_parse(text, strlen(text), "peer's message", err);
}

static void
proof(const struct bu_channel_opts *opts, const char *tag, const char *nonce_connect,
      const char *nonce_listen, char ret_hex[BU_DIGEST_SIZE])
{
	bu_autofree char *data = bu_xasprintf("bringup probe 1 %s %s %s %s", tag,
					      opts->probe, nonce_connect, nonce_listen);

	bu_hmac_hex(opts->secret, strlen(opts->secret), data, strlen(data), ret_hex);
}

static int
send_plain(struct bu_channel *channel, json_t *message, struct bu_wait *wait,
	   struct bu_err *err)
{
	bu_autojson json_t *owned = message;
	bu_autofree char *text = bu_json_canonical(owned);
	bu_autofree char *line = bu_xasprintf("%s\n", text);

	return send_bytes(channel, line, strlen(line), wait, err);
}

static json_t *
receive_plain(struct bu_channel *channel, struct bu_wait *wait, struct bu_err *err)
{
	bu_autofree char *line = read_line(channel, wait, err);

	if (!line)
		return NULL;
	return bu_json_parse(line, strlen(line), "peer's proof", err);
}

/* {nonce, probe} -> {nonce, proof} -> {proof}. The listener proves the secret first: a
 * stranger in its place learns nothing of use. */
static int
prove_connect(struct bu_channel *channel, const struct bu_channel_opts *opts,
	      struct bu_wait *wait, struct bu_err *err)
{
	bu_autojson json_t *reply = NULL;
	char nonce[NONCE_HEX], peer_nonce[NONCE_HEX], hex[BU_DIGEST_SIZE];

	bu_random_hex(nonce, NONCE_BYTES);
	if (send_plain(channel,
		       json_pack("{s:s, s:s}", "nonce", nonce, "probe", opts->probe),
		       wait, err))
		return -1;
	reply = receive_plain(channel, wait, err);
	if (!reply ||
	    bu_json_copy_str(reply, "nonce", peer_nonce, sizeof(peer_nonce), err))
		return -1;
	proof(opts, "listen", nonce, peer_nonce, hex);
	if (!bu_equal_secret(hex, bu_json_str(reply, "proof", "")))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the listening end does not know the probe's secret");
	proof(opts, "connect", nonce, peer_nonce, hex);
	if (send_plain(channel, json_pack("{s:s}", "proof", hex), wait, err))
		return -1;
	proof(opts, "session", nonce, peer_nonce, channel->key);
	return 0;
}

static int
prove_listen(struct bu_channel *channel, const struct bu_channel_opts *opts,
	     struct bu_wait *wait, struct bu_err *err)
{
	bu_autojson json_t *hello = receive_plain(channel, wait, err);
	bu_autojson json_t *reply = NULL;
	char nonce[NONCE_HEX], peer_nonce[NONCE_HEX], hex[BU_DIGEST_SIZE];

	if (!hello ||
	    bu_json_copy_str(hello, "nonce", peer_nonce, sizeof(peer_nonce), err))
		return -1;
	if (strcmp(bu_json_str(hello, "probe", ""), opts->probe) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0, "it named another probe");
	bu_random_hex(nonce, NONCE_BYTES);
	proof(opts, "listen", peer_nonce, nonce, hex);
	if (send_plain(channel, json_pack("{s:s, s:s}", "nonce", nonce, "proof", hex),
		       wait, err))
		return -1;
	reply = receive_plain(channel, wait, err);
	if (!reply)
		return -1;
	proof(opts, "connect", peer_nonce, nonce, hex);
	if (!bu_equal_secret(hex, bu_json_str(reply, "proof", "")))
		return bu_err_set(err, BU_ERR_DENIED, 0, "it does not know the secret");
	proof(opts, "session", peer_nonce, nonce, channel->key);
	return 0;
}

static struct bu_channel *
channel_create(int fd, const struct bu_channel_opts *opts)
{
	struct bu_channel *channel = bu_xcalloc(1, sizeof(*channel));
	int on = 1;

	channel->fd = fd;
	channel->listens = opts->listens;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return channel;
}

static int
fill_address(const char *addr, int port, struct sockaddr_in *ret, struct bu_err *err)
{
	*ret = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port)};
	if (inet_pton(AF_INET, addr, &ret->sin_addr) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "probe address '%s': expected an IPv4 address", addr);
	return 0;
}

static int
open_listener(const struct bu_channel_opts *opts, struct bu_err *err)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in address;
	int on = 1;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fill_address(opts->addr, opts->port, &address, err)) {
		close(fd);
		return -1;
	}
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, BACKLOG)) {
		bu_err_set(err, BU_ERR_IO, errno, "listen on %s:%d", opts->addr,
			   opts->port);
		close(fd);
		return -1;
	}
	return fd;
}

/* Accepts a connection of the expected peer, with a proof. NULL: try the next. */
static struct bu_channel *
admit(int listener, const struct bu_channel_opts *opts, const struct bu_wait *wait,
      struct bu_err *err)
{
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	struct bu_wait limit = *wait;
	int64_t proof_ns = bu_raw_ns() + PROOF_MS * INT64_C(1000000);
	struct bu_channel *channel;
	char text[INET_ADDRSTRLEN] = "";
	int fd = accept4(listener, (struct sockaddr *)&from, &size,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		bu_err_set(err, BU_ERR_IO, errno, "accept");
		return NULL;
	}
	inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text));
	if (opts->peer && strcmp(opts->peer, text) != 0) {
		bu_err_set(err, BU_ERR_DENIED, 0, "got %s, expected %s", text,
			   opts->peer);
		close(fd);
		return NULL;
	}
	if (proof_ns < limit.deadline_ns)
		limit.deadline_ns = proof_ns;
	channel = channel_create(fd, opts);
	if (prove_listen(channel, opts, &limit, err)) {
		bu_err_wrap(err, "%s was refused", text);
		bu_channel_destroy(channel);
		return NULL;
	}
	return channel;
}

static struct bu_channel *
open_listen(const struct bu_channel_opts *opts, int begun, struct bu_wait *wait,
	    struct bu_err *err)
{
	bu_autoclose int listener = begun >= 0 ? begun : open_listener(opts, err);
	struct bu_channel *channel;
	struct bu_err refused = {.kind = BU_ERR_NONE};

	if (listener < 0)
		return NULL;
	for (;;) {
		if (bu_wait_fd(wait, listener, POLLIN, "wait for the peer", err)) {
			if (refused.kind != BU_ERR_NONE)
				bu_err_wrap(err, "%.150s", refused.text);
			return NULL;
		}
		channel = admit(listener, opts, wait, &refused);
		if (channel)
			return channel;
	}
}

static int
start_connect(const struct bu_channel_opts *opts, struct bu_err *err)
{
	struct sockaddr_in address;
	int fd;

	if (fill_address(opts->addr, opts->port, &address, err))
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
	    errno == EINPROGRESS)
		return fd;
	bu_err_set(err, BU_ERR_REMOTE, errno, "connect to the peer");
	close(fd);
	return -1;
}

/* Returns the connected socket, or closes it: -1, and BU_ERR_REMOTE = try again. */
static int
finish_connect(int fd, struct bu_wait *wait, struct bu_err *err)
{
	int failure = 0;
	socklen_t size = sizeof(failure);

	if (bu_wait_fd(wait, fd, POLLOUT, "connect to the peer", err) == 0) {
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
		if (failure == 0)
			return fd;
		bu_err_set(err, BU_ERR_REMOTE, failure, "connect to the peer");
	}
	close(fd);
	return -1;
}

/* Repeats the connection: the other end may begin to listen later. */
static int
connect_until(const struct bu_channel_opts *opts, int begun, struct bu_wait *wait,
	      struct bu_err *err)
{
	for (int retry_ms = RETRY_MS, fd = begun;;) {
		struct bu_err last = {.kind = BU_ERR_NONE};

		if (fd < 0)
			fd = start_connect(opts, &last);
		if (fd >= 0)
			fd = finish_connect(fd, wait, &last);
		if (fd >= 0)
			return fd;
		if (last.kind != BU_ERR_REMOTE ||
		    bu_wait_check(wait, "connect to the peer", err)) {
			/* refused until the end: the peer did not come */
			if (last.kind == BU_ERR_REMOTE)
				last.kind = BU_ERR_TIMEOUT;
			if (err)
				*err = last;
			return bu_err_wrap(err, "%s:%d", opts->addr, opts->port);
		}
		poll(NULL, 0, retry_ms);
		if (retry_ms < RETRY_MAX_MS)
			retry_ms *= 2;
	}
}

struct bu_channel *
bu_channel_over(int fd, const struct bu_channel_opts *opts, struct bu_wait *wait,
		struct bu_err *err)
{
	struct bu_channel *channel = channel_create(fd, opts);

	if (opts->listens ? prove_listen(channel, opts, wait, err)
			  : prove_connect(channel, opts, wait, err)) {
		bu_channel_destroy(channel);
		return NULL;
	}
	return channel;
}

int
bu_channel_begin(const struct bu_channel_opts *opts)
{
	return opts->listens ? open_listener(opts, NULL) : start_connect(opts, NULL);
}

/* The connecting end's wait for the peer to listen, at most come_ms. The listener has
 * no such limit: it may have missed the peer's first connection. */
static struct bu_wait
until_it_comes(const struct bu_channel_opts *opts, const struct bu_wait *wait)
{
	struct bu_wait come = *wait;
	int64_t until_ns = bu_raw_ns() + opts->come_ms * 1000000;

	if (opts->come_ms && until_ns < come.deadline_ns)
		come.deadline_ns = until_ns;
	return come;
}

struct bu_channel *
bu_channel_open(const struct bu_channel_opts *opts, int begun, struct bu_wait *wait,
		struct bu_err *err)
{
	struct bu_wait come;
	int fd;

	if (opts->listens)
		return open_listen(opts, begun, wait, err);
	come = until_it_comes(opts, wait);
	fd = connect_until(opts, begun, &come, err);
	return fd < 0 ? NULL : bu_channel_over(fd, opts, wait, err);
}
