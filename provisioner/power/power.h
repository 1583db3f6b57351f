/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power: the vtable of the drivers, which run in children of bringup-power, and the
 * client side, which bringupd uses.
 *
 * A target is what the profile calls bmc. For libvirt: "qemu:///system#node001".
 */
#ifndef BU_POWER_POWER_H
#define BU_POWER_POWER_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"

enum bu_power_state { BU_POWER_OFF, BU_POWER_ON, BU_POWER_UNKNOWN };
const char *bu_power_state_name(enum bu_power_state state); /* "off", "on", "unknown" */

enum bu_boot_first { BU_BOOT_NETWORK, BU_BOOT_DISK };

/* A driver. Calls block; they run in a child of their own per connection. */
struct bu_power_driver {
	const char *name;
	/* The part of the target that names the connection ("qemu:///system"); owned.
	 */
	char *(*connection)(const char *target, struct bu_err *err);
	void *(*open)(const char *connection, struct bu_err *err);
	void (*close)(void *self);
	int (*status)(void *self, const char *target, enum bu_power_state *ret,
		      struct bu_err *err);
	/* Takes effect at the next power-on from off. */
	int (*boot_first)(void *self, const char *target, enum bu_boot_first first,
			  struct bu_err *err);
	int (*power_on)(void *self, const char *target, struct bu_err *err);
	int (*power_off)(void *self, const char *target, struct bu_err *err); /* hard */
};
/* By the profile's name of it; NULL when there is no such driver. */
const struct bu_power_driver *bu_power_driver(const char *name);

/* What bringup-power's child does for one request, over a driver: observe, then act.
 * {"op":"status"} or {"op":"boot","first":"network|disk","wait_off_ms":N,"reset":bool}:
 * waits that long for the machine to go off by itself; one that is still on is switched
 * off with "reset", and left alone without it (BU_ERR_DENIED). It is switched on only
 * after a fresh, confirmed "off". {"op":"on"} and {"op":"off"}: see bu_power_switch().
 * Answers
 * {"power":"on|off"}. "until_ms" (may be
 * missing): monotonic, of the machine; after it nothing is begun and BU_ERR_CANCELLED.
 */
json_t *bu_power_perform(const struct bu_power_driver *driver, void *self,
			 const json_t *request, struct bu_err *err);

/* Client side: the process bringup-power, which is started again when it dies. */
struct bu_power;
typedef void (*bu_power_fn)(enum bu_power_state state, const struct bu_err *err,
			    void *arg);
struct bu_power *bu_power_create(struct bu_loop *loop, const char *program,
				 struct bu_err *err);
/* Callbacks that are still due are not called. */
void bu_power_destroy(struct bu_power *power);
void bu_power_status(struct bu_power *power, const char *driver, const char *target,
		     bu_power_fn fn, void *arg);
struct bu_power_boot {
	enum bu_boot_first first;
	int64_t wait_off_ms; /* for a machine that switches itself off; 0 = none */
	int reset; /* a machine that is on may be switched off; else BU_ERR_DENIED */
};
/* Its own "on" or "off" is enough; unknown is neither, and nothing is done then. On: it
 * boots from its disk. Off is hard. */
void bu_power_switch(struct bu_power *power, const char *driver, const char *target,
		     int on, bu_power_fn fn, void *arg);
void bu_power_boot(struct bu_power *power, const char *driver, const char *target,
		   const struct bu_power_boot *boot, bu_power_fn fn, void *arg);

#endif
