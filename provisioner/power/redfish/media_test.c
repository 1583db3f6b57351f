/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot media against the strict virtual BMC, which runs as a program and fetches each
 * image itself: from this test, which counts. So a driver that says "done" and does
 * nothing is found out.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"
#include "tests/support/redfish.h"
#include "tests/support/unit.h"

enum { IMAGE_SIZE = 20 * 2048, DESCRIPTOR = 16 * 2048 };

struct bench {
	struct bu_loop *loop;
	pid_t images;
	int port, *fetched; /* shared with the server of images */
	void *driver;
	char password[64]; /* file */
	char dir[80], first[120], second[120], url[64];
	pid_t bmc;
	struct bu_power_request request;
	int done;
	struct bu_err err;
};

/* One answer for each connection: the piece that is asked for, of an image that is all
 * zeros but for its descriptor. */
static void
answer(int fd, int *fetched)
{
	static char image[IMAGE_SIZE];
	char request[2048] = "", head[200];
	unsigned long from = 0, to = IMAGE_SIZE - 1;
	const char *range;
	int size;

	memcpy(image + DESCRIPTOR, "\001CD001", 6);
	if (read(fd, request, sizeof(request) - 1) <= 0)
		return;
	if ((range = strcasestr(request, "range: bytes=")))
		sscanf(range + strlen("range: bytes="), "%lu-%lu", &from, &to);
	if (strstr(request, "missing") || to >= IMAGE_SIZE) {
		dprintf(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n"
			    "Connection: close\r\n\r\n");
		return;
	}
	(*fetched)++;
	size = snprintf(head, sizeof(head),
			"HTTP/1.1 206 Part\r\nContent-Length: %lu\r\n"
			"Content-Range: bytes %lu-%lu/%d\r\n"
			"Connection: close\r\n\r\n",
			to - from + 1, from, to, IMAGE_SIZE);
	ck_assert_int_eq(write(fd, head, (size_t)size), size);
	ck_assert_int_eq(write(fd, image + from, to - from + 1),
			 (ssize_t)(to - from + 1));
}

static void
start_images(struct bench *bench)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	bench->port = ntohs(at.sin_port);
	bench->fetched = mmap(NULL, sizeof(*bench->fetched), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bench->images = fork();
	if (bench->images == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while ((one = accept(fd, NULL, NULL)) >= 0) {
			answer(one, bench->fetched);
			close(one);
		}
		_exit(1);
	}
	close(fd);
}

static void
write_file(char path[64], const char *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/bringup-media.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static char data_dir[64]; /* with another tree of Dell; "" = that of all */

/* Dell's tree with these members in its resources, {"path":{...}}. with is stolen. */
static void
change_tree(json_t *with)
{
	bu_autojson json_t *tree =
		bu_json_load(BU_SRCDIR "/lab/bmc/trees/dell.json", NULL);
	json_t *resources = json_object_get(tree, "resources"), *one;
	const char *path;
	bu_autofree char *trees = NULL, *dell = NULL, *common = NULL;

	strcpy(data_dir, "/tmp/bringup-trees-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(data_dir));
	trees = bu_xasprintf("%s/lab/bmc/trees", data_dir);
	dell = bu_xasprintf("%s/dell.json", trees);
	common = bu_xasprintf("%s/common.json", trees);
	ck_assert_int_eq(bu_mkdir_p(trees, 0700, NULL), 0);
	ck_assert_int_eq(symlink(BU_SRCDIR "/lab/bmc/trees/common.json", common), 0);
	json_object_foreach (with, path, one)
		if (json_object_get(resources, path))
			json_object_update(json_object_get(resources, path), one);
		else
			json_object_set(resources, path, one);
	json_decref(with);
	ck_assert_int_eq(json_dump_file(tree, dell, 0), 0);
}

static void
drop_tree(void)
{
	ck_assert_int_eq(bu_remove_tree(data_dir, NULL), 0);
	data_dir[0] = '\0';
}

/* Whom Dell's system names as its managers. list is stolen. */
static void
name_managers(json_t *list)
{
	change_tree(json_pack("{s:{s:{s:o}}}", "/redfish/v1/Systems/{system}", "Links",
			      "ManagedBy", list));
}

/* Its first word is where it listens. */
static void
start_bmc(struct bench *bench, const char *tree)
{
	static const char program[] = BU_BUILDDIR "/bringup-lab";
	int fds[2];
	FILE *said;

	ck_assert_int_eq(pipe(fds), 0);
	bench->bmc = fork();
	if (bench->bmc == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		close(fds[0]);
		if (data_dir[0])
			setenv("BRINGUP_DATADIR", data_dir, 1);
		execl(program, program, "bmc", "--listen", "127.0.0.1:0", "--tree",
		      tree, "--plain", "--user", "admin", "--password-file",
		      bench->password, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	said = fdopen(fds[0], "r");
	ck_assert_int_eq(fscanf(said, "%63s", bench->url), 1);
	fclose(said);
}

static void
begin(struct bench *bench, const char *tree)
{
	struct rf_times times = short_times;

	memset(bench, 0, sizeof(*bench));
	start_images(bench);
	write_file(bench->password, "calvin12\n", 9);
	bench->loop = bu_loop_create(NULL);
	/* The task of one tree takes 1.5 s, and no other has one. */
	times.settle_ms = strcmp(tree, "dell") == 0 ? 5 : 150;
	times.again_ms = 20;
	bench->driver = rf_open(bench->loop, &times);
	snprintf(bench->dir, sizeof(bench->dir), "http://127.0.0.1:%d/boot/media/",
		 bench->port);
	snprintf(bench->first, sizeof(bench->first), "%sn1/a1.iso", bench->dir);
	snprintf(bench->second, sizeof(bench->second), "%sn1/b2.iso", bench->dir);
	start_bmc(bench, tree);
	bench->request.target.bmc = bench->url;
	bench->request.target.user = "admin";
	bench->request.target.password = "calvin12";
}

static void
finish(struct bench *bench)
{
	bu_power_redfish.close(bench->driver);
	bu_loop_destroy(bench->loop);
	kill(bench->bmc, SIGKILL);
	waitpid(bench->bmc, NULL, 0);
	kill(bench->images, SIGKILL);
	waitpid(bench->images, NULL, 0);
	munmap(bench->fetched, sizeof(*bench->fetched));
	unlink(bench->password);
}

static void
on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct bench *bench = arg;

	(void)answer;
	bench->done = 1;
	bench->err = err ? *err : (struct bu_err){0};
}

static enum bu_err_kind
ask(struct bench *bench, enum bu_power_op op, const char *media)
{
	bench->request.op = op;
	bench->request.media = media;
	bench->request.first = BU_BOOT_MEDIA;
	bench->done = 0;
	bu_power_redfish.start(bench->driver, &bench->request, on_done, bench);
	for (int i = 0; i < 4000 && !bench->done; i++)
		bu_loop_step(bench->loop, 10);
	ck_assert_msg(bench->done, "the operation does not end");
	return bench->err.kind;
}

#define ask_ok(bench, op, media)                                                       \
	ck_assert_msg(ask(bench, op, media) == BU_ERR_NONE, "%s: %s", tree,            \
		      (bench)->err.text)

/* How often the BMC asked for the first image until it was in. */
static int
goes_in_and_out(const char *tree)
{
	struct bench bench;
	int before, first;

	begin(&bench, tree);
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	first = *bench.fetched;
	ck_assert_int_ge(first, 1);
	ask_ok(&bench, BU_POWER_BOOT_FIRST, NULL);
	before = *bench.fetched;
	/* It is in, and is not put in again. */
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	ck_assert_int_eq(*bench.fetched, before);
	/* The one of a boot before goes out for the next one, and all of ours do. */
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.second);
	ck_assert_int_gt(*bench.fetched, before);
	ask_ok(&bench, BU_POWER_MEDIA_EJECT, bench.dir);
	before = *bench.fetched;
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.second);
	ck_assert_int_gt(*bench.fetched, before);
	finish(&bench);
	return first;
}

/* Once, into one drive, by an action or by a PATCH. */
START_TEST(each_tree_takes_a_medium)
{
	static const char *const trees[] = {"dell", "hpe", "lenovo", "supermicro",
					    "gb200"};

	for (size_t i = 0; i < BU_LEN(trees); i++)
		ck_assert_int_eq(goes_in_and_out(trees[i]), 1);
}
END_TEST

START_TEST(what_is_not_ours_stays)
{
	static const char tree[] = "lenovo";
	struct bench bench;
	int before;

	begin(&bench, tree);
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	ask_ok(&bench, BU_POWER_MEDIA_EJECT, "http://127.0.0.1/isos/");
	before = *bench.fetched;
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	ck_assert_int_eq(*bench.fetched, before);
	finish(&bench);
}
END_TEST

/* Some show the path without the host, or the host by another name. */
START_TEST(what_is_ours_is_known_by_its_path)
{
	static const char tree[] = "lenovo";
	struct bench bench;
	int before;

	begin(&bench, tree);
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	ask_ok(&bench, BU_POWER_MEDIA_EJECT, "https://ctl.lab:8443/boot/media/");
	before = *bench.fetched;
	ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
	ck_assert_int_gt(*bench.fetched, before);
	finish(&bench);
}
END_TEST

START_TEST(an_image_that_the_bmc_cannot_fetch_is_an_error)
{
	struct bench bench;
	bu_autofree char *missing = NULL;

	begin(&bench, "hpe");
	missing = bu_xasprintf("%sn1/missing.iso", bench.dir);
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, missing), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(bench.err.text, "missing.iso"));
	finish(&bench);
}
END_TEST

START_TEST(a_bmc_without_a_drive_says_so)
{
	struct bench bench;

	begin(&bench, "dgx");
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, bench.first),
			 BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(bench.err.text, "boot = media"));
	finish(&bench);
}
END_TEST

/* One that is not there is no matter, and who names none has the first of all. */
START_TEST(drives_are_found_whatever_managers_are_named)
{
	static const char tree[] = "dell";
	struct bench bench;

	for (int none = 0; none < 2; none++) {
		name_managers(none ? json_null()
				   : json_pack("[{s:s},{s:s},{s:s}]", "@odata.id",
					       "/redfish/v1/Managers/Gone", "@odata.id",
					       "/redfish/v1/Managers/{manager}",
					       "@odata.id",
					       "/redfish/v1/Managers/Away"));
		begin(&bench, tree);
		ask_ok(&bench, BU_POWER_MEDIA_INSERT, bench.first);
		ask_ok(&bench, BU_POWER_MEDIA_EJECT, bench.dir);
		finish(&bench);
		drop_tree();
	}
}
END_TEST

#define DRIVES "/redfish/v1/Managers/{manager}/VirtualMedia/"

/* It would take the image, and no machine boots a CD from it. */
START_TEST(a_stick_is_no_cd)
{
	struct bench bench;
	bu_autofree char *image = NULL;

	/* the CD drive comes after one that is none */
	change_tree(json_pack("{s:{s:[s]}}", DRIVES "2", "MediaTypes", "USBStick"));
	begin(&bench, "dell");
	image = bu_xasprintf("%sn1/a1", bench.dir);
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, image), BU_ERR_NONE);
	finish(&bench);
	drop_tree();
	free(bu_steal(&image));
	change_tree(json_pack("{s:{s:[s]},s:{s:[s]}}", DRIVES "2", "MediaTypes",
			      "USBStick", DRIVES "4", "MediaTypes", "USBStick"));
	begin(&bench, "dell");
	image = bu_xasprintf("%sn1/a1", bench.dir);
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, image), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(
		strstr(bench.err.text, "4 virtual drives, and no CD among them"));
	ck_assert_int_eq(*bench.fetched, 0);
	finish(&bench);
	drop_tree();
}
END_TEST

/* The drive's action fills another one, and the BMC says that all is well. */
START_TEST(an_image_that_is_taken_and_not_shown_is_an_error)
{
	struct bench bench;
	bu_autofree char *image = NULL;

	change_tree(json_pack("{s:n,s:{s:{s:{s:s}}}}", DRIVES "2", DRIVES "4",
			      "Actions", "#VirtualMedia.InsertMedia", "target",
			      DRIVES "1/Actions/VirtualMedia.InsertMedia"));
	begin(&bench, "dell");
	image = bu_xasprintf("%sn1/a1", bench.dir);
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, image), BU_ERR_VERIFY);
	ck_assert_int_ge(*bench.fetched, 1);
	finish(&bench);
	drop_tree();
}
END_TEST

/* With none that answers it is not known whether there is a drive. */
START_TEST(a_manager_that_does_not_answer_is_an_error)
{
	struct bench bench;

	name_managers(json_pack("[{s:s}]", "@odata.id", "/redfish/v1/Managers/Gone"));
	begin(&bench, "dell");
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_EJECT, bench.dir), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(bench.err.text, "404"));
	finish(&bench);
	drop_tree();
}
END_TEST

/* And no address: it must be this image's. The actions fill another drive, so that what
 * this one shows stays as it is. */
START_TEST(a_drive_may_show_the_name_alone)
{
	static const struct {
		const char *name;
		enum bu_err_kind kind;
	} rows[] = {{"a1", BU_ERR_NONE}, {"b1", BU_ERR_VERIFY}, {"1", BU_ERR_VERIFY}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *image = NULL;
		struct bench bench;

		change_tree(json_pack("{s:n,s:{s:b,s:s,s:{s:{s:s},s:{s:s}}}}",
				      DRIVES "2", DRIVES "4", "Inserted", 1,
				      "ImageName", rows[i].name, "Actions",
				      "#VirtualMedia.InsertMedia", "target",
				      DRIVES "1/Actions/VirtualMedia.InsertMedia",
				      "#VirtualMedia.EjectMedia", "target",
				      DRIVES "1/Actions/VirtualMedia.EjectMedia"));
		begin(&bench, "dell");
		image = bu_xasprintf("%sn1/a1", bench.dir);
		ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_INSERT, image),
				 rows[i].kind);
		finish(&bench);
		drop_tree();
	}
}
END_TEST

BU_UNIT("redfish media", each_tree_takes_a_medium, what_is_not_ours_stays,
	what_is_ours_is_known_by_its_path, a_drive_may_show_the_name_alone,
	a_stick_is_no_cd, an_image_that_is_taken_and_not_shown_is_an_error,
	drives_are_found_whatever_managers_are_named,
	a_manager_that_does_not_answer_is_an_error,
	an_image_that_the_bmc_cannot_fetch_is_an_error, a_bmc_without_a_drive_says_so)
