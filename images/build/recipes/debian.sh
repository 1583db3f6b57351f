#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian, by a recipe (recipe_ini.h gives its keys as variables); no key,
# no host name, no machine id. The bootstrap (a minute) is kept as a tar file under its
# inputs' digest; files, hooks, settings and file systems come on top of it in
# seconds.
. "$RECIPES/lib.sh"
. "$RECIPES/apt.sh"

ROOT_MIB=${ROOT_MIB:-1536}
ESP_MIB=${ESP_MIB:-260}
KARGS="$KARGS${RECIPE_KARGS:+ $RECIPE_KARGS}"

bootstrap_inputs()
{
	echo "$SUITE" "$PACKAGES" "$NO_MODULES" "$SOURCES" "$DKMS" "$LEFT_OUT"
	sed -n '/^bootstrap()/,/^}/p' "$RECIPES/debian.sh"
	[ -z "$DKMS" ] || cat "$RECIPES/dkms" $DKMS_HOOKS
	versions $PACKAGES $DKMS
}

inputs()
{
	bootstrap_inputs
	echo "$MASKED" "$ROOT_MIB" "$ESP_MIB" "$KARGS" "$FILES" "$HOOKS"
	for file in $(echo "$FILES" | cut -d ' ' -f 1) $HOOKS; do
		cat "$file"
	done
	cat "$RECIPES/lib.sh" "$RECIPES/debian.sh" "$RECIPES/apt.sh" \
		"$RECIPES/boot.init" \
		"$RECIPES/network.sh" "$RECIPES/rxe" "$RECIPES/gpu" "$RECIPES/access" \
		"$RECIPES"/*.service
	disk_inputs
	candidates $BOOT_PACKAGES busybox-static
}

bootstrap()
{
	need mmdebstrap mmdebstrap
	sources >"$WORK/sources.list"
	set -- --variant=minbase --include="$(echo $PACKAGES $DKMS | tr ' ' ,)" \
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
		set -- "$@" --dpkgopt="path-exclude=/lib/modules/*/kernel/$dir/*" \
			--dpkgopt="path-exclude=/usr/lib/modules/*/kernel/$dir/*"
	done
	for path in $LEFT_OUT; do
		set -- "$@" --dpkgopt="path-exclude=$path"
	done
	# Modules are built at the end, once.
	[ -z "$DKMS" ] || set -- "$@" \
		--essential-hook='mkdir -p "$1/etc/dkms" && : >"$1/etc/dkms/no-autoinstall"' \
		--customize-hook="DKMS_HOOKS='$(echo $DKMS_HOOKS)' sh '$RECIPES/dkms' \"\$1\" $(echo $DKMS)"
	# The initial ramdisk is ours: the one of initramfs-tools boots slower.
	{ INITRD=No mmdebstrap -v "$@" "$SUITE" \
		"$WORK/root.tar.zst" "$WORK/sources.list" ||
		: >"$WORK/bootstrap.failed"; } 2>&1 | tee "$WORK/bootstrap.log" | steps >&2
	[ ! -e "$WORK/bootstrap.failed" ] || why_not "$WORK/bootstrap.log"
}

# steps: of what mmdebstrap, apt and dpkg say, what a person wants to see meanwhile.
steps()
{
	sed -u -n -e '/^image: /p' -e "s/^I: \(.*\)\.\.\.\$/image: $NAME: \1/p"
}

# why_not LOG: what a bootstrap failed for, and what helps.
why_not()
{
	tail -n 40 "$1" >&2
	gone=$(sed -n 's/^E: Failed to fetch \([^ ]*\).* 404 .*/\1/p' "$1" | head -n 1)
	[ -z "$gone" ] || die "$NAME: its mirror lists $gone and does not have it (404):" \
		"try again when the mirror is whole, or name another one (docs/images.md)"
	! grep -q 'No space left on device' "$1" ||
		die "$NAME: no space left for the bootstrap in ${TMPDIR:-/tmp} or $CACHE"
	die "$NAME: the bootstrap failed, for the reason above"
}

# forget_font_caches ROOT: random names of caches that are gone; fontconfig makes its own.
forget_font_caches()
{
	find -P "$1/usr/share/fonts" "$1/usr/local/share/fonts" -name .uuid -type f -delete \
		2>/dev/null || :
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
		# What needs a masked unit would not start.
		rm -f "$units"/*.requires/"$unit"
	done
	house "$1"
	rm -rf "$1"/var/log/*.log "$1"/var/log/apt "$1"/var/cache/* "$1"/boot/initrd*
	forget_font_caches "$1"
	# Nothing to update at the first boot: hwdb alone takes seconds.
	touch -r "$1/usr" "$1/etc/.updated" "$1/var/.updated"
}

# additions ROOT: the recipe's files, then its hooks.
additions()
{
	[ -z "$FILES" ] || echo "$FILES" | while read -r source mode path; do
		install -D -m "$mode" "$source" "$1$path"
	done
	for hook in $HOOKS; do
		sh "$hook" "$1" >&2 || die "hook $hook ended with exit status $?"
	done
}

# crash_kernel ROOT VERSION INITRD: what kdump-tools, where the system has it, starts after
# a crash. Our initial ramdisk finds the root file system again; Debian's would be told
# where by an argument that our kernels do not get.
crash_kernel()
{
	[ -x "$1/usr/sbin/kdump-config" ] || return 0
	# Microcode, which comes first, is loaded by then, and memory is short.
	microcode "$1" "$WORK/microcode.img"
	folder=$1/var/lib/kdump
	rm -rf "$folder" && mkdir -p "$folder"
	tail -c +$(($(stat -c %s "$WORK/microcode.img") + 1)) "$3" >"$folder/initrd.img-$2"
	ln -s "/var/lib/kdump/initrd.img-$2" "$folder/initrd.img"
	ln -s "/boot/vmlinuz-$2" "$folder/vmlinuz"
	# Without this note of its settings kdump-config makes another one at the first start.
	[ ! -f "$1/etc/kdump/sysctl.conf" ] ||
		cp "$1/etc/kdump/sysctl.conf" "$folder/latest_sysctls-$2"
}

build()
{
	[ -n "$SUITE" ] && [ -n "$PACKAGES" ] || die "$NAME: suite and packages are needed"
	[ -n "$DKMS" ] || [ -z "$DKMS_HOOKS" ] ||
		die "$NAME: [dkms_hooks] runs before the modules of dkms are built, and the" \
			"recipe has no dkms; name its packages, or take the section out"
	kept=$CACHE/base/debian-$(bootstrap_inputs | digest).tar.zst
	if [ ! -s "$kept" ]; then
		say "$NAME: bootstrapping (a minute or two, kept afterwards)"
		mkdir -p "$CACHE/base"
		bootstrap
		keep "$WORK/root.tar.zst" "$kept"
	fi
	say "$NAME: file systems"
	root=$WORK/root
	mkdir -p "$root"
	tar -C "$root" --zstd --xattrs --xattrs-include='*' --numeric-owner -xpf "$kept"
	additions "$root"
	disk_programs "$root"
	settings "$root"
	kernel=$(ls "$root/lib/modules")
	initrd=$(kept_initrd "$root" "$kernel")
	crash_kernel "$root" "$kernel" "$initrd"
	esp "$OUT/esp.raw" "$ESP_MIB" "$root/boot/vmlinuz-$kernel" "$initrd" "$KARGS"
	root_fs "$OUT/root.raw" "${ROOT_MIB}M" "$root"
	image_json amd64 "$kernel" "$KARGS"
}

case $1 in
key) inputs ;;
build) build ;;
esac
