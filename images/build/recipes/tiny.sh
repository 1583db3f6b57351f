#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Busybox and network modules: an installed system for tests in which the operating system
# does not matter. Boots in a few seconds, 20 MB to fetch.
. "$RECIPES/lib.sh"

inputs()
{
	cat "$RECIPES/lib.sh" "$RECIPES/tiny.sh" "$RECIPES/tiny.init" \
		"$RECIPES/boot.init" "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" \
		"$RECIPES/rxe"
	candidates linux-image-amd64 busybox-static iproute2 $BOOT_PACKAGES
}

# rdma_program TO: iproute2's rdma with its loader and libraries.
rdma_program()
{
	need rdma iproute2
	rdma=$(command -v rdma)
	mkdir -p "$1/usr/lib/rdma"
	for file in "$rdma" $(libraries_of "$rdma"); do
		cp -L "$file" "$1/usr/lib/rdma/"
	done
	cat >"$1/bin/rdma" <<'END'
#!/bin/sh
d=/usr/lib/rdma
exec $d/ld-linux-x86-64.so.2 --library-path $d $d/rdma "$@"
END
	chmod 755 "$1/bin/rdma"
}

build()
{
	kernel_tree
	initrd=$(kept_initrd "$KROOT" "$KERNEL")
	root=$WORK/root
	skeleton "$root"
	modules "$KROOT" "$KERNEL" "$root" $NETWORK rdma_rxe ib_uverbs rdma_ucm crc32_generic
	mkdir -p "$root/etc/bringup"
	cp "$RECIPES/network.sh" "$RECIPES/udhcpc.sh" "$root/etc/bringup/"
	rm "$root/bin/init" && cp "$RECIPES/tiny.init" "$root/bin/init"
	chmod 755 "$root/bin/init" "$root/etc/bringup/udhcpc.sh"
	mkdir -p -m 700 "$root/var/lib/bringup"
	lib_link "$root"
	rdma_program "$root"
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
