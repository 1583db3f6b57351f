/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time for nodes whose site names no time server: chronyd, run by bringup-boot as a
 * user of its own, answers with this machine's clock and never sets it.
 */
#ifndef BU_BOOT_CHRONY_H
#define BU_BOOT_CHRONY_H

#include "base/err.h"
#include "base/loop.h"

struct bu_chrony_opts {
	const char *dir;     /* its files; other users pass the folder that it is in */
	const char *address; /* ours in the boot network: where it answers */
};

struct bu_chrony;
struct bu_chrony *bu_chrony_create(struct bu_loop *loop,
				   const struct bu_chrony_opts *opts);
void bu_chrony_destroy(struct bu_chrony *chrony);
/* conf: bu_names_print_chrony()'s; NULL = others serve time, it ends. Starts it anew
 * when the text changed. Without the program this is 0 with a warning: nodes then keep
 * the time that their hardware has. */
bu_must int bu_chrony_set(struct bu_chrony *chrony, const char *conf,
			  struct bu_err *err);

#endif
