/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads from a server of a few lines, which breaks off, redirects and refuses. */
#include "base/download.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { SIZE = 5000, CUT = 1800 };

/* What the server saw; shared with it. */
static struct {
	int asked, with_credential, with_range;
} * seen;
static int port;
static pid_t server;
static char body[SIZE + 1];

static void
say(int fd, const char *head, const char *data, size_t size)
{
	bu_autofree char *text =
		bu_xasprintf("HTTP/1.1 %s\r\nConnection: close\r\n\r\n", head);

	ck_assert_int_eq(bu_write_all(fd, text, strlen(text), NULL), 0);
	ck_assert_int_eq(bu_write_all(fd, data, size, NULL), 0);
}

static void
answer(int fd, const char *path, const char *request)
{
	const char *range = strstr(request, "Range: bytes=");
	long from = range ? strtol(range + 13, NULL, 10) : 0;
	bu_autofree char *head = NULL;

	seen->asked++;
	seen->with_credential +=
		strstr(request, "Authorization: Bearer secret") != NULL;
	seen->with_range += range != NULL;
	if (!strncmp(path, "/cut ", 5) && !range) {
		head = bu_xasprintf("200 OK\r\nContent-Length: %d", SIZE);
		say(fd, head, body, CUT);
	} else if (!strncmp(path, "/cut ", 5)) {
		head = bu_xasprintf("206 Partial\r\nContent-Length: %ld\r\n"
				    "Content-Range: bytes %ld-%d/%d",
				    SIZE - from, from, SIZE - 1, SIZE);
		say(fd, head, body + from, SIZE - from);
	} else if (!strncmp(path, "/whole ", 7)) {
		head = bu_xasprintf("200 OK\r\nContent-Length: %d", SIZE);
		say(fd, head, body, SIZE);
	} else if (!strncmp(path, "/moved ", 7)) {
		head = bu_xasprintf("307 Moved\r\nContent-Length: 0\r\n"
				    "Location: http://127.0.0.1:%d/whole",
				    port);
		say(fd, head, "", 0);
	} else if (!strncmp(path, "/stub ", 6)) {
		head = bu_xasprintf("200 OK\r\nContent-Length: %d", SIZE);
		say(fd, head, body, CUT);
	} else if (!strncmp(path, "/elsewhere ", 11)) {
		say(fd,
		    "302 Moved\r\nContent-Length: 0\r\n"
		    "WWW-Authenticate: Bearer realm=\"https://first/token\"\r\n"
		    "Location: /closed",
		    "", 0);
	} else if (!strncmp(path, "/out ", 5)) {
		say(fd,
		    "302 Moved\r\nContent-Length: 0\r\n"
		    "Location: http://192.0.2.1/whole",
		    "", 0);
	} else if (!strncmp(path, "/file ", 6)) {
		say(fd,
		    "302 Moved\r\nContent-Length: 0\r\nLocation: file:///etc/passwd",
		    "", 0);
	} else if (!strncmp(path, "/round ", 7)) {
		say(fd, "302 Moved\r\nContent-Length: 0\r\nLocation: /round", "", 0);
	} else if (!strncmp(path, "/closed ", 8)) {
		say(fd,
		    "401 No\r\nContent-Length: 2\r\n"
		    "WWW-Authenticate: Bearer realm=\"https://x/token\"",
		    "no", 2);
	} else {
		say(fd, "404 Nothing\r\nContent-Length: 7", "nothing", 7);
	}
}

static void
serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		char request[8192] = "";
		size_t size = 0;
		ssize_t got = 1;

		while (!strstr(request, "\r\n\r\n") && got > 0 &&
		       size + 1 < sizeof(request)) {
			got = read(fd, request + size, sizeof(request) - 1 - size);
			size += got > 0 ? (size_t)got : 0;
			request[size] = '\0';
		}
		if (!strncmp(request, "GET ", 4))
			answer(fd, request + 4, request);
		close(fd);
	}
}

static void
begin(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	for (size_t i = 0; i < SIZE; i++)
		body[i] = (char)('a' + i * 7 % 26);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	port = ntohs(at.sin_port);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(seen, MAP_FAILED);
	server = fork();
	ck_assert_int_ge(server, 0);
	if (!server)
		serve(listener);
	close(listener);
}

static void
end(void)
{
	ck_assert_int_eq(kill(server, SIGKILL), 0);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
}

/* Into a file that has so many right bytes already. */
static int
get(const char *path, size_t have, uint64_t max, struct bu_downloaded *ret,
    struct bu_err *err)
{
	bu_autofree char *url = bu_xasprintf("http://127.0.0.1:%d%s", port, path);
	const struct bu_download what = {
		.url = url, .authorization = "Bearer secret", .max_bytes = max};
	bu_autoclose int fd = memfd_create("download", MFD_CLOEXEC);
	char got[SIZE + 1];
	int rc;

	memset(err, 0, sizeof(*err));
	memset(seen, 0, sizeof(*seen));
	ck_assert_int_eq(bu_write_all(fd, body, have, NULL), 0);
	rc = bu_download(&what, fd, ret, err);
	if (!rc) {
		ck_assert_int_eq(lseek(fd, 0, SEEK_END), SIZE);
		ck_assert_int_eq(pread(fd, got, SIZE, 0), SIZE);
		ck_assert_int_eq(memcmp(got, body, SIZE), 0);
	}
	return rc;
}

START_TEST(what_breaks_off_goes_on)
{
	struct bu_downloaded answer;
	struct bu_err err;

	begin();
	ck_assert_msg(!get("/cut", 0, SIZE, &answer, &err), "%s", err.text);
	ck_assert_int_eq(seen->asked, 2);
	ck_assert_int_eq(seen->with_range, 1);
	ck_assert_int_eq(get("/cut", 100, SIZE, &answer, &err), 0);
	ck_assert_int_eq(seen->asked, 1);
	/* a server without ranges begins again */
	ck_assert_msg(!get("/whole", 100, SIZE, &answer, &err), "%s", err.text);
	end();
}
END_TEST

START_TEST(what_never_grows_ends)
{
	struct bu_downloaded answer;
	struct bu_err err;

	begin();
	ck_assert_int_eq(get("/stub", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_int_eq(seen->asked, 4);
	ck_assert_int_eq(get("/stub", CUT, SIZE, &answer, &err), -1);
	ck_assert_int_eq(seen->asked, 3);
	end();
}
END_TEST

/* A password goes where the registry itself says, not where one says that it sends to.
 */
START_TEST(a_redirect_asks_for_no_login)
{
	struct bu_downloaded answer;
	struct bu_err err;

	begin();
	ck_assert_int_eq(get("/elsewhere", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(seen->asked, 2);
	ck_assert_int_eq(answer.status, 401);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_null(answer.challenge);
	bu_downloaded_fini(&answer);
	end();
}
END_TEST

START_TEST(a_redirect_goes_without_the_credential)
{
	struct bu_downloaded answer;
	struct bu_err err;

	begin();
	ck_assert_msg(!get("/moved", 0, SIZE, &answer, &err), "%s", err.text);
	ck_assert_int_eq(seen->asked, 2);
	ck_assert_int_eq(seen->with_credential, 1);
	ck_assert_int_eq(get("/out", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(get("/file", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(get("/round", 0, SIZE, &answer, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "redirects"));
	ck_assert_int_eq(seen->with_credential, 1);
	end();
}
END_TEST

/* What looks like this machine to us, and is another one to the library. */
START_TEST(only_this_machine_is_local)
{
	static const char *const others[] = {
		"http://localhost:x@192.0.2.1/",
		"http://localhost:80@192.0.2.1/",
		"http://127.0.0.1:@192.0.2.1/",
		"http://localhost.example/",
		"http://localhost\\@192.0.2.1/",
		"http://localhost:80x/",
		"https://localhost:x@192.0.2.1/x",
		"https://u@192.0.2.1",
		"http://192.0.2.1/",
		"http://127.0.0.1:99999/",
		"https://u:secret@no host/",
		"secret",
	};

	begin();
	for (size_t i = 0; i < BU_LEN(others); i++) {
		const struct bu_download what = {
			.url = others[i], .authorization = "Bearer s", .max_bytes = 1};
		struct bu_downloaded answer;
		struct bu_err err = {0};
		bu_autoclose int fd = memfd_create("download", MFD_CLOEXEC);

		ck_assert_int_eq(bu_download(&what, fd, &answer, &err), -1);
		ck_assert_msg(err.kind == BU_ERR_DENIED, "%s: %s", others[i], err.text);
		ck_assert_ptr_null(strstr(err.text, "u:secret"));
		bu_downloaded_fini(&answer);
	}
	{
		struct bu_downloaded answer;
		struct bu_err err;

		/* an "@" behind the host is the server's */
		ck_assert_int_eq(get("/whole@x", 0, SIZE, &answer, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_int_eq(get("?@x", 0, SIZE, &answer, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		bu_downloaded_fini(&answer);
	}
	end();
}
END_TEST

START_TEST(refusals_have_their_kind)
{
	struct bu_downloaded answer;
	struct bu_err err;

	begin();
	ck_assert_int_eq(get("/closed", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(answer.status, 401);
	ck_assert_ptr_nonnull(strstr(answer.challenge, "https://x/token"));
	bu_downloaded_fini(&answer);
	ck_assert_int_eq(get("/nothing", 0, SIZE, &answer, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(get("/whole", 0, SIZE - 1, &answer, &err), -1);
	ck_assert_msg(strstr(err.text, "longer than") != NULL, "%s", err.text);
	end();
}
END_TEST

BU_UNIT("download", what_breaks_off_goes_on, a_redirect_goes_without_the_credential,
	only_this_machine_is_local, refusals_have_their_kind, what_never_grows_ends,
	a_redirect_asks_for_no_login)
