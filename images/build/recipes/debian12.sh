#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian 12 with kernel, rdma-core, Slurm's node daemon and the agent; no key, no host
# name, no machine id. The bootstrap (a minute) is kept as a tar file under its inputs'
# digest; agent, settings and file systems come on top of it in seconds.
. "$RECIPES/lib.sh"

PACKAGES="linux-image-amd64,systemd-sysv,udev,dbus,iproute2,kmod,procps,netbase,rdma-core,\
ibverbs-providers,munge,slurmd,slurm-client,slurm-wlm-basic-plugins,chrony,ethtool,\
e2fsprogs,xfsprogs,openssh-server,sudo"
# Hardware that no server has: more than half of the kernel's modules.
NO_MODULES="sound drivers/media drivers/staging drivers/iio drivers/bluetooth
	drivers/net/wireless drivers/isdn drivers/gpu/drm/amd drivers/gpu/drm/i915
	drivers/gpu/drm/nouveau drivers/gpu/drm/radeon drivers/gpu/drm/gma500
	drivers/input drivers/comedi net/bluetooth net/wireless net/mac80211
	drivers/mtd drivers/mmc drivers/nfc drivers/pcmcia drivers/firewire
	drivers/memstick drivers/atm drivers/video/fbdev drivers/usb/gadget
	drivers/usb/serial drivers/net/usb drivers/platform/surface fs/ocfs2 fs/f2fs
	fs/jfs fs/reiserfs fs/gfs2 fs/ubifs fs/jffs2 net/atm net/ax25"
MASKED="e2scrub_all.timer e2scrub_reap.service apt-daily.timer apt-daily-upgrade.timer
	dpkg-db-backup.timer fstrim.timer getty.target systemd-logind.service
	systemd-pcrphase.service systemd-pcrphase-sysinit.service
	systemd-update-utmp.service systemd-update-utmp-runlevel.service
	systemd-journal-flush.service modprobe@dm_mod.service modprobe@loop.service
	modprobe@configfs.service modprobe@fuse.service modprobe@efi_pstore.service
	modprobe@drm.service sys-kernel-config.mount sys-fs-fuse-connections.mount
	sys-kernel-debug.mount sys-kernel-tracing.mount systemd-pstore.service"

bootstrap_inputs()
{
	sed -n '/^PACKAGES=/,/^MASKED=/p; /^bootstrap()/,/^}/p' "$RECIPES/debian12.sh"
	candidates $(echo "$PACKAGES" | tr , ' ') systemd libc6
}

inputs()
{
	bootstrap_inputs
	cat "$RECIPES/lib.sh" "$RECIPES/debian12.sh" "$RECIPES/boot.init" \
		"$RECIPES/network.sh" "$RECIPES/rxe" "$RECIPES/gpu" "$RECIPES/access" \
		"$RECIPES"/*.service
	candidates $BOOT_PACKAGES busybox-static
}

# keyring ENTRY: the files that a source of apt is signed by, where it names some. An
# entry is FILE:N, the Nth stanza of a .sources file or the Nth line of a list.
keyring()
{
	case $1 in
	*.sources:*)
		sed '/^#/d' "${1%:*}" | awk -v RS= -v n="${1##*:}" 'NR == n' |
			sed -n 's/^[Ss]igned-[Bb]y:[[:blank:]]*\(\/.*\)/\1/p'
		;;
	*) sed -n "${1##*:}s/.*[[ ]signed-by=\\(\\/[^] ]*\\).*/\\1/p" "${1%:*}" ;;
	esac | tr -s ' ' ,
}

# The host's own mirrors with their keyrings, of Debian 12 (by whatever name) and its main
# section only.
sources()
{
	apt-get indextargets --format \
		'$(CODENAME) $(COMPONENT) $(REPO_URI) $(SOURCESENTRY)' \
		'Created-By: Packages' |
		while read -r codename component uri entry; do
			case "$codename $component" in
			'bookworm main' | 'bookworm-updates main' | 'bookworm-security main') ;;
			*) continue ;;
			esac
			keyring=$(keyring "$entry")
			echo "deb ${keyring:+[signed-by=$keyring] }$uri $codename main"
		done
}

# The host's way to its mirrors, where the setting is a plain text: proxies, and which
# dates count.
apt_settings()
{
	apt-config dump | sed -n -E \
		'/^Acquire::((https?|ftp)::Proxy|Check-)[^ ]* "[^"]+";$/s/;$//p'
}

bootstrap()
{
	need mmdebstrap mmdebstrap
	sources >"$WORK/sources.list"
	[ -s "$WORK/sources.list" ] || die "apt has no sources of bookworm; see sources.list(5)"
	set -- --variant=minbase --include="$PACKAGES" \
		--aptopt='Acquire::Languages "none"' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-include=/usr/share/doc/*/copyright'
	apt_settings >"$WORK/apt.settings"
	while IFS= read -r setting; do
		set -- "$@" --aptopt="$setting"
	done <"$WORK/apt.settings"
	for dir in man locale info lintian bug; do
		set -- "$@" --dpkgopt="path-exclude=/usr/share/$dir/*"
	done
	for dir in $NO_MODULES; do
		set -- "$@" --dpkgopt="path-exclude=/lib/modules/*/kernel/$dir/*"
	done
	# The initial ramdisk is ours: the one of initramfs-tools boots slower.
	INITRD=No mmdebstrap -q "$@" bookworm \
		"$WORK/root.tar.zst" "$WORK/sources.list" >&2
}

# Settings of the image, on the unpacked tree $1.
settings()
{
	units=$1/etc/systemd/system
	# The host's way to its mirrors.
	rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap" "$1/etc/apt/sources.list.d"/*
	# Time comes from the site (sources.d), not from the world. What a clock is off after
	# a boot is stepped: correcting half a second smoothly takes the first minute.
	sed -i -e '/^pool /d' -e 's/^makestep .*/makestep 0.1 3/' "$1/etc/chrony/chrony.conf"
	echo '# The mirrors of your site go here.' >"$1/etc/apt/sources.list"
	for unit in $MASKED; do
		ln -sf /dev/null "$units/$unit"
	done
	house "$1"
	rm -rf "$1"/var/log/*.log "$1"/var/log/apt "$1"/var/cache/* "$1"/boot/initrd*
	# Nothing to update at the first boot: hwdb alone takes seconds.
	touch -r "$1/usr" "$1/etc/.updated" "$1/var/.updated"
}

build()
{
	kept=$CACHE/base/debian12-$(bootstrap_inputs | digest).tar.zst
	if [ ! -f "$kept" ]; then
		say "debian12: bootstrapping (a minute or two, kept afterwards)"
		mkdir -p "$CACHE/base"
		bootstrap
		mv "$WORK/root.tar.zst" "$kept"
	fi
	say "debian12: file systems"
	root=$WORK/root
	mkdir -p "$root"
	tar -C "$root" --zstd --xattrs --xattrs-include='*' --numeric-owner -xpf "$kept"
	agent_folder "$root"
	settings "$root"
	kernel=$(ls "$root/lib/modules")
	initrd=$(kept_initrd "$root" "$kernel")
	esp "$OUT/esp.raw" 64 "$root/boot/vmlinuz-$kernel" "$initrd" "$KARGS"
	root_fs "$OUT/root.raw" 1536M "$root"
	image_json amd64 "$kernel" "$KARGS"
}

case $1 in
key) inputs; agent_key ;;
build) build ;;
esac
