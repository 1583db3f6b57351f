/* SPDX-License-Identifier: Apache-2.0 */
/* Images of virtual media, fetched as a BMC does: by HTTP, in pieces. */
#ifndef BU_LAB_BMC_FETCH_H
#define BU_LAB_BMC_FETCH_H

#include "base/err.h"

/* There is an ISO 9660 image at this address. */
bu_must int bu_lab_fetch_look(const char *url, struct bu_err *err);
/* All of it, into a file. */
bu_must int bu_lab_fetch_image(const char *url, const char *path, struct bu_err *err);

#endif
