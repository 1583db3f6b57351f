/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that fails when a test says so, below SQLite: each database that is opened
 * after bad_disk_install() lies on it.
 */
#ifndef BU_TESTS_SUPPORT_BADDISK_H
#define BU_TESTS_SUPPORT_BADDISK_H

struct bad_disk {
	int full;      /* no write gets through; nothing new is made */
	int syncs;     /* so many syncs fail; -1 = all */
	int syncs_ok;  /* so many get through before */
	int unread;    /* no read gets through */
	int read_only; /* as mounted so by the kernel after an error */
	int writes;    /* that got through, since the test set it to 0 */
};
extern struct bad_disk bad_disk;

/* Again: takes all faults away. */
void bad_disk_install(void);

#endif
