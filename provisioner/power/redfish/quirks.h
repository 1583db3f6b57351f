/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BMCs do differently, as a table: whose (vendor, product, firmware), what, and
 * where that was reported. Most of it the driver does for all; a flag is set only
 * where one vendor's way would be wrong for the others.
 */
#ifndef BU_POWER_REDFISH_QUIRKS_H
#define BU_POWER_REDFISH_QUIRKS_H

#include <stddef.h>

enum {
	RF_QUIRK_CLOSE = 1 << 0,       /* a connection for each request */
	RF_QUIRK_BARE_BOOT = 1 << 1,   /* Boot without its mode comes first */
	RF_QUIRK_BOOT_LATER = 1 << 2,  /* Boot is written in the settings object */
	RF_QUIRK_NO_HDD = 1 << 3,      /* Hdd never ends: the disk is "no override" */
	RF_QUIRK_KEEP_TARGET = 1 << 4, /* None is refused: Disabled alone */
};

struct rf_quirk {
	int number;            /* in docs/redfish.md */
	const char *vendor;    /* as in "Vendor" of the root; NULL = all */
	const char *product;   /* begins so; NULL = all */
	const char *from, *to; /* firmware, both inclusive; NULL = open */
	unsigned flags;        /* 0: done for all */
	const char *what;      /* and what is done about it */
	const char *source;
	const char *test; /* in provisioner/power/redfish */
};
extern const struct rf_quirk rf_quirks[];
extern const size_t rf_quirks_count;

/* The flags of a BMC. */
unsigned rf_quirks_of(const char *vendor, const char *product, const char *firmware);
/* 1 when they depend on the firmware, too. */
int rf_quirks_ask_firmware(const char *vendor, const char *product);
/* Compares "6.10.30" and "6.9" number by number: <0, 0, >0. */
int rf_firmware_compare(const char *a, const char *b);

#endif
