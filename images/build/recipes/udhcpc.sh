#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What udhcpc calls: address, routes, resolver.
case $1 in
deconfig)
	ip addr flush dev "$interface"
	ip link set "$interface" up
	;;
bound | renew)
	ip addr replace "$ip/${mask:-24}" dev "$interface"
	[ -z "$router" ] || ip route replace default via "${router%% *}" dev "$interface"
	for server in $dns; do
		echo "nameserver $server"
	done >/etc/resolv.conf
	[ -z "$hostname" ] || hostname "$hostname"
	;;
esac
