/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole installs onto a file, from a server with ranges in this process that can flip a
 * byte, cut an answer short or be away for a while.
 */
#include "images/install/install.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "images/build/frames.h"
#include "images/install/disk.h"
#include "images/manifest.h"
#include "tests/support/unit.h"

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
static uint64_t progress_done, progress_total;
static char stages[200];

static int
counts_down(int *counter)
{
	if (*counter > 0)
		(*counter)--;
	else if (*counter == 0)
		return 0;
	return 1;
}

static enum MHD_Result
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

static enum MHD_Result
send_error(struct MHD_Connection *connection, unsigned int status)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return rc;
}

/* One thread serves, so the counters need no lock. */
static enum MHD_Result
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

static void
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

static void
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
	memset(manifest->boot_code, 0x90, BU_BOOT_CODE_SIZE);
	manifest->part_count = 2;
	make_part(&manifest->parts[0], "esp", esp_raw, ESP_BYTES, 0);
	make_part(&manifest->parts[1], "root", root_raw, ROOT_BYTES, 1);
	ck_assert_int_eq(manifest->parts[1].frames[1].size, 0);
	value = bu_manifest_to_json(manifest);
	text = bu_json_canonical(value);
	bu_sha256_hex(text, strlen(text), digest);
	ck_assert_int_eq(bu_sign(image_key, text, strlen(text), sig, NULL), 0);
	bu_file_write_text(json_path, 0644, NULL, "%s", text);
	bu_file_write_text(sig_path, 0644, NULL, "%s\n", sig);
	bu_manifest_destroy(manifest);
}

static void
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

static void
teardown(void)
{
	MHD_stop_daemon(daemon_handle);
	free(image_key);
	free(image_pub);
	free(boss_key);
	free(boss_pub);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
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
}

static int
ask_cancelled(void *arg)
{
	return cancel_after >= 0 && cancel_after-- == 0;
}

static const struct bu_install_file files[] = {
	{"/etc/hostname", 0644, "node001\n", 8},
	{"/etc/bringup/deep/er", 0600, "x", 1},
};

static struct bu_install_opts
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
		.threads = 3,
		.patience_ms = 1000,
		.root_dir = root,
	};
}

static int
install(const struct bu_install_opts *opts, struct bu_err *err)
{
	static const struct bu_install_hooks hooks = {.progress = note_progress,
						      .cancelled = ask_cancelled};

	memset(err, 0, sizeof(*err));
	return bu_install_run(opts, &hooks, err);
}

/* The part's bytes on the disk are those of the raw file. */
static int
part_is_there(const char *raw, uint64_t at)
{
	size_t raw_size, disk_size;
	bu_autofree char *want = bu_file_read(raw, 0, &raw_size, NULL);
	bu_autofree char *got = bu_file_read(disk, 128 << 20, &disk_size, NULL);

	return !memcmp(want, got + at, raw_size);
}

/* What tells an unfinished disk: the mark, and nothing that firmware would boot. */
static void
check_unfinished(void)
{
	size_t size;
	bu_autofree char *got = bu_file_read(disk, 128 << 20, &size, NULL);

	ck_assert(!memcmp(got + BU_MARK_OFFSET, "BUMARK01", 8));
	for (size_t i = 0; i < 1024; i++)
		ck_assert_int_eq(got[i], 0);
}

static void
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

static void
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

START_TEST(writes_all_of_it)
{
	struct bu_install_opts opts;
	struct bu_err err;
	bu_autofree char *link = NULL;

	setup();
	cancel_after = -1;
	opts = defaults();
	link = bu_xasprintf("%s/etc/hostname", root);
	bu_autofree char *etc = bu_xasprintf("%s/etc", root);
	ck_assert_int_eq(bu_mkdir_p(etc, 0755, NULL), 0);
	ck_assert_int_eq(symlink("/nonexistent/elsewhere", link), 0);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_file("etc/hostname", "node001\n", 0644);
	check_file("etc/bringup/deep/er", "x", 0600);
	check_file("var/lib/bringup/stamp.json", "{\"stamp\":1}", 0600);
	check_file("var/lib/bringup/stamp.sig", "cafe", 0600);
	ck_assert_str_eq(stages, "manifest disk write files done ");
	ck_assert(progress_total > 300000 && progress_done <= progress_total);
	ck_assert_int_eq(server.ranges, 3);
	teardown();
}
END_TEST

START_TEST(one_flip_is_fetched_again)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	server.flips = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_int_eq(server.ranges, 4);
	check_finished();
	teardown();
}
END_TEST

START_TEST(a_flip_that_stays_is_refused)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	opts.threads = 1;
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "part root, frame 0") != NULL, "%s", err.text);
	ck_assert_int_eq(server.ranges, 2);
	check_unfinished();
	ck_assert(!part_is_there(root_raw, 2 << 20));
	/* The same step goes on over its own mark. */
	server.flips = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

START_TEST(short_answers_and_outages)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	server.cuts = 1;
	server.outages = 3;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	server.cuts = -1;
	opts.allow_wipe = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	check_unfinished();
	teardown();
}
END_TEST

static void
put(uint64_t at, const char *text)
{
	bu_autoclose int fd = open(disk, O_RDWR);

	ck_assert_int_eq(pwrite(fd, text, strlen(text), at), strlen(text));
}

START_TEST(what_is_on_the_disk_stays)
{
	static const uint64_t places[] = {0, 1080, BU_MARK_OFFSET, DISK_BYTES - 1};
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	for (size_t i = 0; i < BU_LEN(places); i++) {
		char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

		ck_assert_int_eq(truncate(disk, 0) | truncate(disk, DISK_BYTES), 0);
		put(places[i], "x");
		bu_sha256_file(disk, before, NULL);
		ck_assert_int_eq(install(&opts, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_STATE);
		bu_sha256_file(disk, after, NULL);
		ck_assert_str_eq(before, after);
	}
	opts.allow_wipe = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

static void
next_step(struct bu_install_opts *opts)
{
	static const char text[] = "{\"step\":\"s-2\"}";
	static char sig[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(bu_sign(boss_key, text, strlen(text), sig, NULL), 0);
	opts->mark_text = text;
	opts->mark_sig = sig;
	opts->step_id = "s-2";
}

/* The power went between the last byte and the word on it. */
START_TEST(a_step_that_nobody_heard_of_is_done_again)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	ck_assert_int_eq(server.ranges, 6);
	/* What another step has installed is somebody's system. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	check_finished();
	teardown();
}
END_TEST

START_TEST(only_the_steps_own_mark_counts)
{
	struct bu_install_opts opts;
	struct bu_err err;
	bu_autofree char *other_key = NULL;
	bu_autofree char *other_pub = NULL;

	setup();
	opts = defaults();
	cancel_after = 3; /* after the mark, before all frames */
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	check_unfinished();
	cancel_after = -1;
	/* Another step finds a foreign mark. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	/* The same step, but the appliance's key is another one. */
	opts = defaults();
	ck_assert_int_eq(bu_sign_key_create(&other_key, &other_pub, NULL), 0);
	opts.appliance_public_pem = other_pub;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

START_TEST(wrong_orders_write_nothing)
{
	struct bu_install_opts opts;
	struct bu_err err;
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

	setup();
	cancel_after = -1;
	bu_sha256_file(disk, before, NULL);
	opts = defaults();
	opts.manifest_digest = mark_sig;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	opts.image_public_pem = boss_pub;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	opts.disk = "/nonexistent";
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	opts = defaults();
	opts.image = "missing";
	ck_assert_int_eq(install(&opts, &err), -1);
	bu_sha256_file(disk, after, NULL);
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(truncate(disk, 8 << 20), 0);
	opts = defaults();
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	teardown();
}
END_TEST

START_TEST(files_stay_in_the_new_root)
{
	static const char *const paths[] = {"etc/x", "/",       "/etc/../../x",
					    "//x",   "/etc//x", "/./x",
					    "/etc/", "",        "/link/file"};
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	bu_autofree char *link = bu_xasprintf("%s/link", root);
	bu_autofree char *outside = bu_xasprintf("%s/file", dir);
	ck_assert_int_eq(symlink(dir, link), 0);
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		const struct bu_install_file bad = {paths[i], 0644, "x", 1};

		opts = defaults();
		opts.allow_wipe = 1;
		opts.files = &bad;
		opts.file_count = 1;
		ck_assert_msg(install(&opts, &err) == -1, "%s was accepted", paths[i]);
		check_unfinished();
	}
	ck_assert(!bu_file_exists(outside));
	teardown();
}
END_TEST

/* --- data partitions --- */

static const struct bu_install_data data[] = {
	{"scratch", "96f62889-af4e-8f85-861b-0b5cbec056e2", 20 << 20}};
enum { DATA_BEGIN = DISK_BYTES - (21 << 20), DATA_LAST = DISK_BYTES - (1 << 20) - 4 };

static void
write_disk(const char *text, uint64_t at)
{
	bu_autoclose int fd = open(disk, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, text, 4, at), 4);
}

static void
check_disk(const char *want, uint64_t at)
{
	bu_autoclose int fd = open(disk, O_RDONLY);
	char got[4];

	ck_assert_int_eq(pread(fd, got, 4, at), 4);
	ck_assert(!memcmp(got, want, 4));
}

/* Names of the partitions, as util-linux reads the disk. */
static void
check_names(const char *want)
{
	const char *const argv[] = {"partx", "-g", "--raw", "-o", "NAME", disk, NULL};
	const struct bu_job_opts job = {.argv = argv, .deadline_ms = 20000};
	bu_autofree char *out = NULL;

	ck_assert_int_eq(bu_job_run(&job, &out, NULL), 0);
	ck_assert_str_eq(out, want);
}

START_TEST(a_reimage_keeps_data_whatever_happens)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	opts.data = data;
	opts.data_count = BU_LEN(data);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_names("esp\nroot\nscratch\n");
	write_disk("head", DATA_BEGIN);
	write_disk("tail", DATA_LAST);
	/* Nothing was granted. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	opts.keep_data = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_names("esp\nroot\nscratch\n");
	/* It ends in the middle: nothing boots, and the data can still be found, also
	 * by a later step that does not know of this one. */
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	check_names("scratch\n");
	/* Nor does the same step forget it, when the profile has changed meanwhile. */
	opts.data_count = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	check_names("scratch\n");
	opts.data_count = 1;
	write_disk("none", BU_MARK_OFFSET);
	server.flips = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_disk("head", DATA_BEGIN);
	check_disk("tail", DATA_LAST);
	/* The step that goes on over a table that was torn keeps it, too. */
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	server.flips = 0;
	write_disk("torn", 512);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_names("esp\nroot\nscratch\n");
	check_disk("head", DATA_BEGIN);
	check_disk("tail", DATA_LAST);
	/* A profile without the partition does not get it by a reimage. */
	opts.data_count = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "a partition 'scratch'"));
	check_names("esp\nroot\nscratch\n");
	/* A wipe leaves nothing that looks like a file system. */
	opts.data_count = 1;
	opts.keep_data = 0;
	opts.allow_wipe = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_disk("\0\0\0\0", DATA_BEGIN);
	check_disk("\0\0\0\0", DATA_LAST);
	teardown();
}
END_TEST

START_TEST(the_boot_loaders_get_the_nodes_arguments)
{
	bu_autofree char *esp = NULL, *kargs = NULL, *conf = NULL, *entry = NULL;
	bu_autofree char *entries = NULL, *got = NULL;
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	esp = bu_xasprintf("%s/esp", dir);
	entries = bu_xasprintf("%s/loader/entries", esp);
	kargs = bu_xasprintf("%s/kargs", esp);
	conf = bu_xasprintf("%s/syslinux.cfg", esp);
	entry = bu_xasprintf("%s/bringup.conf", entries);
	ck_assert_int_eq(bu_mkdir_p(entries, 0755, NULL), 0);
	bu_file_write_text(kargs, 0644, NULL, "rw\n");
	bu_file_write_text(conf, 0644, NULL, " APPEND rw\n");
	bu_file_write_text(entry, 0644, NULL, "options rw\n");
	opts = defaults();
	opts.kargs = "iommu=pt";
	opts.esp_dir = esp;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	got = bu_file_read(conf, 0, NULL, NULL);
	ck_assert_str_eq(got, " APPEND rw iommu=pt\n");
	teardown();
}
END_TEST

BU_UNIT("install", writes_all_of_it, one_flip_is_fetched_again,
	a_flip_that_stays_is_refused, short_answers_and_outages,
	what_is_on_the_disk_stays, only_the_steps_own_mark_counts,
	a_step_that_nobody_heard_of_is_done_again, wrong_orders_write_nothing,
	files_stay_in_the_new_root, a_reimage_keeps_data_whatever_happens,
	the_boot_loaders_get_the_nodes_arguments)
