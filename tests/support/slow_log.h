/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log in memory that other appliances write, too, and a driver of it that decides
 * turns later. The log stays when its driver is closed or crashes, as one on other
 * machines does.
 */
#ifndef BU_TESTS_SUPPORT_SLOW_LOG_H
#define BU_TESTS_SUPPORT_SLOW_LOG_H

#include "provisioner/store/driver.h"

struct slow_log;

/* turns: of the loop, from a proposal to its outcome. */
struct slow_log *slow_log_create(struct bu_loop *loop, int turns);
void slow_log_destroy(struct slow_log *log);
/* A driver of it; one at a time. */
struct bu_store *slow_log_open(struct slow_log *log);

/* What becomes of the next proposals, a letter for each; 'd' of all after them:
 *	d	it is in the log
 *	g	the same, behind a row of another appliance
 *	l	another appliance wrote its row there, and this one is refused
 *	i	unknown; it is in the log
 *	o	unknown; it is not
 */
void slow_log_fates(struct slow_log *log, const char *fates);
/* How long it is unknown, in turns; -1 = until the next call, as at first. */
void slow_log_doubt(struct slow_log *log, int turns);
/* Another appliance writes a row of this node. */
void slow_log_write(struct slow_log *log, const char *node);
/* Another appliance leads, with this epoch. */
void slow_log_lead(struct slow_log *log, int64_t epoch);
/* The process of the open driver ends: nothing is told any more. Its store can only be
 * destroyed. */
void slow_log_crash(struct slow_log *log);

#endif
