/* SPDX-License-Identifier: Apache-2.0 */
/* A child that is killed before one of its system calls that change a disk. */
#ifndef BU_TESTS_SUPPORT_KILLED_H
#define BU_TESTS_SUPPORT_KILLED_H

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static inline int
changes_a_disk(uint64_t nr)
{
	static const uint64_t calls[] = {
#ifdef SYS_open /* older calls, which not every machine has */
		SYS_rename,  SYS_mkdir,     SYS_unlink,    SYS_rmdir,
		SYS_open,    SYS_link,
#endif
		SYS_write,   SYS_pwrite64,  SYS_renameat,  SYS_renameat2,
		SYS_mkdirat, SYS_unlinkat,  SYS_openat,    SYS_linkat,
		SYS_fsync,   SYS_fdatasync, SYS_ftruncate, SYS_fchmod,
	};
	size_t i = 0;

	while (i < BU_LEN(calls) && calls[i] != nr)
		i++;
	return i < BU_LEN(calls);
}

static inline void
killed_child(int (*run)(void))
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(77);
	raise(SIGSTOP);
	_exit(run() == 0 ? 0 : 1);
}

enum { KILLED_ENDED = -1, KILLED_NO_TRACE = -2 };
/* Runs it in a child that is killed before its call `point` (from 0); how many there
 * were. KILLED_ENDED: it ended before that, with 0. KILLED_NO_TRACE: this machine lets
 * nobody trace. */
static inline int
killed_at(int point, int (*run)(void))
{
	struct __ptrace_syscall_info info;
	int status = 0, seen = 0;
	pid_t pid = fork();

	if (pid == 0)
		killed_child(run);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return KILLED_NO_TRACE;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (;;) {
		ptrace(PTRACE_SYSCALL, pid, NULL, 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			ck_assert_int_eq(WEXITSTATUS(status), 0);
			return KILLED_ENDED;
		}
		ck_assert(WIFSTOPPED(status));
		if (WSTOPSIG(status) != (SIGTRAP | 0x80) ||
		    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
		    info.op != PTRACE_SYSCALL_INFO_ENTRY ||
		    !changes_a_disk(info.entry.nr))
			continue;
		if (seen++ == point) {
			kill(pid, SIGKILL);
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			return seen;
		}
	}
}

#endif
