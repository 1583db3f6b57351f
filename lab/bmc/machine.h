/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine behind a virtual BMC: one of paper, or a libvirt domain. It knows nothing
 * of Redfish; whether POST takes long or a command is lost is the BMC's business.
 */
#ifndef BU_LAB_BMC_MACHINE_H
#define BU_LAB_BMC_MACHINE_H

#include <stdint.h>

#include "base/err.h"

enum { BU_BMC_MACS_MAX = 16 };

struct bu_bmc_identity {
	char serial[64], uuid[40];
	char macs[BU_BMC_MACS_MAX][18];
	int mac_count;
};

struct bu_bmc_machine {
	const struct bu_bmc_machine_ops *ops;
	int64_t now_ms; /* kept up to date by the BMC */
};

struct bu_bmc_machine_ops {
	const char *name;
	/* Now, as the machine itself says. */
	int (*is_on)(struct bu_bmc_machine *machine, int *ret, struct bu_err *err);
	/* From off to on; target is Redfish's: "Pxe", "Hdd", "Cd", "UefiHttp"; url is
	 * what is in the virtual drive, or NULL. */
	int (*start)(struct bu_bmc_machine *machine, const char *target,
		     const char *url, struct bu_err *err);
	int (*stop)(struct bu_bmc_machine *machine, struct bu_err *err);
	/* Asks the system to go off; it does so later, or never. */
	int (*ask_off)(struct bu_bmc_machine *machine, struct bu_err *err);
	void (*close)(struct bu_bmc_machine *machine);
};

/* number: counted from 0, the machine's place in a fleet; its serial, UUID and MACs
 * come from it. shutdown_ms: how long its system takes to go off; -1 = it never does.
 */
struct bu_bmc_machine *bu_bmc_machine_paper(int number, int64_t shutdown_ms,
					    struct bu_bmc_identity *ret);
/* What it was started with last ("" = never) and how often. */
const char *bu_bmc_machine_paper_target(const struct bu_bmc_machine *machine);
int bu_bmc_machine_paper_starts(const struct bu_bmc_machine *machine);
/* The machine goes on or off without its BMC being asked. */
void bu_bmc_machine_paper_set(struct bu_bmc_machine *machine, int is_on);

/* place: URI#DOMAIN. */
struct bu_bmc_machine *bu_bmc_machine_domain(const char *place,
					     struct bu_bmc_identity *ret,
					     struct bu_err *err);

#endif
