# SPDX-License-Identifier: Apache-2.0
# Hardware and network of busybox systems: sourced by their init.

# Twice, because what is behind a bus shows up when the bus has a driver.
hardware()
{
	for pass in 1 2; do
		find /sys/devices -name modalias -exec cat {} + | sort -u |
			xargs modprobe -qa 2>/dev/null
	done
}

# The NIC whose MAC the boot loader named in BOOTIF=, else every NIC there is.
boot_nics()
{
	mac=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^BOOTIF=//p' | tr 'A-F' 'a-f')
	for dev in /sys/class/net/*; do
		[ -e "$dev/device" ] || continue
		[ -z "$mac" ] || [ "$(cat "$dev/address")" = "$mac" ] || continue
		echo "${dev##*/}"
	done
}

# Returns when one NIC has an address.
network()
{
	while ! ip -4 addr show scope global | grep -q inet; do
		for nic in $(boot_nics); do
			ip link set "$nic" up
			udhcpc -q -n -f -S -t 4 -T 1 -A 1 -i "$nic" \
				-s /etc/bringup/udhcpc.sh >/dev/null 2>&1 && break
			echo "bringup: no DHCP answer on $nic"
		done
		[ -n "$nic" ] || { echo "bringup: no NIC"; sleep 3; hardware; }
	done
	ip -4 -o addr show scope global | awk '{ print "bringup: " $2, $4 }'
}
