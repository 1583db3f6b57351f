/* SPDX-License-Identifier: Apache-2.0 */
/* References to registries, and what these ask for. (Pulling: tests/system/oci-pull.)
 */
#include "images/build/registry.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

START_TEST(references_are_read)
{
	struct bu_registry_ref ref;
	struct bu_err err = {0};

	ck_assert_int_eq(
		bu_registry_parse("oci://r.example:5000/a/b_c:v1.2", &ref, &err), 0);
	ck_assert_str_eq(ref.host, "r.example:5000");
	ck_assert_str_eq(ref.repository, "a/b_c");
	ck_assert_str_eq(ref.tag, "v1.2");
	ck_assert_int_eq(bu_registry_parse("oci://r.example/a", &ref, &err), 0);
	ck_assert_str_eq(ref.tag, "latest");
	ck_assert_int_eq(
		bu_registry_parse("oci://r.example/a@sha256:" DIGEST, &ref, &err), 0);
	ck_assert_str_eq(ref.digest, DIGEST);
	ck_assert_str_eq(ref.tag, "");
}
END_TEST

START_TEST(what_is_no_reference_is_refused)
{
	static const char *const wrong[] = {
		"oci://",
		"oci:///a",
		"oci://r.example",
		"oci://r.example/",
		"oci://r.example/a:",
		"oci://r.example/../a:x",
		"oci://r.example/A:x",
		"oci://r.example/a//b",
		"oci://r.example/a/:x",
		"oci://r.example/a@sha256:00",
		("oci://r.example/a@sha512:" DIGEST),
		"oci://user:word@r.example/a",
		"oci://r.example/a:x/y",
		"oci://r.example/a?x=y",
		"oci://r.example/a:x y",
	};

	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		struct bu_registry_ref ref;
		struct bu_err err = {0};

		ck_assert_msg(bu_registry_parse(wrong[i], &ref, &err) == -1, "%s",
			      wrong[i]);
		ck_assert_ptr_nonnull(strstr(err.text, "needed"));
	}
}
END_TEST

START_TEST(a_challenge_says_where_tokens_are)
{
	struct bu_err err = {0};
	bu_autofree char *url = bu_registry_token_url(
		" Bearer realm=\"https://auth.example/token\",service=\"r x\","
		"scope=\"repository:a/b:pull\"\r\n",
		&err);

	ck_assert_pstr_eq(url, "https://auth.example/token?service=r%20x&"
			       "scope=repository:a/b:pull");
	ck_assert_ptr_null(bu_registry_token_url("Basic realm=\"x\"", &err));
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_null(bu_registry_token_url("Bearer service=\"x\"", &err));
	ck_assert_ptr_null(bu_registry_token_url("Bearer realm=\"x", &err));
}
END_TEST

/* Until it listens there. */
static void
await(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, "127.0.0.2", &at.sin_addr);
	for (int i = 0; i < 2000; i++) {
		bu_autoclose int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
			return;
		usleep(10000);
	}
	ck_abort_msg("no server on port %d", port);
}

/* Serves <dir> by https, as 127.0.0.2, which is not asked by http. */
static pid_t
serve(const char *dir, int port)
{
	bu_autofree char *at = bu_xasprintf("127.0.0.2:%d", port);
	pid_t pid = fork();

	if (pid == 0) {
		if (chdir(dir) == 0 && freopen("/dev/null", "w", stderr))
			execlp("openssl", "openssl", "s_server", "-quiet", "-accept",
			       at, "-cert", "cert.pem", "-key", "key.pem", "-WWW",
			       NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	await(port);
	return pid;
}

/* The certificate is right in all but who signed it: the registry is named, and neither
 * what it sends is used nor a password told to it. */
START_TEST(a_registry_of_another_ca_is_refused_by_name)
{
	char dir[] = "/tmp/bringup-badca-XXXXXX";
	int port = free_port();
	bu_autofree char *root = NULL, *make = NULL, *source = NULL, *host = NULL;
	struct bu_oci_room room;
	struct bu_oci_image image;
	struct bu_err err = {0};
	pid_t server;

	BU_NEEDS("openssl");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	root = bu_xasprintf("%s/root", dir);
	make = bu_xasprintf(
		"cd %s && mkdir root && exec 2>/dev/null && "
		"openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.pem "
		"-days 2 -subj /CN=another && openssl req -newkey ed25519 -nodes "
		"-keyout key.pem -out req.pem -subj /CN=registry && "
		"printf 'subjectAltName=IP:127.0.0.2' >ext && openssl x509 -req -in "
		"req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext "
		"-out cert.pem && openssl verify -CAfile ca.pem cert.pem >/dev/null",
		dir);
	ck_assert_int_eq(system(make), 0);
	server = serve(dir, port);
	host = bu_xasprintf("127.0.0.2:%d", port);
	source = bu_xasprintf("oci://%s/a/b:1", host);
	room = (struct bu_oci_room){root, dir};
	ck_assert_int_eq(bu_registry_unpack(source,
					    &(struct bu_oci_want){.arch = "amd64"},
					    &room, &image, &err),
			 -1);
	ck_assert_msg(err.kind == BU_ERR_VERIFY, "%s", err.text);
	ck_assert_msg(strstr(err.text, host) && strstr(err.text, "certificate"), "%s",
		      err.text);
	ck_assert_int_eq(rmdir(root), 0); /* nothing is in it */
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("registry", a_registry_of_another_ca_is_refused_by_name, references_are_read,
	what_is_no_reference_is_refused, a_challenge_says_where_tokens_are)
