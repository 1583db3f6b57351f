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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

#define GUID "0a1b2c3d-1111-8222-8333-444444444444"
#define NO_DISK "0a1b2c3d-1111-8222-8333-555555555555"

static char root[] = "/tmp/bringup-volumes-XXXXXX";
static const char *answer; /* of the appliance; NULL = it knows no such request */
static int asked;

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	const char *text = answer ? answer : "{}";
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!*state || *upload_size) {
		*state = root;
		*upload_size = 0;
		return MHD_YES;
	}
	ck_assert_str_eq(url, "/v1/agent/volumes");
	asked++;
	response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(connection, answer ? 200 : 404, response);
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

	ck_assert_int_eq(bu_volumes_open(root, rig->http, &err), -1);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
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
	is("calls", "");
	end(&rig);
}
END_TEST

/* Of two that fail and one that does not, the one is opened, and the first is named. */
START_TEST(each_volume_is_opened_with_its_key)
{
	struct rig rig;
	bu_autofree char *loop = NULL, *part = NULL, *want = NULL, *undo = NULL;
	bu_autoclose int held = -1;
	struct bu_err err = {0};

	BU_NEEDS("root", "sgdisk");
	begin(&rig);
	free(sh("truncate -s 16M disk && sgdisk -n 1:2048:+4M -u 1:" GUID
		" -c 1:lake disk >/dev/null"));
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
	free(sh("printf '" NO_DISK " far xfs /far\n" GUID " lake ext4 /a lake\n" GUID
		" bad ext4 /bad\n' >etc/bringup/volumes"));
	answer = "{\"keys\":{\"" GUID "\":\"cafe01\",\"" NO_DISK "\":\"cafe02\"}}";
	ck_assert_int_eq(bu_volumes_open(root, rig.http, &err), -1);
	want = bu_xasprintf("%s lake ext4 /a lake %s\n%s bad ext4 /bad %s\n", part,
			    root, part, root);
	is("calls", want);
	is("keys", "cafe01cafe01");
	ck_assert_msg(strstr(err.text, "volume far: no disk") != NULL, "%s", err.text);
	free(sh("sed -i /far/d etc/bringup/volumes"));
	fails(&rig, "volume bad: ");
	free(sh(undo));
	end(&rig);
}
END_TEST

BU_UNIT("volumes", without_volumes_nobody_is_asked, each_volume_is_opened_with_its_key)
