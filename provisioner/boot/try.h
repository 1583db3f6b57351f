/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration of dnsmasq is read by dnsmasq before it serves with it. */
#ifndef BU_BOOT_TRY_H
#define BU_BOOT_TRY_H

#include "base/err.h"

/* Would dnsmasq start with this configuration? BU_ERR_INVAL with its words and the line
 * that they are about; of another kind when it could not be asked. Waits for it. */
bu_must int bu_dnsmasq_try(const char *conf_path, struct bu_err *err);

#endif
