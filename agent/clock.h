/* SPDX-License-Identifier: Apache-2.0 */
/* Is the system's clock on time, according to the kernel, whichever program corrects
 * it? */
#ifndef BU_AGENT_CLOCK_H
#define BU_AGENT_CLOCK_H

#include <stdint.h>
#include <sys/timex.h>

/* It was set from a time source, and runs at its own speed: no correction
 * makes it fast or slow. */
int bu_clock_is_settled(const struct timex *kernel);
/* Waits for that, at most limit_ms and until stop says so (may be NULL). 0 = it is. */
int bu_clock_settle(int64_t limit_ms, int (*stop)(void *arg), void *arg);

#endif
