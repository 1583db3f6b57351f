/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes on a root of files, with commands that only note that they were called (and
 * fail, or kill the agent, when a test wants it).
 */
#include "agent/configure.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/unit.h"

#define NETWORK "/etc/systemd/network/10-bringup-fabric.network"
#define OLD_NETWORK "/etc/systemd/network/10-bringup-old.network"
#define NETDEV "/etc/systemd/network/10-bringup-bond_0.netdev"
#define SYSCTL "/etc/sysctl.d/90-bringup.conf"
#define RESOLV "/etc/resolv.conf"
#define SWAPPINESS "/proc/sys/vm/swappiness"
#define JOURNAL "/var/lib/bringup/change/change.json"
#define MTU "/sys/class/net/eth1/mtu"

static char root[] = "/tmp/bringup-configure-XXXXXX";
static int reachable, measurements, has_effect;

static char *
below(const char *path)
{
	return bu_xasprintf("%s%s", root, path);
}

static void
put(const char *path, const char *text, mode_t mode)
{
	bu_autofree char *full = below(path);
	bu_autofree char *dir = bu_xstrndup(full, strrchr(full, '/') - full);
	struct bu_err err = {0};

	ck_assert_msg(bu_mkdir_p(dir, 0755, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_file_write(full, text, strlen(text), mode, &err) == 0, "%s",
		      err.text);
}

static void
has(const char *path, const char *text)
{
	bu_autofree char *full = below(path);
	bu_autofree char *now = bu_file_read(full, 0, NULL, NULL);

	ck_assert_msg(now != NULL, "%s is not there", path);
	ck_assert_msg(strcmp(now, text) == 0, "%s: %s", path, now);
}

static int
is_there(const char *path)
{
	bu_autofree char *full = below(path);

	return bu_file_exists(full);
}

/* Each command is the same script under another name; KILL and FAIL name one. */
static void
make_commands(void)
{
	static const char *const names[] = {"networkctl", "systemctl", "ip",
					    "systemd-tmpfiles", "hostname"};
	bu_autofree char *script =
		bu_xasprintf("#!/bin/sh\n"
			     "PATH=/usr/bin:/bin\n"
			     "call=\"${0##*/} $*\"\n"
			     "echo \"$call\" >>%s/calls\n"
			     "[ \"$call\" != \"$KILL\" ] || kill -9 $PPID\n"
			     "[ \"$call\" != \"$FAIL\" ] || { echo 'it does not work' "
			     ">&2; exit 1; }\n"
			     "case $call in networkctl\\ delete*) rm -r "
			     "\"%s/sys/class/net/$2\" ;; esac\n"
			     "case $call in ip\\ link*) echo $6 "
			     ">\"%s/sys/class/net/$4/mtu\" ;; esac\n"
			     "exit 0\n",
			     root, root, root);
	bu_autofree char *bin = below("/bin");

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *path = bu_xasprintf("/bin/%s", names[i]);

		put(path, script, 0755);
	}
	setenv("PATH", bin, 1);
	unsetenv("KILL");
	unsetenv("FAIL");
}

static void
begin(void)
{
	bu_autofree char *resolv = NULL;

	bu_log_init("configure_test", BU_LOG_ERROR);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
	make_commands();
	put(NETWORK, "[Match]\nPermanentMACAddress=x\n", 0640);
	put(OLD_NETWORK, "[Match]\n", 0644);
	put(NETDEV,
	    "[NetDev]\nName=bond0\nKind=bond\nMTUBytes=1500\n\n[Bond]\nMode=1\n", 0644);
	put(SWAPPINESS, "60\n", 0644);
	put(MTU, "1500\n", 0644);
	put("/sys/class/net/bond0/mtu", "1500\n", 0644);
	put("/sys/class/net/bond0/lower_eth1/mtu", "1500\n", 0644);
	resolv = below(RESOLV);
	ck_assert_int_eq(symlink("../run/stub.conf", resolv), 0);
	reachable = 1;
	measurements = 0;
}

static void
end(void)
{
	setenv("PATH", "/usr/bin:/bin", 1);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

static char *
calls(void)
{
	bu_autofree char *path = below("/calls");
	char *text = bu_file_read(path, 0, NULL, NULL);

	unlink(path);
	return text ? text : bu_xstrdup("");
}

/* The applied network is there before the appliance is asked. */
static int
confirm(const char *id, const void *arg, struct bu_err *err)
{
	measurements++;
	if (has_effect) { /* one that no file says, and a bond */
		put(MTU, "9000\n", 0644);
		put("/sys/class/net/bond0/mtu", "9000\n", 0644);
	}
	return reachable ? 0 : bu_err_set(err, BU_ERR_TIMEOUT, 0, "no answer");
}

static char kargs_now[64];

static int
bootargs(const char *kargs, char **ret_old, struct bu_err *err)
{
	if (ret_old)
		*ret_old = bu_xstrdup(kargs_now);
	if (kargs)
		snprintf(kargs_now, sizeof(kargs_now), "%s", kargs);
	return 0;
}

static struct bu_configure
env(const char *boot_id)
{
	return (struct bu_configure){
		.root = root, .boot_id = boot_id, .pause_ms = 1, .confirm = confirm};
}

static const char new_network[] =
	"[Match]\nPermanentMACAddress=x\n[Link]\nMTUBytes=9000\n";
static const char new_sysctl[] = "# ours\nvm.swappiness = 1\nnet.no.such=1\n";

static struct bu_work_configure
item_of(const char *id, int attempt, int live)
{
	return (struct bu_work_configure){.work = {"configure", id, attempt},
					  .live = live,
					  .confirm_ms = 20,
					  .patterns = {"/etc/systemd/network/10-*"},
					  .patterns_count = 1};
}

static int
run_netdev(const char *id, int attempt, int live, const char *boot_id,
	   const char *netdev, json_t **ret, struct bu_err *err)
{
	struct bu_change_file files[] = {
		{NETWORK, 0644, "network", new_network, strlen(new_network)},
		{NETDEV, 0644, "network", netdev, strlen(netdev)},
		{SYSCTL, 0644, "sysctl", new_sysctl, strlen(new_sysctl)},
		{RESOLV, 0644, "hosts", "options\n", 8},
	};
	struct bu_configure configure = env(boot_id);
	struct bu_work_configure item = item_of(id, attempt, live);

	return bu_configure_run(&configure, &item, files, BU_LEN(files), ret, err);
}

static const char same_bond[] =
	"[NetDev]\nName=bond0\nKind=bond\nMTUBytes=9000\n\n[Bond]\nMode=1\n";
static const char other_bond[] =
	"[NetDev]\nName=bond0\nKind=bond\nMTUBytes=9000\n\n[Bond]\nMode=4\n";

static void
has_new_files(void)
{
	has(NETWORK, new_network);
	has(SYSCTL, new_sysctl);
	has(RESOLV, "options\n");
	ck_assert(!is_there(OLD_NETWORK));
}

static void
has_old_files(void)
{
	bu_autofree char *resolv = below(RESOLV);
	bu_autofree char *network = below(NETWORK);
	char target[64] = "";
	struct stat st;

	has(NETWORK, "[Match]\nPermanentMACAddress=x\n");
	ck_assert_int_eq(stat(network, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	has(OLD_NETWORK, "[Match]\n");
	has(NETDEV,
	    "[NetDev]\nName=bond0\nKind=bond\nMTUBytes=1500\n\n[Bond]\nMode=1\n");
	ck_assert(!is_there(SYSCTL));
	ck_assert_int_gt(readlink(resolv, target, sizeof(target) - 1), 0);
	ck_assert_str_eq(target, "../run/stub.conf");
	ck_assert(!is_there(JOURNAL));
}

START_TEST(applies_what_differs_and_keeps_it)
{
	bu_autojson json_t *result = NULL, *again = NULL;
	bu_autofree char *first = NULL, *second = NULL;
	struct bu_err err = {0};

	begin();
	ck_assert_msg(run_netdev("s1", 1, 1, "b1", same_bond, &result, &err) == 0, "%s",
		      err.text);
	has_new_files();
	ck_assert(!is_there(JOURNAL));
	ck_assert_int_eq(measurements, 2);
	first = calls();
	/* Another MTU alone does not take the bond away. */
	ck_assert_str_eq(first, "networkctl reload\n"
				"systemctl restart systemd-sysctl.service\n");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")), 5);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "applied")), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "links")), 2);
	/* The same again is nothing. */
	ck_assert_int_eq(run_netdev("s2", 1, 1, "b1", same_bond, &again, &err), 0);
	second = calls();
	ck_assert_str_eq(second, "");
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(json_array_size(json_object_get(again, "changed")), 0);
	ck_assert_int_eq(measurements, 2);
	end();
}
END_TEST

START_TEST(a_bond_of_another_mode_is_made_anew)
{
	bu_autojson json_t *result = NULL;
	bu_autofree char *text = NULL;
	struct bu_err err = {0};

	begin();
	put("/etc/bringup/rxe", "rxe0 bond0\n", 0644);
	ck_assert_msg(run_netdev("s1", 1, 1, "b1", other_bond, &result, &err) == 0,
		      "%s", err.text);
	text = calls();
	ck_assert_str_eq(text, "networkctl delete bond0\n"
			       "networkctl reload\n"
			       "networkctl reconfigure eth1\n"
			       "systemctl restart bringup-rxe.service\n"
			       "systemctl restart systemd-sysctl.service\n");
	end();
}
END_TEST

START_TEST(rolls_back_when_the_appliance_is_out_of_reach)
{
	json_t *result = NULL;
	bu_autofree char *text = NULL;
	struct bu_err err = {0};

	begin();
	reachable = 0;
	has_effect = 1;
	ck_assert_int_eq(run_netdev("s1", 1, 1, "b1", other_bond, &result, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text,
			     "rolled back: after the change the appliance was "
			     "not reached") == err.text &&
			      strstr(err.text, "no answer"),
		      "%s", err.text);
	ck_assert_ptr_null(result);
	has_old_files();
	has(SWAPPINESS, "60");
	has(MTU, "1500\n");
	text = calls();
	/* The bond that the change made goes, or networkd would keep its mode. */
	ck_assert_str_eq(text, "networkctl delete bond0\n"
			       "networkctl reload\n"
			       "networkctl reconfigure eth1\n"
			       "systemctl restart systemd-sysctl.service\n"
			       "networkctl delete bond0\n"
			       "networkctl reload\n"
			       "systemctl restart systemd-sysctl.service\n"
			       "ip link set dev eth1 mtu 1500\n");
	end();
}
END_TEST

START_TEST(rolls_back_when_it_cannot_be_applied)
{
	json_t *result = NULL;
	struct bu_err err = {0};

	begin();
	setenv("FAIL", "systemctl restart systemd-sysctl.service", 1);
	ck_assert_int_eq(run_netdev("s1", 1, 1, "b1", other_bond, &result, &err), -1);
	/* Going back needs the same command, and it goes on without. */
	ck_assert_msg(strstr(err.text, "apply sysctl") && strstr(err.text, "does not"),
		      "%s", err.text);
	ck_assert(is_there(JOURNAL));
	unsetenv("FAIL");
	{
		struct bu_configure configure = env("b1");

		bu_configure_recover(&configure);
	}
	has_old_files();
	ck_assert_int_eq(measurements, 0);
	setenv("FAIL", "networkctl reload", 1);
	err.kind = BU_ERR_NONE;
	ck_assert_int_eq(run_netdev("s2", 1, 1, "b1", same_bond, &result, &err), -1);
	end();
}
END_TEST

/* The agent dies at each of its commands, then it starts anew. */
START_TEST(survives_its_own_death)
{
	static const char *const at[] = {"networkctl delete bond0", "networkctl reload",
					 "networkctl reconfigure eth1",
					 "systemctl restart systemd-sysctl.service"};

	for (size_t i = 0; i < BU_LEN(at); i++) {
		json_t *result = NULL;
		bu_autojson json_t *second = NULL;
		struct bu_err err = {0};
		struct bu_configure configure = env(i % 2 ? "b1" : "b2");
		char id[8];
		int status;
		pid_t pid;

		snprintf(id, sizeof(id), "d%zu", i);
		begin();
		setenv("KILL", at[i], 1);
		pid = fork();
		if (pid == 0) {
			run_netdev(id, 1, 1, "b1", other_bond, &result, &err);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFSIGNALED(status), "%s: %d", at[i], status);
		ck_assert(is_there(JOURNAL));
		unsetenv("KILL");
		reachable = 0; /* not asked: what was not proven goes */
		bu_configure_recover(&configure);
		has_old_files();
		/* Asked for again it says so; another attempt is another try. */
		ck_assert_int_eq(run_netdev(id, 1, 1, "b1", other_bond, &result, &err),
				 -1);
		ck_assert_msg(strstr(err.text, "rolled back: the ") == err.text, "%s",
			      err.text);
		has_old_files();
		reachable = 1;
		ck_assert_int_eq(run_netdev(id, 2, 1, "b1", other_bond, &second, &err),
				 0);
		has_new_files();
		end();
	}
}
END_TEST

START_TEST(a_change_for_the_next_boot_is_proven_there)
{
	for (int good = 0; good < 2; good++) {
		bu_autojson json_t *result = NULL, *again = NULL;
		bu_autofree char *text = NULL;
		struct bu_configure before = env("b1"), after = env("b2");
		const char *id = good ? "n1" : "n0";
		struct bu_err err = {0};

		begin();
		ck_assert_msg(run_netdev(id, 1, 0, "b1", other_bond, &result, &err) ==
				      0,
			      "%s", err.text);
		has_new_files();
		text = calls();
		ck_assert_str_eq(text, "");
		ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")),
				  5);
		ck_assert_uint_eq(json_array_size(json_object_get(result, "applied")),
				  0);
		ck_assert_int_eq(measurements, 0);
		/* The agent alone starts anew, and is asked again. */
		bu_configure_recover(&before);
		ck_assert(is_there(JOURNAL));
		ck_assert_int_eq(run_netdev(id, 1, 0, "b1", other_bond, &again, &err),
				 0);
		has_new_files();
		reachable = good;
		bu_configure_recover(&after);
		ck_assert(measurements > 0);
		ck_assert(!is_there(JOURNAL));
		if (good)
			has_new_files();
		else
			has_old_files();
		end();
	}
}
END_TEST

/* The second one is for the same boot; what it goes back to is what was before both. */
START_TEST(a_change_that_waits_for_its_boot_gives_way_to_the_next)
{
	bu_autojson json_t *first = NULL, *second = NULL;
	struct bu_configure before = env("b1"), after = env("b2");
	struct bu_work_configure item = item_of("w2", 1, 0);
	struct bu_change_file file = {RESOLV, 0644, "hosts", "options 2\n", 10};
	struct bu_err err = {0};

	begin();
	ck_assert_int_eq(run_netdev("w1", 1, 0, "b1", other_bond, &first, &err), 0);
	has_new_files();
	item.patterns_count = 0;
	ck_assert_msg(bu_configure_run(&before, &item, &file, 1, &second, &err) == 0,
		      "%s", err.text);
	has(RESOLV, "options 2\n");
	has(NETWORK, "[Match]\nPermanentMACAddress=x\n");
	has(OLD_NETWORK, "[Match]\n");
	ck_assert(!is_there(SYSCTL));
	reachable = 0;
	bu_configure_recover(&after);
	has_old_files();
	end();
}
END_TEST

/* A key that a service of another user reads. */
START_TEST(what_is_put_back_has_its_owner)
{
	BU_NEEDS("root");
	bu_autofree char *path = NULL;
	struct stat st;
	json_t *result = NULL;
	struct bu_err err = {0};

	begin();
	path = below(NETWORK);
	ck_assert_int_eq(chown(path, 12, 34), 0);
	reachable = 0;
	ck_assert_int_eq(run_netdev("o1", 1, 1, "b1", same_bond, &result, &err), -1);
	has_old_files();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, 12);
	ck_assert_uint_eq(st.st_gid, 34);
	end();
}
END_TEST

/* Kernel arguments alone, kept and taken back with the rest. */
START_TEST(kernel_arguments_change_for_the_next_boot)
{
	for (int good = 0; good < 2; good++) {
		struct bu_configure before = env("b1"), after = env("b2");
		struct bu_work_configure item = item_of(good ? "k1" : "k0", 1, 0);
		bu_autojson json_t *result = NULL, *again = NULL;
		struct bu_err err = {0};

		begin();
		strcpy(kargs_now, "quiet");
		before.bootargs = after.bootargs = bootargs;
		item.patterns_count = 0;
		item.kargs = "iommu=pt";
		ck_assert_msg(
			bu_configure_run(&before, &item, NULL, 0, &result, &err) == 0,
			"%s", err.text);
		ck_assert_str_eq(kargs_now, "iommu=pt");
		ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")),
				  1);
		ck_assert(is_there(JOURNAL));
		reachable = good;
		bu_configure_recover(&after);
		ck_assert_str_eq(kargs_now, good ? "iommu=pt" : "quiet");
		ck_assert(!is_there(JOURNAL));
		measurements = 0;
		item.work.id = "k2";
		item.kargs = kargs_now;
		ck_assert_int_eq(bu_configure_run(&after, &item, NULL, 0, &again, &err),
				 0);
		ck_assert_uint_eq(json_array_size(json_object_get(again, "changed")),
				  0);
		ck_assert(!is_there(JOURNAL));
		end();
	}
}
END_TEST

/* What it does not say must not be taken for "nothing was there". */
START_TEST(a_journal_that_cannot_be_read_touches_no_file)
{
#define HEAD                                                                           \
	"{\"v\":1,\"id\":\"j1\",\"attempt\":1,\"boot_id\":\"b0\",\"live\":true,"       \
	"\"confirm_ms\":20,\"groups\":[],\"drops\":[],\"values\":[],\"mtus\":[],"
	static const char *const bad[] = {
		HEAD "\"files\":[{\"path\":\"" NETWORK "\",\"mode\":416,\"uid\":0,"
		     "\"gid\":0,\"old\":\"0\"}]}",
		"{\"v\":1",
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_configure configure = env("b1");
		json_t *result = NULL;
		struct bu_err err = {0};

		begin();
		put(JOURNAL, bad[i], 0600);
		put("/var/lib/bringup/change/0", "old", 0600);
		bu_log_init("configure_test", BU_LOG_ERROR - 1);
		bu_configure_recover(&configure);
		has(NETWORK, "[Match]\nPermanentMACAddress=x\n");
		/* Nor does another change begin: what is kept would be lost. */
		ck_assert_int_eq(run_netdev("j2", 1, 1, "b1", same_bond, &result, &err),
				 -1);
		ck_assert_msg(strstr(err.text, "/var/lib/bringup/change") != NULL &&
				      strstr(err.text, "no file was touched") != NULL,
			      "%zu: %s", i, err.text);
		has(NETWORK, "[Match]\nPermanentMACAddress=x\n");
		has("/var/lib/bringup/change/0", "old");
		ck_assert(!is_there(SYSCTL));
		ck_assert(is_there(JOURNAL));
		end();
	}
}
END_TEST

START_TEST(refuses_paths_that_lead_elsewhere)
{
	static const char *const bad[] = {"etc/x", "/etc/../x", "/etc/x/",
					  "/",     "//x",       "/etc/.."};

	begin();
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_change_file file = {bad[i], 0644, "", "x", 1};
		struct bu_configure configure = env("b1");
		struct bu_work_configure item = item_of("s1", 1, 1);
		json_t *result = NULL;
		struct bu_err err = {0};

		item.patterns_count = 0;
		ck_assert_int_eq(
			bu_configure_run(&configure, &item, &file, 1, &result, &err),
			-1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	has_old_files();
	end();
}
END_TEST

BU_UNIT("configure", applies_what_differs_and_keeps_it,
	a_bond_of_another_mode_is_made_anew,
	rolls_back_when_the_appliance_is_out_of_reach,
	rolls_back_when_it_cannot_be_applied, survives_its_own_death,
	a_change_for_the_next_boot_is_proven_there,
	a_change_that_waits_for_its_boot_gives_way_to_the_next,
	what_is_put_back_has_its_owner, kernel_arguments_change_for_the_next_boot,
	a_journal_that_cannot_be_read_touches_no_file,
	refuses_paths_that_lead_elsewhere)
