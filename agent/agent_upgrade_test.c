/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bundle on the way from the appliance to a slot: what is not signed, not as ordered
 * or not what was signed stays outside, and the agent that runs goes on.
 */
#include "agent/agent_upgrade.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/slots.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-travel-XXXXXX";
static struct MHD_Daemon *server;
static char url[64], digest[BU_DIGEST_SIZE];
static char *private_pem, *public_pem;

static char *
below(const char *path)
{
	return bu_xasprintf("%s/%s", dir, path);
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = below(name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
}

static enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *path,
       const char *method, const char *version, const char *body, size_t *body_size,
       void **state)
{
	bu_autofree char *file = bu_xasprintf("%s%s", dir, path);
	size_t size = 0;
	bu_autofree char *text = bu_file_read(file, 0, &size, NULL);
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, text ? text : "", MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_queue_response(connection, text ? 200 : 404, response);

	MHD_destroy_response(response);
	return rc;
}

static void
listen_here(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};

	server =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle,
				 NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/bundle",
		 MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
}

/* The bundle of a version as the appliance has it: the paths are its contents, too. */
static void
offer(const char *version, const char *more)
{
	const char *const paths[] = {"agent", "bringup-agent", "ld-linux-x86-64.so.2",
				     "lib/libc.so.6", more};
	json_t *files = json_array();
	bu_autojson json_t *list = NULL;
	bu_autofree char *text = NULL;
	char sig[BU_SIG_HEX_SIZE];

	for (size_t i = 0; i < BU_LEN(paths) && paths[i]; i++) {
		bu_autofree char *content = bu_xasprintf("%s of %s", paths[i], version);
		char hash[BU_DIGEST_SIZE];
		bu_autofree char *name = NULL;

		bu_sha256_hex(content, strlen(content), hash);
		name = bu_xasprintf("bundle/%s", hash);
		put(name, content);
		json_array_append_new(
			files, json_pack("{s:s,s:i,s:I,s:s}", "path", paths[i], "mode",
					 i < 3 ? 0755 : 0644, "size_bytes",
					 (json_int_t)strlen(content), "sha256", hash));
	}
	list = json_pack("{s:i,s:s,s:s,s:o}", "v", 1, "kind", "agent", "version",
			 version, "files", files);
	text = json_dumps(list, JSON_COMPACT);
	bu_sha256_hex(text, strlen(text), digest);
	put("bundle/bundle.json", text);
	ck_assert_int_eq(bu_sign(private_pem, text, strlen(text), sig, NULL), 0);
	put("bundle/bundle.sig", sig);
}

static int
change(const char *version, const char *ordered, struct bu_err *err)
{
	bu_autofree char *slots = below("node");
	const struct bu_work_agent work = {.base_url = url,
					   .version = version,
					   .digest = ordered,
					   .key = public_pem,
					   .deadline_ms = 1000};

	memset(err, 0, sizeof(*err));
	return bu_agent_upgrade_change(slots, &work, err);
}

static void
current_is(const char *version)
{
	bu_autofree char *path = below("node/current/lib/libc.so.6");
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	bu_autofree char *wanted = bu_xasprintf("lib/libc.so.6 of %s", version);

	ck_assert_str_eq(text ? text : "nothing", wanted);
}

/* A node whose agent is of version 1, by an installation. */
static void
begin(void)
{
	struct bu_err err;

	bu_log_init("travel_test", BU_LOG_ERROR);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
	ck_assert_int_eq(system("mkdir -p $D/bundle $D/node/slots/old/lib && "
				"printf 'lib/libc.so.6 of 1' "
				">$D/node/slots/old/lib/libc.so.6 && "
				"ln -s slots/old $D/node/current"),
			 0);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, &err), 0);
	listen_here();
	current_is("1");
}

static void
end(void)
{
	MHD_stop_daemon(server);
	ck_assert_int_eq(system("rm -rf $D"), 0);
	free(private_pem);
	free(public_pem);
}

START_TEST(the_appliances_agent_comes_into_a_slot)
{
	struct bu_err err;
	bu_autofree char *slots = NULL;

	begin();
	offer("2", NULL);
	ck_assert_msg(change("2", digest, &err) == 0, "%s", err.text);
	current_is("2");
	slots = below("node");
	ck_assert_int_eq(bu_slots_on_trial(slots), 1);
	ck_assert_int_eq(system("test -x $D/node/current/bringup-agent && "
				"test ! -x $D/node/current/lib/libc.so.6 && "
				"cmp $D/bundle/bundle.json $D/node/current/bundle.json "
				"&& test $(readlink $D/node/previous) = slots/old"),
			 0);
	/* Back to an older version: as its appliance goes. */
	bu_slots_settle(slots);
	offer("1", NULL);
	ck_assert_msg(change("1", digest, &err) == 0, "%s", err.text);
	current_is("1");
	end();
}
END_TEST

static void
is_refused(const char *version, const char *ordered, const char *words)
{
	struct bu_err err;
	bu_autofree char *slots = below("node");

	ck_assert_int_eq(change(version, ordered, &err), -1);
	ck_assert_msg(err.kind == BU_ERR_VERIFY || err.kind == BU_ERR_INVAL, "%s",
		      err.text);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
	current_is("1");
	ck_assert_int_eq(bu_slots_on_trial(slots), 0);
}

START_TEST(what_is_not_signed_or_not_ordered_stays_outside)
{
	char other[BU_DIGEST_SIZE];
	bu_autofree char *stranger = NULL;

	begin();
	offer("2", NULL);
	memcpy(other, digest, sizeof(other));
	/* An older one, which was signed as well. */
	offer("0", NULL);
	is_refused("2", other, "ordered was");
	is_refused("2", digest, "it is agent 0, the appliance is 2");
	/* Signed by somebody else. */
	offer("2", NULL);
	free(bu_steal(&private_pem));
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &stranger, NULL), 0);
	offer("2", NULL);
	is_refused("2", digest, "signature");
	end();
}
END_TEST

START_TEST(no_path_leads_out_of_its_slot)
{
	static const char *const paths[] = {"../out", "/etc/passwd", "lib/../../out",
					    "lib/",   "a//b",        "agent"};

	begin();
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		offer("2", paths[i]);
		is_refused("2", digest, "agent's bundle");
	}
	ck_assert_int_eq(system("test ! -e $D/node/out && test ! -e $D/out"), 0);
	end();
}
END_TEST

START_TEST(bytes_that_are_not_those_of_the_list_are_not_used)
{
	begin();
	offer("2", NULL);
	ck_assert_int_eq(
		system("for f in $D/bundle/????????????????????????????????*;"
		       "do printf x | dd of=$f conv=notrunc status=none; done"),
		0);
	is_refused("2", digest, "not those of the signed list");
	ck_assert_int_eq(system("for f in $D/bundle/????????????????????????????????*;"
				"do printf short >$f; done"),
			 0);
	is_refused("2", digest, "5 bytes came");
	end();
}
END_TEST

/* An appliance that lacks a part of it has none. */
START_TEST(a_bundle_is_there_as_a_whole)
{
	static const char *const parts[] = {"bundle.json", "bundle.sig", "????????*"};
	struct bu_err err;
	bu_autofree char *slots = NULL;

	begin();
	slots = below("node");
	for (size_t i = 0; i < BU_LEN(parts); i++) {
		bu_autofree char *command = bu_xasprintf("rm $D/bundle/%s", parts[i]);

		offer("2", NULL);
		ck_assert_int_eq(system(command), 0);
		ck_assert_int_eq(change("2", digest, &err), -1);
		ck_assert_msg(strncmp(err.text, "agent 2: ", 9) == 0, "%s", err.text);
		current_is("1");
		ck_assert_int_eq(bu_slots_on_trial(slots), 0);
	}
	end();
}
END_TEST

/* An agent of the ramdisk, and one that lies in no slot, cannot go. */
START_TEST(it_travels_from_a_slot_of_an_installed_system)
{
	struct bu_identity identity = {.installed = 0};
	struct bu_uplink link = {.identity = &identity};
	bu_autojson json_t *item = json_object();
	json_t *result = NULL;
	struct bu_err err = {0};

	begin();
	for (int i = 0; i < 3; i++) {
		identity.installed = i != 0;
		if (i != 1) {
			setenv("BRINGUP_SLOTS", dir, 1);
			setenv("BRINGUP_SLOT", "slots/old", 1);
		} else {
			unsetenv("BRINGUP_SLOT");
		}
		ck_assert_int_eq(bu_agent_upgrade_item(&link, item, &result, &err), -1);
		ck_assert_int_eq(err.kind, i < 2 ? BU_ERR_STATE : BU_ERR_INVAL);
		ck_assert_msg(i < 2 || strncmp(err.text, "agent: ", 7) == 0, "%s",
			      err.text);
	}
	/* but it goes on when it could not */
	bu_agent_upgrade_after(item, 1);
	unsetenv("BRINGUP_SLOT");
	end();
}
END_TEST

/* What comes with an installation is what the ramdisk runs. */
START_TEST(an_installation_brings_this_agent)
{
	struct bu_brought brought;
	struct bu_err err;
	size_t links = 0;

	begin();
	ck_assert_int_eq(bu_agent_upgrade_bring(&brought, &err), 0);
	ck_assert_int_eq(brought.count, 0);
	offer("2", NULL);
	ck_assert_int_eq(change("2", digest, &err), 0);
	ck_assert_int_eq(system("mv $D/node/slots/$(basename $(readlink "
				"$D/node/current)) $D/node/slots/it"),
			 0);
	setenv("BRINGUP_SLOT", "slots/it", 1);
	setenv("BRINGUP_SLOTS", "", 1);
	ck_assert_ptr_null(bu_slots_dir());
	{
		bu_autofree char *node = below("node");

		setenv("BRINGUP_SLOTS", node, 1);
	}
	ck_assert_msg(bu_agent_upgrade_bring(&brought, &err) == 0, "%s", err.text);
	ck_assert_int_eq(brought.count,
			 8); /* four files, their list, two links, agent */
	for (size_t i = 0; i < brought.count; i++) {
		const struct bu_install_file *file = &brought.files[i];

		ck_assert_int_eq(strncmp(file->path, "/usr/lib/bringup/", 17), 0);
		links += S_ISLNK(file->mode);
		if (strcmp(file->path, "/usr/lib/bringup/current") == 0)
			ck_assert_str_eq(file->content, "slots/it");
		if (strcmp(file->path, "/usr/lib/bringup/slots/it/lib/libc.so.6") == 0)
			ck_assert_str_eq(file->content, "lib/libc.so.6 of 2");
	}
	ck_assert_int_eq(links, 2);
	bu_brought_fini(&brought);
	/* It is brought whole or not at all. */
	ck_assert_int_eq(system("rm $D/node/slots/it/lib/libc.so.6"), 0);
	ck_assert_int_eq(bu_agent_upgrade_bring(&brought, &err), -1);
	ck_assert_msg(strncmp(err.text, "the agent of this ramdisk: ", 27) == 0, "%s",
		      err.text);
	ck_assert_uint_eq(brought.count, 0);
	ck_assert_ptr_null(brought.files);
	ck_assert_int_eq(system("rm $D/node/slots/it/bundle.json"), 0);
	ck_assert_int_eq(bu_agent_upgrade_bring(&brought, &err), -1);
	ck_assert_msg(strncmp(err.text, "the agent of this ramdisk: ", 27) == 0, "%s",
		      err.text);
	unsetenv("BRINGUP_SLOT");
	end();
}
END_TEST

BU_UNIT("agent_upgrade", the_appliances_agent_comes_into_a_slot,
	what_is_not_signed_or_not_ordered_stays_outside, no_path_leads_out_of_its_slot,
	bytes_that_are_not_those_of_the_list_are_not_used, a_bundle_is_there_as_a_whole,
	it_travels_from_a_slot_of_an_installed_system,
	an_installation_brings_this_agent)
