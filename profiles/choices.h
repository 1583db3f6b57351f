/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of profiles: tables that make the table of keys, the enums and their names.
 */
#ifndef BU_PROFILES_CHOICES_H
#define BU_PROFILES_CHOICES_H

/* The choices that something is decided by: X(id, what a profile says). */
#define BU_CHOICE_ID(id, name) id,
#define BU_CHOICE_NAME(id, name) name,
#define BU_CHOICE_WITH_BAR(id, name) "|" name
/* "a|b", as the table of keys has it. */
#define BU_CHOICES_OF(choices) (&(choices(BU_CHOICE_WITH_BAR))[1])

/* New roles come at the end: what is neither boot nor fabric has a fixed address. */
#define BU_ROLES(X)                                                                    \
	X(BU_ROLE_BOOT, "boot")                                                        \
	X(BU_ROLE_FABRIC, "fabric")                                                    \
	X(BU_ROLE_STORAGE, "storage")                                                  \
	X(BU_ROLE_BMC, "bmc")
/* HARDWARE: RoCE v2; from there on no RDMA in software. */
#define BU_RDMAS(X)                                                                    \
	X(BU_RDMA_NONE, "none")                                                        \
	X(BU_RDMA_RXE, "rxe")                                                          \
	X(BU_RDMA_HARDWARE, "hardware")                                                \
	X(BU_RDMA_INFINIBAND, "infiniband")
#define BU_BONDS(X)                                                                    \
	X(BU_BOND_NONE, "none")                                                        \
	X(BU_BOND_ACTIVE_BACKUP, "active-backup")                                      \
	X(BU_BOND_LACP, "802.3ad")
#define BU_BOOTS(X)                                                                    \
	X(BU_BOOT_BY_NETWORK, "network")                                               \
	X(BU_BOOT_BY_MEDIA, "media")
#define BU_BOOT_LOADERS(X)                                                             \
	X(BU_BOOT_LOADER_IPXE, "ipxe")                                                 \
	X(BU_BOOT_LOADER_GRUB, "grub")
#define BU_ROOTS(X)                                                                    \
	X(BU_ROOT_DISK, "disk")                                                        \
	X(BU_ROOT_RAM, "ram")                                                          \
	X(BU_ROOT_RAW, "raw")
#define BU_DATA_KEYS(X)                                                                \
	X(BU_DATA_KEYS_NONE, "none")                                                   \
	X(BU_DATA_KEYS_APPLIANCE, "appliance")                                         \
	X(BU_DATA_KEYS_TPM, "tpm")
#define BU_SCRATCH_KEYS(X)                                                             \
	X(BU_SCRATCH_KEYS_NONE, "none")                                                \
	X(BU_SCRATCH_KEYS_VOLATILE, "volatile")

enum bu_network_role { BU_ROLES(BU_CHOICE_ID) };
enum bu_rdma_kind { BU_RDMAS(BU_CHOICE_ID) };
/* The source of the counters of switches, by the form of switch_counters. */
enum bu_counters_from {
	BU_COUNTERS_NONE,
	BU_COUNTERS_PROMETHEUS,
	BU_COUNTERS_INFINIBAND
};
enum bu_bond { BU_BONDS(BU_CHOICE_ID) };
enum bu_boot_way { BU_BOOTS(BU_CHOICE_ID) };
enum bu_boot_loader { BU_BOOT_LOADERS(BU_CHOICE_ID) };
enum bu_root { BU_ROOTS(BU_CHOICE_ID) };
enum bu_data_keys { BU_DATA_KEYS(BU_CHOICE_ID) };
enum bu_scratch_keys { BU_SCRATCH_KEYS(BU_CHOICE_ID) };
extern const char *const bu_bond_names[];
extern const char *const bu_root_names[];
const char *bu_network_role_name(enum bu_network_role role); /* "boot", "fabric" */

#endif
