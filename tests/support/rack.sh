# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A virtual rack for the demo, system tests and benches; to be sourced. After rack_use
# BRINGUP_RACK names a rack that is as new; in_rack runs commands inside it, bu
# talks to its bringupd; the script itself stays outside.
set -euo pipefail
rack_source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
export BRINGUP_BUILD=${BRINGUP_BUILD:-$rack_source/build/gcc}
readonly rack_source lab=$BRINGUP_BUILD/bringup-lab
daemon_pid=
rack_options=() # more options of `bringup-lab up`, for a rack of one's own

say() {
	printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
}

die() {
	say "$@"
	exit 1
}

# rack_use NODES ARGUMENT...: builds what its machines boot (kept, so quick the second
# time) and takes the rack that BRINGUP_RACK names, reset; without one this script runs
# again inside a rack of its own, of which nothing may be left afterwards.
rack_use() {
	local nodes=$1 own
	shift
	[[ -x $lab ]] || die "there is no $lab; run ./bootstrap.sh build first"
	[[ -n ${RACK_IS_NEW:-} ]] ||
		"$BRINGUP_BUILD/bringup" image build ramdisk "${rack_image:-debian12}" >&2
	if [[ -z ${BRINGUP_RACK:-} ]]; then
		own=$(mktemp -u /var/tmp/bringup-rack.XXXXXX)
		run_in_own_rack "$own" "$nodes" "$@"
	fi
	rm -f -- "$BRINGUP_RACK/ready"
	[[ -n ${RACK_IS_NEW:-} ]] || "$lab" reset >/dev/null
	unset RACK_IS_NEW
	rack_traps
}

rack_traps() {
	trap rack_leave EXIT
	trap 'exit 130' INT TERM HUP
}

# rack_ready NODES ARGUMENT...: rack_use, and so many ready nodes of the demo's pool, their
# profile in BRINGUP_RACK/profile: those that the test before has left (leave_ready) on a
# rack that tests share, else new ones.
rack_ready() {
	if [[ -n ${BRINGUP_RACK:-} && $(cat -- "$BRINGUP_RACK/ready" 2>/dev/null) == "$1" ]]; then
		rm -f -- "$BRINGUP_RACK/ready"
		rack_traps
		daemon_start
	else
		rack_use "$@"
		daemon_start
		bu apply "$(profile_for "$1")" --yes
	fi
	for ((node = 1; node <= $1; node++)); do
		wait_for 900 "node00$node to be ready" node_is "node00$node" ready
	done
}

# leave_ready NODES: the last word of a test that ends with them.
leave_ready() {
	echo "$1" >"$BRINGUP_RACK/ready"
}

# The rack has NICs and cables for bonds: --nics 4 --cable '1:2*2'.
rack_has_cables() {
	jq -e '.nics == 4 and .cables == [[1, 2], [1, 2]]' "$BRINGUP_RACK/rack.json" >/dev/null
}

# Ends this script with the status of the one in the rack.
run_in_own_rack() {
	local own=$1 nodes=$2 status=0
	shift 2
	trap : INT TERM HUP # the one in the rack ends by it, and we look what it left
	RACK_IS_NEW=1 "$lab" run --dir "$own" --nodes "$nodes" --uefi 2 \
		--memory "${rack_memory:-512}" "${rack_options[@]}" -- \
		"$(realpath -- "$0")" "$@" || status=$?
	"$rack_source/tests/support/nothing-left" "$own" >&2 || status=1
	exit "$status"
}

# Where the nodes were when the test failed: the last lines of what it prints.
rack_tell() {
	{
		bu events --limit 1000 | grep -vw order | tail -n 25
		bu status
	} 2>&1 | cut -c -160 >&2 || true
}

# What failed is kept: the rack and its logs may go with this script.
# rack_leave [STATUS]: of the test, when something else came before it.
rack_leave() {
	local status=${1:-$?} kept
	# shellcheck disable=SC2046 # one word each
	kill $(jobs -p) 2>/dev/null || true # what it left in the background
	[[ $status == 0 || $status == 77 || $status == 130 || -z $daemon_pid ]] || rack_tell
	(daemon_stop TERM) || [[ $status != 0 ]] || status=1
	[[ $status != 0 && $status != 77 && $status != 130 ]] || exit "$status"
	kept=$rack_source/build/logs/$(basename -- "$0")
	rm -rf -- "$kept"
	mkdir -p -- "$kept"
	cp -r -- "$BRINGUP_RACK/log" "$BRINGUP_RACK/console" "$kept" 2>/dev/null || true
	say "failed; logs and consoles are in $kept"
	exit "$status"
}

in_rack() {
	"$lab" exec -- "$@"
}

# The command line finds the rack's socket by BRINGUP_RACK.
bu() {
	"$BRINGUP_BUILD/bringup" "$@"
}

# daemon_start [ADDRESS]: starts bringupd in the rack, its page on ADDRESS of the host
# (default: a free port of 127.0.0.1); sets daemon_pid and page.
daemon_start() {
	local out
	out=$("$lab" exec --listen "${1:-127.0.0.1:0}" --detach \
		--log "$BRINGUP_RACK/log/bringupd.log" -- "$BRINGUP_BUILD/bringupd")
	daemon_pid=$(awk '$1 == "pid" { print $2 }' <<<"$out")
	daemon_inner=$(awk '$1 == "NSpid:" { print $NF }' "/proc/$daemon_pid/status")
	page=http://$(awk '$1 == "listen" { print $2 }' <<<"$out")/
	wait_for 60 'bringupd to answer' bu status --json
}

# daemon_stop SIGNAL: ends it, waits until it is gone and looks how it ended.
daemon_stop() {
	local wanted=0 ended
	[[ -n $daemon_pid ]] || return 0
	[[ $1 != KILL ]] || wanted=137
	kill -s "$1" "$daemon_pid" 2>/dev/null || true
	wait_for 60 "bringupd (pid $daemon_pid) to end" daemon_is_gone
	daemon_pid=
	wait_for 5 "the exit status of bringupd in $BRINGUP_RACK/log/ended" daemon_status
	ended=$(daemon_status)
	[[ $ended == "$wanted" ]] || die "bringupd ended with status $ended on SIG$1," \
		"not with $wanted; its log is $BRINGUP_RACK/log/bringupd.log"
}

# What the keeper wrote of it, under the process id that it has inside the rack.
daemon_status() {
	awk -v pid="$daemon_inner" '$1 == pid { status = $2 }
		END { if (status == "") exit 1; print status }' "$BRINGUP_RACK/log/ended"
}

daemon_is_gone() {
	! kill -0 "$daemon_pid" 2>/dev/null
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1)) what=$2 out
	shift 2
	until out=$("$@" 2>&1); do
		((SECONDS < end)) || die "timed out waiting for $what: $out"
		sleep 0.5
	done
}

# profile_for NODES: a copy of profiles/demo for so many nodes; prints its path. It lies
# in the rack's directory and goes with it. Two nodes with cables between them have bonds.
profile_for() {
	local dir=$BRINGUP_RACK/profile
	rm -rf -- "$dir"
	cp -r -- "$rack_source/profiles/demo" "$dir"
	sed -i "s/^nodes = node\[001-002\]/nodes = node[001-00$1]/" "$dir"/pools/*.ini
	head -n $(($1 + 1)) "$BRINGUP_RACK/racks.csv" >"$dir/racks.csv"
	[[ $1 != 2 ]] || ! rack_has_cables || add_bonds "$dir"
	echo "$dir"
}

# add_bonds PROFILE: a VLAN with jumbo frames over one bond, the other machine at the end
# of another.
add_bonds() {
	cat >>"$1/networks.ini" <<'END'

[network storage]
role = storage
cidr = 10.79.0.0/24
addresses = 10.79.0.[11-42]
bond = active-backup
bond_nics = 2, 3
bond_miimon = 50 ms
vlan = 100
mtu = 9000

[network lake]
role = storage
cidr = 10.80.0.0/24
addresses = 10.80.0.[11-42]
bond = 802.3ad
bond_nics = 4, 5
bond_hash = layer2+3
mtu = 8000
routes = 10.90.0.0/16 via 10.80.0.99
END
	sed -i 's/^networks = .*/networks = boot, fabric, storage, lake/; s/^nics = 2/nics = 6/' \
		"$1"/pools/*.ini
}

# add_access PROFILE: keys of the rack's own, and a drop-in with an administrator of that
# key and a CA of host keys; `ssh -F` reads $BRINGUP_RACK/ssh/config.
add_access() {
	local keys=$BRINGUP_RACK/ssh each
	mkdir -p -m 700 -- "$keys"
	mkdir -p -- "$1/conf.d"
	for each in admin host_ca; do
		[[ -e $keys/$each ]] || ssh-keygen -q -t ed25519 -N '' -C "$each" -f "$keys/$each"
	done
	cat >"$1/conf.d/50-access.ini" <<END
[access]
host_ca = $(<"$keys/host_ca.pub")
host_ca_key = file:$keys/host_ca

[user admin]
uid = 2000
keys = $(<"$keys/admin.pub")
sudo = all
END
	printf '@cert-authority * %s\n' "$(<"$keys/host_ca.pub")" >"$keys/known_hosts"
	cat >"$keys/config" <<END
User admin
IdentityFile $keys/admin
IdentitiesOnly yes
UserKnownHostsFile $keys/known_hosts
StrictHostKeyChecking yes
ConnectTimeout 10
END
}

# bmc_secrets PROFILE DRIVER: the password of the virtual BMCs (16 characters: IPMI takes
# 20 at most), and where the profile finds it.
bmc_secrets() {
	mkdir -p -m 700 "$BRINGUP_RACK/bmc"
	od -An -N8 -tx1 /dev/urandom | tr -d ' \n' >"$BRINGUP_RACK/bmc/password"
	printf 'admin:%s\n' "$(<"$BRINGUP_RACK/bmc/password")" >"$BRINGUP_RACK/bmc/credentials"
	chmod 600 "$BRINGUP_RACK"/bmc/*
	sed -i "s,^power = .*,power = $2\nbmc_credentials = file:$BRINGUP_RACK/bmc/credentials," \
		"$1"/pools/*.ini
}

nodes_of() {
	tail -n +2 "$1/racks.csv" | cut -d, -f1
}

# behind_redfish PROFILE: the machines of this profile get a virtual BMC each, of another
# vendor; the profile names it, its certificate and where its password is.
behind_redfish() {
	local dir=$1 trees=(dell hpe lenovo supermicro) node number=0
	bmc_secrets "$dir" redfish
	for node in $(nodes_of "$dir"); do
		bmc_of "$dir" "$node" "${trees[number++ % 4]}" "10.76.0.$number"
	done
}

# bmc_of PROFILE NODE TREE ADDRESS [OPTION...]: one of them; images of its virtual drive
# lie in the rack.
bmc_of() {
	local dir=$1 node=$2 tree=$3 address=$4 log=$BRINGUP_RACK/log/bmc-$2.log
	local url fingerprint
	shift 4
	in_rack ip address add "$address/32" dev lo
	TMPDIR=$BRINGUP_RACK "$lab" exec --detach --log "$log" -- "$lab" bmc \
		--listen "$address:443" --tree "$tree" --machine "qemu:///system#$node" \
		--user admin --password-file "$BRINGUP_RACK/bmc/password" "$@" >/dev/null
	wait_for 30 "the virtual BMC of $node" grep -q fingerprint "$log"
	read -r url _ _ _ _ _ fingerprint <<<"$(grep fingerprint "$log")"
	sed -i "s,qemu:///system#$node\b,$url," "$dir/racks.csv"
	printf '\n[node %s]\nbmc_fingerprint = %s\n' "$node" "$fingerprint" >>"$dir/site.ini"
}

# ipmi ADDRESS WORD...: ipmitool, which is nothing of ours, asks that virtual BMC.
ipmi() {
	local address=$1
	shift
	in_rack env IPMI_PASSWORD="$(<"$BRINGUP_RACK/bmc/password")" \
		ipmitool -I lanplus -C 3 -N 2 -R 2 -H "$address" -U admin -E "$@"
}

# behind_ipmi PROFILE: the same with IPMI.
behind_ipmi() {
	local dir=$1 node number=0 address
	bmc_secrets "$dir" ipmi
	for node in $(nodes_of "$dir"); do
		address=10.76.0.$((++number))
		in_rack ip address add "$address/32" dev lo
		"$lab" exec --detach --log "$BRINGUP_RACK/log/bmc-$node.log" -- "$lab" ipmi \
			--listen "$address:623" --state "$BRINGUP_RACK/bmc/$node" \
			--machine "qemu:///system#$node" \
			--password-file "$BRINGUP_RACK/bmc/password" >/dev/null
		wait_for 30 "the virtual BMC of $node" ipmi "$address" chassis power status
		sed -i "s,qemu:///system#$node\b,$address," "$dir/racks.csv"
	done
}

# steps_of ARGUMENT...: "node001 wipe", a line each, of the plan.
steps_of() {
	bu plan "$@" --json | jq -r '(.plan // .).steps[] | "\(.node) \(.class)"'
}

# second_image: the demo's image under another name and therefore another digest, signed
# with the same key; prints the folder of images that it lies in.
second_image() {
	local cache images=$BRINGUP_RACK/second
	cache=$("$BRINGUP_BUILD/bringup" image cache)
	rm -rf -- "$images"
	mkdir -p -- "$images/debian12b"
	cp -l -- "$cache"/images/debian12/*.frames "$images/debian12b/" 2>/dev/null ||
		cp -- "$cache"/images/debian12/*.frames "$images/debian12b/"
	sed 's/"name":"debian12"/"name":"debian12b"/' "$cache/images/debian12/manifest.json" \
		>"$images/debian12b/manifest.json"
	openssl pkeyutl -sign -rawin -inkey "$cache/keys/image.key" \
		-in "$images/debian12b/manifest.json" | od -An -v -tx1 | tr -d ' \n' \
		>"$images/debian12b/manifest.sig"
	echo "$images"
}

# node_get NODE FILTER: from what `bringup node show` says, by jq.
node_get() {
	bu node show "$1" --json | jq -r "$2"
}

# node_reason NODE: the sentence why it is in its state.
node_reason() {
	bu node why "$1" | sed -n 's/^reason: //p'
}

node_is() {
	[[ $(node_get "$1" .state) == "$2" ]]
}

# expect WHAT COMMAND...
expect() {
	local what=$1 out
	shift
	out=$("$@" 2>&1) || die "expected: $what; $* said: ${out:-nothing}"
}

# why_says NODE TEXT
why_says() {
	bu node why "$1" | grep -qF -- "$2" || {
		bu node why "$1"
		return 1
	}
}

# slurm_has COUNT: so many idle nodes, and a job runs on all of them.
slurm_has() {
	[[ $(in_rack sinfo -h -N -t idle -o %N | sort -u | wc -l) == "$1" ]] &&
		[[ $(in_rack timeout 120 srun --chdir=/ --immediate=60 -N "$1" hostname | sort -u |
			wc -l) == "$1" ]]
}

# slurm_knows_not NODE: slurmctld answers, and has no such node.
slurm_knows_not() {
	local out
	out=$(in_rack sinfo -h -N -n "$1" -o %N) && [[ -z $out ]]
}

# count_events NODE KIND TEXT: how often that is in the log.
count_events() {
	bu events --json --limit 1000 |
		jq --arg node "$1" --arg kind "$2" --arg text "$3" \
			'[.[] | select(.node == $node and .kind == $kind and
				(.text | contains($text)))] | length'
}
