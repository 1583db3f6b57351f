/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of serial console output, as it came: DIR/NODE.log, and the one before it,
 * DIR/NODE.log.1. bringup-power writes them, bringupd reads them (power.h).
 */
#ifndef BU_POWER_CONSOLE_FILE_H
#define BU_POWER_CONSOLE_FILE_H

#include "provisioner/power/power.h"

enum { BU_CONSOLE_FILE_MAX = 1024 * 1024 }; /* bytes; then a new file begins */

struct bu_console_file;
/* Appends to the present file. */
struct bu_console_file *bu_console_file_open(const char *dir, const char *node,
					     struct bu_err *err);
void bu_console_file_close(struct bu_console_file *file);
/* Output that cannot be written is lost; the first failure is a warning. */
void bu_console_file_write(struct bu_console_file *file, const char *bytes,
			   size_t size);
/* Adds a line by bringup: "[bringup 2026-11-22T22:30:00Z switched on]". */
void bu_console_file_mark(struct bu_console_file *file, int64_t wall_ms,
			  const char *words);

#endif
