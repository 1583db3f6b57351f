/* SPDX-License-Identifier: Apache-2.0 */
/* Backups: what is in them, what may open them, and where they go. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/backup.h"

static struct appliance a;

/* The files of the folder are equal. */
static void
same_file(const char *one, const char *other, const char *name)
{
	bu_autofree char *left = bu_xasprintf("%s/%s", one, name);
	bu_autofree char *right = bu_xasprintf("%s/%s", other, name);
	char a_digest[BU_DIGEST_SIZE], b_digest[BU_DIGEST_SIZE];

	ck_assert_int_eq(bu_sha256_file(left, a_digest, NULL), 0);
	ck_assert_int_eq(bu_sha256_file(right, b_digest, NULL), 0);
	ck_assert_str_eq(a_digest, b_digest);
}

static enum bu_err_kind
restore_kind(const struct bu_restore_ask *ask, char **ret_text)
{
	struct bu_err err = {0};
	size_t size;
	FILE *out = open_memstream(ret_text, &size);
	int rc = bu_restore(ask, out, &err);

	fclose(out);
	if (rc == 0)
		return BU_ERR_NONE;
	free(*ret_text);
	*ret_text = bu_xstrdup(err.text);
	return err.kind;
}

START_TEST(comes_back_as_it_was)
{
	bu_autofree char *text = NULL;
	struct bu_restore_ask ask;
	struct stat st;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ck_assert_int_eq(stat(a.backup, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ask = appliance_restore(&a);
	ck_assert_msg(restore_kind(&ask, &text) == BU_ERR_NONE, "%s", text);
	/* The clock's epoch, as that is the greater one. */
	appliance_is_whole(&a, a.other, APPLIANCE_NOW_MS / 1000);
	same_file(a.state, a.other, "keys/ca.key");
	same_file(a.state, a.other, "keys/token.secret");
	same_file(a.dir, a.other, "bringupd.conf");
	ck_assert_ptr_nonnull(strstr(text, "site falcon"));
	ck_assert_ptr_nonnull(
		strstr(text, "(3 h 0 min ago), 9 rows, epoch 1700000000"));
	ck_assert_ptr_nonnull(strstr(text, "with epoch 1800000000"));
	ck_assert_ptr_nonnull(strstr(text, "node001  again"));
	appliance_end(&a);
}
END_TEST

/* A clock that stands before the log's epoch must not make a lower one. */
START_TEST(the_epoch_rises_whatever_the_clock_says)
{
	bu_autofree char *text = NULL;
	struct bu_restore_ask ask;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ask = appliance_restore(&a);
	ask.now_ms = 1000;
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NONE);
	appliance_is_whole(&a, a.other, APPLIANCE_EPOCH + 1);
	appliance_end(&a);
}
END_TEST

START_TEST(a_dry_run_writes_nothing)
{
	bu_autofree char *text = NULL;
	struct bu_restore_ask ask;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ask = appliance_restore(&a);
	ask.dry_run = 1;
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NONE);
	ck_assert_ptr_nonnull(strstr(text, "site falcon"));
	ck_assert_ptr_null(strstr(text, "restored"));
	ck_assert_int_eq(bu_file_exists(a.other), 0);
	appliance_end(&a);
}
END_TEST

START_TEST(a_state_in_use_is_refused)
{
	bu_autofree char *text = NULL, *path = NULL;
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_restore_ask ask;
	struct bu_store *store;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ask = appliance_restore(&a);
	ask.state = a.state;
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(text, "has a log"));
	path = bu_xasprintf("%s/journal.db", a.state);
	store = bu_store_open_sqlite(loop, path, NULL);
	free(text);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(text, "a bringupd runs"));
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	/* An empty folder, as a package makes one, is none. */
	ck_assert_int_eq(mkdir(a.other, 0700), 0);
	ask.state = a.other;
	free(text);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NONE);
	free(text);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_STATE);
	appliance_end(&a);
}
END_TEST

START_TEST(keys_are_in_it_when_asked_for)
{
	bu_autofree char *text = NULL, *keys = NULL;
	struct bu_backup_ask backup;
	struct bu_restore_ask ask;

	appliance_begin(&a);
	backup = appliance_ask(&a);
	backup.with_keys = 0;
	appliance_backup(&a, &backup);
	ask = appliance_restore(&a);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(text, "--keys DIR"));
	ck_assert_int_eq(bu_file_exists(a.other), 0);
	ask.dry_run = 1;
	free(text);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NONE);
	ck_assert_ptr_nonnull(strstr(text, "nothing says that"));
	ask.dry_run = 0;
	ask.keys = keys = bu_xasprintf("%s/keys", a.state);
	free(text);
	ck_assert_msg(restore_kind(&ask, &text) == BU_ERR_NONE, "%s", text);
	same_file(a.state, a.other, "keys/sign.key");
	appliance_end(&a);
}
END_TEST

/* Keys of another appliance, a log that was cut before it was packed, an anchor that is
 * another log's: each is refused, and no state directory is made. */
START_TEST(what_was_forged_is_refused)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *text = NULL, *keys = NULL;
	struct bu_restore_ask ask;
	struct bu_backup_ask backup;
	struct bu_backup_made made;
	struct bu_err err = {0};

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	keys = bu_xasprintf("%s/keys", a.dir);
	bu_trust_destroy(bu_trust_open(keys, names, NULL));
	ask = appliance_restore(&a);
	ask.keys = keys;
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(text, "not signed by this appliance"));
	ck_assert_int_eq(bu_file_exists(a.other), 0);
	backup = appliance_ask(&a);
	backup.name = "two.backup";
	json_object_set_new(a.anchor, "text",
			    json_string("{\"seq\":8,\"hash\":\"x\"}"));
	ck_assert_int_eq(bu_backup_make(&backup, &made, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	appliance_end(&a);
}
END_TEST

START_TEST(each_part_of_the_file_counts)
{
	struct bu_restore_ask ask;
	bu_autofree char *whole = NULL;
	size_t size;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ask = appliance_restore(&a);
	ask.dry_run = 1;
	whole = bu_file_read(a.backup, 0, &size, NULL);
	for (size_t at = 0; at < size; at += size / 40) {
		bu_autofree char *text = NULL;

		whole[at] ^= 4;
		ck_assert_int_eq(bu_file_write(a.backup, whole, size, 0600, NULL), 0);
		ck_assert_int_ne(restore_kind(&ask, &text), BU_ERR_NONE);
		whole[at] ^= 4;
		free(bu_steal(&text));
		ck_assert_int_eq(bu_file_write(a.backup, whole, at, 0600, NULL), 0);
		ck_assert_int_ne(restore_kind(&ask, &text), BU_ERR_NONE);
	}
	appliance_end(&a);
}
END_TEST

/* Sealed to the recipient by a stranger, who has read the format. */
static void
stranger_seals(struct bu_pack *pack)
{
	struct bu_backup_made made;
	int fd = open(a.backup, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(bu_pack_write(pack, a.recipient, fd, &made, NULL), 0);
	close(fd);
	bu_pack_fini(pack);
}

START_TEST(an_archive_stays_in_its_folder)
{
	static const char *const names[] = {
		"../escaped", "/tmp/bringup-escaped", "keys/../../escaped",
		"keys/a/b",   "keys/.hidden",         "journal.db-wal",
		"keys/"};
	struct bu_restore_ask ask;

	appliance_begin(&a);
	a.backup = bu_xasprintf("%s/strange", a.dir);
	ask = appliance_restore(&a);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *text = NULL;
		struct bu_pack pack = {0};

		bu_pack_add(&pack, names[i], a.conf);
		stranger_seals(&pack);
		ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_VERIFY);
		ck_assert_msg(strstr(text, "which is not a part of a backup") != NULL,
			      "%s", text);
	}
	for (int i = 0; i < 2; i++) {
		bu_autofree char *text = NULL;
		struct bu_pack pack = {0};

		bu_pack_add(&pack, "bringupd.conf", a.conf);
		if (i == 0)
			bu_pack_add(&pack, "bringupd.conf", a.conf);
		stranger_seals(&pack);
		ck_assert_int_ne(restore_kind(&ask, &text), BU_ERR_NONE);
		ck_assert_ptr_nonnull(strstr(text, i ? "key ca.key" : "twice"));
	}
	ck_assert_int_eq(bu_file_exists(a.other), 0);
	appliance_end(&a);
}
END_TEST

START_TEST(none_is_written_over)
{
	struct bu_backup_made made;
	struct bu_backup_ask ask;
	struct bu_err err = {0};
	bu_autofree char *left = NULL;

	appliance_begin(&a);
	ask = appliance_ask(&a);
	appliance_backup(&a, &ask);
	ck_assert_int_eq(bu_backup_make(&ask, &made, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	left = bu_xasprintf("%s/backup", a.state);
	ck_assert_int_eq(bu_file_exists(left), 0);
	ask.to = "s3://bucket";
	ck_assert_int_eq(bu_backup_make(&ask, &made, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	appliance_end(&a);
}
END_TEST

START_TEST(a_program_gets_it)
{
	bu_autofree char *program = NULL, *to = NULL, *text = NULL;
	struct bu_backup_made made;
	struct bu_restore_ask ask;
	struct bu_backup_ask backup;
	struct bu_err err = {0};

	appliance_begin(&a);
	program = bu_xasprintf("%s/put", a.dir);
	ck_assert_int_eq(bu_file_write_text(program, 0700, NULL,
					    "#!/bin/sh\ncat >%s/out/$1\n", a.dir),
			 0);
	to = bu_xasprintf("exec:%s", program);
	backup = appliance_ask(&a);
	backup.to = to;
	appliance_backup(&a, &backup);
	ck_assert_str_eq(a.backup, to);
	free(a.backup);
	a.backup = bu_xasprintf("%s/out/one.backup", a.dir);
	ask = appliance_restore(&a);
	ck_assert_int_eq(restore_kind(&ask, &text), BU_ERR_NONE);
	ck_assert_int_eq(bu_file_write_text(program, 0700, NULL, "#!/bin/sh\nexit 3\n"),
			 0);
	ck_assert_int_eq(bu_backup_make(&backup, &made, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "status 3"));
	appliance_end(&a);
}
END_TEST

/* Takes one PUT, of which the head and the body are in the file "put". */
static pid_t
serve(int *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bu_autofree char *path = bu_xasprintf("%s/put", a.dir);
	static const char took[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM, 0), one, out;
	const struct timeval quiet = {.tv_sec = 3};
	socklen_t size = sizeof(at);
	char block[4096];
	ssize_t got;
	pid_t pid;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*ret_port = ntohs(at.sin_port);
	pid = fork();
	if (pid != 0) {
		close(fd);
		return pid;
	}
	one = accept(fd, NULL, NULL);
	out = open(path, O_WRONLY | O_CREAT, 0600);
	shutdown(fd, SHUT_RD);
	/* Little enough that it comes at once; then silence. */
	setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof(quiet));
	while ((got = read(one, block, sizeof(block))) > 0)
		bu_ignore(bu_write_all(out, block, (size_t)got, NULL));
	bu_ignore(bu_write_all(one, took, sizeof(took) - 1, NULL));
	_exit(0);
}

START_TEST(a_server_gets_it)
{
	bu_autofree char *to = NULL, *url = NULL, *put = NULL, *request = NULL;
	struct bu_backup_ask backup;
	size_t size;
	pid_t pid;
	int port;

	appliance_begin(&a);
	pid = serve(&port);
	to = bu_xasprintf("http://127.0.0.1:%d/vault/", port);
	backup = appliance_ask(&a);
	backup.to = to;
	appliance_backup(&a, &backup);
	waitpid(pid, NULL, 0);
	url = bu_xasprintf("%sone.backup", to);
	put = bu_xasprintf("%s/put", a.dir);
	request = bu_file_read(put, 0, &size, NULL);
	ck_assert_int_eq(strncmp(request, "PUT /vault/one.backup HTTP/", 27), 0);
	ck_assert_ptr_nonnull(memmem(request, size, "\r\n\r\nbringup-seal", 16));
	ck_assert_str_eq(a.backup, url);
	appliance_end(&a);
}
END_TEST

BU_UNIT("backup", comes_back_as_it_was, the_epoch_rises_whatever_the_clock_says,
	a_dry_run_writes_nothing, a_state_in_use_is_refused,
	keys_are_in_it_when_asked_for, what_was_forged_is_refused,
	each_part_of_the_file_counts, an_archive_stays_in_its_folder,
	none_is_written_over, a_program_gets_it, a_server_gets_it)
