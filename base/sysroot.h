/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of /proc, /sys and /etc below a folder: root is "" for the running system, or
 * a tree that a test made. The format names the path below it ("sys/class/net/%s/mtu").
 * Reads only; what is not there is no error.
 */
#ifndef BU_BASE_SYSROOT_H
#define BU_BASE_SYSROOT_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

/* First line, without blanks around it and with '?' for what is not printable ASCII.
 * 1 when it could be read; else 0 and "". */
int bu_sysroot_line(const char *root, char *ret_text, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A whole number, decimal or 0x..., that is the first line or starts it before a
 * blank; fallback when there is none. */
int64_t bu_sysroot_int(const char *root, int64_t fallback, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A decimal number from 0 to max that is the whole first line; fallback when there is
 * none. */
int64_t bu_sysroot_number(const char *root, int64_t max, int64_t fallback,
			  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A text in place, as bu_sysroot_line() has it. */
void bu_sysroot_clean(char *text);
/* A line of /proc/meminfo, by its name with the colon ("MemTotal:"); 0 without one. */
int64_t bu_sysroot_meminfo_bytes(const char *root, const char *key);
int bu_sysroot_exists(const char *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The file, at most max bytes of it, NUL-terminated; owned, NULL when it cannot be
 * read. ret_size may be NULL. */
char *bu_sysroot_read(const char *root, size_t max, size_t *ret_size, const char *fmt,
		      ...) __attribute__((format(printf, 4, 5)));
/* Last part of where a link points: the driver of ".../device/driver"; "" without. */
void bu_sysroot_link(const char *root, char *ret_text, size_t size, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));
/* Where a path leads with all links resolved; owned, NULL when nowhere. */
char *bu_sysroot_real(const char *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Calls visit for each name in a folder that is not hidden, net2 before net10; returns
 * how many there were. */
int bu_sysroot_each(const char *root, void (*visit)(const char *name, void *arg),
		    void *arg, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The serial number of a disk by the kernel's name ("nvme0n1", "cciss!c0d0"); "" when
 * it tells none. */
void bu_sysroot_serial(const char *root, char *ret_text, size_t size, const char *disk);
/* The world-wide name of a disk, likewise, as the kernel writes it: "eui.0025..." of
 * NVMe, "naa.5000..." of SCSI. */
void bu_sysroot_wwn(const char *root, char *ret_text, size_t size, const char *disk);
/* 1 for the name of a PCI function: "0000:18:00.0". */
int bu_sysroot_is_pci(const char *name);
/* What is mounted in a place; fs "" = nothing. */
struct bu_sysroot_mount {
	char source[256], fs[32];
	int automount; /* it will be when somebody looks into it */
};
/* What one sees there, the last one that was mounted. 0, or -1 when the table cannot be
 * read. */
int bu_sysroot_mounted(const char *root, const char *place,
		       struct bu_sysroot_mount *ret);
/* NUMA nodes that have CPUs: memory of GPUs and of CXL are nodes, too. */
int bu_sysroot_cpu_nodes(const char *root);
/* A list of CPUs, "0-15,32-47", to where it stops to be one; none without the file. */
void bu_sysroot_cpus(const char *root, cpu_set_t *ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
