/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a rack, all pure: libvirt domains, configuration files, racks.csv. Each
 * returned text is owned. */
#ifndef BU_LAB_RENDER_H
#define BU_LAB_RENDER_H

#include "lab/rack.h"

#define BU_OVMF_CODE "/usr/share/OVMF/OVMF_CODE_4M.fd"
#define BU_OVMF_VARS "/usr/share/OVMF/OVMF_VARS_4M.fd"

char *bu_render_domain(const struct bu_rack *rack, const struct bu_rack_node *node);
char *bu_render_csv(const struct bu_rack *rack);
char *bu_render_bringupd_conf(const struct bu_rack *rack);
char *bu_render_swtpm_conf(const struct bu_rack *rack);
char *bu_render_slurm_conf(const struct bu_rack *rack);
char *bu_render_hosts(const struct bu_rack *rack);
/* Lines for `ip -batch -` and `tc -batch -` that make the networks. */
char *bu_render_ip(const struct bu_rack *rack);
char *bu_render_tc(const struct bu_rack *rack);
/* The same for one node's cable at this rate. */
char *bu_render_tc_node(const struct bu_rack_node *node, int rate_mbit);

#endif
