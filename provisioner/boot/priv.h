/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What needs root, in one place: a fixed table of operations with arguments checked
 * here, for every caller. Later a process of its own (bringup-priv) behind these calls.
 */
#ifndef BU_BOOT_PRIV_H
#define BU_BOOT_PRIV_H

#include "base/worker.h"

/* dnsmasq with this configuration, in the foreground until it is cancelled. The path
 * must be absolute, without "..", a plain file of ours that no other user may write. */
struct bu_job *bu_priv_start_dnsmasq(struct bu_loop *loop, const char *conf_path,
				     bu_job_fn fn, void *arg, struct bu_err *err);
/* chronyd with this configuration (the same is asked of it), which answers and does not
 * set the clock, until it is cancelled; its pid file is the configuration's path and
 * ".pid". */
struct bu_job *bu_priv_start_chronyd(struct bu_loop *loop, const char *conf_path,
				     bu_job_fn fn, void *arg, struct bu_err *err);
int bu_priv_has_chronyd(void);
/* Would dnsmasq start with this configuration? BU_ERR_INVAL with its words and the line
 * that they are about; of another kind when it could not be asked. Waits for it. */
bu_must int bu_priv_try_dnsmasq(const char *conf_path, struct bu_err *err);
/* Makes it read its hosts again (SIGHUP). The process must be a dnsmasq. */
bu_must int bu_priv_reload_dnsmasq(pid_t pid, struct bu_err *err);

/* Makes room for a storm in the queue of its DHCP socket. BU_ERR_BUSY: it has none yet.
 */
bu_must int bu_priv_widen_dnsmasq(pid_t pid, struct bu_err *err);

#endif
