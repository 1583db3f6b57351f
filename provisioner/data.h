/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of data: the site's own in /etc/bringup, else the shipped ones of data/. */
#ifndef BU_DATA_H
#define BU_DATA_H

#include "provisioner/api/api.h"

/* Rates, GPUs and kernel events; what cannot be read is a warning. */
void bu_data_load_gate(struct bu_gate *gate);
/* Versions that fit together; *ret stays as it is where there is no such table. */
bu_must int bu_data_load_compat(struct bu_compat **ret, struct bu_err *err);

#endif
