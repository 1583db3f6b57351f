# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# OpenStack's sushy-emulator (sushy-tools, from PyPI): a Redfish BMC that somebody else
# wrote, in front of libvirt; to be sourced. What begins with behind_sushy needs rack.sh.
readonly sushy_venv=${BRINGUP_CACHE:-$HOME/.cache/bringup}/sushy-tools
readonly sushy_ovmf=/usr/share/OVMF/OVMF_CODE_4M.fd sushy_vars=/usr/share/OVMF/OVMF_VARS_4M.fd
sushy_pid= sushy_address= sushy_system=

# It is there, or could be had.
sushy_install() {
	[[ -x $sushy_venv/bin/sushy-emulator ]] && return
	rm -rf -- "$sushy_venv"
	mkdir -p "$(dirname -- "$sushy_venv")" &&
		/usr/bin/python3 -m venv "$sushy_venv" &&
		"$sushy_venv/bin/pip" install -q --disable-pip-version-check sushy-tools==2.2.0 \
			libvirt-python >&2
}

sushy_virsh() {
	in_rack virsh -q -c qemu:///system "$@"
}

# sushy_files HOME: its certificate, its user, and its configuration: its own map of
# firmware names files that Debian does not have.
sushy_files() {
	local home=$1
	mkdir -p -- "$home/images"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-subj /CN=sushy -keyout "$home/key.pem" -out "$home/cert.pem" 2>/dev/null
	"$sushy_venv/bin/python" -c 'import bcrypt, sys
print("admin:" + bcrypt.hashpw(sys.stdin.buffer.read(), bcrypt.gensalt(4)).decode())' \
		<"$BRINGUP_RACK/bmc/password" >"$home/users"
	cat >"$home/emulator.conf" <<END
SUSHY_EMULATOR_LISTEN_IP = '$sushy_address'
SUSHY_EMULATOR_LISTEN_PORT = 443
SUSHY_EMULATOR_SSL_CERT = '$home/cert.pem'
SUSHY_EMULATOR_SSL_KEY = '$home/key.pem'
SUSHY_EMULATOR_AUTH_FILE = '$home/users'
SUSHY_EMULATOR_STATE_DIR = '$home'
SUSHY_EMULATOR_LIBVIRT_URI = 'qemu:///system'
SUSHY_EMULATOR_STORAGE_POOL = 'sushy'
SUSHY_EMULATOR_BOOT_LOADER_MAP = {'UEFI': {'x86_64': '$sushy_ovmf'}, 'Legacy': {}}
SUSHY_EMULATOR_SECURE_BOOT_DISABLED_NVRAM = '$sushy_vars'
END
}

# behind_sushy PROFILE NODE ADDRESS: its BMC is sushy-emulator, with TLS and a password;
# it shows all machines of the rack, so that the profile must say which.
behind_sushy() {
	local dir=$1 node=$2 home=$BRINGUP_RACK/sushy out
	sushy_address=$3
	sushy_system=/redfish/v1/Systems/$(sushy_virsh domuuid "$node")
	bmc_secrets "$dir" redfish
	rm -rf -- "$home"
	sushy_files "$home"
	sushy_virsh pool-destroy sushy 2>/dev/null || true
	sushy_virsh pool-create-as sushy dir --target "$home/images" >/dev/null
	in_rack ip address replace "$sushy_address/32" dev lo
	out=$(TMPDIR=$home "$lab" exec --detach --log "$BRINGUP_RACK/log/sushy.log" -- \
		env no_proxy='*' "$sushy_venv/bin/sushy-emulator" --config "$home/emulator.conf")
	sushy_pid=$(awk '$1 == "pid" { print $2 }' <<<"$out")
	wait_for 30 'sushy-emulator to answer' sushy_get "$sushy_system"
	sed -i "s,qemu:///system#$node\b,https://$sushy_address$sushy_system," "$dir/racks.csv"
	printf '\n[node %s]\nbmc_fingerprint = %s\n' "$node" "$(openssl x509 -outform DER \
		-in "$home/cert.pem" | sha256sum | cut -d' ' -f1)" >>"$dir/site.ini"
}

# sushy_get PATH: what it says to somebody else.
sushy_get() {
	in_rack curl -sSfk -u "admin:$(<"$BRINGUP_RACK/bmc/password")" \
		"https://$sushy_address$1"
}

# sushy_shows PATH FILTER: by jq.
sushy_shows() {
	sushy_get "$1" | jq -e "$2" >/dev/null
}

# power_is NODE WORD DOMSTATE: bringup reads the power that libvirt itself says.
power_is() {
	expect "libvirt to say that $1 is $3" test "$(sushy_virsh domstate "$1")" = "$3"
	expect "bringup to read that $1 is $2" test "$(bu node power status "$1")" = "$1: $2"
}

# sushy_proves NODE: its override is the disk by now, no log-in was refused, and its power
# is what libvirt says, on and off.
sushy_proves() {
	local node=$1 log=$BRINGUP_RACK/log/sushy.log
	expect 'the override to be the disk now' \
		sushy_shows "$sushy_system" '.Boot.BootSourceOverrideTarget == "Hdd"'
	expect 'no log-in to have been refused' test "$(grep -c '" 401 ' "$log")" = 0
	power_is "$node" on running
	bu node power off "$node" --force --reason 'the row is at its end' >&2
	power_is "$node" off 'shut off'
}

# sushy_end: nothing of it is left for others who use the rack.
sushy_end() {
	kill "$sushy_pid"
	wait_for 10 'sushy-emulator to end' sushy_is_gone
	sushy_virsh pool-destroy sushy >/dev/null
	in_rack ip address del "$sushy_address/32" dev lo
	rm -rf -- "$BRINGUP_RACK/sushy" "$BRINGUP_RACK"/disks/*.nosecboot.fd
}

sushy_is_gone() {
	! kill -0 "$sushy_pid" 2>/dev/null
}
