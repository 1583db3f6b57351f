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

/* A machine on its way on or off is waited for so long, and so is a BMC that is silent
 * over a switch. */
enum { BU_POWER_MOVE_MS = 300000 };
/* For one call of a driver; what takes longer is taken back. */
enum { BU_POWER_CALL_MS = 120000 };

/* MEDIA is for drivers: who asks for the network and gives a medium means it. */
enum bu_boot_first { BU_BOOT_NETWORK, BU_BOOT_DISK, BU_BOOT_MEDIA };
/* How the machine boots; what is not known is left to the BMC, as it is set there. */
enum bu_boot_mode { BU_BOOT_MODE_KEPT, BU_BOOT_MODE_BIOS, BU_BOOT_MODE_UEFI };
/* "bios", "uefi", as an inventory says the firmware; "" and anything else: kept. */
const char *bu_boot_mode_name(enum bu_boot_mode mode);
enum bu_boot_mode bu_boot_mode_from_name(const char *name);

/* The BMC that a request is for; borrowed until the call returns. */
struct bu_power_bmc {
	const char *driver, *bmc; /* as the profile has them */
	/* The machine that is expected behind it; NULL: not known. Behind another
	 * one's BMC nothing is switched: BU_ERR_FOREIGN. */
	const struct bu_machine *machine;
	enum bu_boot_mode mode;
	/* Both may be NULL. bringupd knows where a secret lies, never the secret. */
	const char *credentials; /* "file:/etc/bringup/bmc" */
	const char *before;      /* those that it may have of us; NULL */
	const char *factory;     /* those that it came with; NULL */
	const char *fingerprint;
	/* URL of the medium that it boots instead of the network, and where all of ours
	 * are; NULL: it boots from the network. */
	const char *media, *media_dir;
};

/* What was seen at the end. */
struct bu_power_seen {
	enum bu_power_state state; /* unknown where there is an error */
	int unsaid; /* it was switched, and its BMC does not say whose it is */
	/* What its BMC says otherwise of the machine than is expected, though it is
	 * that one (bu_machine_differs()); "" = nothing, NULL = it was not asked, or
	 * says nothing. Borrowed. */
	const char *differs;
	/* So long before the answer it was told to start, at least 1; 0 = it was not.
	 */
	int64_t started_ms;
};

/* "its BMC reports serial number 'A', expected is 'B'", what else there is to tell of
 * whose the BMC is; owned, NULL = nothing. */
char *bu_power_whose(const struct bu_power_seen *seen);

/* Client side: the process bringup-power, which is started again when it dies. */
struct bu_power;
typedef void (*bu_power_fn)(const struct bu_power_seen *seen, const struct bu_err *err,
			    void *arg);
/* What bringup-power is started with, and keeps to by itself. NULL: without it. */
struct bu_power_opts {
	/* Folder in which it writes down how far changes of passwords are (bmc/) and
	 * keeps consoles (console/); NULL: it does neither. */
	const char *state;
	const char *secrets_dir;  /* as in bringupd.conf; NULL: any file is read */
	const char *bmc_networks; /* likewise; NULL: as the key is by itself */
};
struct bu_power *bu_power_create(struct bu_loop *loop, const char *program,
				 const struct bu_power_opts *opts, struct bu_err *err);
/* Callbacks that are still due are not called. */
void bu_power_destroy(struct bu_power *power);
void bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc,
		     bu_power_fn fn, void *arg);
struct bu_power_boot {
	enum bu_boot_first first;
	int64_t wait_off_ms; /* for a machine that switches itself off; 0 = none */
	int reset; /* a machine that is on may be switched off; else BU_ERR_DENIED */
	int bmc_reset; /* its BMC is restarted before */
};
void bu_power_eject(struct bu_power *power, const struct bu_power_bmc *bmc,
		    bu_power_fn fn, void *arg);
/* Its own "on" or "off" is enough; unknown is neither, and nothing is done then. On: it
 * boots from `first`. Off is hard. */
void bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
		 enum bu_boot_first first, bu_power_fn fn, void *arg);
void bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc,
		  bu_power_fn fn, void *arg);
void bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
		   const struct bu_power_boot *boot, bu_power_fn fn, void *arg);
/* The BMC itself restarts; takes minutes, at most so many. */
enum { BU_POWER_BMC_RESET_MS = 500000 };
void bu_power_reset_bmc(struct bu_power *power, const struct bu_power_bmc *bmc,
			bu_power_fn fn, void *arg);
/* What it found, as perform.h has it; one of both is given, and borrowed. */
typedef void (*bu_power_report_fn)(const json_t *report, const struct bu_err *err,
				   void *arg);
/* Keeps the console of the machine for a minute from now, and opens it where it is
 * closed: {"console","words"}. way: the profile's. */
void bu_power_console(struct bu_power *power, const struct bu_power_bmc *bmc,
		      const char *node, const char *way, bu_power_report_fn fn,
		      void *arg);
/* What the BMC says besides, as report.h has it. since_ms: of events. */
enum bu_bmc_report { BU_BMC_EVENTS, BU_BMC_SENSORS, BU_BMC_FIRMWARE };
/* "events", "sensors", "firmware"; ends with NULL. */
extern const char *const bu_bmc_report_names[];
void bu_power_report(struct bu_power *power, const struct bu_power_bmc *bmc,
		     enum bu_bmc_report what, int64_t since_ms, bu_power_report_fn fn,
		     void *arg);

/* console_read.c: what bringup-power has kept in the folder of consoles. */
enum {
	BU_CONSOLE_READ_MAX = 64 * 1024, /* bytes of one answer */
	BU_CONSOLE_LINES_MAX = 1000,
};
/* A place in what was written; it stays one when the file rotates. */
struct bu_console_place {
	uint64_t file; /* 0 = nothing was read yet */
	uint64_t offset;
};
struct bu_console_part {
	char *bytes; /* owned; NUL behind them */
	size_t size;
	struct bu_console_place next;
	int lost; /* what stood between is not there any more */
};
/* The last lines. BU_ERR_NOTFOUND: nothing was kept of this node. */
bu_must int bu_console_tail(const char *dir, const char *node, size_t lines,
			    struct bu_console_part *ret, struct bu_err *err);
/* What came behind a place: perhaps nothing, at most BU_CONSOLE_READ_MAX bytes. */
bu_must int bu_console_after(const char *dir, const char *node,
			     const struct bu_console_place *place,
			     struct bu_console_part *ret, struct bu_err *err);

#endif
