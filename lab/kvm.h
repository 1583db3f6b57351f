/* SPDX-License-Identifier: Apache-2.0 */
/* Whether KVM really runs machines here: /dev/kvm can exist and not work. */
#ifndef BU_LAB_KVM_H
#define BU_LAB_KVM_H

#include <stddef.h>
#include <stdint.h>

enum { BU_KVM_SECTOR_SIZE = 512, BU_KVM_EXIT_CODE = 99 };

/* 1 when a machine ran under KVM at a processor's speed; ret_reason says what was seen.
 */
int bu_kvm_probe(char *ret_reason, size_t size);
/* The boot sector that the probe runs; it ends QEMU with BU_KVM_EXIT_CODE. */
void bu_kvm_sector(uint8_t ret_sector[BU_KVM_SECTOR_SIZE]);
/* Runs it; 0 when it ended as it should. */
int bu_kvm_run_sector(const char *accel, char *ret_reason, size_t size);

#endif
