/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time for nodes of sites without a time server. bringup-boot runs chronyd as a user of
 * its own; chronyd answers with this machine's clock and never sets it.
 */
#ifndef BU_BOOT_CHRONY_H
#define BU_BOOT_CHRONY_H

#include "base/err.h"
#include "base/loop.h"

struct bu_chrony_opts {
	const char *dir;     /* of its files; other users pass the parent folder */
	const char *address; /* ours in the boot network, on which it answers */
};

struct bu_chrony;
struct bu_chrony *bu_chrony_create(struct bu_loop *loop,
				   const struct bu_chrony_opts *opts);
void bu_chrony_destroy(struct bu_chrony *chrony);
/* conf: of bu_names_print_chrony(); NULL = others serve time, chronyd ends. A changed
 * text restarts chronyd. Without the program: 0 with a warning; nodes then keep the
 * time of their hardware. */
bu_must int bu_chrony_set(struct bu_chrony *chrony, const char *conf,
			  struct bu_err *err);

#endif
