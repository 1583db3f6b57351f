#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Busybox, network modules and the agent: an installed system for tests in which the
# operating system does not matter. Boots in a few seconds, 20 MB to fetch.
. "$RECIPES/lib.sh"

inputs()
{
	cat "$RECIPES/lib.sh" "$RECIPES/tiny.sh" "$RECIPES/tiny.init" \
		"$RECIPES/boot.init" "$RECIPES/network.sh" "$RECIPES/udhcpc.sh"
	candidates linux-image-amd64 busybox-static $BOOT_PACKAGES
}

build()
{
	kernel_tree
	initrd=$(kept_initrd "$KROOT" "$KERNEL")
	root=$WORK/root
	skeleton "$root"
	modules "$KROOT" "$KERNEL" "$root" $NETWORK rdma_rxe ib_uverbs
	mkdir -p "$root/etc/bringup"
	cp "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" "$root/etc/bringup/"
	rm "$root/bin/init" && cp "$RECIPES/tiny.init" "$root/bin/init"
	chmod 755 "$root/bin/init" "$root/etc/bringup/udhcpc.sh"
	mkdir -p -m 700 "$root/var/lib/bringup"
	agent_folder "$root"
	esp "$OUT/esp.raw" 40 "$KROOT/boot/vmlinuz-$KERNEL" "$initrd" "$KARGS"
	root_fs "$OUT/root.raw" 64M "$root"
	image_json amd64 "$KERNEL" "$KARGS"
}

case $1 in
key) inputs; agent_key ;;
build) build ;;
esac
