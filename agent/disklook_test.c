/* SPDX-License-Identifier: Apache-2.0 */
/* Disks that hang when they are opened or read, or whose reader dies. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/disks.h"
#include "base/clock.h"
#include "base/file.h"
#include "checks/child_check.h"
#include "tests/support/unit.h"

enum { SIZE = 4096, LIMIT_MS = 300 };

/* --- in the way of the linker's --wrap --- */

static const char *bad_call;
static int bad_fd = -1, crashes, unkillable;
static pid_t left;

static void
go_bad(void)
{
	if (crashes)
		raise(SIGSEGV);
	for (;;)
		pause();
}

static int
is_bad(const char *call)
{
	return bad_call && strcmp(bad_call, call) == 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode, fd, is_vdb = strstr(path, "/dev/vdb") != NULL;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (is_vdb && is_bad("open"))
		go_bad();
	fd = __real_open(path, flags, mode);
	if (is_vdb)
		bad_fd = fd;
	return fd;
}

ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t
__wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
	if (fd == bad_fd && is_bad("pread"))
		go_bad();
	return __real_pread(fd, buf, size, offset);
}

/* As with a process that sleeps in a driver. */
void __real_bu_child_check_end_all(const pid_t *pids, size_t count, int64_t wait_ms,
				   unsigned char *ret_left);
void __wrap_bu_child_check_end_all(const pid_t *pids, size_t count, int64_t wait_ms,
				   unsigned char *ret_left);
void
__wrap_bu_child_check_end_all(const pid_t *pids, size_t count, int64_t wait_ms,
			      unsigned char *ret_left)
{
	if (!unkillable || wait_ms > 0 || !count) {
		__real_bu_child_check_end_all(pids, count, wait_ms, ret_left);
		return;
	}
	ck_assert_uint_eq(count, 1);
	left = pids[0];
	ret_left[0] = 1;
}

/* --- the tests --- */

static char dir[64];
static struct bu_disk disks[3];

/* The first holds zeros, the last one something. */
static void
begin(void)
{
	static const char *const names[] = {"vda", "vdb", "vdc"};
	char zeros[SIZE] = "";
	struct bu_err err = {0};

	strcpy(dir, "/tmp/bringup-disklook-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (int i = 0; i < 3; i++) {
		bu_autofree char *path = bu_xasprintf("%s/dev/%s", dir, names[i]);
		bu_autofree char *folder = bu_xasprintf("%s/dev", dir);

		disks[i] = (struct bu_disk){.size_bytes = SIZE,
					    .signature = BU_SIGNATURE_PRESENT};
		strcpy(disks[i].name, names[i]);
		strcat(strcpy(disks[i].path, "/dev/"), names[i]);
		zeros[7] = i == 2;
		ck_assert_int_eq(bu_mkdir_p(folder, 0755, &err), 0);
		ck_assert_int_eq(bu_file_write(path, zeros, SIZE, 0600, &err), 0);
	}
}

/* No process is left, and none was waited for that had answered. */
static void
looks(int64_t limit_ms)
{
	int64_t begin_ms = bu_mono_ms(bu_clock_system());

	bu_disks_look(dir, disks, 3, limit_ms);
	if (!left)
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	if (!bad_call)
		ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - begin_ms,
				 limit_ms / 2);
}

static void
end(void)
{
	bad_call = NULL;
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
others_are_read(void)
{
	ck_assert_int_eq(disks[0].signature, BU_SIGNATURE_NONE);
	ck_assert_int_eq(disks[2].signature, BU_SIGNATURE_PRESENT);
	ck_assert_str_eq(disks[0].holds, "");
	ck_assert_str_eq(disks[2].holds, "");
}

START_TEST(a_disk_that_hangs_is_named_and_the_others_are_read)
{
	static const char *const calls[] = {"open", "pread"};

	for (size_t i = 0; i < BU_LEN(calls); i++) {
		begin();
		bad_call = calls[i];
		looks(LIMIT_MS);
		others_are_read();
		ck_assert_int_eq(disks[1].signature, BU_SIGNATURE_PRESENT);
		ck_assert_str_eq(disks[1].holds,
				 "does not answer: not read within 0.3 s");
		/* It is read again as soon as it answers. */
		bad_call = NULL;
		disks[1].holds[0] = '\0';
		looks(20000);
		ck_assert_int_eq(disks[1].signature, BU_SIGNATURE_NONE);
		ck_assert_str_eq(disks[1].holds, "");
		end();
	}
}
END_TEST

START_TEST(a_reader_that_dies_calls_no_disk_empty)
{
	begin();
	bad_call = "pread";
	crashes = 1;
	looks(20000);
	crashes = 0;
	others_are_read();
	ck_assert_int_eq(disks[1].signature, BU_SIGNATURE_PRESENT);
	end();
}
END_TEST

/* A process that cannot be killed holds on to its disk: no second one is sent after it.
 */
START_TEST(a_disk_whose_reader_is_stuck_is_left_alone)
{
	siginfo_t ended;

	begin();
	bad_call = "pread";
	unkillable = 1;
	looks(LIMIT_MS);
	unkillable = 0;
	ck_assert_int_gt(left, 0);
	bad_call = NULL;
	looks(20000);
	others_are_read();
	ck_assert_int_eq(disks[1].signature, BU_SIGNATURE_PRESENT);
	ck_assert_str_eq(disks[1].holds, "does not answer: a process still reads it");
	ck_assert_int_eq(kill(left, SIGKILL), 0);
	/* it has ended, and nothing has taken note of it */
	ck_assert_int_eq(waitid(P_PID, (id_t)left, &ended, WEXITED | WNOWAIT), 0);
	disks[1].holds[0] = '\0';
	looks(20000);
	ck_assert_int_eq(disks[1].signature, BU_SIGNATURE_NONE);
	end();
}
END_TEST

BU_UNIT("disklook", a_disk_that_hangs_is_named_and_the_others_are_read,
	a_reader_that_dies_calls_no_disk_empty,
	a_disk_whose_reader_is_stuck_is_left_alone)
