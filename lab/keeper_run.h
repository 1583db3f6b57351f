/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's inside; for keeper_make.c only. */
#ifndef BU_LAB_KEEPER_RUN_H
#define BU_LAB_KEEPER_RUN_H

#include "lab/rack.h"

/* Runs as process 1 of the rack's new namespaces; never returns. */
_Noreturn void bu_keeper_run(const struct bu_rack *rack, int lifeline);

#endif
