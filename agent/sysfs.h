/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of /sys and /proc, below a root that tests make of files. */
#ifndef BU_AGENT_SYSFS_H
#define BU_AGENT_SYSFS_H

#include <stddef.h>
#include <stdint.h>

/* The first line of a file below root, without blanks around, '?' for what is not
 * printable ASCII; "" when there is none. */
void bu_sysfs_line(const char *root, char *ret, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A number of a file below root, from 0 to max; fallback when there is none. */
int64_t bu_sysfs_number(const char *root, int64_t max, int64_t fallback,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Cleans a text in place, as above. */
void bu_sysfs_clean(char *text);
/* The last part of where a link below root points; "" when it is none. */
void bu_sysfs_target(const char *root, char *ret, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
