/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP client that speaks while the server's loop is turned by the test. */
#ifndef BU_TESTS_SUPPORT_TALK_H
#define BU_TESTS_SUPPORT_TALK_H

#include <stddef.h>

struct talk {
	int fd;
	char *text; /* head and body as they came, NUL-terminated */
	size_t size;
	int ended;
	int status;       /* of a whole answer */
	const char *body; /* of a whole answer, into text */
};

/* Connects to a port of 127.0.0.1 and sends so many bytes (0 = strlen). */
void talk_begin(struct talk *talk, int port, const char *request, size_t size);
/* The same from another address than 127.0.0.1. */
void talk_from(struct talk *talk, const char *from, int port, const char *request,
	       size_t size);
/* Takes what has come; call it between turns of the loop. */
void talk_take(struct talk *talk);
void talk_end(struct talk *talk);
/* The port of a listening socket. */
int talk_port(int fd);

#endif
