# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Two machines with three rails, each rail on a leaf of its own; to be sourced after
# rack.sh, by tests that put something between the leaves.

# Rail K is on NIC K and in 10.(77 + K).0.0/24. The links are slow: six ends of soft-RoCE
# share the processors of the host.
readonly rails=(fabric rail1 rail2) rate=5

# cable N K: one cable as on the first leaf: a piece of its own with a limit at each end.
cable() {
	in_rack sh -eu -c '
		ip link add "t$1-$2" mtu 9216 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
		ip link set "t$1-$2" up
		ip link add "v$1-$2" mtu 9216 type veth peer name "w$1-$2" mtu 9216
		ip link set "x00$1-$2" master "t$1-$2"
		ip link set "v$1-$2" master "t$1-$2" up
		ip link set "w$1-$2" master "br-leaf$2" up
		for end in v w; do
			tc qdisc replace dev "$end$1-$2" root tbf rate "$3mbit" burst 16kb limit 4mb
		done' sh "$1" "$2" "$rate"
}

make_leaves() {
	for n in 1 2; do
		"$lab" link "node00$n" --rate "$rate"
	done
	for k in 2 3; do
		in_rack ip link add "br-leaf$k" mtu 9216 type bridge stp_state 0 forward_delay 0 \
			mcast_snooping 0
		in_rack ip link set "br-leaf$k" up
		cable 1 "$k"
		cable 2 "$k"
	done
}

# three_rails [LINE]: a profile of theirs, with more in each network.
three_rails() {
	local profile
	profile=$(profile_for 2)
	sed -i "s/^nics = 2/nics = 4/; s/^networks = .*/networks = boot, fabric, rail1, rail2/" \
		"$profile"/pools/*.ini
	sed -i '/^fabric = /d; s/^run_size = .*/run_size = 512 KiB/' "$profile/cluster.ini"
	sed -i "s/^link_gbps = .*/link_gbps = 0.00$rate/
		/^role = fabric/a switch_fabric = clos\nrail_gateway = 10.78.0.1\n${1:-}" \
		"$profile/networks.ini"
	for k in 2 3; do
		cat >>"$profile/networks.ini" <<END

[network ${rails[k - 1]}]
role = fabric
cidr = 10.$((77 + k)).0.0/24
addresses = 10.$((77 + k)).0.[11-42]
nic = $k
link_gbps = 0.00$rate
rdma = rxe
switch_fabric = clos
rail_gateway = 10.$((77 + k)).0.1
${1:-}
END
	done
	echo "$profile"
}
