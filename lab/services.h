/* SPDX-License-Identifier: Apache-2.0 */
/* The rack's services, children of the keeper: libvirtd, munged, slurmctld. Nobody
 * restarts them. */
#ifndef BU_LAB_SERVICES_H
#define BU_LAB_SERVICES_H

#include <jansson.h>

#include "lab/rack.h"

/* Starts all and waits until each answers. */
bu_must int bu_services_start(const struct bu_rack *rack, struct bu_err *err);
/* slurmctld, as a person would at night: "stop" ends it, "start" starts it where it
 * does not run, with the state that it left; "forget" does both, with an empty state.
 * BU_ERR_STATE in a rack without Slurm. */
bu_must int bu_services_slurm(const struct bu_rack *rack, const char *verb,
			      struct bu_err *err);
/* To be told about each child that has ended. */
void bu_services_ended(pid_t pid, int status);
int bu_services_has(pid_t pid);
/* {"libvirtd": true, ...}; new reference. */
json_t *bu_services_status(void);

#endif
