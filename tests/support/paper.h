/* SPDX-License-Identifier: Apache-2.0 */
/* A fake bringup-power, for rig.c. */
#ifndef BU_TESTS_SUPPORT_PAPER_H
#define BU_TESTS_SUPPORT_PAPER_H

/* Serves requests over the machines of dir until its parent is gone; an exit status. */
int paper_power(const char *dir);

#endif
