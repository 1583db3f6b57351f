/* SPDX-License-Identifier: Apache-2.0 */
/* What the IPMI side of the virtual BMC shares: ipmi.c starts it, chassis.c answers. */
#ifndef BU_LAB_BMC_IPMI_H
#define BU_LAB_BMC_IPMI_H

#include "lab/bmc/machine.h"

/* In the file `machine` of the BMC's folder: it exists in the file `power` alone. */
#define BU_IPMI_PAPER "paper"

#endif
