/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers memory at an RDMA device in a child that is what a user's job is: user
 * nobody, without capabilities, with a job's limit. Called through struct
 * bu_audit_probes. Invariant: it takes LIMIT_MS at most, and the child ends with it.
 */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"
#include "fabric/probe/wait.h"

enum { NOBODY = 65534, LIMIT_MS = 20000 };

/* What the child tells: it could be tried or not, and what happened. */
struct answer {
	int rc;
	char said[124];
};

struct ibv_context *
bu_audit_open(const char *device)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context = NULL;

	errno = ENODEV;
	for (int i = 0; i < count && !context; i++)
		if (strcmp(ibv_get_device_name(list[i]), device) == 0)
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return context;
}

static void
answer(struct answer *ret, int rc, const char *what)
{
	ret->rc = rc;
	snprintf(ret->said, sizeof(ret->said), "%s: %s", what, strerror(errno));
}

/* What NCCL and MPI register is no less; a small machine keeps most of its memory.
 * Above the 8 MiB in any case that are usual without a limit. */
static size_t
bytes_to_lock(void)
{
	const size_t mib = 1 << 20;
	size_t bytes = (size_t)(bu_sysroot_meminfo_bytes("", "MemTotal:") / 16);

	if (bytes > 1024 * mib)
		return 1024 * mib;
	return bytes > 16 * mib ? bytes / mib * mib : 16 * mib;
}

static void
register_memory(const char *device, size_t bytes, struct answer *ret)
{
	struct ibv_context *context = bu_audit_open(device);
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char what[64];

	snprintf(what, sizeof(what), "register %zu MiB", bytes >> 20);
	if (!pd)
		answer(ret, 1, "open it");
	else if (memory == MAP_FAILED)
		answer(ret, -1, "allocate the memory");
	else if (!ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE))
		answer(ret, 1, what);
	else
		snprintf(ret->said, sizeof(ret->said), "%zu MiB", bytes >> 20);
}

/* The child. Its end frees what it had. */
static void
be_a_job(const char *device, size_t bytes, const struct rlimit *limit, int fd)
{
	struct answer ret = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setrlimit(RLIMIT_MEMLOCK, limit) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		answer(&ret, -1, "become nobody");
	else
		register_memory(device, bytes, &ret);
	if (write(fd, &ret, sizeof(ret)) != (ssize_t)sizeof(ret))
		_exit(1);
	_exit(0);
}

static void
hear(int fd, struct answer *ret)
{
	struct bu_wait wait = {.deadline_ns =
				       bu_raw_ns() + LIMIT_MS * INT64_C(1000000)};

	if (bu_wait_fd(&wait, fd, POLLIN, "answer", NULL))
		snprintf(ret->said, sizeof(ret->said), "no answer within %d s",
			 LIMIT_MS / 1000);
	else if (read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret))
		return;
	else
		snprintf(ret->said, sizeof(ret->said), "the attempt died");
	ret->rc = -1;
}

int
bu_audit_lock_bytes(const char *device, size_t bytes, const struct rlimit *limit,
		    char *ret_said, size_t size)
{
	struct answer ret = {0};
	pid_t child = -1;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0) {
		snprintf(ret_said, size, "pipe: %s", strerror(errno));
		return -1;
	}
	child = fork();
	if (child == 0)
		be_a_job(device, bytes, limit, fds[1]);
	if (child < 0)
		answer(&ret, -1, "fork");
	close(fds[1]);
	if (child > 0) {
		hear(fds[0], &ret);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(fds[0]);
	snprintf(ret_said, size, "%s", ret.said);
	return ret.rc;
}

int
bu_audit_lock(const char *root, const char *device, const struct rlimit *limit,
	      char *ret_said, size_t size)
{
	if (!*root)
		return bu_audit_lock_bytes(device, bytes_to_lock(), limit, ret_said,
					   size);
	snprintf(ret_said, size, "this is not the running system");
	return -1;
}
