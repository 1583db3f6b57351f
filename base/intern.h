/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that thousands of records share: names, digests of images, revisions. */
#ifndef BU_BASE_INTERN_H
#define BU_BASE_INTERN_H

/* The one copy of this text; NULL for NULL. Never freed, so nothing that a stranger may
 * choose anew each time goes in. Not for threads. */
const char *bu_intern(const char *text);

#endif
