/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's word to systemd (Type=notify, WatchdogSec=). Called by bringupd.c.
 * Invariant: the keep-alive is sent by the loop alone, so that a loop that stands still
 * is seen.
 */
#include "provisioner/notify.h"

#include <stdint.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "base/mem.h"

struct bu_notify {
	struct bu_timer *timer;
	int64_t every_ms;
};

static void
on_alive(void *arg)
{
	struct bu_notify *notify = arg;

	sd_notify(0, "WATCHDOG=1");
	bu_timer_set(notify->timer, notify->every_ms);
}

struct bu_notify *
bu_notify_ready(struct bu_loop *loop)
{
	struct bu_notify *notify = bu_xcalloc(1, sizeof(*notify));
	uint64_t limit_us = 0;

	sd_notify(0, "READY=1");
	if (sd_watchdog_enabled(0, &limit_us) <= 0)
		return notify;
	/* As systemd advises: twice in its limit. */
	notify->every_ms = (int64_t)(limit_us / 2000);
	notify->timer = bu_timer_create(loop, on_alive, notify);
	on_alive(notify);
	return notify;
}

void
bu_notify_stopping(struct bu_notify *notify)
{
	if (!notify)
		return;
	sd_notify(0, "STOPPING=1");
	if (notify->timer)
		bu_timer_destroy(notify->timer);
	free(notify);
}
