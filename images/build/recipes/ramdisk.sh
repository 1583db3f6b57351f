#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The boot ramdisk: vmlinuz and agent.img, about 27 MB together. agent.img is two
# archives in a row: what changes with the kernel (slow to compress, kept) and the agent.
# And shim and GRUB, which load them where Secure Boot is on; disk.efi, and a medium of
# all that. The same agent as a bundle, for nodes that have another one.
. "$RECIPES/lib.sh"
. "$RECIPES/media.sh"

inputs()
{
	cat "$RECIPES/lib.sh" "$RECIPES/ramdisk.sh" "$RECIPES/ramdisk.init" \
		"$RECIPES/network.sh" "$RECIPES/udhcpc.sh" "$RECIPES/media.sh"
	candidates linux-image-amd64 busybox-static $SIGNED_PACKAGES $GRUB_PACKAGES
	firmware_inputs
}

base()
{
	mkdir -p "$WORK/base"
	skeleton "$WORK/base"
	modules "$KROOT" "$KERNEL" "$WORK/base" $STORAGE $NETWORK $PLATFORM loop overlay \
		efi_pstore
	adapter_firmware "$WORK/base"
	cp "$RECIPES/ramdisk.init" "$WORK/base/init"
	mkdir -p "$WORK/base/etc/bringup"
	cp "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" "$WORK/base/etc/bringup/"
	chmod 755 "$WORK/base/init" "$WORK/base/etc/bringup/udhcpc.sh"
	pack "$WORK/base" "$1" 19
}

# The slow part is kept whatever changes of the rest.
key()
{
	inputs
	agent_key
	mdadm_program
	borrowed "$MDADM"
}

build()
{
	kernel_tree
	kept=$CACHE/base/ramdisk-$(inputs | digest).img
	if [ ! -s "$kept" ]; then
		say "ramdisk: packing modules of $KERNEL"
		base "$kept"
	fi
	mkdir -p "$WORK/agent"
	agent_folder "$WORK/agent"
	bundle "$WORK/agent/usr/lib/bringup/current" "$OUT/bundle"
	array_program "$WORK/agent"
	pack "$WORK/agent" "$WORK/agent.img" 12
	cp "$KROOT/boot/vmlinuz-$KERNEL" "$OUT/vmlinuz"
	cat "$kept" "$WORK/agent.img" >"$OUT/agent.img"
	signed_loaders
	cp "$SIGNED/shim/shimx64.efi.signed" "$OUT/shimx64.efi"
	cp "$SIGNED/grub/x86_64-efi-signed/grubnetx64.efi.signed" "$OUT/grubx64.efi"
	disk_loader "$OUT/disk.efi"
	medium "$OUT/boot.iso" "$OUT/vmlinuz" "$OUT/agent.img"
	find "$OUT" -type f -exec chmod 644 {} +
	say "ramdisk: $(du -cb "$OUT/vmlinuz" "$OUT/agent.img" | tail -n 1 | cut -f1) bytes"
}

case $1 in
key) key ;;
build) build ;;
esac
