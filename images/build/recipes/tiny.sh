#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Busybox and network modules: an installed system for tests in which the operating system
# does not matter. Boots in a few seconds; `bringup image show tiny` has 32 MB to fetch.
. "$RECIPES/lib.sh"

inputs()
{
	cat "$RECIPES/lib.sh" "$RECIPES/tiny.sh" "$RECIPES/tiny.init" \
		"$RECIPES/boot.init" "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" \
		"$RECIPES/rxe"
	disk_inputs
	borrowed $(command -v mke2fs) $(command -v rdma)
	candidates linux-image-amd64 busybox-static iproute2 $BOOT_PACKAGES
}

build()
{
	kernel_tree
	initrd=$(kept_initrd "$KROOT" "$KERNEL")
	root=$WORK/root
	skeleton "$root"
	modules "$KROOT" "$KERNEL" "$root" $NETWORK rdma_rxe ib_uverbs rdma_ucm \
		crc32_generic raid0 dm_crypt ecb xts aes_generic aesni_intel \
		sha256_generic algif_skcipher
	mkdir -p "$root/etc/bringup"
	cp "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" "$root/etc/bringup/"
	rm "$root/bin/init" && cp "$RECIPES/tiny.init" "$root/bin/init"
	chmod 755 "$root/bin/init" "$root/etc/bringup/udhcpc.sh"
	mkdir -p -m 700 "$root/var/lib/bringup"
	lib_link "$root"
	need rdma iproute2
	borrow "$root" "$(command -v rdma)" /bin/rdma
	borrow "$root" "$(command -v mke2fs)" /bin/mkfs.ext4
	disk_programs "$root"
	cp "$RECIPES/rxe" "$root/usr/lib/bringup/rxe"
	mkdir -p "$root/etc/libibverbs.d"
	echo 'driver rxe' >"$root/etc/libibverbs.d/rxe.driver"
	esp "$OUT/esp.raw" 260 "$KROOT/boot/vmlinuz-$KERNEL" "$initrd" "$KARGS"
	root_fs "$OUT/root.raw" 64M "$root"
	image_json amd64 "$KERNEL" "$KARGS"
}

case $1 in
key) inputs ;;
build) build ;;
esac
