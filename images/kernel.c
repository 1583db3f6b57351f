/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the version in the header of a bzImage; the API's plans call it. Invariant:
 * what is returned has letters, digits and ".-+_~" alone.
 */
#include "images/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	HEAD = 64 * 1024, /* a setup has at most 64 sectors */
	MAGIC = 0x202,    /* "HdrS" */
	VERSION = 0x20e,  /* 16 bits: where the text is, less 0x200 */
	AFTER_BOOT = 0x200,
};

int
bu_kernel_release(const char *path, char ret[BU_KERNEL_RELEASE_SIZE],
		  struct bu_err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
				      "WXYZ0123456789.-+_~";
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	bu_autofree char *head = bu_xcalloc(1, HEAD + 1);
	ssize_t got = fd < 0 ? -1 : pread(fd, head, HEAD, 0);
	size_t at, size;

	if (got < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	at = (size_t)((uint8_t)head[VERSION] | (uint8_t)head[VERSION + 1] << 8);
	if (memcmp(head + MAGIC, "HdrS", 4) != 0 || !at || at + AFTER_BOOT >= HEAD)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: is not a bzImage with a version string", path);
	at += AFTER_BOOT;
	size = strspn(head + at, allowed);
	if (!size || size >= BU_KERNEL_RELEASE_SIZE)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: its version string is empty or too long", path);
	memcpy(ret, head + at, size);
	ret[size] = '\0';
	return 0;
}
