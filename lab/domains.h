/* SPDX-License-Identifier: Apache-2.0 */
/* The rack's machines, through the rack's libvirtd (its socket lies in the rack's
 * directory, so no namespace has to be entered). */
#ifndef BU_LAB_DOMAINS_H
#define BU_LAB_DOMAINS_H

#include "lab/rack.h"

struct bu_domains;
struct bu_domains *bu_domains_open(const struct bu_rack *rack, struct bu_err *err);
void bu_domains_close(struct bu_domains *domains);

/* 1 when libvirt, too, is ready to run machines with this machine's processor. */
int bu_domains_kvm(struct bu_domains *domains);
/* Defines all of them, off; one that is defined is redefined (boot order as at first).
 */
bu_must int bu_domains_define(struct bu_domains *domains, struct bu_err *err);
/* Powers all of them off, hard. */
bu_must int bu_domains_destroy(struct bu_domains *domains, struct bu_err *err);
/* "on", "off", "paused", "crashed" or "unknown". */
const char *bu_domains_power(struct bu_domains *domains, const char *name);

#endif
