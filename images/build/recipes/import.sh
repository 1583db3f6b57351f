#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An image of the system in $WORK/root, which import.c unpacked and checked. It comes from
# elsewhere: what is written to and read of it must not lie behind a link out of it.
. "$RECIPES/lib.sh"

inputs()
{
	cat "$RECIPES/lib.sh" "$RECIPES/import.sh"
	disk_inputs
}

# within PATH...: each leads to a place in the root, there or not.
within()
{
	for path in "$@"; do
		case $(realpath -m "$root/$path") in
		"$root"/*) ;;
		*) die "/$path is a link out of the system; make it a relative one" ;;
		esac
	done
}

# plain_modules VERSION KERNEL: what goes into the initial ramdisk, which everybody may fetch,
# is files of the tree itself.
plain_modules()
{
	case $1 in
	-* | *[!A-Za-z0-9._+~-]*) die "'$1' in /lib/modules is not a kernel version" ;;
	esac
	within "$2" "lib/modules/$1"
	folder=$root/lib/modules/$1/
	# build and source lead elsewhere everywhere; Fedora names the debug files of its vdso.
	odd=$(find -P "$folder" ! -type f ! -type d ! -path "${folder}build" \
		! -path "${folder}source" \
		! \( -path "${folder}vdso/*.debug" ! -xtype d \) -print -quit)
	[ -z "$odd" ] || die "/${odd#"$root/"} is no plain file;" \
		"put the file itself there"
}

# no_cloud_init: each node gets host name, network, users and host keys from bringup. At its
# first boot cloud-init would make others, as it does where nobody tells it anything.
no_cloud_init()
{
	[ -e "$root/usr/bin/cloud-init" ] || [ -d "$root/etc/cloud" ] || return 0
	within etc/cloud
	mkdir -p "$root/etc/cloud"
	rm -rf "$root/etc/cloud/cloud-init.disabled" # it may be a link out of the system
	: >"$root/etc/cloud/cloud-init.disabled"
}

# root_size: MiB for the root file system; the same for the same tree.
root_size()
{
	find "$root" -printf '%y %s\n' | awk '
		{ bytes += 4096 + ($1 == "f" ? $2 : 0) }
		END { print 64 * int((bytes * 1.2 / 1048576 + 256) / 64 + 1) }'
}

build()
{
	root=$(realpath "$WORK/root")
	within etc/systemd/system etc/munge/munge.key etc/ssh etc/bringup etc/shadow \
		etc/machine-id etc/hostname etc/fstab var/lib/bringup var/lib/dbus usr/lib \
		boot lib/modules lib/firmware/intel-ucode lib/firmware/amd-ucode \
		var/log var/cache \
		etc/systemd/system/multi-user.target.wants \
		etc/systemd/system/slurmd.service.d/bringup.conf \
		etc/systemd/journald.conf.d \
		etc/systemd/system/ssh.service.d/bringup.conf
	rm -rf "$root/usr/lib/bringup"
	disk_programs "$root"
	house "$root"
	no_cloud_init
	rm -rf "$root"/var/cache/* "$root"/boot/initr* "$root/.dockerenv"
	read -r kernel vmlinuz <"$WORK/kernel"
	plain_modules "$kernel" "$vmlinuz"
	rm -rf "$root/lib/modules/$kernel"/initr*
	need depmod kmod
	depmod -b "$root" "$kernel"
	say "file systems"
	initrd=$(kept_initrd "$root" "$kernel")
	esp "$OUT/esp.raw" 260 "$root/$vmlinuz" "$initrd" "$KARGS"
	root_fs "$OUT/root.raw" "$(root_size)M" "$root"
	image_json amd64 "$kernel" "$KARGS"
}

case $1 in
key) inputs ;;
build) build ;;
esac
