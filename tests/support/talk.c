/* SPDX-License-Identifier: Apache-2.0 */
/* Raw bytes over a socket, so that a test may say what no client would. */
#include "tests/support/talk.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"

int
talk_port(int fd)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	return ntohs(at.sin_port);
}

void
talk_begin(struct talk *talk, int port, const char *request, size_t size)
{
	talk_from(talk, "127.0.0.1", port, request, size);
}

void
talk_from(struct talk *talk, const char *from, int port, const char *request,
	  size_t size)
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memset(talk, 0, sizeof(*talk));
	talk->text = bu_xstrdup("");
	talk->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(inet_pton(AF_INET, from, &own.sin_addr), 1);
	ck_assert_int_eq(bind(talk->fd, (struct sockaddr *)&own, sizeof(own)), 0);
	ck_assert_int_eq(connect(talk->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	if (!size)
		size = strlen(request);
	ck_assert_int_eq(send(talk->fd, request, size, MSG_NOSIGNAL), (ssize_t)size);
}

void
talk_take(struct talk *talk)
{
	char buf[65536];
	ssize_t got = recv(talk->fd, buf, sizeof(buf), MSG_DONTWAIT);
	const char *body;

	if (talk->ended || (got < 0 && errno == EAGAIN))
		return;
	if (got <= 0) {
		talk->ended = 1;
		return;
	}
	talk->text = bu_xrealloc(talk->text, talk->size + (size_t)got + 1);
	memcpy(talk->text + talk->size, buf, (size_t)got);
	talk->size += (size_t)got;
	talk->text[talk->size] = '\0';
	if (strncmp(talk->text, "HTTP/1.1 ", 9) == 0)
		talk->status = (int)strtol(talk->text + 9, NULL, 10);
	body = strstr(talk->text, "\r\n\r\n");
	talk->body = body ? body + 4 : "";
}

void
talk_end(struct talk *talk)
{
	close(talk->fd);
	free(talk->text);
	memset(talk, 0, sizeof(*talk));
}
