/* SPDX-License-Identifier: Apache-2.0 */
/* The rack's services, children of the keeper: libvirtd, munged, slurmctld. Nobody
 * restarts them. */
#ifndef BU_LAB_SERVICES_H
#define BU_LAB_SERVICES_H

#include <jansson.h>

#include "lab/rack.h"

/* Starts all and waits until each answers. */
int bu_services_start(const struct bu_rack *rack, struct bu_err *err);
/* slurmctld once more, with an empty state. */
int bu_services_fresh_slurm(const struct bu_rack *rack, struct bu_err *err);
/* To be told about each child that has ended. */
void bu_services_ended(pid_t pid, int status);
int bu_services_has(pid_t pid);
/* {"libvirtd": true, ...}; new reference. */
json_t *bu_services_status(void);

#endif
