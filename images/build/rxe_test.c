/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that makes a system's soft-RoCE devices, in a folder that plays its /sys;
 * rdma, ip and modprobe are paper ones.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-rxe-XXXXXX";

/* A NIC that networkd is about to give another MTU, and a bond with its MAC. */
static const char site[] =
	"mkdir -p bin etc/bringup sys/class/net/eth1/device sys/class/net/bond0 "
	"sys/class/infiniband &&"
	"echo 52:54:00:78:00:01 >sys/class/net/eth1/address &&"
	"echo 52:54:00:78:00:01 >sys/class/net/bond0/address &&"
	"echo 1500 >sys/class/net/eth1/mtu && echo 9000 >sys/class/net/bond0/mtu &&"
	"printf '# written by bringup\\nrxe0 52:54:00:78:00:01\\n' >etc/bringup/rxe";

/* "late": networkd sets the MTU while the device is made, with the old one in it. */
static const char *const programs[][2] = {
	{"bin/rdma",
	 "echo \"$*\" >>log; d=sys/class/infiniband/$3\n"
	 "case $2 in delete) rm -r $d ;; add) [ ! -e broken ] || exit 1\n"
	 "	mkdir $d; echo $7 >$d/parent; cat sys/class/net/$7/mtu >$d/mtu\n"
	 "	[ ! -e late ] || echo 4000 >sys/class/net/$7/mtu ;; esac\n"},
	{"bin/ip", "echo \"ip $*\" >>log\n"},
	{"bin/modprobe", ":\n"},
};

/* Its exit status, in that folder. */
static int
shell(const char *command)
{
	bu_autofree char *whole =
		bu_xasprintf("cd %s && PATH=%s/bin:$PATH && %s", dir, dir, command);
	const char *argv[] = {"sh", "-c", whole, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	struct bu_job_end done;
	int code;

	ck_assert_int_eq(bu_job_wait(&opts, &done, NULL), 0);
	code = done.exit_code;
	bu_job_end_fini(&done);
	return code;
}

static int
run(void)
{
	return shell("sh " BU_SRCDIR "/images/build/recipes/rxe $PWD 2>said");
}

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-rxe-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(shell(site), 0);
	shell_programs(dir, "PAPER=", programs, BU_LEN(programs));
}

static void
is(const char *name, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *got = bu_file_read(path, 1 << 16, NULL, NULL);

	ck_assert_str_eq(got ? got : "", want);
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

#define ADD "link add rxe0 type rxe netdev eth1\n"
#define DELETE "link delete rxe0\n"
#define UP "ip link set eth1 up\n"

START_TEST(a_device_is_made_once)
{
	begin();
	ck_assert_int_eq(run(), 0);
	is("log", UP ADD);
	ck_assert_int_eq(run(), 0);
	is("log", UP ADD UP);
	is("sys/class/infiniband/rxe0/parent", "eth1\n");
	end();
}
END_TEST

START_TEST(an_mtu_that_comes_while_it_is_made_counts)
{
	begin();
	ck_assert_int_eq(shell(": >late"), 0);
	ck_assert_int_eq(run(), 0);
	is("log", UP ADD DELETE ADD);
	is("sys/class/infiniband/rxe0/mtu", "4000\n");
	end();
}
END_TEST

START_TEST(another_link_makes_it_anew)
{
	begin();
	ck_assert_int_eq(run(), 0);
	ck_assert_int_eq(shell("rm log; echo rxe0 bond0 >etc/bringup/rxe"), 0);
	ck_assert_int_eq(run(), 0);
	is("log",
	   "ip link set bond0 up\n" DELETE "link add rxe0 type rxe netdev bond0\n");
	end();
}
END_TEST

START_TEST(one_that_cannot_be_made_is_said_so)
{
	begin();
	ck_assert_int_eq(shell(": >broken"), 0);
	ck_assert_int_eq(run(), 1);
	is("log", UP ADD);
	end();
}
END_TEST

BU_UNIT("rxe", a_device_is_made_once, an_mtu_that_comes_while_it_is_made_counts,
	another_link_makes_it_anew, one_that_cannot_be_made_is_said_so)
