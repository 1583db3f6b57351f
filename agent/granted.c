/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names of disks are given anew at each boot: what was granted for one disk may
 * find another one under its name. Called before an install. Invariant: an order that
 * knows its disk is carried out on no other.
 */
#include "agent/granted.h"

#include <string.h>

#include "agent/disks.h"

int
bu_granted_check(const char *root, const struct bu_work_install *work,
		 struct bu_err *err)
{
	const char *path = work->disk, *serial = work->disk_serial;
	int64_t size_bytes = work->disk_size_bytes;
	struct bu_disk disk = {.path = ""};

	if (!*serial && !size_bytes)
		return 0;
	if (bu_disk_identify(root, path, &disk, err) != 0)
		return -1;
	if (*serial && strcmp(serial, disk.serial) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "disk %s has serial number %s; the order is for %s; "
				  "nothing was written, plan again",
				  path, disk.serial[0] ? disk.serial : "(none)",
				  serial);
	if (!*serial && size_bytes != disk.size_bytes)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "disk %s has %lld bytes; the order is for one of "
				  "%lld; nothing was written, plan again",
				  path, (long long)disk.size_bytes,
				  (long long)size_bytes);
	return 0;
}
