/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power: the client side of bringup-power, which bringupd uses. The drivers' vtable is
 * driver.h, what is made of it perform.h.
 *
 * A target is what the profile calls bmc. For libvirt: "qemu:///system#node001".
 */
#ifndef BU_POWER_POWER_H
#define BU_POWER_POWER_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "model/machine.h"

enum bu_power_state { BU_POWER_OFF, BU_POWER_ON, BU_POWER_UNKNOWN };
const char *bu_power_state_name(enum bu_power_state state); /* "off", "on", "unknown" */

enum bu_boot_first { BU_BOOT_NETWORK, BU_BOOT_DISK };
/* How the machine boots; what is not known is left to the BMC, as it is set there. */
enum bu_boot_mode { BU_BOOT_MODE_KEPT, BU_BOOT_MODE_BIOS, BU_BOOT_MODE_UEFI };
/* "bios", "uefi", as an inventory says the firmware; "" and anything else: kept. */
const char *bu_boot_mode_name(enum bu_boot_mode mode);
enum bu_boot_mode bu_boot_mode_from_name(const char *name);

/* The BMC that a request is for; borrowed until the call returns. */
struct bu_power_bmc {
	const char *driver, *bmc; /* as the profile has them */
	/* The machine that is expected behind it; NULL: nobody knows. Behind another
	 * one's BMC nothing is switched: BU_ERR_FOREIGN. */
	const struct bu_machine *machine;
	enum bu_boot_mode mode;
	/* Both may be NULL. bringupd knows where a secret lies, never the secret. */
	const char *credentials; /* "file:/etc/bringup/bmc" */
	const char *before;      /* those that it may have of us; NULL */
	const char *factory;     /* those that it came with; NULL */
	const char *fingerprint;
};

/* What was seen at the end. */
struct bu_power_seen {
	enum bu_power_state state; /* unknown where there is an error */
	int unsaid; /* it was switched, and its BMC does not say whose it is */
};

/* Client side: the process bringup-power, which is started again when it dies. */
struct bu_power;
typedef void (*bu_power_fn)(const struct bu_power_seen *seen, const struct bu_err *err,
			    void *arg);
/* journal: folder in which bringup-power writes down how far changes of passwords are;
 * NULL: it changes none. */
struct bu_power *bu_power_create(struct bu_loop *loop, const char *program,
				 const char *journal, struct bu_err *err);
/* Callbacks that are still due are not called. */
void bu_power_destroy(struct bu_power *power);
void bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc,
		     bu_power_fn fn, void *arg);
struct bu_power_boot {
	enum bu_boot_first first;
	int64_t wait_off_ms; /* for a machine that switches itself off; 0 = none */
	int reset; /* a machine that is on may be switched off; else BU_ERR_DENIED */
};
/* Its own "on" or "off" is enough; unknown is neither, and nothing is done then. On: it
 * boots from `first`. Off is hard. */
void bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
		 enum bu_boot_first first, bu_power_fn fn, void *arg);
void bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc,
		  bu_power_fn fn, void *arg);
void bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
		   const struct bu_power_boot *boot, bu_power_fn fn, void *arg);

#endif
