/* SPDX-License-Identifier: Apache-2.0 */
/* An image, a disk that is a file, and a server with ranges that can flip a byte, cut
 * an answer short or be away for a while. */
#ifndef BU_TESTS_SUPPORT_INSTALL_H
#define BU_TESTS_SUPPORT_INSTALL_H

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "images/build/frames.h"
#include "images/install/disk.h"
#include "images/manifest.h"
#include "tests/support/unit.h"
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DISK_BYTES = 64 << 20, ESP_BYTES = 1 << 20, ROOT_BYTES = 13 << 20 };

/* What the server does wrong, to ranges of root.frames. */
static struct {
	int flips, cuts, outages; /* how many answers are still to be wrong; -1 = all */
	int ranges;               /* asked for */
} server;

static char dir[] = "/tmp/bringup-install-XXXXXX";
static char disk[64], root[64];
static struct MHD_Daemon *daemon_handle;
static char base_url[64];
static char *image_key, *image_pub, *boss_key, *boss_pub;
static char digest[BU_DIGEST_SIZE];
static char mark_sig[BU_SIG_HEX_SIZE];
static const char mark[] = "{\"epoch\":7,\"step\":\"s-1\"}";
static char esp_raw[64], root_raw[64];
static int progress_calls, cancel_after;
static uint64_t progress_done, progress_total, discard_done, discard_total;
static char stages[200];

static inline int
counts_down(int *counter)
{
	if (*counter > 0)
		(*counter)--;
	else if (*counter == 0)
		return 0;
	return 1;
}

static inline enum MHD_Result
send_bytes(struct MHD_Connection *connection, const char *text, size_t size,
	   int partial)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc =
		MHD_queue_response(connection, partial ? 206 : 200, response);

	MHD_destroy_response(response);
	return rc;
}

static inline enum MHD_Result
send_error(struct MHD_Connection *connection, unsigned int status)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return rc;
}

/* One thread serves, so the counters need no lock. */
static inline enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *url,
       const char *method, const char *version, const char *body, size_t *body_size,
       void **state)
{
	const char *range =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
	bu_autofree char *path = bu_xasprintf("%s%s", dir, url);
	unsigned long long first, last;
	size_t size;
	bu_autofree char *text = bu_file_read(path, 0, &size, NULL);

	if (counts_down(&server.outages))
		return send_error(connection, 503);
	if (!text)
		return send_error(connection, 404);
	if (!range)
		return send_bytes(connection, text, size, 0);
	ck_assert_int_eq(sscanf(range, "bytes=%llu-%llu", &first, &last), 2);
	ck_assert(first <= last && last < size);
	if (strstr(url, "root.frames")) {
		server.ranges++;
		if (counts_down(&server.flips))
			text[first + 5] ^= 1;
		if (counts_down(&server.cuts))
			last--;
	}
	return send_bytes(connection, text + first, last - first + 1, 1);
}

static inline void
make_part(struct bu_part *part, const char *name, const char *raw, size_t size,
	  int grow)
{
	bu_autofree char *frames = bu_xasprintf("%s/images/small/%s.frames", dir, name);
	bu_autoclose int fd = open(raw, O_RDWR | O_CREAT, 0600);
	struct bu_err err = {0};

	ck_assert_int_eq(ftruncate(fd, size), 0);
	for (size_t at = 0; at < size; at += 5 << 19) {
		char noise[70000];

		bu_random(noise, sizeof(noise));
		if (at / BU_FRAME_BYTES != 1) /* frame 1 stays a hole */
			ck_assert_int_eq(pwrite(fd, noise, sizeof(noise), at),
					 sizeof(noise));
	}
	snprintf(part->name, sizeof(part->name), "%s", name);
	snprintf(part->file, sizeof(part->file), "%s.frames", name);
	snprintf(part->label, sizeof(part->label), "%s", name);
	snprintf(part->type, sizeof(part->type),
		 "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709");
	part->grow = grow;
	ck_assert_msg(!bu_frames_pack(raw, frames, 2, part, &err), "%s", err.text);
}

/* The image holds no agent, and who installs it has to bring one; its systems start
 * from a mirror. */
static int with_mirror;
static const char *image_kernel = "";

static inline void
make_image(void)
{
	struct bu_manifest *manifest = bu_xcalloc(1, sizeof(*manifest));
	bu_autofree char *folder = bu_xasprintf("%s/images/small", dir);
	bu_autofree char *json_path = bu_xasprintf("%s/manifest.json", folder);
	bu_autofree char *sig_path = bu_xasprintf("%s/manifest.sig", folder);
	bu_autojson json_t *value = NULL;
	bu_autofree char *text = NULL;
	char sig[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	strcpy(manifest->name, "small");
	strcpy(manifest->kernel, image_kernel);
	memset(manifest->boot_code, 0x90, BU_BOOT_CODE_SIZE);
	manifest->part_count = 2;
	bu_sha256_hex(
		"", 0,
		bu_origin_add(&manifest->origin, BU_SOURCE_TAR, "", NULL)->digest);
	manifest->described = manifest->holding_count = with_mirror;
	strcpy(manifest->holdings[0].name, "mirror");
	make_part(&manifest->parts[0], "esp", esp_raw, ESP_BYTES, 0);
	make_part(&manifest->parts[1], "root", root_raw, ROOT_BYTES, 1);
	ck_assert_int_eq(manifest->parts[1].frames[1].size, 0);
	value = bu_manifest_to_json(manifest);
	text = bu_json_canonical(value);
	bu_sha256_hex(text, strlen(text), digest);
	ck_assert_int_eq(bu_sign(image_key, text, strlen(text), sig, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(json_path, 0644, NULL, "%s", text), 0);
	ck_assert_int_eq(bu_file_write_text(sig_path, 0644, NULL, "%s\n", sig), 0);
	bu_manifest_destroy(manifest);
}

static inline void
setup(void)
{
	const union MHD_DaemonInfo *info;
	int fd;

	memset(&server, 0, sizeof(server));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(disk, sizeof(disk), "%s/disk", dir);
	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(esp_raw, sizeof(esp_raw), "%s/esp.raw", dir);
	snprintf(root_raw, sizeof(root_raw), "%s/root.raw", dir);
	ck_assert_int_eq(bu_mkdir_p(root, 0755, NULL), 0);
	fd = open(disk, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	close(fd);
	ck_assert_int_eq(bu_sign_key_create(&image_key, &image_pub, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&boss_key, &boss_pub, NULL), 0);
	ck_assert_int_eq(bu_sign(boss_key, mark, strlen(mark), mark_sig, NULL), 0);
	make_image();
	daemon_handle =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle,
				 NULL, MHD_OPTION_SOCK_ADDR,
				 &(struct sockaddr_in){
					 .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 },
				 MHD_OPTION_END);
	ck_assert_ptr_nonnull(daemon_handle);
	info = MHD_get_daemon_info(daemon_handle, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u", info->port);
}

static inline void
teardown(void)
{
	MHD_stop_daemon(daemon_handle);
	free(image_key);
	free(image_pub);
	free(boss_key);
	free(boss_pub);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static inline void
note_progress(const char *stage, uint64_t done, uint64_t total, void *arg)
{
	progress_calls++;
	if (!strstr(stages, stage))
		snprintf(stages + strlen(stages), sizeof(stages) - strlen(stages),
			 "%s ", stage);
	if (!strcmp(stage, "write")) {
		progress_done = done;
		progress_total = total;
	}
	if (!strcmp(stage, "disk") && total) {
		discard_done = done;
		discard_total = total;
	}
}

static inline int
ask_cancelled(void *arg)
{
	return cancel_after >= 0 && cancel_after-- == 0;
}

static const struct bu_install_file files[] = {
	{"/etc/hostname", 0644, "node001\n", 8},
	{"/etc/bringup/deep/er", 0600, "x", 1},
};

static const struct bu_install_file small_agent[] = {
	{"/usr/lib/bringup/slots/a/agent", 0755, "#!/bin/sh\n", 10},
	{"/usr/lib/bringup/current", S_IFLNK, "slots/a", 0},
};

static inline struct bu_install_opts
defaults(void)
{
	return (struct bu_install_opts){
		.base_url = base_url,
		.image = "small",
		.manifest_digest = digest,
		.image_public_pem = image_pub,
		.disk = disk,
		.mark_text = mark,
		.mark_sig = mark_sig,
		.appliance_public_pem = boss_pub,
		.step_id = "s-1",
		.files = files,
		.file_count = BU_LEN(files),
		.stamp_text = "{\"stamp\":1}",
		.stamp_sig = "cafe",
		.agent_files = small_agent,
		.agent_file_count = BU_LEN(small_agent),
		.threads = 3,
		.patience_ms = 1000,
		.root_dir = root,
	};
}

static inline int
install(const struct bu_install_opts *opts, struct bu_err *err)
{
	static const struct bu_install_hooks hooks = {.progress = note_progress,
						      .cancelled = ask_cancelled};

	memset(err, 0, sizeof(*err));
	return bu_install_run(opts, &hooks, err);
}

static inline void
works(const struct bu_install_opts *opts)
{
	struct bu_err err;

	ck_assert_msg(install(opts, &err) == 0, "%s", err.text);
}

static inline void
fails(const struct bu_install_opts *opts, enum bu_err_kind kind, const char *says)
{
	struct bu_err err;

	ck_assert_int_eq(install(opts, &err), -1);
	ck_assert_msg(err.kind == kind && strstr(err.text, says), "%s", err.text);
}

/* Another step is to do it, with a mark of its own. */
static inline void
next_step(struct bu_install_opts *opts)
{
	static const char text[] = "{\"step\":\"s-2\"}";
	static char sig[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(bu_sign(boss_key, text, strlen(text), sig, NULL), 0);
	opts->mark_text = text;
	opts->mark_sig = sig;
	opts->step_id = "s-2";
}

/* A text at a place of a file. */
static inline void
put(const char *path, off_t offset, const char *text)
{
	bu_autoclose int fd = open(path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, text, strlen(text), offset), strlen(text));
}

static inline int
has(const char *path, off_t offset, const char *text)
{
	bu_autoclose int fd = open(path, O_RDONLY);
	char got[32] = "";

	ck_assert_int_eq(pread(fd, got, strlen(text), offset), strlen(text));
	return strcmp(got, text) == 0;
}

/* The part's bytes on the disk are those of the raw file. */
static inline int
part_is_there(const char *raw, uint64_t at)
{
	size_t raw_size, disk_size;
	bu_autofree char *want = bu_file_read(raw, 0, &raw_size, NULL);
	bu_autofree char *got = bu_file_read(disk, 128 << 20, &disk_size, NULL);

	return !memcmp(want, got + at, raw_size);
}

/* What tells an unfinished disk: the mark, and nothing that firmware would boot. */
static inline void
check_unfinished(void)
{
	size_t size;
	bu_autofree char *got = bu_file_read(disk, 128 << 20, &size, NULL);

	ck_assert(!memcmp(got + BU_MARK_OFFSET, "BUMARK01", 8));
	for (size_t i = 0; i < 1024; i++)
		ck_assert_int_eq(got[i], 0);
}

static inline void
check_finished(void)
{
	size_t size;
	bu_autofree char *got = bu_file_read(disk, 128 << 20, &size, NULL);

	ck_assert(!memcmp(got + 512, "EFI PART", 8));
	ck_assert(!memcmp(got + size - 512, "EFI PART", 8));
	ck_assert(!memcmp(got + BU_MARK_OFFSET, "BUDONE01", 8));
	ck_assert(part_is_there(esp_raw, 1 << 20));
	ck_assert(part_is_there(root_raw, 2 << 20));
}

static inline void
check_file(const char *name, const char *content, mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	bu_autofree char *got = bu_file_read(path, 0, NULL, NULL);
	struct stat st;

	ck_assert_ptr_nonnull(got);
	ck_assert_str_eq(got, content);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, mode);
}

#endif
