/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power: the client of bringup-power, for bringupd. driver.h has the drivers' vtable,
 * perform.h the operations made of it.
 *
 * A target is the profile's `bmc`. For libvirt: "qemu:///system#node001".
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

/* Time limit of a machine on its way on or off, and of a BMC that is silent after a
 * switch. */
enum { BU_POWER_MOVE_MS = 300000 };
/* A driver's call is cancelled after this time. */
enum { BU_POWER_CALL_MS = 120000 };

/* MEDIA is for drivers only; callers say NETWORK and give a medium. */
enum bu_boot_first { BU_BOOT_NETWORK, BU_BOOT_DISK, BU_BOOT_MEDIA };
/* Boot mode. KEPT: unknown, the BMC's setting stays. */
enum bu_boot_mode { BU_BOOT_MODE_KEPT, BU_BOOT_MODE_BIOS, BU_BOOT_MODE_UEFI };
/* "bios", "uefi", as in an inventory; "" = KEPT, as is any other name. */
const char *bu_boot_mode_name(enum bu_boot_mode mode);
enum bu_boot_mode bu_boot_mode_from_name(const char *name);

/* The BMC of a request; borrowed until the call returns. */
struct bu_power_bmc {
	const char *driver, *bmc; /* of the profile */
	/* The expected machine; NULL = not known. Nothing is switched behind another
	 * machine's BMC: BU_ERR_FOREIGN. */
	const struct bu_machine *machine;
	enum bu_boot_mode mode;
	/* All may be NULL. bringupd knows the path of a secret, never the secret. */
	const char *credentials; /* "file:/etc/bringup/bmc" */
	const char *before;      /* earlier credentials of ours that the BMC may have */
	const char *factory;     /* those from the factory */
	const char *fingerprint;
	/* URL of the boot medium, and of the folder of all our media; NULL = network
	 * boot. */
	const char *media, *media_dir;
};

/* State at the end of a request. */
struct bu_power_seen {
	enum bu_power_state state; /* unknown on an error */
	int unsaid; /* switched, and the BMC does not identify its machine */
	/* The BMC's differences from the expected machine, though it is that machine
	 * (bu_machine_differs()). "" = none; NULL = not asked, or not told. Borrowed.
	 */
	const char *differs;
	/* Time since the start command, at least 1; 0 = no such command. */
	int64_t started_ms;
};

/* "its BMC reports serial number 'A', expected is 'B'", for seen->differs and
 * seen->unsaid; owned, NULL = nothing to tell. */
char *bu_power_whose(const struct bu_power_seen *seen);

/* The process bringup-power, restarted when it dies. */
struct bu_power;
typedef void (*bu_power_fn)(const struct bu_power_seen *seen, const struct bu_err *err,
			    void *arg);
/* Settings of bringup-power, fixed at its start. NULL = none. */
struct bu_power_opts {
	/* Folder for the progress of password changes (bmc/) and for consoles
	 * (console/); NULL = neither. */
	const char *state;
	const char *secrets_dir;  /* as in bringupd.conf; NULL = any file is read */
	const char *bmc_networks; /* likewise; NULL = the key's default */
};
struct bu_power *bu_power_create(struct bu_loop *loop, const char *program,
				 const struct bu_power_opts *opts, struct bu_err *err);
/* Callbacks that are due are not called. */
void bu_power_destroy(struct bu_power *power);
void bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc,
		     bu_power_fn fn, void *arg);
struct bu_power_boot {
	enum bu_boot_first first;
	int64_t wait_off_ms; /* wait for a machine that switches itself off; 0 = none */
	int reset;     /* may switch off a machine that is on; else BU_ERR_DENIED */
	int bmc_reset; /* restarts the BMC first */
};
void bu_power_eject(struct bu_power *power, const struct bu_power_bmc *bmc,
		    bu_power_fn fn, void *arg);
/* Acts on a clear "on" or "off"; with unknown nothing is done. On: boots from `first`.
 * Off: hard. */
void bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
		 enum bu_boot_first first, bu_power_fn fn, void *arg);
void bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc,
		  bu_power_fn fn, void *arg);
void bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
		   const struct bu_power_boot *boot, bu_power_fn fn, void *arg);
/* Restarts the BMC; takes minutes, at most this long. */
enum { BU_POWER_BMC_RESET_MS = 500000 };
void bu_power_reset_bmc(struct bu_power *power, const struct bu_power_bmc *bmc,
			bu_power_fn fn, void *arg);
/* One of report (perform.h) and err is given, borrowed. */
typedef void (*bu_power_report_fn)(const json_t *report, const struct bu_err *err,
				   void *arg);
/* Captures the machine's console for one minute from now, and opens it if closed:
 * {"console","words"}. way: of the profile. */
void bu_power_console(struct bu_power *power, const struct bu_power_bmc *bmc,
		      const char *node, const char *way, bu_power_report_fn fn,
		      void *arg);
/* Reads a report of the BMC (report.h). since_ms: for events. */
enum bu_bmc_report { BU_BMC_EVENTS, BU_BMC_SENSORS, BU_BMC_FIRMWARE };
/* "events", "sensors", "firmware"; ends with NULL. */
extern const char *const bu_bmc_report_names[];
void bu_power_report(struct bu_power *power, const struct bu_power_bmc *bmc,
		     enum bu_bmc_report what, int64_t since_ms, bu_power_report_fn fn,
		     void *arg);

/* console_read.c: reads files in bringup-power's folder of consoles. */
enum {
	BU_CONSOLE_READ_MAX = 64 * 1024, /* bytes of one answer */
	BU_CONSOLE_LINES_MAX = 1000,
};
/* A place in the output; survives the rotation of the file. */
struct bu_console_place {
	uint64_t file; /* 0 = nothing read yet */
	uint64_t offset;
};
struct bu_console_part {
	char *bytes; /* owned; NUL behind them */
	size_t size;
	struct bu_console_place next;
	int lost; /* output between the places is gone */
};
/* The last lines. BU_ERR_NOTFOUND: no console of this node was captured. */
bu_must int bu_console_tail(const char *dir, const char *node, size_t lines,
			    struct bu_console_part *ret, struct bu_err *err);
/* Output after a place, at most BU_CONSOLE_READ_MAX bytes, perhaps none. */
bu_must int bu_console_after(const char *dir, const char *node,
			     const struct bu_console_place *place,
			     struct bu_console_part *ret, struct bu_err *err);

#endif
