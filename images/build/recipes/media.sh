# SPDX-License-Identifier: Apache-2.0
# The boot medium, for machines that boot from a virtual drive of their BMC: sourced by
# ramdisk.sh. BIOS loads isolinux; UEFI loads shim and GRUB, with Secure Boot on or off.
# It is the same for all: what a node's kernel is told is written over two blocks of the
# medium while it is sent (provisioner/boot/media.c finds them by their first line).

MEDIA_BLOCK=4096

# block KIND FILE: the place of the configuration of one loader.
block()
{
	printf '#bringup-media %s\n' "$1" >"$2.line"
	printf '%*s' $((MEDIA_BLOCK - $(wc -c <"$2.line"))) '' | tr ' ' '\n' |
		cat "$2.line" - >"$2"
	rm "$2.line"
}

# efi_image FILE: what UEFI takes for the medium's system partition.
efi_image()
{
	export MTOOLS_SKIP_CHECK=1
	rm -f "$1" && truncate -s 6M "$1"
	mkfs.vfat -F 12 -n BRINGUP --invariant "$1" >/dev/null
	mmd -i "$1" ::/EFI ::/EFI/BOOT
	mcopy -i "$1" "$SIGNED/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
	mcopy -i "$1" "$SIGNED/grub/x86_64-efi-signed/gcdx64.efi.signed" \
		::/EFI/BOOT/grubx64.efi
}

# medium FILE VMLINUZ INITRD: the same files make the same bytes. Debian's GRUB for media
# looks for .disk/info.
medium()
{
	need xorriso xorriso
	need mkfs.vfat dosfstools
	need mcopy mtools
	loader=/usr/lib/ISOLINUX/isolinux.bin
	library=/usr/lib/syslinux/modules/bios/ldlinux.c32
	[ -f $loader ] || die "$loader is missing; install Debian's package isolinux"
	[ -f $library ] ||
		die "$library is missing; install Debian's package syslinux-common"
	rm -rf "$WORK/medium"
	mkdir -p "$WORK/medium/.disk" "$WORK/medium/isolinux" "$WORK/medium/boot/grub"
	echo bringup >"$WORK/medium/.disk/info"
	cp $loader $library "$WORK/medium/isolinux/"
	block isolinux "$WORK/medium/isolinux/isolinux.cfg"
	block grub "$WORK/medium/boot/grub/grub.cfg"
	efi_image "$WORK/medium/boot/efi.img"
	cp "$2" "$WORK/medium/boot/vmlinuz"
	cp "$3" "$WORK/medium/boot/agent.img"
	find "$WORK/medium" -exec chmod u=rwX,go=rX {} +
	find "$WORK/medium" -depth -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	xorriso -as mkisofs -quiet -o "$1" -V BRINGUP -r \
		-c isolinux/boot.cat -b isolinux/isolinux.bin \
		-no-emul-boot -boot-load-size 4 -boot-info-table \
		-eltorito-alt-boot -e boot/efi.img -no-emul-boot \
		"$WORK/medium" >&2
}
