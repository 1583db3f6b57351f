/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypted volumes at the start of a node, against an appliance that answers what it
 * is told: which script is called for which partition, and where the key is. The
 * partition is one of a loop device, where this machine lends one.
 */
#include "agent/volumes.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

#define NO_DISK "0a1b2c3d-1111-8222-8333-555555555555"

static char root[] = "/tmp/bringup-volumes-XXXXXX";
static const char *answer; /* of the appliance; NULL = it knows no such request */
static int asked;
static int polls;      /* that it has no work for, before it refuses one */
static char said[256]; /* to it, last */

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	const char *text = answer ? answer : "{}";
	unsigned status = answer ? 200 : 404;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!*state || *upload_size) {
		if (*state)
			snprintf(said, sizeof(said), "%.*s", (int)*upload_size, upload);
		*state = root;
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/v1/agent/volumes") == 0)
		asked++;
	else if (strcmp(url, "/v1/agent/work") != 0)
		text = "{}", status = 200;
	else if (polls-- > 0)
		text = "{\"work\":null}", status = 200;
	else
		text = "{\"error\":{\"kind\":\"denied\",\"text\":\"over\"}}",
		status = 403;
	response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return rc;
}

/* What it prints, without the last newline; owned. */
static char *
sh(const char *command)
{
	bu_autofree char *whole = bu_xasprintf("cd %s && %s", root, command);
	const char *argv[] = {"sh", "-c", whole, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 30000};
	struct bu_err err = {0};
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s: %s", command, err.text);
	out[strcspn(out, "\n")] = '\0';
	return out;
}

static void
is(const char *name, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	bu_autofree char *got = bu_file_read(path, 65536, NULL, NULL);

	ck_assert_str_eq(got ? got : "", want);
}

struct rig {
	struct MHD_Daemon *daemon;
	struct bu_http *http;
	char base[64];
};

static void
begin(struct rig *rig)
{
	struct bu_http_opts opts = {.base_url = rig->base};

	ck_assert_ptr_nonnull(mkdtemp(root));
	rig->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
				       on_request, NULL, MHD_OPTION_END);
	ck_assert_ptr_nonnull(rig->daemon);
	snprintf(rig->base, sizeof(rig->base), "http://127.0.0.1:%d",
		 MHD_get_daemon_info(rig->daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	rig->http = bu_http_create(&opts);
	free(sh("mkdir -p etc/bringup usr/lib/bringup && ln -s /sys sys && ln -s /dev dev "
		"&& printf '#!/bin/sh\\necho \"$*\" >>%s/calls\\ncat >>%s/keys\\n"
		"[ \"$2\" != bad ] || { echo broken >&2; exit 1; }\\n' \"$PWD\" \"$PWD\" "
		">usr/lib/bringup/volume && chmod 755 usr/lib/bringup/volume"));
}

static void
end(struct rig *rig)
{
	bu_http_destroy(rig->http);
	MHD_stop_daemon(rig->daemon);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

static void
fails(struct rig *rig, const char *says)
{
	struct bu_err err = {0};
	bu_autofree char *noted = NULL;

	ck_assert_int_eq(bu_volumes_open(root, rig->http, &err), -1);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
	noted = bu_xasprintf("%s\n", err.text);
	is("run/bringup/volumes.closed", noted);
}

/* Nothing is left of what it said before. */
static void
opens(struct rig *rig)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_volumes_open(root, rig->http, &err) == 0, "%s", err.text);
	is("run/bringup/volumes.closed", "");
}

START_TEST(without_volumes_nobody_is_asked)
{
	struct rig rig;
	struct bu_err err = {0};

	begin(&rig);
	ck_assert_int_eq(bu_volumes_open(root, rig.http, &err), 0);
	ck_assert_int_eq(asked, 0);
	free(sh("echo '# none\n" NO_DISK " lake ext4 /lake' >etc/bringup/volumes"));
	fails(&rig, "keys of encrypted volumes");
	answer = "{\"keys\":{}}";
	fails(&rig, "volume lake: the appliance has no key for it");
	answer = "{\"keys\":{\"" NO_DISK "\":7}}";
	fails(&rig, "volume lake: the appliance has no key for it");
	answer = "{\"keys\":{\"" NO_DISK "\":\"abc\"}}";
	fails(&rig, "volume lake: no disk has its partition " NO_DISK);
	ck_assert_int_eq(asked, 4);
	ck_assert_str_eq(said, "{\"guids\":[\"" NO_DISK "\"]}");
	is("calls", "");
	free(sh("rm etc/bringup/volumes"));
	opens(&rig);
	end(&rig);
}
END_TEST

/* Nobody fills the system's disk while the key is on its way, and what is mounted is
 * let be. */
START_TEST(nobody_writes_where_a_closed_volume_belongs)
{
	struct rig rig;
	bu_autofree char *modes = NULL, *flags = NULL;

	answer = NULL;
	begin(&rig);
	free(sh("mkdir proc a && chmod 755 a && echo x /a ext4 >proc/mounts && printf '" NO_DISK
		" lake ext4 /data/lake\n" NO_DISK " a ext4 /a\n' "
		">etc/bringup/volumes"));
	/* what else the folder is marked with stays */
	free(sh("mkdir -p data/lake && chattr +d data/lake 2>/dev/null; true"));
	fails(&rig, "keys of encrypted volumes");
	fails(&rig, "keys of encrypted volumes");
	modes = sh("echo $(stat -c %a data data/lake a)");
	ck_assert_str_eq(modes, "755 0 755");
	/* where the file system of /tmp and this user can */
	flags = sh(
		"touch data/probe && chattr +i data/probe 2>/dev/null || exit 0; "
		"chattr -i data/probe; lsattr -d data/lake | cut -c1-22 | tr -d -c id; "
		"chattr -i data/lake");
	ck_assert_msg(!*flags || strcmp(flags, "id") == 0, "%s", flags);
	end(&rig);
}
END_TEST

/* Nobody is asked at the start, nor for what the TPM has opened. */
static void
by_the_tpm(struct rig *rig)
{
	struct bu_err err = {0};
	int before = asked;

	free(sh("rm -f keys calls"));
	ck_assert_int_eq(bu_volumes_open(root, NULL, &err), 0);
	is("calls", "");
	free(sh(": >etc/bringup/volumes.tpm"));
	ck_assert_int_eq(bu_volumes_open(root, NULL, &err), 0);
	ck_assert_int_eq(asked, before);
	is("keys", "");
	free(sh("grep -q ' lake ' calls && mkdir -p proc run/bringup/volumes && "
		"printf %s 'x /a\\040lake ext4' >proc/mounts"));
	ck_assert_int_eq(bu_volumes_open(root, rig->http, &err), 0);
	ck_assert_int_eq(asked, before + 1);
	free(sh(": >run/bringup/volumes/lake"));
	ck_assert_int_eq(bu_volumes_open(root, rig->http, &err), 0);
	ck_assert_int_eq(asked, before + 1);
	free(sh("rm -f proc/mounts etc/bringup/volumes.tpm"));
}

/* Of two that fail and one that does not, the one is opened, and the first is named. */
START_TEST(each_volume_is_opened_with_its_key)
{
	struct rig rig;
	bu_autofree char *loop = NULL, *part = NULL, *want = NULL, *undo = NULL;
	bu_autofree char *copy = NULL, *guid = NULL, *lines = NULL, *reply = NULL;
	bu_autoclose int held = -1;
	struct bu_err err = {0};

	BU_NEEDS("root", "sgdisk");
	begin(&rig);
	free(sh("truncate -s 16M disk && sgdisk -n 1:2048:+4M -c 1:lake disk "
		">/dev/null"));
	/* Of this run alone: others may have loop devices, too. */
	guid = sh("sgdisk -i 1 disk | sed -n 's/^Partition unique GUID: //p'");
	loop = sh("loop=$(losetup -f --show disk 2>/dev/null) && partx -u $loop && "
		  "echo $loop || true");
	if (!*loop) {
		printf("skipped: %s needs a loop device\n", __func__);
		end(&rig);
		return;
	}
	/* The device goes when nobody has it open. */
	held = open(loop, O_RDONLY | O_CLOEXEC);
	undo = bu_xasprintf("losetup -d %s; partx -d --nr 1 %s", loop, loop);
	part = bu_xasprintf("%s%sp1", root, loop);
	lines = bu_xasprintf("printf '" NO_DISK " far xfs /far\n%s lake ext4 /a lake\n"
			     "%s bad ext4 /bad\n' >etc/bringup/volumes",
			     guid, guid);
	free(sh(lines));
	reply = bu_xasprintf(
		"{\"keys\":{\"%s\":\"cafe01\",\"" NO_DISK "\":\"cafe02\"}}", guid);
	answer = reply;
	ck_assert_int_eq(bu_volumes_open(root, rig.http, &err), -1);
	want = bu_xasprintf("%s lake ext4 /a lake %s\n%s bad ext4 /bad %s\n", part,
			    root, part, root);
	is("calls", want);
	is("keys", "cafe01cafe01");
	ck_assert_msg(strstr(err.text, "volume far: no disk") != NULL, "%s", err.text);
	free(sh("sed -i /far/d etc/bringup/volumes"));
	fails(&rig, "volume bad: ");
	/* a copy of the disk is still plugged in */
	copy = bu_xasprintf(
		"rm sys dev && mkdir -p sys/class/block/a sys/class/block/b "
		"dev && touch sys/class/block/a/partition "
		"sys/class/block/b/partition && ln -s %s dev/a && "
		"ln -s %s dev/b && sed -i /bad/d etc/bringup/volumes "
		"calls",
		part + strlen(root), part + strlen(root));
	free(sh(copy));
	fails(&rig, "have the same GUID; take the disk out");
	free(sh("rm -r sys/class/block/b"));
	opens(&rig);
	by_the_tpm(&rig);
	free(sh(undo));
	end(&rig);
}
END_TEST

START_TEST(a_large_volume_may_be_repaired_for_longer)
{
	static const struct {
		int64_t gib, want_ms;
	} rows[] = {{0, 300000}, {1, 300878}, {1024, 1200000}, {8192, 7500000}};
	char path[] = "/tmp/bringup-volume-XXXXXX";
	bu_autoclose int fd = mkstemp(path);

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_int_eq(ftruncate(fd, rows[i].gib << 30), 0);
		ck_assert_int_eq(bu_volume_limit_ms(path), rows[i].want_ms);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(bu_volume_limit_ms(path), rows[0].want_ms);
}
END_TEST

START_TEST(a_closed_volume_is_tried_again_after_a_poll)
{
	struct rig rig;
	struct bu_identity identity = {.dir = root};
	struct bu_session session = {
		.link = {.identity = &identity}, .root = root, .closed = 1};
	struct bu_err err = {0};

	begin(&rig);
	session.link.http = session.link.progress_http = rig.http;
	free(sh("echo " NO_DISK " lake ext4 /lake >etc/bringup/volumes"));
	answer = "{\"keys\":{}}";
	polls = 2;
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(asked, 2);
	ck_assert_int_eq(session.closed, 1);
	free(sh("rm etc/bringup/volumes"));
	polls = 1;
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(session.closed, 0);
	json_decref(session.links);
	json_decref(session.crash);
	end(&rig);
}
END_TEST

BU_UNIT("volumes", a_large_volume_may_be_repaired_for_longer,
	a_closed_volume_is_tried_again_after_a_poll, without_volumes_nobody_is_asked,
	nobody_writes_where_a_closed_volume_belongs, each_volume_is_opened_with_its_key)
