/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that a node may need of its image, by what its profile says. A build looks
 * which of them are there and lets the manifest hold them; the plan compares that with
 * what the pool needs (provisioner/plan/needs.c), and says which package is missing.
 */
#ifndef BU_IMAGES_PROGRAMS_H
#define BU_IMAGES_PROGRAMS_H

#include "images/manifest.h"

/* id, name in the manifest, path in the system, package of Debian, package of RPMs;
 * "" = no package has it: bringup puts it there */
#define BU_IMAGE_PROGRAMS(X)                                                           \
	X(SYSTEMD, "systemd", "lib/systemd/systemd", "systemd", "systemd")             \
	X(NETWORKD, "systemd-networkd", "lib/systemd/systemd-networkd", "systemd",     \
	  "systemd-networkd")                                                          \
	X(NETWORKMANAGER, "networkmanager", "usr/sbin/NetworkManager",                 \
	  "network-manager", "NetworkManager")                                         \
	X(NETPLAN, "netplan", "usr/sbin/netplan", "netplan.io", "netplan")             \
	X(SSHD, "sshd", "usr/sbin/sshd", "openssh-server", "openssh-server")           \
	X(SUDO, "sudo", "usr/bin/sudo", "sudo", "sudo")                                \
	X(SSSD, "sssd", "usr/sbin/sssd", "sssd-ldap", "sssd-ldap")                     \
	X(CHRONY, "chrony", "usr/sbin/chronyd", "chrony", "chrony")                    \
	X(EXT4, "mkfs.ext4", "sbin/mkfs.ext4", "e2fsprogs", "e2fsprogs")               \
	X(XFS, "mkfs.xfs", "sbin/mkfs.xfs", "xfsprogs", "xfsprogs")                    \
	X(NFS, "mount.nfs", "sbin/mount.nfs", "nfs-common", "nfs-utils")               \
	X(LUSTRE, "mount.lustre", "sbin/mount.lustre", "lustre-client-utils",          \
	  "lustre-client")                                                             \
	X(MDADM, "mdadm", "usr/lib/bringup/mdadm", "", "")                             \
	X(CRYPTSETUP, "cryptsetup", "usr/lib/bringup/cryptsetup", "", "")              \
	X(VOLATILE, "scratch-volatile", "usr/lib/bringup/scratch-volatile", "", "")
#define X(id, name, path, deb, rpm) BU_PROGRAM_##id,
enum bu_image_program { BU_IMAGE_PROGRAMS(X) BU_PROGRAMS };
#undef X

struct bu_image_program_row {
	const char *name, *path, *deb, *rpm;
};
extern const struct bu_image_program_row bu_image_programs[];

/* Bits by program. None at all: nobody looked, or the system is none of systemd's, of
 * which nothing is asked. */
uint32_t bu_image_programs_of(const struct bu_manifest *manifest);

#endif
