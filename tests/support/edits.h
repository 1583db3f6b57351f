/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of 1,000 nodes in eight pools, and random edits of it. Texts are owned. */
#ifndef BU_TESTS_SUPPORT_EDITS_H
#define BU_TESTS_SUPPORT_EDITS_H

enum { EDITS_NODES = 1000, EDITS_POOLS = 8 };

char *edits_site(void);  /* site.ini */
char *edits_racks(void); /* racks.csv */
/* One byte is lost, doubled, or becomes another. */
char *edits_typo(unsigned int *seed, const char *text);
/* One key of one section gets a value that it may have. */
char *edits_change(unsigned int *seed, const char *text);

#endif
