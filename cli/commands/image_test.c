/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup image` by its exit code: keys that are none, and what a signature is of. */
#include "cli/commands/image.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/build/shelf.h"
#include "tests/support/image.h"
#include "tests/support/unit.h"

static char dir[40], images[64];
static char *key, *pub;

static void
setup(void)
{
	bu_autofree char *keys = NULL;

	strcpy(dir, "/tmp/bringup-image-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(images, sizeof(images), "%s/images", dir);
	keys = bu_xasprintf("%s/keys", dir);
	ck_assert_int_eq(bu_mkdir_p(keys, 0755, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&key, &pub, NULL), 0);
	ck_assert_int_eq(setenv("BRINGUP_CACHE", dir, 1), 0);
}

static void
teardown(void)
{
	free(key);
	free(pub);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
write_file(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s", text), 0);
}

static int
run(const char *verb, const char *option, const char *file)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);
	char *argv[] = {(char *)"image", (char *)verb, (char *)"small",
			(char *)option,  path,         NULL};

	return bu_cmd_image(option ? 5 : 3, argv);
}

static void
put(const char *created, char *ret_digest)
{
	bu_autofree char *made = bu_xasprintf("%s/made", dir);
	bu_autofree char *out = bu_xasprintf("%s/small", made);

	ck_assert_int_eq(paper_image(made, "small", created, key, ret_digest, NULL), 0);
	ck_assert_int_eq(bu_shelf_put(images, "small", out, NULL), 0);
}

/* The image has another key's signature: nothing may call it correct. */
START_TEST(a_file_without_a_key_verifies_nothing)
{
	static const char *const texts[] = {"", "\n", "no key\n"};
	char digest[65];

	setup();
	put("2026-01-01T00:00:00Z", digest);
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		write_file("empty.pub", texts[i]);
		write_file("keys/image.pub", texts[i]);
		ck_assert_int_eq(run("verify", "--key", "empty.pub"),
				 bu_err_exit_code(BU_ERR_INVAL));
		ck_assert_int_eq(run("verify", NULL, ""),
				 bu_err_exit_code(BU_ERR_INVAL));
		ck_assert_int_eq(run("show", NULL, ""), bu_err_exit_code(BU_ERR_INVAL));
	}
	write_file("keys/image.pub", pub);
	ck_assert_int_eq(run("show", NULL, ""), 0);
	teardown();
}
END_TEST

/* Of which file the key was, and what signs it. */
START_TEST(a_refused_signature_says_what_to_do)
{
	bu_autofree char *other_key = NULL, *other = NULL, *said = NULL, *text = NULL;
	char digest[65];
	int saved = dup(STDERR_FILENO), file;

	setup();
	said = bu_xasprintf("%s/said", dir);
	put("2026-01-01T00:00:00Z", digest);
	ck_assert_int_eq(bu_sign_key_create(&other_key, &other, NULL), 0);
	write_file("other.pub", other);
	write_file("said", "");
	file = open(said, O_WRONLY);
	ck_assert_int_ge(dup2(file, STDERR_FILENO), 0);
	ck_assert_int_eq(run("verify", "--key", "other.pub"),
			 bu_err_exit_code(BU_ERR_VERIFY));
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	close(file);
	close(saved);
	text = bu_file_read(said, 4096, NULL, NULL);
	ck_assert_msg(strstr(text, "checked by the keys of ") &&
			      strstr(text, "/other.pub: ") &&
			      strstr(text, "bringup image sign small --key FILE"),
		      "%s", text);
	teardown();
}
END_TEST

/* Whatever has the name when the others are done is what is signed, and told. */
START_TEST(a_signature_is_of_what_has_the_name)
{
	char one[65], two[65];
	bu_autofree char *text = NULL, *json = NULL, *said = NULL;

	setup();
	write_file("release.key", key);
	put("2026-01-01T00:00:00Z", one);
	put("2026-02-02T00:00:00Z", two);
	said = bu_xasprintf("%s/said", dir);
	fflush(stdout);
	{
		int saved = dup(STDOUT_FILENO);

		ck_assert_ptr_nonnull(freopen(said, "w", stdout));
		ck_assert_int_eq(run("sign", "--key", "release.key"), 0);
		fflush(stdout);
		ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
		close(saved);
	}
	text = bu_file_read(said, 4096, NULL, NULL);
	ck_assert_msg(strstr(text, two) != NULL, "%s", text);
	json = bu_xasprintf("images/.store/%s/manifest.json", two);
	write_file(json, "{}");
	ck_assert_int_ne(run("sign", "--key", "release.key"), 0);
	teardown();
}
END_TEST

/* What was not understood is not done in part. */
START_TEST(a_wrong_command_line_does_nothing)
{
	static const char *const wrong[][4] = {
		{"image"},
		{"image", "--ofline", "show", "small"},
		{"image", "show", "small", "--ofline"},
		{"image", "show", "small", "--key"},
		{"image", "shwo", "small"},
		{"image", "show"},
		{"image", "sign", "small", "small"},
	};
	const int usage = bu_err_exit_code(BU_ERR_USAGE);
	char digest[65];

	setup();
	write_file("keys/image.pub", pub);
	put("2026-01-01T00:00:00Z", digest);
	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		char *argv[5] = {NULL};
		int argc = 0;

		for (; argc < 4 && wrong[i][argc]; argc++)
			argv[argc] = (char *)(uintptr_t)wrong[i][argc];
		ck_assert_msg(bu_cmd_image(argc, argv) == usage, "row %zu", i);
	}
	ck_assert_int_eq(run("show", NULL, ""), 0);
	teardown();
}
END_TEST

/* What it printed on standard output; owned. */
static char *
output_of(int argc, char **argv)
{
	bu_autofree char *said = bu_xasprintf("%s/said", dir);
	int saved = dup(STDOUT_FILENO);

	fflush(stdout);
	ck_assert_ptr_nonnull(freopen(said, "w", stdout));
	ck_assert_int_eq(bu_cmd_image(argc, argv), 0);
	fflush(stdout);
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	close(saved);
	return bu_file_read(said, 65536, NULL, NULL);
}

/* An image with all that a manifest may say of its contents. */
static void
put_described(const char *sbom, const char *digest)
{
	bu_autofree char *made = bu_xasprintf("%s/images", dir), *text = NULL;
	bu_autofree char *path = bu_xasprintf("%s/small/manifest.json", made);
	bu_autojson json_t *manifest = NULL;
	char ignored[65], signature[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(
		paper_image(made, "small", "2026-01-01T00:00:00Z", key, ignored, NULL),
		0);
	manifest = bu_json_load(path, NULL);
	json_object_set_new(manifest, "version", json_string("1.4"));
	json_object_set_new(manifest, "sources",
			    json_pack("[{s:s, s:s, s:s}]", "kind", "tar", "name",
				      "a.tar", "digest", digest));
	if (sbom)
		json_object_set_new(manifest, "sbom", json_string(sbom));
	text = bu_json_canonical(manifest);
	ck_assert_int_eq(bu_sign(key, text, strlen(text), signature, NULL), 0);
	write_file("images/small/manifest.json", text);
	write_file("images/small/manifest.sig", signature);
}

START_TEST(what_is_in_an_image_is_told)
{
	static const char one[] =
		"1111111111111111111111111111111111111111111111111111111111111111";

	setup();
	write_file("keys/image.pub", pub);
	for (int with = 0; with < 2; with++) {
		bu_autofree char *text = NULL, *json = NULL, *path = NULL;
		bu_autojson json_t *value = NULL;
		const json_t *source, *sbom;

		put_described(with ? one : NULL, one);
		/* getopt sorts them. */
		json = output_of(4,
				 (char *[]){(char *)"image", (char *)"show",
					    (char *)"small", (char *)"--json", NULL});
		text = output_of(3, (char *[]){(char *)"image", (char *)"show",
					       (char *)"small", NULL});
		ck_assert_msg(strstr(text, "version  1.4\n") != NULL, "%s", text);
		ck_assert_msg(strstr(text, "source   tar a.tar sha256:1111") != NULL,
			      "%s", text);
		value = json_loads(json, 0, NULL);
		ck_assert_str_eq(bu_json_str(value, "version", ""), "1.4");
		source = json_array_get(json_object_get(value, "sources"), 0);
		ck_assert_str_eq(bu_json_str(source, "name", ""), "a.tar");
		ck_assert_str_eq(
			bu_json_str(json_object_get(value, "holds"), "mirror", ""),
			"1");
		ck_assert(json_is_null(json_object_get(value, "disk")));
		sbom = json_object_get(value, "sbom");
		ck_assert_int_eq(json_is_null(sbom), !with);
		path = bu_xasprintf("%s/images/small/sbom.json", dir);
		ck_assert_str_eq(bu_json_str(sbom, "sha256", ""), with ? one : "");
		ck_assert_str_eq(bu_json_str(sbom, "path", ""), with ? path : "");
	}
	teardown();
}
END_TEST

/* --- gc, beside a daemon that says what nodes use --- */

static const char *uses; /* its answer to GET /v1/images */

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	static int seen;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(
		strlen(uses), (void *)(uintptr_t)uses, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(connection, strcmp(url, "/v1/images") ? 404 : 200,
				response);
	MHD_destroy_response(response);
	return rc;
}

static struct MHD_Daemon *
serve(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct MHD_Daemon *daemon;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
				  on_request, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_END);
	ck_assert_ptr_nonnull(daemon);
	return daemon;
}

static int
gc_with(const char *word, const char *more)
{
	bu_autofree char *socket = bu_xasprintf("--socket=%s/socket", dir);
	char *argv[] = {
		(char *)"image",         (char *)"gc", socket, (char *)(uintptr_t)word,
		(char *)(uintptr_t)more, NULL};

	return bu_cmd_image(3 + (word != NULL) + (more != NULL), argv);
}

static int
gc(const char *word)
{
	return gc_with(word, NULL);
}

static int
has(const char *digest)
{
	bu_autofree char *path = bu_xasprintf("%s/.store/%s", images, digest);

	return bu_file_exists(path);
}

/* Four of one name: the first is a node's, the third is what a rollback goes to. */
static void
put_four(char made[4][65])
{
	for (int i = 0; i < 4; i++) {
		bu_autofree char *created =
			bu_xasprintf("2026-01-0%dT00:00:00Z", i + 1);

		put(created, made[i]);
		usleep(2000); /* the next one is newer */
	}
}

START_TEST(gc_frees_what_nobody_needs_and_no_more)
{
	bu_autofree char *path = NULL, *said = NULL;
	char made[4][65];
	struct MHD_Daemon *daemon;

	setup();
	put_four(made);
	path = bu_xasprintf("%s/socket", dir);
	said = bu_xasprintf("{\"uses\":[{\"image\":\"small\",\"digest\":\"%s\","
			    "\"node\":\"node001\",\"why\":\"installed\"}]}",
			    made[0]);
	uses = said;
	daemon = serve(path);
	ck_assert_int_eq(gc(NULL), 0); /* says what it would do */
	for (int i = 0; i < 4; i++)
		ck_assert_msg(has(made[i]), "%d", i);
	ck_assert_int_eq(gc("--yes"), 0);
	ck_assert(has(made[0]) && !has(made[1]) && has(made[2]) && has(made[3]));
	ck_assert_int_eq(gc("--offline"), 0);
	ck_assert(has(made[0]));
	ck_assert_int_eq(gc("--yes"), 0);
	ck_assert(has(made[0]));
	/* The node has another one now. */
	uses = "{\"uses\":[]}";
	ck_assert_int_eq(gc("--yes"), 0);
	ck_assert(!has(made[0]) && has(made[2]) && has(made[3]));
	MHD_stop_daemon(daemon);
	teardown();
}
END_TEST

/* Its daemon is down, its log is here: who knows what its nodes have? */
START_TEST(gc_offline_frees_nothing_of_a_daemon)
{
	bu_autofree char *log = NULL;
	char made[4][65];

	setup();
	put_four(made);
	log = bu_xasprintf("%s/journal.db", dir);
	bu_image_claim(images, log); /* there is none */
	ck_assert_int_eq(bu_file_write_text(log, 0600, NULL, "log"), 0);
	bu_image_claim(images, log);
	ck_assert_int_ne(gc_with("--offline", "--yes"), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_msg(has(made[i]), "%d", i);
	ck_assert_int_eq(gc("--offline"), 0); /* says what it would do */
	ck_assert_int_eq(unlink(log), 0);
	ck_assert_int_eq(gc_with("--offline", "--yes"), 0);
	ck_assert(!has(made[0]) && !has(made[1]) && has(made[2]) && has(made[3]));
	teardown();
}
END_TEST

/* By what nodes have, and by the name that a pool asks for. */
START_TEST(pools_that_use_an_image_are_told)
{
	static const char *const expect[] = {"[\"old\"]", "[]", "[]",
					     "[\"train\", \"infer\"]"};
	bu_autofree char *path = NULL, *said = NULL, *json = NULL, *text = NULL;
	bu_autofree char *option = NULL;
	bu_autojson json_t *list = NULL;
	struct MHD_Daemon *daemon;
	char made[4][65];

	setup();
	put_four(made);
	path = bu_xasprintf("%s/socket", dir);
	option = bu_xasprintf("--socket=%s", path);
	said = bu_xasprintf(
		"{\"pools\":{\"train\":[\"other\",\"small\"],\"infer\":[\"small\"],"
		"\"none\":[\"other\"]},\"uses\":["
		"{\"image\":\"small\",\"digest\":\"%s\",\"node\":\"n1\",\"pool\":\"old\"},"
		"{\"image\":\"small\",\"digest\":\"%s\",\"node\":\"n2\",\"pool\":\"old\"},"
		"{\"image\":\"small\",\"digest\":\"%s\",\"node\":\"n3\",\"pool\":\"\"},"
		"{\"image\":\"small\",\"digest\":\"%s\",\"node\":\"n4\",\"pool\":"
		"\"train\"}]}",
		made[0], made[0], made[1], made[3]);
	uses = said;
	daemon = serve(path);
	json = output_of(4, (char *[]){(char *)"image", (char *)"stored",
				       (char *)"--json", option, NULL});
	text = output_of(3,
			 (char *[]){(char *)"image", (char *)"stored", option, NULL});
	ck_assert_msg(strstr(text, "train, infer") != NULL, "%s", text);
	list = json_loads(json, 0, NULL);
	for (size_t i = 0; i < 4; i++) { /* the newest first */
		const json_t *item = json_array_get(list, 3 - i);
		char *pools = json_dumps(json_object_get(item, "pools"), 0);

		ck_assert_str_eq(bu_json_str(item, "digest", ""), made[i]);
		ck_assert_str_eq(pools, expect[i]);
		free(pools);
	}
	MHD_stop_daemon(daemon);
	teardown();
}
END_TEST

/* No answer, or one that says nothing of nodes: they may need any of them. */
START_TEST(gc_without_knowledge_frees_nothing)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"{\"uses\":null}",
		"{\"uses\":{}}",
		"{\"uses\":[{\"image\":\"small\",\"node\":\"node001\"}]}",
		"{\"uses\":[{\"image\":\"small\",\"digest\":\"2cd8d50ad32c\"}]}",
	};
	const int remote = bu_err_exit_code(BU_ERR_REMOTE);
	bu_autofree char *path = NULL;
	char made[4][65];
	struct MHD_Daemon *daemon;

	setup();
	put_four(made);
	ck_assert_int_ne(gc("--yes"), 0); /* nobody there */
	path = bu_xasprintf("%s/socket", dir);
	daemon = serve(path);
	for (size_t i = 0; i < BU_LEN(answers); i++) {
		uses = answers[i];
		ck_assert_msg(gc("--yes") == remote, "%s", answers[i]);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_msg(has(made[i]), "%d", i);
	MHD_stop_daemon(daemon);
	teardown();
}
END_TEST

BU_UNIT("image", what_is_in_an_image_is_told, pools_that_use_an_image_are_told,
	gc_offline_frees_nothing_of_a_daemon, gc_frees_what_nobody_needs_and_no_more,
	gc_without_knowledge_frees_nothing, a_wrong_command_line_does_nothing,
	a_file_without_a_key_verifies_nothing, a_signature_is_of_what_has_the_name,
	a_refused_signature_says_what_to_do)
