#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The one script that a newcomer runs; `./bootstrap.sh help` says what it does.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
readonly build_dir=build/gcc

usage() {
	cat <<'END'
usage: ./bootstrap.sh COMMAND

  demo    build, bring up a virtual rack on this machine, turn its two empty machines
          into a Slurm cluster, and show it; stays up until Ctrl-C on a terminal;
          with --power redfish or --power ipmi each machine is behind a virtual BMC
  check   build with gcc; lints, unit tests and two virtual machines; the last line is
          "N passed, N failed". check all also builds with clang and its sanitizers,
          and runs every suite
  build   build into build/gcc; needs no root once the packages are there
  help    this text

Each command first installs the Debian packages that it misses, and says which and why.
END
}

# group | package | what it is for | pkg-config module that makes it unnecessary
packages() {
	cat <<'END'
build|gcc|C compiler|
build|libc6-dev|C library|
build|make|runs the makefile|
build|autoconf|makes configure|
build|automake|makes the makefile|
build|pkg-config|finds the libraries|
build|libevent-dev|event loop|libevent_core
build|libmicrohttpd-dev|HTTP server|libmicrohttpd
build|libcurl4-gnutls-dev|HTTP client|libcurl
build|libjansson-dev|JSON|jansson
build|libiniparser-dev|profiles|
build|libsqlite3-dev|the journal|sqlite3
build|libgnutls28-dev|TLS, signatures, digests|gnutls
build|nettle-dev|seals backups|hogweed
build|libarchive-dev|reads the archives that images are made of|libarchive
build|libzstd-dev|compressed image parts|libzstd
build|libblkid-dev|names what is left on disks|blkid
build|libibverbs-dev|fabric probes|libibverbs
build|libibmad-dev|counters of InfiniBand switches|libibmad
build|libibumad-dev|its datagrams|libibumad
build|libsmartcols-dev|tables on the terminal|smartcols
build|libsystemd-dev|tells systemd that the daemon is up and alive|libsystemd
build|libvirt-dev|power of virtual machines|libvirt
build|libxml2-dev|reads libvirt's domains|libxml-2.0
build|check|unit tests|check
check|clang-14|second compiler, sanitizers|
check|libclang-rt-14-dev|sanitizers and fuzzers of clang|
check|llvm-14|names in the sanitizers' reports|
check|clang-format-14|source format|
check|jq|JSON in the system tests|
check|bind9-utils|its named-checkzone judges the zones that we print|
check|clustershell|its nodeset judges ours|
check|openssl|signs the second image of a system test|
check|curl|asks the HTTPS boot listener as firmware does|
check|prometheus|scrapes the metrics, and judges rules and alerts|
check|python3-cryptography|opens and makes sealed streams beside ours|
check|git|profile trees from git|
check|valgrind|memory and files of the probe's engine|
check|ibsim-utils|plays the InfiniBand fabric of the cabling test|
check|libumad2sim0|its device|
check|opensm|gives its switches their LIDs|
check|lldpd|plays the switches of the cabling test|
check|network-manager|its nmcli judges the files that NetworkManager gets
check|netplan.io|judges the file that it gets
check|nodejs|runs the test of the page's words; Debian has nothing smaller that can
check|openssh-server|its sshd judges the configuration of the nodes' sshd|
check|sudo|its visudo judges the rules that nodes get|
check|swtpm|the TPM of a virtual machine|
check|swtpm-tools|makes it|
check|gdisk|its sgdisk judges partition tables|
check|cloud-init|reads what the first boot of a whole disk is told|
check|rpm|makes the small RPM root of a test; lists the packages of RPM images|
check|nftables|loses packets in the test of the fabric's faults|
demo|libvirt-daemon|hypervisor of the virtual rack|
demo|libvirt-daemon-driver-qemu|its driver for QEMU|
demo|openipmi|its ipmi_sim is the BMC of --power ipmi and of the IPMI driver's test|
demo|ipmitool|asks it; a site with power = ipmi needs it, too|
demo|libvirt-clients|virsh, to look into the rack|
demo|qemu-system-x86|the virtual machines|
demo|qemu-utils|their disks|
demo|ovmf|UEFI firmware|
demo|ipxe-qemu|network boot of their NICs|
demo|ipxe|boot loaders that real machines fetch|
demo|dnsmasq-base|DHCP and TFTP|
demo|chrony|time for the nodes|
demo|mmdebstrap|builds the image's root file system|
demo|mtools|fills the image's boot partition|
demo|dosfstools|makes the image's boot partition|
demo|xorriso|makes the boot medium|
demo|isolinux|boots it under BIOS|
demo|syslinux|boots the image under BIOS|
demo|syslinux-common|its modules|
demo|libdevmapper1.02.1|for grub-mkimage, which makes the loader of the disk|
demo|e2fsprogs|the image's root file system|
demo|cryptsetup-bin|opens encrypted volumes of nodes; images get it|
demo|systemd|its cryptenroll seals volumes to TPMs; its networkd judges files in tests|
demo|libtss2-esys-3.0.2-0|TPMs, for that; images get it|
demo|libtss2-rc0|their errors in words|
demo|libtss2-tcti-device0|the way to their device|
demo|fdisk|partition tables|
demo|ibverbs-providers|RDMA adapters, for the agent|
demo|binutils|strips the agent for images|
demo|busybox-static|the boot ramdisk|
demo|cpio|packs the boot ramdisk|
demo|zstd|compresses it|
demo|kmod|picks its kernel modules|
demo|slurmctld|the cluster that the nodes join|
demo|slurm-client|sinfo and srun|
demo|slurm-wlm-basic-plugins|Slurm's plugins|
demo|munge|Slurm's authentication|
demo|openssh-client|makes keys, logs in to the nodes|
demo|iproute2|network of the rack|
demo|util-linux|namespaces of the rack|
demo|procps|looks at processes|
END
}

# Services that come with a package; they must not run on the host.
services_of() {
	case $1 in
	munge) echo munge.service ;;
	slurmctld) echo slurmctld.service ;;
	lldpd) echo lldpd.service ;;
	openssh-server) echo ssh.service ;;
	network-manager)
		# The last starts the first at boot.
		echo NetworkManager.service NetworkManager-dispatcher.service \
			NetworkManager-wait-online.service
		;;
	esac
}

say() {
	printf 'bootstrap: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

has_package() {
	local status
	status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) || return 1
	[[ $status == installed ]]
}

# has_module MODULE: false for an empty name or without pkg-config.
has_module() {
	[[ -n $1 ]] && command -v pkg-config >/dev/null && pkg-config --exists "$1"
}

# missing GROUP...: "package|why" for each package that is not there.
missing() {
	local group package why module
	while IFS='|' read -r group package why module; do
		[[ " $* " == *" $group "* ]] || continue
		has_package "$package" || has_module "$module" ||
			printf '%s|%s\n' "$package" "$why"
	done < <(packages)
}

# need GROUP...: installs what is missing, as root.
need() {
	local rows names
	rows=$(missing "$@")
	[[ -n $rows ]] || return 0
	mapfile -t names < <(cut -d'|' -f1 <<<"$rows")
	command -v apt-get >/dev/null ||
		die "this is no Debian; these packages of Debian 12 are needed: ${names[*]}"
	say "these Debian packages are missing:"
	awk -F'|' '{ printf "    %-28s %s\n", $1, $2 }' <<<"$rows" >&2
	say "installing them, as root: apt-get install --no-install-recommends" \
		"(a few minutes; no service of theirs is started)"
	if [[ $(id -u) == 0 ]]; then
		install_as_root "${names[@]}"
	else
		install_by_sudo "${names[@]}"
	fi
	rows=$(missing "$@")
	[[ -z $rows ]] || die "still missing: $(cut -d'|' -f1 <<<"$rows" | xargs)"
}

install_by_sudo() {
	command -v sudo >/dev/null ||
		die "there is no sudo here; run this as root: ./bootstrap.sh install $*"
	say "sudo may ask for your password: sudo ./bootstrap.sh install ..."
	sudo -H -- ./bootstrap.sh install "$@" ||
		die "installing failed; run this as root: ./bootstrap.sh install $*"
}

# Runs as root, once at a time. policy-rc.d keeps the packages' services from starting:
# one without our mark is the administrator's and stays; ours is what a run that was
# killed left, and goes.
install_as_root() (
	local policy=/usr/sbin/policy-rc.d mark="# made by bringup's bootstrap.sh, which removes it"
	local unit units
	export DEBIAN_FRONTEND=noninteractive
	exec 9>/run/bringup-bootstrap.lock
	flock -n 9 || { say "another run is installing; waiting for it"; flock 9; }
	mapfile -t units < <(idle_services "$@")
	if [[ ! -e $policy ]] || grep -qxF -- "$mark" "$policy"; then
		trap 'rm -f -- "$policy"' EXIT
		trap 'exit 130' INT TERM HUP
		printf '#!/bin/sh\n%s\nexit 101\n' "$mark" >"$policy"
		chmod 755 "$policy"
	fi
	# What a package starts after all must not hold the lock.
	apt-get update -qq 9>&- ||
		say "apt-get update failed; going on with the lists of before"
	quietly apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" \
		9>&-
	for unit in "${units[@]}"; do
		systemctl disable -q --now "$unit" 2>/dev/null ||
			say "could not disable $unit; systemctl disable --now does it"
	done
)

# idle_services PACKAGE...: the packages' services that neither run nor start at boot so
# far, and shall not because of us.
idle_services() {
	local package unit
	command -v systemctl >/dev/null || return 0
	for package in "$@"; do
		for unit in $(services_of "$package"); do
			systemctl is-active -q "$unit" || systemctl is-enabled -q "$unit" ||
				printf '%s\n' "$unit"
		done 2>/dev/null
	done
}

# build_in DIR TARGET... -- CONFIGURE-ARGUMENT...
build_in() {
	local dir=$1 targets=() log
	shift
	while [[ $1 != -- ]]; do
		targets+=("$1")
		shift
	done
	shift
	check_owner "$dir"
	[[ -x configure ]] || quietly autoreconf -i
	mkdir -p "$dir"
	if [[ ! -e $dir/Makefile ]]; then
		say "configuring $dir"
		(cd -- "$dir" && quietly ../../configure -q "$@")
	fi
	drop_unfollowed "$dir"
	say "building $dir"
	make -s -j "$(nproc)" -C "$dir" ARFLAGS=cr "${targets[@]}" || die "the build in $dir failed"
}

# drop_unfollowed DIR: objects of which make does not know the headers (a copy of a tree
# loses its .deps) go: they would stay what they are when a header changes.
drop_unfollowed() {
	local object name first gone=0
	while IFS= read -r object; do
		name=${object##*/} first=''
		# configure writes "# dummy" there until the object is compiled.
		read -r first <"${object%/*}/.deps/${name%.o}.Po" 2>/dev/null || true
		[[ -z $first || $first == '# dummy' ]] || continue
		rm -f -- "$object"
		gone=$((gone + 1))
	done < <(find "$1" -name '*.o')
	((gone == 0)) || say "compiling $gone files of $1 again: their headers were not known"
}

# check_owner DIR: says what to do when an earlier run, by root say, left what this user
# cannot write.
check_owner() {
	local path='' each
	for each in . autom4te.cache build-aux build; do
		[[ ! -e $each || -w $each ]] || path=$each
	done
	[[ -n $path || ! -d $1 ]] ||
		path=$(find "$1" \( -type d -o -name '*.o' \) ! -writable -print -quit)
	[[ -z $path ]] ||
		die "$path belongs to $(stat -c %U -- "$path") and is not writable for $(id -un);" \
			"give it back (sudo chown -R $(id -un) .) or remove what was built (sudo rm -r build)"
}

# Shows a command's output only when it fails.
quietly() {
	local output
	output=$("$@" 2>&1) || {
		printf '%s\n' "$output" >&2
		die "this failed: $*"
	}
}

build_gcc() {
	build_in "$build_dir" "$@" -- --enable-werror CFLAGS='-O2 -g'
}

build_clang() {
	build_in build/clang "$@" -- --enable-werror --enable-sanitizers --enable-fuzzers \
		CC=clang-14 CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'
}

# Namespaces, bridges and virtual machines belong to root: replaces this process.
as_root() {
	local name settings=()
	[[ $(id -u) != 0 ]] || exec "$@"
	command -v sudo >/dev/null || die "the virtual rack needs root, and there is no sudo"
	for name in BRINGUP_CACHE BRINGUP_RACK BRINGUP_BUILT_S; do
		[[ -z ${!name:-} ]] || settings+=("$name=${!name}")
	done
	say "the virtual rack needs root for its namespaces: sudo $*"
	# -H: root's home, so that nothing of root's lands in this user's.
	exec sudo -H -- env "${settings[@]}" "$@"
}

# check_all [all]
check_all() {
	local suites=(short)
	case "$*" in
	'') ;;
	all) suites=() ;;
	*) usage >&2; die "unknown word after check: $*" ;;
	esac
	need build check demo
	build_gcc all units
	export BRINGUP_BUILT_S=$SECONDS
	[[ ${#suites[@]} != 0 ]] || build_clang all units fuzzers
	as_root tests/run build/gcc build/clang "${suites[@]}"
}

main() {
	[[ $# -gt 0 ]] || { usage >&2; exit 1; }
	local command=$1
	shift
	case $command in
	build)
		need build
		build_gcc all
		;;
	check)
		check_all "$@"
		;;
	demo)
		need build demo
		build_gcc all
		as_root tests/support/demo "$@"
		;;
	install) install_as_root "$@" ;;
	help | -h | --help) usage ;;
	*) usage >&2; die "unknown command: $command" ;;
	esac
}

main "$@"
