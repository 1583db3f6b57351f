# SPDX-License-Identifier: Apache-2.0
# What the recipes share. A recipe is run by recipe.c with
#   RECIPES  this folder           CACHE  what outlives a build
#   WORK     scratch, removed      OUT    result: files and image.json
#   AGENT    path of bringup-agent SORTED path of bringup-sorted.so (sorted.c)
# and one argument: `key` prints everything that the result depends on, `build` makes it.
set -eu
# No file of an image is younger than this; mtools write it as local time.
export SOURCE_DATE_EPOCH=1700000000 TZ=UTC0
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
umask 022

say()
{
	echo "image: $*" >&2
}

die()
{
	echo "image: $*" >&2
	exit 1
}

# need PROGRAM PACKAGE: a clear word instead of "not found" in the middle.
need()
{
	command -v "$1" >/dev/null || die "$1 is missing; install Debian's package $2"
}

digest()
{
	sha256sum | cut -c1-64
}

# keep MADE KEPT: a file or folder under the name by which later builds find it. It is on the
# disk by then: after a power cut they would take an empty one for whole.
keep()
{
	rm -rf "$2.new"
	mv "$1" "$2.new" # from another file system this is a copy
	sync -f "$2.new"
	mv "$2.new" "$2"
}

# Name and candidate version of each package, a line each.
candidates()
{
	apt-cache policy "$@" | awk '/^[^ ]/ { name = $1 } /Candidate:/ { print name, $2 }'
}

# What libibverbs needs for each kind of RDMA adapter, as Debian ships it.
PROVIDERS="mlx4 mlx5 bnxt_re irdma efa hns rxe siw"

# provider_file NAME: the path of its library.
provider_file()
{
	for file in /usr/lib/*/libibverbs/lib"$1"-rdmav*.so; do
		[ -e "$file" ] || die "the provider of $1 is missing; install Debian's" \
			"package ibverbs-providers"
		echo "$file"
	done
}

# libraries_of FILE...: all that they need, their loader too.
libraries_of()
{
	ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*[^:]$/ { print $1 }'
}

# The libraries of the agent's folder. The parts of the C library that nothing of ours
# needs are for what comes from the host (CUDA, NVML): the host's own parts would not fit
# to our C library.
agent_libraries()
{
	providers=
	for name in $PROVIDERS; do
		providers="$providers $(provider_file "$name")"
	done
	{
		libraries_of "$AGENT" $providers
		libc=$(ldd "$AGENT" | awk '$1 == "libc.so.6" { print $3 }')
		for part in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
			echo "${libc%/*}/$part"
		done
	} | sort -u
}

# stripped_agent FILE: without what tells where and how it was built.
stripped_agent()
{
	need strip binutils
	strip -g -R .note.gnu.build-id -o "$1" "$AGENT"
}

# What the agent's folder depends on: the same for the same sources in any folder, and a
# new library counts too.
agent_key()
{
	mkdir -p "$WORK"
	stripped_agent "$WORK/agent.key"
	{
		cat "$RECIPES/agent" "$WORK/agent.key" $(agent_libraries)
		for name in $PROVIDERS; do cat "$(provider_file "$name")"; done
	} | digest
}

# rename_path FILE OLD NEW: a path that is fixed in a library; NEW is not longer.
rename_path()
{
	grep -qaF "$2" "$1" || die "${1##*/} does not name $2; is it another release?"
	OLD=$2 NEW=$3 perl -0777 -pi -e '
		my ($old, $new) = @ENV{"OLD", "NEW"};
		my $gap = "\0" x (length($old) - length($new));
		s/\Q$old\E([^\0]*)\0/$new$1\0$gap/g' "$1"
}

# provider_folder SLOT: the providers and the files that name them, where our copy of
# libibverbs looks for them and nowhere else: a provider of the host would bring the
# host's libraries with it. The path of the second folder has 17 characters at most.
provider_folder()
{
	mkdir -p "$1/verbs" "$1/ibv"
	for name in $PROVIDERS; do
		file=$(provider_file "$name")
		cp -L "$file" "$1/verbs/"
		echo "driver $name" >"$1/ibv/$name.driver"
	done
	rename_path "$1/lib/libibverbs.so.1" "${file%/*}/" /usr/lib/bringup/current/verbs/
	rename_path "$1/lib/libibverbs.so.1" /etc/libibverbs.d /lib/bringup/conf
}

# bundle_list SLOT: what images/bundle.h reads.
bundle_list()
{
	comma=
	(cd "$1" && find . -type f -printf '%m %s %P\n' | sort -k 3 |
		while read -r mode size path; do
			printf '%s{"mode":%d,"path":"%s","sha256":"%s","size_bytes":%d}' \
				"$comma" "0$mode" "$path" "$(digest <"$path")" "$size"
			comma=,
		done) >"$WORK/bundle.files"
	printf '{"files":[%s],"kind":"agent","v":1,"version":"%s"}' \
		"$(cat "$WORK/bundle.files")" "$("$AGENT" version)"
}

# agent_slot SLOT: the agent with its own loader and libraries, which runs in any root,
# the script that starts it, and the list of all that.
agent_slot()
{
	need perl perl-base
	mkdir -p "$1/lib"
	stripped_agent "$1/bringup-agent"
	for file in $(agent_libraries); do
		case $file in
		*/ld-linux*) cp -L "$file" "$1/ld-linux-x86-64.so.2" ;;
		*) cp -L "$file" "$1/lib/" ;;
		esac
	done
	provider_folder "$1"
	cp "$RECIPES/agent" "$1/agent"
	find "$1" -type f -exec chmod 644 {} +
	chmod 755 "$1/agent" "$1/bringup-agent" "$1/ld-linux-x86-64.so.2"
	bundle_list "$1" >"$WORK/bundle.json"
	mv "$WORK/bundle.json" "$1/bundle.json"
}

# agent_folder ROOT: the agent in its place, as an installation puts it there
# (agent/slots.c).
agent_folder()
{
	own=$1/usr/lib/bringup
	lib_link "$1"
	mkdir -p "$own/slots"
	agent_slot "$WORK/slot"
	slot=slots/$(digest <"$WORK/slot/bundle.json" | cut -c1-16)
	mv "$WORK/slot" "$own/$slot"
	ln -sfn "$slot" "$own/current"
	ln -sfn current/ibv "$own/conf"
	cp "$RECIPES/agent" "$own/agent"
	chmod 755 "$own/agent"
}

# lib_link ROOT: where /lib is no link to /usr/lib.
lib_link()
{
	mkdir -p "$1/lib" "$1/usr/lib/bringup"
	[ -e "$1/lib/bringup" ] || ln -s ../usr/lib/bringup "$1/lib/bringup"
}

# bundle SLOT TO: what the appliance serves of it: each file by its digest, and the list,
# which is signed afterwards.
bundle()
{
	mkdir -p "$2"
	find "$1/" -type f ! -name bundle.json | while read -r path; do
		cp "$path" "$2/$(digest <"$path")"
	done
	cp "$1/bundle.json" "$2/bundle.json"
}

# borrow ROOT FILE PATH: a program of this machine as PATH in any root, with its own
# loader and libraries: the agent's are another version's after it has changed.
borrow()
{
	folder=$1/usr/lib/bringup/tools
	mkdir -p "$folder/bin" "$folder/lib" "$1/${3%/*}"
	cp -L "$2" "$folder/bin/${3##*/}"
	for file in $(libraries_of "$2"); do
		case $file in
		*/ld-linux*) cp -L "$file" "$folder/ld-linux-x86-64.so.2" ;;
		*) cp -L "$file" "$folder/lib/" ;;
		esac
	done
	cat >"$1$3" <<END
#!/bin/sh
d=/usr/lib/bringup/tools
exec \$d/ld-linux-x86-64.so.2 --library-path \$d/lib \$d/bin/${3##*/} "\$@"
END
	chmod 755 "$folder/bin/${3##*/}" "$1$3"
}

# borrowed FILE...: programs of this machine with their libraries, by their bytes.
borrowed()
{
	for program in "$@"; do
		cat "$program" $(libraries_of "$program")
	done | digest
}

# mdadm_program: unpacked and never installed: installed it would look after this
# machine's arrays. Sets MDADM.
mdadm_program()
{
	mdadm=$CACHE/base/mdadm-$(candidates mdadm | digest | cut -c1-16)
	[ -d "$mdadm" ] || {
		say "fetching mdadm"
		fetch_packages "$mdadm" sbin mdadm
	}
	MDADM=$mdadm/mdadm
}

# array_program ROOT: what makes arrays.
array_program()
{
	mdadm_program
	borrow "$1" "$MDADM" /usr/lib/bringup/mdadm
}

# disk_inputs: what disk_programs depends on, and of this machine boot_initrd.
disk_inputs()
{
	mdadm_program
	cat "$RECIPES/scratch" "$RECIPES/scratch-volatile" "$RECIPES/volume"
	borrowed "$MDADM" $(command -v e2fsck) $(command -v cryptsetup) $(seal_programs) $(tpm_libraries)
}

# seal_programs: of systemd, and they need no running one.
seal_programs()
{
	for program in /usr/bin/systemd-cryptenroll /lib/systemd/systemd-cryptsetup; do
		[ -x "$program" ] || die "$program is missing; install Debian's package systemd"
		echo "$program"
	done
}

# tpm_libraries: what those ask for by name.
tpm_libraries()
{
	for name in esys.so rc.so mu.so tcti-device.so; do
		/sbin/ldconfig -p | sed -n "s,.*libtss2-$name\.0 .* => ,,p" | grep -m 1 . ||
			die "libtss2-$name.0 is missing; install Debian's packages" \
				"libtss2-esys-3.0.2-0, libtss2-rc0 and libtss2-tcti-device0"
	done
}

# disk_programs ROOT: what an installed system brings arrays up with, and opens encrypted
# volumes.
disk_programs()
{
	need cryptsetup cryptsetup-bin
	array_program "$1"
	borrow "$1" "$(command -v cryptsetup)" /usr/lib/bringup/cryptsetup
	for program in $(seal_programs); do
		borrow "$1" "$program" "/usr/lib/bringup/${program##*/}"
	done
	libraries=$(tpm_libraries)
	cp -L $({ echo "$libraries"; libraries_of $libraries; } | grep -v /ld-linux | sort -u) \
		"$1/usr/lib/bringup/tools/lib/"
	install -m 755 "$RECIPES/scratch" "$RECIPES/scratch-volatile" "$RECIPES/volume" \
		"$1/usr/lib/bringup/"
}

# house ROOT: what a system with systemd has of bringup besides the agent, and what it
# must not have of where it was made.
house()
{
	units=$1/etc/systemd/system
	mkdir -p "$units/multi-user.target.wants" "$units/slurmd.service.d"
	rm -f "$1/etc/munge/munge.key" "$1/etc/resolv.conf" "$1/etc/hostname" \
		"$1/etc/machine-id" "$1/var/lib/dbus/machine-id" \
		"$1/etc/fstab" # the initial ramdisk mounts root
	: >"$1/etc/resolv.conf"
	: >"$1/etc/machine-id"
	# No glob: it would go through a link of the tree to units of this machine.
	find -P "$units/" -mindepth 2 -maxdepth 2 -path '*.wants/*' \
		\( -name slurmd.service -o -name munge.service \) -delete
	printf '[Unit]\nConditionPathExists=\n' >"$units/slurmd.service.d/bringup.conf"
	ln -sfT /lib/systemd/system/systemd-networkd.service \
		"$units/multi-user.target.wants/systemd-networkd.service"
	# Each node makes its own host key; without somebody who may log in no sshd runs.
	rm -f "$1"/etc/ssh/ssh_host_*
	[ -e "$1/usr/lib/systemd/system/ssh.service" ] || [ -e "$1/lib/systemd/system/ssh.service" ] ||
		ln -sfT /usr/lib/systemd/system/sshd.service "$units/ssh.service" # Rocky
	mkdir -p "$units/ssh.service.d"
	printf '[Unit]\nConditionPathExists=/etc/ssh/sshd_config.d/10-bringup.conf\n' \
		>"$units/ssh.service.d/bringup.conf"
	for unit in bringup-access bringup-agent bringup-gpu bringup-rxe bringup-scratch; do
		rm -f "$units/$unit.service"
		cp "$RECIPES/$unit.service" "$units/"
		ln -sfT "../$unit.service" "$units/multi-user.target.wants/$unit.service"
	done
	sed -i 's/^root:[^:]*:/root:!:/' "$1/etc/shadow"
	mkdir -p "$1/etc/bringup"
	mkdir -p -m 700 "$1/var/lib/bringup"
	lib_link "$1"
	install -m 755 "$RECIPES/rxe" "$RECIPES/gpu" "$RECIPES/access" "$1/usr/lib/bringup/"
	kept_journal "$1"
}

# kept_journal ROOT: the log of one boot is there in the next, and takes 1 GiB at most; that
# of where the system was made is not.
kept_journal()
{
	rm -rf "$1/var/log/journal"
	mkdir -p "$1/var/log/journal" "$1/etc/systemd/journald.conf.d"
	rm -f "$1/etc/systemd/journald.conf.d/10-bringup.conf"
	printf '[Journal]\nStorage=persistent\nSystemMaxUse=1G\n' \
		>"$1/etc/systemd/journald.conf.d/10-bringup.conf"
	unmasked "$1" systemd-journal-flush.service
}

# unmasked ROOT UNIT: whoever made the system, that unit starts.
unmasked()
{
	[ "$(readlink "$1/etc/systemd/system/$2")" != /dev/null ] ||
		rm "$1/etc/systemd/system/$2"
}

# Debian's generic kernel (the cloud kernel has no soft-RoCE), unpacked and never
# installed. Sets KERNEL (version) and KROOT.
kernel_tree()
{
	need depmod kmod
	package=$(apt-cache show --no-all-versions linux-image-amd64 |
		sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -n 1)
	[ -n "$package" ] || die "apt knows no linux-image-amd64; run apt-get update"
	KERNEL=${package#linux-image-}
	KROOT=$CACHE/base/kernel-$(candidates "$package" | cut -d ' ' -f 2)
	[ ! -d "$KROOT" ] || return 0
	say "fetching $package"
	rm -rf "$WORK/kernel" && mkdir -p "$WORK/kernel"
	(cd "$WORK/kernel" && apt-get -q -o APT::Sandbox::User=root download "$package" >&2)
	dpkg -x "$WORK"/kernel/*.deb "$WORK/kernel/root"
	depmod -b "$WORK/kernel/root" "$KERNEL"
	mkdir -p "$CACHE/base"
	keep "$WORK/kernel/root" "$KROOT"
	rm -rf "$WORK/kernel"
}

# modules FROM VERSION TO NAME...: copies kernel modules and all that they need.
modules()
{
	from=$1/lib/modules/$2 to=$3/lib/modules/$2
	shift 3
	mkdir -p "$to"
	echo "$@" | tr -s ' \t-' '\n\n_' |
		awk -v dep="$from/modules.dep" -v builtin="$from/modules.builtin" '
		function short(path) {
			sub(/.*\//, "", path); sub(/\.ko.*/, "", path)
			gsub(/-/, "_", path)
			return path
		}
		BEGIN {
			while ((getline line < dep) > 0) {
				split(line, half, ": *")
				name = short(half[1]); path[name] = half[1]
				needs[name] = half[2]
			}
			while ((getline line < builtin) > 0)
				inside[short(line)]
		}
		!($1 in path) && !($1 in inside) {
			print "image: this kernel has no module " $1 >"/dev/stderr"
			exit 1
		}
		$1 in path {
			print path[$1]
			count = split(needs[$1], list, " ")
			for (i = 1; i <= count; i++)
				print list[i]
		}' >"$WORK/modules.found" || die "the kernel modules are not complete"
	sort -u "$WORK/modules.found" >"$WORK/modules.list"
	tar -C "$from" --verbatim-files-from -cf - -T "$WORK/modules.list" |
		tar -C "$to" -xf -
	cp -P "$from/modules.builtin" "$from/modules.builtin.modinfo" "$from/modules.order" "$to"
	unpacked_modules "$to"
	depmod -b "${to%/lib/modules/*}" "${to##*/}"
	rm -f "$to"/modules.symbols* "$to"/*.bin "$to/modules.builtin.modinfo" \
		"$to/modules.order"
}

# unpacked_modules FOLDER: busybox loads no packed ones, and the whole is packed later.
unpacked_modules()
{
	find -P "$1/" -type f \( -name '*.ko.xz' -o -name '*.ko.zst' -o -name '*.ko.gz' \) \
		>"$WORK/modules.packed"
	while IFS= read -r packed; do
		case $packed in
		*.xz) need xz xz-utils && set -- xz ;;
		*.zst) need zstd zstd && set -- zstd ;;
		*.gz) set -- gzip ;;
		esac
		"$1" -dc "$packed" >"${packed%.*}" || die "$packed cannot be unpacked"
		rm "$packed"
	done <"$WORK/modules.packed"
}

# What Debian's kernel has for servers: a disk or NIC that the ramdisk cannot see is a
# machine that cannot be installed, or that looks like another one afterwards.
STORAGE="virtio_pci virtio_blk virtio_scsi sd_mod sr_mod nvme vmd ahci ata_piix ata_generic
	megaraid_sas mpt3sas mpi3mr smartpqi hpsa aacraid arcmsr isci
	xhci_pci ehci_pci usb_storage uas usbhid hid_generic
	md_mod raid0 raid1 raid10 dm_mod dm_multipath efivarfs
	ext4 xfs crc32c_generic crc32c_intel vfat nls_ascii nls_cp437 nls_iso8859_1"
NETWORK="virtio_net e1000 e1000e igb igc ixgbe i40e ice tg3 bnx2x bnxt_en r8169
	mlx4_en mlx5_core qede be2net cxgb4 sfc enic atlantic nfp hinic ena vmxnet3
	af_packet bonding 8021q"
# The BMC, as the machine itself sees it.
PLATFORM="ipmi_si ipmi_devintf"

# Where this machine has what its packages firmware-* brought.
FIRMWARE=/lib/firmware

# firmware_inputs: what adapter_firmware depends on. The files are many and large, and
# another version has other sizes.
firmware_inputs()
{
	[ ! -d "$FIRMWARE" ] || find -L "$FIRMWARE/" -type f -printf '%P %s\n' 2>/dev/null | sort
}

# adapter_firmware ROOT: the files that its modules ask for and this machine has. Some NICs
# and disk adapters do nothing without theirs; which modules get none is said.
adapter_firmware()
{
	find -P "$1/lib/modules/" -type f -name '*.ko' | sort >"$WORK/firmware.modules"
	while IFS= read -r module; do
		modinfo -F firmware "$module" >"$WORK/firmware.names" ||
			die "modinfo cannot read $module"
		sed "s,^,$(basename "$module" .ko) ," "$WORK/firmware.names"
	done <"$WORK/firmware.modules" >"$WORK/firmware.asked"
	while read -r module name; do
		file=$FIRMWARE/$name to=$1/lib/firmware/$name
		[ -f "$file" ] || [ -f "$file.xz" ] || [ -f "$file.zst" ] || continue
		mkdir -p "${to%/*}"
		if [ -f "$file" ]; then
			cat "$file"
		elif [ -f "$file.xz" ]; then
			xz -dc "$file.xz"
		else
			zstd -dcq "$file.zst"
		fi >"$to" || die "the firmware $file cannot be read"
		echo "$module"
	done <"$WORK/firmware.asked" >"$WORK/firmware.names"
	sort -u "$WORK/firmware.names" >"$WORK/firmware.found"
	lacking=$(cut -d ' ' -f 1 "$WORK/firmware.asked" | sort -u |
		comm -23 - "$WORK/firmware.found" | tr '\n' ' ')
	[ -z "$lacking" ] || say "ramdisk: this machine has no firmware for ${lacking% };" \
		"where the site has such adapters, install its packages" \
		"(docs/boot.md, Firmware of adapters) and build again"
}

# skeleton TO: busybox and the folders of a root.
skeleton()
{
	need busybox busybox-static
	for dir in bin dev etc mnt proc run sys tmp usr/bin usr/sbin var/lib; do
		mkdir -p "$1/$dir"
	done
	ln -sfn bin "$1/sbin"
	busybox=$(command -v busybox)
	! ldd "$busybox" >/dev/null 2>&1 || die "busybox is not static; install busybox-static"
	cp -L "$busybox" "$1/bin/busybox"
	for applet in $("$busybox" --list); do
		[ -e "$1/bin/$applet" ] || ln -s busybox "$1/bin/$applet"
	done
}

# pack DIR FILE LEVEL: a compressed cpio archive; the kernel reads several in a row.
pack()
{
	need cpio cpio
	need zstd zstd
	find "$1" -exec touch -h -d @$SOURCE_DATE_EPOCH {} +
	(cd "$1" && find . | sort |
		cpio -o -H newc -R 0:0 --reproducible --quiet) |
		zstd -q -T2 "-$3" >"$2.packed"
	keep "$2.packed" "$2"
}

# microcode_of ROOT VENDOR: what the image's packages intel-microcode and amd64-microcode
# have for the CPUs of a vendor, in a row; its own plain files alone.
microcode_of()
{
	case $2 in
	GenuineIntel) folder=$1/lib/firmware/intel-ucode names='??-??-??*' ;;
	AuthenticAMD) folder=$1/lib/firmware/amd-ucode names='microcode_amd*.bin' ;;
	esac
	[ ! -d "$folder" ] || find -P "$folder/" -maxdepth 1 -type f -name "$names" -print0 |
		sort -z | xargs -0r cat
}

# microcode ROOT FILE: the archive of it that the kernel reads before it starts the other
# CPUs; it comes first in an initial ramdisk and is not compressed. Without microcode the
# file is empty.
microcode()
{
	need cpio cpio
	early=$WORK/microcode/kernel/x86/microcode
	rm -rf "$WORK/microcode" && mkdir -p "$early"
	for vendor in GenuineIntel AuthenticAMD; do
		microcode_of "$1" $vendor >"$early/$vendor.bin"
		[ -s "$early/$vendor.bin" ] || rm "$early/$vendor.bin"
	done
	: >"$2"
	[ -n "$(ls "$early")" ] || return 0
	find "$WORK/microcode" -exec touch -h -d @$SOURCE_DATE_EPOCH {} +
	(cd "$WORK/microcode" && find kernel | sort |
		cpio -o -H newc -R 0:0 --reproducible --quiet) >"$2"
}

# boot_initrd ROOT VERSION FILE: the small initial ramdisk of installed systems, which
# finds the root partition beside the system partition that was booted and checks it; before
# it the microcode of the image.
boot_initrd()
{
	rm -rf "$WORK/initrd" && mkdir -p "$WORK/initrd"
	skeleton "$WORK/initrd"
	modules "$1" "$2" "$WORK/initrd" $STORAGE efivarfs edd
	cp "$RECIPES/boot.init" "$WORK/initrd/init"
	cp "$RECIPES/network.sh" "$WORK/initrd/network.sh"
	chmod 755 "$WORK/initrd/init"
	need e2fsck e2fsprogs
	borrow "$WORK/initrd" "$(command -v e2fsck)" /bin/e2fsck
	pack "$WORK/initrd" "$WORK/initrd.img" 19
	microcode "$1" "$WORK/microcode.img"
	cat "$WORK/microcode.img" "$WORK/initrd.img" >"$3.whole"
	keep "$3.whole" "$3"
}

# initrd_inputs ROOT VERSION: all that goes into it, by its content: two kernels may have
# one version and the same list of modules.
initrd_inputs()
{
	echo "$2"
	cat "$RECIPES/lib.sh" "$RECIPES/boot.init" "$RECIPES/network.sh"
	sha256sum <"$(command -v busybox)"
	borrowed "$(command -v e2fsck)"
	microcode_of "$1" GenuineIntel | sha256sum
	microcode_of "$1" AuthenticAMD | sha256sum
	(cd "$1/lib/modules/$2" &&
		find . -type f \( -name '*.ko*' -o -name modules.dep \
			-o -name 'modules.builtin*' -o -name modules.order \) -print0 |
		sort -z | xargs -0r sha256sum)
}

# kept_initrd ROOT VERSION: prints the path of the initial ramdisk in the cache.
kept_initrd()
{
	need busybox busybox-static
	mkdir -p "$CACHE/base"
	kept=$CACHE/base/boot-$(initrd_inputs "$1" "$2" | digest).img
	[ -s "$kept" ] || boot_initrd "$1" "$2" "$kept"
	echo "$kept"
}

# fetch_packages TO FOLDER PACKAGE...: that folder of what they hold; not installed.
fetch_packages()
{
	to=$1 folder=$2
	shift 2
	rm -rf "$WORK/fetched" && mkdir -p "$WORK/fetched/root"
	(cd "$WORK/fetched" &&
		apt-get -q -o APT::Sandbox::User=root download "$@" >&2)
	for deb in "$WORK"/fetched/*.deb; do
		dpkg -x "$deb" "$WORK/fetched/root"
	done
	mkdir -p "$CACHE/base"
	keep "$WORK/fetched/root/$folder" "$to"
	rm -rf "$WORK/fetched"
}

# signed_loaders: Debian's shim and GRUB, with which Secure Boot may be on; unpacked and
# never installed, because installed they are this machine's own. Sets SIGNED.
signed_loaders()
{
	SIGNED=$CACHE/base/signed-$(candidates $SIGNED_PACKAGES | digest | cut -c1-16)
	[ ! -d "$SIGNED" ] || return 0
	say "fetching $SIGNED_PACKAGES"
	fetch_packages "$SIGNED" usr/lib $SIGNED_PACKAGES
}

# disk_loader FILE: GRUB that starts the disk's own loader, for iPXE, which under UEFI
# cannot. A later search goes before: only our images have /kargs, and of a disk with two
# roots the boot partition chooses.
disk_loader()
{
	GRUB=$CACHE/base/grub-$(candidates $GRUB_PACKAGES | digest | cut -c1-16)
	if [ ! -d "$GRUB" ]; then
		say "fetching $GRUB_PACKAGES"
		fetch_packages "$GRUB" usr $GRUB_PACKAGES
	fi
	cat >"$WORK/disk.cfg" <<'END'
search --no-floppy --file --set=root /EFI/BOOT/BOOTX64.EFI
search --no-floppy --file --set=root /kargs
search --no-floppy --file --set=root /bringup-slots
echo "bringup: starting the loader of the disk"
chainloader /EFI/BOOT/BOOTX64.EFI
boot
exit
END
	"$GRUB/bin/grub-mkimage" -d "$GRUB/lib/grub/x86_64-efi" -O x86_64-efi -p / \
		-c "$WORK/disk.cfg" -o "$1" part_gpt fat search search_fs_file chain echo \
		boot minicmd || die "grub-mkimage failed; it needs Debian's package" \
		"libdevmapper1.02.1"
}

# esp FILE MIB VMLINUZ INITRD KARGS: one system partition for BIOS (syslinux) and UEFI
# (shim and GRUB under the removable path, so no boot variable is needed). Both boot the
# same files. /kargs has the image's own arguments; the installer and the agent write
# them with the node's into both configurations (images/install/bootargs.c). GRUB says
# which partition it comes from. chain.c32 is for a disk with two roots, whose boot
# partition is a copy of this one (images/install/chooser.c). FAT32 has no less than 65,525 clusters; those of 4096
# bytes fit disks with sectors of that size, too (images/install/fat.c).
esp()
{
	need mkfs.vfat dosfstools
	need mcopy mtools
	need syslinux syslinux
	signed_loaders
	export MTOOLS_SKIP_CHECK=1
	printf 'DEFAULT linux\nPROMPT 0\nTIMEOUT 1\nLABEL linux\n KERNEL /vmlinuz\n' \
		>"$WORK/syslinux.cfg"
	printf ' INITRD /initrd\n APPEND %s\n' "$5" >>"$WORK/syslinux.cfg"
	printf 'probe --set=esp --part-uuid $root\n' >"$WORK/grub.cfg"
	printf 'linux /vmlinuz bringup.esp=$esp %s\ninitrd /initrd\nboot\n' "$5" \
		>>"$WORK/grub.cfg"
	printf '%s\n' "$5" >"$WORK/kargs"
	rm -f "$1" && truncate -s "$2M" "$1"
	[ "$2" -ge 260 ] || die "a system partition has 260 MiB or more, not $2"
	mkfs.vfat -F 32 -s 8 -R 32 -n ESP --invariant "$1" >/dev/null
	mmd -i "$1" ::/EFI ::/EFI/BOOT ::/EFI/debian
	mcopy -i "$1" "$SIGNED/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
	mcopy -i "$1" "$SIGNED/grub/x86_64-efi-signed/grubx64.efi.signed" \
		::/EFI/BOOT/grubx64.efi
	mcopy -i "$1" "$3" ::/vmlinuz
	mcopy -i "$1" "$4" ::/initrd
	mcopy -i "$1" "$WORK/syslinux.cfg" ::/syslinux.cfg
	mcopy -i "$1" "$WORK/grub.cfg" ::/EFI/debian/grub.cfg
	mcopy -i "$1" "$WORK/kargs" ::/kargs
	for module in chain libcom32 libutil; do
		file=/usr/lib/syslinux/modules/bios/$module.c32
		[ -f $file ] || die "$file is missing; install Debian's package syslinux-common"
		mcopy -i "$1" $file ::/$module.c32
	done
	syslinux -i "$1"
}

# root_fs FILE SIZE DIR: an ext4 file system labelled root, sparse. Large flexible groups,
# because the kernel grows by one of them at a time: 8 TB are minutes with the default.
# The same tree makes the same bytes wherever it lies.
root_fs()
{
	need mkfs.ext4 e2fsprogs
	rm -f "$1" && truncate -s "$2" "$1"
	[ -f "$SORTED" ] || die "$SORTED is missing; build it with bringup"
	E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH LD_PRELOAD=$SORTED mkfs.ext4 -q -b 4096 -L root -d "$3" -m 1 -G 256 \
		-U 7bb6b1f5-7d3c-4b0c-9d1c-0c5e5f5f6a01 \
		-E hash_seed=7bb6b1f5-7d3c-4b0c-9d1c-0c5e5f5f6a02,lazy_itable_init=1 \
		"$1"
}

# image_json ARCH KERNEL KARGS: what recipe.c needs to know about the parts in OUT.
image_json()
{
	boot=/usr/lib/syslinux/mbr/gptmbr.bin
	[ -f $boot ] || die "$boot is missing; install Debian's package syslinux-common"
	cp $boot "$OUT/boot.bin"
	cat >"$OUT/image.json" <<END
{"arch": "$1", "kernel": "$2", "kargs": "$3", "boot_code": "boot.bin",
 "mirror": "1", "roots": "2", "parts": [
 {"name": "esp", "type": "C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "label": "ESP",
  "attrs": 4, "raw": "esp.raw", "grow": false},
 {"name": "root", "type": "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", "label": "root",
  "attrs": 0, "raw": "root.raw", "grow": true}]}
END
}

KARGS="rw console=tty0 console=ttyS0,115200 quiet panic=30"
SIGNED_PACKAGES="shim-signed grub-efi-amd64-signed"
GRUB_PACKAGES="grub-efi-amd64-bin grub-common"
BOOT_PACKAGES="syslinux syslinux-common $SIGNED_PACKAGES mtools dosfstools e2fsprogs"
