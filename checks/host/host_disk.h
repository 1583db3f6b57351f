/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of whole disks, for checks and soak. */
#ifndef BU_CHECKS_HOST_HOST_DISK_H
#define BU_CHECKS_HOST_HOST_DISK_H

#include <stddef.h>

/* Reads from each disk until stopped, at most a second each; how many there were.
 * ret_trouble: the first error, "" = none. */
int bu_host_disks_read(const char *root, int (*stopped)(void *arg), void *arg,
		       char *ret_trouble, size_t size);

#endif
