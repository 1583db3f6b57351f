/* SPDX-License-Identifier: Apache-2.0 */
/* What makes changed files hold: commands that only note that they were called. */
#include "agent/apply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char root[64];

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, strrchr(full, '/') - full);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0755, NULL), 0);
}

static void
begin(void)
{
	static const char *const commands[] = {"chronyc",   "hostname",
					       "netplan",   "networkctl",
					       "systemctl", "systemd-tmpfiles"};
	bu_autofree char *script = NULL, *bin = NULL;

	strcpy(root, "/tmp/bringup-apply-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	script = bu_xasprintf("#!/bin/sh\necho \"${0##*/} $*\" >>%s/calls\n", root);
	bin = bu_xasprintf("%s/bin", root);
	for (size_t i = 0; i < BU_LEN(commands); i++) {
		bu_autofree char *path = bu_xasprintf("/bin/%s", commands[i]);

		put(path, script);
	}
	setenv("PATH", bin, 1);
}

/* Applies these groups; what was called. Owned. */
static char *
calls_of(const char **groups, size_t count)
{
	struct bu_note note = {.groups = groups, .groups_count = count};
	bu_autofree char *calls = bu_xasprintf("%s/calls", root);
	struct bu_drops none = {0};
	struct bu_err err;
	char *text;

	ck_assert_msg(bu_apply_groups(root, &note, &none, &err) == 0, "%s", err.text);
	text = bu_file_read(calls, 0, NULL, NULL);
	bu_ignore(bu_remove_tree(calls, NULL));
	return text ? text : bu_xstrdup("");
}

static void
end(void)
{
	setenv("PATH", "/usr/bin:/bin", 1);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

/* Whatever the order of the note: a setting may need its module, a server's name its
 * network. */
START_TEST(groups_are_applied_in_order)
{
	const char *groups[] = {"access",   "hosts",  "hostname", "gpu",    "time",
				"tmpfiles", "sysctl", "network",  "modules"};
	bu_autofree char *want = NULL, *calls = NULL;

	begin();
	put("/usr/bin/chronyc", "");
	put("/etc/systemd/system/bringup-gpu.service", "");
	put("/etc/systemd/system/bringup-access.service", "");
	want = bu_xasprintf("systemctl restart systemd-modules-load.service\n"
			    "networkctl reload\n"
			    "systemctl restart systemd-sysctl.service\n"
			    "systemd-tmpfiles --create --prefix=/sys\n"
			    "chronyc reload sources\n"
			    "systemctl restart bringup-gpu.service\n"
			    "hostname -F %s/etc/hostname\n"
			    "systemctl restart bringup-access.service\n",
			    root);
	calls = calls_of(groups, BU_LEN(groups));
	ck_assert_str_eq(calls, want);
	end();
}
END_TEST

/* Each is of the image: what is not in it is not restarted. */
START_TEST(what_the_image_has_not_is_left_alone)
{
	const char *groups[] = {"time", "gpu", "access"};
	bu_autofree char *calls = NULL;

	begin();
	calls = calls_of(groups, BU_LEN(groups));
	ck_assert_str_eq(calls, "");
	end();
}
END_TEST

/* Whichever brings its network up, and soft-RoCE after it. */
START_TEST(the_network_is_applied_by_what_the_image_has)
{
	static const struct {
		const char *has, *calls;
	} rows[] = {
		{"/usr/sbin/netplan", "netplan apply\n"},
		{"/etc/NetworkManager/system-connections/x",
		 "systemctl restart NetworkManager.service\n"},
		{"/etc/bringup/rxe",
		 "networkctl reload\nsystemctl restart bringup-rxe.service\n"},
	};
	const char *groups[] = {"network"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *calls = NULL;

		begin();
		put(rows[i].has, "");
		calls = calls_of(groups, 1);
		ck_assert_str_eq(calls, rows[i].calls);
		end();
	}
}
END_TEST

/* A link that is being made is waited for; one that nobody makes is not. */
START_TEST(a_network_that_is_being_made_is_waited_for)
{
	static const char *const made[] = {"/run/systemd/netif/links/2",
					   "/run/systemd/netif/links/3"};
	bu_autofree char *mark = NULL;
	int status;
	pid_t pid;

	begin();
	mark = bu_xasprintf("%s/mark", root);
	put(made[0], "ADMIN_STATE=configured\n");
	put(made[1], "ADMIN_STATE=configuring\n");
	pid = fork();
	if (pid == 0) {
		usleep(1500 * 1000);
		put("/mark", "");
		put(made[1], "ADMIN_STATE=configured\n");
		_exit(0);
	}
	bu_apply_settle(root);
	ck_assert_int_eq(bu_file_exists(mark), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	end();
}
END_TEST

BU_UNIT("apply", groups_are_applied_in_order, what_the_image_has_not_is_left_alone,
	the_network_is_applied_by_what_the_image_has,
	a_network_that_is_being_made_is_waited_for)
