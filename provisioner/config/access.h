/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may log in to a node: accounts (/etc/bringup/passwd and group, which the image's
 * bringup-access makes accounts of the system), keys, sudo's rules, sshd. Nothing
 * without users in the profile. Users of a directory come by sssd.
 */
#ifndef BU_CONFIG_ACCESS_H
#define BU_CONFIG_ACCESS_H

#include "provisioner/config/config.h"

/* Where a node has the certificate of its host key. */
#define BU_CONFIG_HOST_CERT "/etc/ssh/ssh_host_ed25519_key-cert.pub"

void bu_config_access(const struct bu_config_input *input, struct bu_config *config);

#endif
