/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the host checks: host.c, host_dmi.c, host_disk.c, which build
 * on host_rows.c. */
#ifndef BU_CHECKS_HOST_HOST_IMPL_H
#define BU_CHECKS_HOST_HOST_IMPL_H

#include "checks/host/host.h"

/* host_rows.c. Adds a row of the table: text and hint follow from what was seen and
 * expected; good until the next one. */
struct bu_check *bu_host_add(struct bu_checks *out, const char *id,
			     enum bu_verdict verdict, const char *subject,
			     const char *seen, const char *expected);
/* A figure with its least value (0 = none is expected). */
void bu_host_add_least(struct bu_checks *out, const char *id, const char *subject,
		       double seen, const char *unit, double least);
double bu_host_threshold(const struct bu_checks_ctx *ctx, const char *key,
			 double fallback);

/* host_dmi.c: memory modules, as the firmware lists them. */
void bu_host_modules(const struct bu_checks_ctx *ctx, struct bu_checks *out);
/* host_disk.c */
void bu_host_disks(const struct bu_checks_ctx *ctx, struct bu_checks *out);
/* host_mounts.c */
void bu_host_mounts(const struct bu_checks_ctx *ctx, struct bu_checks *out);

#endif
