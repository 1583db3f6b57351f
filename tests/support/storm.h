/* SPDX-License-Identifier: Apache-2.0 */
/* What a storm is made of; each returns 0 when all have what they want in time. */
#ifndef BU_TESTS_SUPPORT_STORM_H
#define BU_TESTS_SUPPORT_STORM_H

/* As many machines as count fetch the file by TFTP, as their firmware does, which takes
 * so long over a block. */
int storm_tftp(const char *address, const char *file, int count, int pace_ms);

#endif
