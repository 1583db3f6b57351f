/* SPDX-License-Identifier: Apache-2.0 */
/* Tells systemd that the daemon is up, and again and again that its loop turns. */
#ifndef BU_NOTIFY_H
#define BU_NOTIFY_H

#include "base/loop.h"

struct bu_notify;

/* To be called when all listeners are open. Does nothing outside systemd. */
struct bu_notify *bu_notify_ready(struct bu_loop *loop);
/* NULL = it never was ready. Frees notify. */
void bu_notify_stopping(struct bu_notify *notify);

#endif
