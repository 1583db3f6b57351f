/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel left of itself when it crashed: the records of pstore (UEFI
 * variables, ACPI ERST, RAM), where they are or where systemd-pstore has put them.
 */
#ifndef BU_AGENT_CRASH_H
#define BU_AGENT_CRASH_H

#include <jansson.h>

/* The last one below root ("" = this system), as model/hello.h's bu_crash_said; NULL =
 * there is none. Nothing is removed. New reference. */
json_t *bu_crash_read(const char *root);

#endif
