/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine wrote to its serial console, as it came: DIR/NODE.log, and the one
 * before it, DIR/NODE.log.1. bringup-power writes it, bringupd reads it (power.h).
 */
#ifndef BU_POWER_CONSOLE_FILE_H
#define BU_POWER_CONSOLE_FILE_H

#include "provisioner/power/power.h"

enum { BU_CONSOLE_FILE_MAX = 1024 * 1024 }; /* then the next one is begun */

struct bu_console_file;
/* Goes on behind what is there. */
struct bu_console_file *bu_console_file_open(const char *dir, const char *node,
					     struct bu_err *err);
void bu_console_file_close(struct bu_console_file *file);
/* What the disk does not take is lost; the first failure is a warning. */
void bu_console_file_write(struct bu_console_file *file, const char *bytes,
			   size_t size);
/* A line of our own: "[bringup 2026-11-22T22:30:00Z switched on]". */
void bu_console_file_mark(struct bu_console_file *file, int64_t wall_ms,
			  const char *words);

#endif
