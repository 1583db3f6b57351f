/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of 1,000 nodes in eight pools, and random edits of it. Texts are owned. */
#ifndef BU_TESTS_SUPPORT_EDITS_H
#define BU_TESTS_SUPPORT_EDITS_H

#include <stddef.h>

enum { EDITS_NODES = 1000, EDITS_POOLS = 8 };

char *edits_site(void);  /* site.ini */
char *edits_racks(void); /* racks.csv */
/* One byte is lost, doubled, or becomes another. */
char *edits_typo(unsigned int *seed, const char *text);
/* One key of one section gets a value that it may have; which one is said. */
char *edits_change(unsigned int *seed, const char *text, char *ret_what, size_t size);

#endif
