/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnsmasq by the real bringup-boot, in a network of its own: as a child of root, and as
 * its unit runs it. The process has its own user, which opens no file of ours.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/boot/child.h"
#include "provisioner/boot/program.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

enum { PATIENCE = 400, STEP_MS = 50, SAID = 256 };

/* Three capabilities of program.c, as /proc shows them. */
static const char caps[] = "0000000000003400";

struct site {
	char dir[sizeof("/tmp/bringup-users-XXXXXX")];
	char *secret, *run_dir, *conf;
	struct bu_loop *loop;
	struct bu_child *child;
	char answer[SAID];
};

static void
on_answer(const char *answer, const char *words, void *arg)
{
	struct site *site = arg;

	snprintf(site->answer, sizeof(site->answer), "%s %s", answer, words);
}

static void
write_conf(const struct site *site)
{
	ck_assert_int_eq(
		bu_file_write_text(site->conf, 0644, NULL,
				   "interface=boot0\nbind-interfaces\n"
				   "except-interface=lo\npid-file=\nno-resolv\n"
				   "no-hosts\nno-ping\nuser=root\ngroup=root\n"
				   "addn-hosts=%s/names\n"
				   "dhcp-range=10.79.0.50,10.79.0.60,1h\n"
				   "enable-tftp\ntftp-root=%s\n",
				   site->run_dir, site->run_dir),
		0);
}

static void
put_names(const struct site *site, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/names", site->run_dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static void
make_network(struct site *site)
{
	bu_autofree char *made = NULL;

	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	made = shell_meanwhile(
		site->loop, site->dir,
		"mount --make-rprivate / && ip link set lo up &&\n"
		"ip link add boot0 type veth peer name boot1 &&\n"
		"ip addr add 10.79.0.1/24 dev boot0 && ip link set boot0 up &&\n"
		"ip link set boot1 up && echo 'nameserver 10.79.0.1' >$D/resolv &&\n"
		"echo 'hosts: dns' >$D/nss &&\n"
		"mount --bind $D/nss /etc/nsswitch.conf &&\n"
		"mount --bind $D/resolv $(readlink -f /etc/resolv.conf) && echo good\n");
	ck_assert_str_eq(made, "good\n");
}

/* Other users pass it. */
static void
make_dir(char *dir)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0711), 0);
}

/* With the umask of bringupd. */
static void
begin(struct site *site, const char *socket)
{
	struct bu_err err = {0};

	memset(site, 0, sizeof(*site));
	umask(077);
	strcpy(site->dir, "/tmp/bringup-users-XXXXXX");
	make_dir(site->dir);
	site->secret = bu_xasprintf("%s/secret", site->dir);
	ck_assert_int_eq(bu_file_write(site->secret, "x", 1, 0600, NULL), 0);
	site->run_dir = bu_xasprintf("%s/dnsmasq", site->dir);
	site->conf = bu_xasprintf("%s/dnsmasq.conf", site->run_dir);
	ck_assert_msg(bu_child_folder("dnsmasq", site->run_dir, &err) == 0, "%s",
		      err.text);
	write_conf(site);
	put_names(site, "10.79.0.11 node001\n");
	site->loop = bu_loop_create(NULL);
	make_network(site);
	site->child = bu_child_create(site->loop,
				      &(struct bu_child_opts){.name = "dnsmasq",
							      .conf_path = site->conf,
							      .socket = socket,
							      .fn = on_answer,
							      .arg = site});
}

static void
finish(struct site *site)
{
	bu_child_destroy(site->child);
	bu_loop_destroy(site->loop);
	free(site->secret);
	free(site->run_dir);
	free(site->conf);
	bu_ignore(bu_remove_tree(site->dir, NULL));
}

static const struct passwd *
user(void)
{
	return bu_boot_user(bu_boot_program("dnsmasq"));
}

/* The dnsmasq of this test: its network is no other's. 0 = there is none. */
static pid_t
find(void)
{
	bu_autofree char *out = shell_told(
		"/",
		"for p in $(pgrep -x dnsmasq); do [ \"$(readlink /proc/$p/ns/net)\" != "
		"\"$(readlink /proc/self/ns/net)\" ] || echo $p; done");

	return (pid_t)strtol(out, NULL, 10);
}

static pid_t
wait_for(struct site *site, int there)
{
	pid_t pid = 0;

	for (int i = 0; i < PATIENCE; i++) {
		pid = find();
		if ((pid != 0) == there)
			return pid;
		bu_loop_step(site->loop, STEP_MS);
	}
	ck_abort_msg("dnsmasq %s", there ? "did not start" : "goes on");
}

/* A row of /proc/PID/status, its words with one blank between them; owned. */
static char *
status(pid_t pid, const char *row)
{
	bu_autofree char *line =
		bu_xasprintf("awk '$1 == \"%s:\" { $1 = $1; print }' /proc/%d/status",
			     row, (int)pid);

	return shell_told("/", line);
}

static void
has_status(pid_t pid, const char *row, const char *wanted)
{
	bu_autofree char *have = status(pid, row);
	bu_autofree char *want =
		bu_xasprintf("%s:%s%s\n", row, *wanted ? " " : "", wanted);

	ck_assert_str_eq(have, want);
}

/* What a hole in it could open: with its user, group and capabilities, as they are. */
static int
may_open(pid_t pid, const char *path, int flags)
{
	bu_autofree char *uid = status(pid, "Uid"), *gid = status(pid, "Gid");
	int code;
	pid_t child = fork();

	if (child == 0) {
		struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
		struct __user_cap_data_struct data[2] = {{0x3400, 0x3400, 0}, {0}};
		const gid_t group = (gid_t)strtoul(gid + 5, NULL, 10);
		const uid_t owner = (uid_t)strtoul(uid + 5, NULL, 10);

		if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 ||
		    setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 ||
		    setresuid(owner, owner, owner) != 0 ||
		    syscall(SYS_capset, &head, data) != 0)
			_exit(2);
		_exit(open(path, flags, 0600) < 0);
	}
	ck_assert_int_eq(waitpid(child, &code, 0), child);
	ck_assert(WIFEXITED(code) && WEXITSTATUS(code) < 2);
	return WEXITSTATUS(code) == 0;
}

static void
is_walled_off(const struct site *site, pid_t pid)
{
	bu_autofree char *ids =
		bu_xasprintf("%u %u %u %u", user()->pw_uid, user()->pw_uid,
			     user()->pw_uid, user()->pw_uid);
	bu_autofree char *names = bu_xasprintf("%s/names", site->run_dir);

	ck_assert_uint_ne(user()->pw_uid, 0);
	has_status(pid, "Uid", ids);
	has_status(pid, "Groups", "");
	has_status(pid, "CapEff", caps);
	has_status(pid, "CapBnd", caps);
	has_status(pid, "NoNewPrivs", "1");
	ck_assert(!may_open(pid, site->secret, O_RDONLY));
	ck_assert(may_open(pid, names, O_RDONLY));
	ck_assert(!may_open(pid, names, O_WRONLY));
	ck_assert(!may_open(pid, site->run_dir, O_WRONLY | O_TMPFILE));
}

static void
knows(struct site *site, const char *name)
{
	bu_autofree char *ask = bu_xasprintf(
		"for try in $(seq 200); do getent ahostsv4 %s >/dev/null && break; "
		"sleep 0.1; done; getent ahostsv4 %s | awk 'NR == 1 { print $1 }'",
		name, name);
	bu_autofree char *out = shell_meanwhile(site->loop, site->dir, ask);

	ck_assert_str_eq(out, "10.79.0.11\n");
}

/* TFTP: a file that is the user's by its group alone. */
static void
serves_files(struct site *site)
{
	bu_autofree char *out = shell_meanwhile(
		site->loop, site->dir,
		"busybox tftp -g -l $D/got -r names 10.79.0.1 2>/dev/null; cat $D/got");

	ck_assert_str_eq(out, "10.79.0.11 node002\n");
}

/* Until its socket is there. */
static void
is_widened(struct site *site)
{
	bu_autofree char *queue = NULL;

	for (int i = 0; i < PATIENCE && strcmp(site->answer, "widened ") != 0; i++) {
		ck_assert_msg(strncmp(site->answer, "failed", 6) != 0, "%s",
			      site->answer);
		ck_assert_int_eq(bu_child_widen(site->child, NULL), 0);
		bu_loop_step(site->loop, STEP_MS);
	}
	queue = shell_told("/", "ss -Huamn 'sport = :67' | grep -o rb33554432");
	ck_assert_str_eq(queue, "rb33554432\n");
}

static void
serves_reloads_and_widens(struct site *site)
{
	pid_t pid;

	bu_child_restart(site->child);
	pid = wait_for(site, 1);
	is_walled_off(site, pid);
	knows(site, "node001");
	put_names(site, "10.79.0.11 node002\n");
	ck_assert_int_eq(bu_child_reload(site->child, NULL), 0);
	knows(site, "node002");
	serves_files(site);
	is_widened(site);
	ck_assert_int_eq(find(), pid);
	/* The next one finds the ports free. */
	bu_child_restart(site->child);
	knows(site, "node002");
	ck_assert_int_ne(find(), pid);
	ck_assert_uint_eq(bu_child_run(site->child), 2);
}

#define NEEDS()                                                                        \
	BU_NEEDS("root", "/usr/sbin/dnsmasq", "pgrep", "getent", "ip", "ss",           \
		 "busybox", "setpriv");                                                \
	ck_assert_msg(user() != NULL, "dnsmasq's package makes its user")

START_TEST(a_child_of_root_is_its_own_user)
{
	struct site site;
	bu_autofree char *leases = NULL;
	struct stat st;

	NEEDS();
	begin(&site, NULL);
	serves_reloads_and_widens(&site);
	leases = bu_xasprintf("%s/written/dnsmasq.leases", site.run_dir);
	ck_assert_int_eq(stat(leases, &st), 0);
	ck_assert_uint_eq(st.st_uid, user()->pw_uid);
	bu_child_stop(site.child);
	ck_assert_int_eq(find(), 0);
	finish(&site);
}
END_TEST

/* No unit and not root, which a socket that is not there stands for. */
START_TEST(without_its_unit_it_runs_as_we_do)
{
	struct site site;

	NEEDS();
	begin(&site, "/nonexistent/socket");
	bu_child_restart(site.child);
	has_status(wait_for(&site, 1), "Uid", "0 0 0 0");
	knows(&site, "node001");
	finish(&site);
}
END_TEST

/* The daemon is killed: neither end of the connection is closed in peace. */
START_TEST(it_ends_with_who_started_it)
{
	struct site site;
	pid_t daemon;

	NEEDS();
	begin(&site, NULL);
	daemon = fork();
	if (daemon == 0) {
		bu_child_restart(site.child);
		pause();
		_exit(0);
	}
	wait_for(&site, 1);
	ck_assert_int_eq(kill(daemon, SIGKILL), 0);
	ck_assert_int_eq(waitpid(daemon, NULL, 0), daemon);
	wait_for(&site, 0);
	finish(&site);
}
END_TEST

/* bringup-boot is killed: its program does not go on, and both are there again. */
START_TEST(it_ends_with_bringup_boot)
{
	struct site site;
	bu_autofree char *parent = NULL;
	pid_t pid;

	NEEDS();
	begin(&site, NULL);
	bu_child_restart(site.child);
	pid = wait_for(&site, 1);
	parent = status(pid, "PPid");
	ck_assert_int_eq(kill((pid_t)strtol(parent + 5, NULL, 10), SIGKILL), 0);
	for (int i = 0; i < PATIENCE && bu_child_run(site.child) != 2; i++)
		bu_loop_step(site.loop, STEP_MS);
	ck_assert_uint_eq(bu_child_run(site.child), 2);
	ck_assert_int_ne(wait_for(&site, 1), pid);
	finish(&site);
}
END_TEST

/* --- as its unit runs it --- */

/* systemd's part: the socket, and the user with capabilities that it inherits. */
static pid_t
start_unit(const char *path, const char *from, const char *folder)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bu_autofree char *ids =
		bu_xasprintf("--reuid=%u --regid=%u", user()->pw_uid, user()->pw_gid);
	bu_autofree char *line = bu_xasprintf(
		"exec setpriv %s --clear-groups --no-new-privs "
		"--inh-caps=-all,+net_bind_service,+net_admin,+net_raw "
		"--ambient-caps=-all,+net_bind_service,+net_admin,+net_raw "
		"--bounding-set=-all,+net_bind_service,+net_admin,+net_raw "
		"/proc/self/fd/9 --from %s dnsmasq %s",
		ids, from, folder);
	pid_t pid;

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	ck_assert_int_eq(chmod(path, 0666), 0); /* who may open it is not asked here */
	ck_assert_int_eq(listen(fd, 8), 0);
	pid = fork();
	if (pid == 0) {
		int program = open(BU_BUILDDIR "/bringup-boot", O_RDONLY);

		dup2(fd, 3);
		dup2(program, 9); /* its user need not reach the build folder */
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	close(fd);
	return pid;
}

static void
stop_unit(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(its_unit_serves_one_connection_after_the_other)
{
	char dir[] = "/tmp/bringup-users-XXXXXX";
	bu_autofree char *path = NULL, *folder = NULL;
	struct site site;
	pid_t unit;

	NEEDS();
	make_dir(dir);
	path = bu_xasprintf("%s/socket", dir);
	folder = bu_xasprintf("%s/written", dir);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(chown(folder, user()->pw_uid, user()->pw_gid), 0);
	begin(&site, path);
	unit = start_unit(path, "root", folder);
	serves_reloads_and_widens(&site);
	bu_child_stop(site.child);
	wait_for(&site, 0);
	stop_unit(unit);
	finish(&site);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("users", a_child_of_root_is_its_own_user, without_its_unit_it_runs_as_we_do,
	it_ends_with_who_started_it, it_ends_with_bringup_boot,
	its_unit_serves_one_connection_after_the_other)
