/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of dnsmasq's DHCP socket: the kernel's default holds some 200 requests, and
 * what comes while it is full is lost; dnsmasq has no option for it. bringup-boot runs
 * as the same user, and may therefore reach the socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "provisioner/boot/serve.h"

/* 5,000 requests at once, as the kernel counts their bytes. */
enum { DHCP_QUEUE = 16 << 20, DNSMASQ_FILES = 64 };

/* A socket that serves DHCP gets the wider queue; 1 = it was one. */
static int
widen(int fd)
{
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	const int bytes = DHCP_QUEUE;

	return getsockname(fd, (void *)&name, &size) == 0 &&
	       name.sin_family == AF_INET &&
	       (name.sin_port == htons(67) || name.sin_port == htons(4011)) &&
	       setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) == 0;
}

int
bu_serve_widen(pid_t pid, struct bu_err *err)
{
	bu_autoclose int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int count = 0;

	if (process < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "process %d", (int)pid);
	for (int number = 0; number < DNSMASQ_FILES; number++) {
		int fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);

		if (fd < 0 && errno != EBADF)
			return bu_err_set(err, BU_ERR_IO, errno, "files of dnsmasq");
		if (fd < 0)
			continue;
		count += widen(fd);
		close(fd);
	}
	return count ? 0
		     : bu_err_set(err, BU_ERR_BUSY, 0,
				  "dnsmasq has no DHCP socket yet");
}
