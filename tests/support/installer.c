/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The installer of the agent by itself, for tests/bench/install and
 * tests/system/install-faults:
 *
 *	installer pack DIR NAME ROOT.raw            makes DIR/images/NAME and its keys
 *	installer serve DIR                         over HTTP with ranges; prints its
 *port installer run DIR URL NAME DISK [KEY=VALUE...]
 *
 * run: threads=N, patience=MS, step=ID (the mark is of that step), wipe=1, other=1 (the
 * order names a key that signed nothing), root=DIR (files go there, where DISK is a
 * file), load=DIR (into memory, mounted at DIR/root, where memory=MIB are free; DISK is
 * not looked at). Prints seconds and peak memory in KiB, or the kind of the error and
 *its text; exits with the kind's code. The root does not grow: that needs a right
 * (CAP_SYS_RESOURCE) that containers do not have.
 */
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/build/frames.h"
#include "images/install/install.h"
#include "images/install/ram.h"
#include "images/manifest.h"

static int
fail(const struct bu_err *err)
{
	printf("%s: %s\n", bu_err_name(err->kind), err->text);
	return bu_err_exit_code(err->kind);
}

static char *
in(const char *dir, const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

/* --- pack --- */

/* The image's key, the appliance's, and one that signs nothing. */
static int
make_keys(const char *dir, struct bu_err *err)
{
	static const char *const names[] = {"image", "boss", "other"};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *secret = NULL, *pub = NULL;
		bu_autofree char *key_path = bu_xasprintf("%s/%s.key", dir, names[i]);
		bu_autofree char *pub_path = bu_xasprintf("%s/%s.pub", dir, names[i]);

		if (bu_file_exists(key_path))
			continue;
		if (bu_sign_key_create(&secret, &pub, err) ||
		    bu_file_write(key_path, secret, strlen(secret), 0600, err) ||
		    bu_file_write(pub_path, pub, strlen(pub), 0644, err))
			return -1;
	}
	return 0;
}

static int
write_signed(const char *dir, const char *folder, const struct bu_manifest *manifest,
	     struct bu_err *err)
{
	bu_autojson json_t *value = bu_manifest_to_json(manifest);
	bu_autofree char *text = bu_json_canonical(value);
	bu_autofree char *key_path = in(dir, "image.key");
	bu_autofree char *key = bu_file_read(key_path, 4096, NULL, err);
	bu_autofree char *json_path = in(folder, "manifest.json");
	bu_autofree char *sig_path = in(folder, "manifest.sig");
	char sig[BU_SIG_HEX_SIZE];

	if (!key || bu_sign(key, text, strlen(text), sig, err) ||
	    bu_file_write(json_path, text, strlen(text), 0644, err))
		return -1;
	return bu_file_write_text(sig_path, 0644, err, "%s\n", sig);
}

static int
pack(const char *dir, const char *name, const char *raw, struct bu_err *err)
{
	bu_autofree char *folder = bu_xasprintf("%s/images/%s", dir, name);
	bu_autofree char *frames = in(folder, "root.frames");
	struct bu_manifest *manifest = bu_xcalloc(1, sizeof(*manifest));
	struct bu_part *part = &manifest->parts[0];
	int rc = -1;

	snprintf(manifest->name, sizeof(manifest->name), "%s", name);
	strcpy(part->name, "root");
	strcpy(part->file, "root.frames");
	strcpy(part->label, "root");
	strcpy(part->type, "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709");
	bu_sha256_hex(
		"", 0,
		bu_origin_add(&manifest->origin, BU_SOURCE_TAR, "", NULL)->digest);
	manifest->part_count = 1;
	if (!bu_mkdir_p(folder, 0755, err) && !make_keys(dir, err) &&
	    !bu_frames_pack(raw, frames, 2, part, err))
		rc = write_signed(dir, folder, manifest, err);
	bu_manifest_destroy(manifest);
	return rc;
}

/* --- serve --- */

static const char *served;

/* A part of the file or all of it, by sendfile. */
static enum MHD_Result
answer(struct MHD_Connection *connection, int fd, uint64_t size)
{
	const char *range =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
	unsigned long long first = 0, last = size - 1;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (range && (sscanf(range, "bytes=%llu-%llu", &first, &last) != 2 ||
		      first > last || last >= size)) {
		close(fd);
		return MHD_NO;
	}
	response = MHD_create_response_from_fd_at_offset64(last - first + 1, fd, first);
	rc = MHD_queue_response(connection, range ? 206 : 200, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *url,
       const char *method, const char *version, const char *body, size_t *body_size,
       void **state)
{
	static int seen;
	bu_autofree char *path = NULL;
	struct stat st;
	int fd;

	if (!*state) { /* an answer at the first call would close the connection */
		*state = &seen;
		return MHD_YES;
	}
	path = bu_xasprintf("%s%s", served, url);
	fd = strstr(url, "..") ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		return answer(connection, fd, (uint64_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return MHD_NO;
}

static int
serve(const char *dir, struct bu_err *err)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct MHD_Daemon *daemon;

	served = dir;
	daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handle,
				  NULL, MHD_OPTION_SOCK_ADDR, &address,
				  MHD_OPTION_THREAD_POOL_SIZE, 2U, MHD_OPTION_END);
	if (!daemon)
		return bu_err_set(err, BU_ERR_IO, 0, "the HTTP server does not start");
	printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	for (;;)
		pause();
}

/* --- run --- */

static const char *
option(char **words, const char *key, const char *other)
{
	size_t size = strlen(key);

	for (; *words; words++)
		if (!strncmp(*words, key, size) && (*words)[size] == '=')
			return *words + size + 1;
	return other;
}

struct keys {
	char *image, *boss, *boss_pub;
};

static int
read_keys(const char *dir, const char *image, struct keys *ret, struct bu_err *err)
{
	bu_autofree char *image_path = in(dir, image);
	bu_autofree char *boss_path = in(dir, "boss.key");
	bu_autofree char *pub_path = in(dir, "boss.pub");

	ret->image = bu_file_read(image_path, 4096, NULL, err);
	ret->boss = ret->image ? bu_file_read(boss_path, 4096, NULL, err) : NULL;
	ret->boss_pub = ret->boss ? bu_file_read(pub_path, 4096, NULL, err) : NULL;
	return ret->boss_pub ? 0 : -1;
}

static int
install(struct bu_install_opts *opts, char **words, struct bu_err *err)
{
	static const struct bu_install_file files[] = {
		{"/etc/hostname", 0644, "node001\n", 8}};
	static const struct bu_install_hooks hooks;
	const struct bu_ram_place place = {
		option(words, "load", NULL), "",
		(uint64_t)atoi(option(words, "memory", "1024")) << 20};
	struct rusage used;
	int64_t begin_ms = bu_mono_ms(bu_clock_system());

	opts->files = files;
	opts->file_count = BU_LEN(files);
	opts->stamp_text = "{}";
	opts->stamp_sig = "00";
	opts->threads = atoi(option(words, "threads", "0"));
	opts->patience_ms = atoi(option(words, "patience", "0"));
	opts->allow_wipe = atoi(option(words, "wipe", "0"));
	opts->root_dir = option(words, "root", NULL);
	if (place.dir ? bu_ram_load(opts, &hooks, &place, err)
		      : bu_install_run(opts, &hooks, err))
		return -1;
	getrusage(RUSAGE_SELF, &used);
	printf("%.3f %ld\n", (bu_mono_ms(bu_clock_system()) - begin_ms) / 1000.0,
	       used.ru_maxrss);
	return 0;
}

static int
run(char **words, struct bu_err *err)
{
	const char *dir = words[0], *step = option(words + 4, "step", "s-1");
	bu_autofree char *mark = bu_xasprintf("{\"epoch\":7,\"step\":\"%s\"}", step);
	bu_autofree char *path =
		bu_xasprintf("%s/images/%s/manifest.json", dir, words[2]);
	struct keys keys = {NULL, NULL, NULL};
	static const struct bu_install_file agent = {"/usr/lib/bringup/agent", 0755,
						     "#!/bin/sh\n", 10};
	char digest[BU_DIGEST_SIZE], mark_sig[BU_SIG_HEX_SIZE];
	struct bu_install_opts opts = {.base_url = words[1],
				       .image = words[2],
				       .disk = words[3],
				       .manifest_digest = digest,
				       .mark_text = mark,
				       .mark_sig = mark_sig,
				       .step_id = step,
				       .agent_files = &agent,
				       .agent_file_count = 1};
	int rc = -1;

	if (!read_keys(dir,
		       atoi(option(words + 4, "other", "0")) ? "other.pub"
							     : "image.pub",
		       &keys, err) &&
	    !bu_sha256_file(path, digest, err) &&
	    !bu_sign(keys.boss, mark, strlen(mark), mark_sig, err)) {
		opts.image_public_pem = keys.image;
		opts.appliance_public_pem = keys.boss_pub;
		rc = install(&opts, words + 4, err);
	}
	free(keys.image);
	free(keys.boss);
	free(keys.boss_pub);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";
	struct bu_err err = {0};
	int rc = bu_err_set(&err, BU_ERR_USAGE, 0, "pack, serve or run");

	if (!strcmp(verb, "pack") && argc == 5)
		rc = pack(argv[2], argv[3], argv[4], &err);
	else if (!strcmp(verb, "serve"))
		rc = serve(argv[2], &err);
	else if (!strcmp(verb, "run") && argc >= 6)
		rc = run(argv + 2, &err);
	return rc ? fail(&err) : 0;
}
