/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a rack, for prepare.c, domains.c and net.c. Nothing is read and nothing
 * escaped here: rack.c allows only harmless characters in the directory's name.
 */
#include "lab/render.h"

#include <stdio.h>
#include <string.h>

/* Of the first cable; each takes two. In the rack's own network namespace. */
enum { CABLE_PORT = 20000 };
/* Bytes; more than any profile may ask for, so that the rack never cuts a frame. */
#define MTU "9216"

static char *
append(char *text, char *more)
{
	char *both = bu_xasprintf("%s%s", text, more);

	free(text);
	free(more);
	return both;
}

static char *
render_os(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	const char *boot = "    <boot dev='network'/>\n"
			   "    <boot dev='hd'/>\n"
			   "    <smbios mode='sysinfo'/>\n"
			   "  </os>\n";

	if (!node->uefi)
		/* useserial: SeaBIOS and iPXE print on the serial line. */
		return bu_xasprintf(
			"  <os>\n"
			"    <type arch='x86_64' machine='pc'>hvm</type>\n"
			"    <bios useserial='yes' rebootTimeout='10000'/>\n"
			"%s",
			boot);
	/* OVMF's own PXE attempts cost a minute each without an answer. */
	return bu_xasprintf(
		"  <sysinfo type='fwcfg'>\n"
		"    <entry name='opt/org.tianocore/IPv4PXESupport'>n</entry>\n"
		"    <entry name='opt/org.tianocore/IPv6PXESupport'>n</entry>\n"
		"  </sysinfo>\n"
		"  <os>\n"
		"    <type arch='x86_64' machine='q35'>hvm</type>\n"
		"    <loader readonly='yes' type='pflash'>" BU_OVMF_CODE "</loader>\n"
		"    <nvram>%s/disks/%s.vars.fd</nvram>\n"
		"%s",
		rack->dir, node->name, boot);
}

static char *
render_nic(const char *type, const char *model, const char *source, const char *mac)
{
	return bu_xasprintf("    <interface type='%s'>\n"
			    "      <mac address='%s'/>\n"
			    "%s"
			    "      <model type='%s'/>\n"
			    "      <rom enabled='no'/>\n"
			    "    </interface>\n",
			    type, mac, source, model);
}

/* A cable is a pair of datagram sockets: nothing on the way looks into a frame. */
static char *
render_cable(size_t cable, int end)
{
	int port = CABLE_PORT + 2 * (int)cable;

	return bu_xasprintf("      <source address='127.0.0.1' port='%d'>\n"
			    "        <local address='127.0.0.1' port='%d'/>\n"
			    "      </source>\n",
			    port + !end, port + end);
}

/* What a node has besides its boot and its fabric NIC. */
static char *
render_more_nics(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	char *text = bu_xstrdup("");
	char mac[18];
	int k = BU_RACK_NICS_MIN;

	for (; k < rack->nics; k++) {
		bu_autofree char *target =
			bu_xasprintf("      <target dev='x%03d-%d' managed='no'/>\n",
				     node->number, k);

		bu_rack_nic_mac(node, k, mac);
		text = append(text, render_nic("ethernet", "virtio", target, mac));
	}
	for (size_t i = 0; i < rack->cable_count; i++)
		for (int end = 0; end < 2; end++) {
			bu_autofree char *source = render_cable(i, end);

			if (rack->cables[i].ends[end] != node->number)
				continue;
			bu_rack_nic_mac(node, k++, mac);
			/* A virtio card tells no duplex, and LACP takes no half. */
			text = append(text, render_nic("udp", "e1000e", source, mac));
		}
	return text;
}

static char *
render_devices(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	bu_autofree char *more = render_more_nics(rack, node);

	return bu_xasprintf("  <devices>\n"
			    "    <disk type='file' device='disk'>\n"
			    "      <driver name='qemu' type='qcow2' cache='unsafe' "
			    "discard='unmap'/>\n"
			    "      <source file='%s/disks/%s.qcow2'/>\n"
			    "      <target dev='vda' bus='virtio'/>\n"
			    "      <serial>%s</serial>\n"
			    "    </disk>\n"
			    "    <interface type='ethernet'>\n"
			    "      <mac address='%s'/>\n"
			    "      <target dev='%s' managed='no'/>\n"
			    "      <model type='virtio'/>\n"
			    "    </interface>\n"
			    "    <interface type='ethernet'>\n"
			    "      <mac address='%s'/>\n"
			    "      <target dev='%s' managed='no'/>\n"
			    "      <model type='virtio'/>\n"
			    "      <rom enabled='no'/>\n"
			    "    </interface>\n"
			    "%s"
			    "    <serial type='file'>\n"
			    "      <source path='%s/console/%s.log' append='on'/>\n"
			    "      <target port='0'/>\n"
			    "    </serial>\n"
			    "    <controller type='usb' model='none'/>\n"
			    "    <memballoon model='none'/>\n"
			    "  </devices>\n",
			    rack->dir, node->name, node->serial, node->boot_mac,
			    node->boot_tap, node->fabric_mac, node->fabric_tap, more,
			    rack->dir, node->name);
}

char *
bu_render_domain(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	/* Under emulation: without rdrand mkfs waits for entropy, and cpu max is slower
	 * than qemu64. */
	const char *cpu = rack->kvm ? "  <cpu mode='host-passthrough'/>\n"
				    : "  <cpu mode='custom' match='exact'>\n"
				      "    <model fallback='allow'>qemu64</model>\n"
				      "    <feature policy='require' name='rdrand'/>\n"
				      "  </cpu>\n";
	char *text = bu_xasprintf("<domain type='%s'>\n"
				  "  <name>%s</name>\n"
				  "  <uuid>%s</uuid>\n"
				  "  <memory unit='MiB'>%d</memory>\n"
				  "  <vcpu>1</vcpu>\n"
				  "  <sysinfo type='smbios'>\n"
				  "    <system>\n"
				  "      <entry name='manufacturer'>bringup</entry>\n"
				  "      <entry name='product'>virtual rack</entry>\n"
				  "      <entry name='serial'>%s</entry>\n"
				  "    </system>\n"
				  "  </sysinfo>\n",
				  rack->kvm ? "kvm" : "qemu", node->name, node->uuid,
				  rack->memory_mib, node->serial);

	text = append(text, render_os(rack, node));
	text = append(text, bu_xasprintf("  <features><acpi/><apic/></features>\n"
					 "%s"
					 "  <clock offset='utc'/>\n"
					 "  <on_poweroff>destroy</on_poweroff>\n"
					 "  <on_reboot>restart</on_reboot>\n"
					 "  <on_crash>destroy</on_crash>\n",
					 cpu));
	text = append(text, render_devices(rack, node));
	return append(text, bu_xstrdup("</domain>\n"));
}

char *
bu_render_csv(const struct bu_rack *rack)
{
	char *text = bu_xstrdup("name,mac,serial,bmc,rack,slot,zone\n");

	for (size_t i = 0; i < rack->node_count; i++) {
		const struct bu_rack_node *node = &rack->nodes[i];

		text = append(text,
			      bu_xasprintf("%s,%s,%s,qemu:///system#%s,lab,%d,lab\n",
					   node->name, node->boot_mac, node->serial,
					   node->name, node->number));
	}
	return text;
}

/* Of the authority that swtpm has sign what it makes; else it would be the host's. */
char *
bu_render_swtpm_conf(const struct bu_rack *rack)
{
	return bu_xasprintf("statedir = %s/var/lib/libvirt/swtpm-ca\n"
			    "signingkey = %s/var/lib/libvirt/swtpm-ca/signkey.pem\n"
			    "issuercert = %s/var/lib/libvirt/swtpm-ca/issuercert.pem\n"
			    "certserial = %s/var/lib/libvirt/swtpm-ca/certserial\n",
			    rack->dir, rack->dir, rack->dir, rack->dir);
}

char *
bu_render_bringupd_conf(const struct bu_rack *rack)
{
	return bu_xasprintf("; Written by bringup-lab for this rack.\n"
			    "[bringupd]\n"
			    "state = %s/state\n"
			    "socket = /run/bringup/sock\n"
			    "boot_listen = " BU_RACK_ADDRESS ":8080\n"
			    "agent_listen = " BU_RACK_ADDRESS ":8443\n"
			    "boot_interface = br-boot\n"
			    "boot_address = " BU_RACK_ADDRESS "\n"
			    "dhcp_range = 10.77.0.50,10.77.0.199\n"
			    "images = %s/images\n"
			    "image_dirs = %s/second, %s/bad\n"
			    "secrets_dir = /etc/bringup/secrets, /etc/munge, "
			    "/etc/slurm, %s/bmc, %s/ssh\n"
			    "bmc_networks = 10.76.0.0/16\n"
			    "ramdisk = %s/ramdisk\n",
			    rack->dir, rack->cache, rack->dir, rack->dir, rack->dir,
			    rack->dir, rack->cache);
}

char *
bu_render_slurm_conf(const struct bu_rack *rack)
{
	/* Dynamic nodes: seed0 only satisfies the parser, slurmd -Z brings the rest.
	 * The nodes fetch this file from slurmctld (configless). */
	return bu_xasprintf("ClusterName=lab\n"
			    "SlurmctldHost=ctl(" BU_RACK_ADDRESS ")\n"
			    "SlurmUser=root\n"
			    "SlurmdUser=root\n"
			    "AuthType=auth/munge\n"
			    "StateSaveLocation=%s/slurm\n"
			    "SlurmctldPidFile=/run/slurmctld.pid\n"
			    "SlurmdPidFile=/run/slurmd.pid\n"
			    "SlurmdSpoolDir=/var/lib/slurm/slurmd\n"
			    "ProctrackType=proctrack/pgid\n"
			    "TaskPlugin=task/none\n"
			    "MpiDefault=none\n"
			    "SelectType=select/cons_tres\n"
			    "SelectTypeParameters=CR_Core\n"
			    "GresTypes=gpu,rdma\n"
			    "ReturnToService=2\n"
			    "MaxNodeCount=64\n"
			    "TreeWidth=65533\n"
			    "SlurmctldParameters=enable_configless\n"
			    "SlurmdParameters=config_overrides\n"
			    "PropagateResourceLimitsExcept=MEMLOCK\n"
			    /* slurmctld knows no users of the profile; the nodes do. */
			    "LaunchParameters=disable_send_gids\n"
			    "TopologyPlugin=topology/none\n"
			    "SlurmdTimeout=30\n"
			    "NodeName=seed0 NodeAddr=10.77.0.250 State=FUTURE\n"
			    "PartitionName=all Nodes=ALL Default=YES State=UP\n",
			    rack->dir);
}

char *
bu_render_hosts(const struct bu_rack *rack)
{
	char *text = bu_xstrdup(
		"127.0.0.1 localhost\n"
		"::1 localhost ip6-localhost ip6-loopback\n" BU_RACK_ADDRESS " ctl\n");

	for (size_t i = 0; i < rack->node_count; i++)
		text = append(text, bu_xasprintf("10.77.0.%d %s\n",
						 10 + rack->nodes[i].number,
						 rack->nodes[i].name));
	return text;
}

static char *
render_ip_node(const struct bu_rack_node *node)
{
	const char *b = node->boot_tap, *f = node->fabric_tap, *u = node->fabric_from,
		   *p = node->fabric_to;
	int n = node->number;

	return bu_xasprintf("tuntap add dev %s mode tap vnet_hdr\n"
			    "link set dev %s mtu " MTU " master br-boot up\n"
			    "link add s%03d mtu " MTU " type bridge stp_state 0 "
			    "forward_delay 0 mcast_snooping 0\n"
			    "link set dev s%03d up\n"
			    "link add %s mtu " MTU " type veth peer name %s mtu " MTU
			    "\n"
			    "tuntap add dev %s mode tap vnet_hdr\n"
			    "link set dev %s mtu " MTU " master s%03d up\n"
			    "link set dev %s master s%03d up\n"
			    "link set dev %s master br-fabric up\n",
			    b, b, n, n, u, p, f, f, n, u, n, p);
}

static char *
render_ip_more_nics(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	char *text = bu_xstrdup("");

	for (int k = BU_RACK_NICS_MIN; k < rack->nics; k++)
		text = append(text, bu_xasprintf("tuntap add dev x%03d-%d mode tap "
						 "vnet_hdr\n"
						 "link set dev x%03d-%d mtu " MTU
						 " master br-extra up\n",
						 node->number, k, node->number, k));
	return text;
}

char *
bu_render_ip(const struct bu_rack *rack)
{
	char *text =
		bu_xstrdup("link set dev lo up\n"
			   "link add br-boot mtu " MTU " type bridge stp_state 0 "
			   "forward_delay 0 mcast_snooping 0\n"
			   "link add br-fabric mtu " MTU " type bridge stp_state 0 "
			   "forward_delay 0 mcast_snooping 0\n"
			   "link add br-extra mtu " MTU " type bridge stp_state 0 "
			   "forward_delay 0 mcast_snooping 0\n"
			   "addr add " BU_RACK_ADDRESS "/24 dev br-boot\n"
			   "addr add fd77::1/64 dev br-boot nodad\n"
			   "link set dev br-boot up\n"
			   "link set dev br-fabric up\n"
			   "link set dev br-extra up\n");

	for (size_t i = 0; i < rack->node_count; i++) {
		text = append(text, render_ip_node(&rack->nodes[i]));
		text = append(text, render_ip_more_nics(rack, &rack->nodes[i]));
	}
	return text;
}

char *
bu_render_tc_node(const struct bu_rack_node *node, int rate_mbit)
{
	/* A bucket that was full when a probe began shows in its rate: 16 KiB are 1.6 %
	 * of a run of 1 MiB, and more than the link carries between two timer ticks. */
	bu_autofree char *tbf =
		bu_xasprintf("tbf rate %dmbit burst 16kb limit 4mb", rate_mbit);

	return bu_xasprintf("qdisc replace dev %s root %s\n"
			    "qdisc replace dev %s root %s\n",
			    node->fabric_to, tbf, node->fabric_from, tbf);
}

char *
bu_render_tc(const struct bu_rack *rack)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < rack->node_count; i++)
		text = append(text, bu_render_tc_node(&rack->nodes[i],
						      rack->fabric_rate_mbit));
	return text;
}
