/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a configuration with dnsmasq before it is used. */
#ifndef BU_BOOT_TRY_H
#define BU_BOOT_TRY_H

#include "base/err.h"

/* 0 = dnsmasq would start with this configuration. BU_ERR_INVAL: dnsmasq's error and
 * the wrong line; another kind: dnsmasq could not be run. Blocks until dnsmasq has
 * ended. */
bu_must int bu_dnsmasq_try(const char *conf_path, struct bu_err *err);

#endif
