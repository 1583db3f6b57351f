/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the static audit, in the order of the report: function, id, severity of a
 * finding, what, how, expectation, hint. docs/checks.md is made from it.
 */
#ifndef BU_CHECKS_AUDIT_AUDIT_ROWS_H
#define BU_CHECKS_AUDIT_AUDIT_ROWS_H

/* clang-format off */
#define BU_AUDIT_ROWS(X) \
	X(pcie_gen, "pcie-gen", FAIL, \
	  "PCIe generation of GPU and fabric NIC links, every hop to the root " \
	  "port", \
	  "current_link_speed against the lower max_link_speed of both ends; " \
	  "the own link of NVIDIA's GPUs is judged under load instead", \
	  "both ends' best", \
	  "reseat the card or its riser and check the slot's speed in the " \
	  "firmware; then swap card, riser, board in this order") \
	X(pcie_width, "pcie-width", FAIL, \
	  "PCIe width of GPU and fabric NIC links, every hop to the root port", \
	  "current_link_width against the lower max_link_width of both ends", \
	  "both ends' best, of a card's slot at most thresholds.gpu_pcie_width " \
	  "or nic_pcie_width", \
	  "reseat the card or its riser, clean the contacts; then swap card, " \
	  "riser, board in this order; where the slot has fewer lanes than its " \
	  "port claims, say so in thresholds") \
	X(pcie_fits, "pcie-fits-link", FAIL, \
	  "PCIe bandwidth of a fabric NIC's slot against its link", \
	  "best speed x width of the narrowest hop, 91 % of it for " \
	  "payload, against link_gbps", \
	  "at least the link", \
	  "move the NIC to a slot that is wide and new enough, or correct " \
	  "link_gbps of the network") \
	X(pcie_aer, "pcie-aer", FAIL, \
	  "PCIe errors that lost something, since boot", \
	  "aer_dev_fatal and aer_dev_nonfatal of each hop", \
	  "none", \
	  "reseat the card; when it comes back, swap the card or its riser") \
	X(pcie_aer_correctable, "pcie-aer-correctable", WARN, \
	  "PCIe errors that were corrected, since boot", \
	  "aer_dev_correctable of each hop", \
	  "at most thresholds.aer_correctable (100)", \
	  "reseat the card or its riser; a marginal link gets worse") \
	X(pcie_acs, "pcie-acs", FAIL, \
	  "ACS redirection on PCIe switches between a GPU and a NIC", \
	  "ACS capability in configuration space: ReqRedir, CmpltRedir", \
	  "off on both ways below a common switch", \
	  "switch ACS off in the firmware, or with setpci at boot, on bare " \
	  "metal") \
	X(pcie_mrrs, "pcie-max-read-request", WARN, \
	  "MaxReadReq of fabric NICs", \
	  "device control register in configuration space", \
	  "at least thresholds.max_read_request (512) bytes", \
	  "set it in the firmware or the NIC's configuration") \
	X(pcie_ro, "pcie-relaxed-ordering", WARN, \
	  "relaxed ordering of fabric NICs", \
	  "device control register in configuration space", \
	  "on", \
	  "switch relaxed ordering on in the firmware and the NIC's " \
	  "configuration") \
	X(iommu, "iommu", FAIL, \
	  "an IOMMU that translates the DMA of GPUs and fabric NICs", \
	  "iommu_group/type, /proc/cmdline", \
	  "no IOMMU, or type identity", \
	  "boot with iommu=pt (and intel_iommu=on or amd_iommu=on where it is " \
	  "needed)") \
	X(gpu_direct, "gpu-direct", FAIL, \
	  "a way for fabric NICs to reach GPU memory", \
	  "nvidia_peermem loaded, or NVIDIA's open driver and a kernel with " \
	  "dmabuf (5.12)", \
	  "one of them", \
	  "load nvidia_peermem, or install the open kernel modules") \
	X(nic_slot, "nic-slot", FAIL, \
	  "PCI address of a fabric NIC", \
	  "device link of the interface against the profile", \
	  "the profile's address", \
	  "move the NIC to its slot, or correct the profile") \
	X(gpu_nic_affinity, "gpu-nic-affinity", FAIL, \
	  "GPUs and fabric NICs per NUMA node", \
	  "numa_node of both, where each GPU has a NIC", \
	  "as many of one as of the other", \
	  "a NIC is in a wrong slot: compare with a good machine of the same " \
	  "class") \
	X(nic_numa, "nic-numa", WARN, \
	  "NUMA node of fabric NICs", \
	  "numa_node, on machines with several", \
	  "known", \
	  "update the firmware, or switch on NUMA in it") \
	X(nic_missing, BU_CHECK_NIC_MISSING, FAIL, \
	  "interface of each network", \
	  "by MAC or PCI address, or that of the port that it names", \
	  "is there", \
	  "check that the card is seated and its driver is loaded; the MAC in " \
	  "the inventory may be another card's") \
	X(nic_down, "nic-down", FAIL, \
	  "link of each network's interface, with RDMA of its bond's ports", \
	  "operstate, carrier", \
	  "up", \
	  "check cable, transceiver and switch port") \
	X(nic_speed, "nic-speed", FAIL, \
	  "speed of each network's interface", \
	  "speed", \
	  "link_gbps of the network", \
	  "check the switch port's speed, then cable and transceiver") \
	X(nic_mtu, "nic-mtu", FAIL, \
	  "MTU of each network's interface", \
	  "mtu", \
	  "mtu of the network, of IPoIB at least that", \
	  "set the interface's MTU as the profile says; build the node's " \
	  "network files again") \
	X(link_flaps, "link-flaps", WARN, \
	  "how often an interface lost its link since boot", \
	  "carrier_down_count", \
	  "at most thresholds.carrier_downs (5)", \
	  "clean or swap cable and transceiver, look at the switch port's " \
	  "counters") \
	X(rdma_missing, "rdma-missing", FAIL, \
	  "RDMA device of each network with rdma", \
	  "infiniband devices of the interface, or the port by its name", \
	  "is there", \
	  "load the driver (mlx5_ib, rdma_rxe); see the kernel's log; where the " \
	  "network names a port, name one of those that are there") \
	X(rdma_provider, "rdma-provider", FAIL, \
	  "what each network's RDMA device is driven with", \
	  "the providers that the agent brings", \
	  "one is for this device", \
	  "the agent brings mlx4, mlx5, bnxt_re, irdma, efa, hns, rxe and siw: " \
	  "use such an adapter, or ask for its provider") \
	X(rdma_transport, "rdma-transport", FAIL, \
	  "what each fabric network's RDMA device speaks", \
	  "node_type in sysfs", \
	  "InfiniBand or RoCE: only their connections are measured", \
	  "irdma: switch it to RoCE (devlink param enable_roce, roce_ena=1 of " \
	  "Intel's own driver); siw: use rdma = rxe; EFA and other iWARP are " \
	  "not supported: take rdma out of the network") \
	X(rdma_state, "rdma-state", FAIL, \
	  "state of each network's RDMA port", \
	  "state, phys_state", \
	  "ACTIVE, LinkUp", \
	  "check cable and switch port; INIT on InfiniBand: no subnet manager") \
	X(rdma_rate, "rdma-rate", FAIL, \
	  "rate of each network's RDMA port (lanes x speed)", \
	  "rate; not of RDMA in software", \
	  "link_gbps of the network", \
	  "a lane is down: clean or swap cable and transceiver") \
	X(rdma_mtu, "rdma-mtu", FAIL, \
	  "MTU in use at each network's RDMA port", \
	  "ibv_query_port active_mtu", \
	  "the largest that the network's MTU carries; on InfiniBand at least " \
	  "that", \
	  "set MTU of interface and switch port as the profile says") \
	X(rdma_losses, "rdma-losses", WARN, \
	  "whether each fabric network's RDMA port counts lost packets", \
	  "hw_counters in sysfs; not of RDMA in software", \
	  "a counter of them", \
	  "update the driver and the card's firmware; a virtual function may " \
	  "have none; hns has none: what such a port loses is seen in its rate " \
	  "alone") \
	X(gid, BU_CHECK_GID, FAIL, \
	  "RoCE v2 address of each network's RDMA port", \
	  "GID table: types, ndevs", \
	  "RoCE v2, the network's address and at gid_index where the profile " \
	  "has them; without both of gid_family, else of IPv4, else of global IPv6", \
	  "check the interface's address; RoCE v1 only: see the driver and " \
	  "cma_roce_mode") \
	X(guid, "guid", FAIL, \
	  "node GUIDs", \
	  "node_guid of each RDMA device of a network; not of virtual functions", \
	  "set, each once", \
	  "burn the right GUID into the card's firmware, or swap the card") \
	X(pfc, "pfc", FAIL, \
	  "priority flow control of a network's interface, or its bond's ports", \
	  "dcbnl (netlink)", \
	  "the priorities pfc of the network", \
	  "set PFC as the switch has it: dcb pfc set, mlnx_qos") \
	X(ecn, "ecn", FAIL, \
	  "congestion notification of a network's interface, or its bond's ports", \
	  "ecn/roce_np, ecn/roce_rp in sysfs", \
	  "as ecn of the network says, on the pfc priorities", \
	  "switch on ECN for these priorities on the NIC") \
	X(dscp, "dscp", FAIL, \
	  "DSCP of RDMA connections", \
	  "traffic_class in sysfs, default_roce_tos in configfs", \
	  "dscp of the network", \
	  "set cma_roce_tos and traffic_class at boot") \
	X(ib_sm, "ib-sm", FAIL, \
	  "subnet manager of each InfiniBand port", \
	  "sm_lid, state", \
	  "one is active", \
	  "start the subnet manager, or look for the broken path to it") \
	X(ib_lid, "ib-lid", FAIL, \
	  "LID of each InfiniBand port", \
	  "lid", \
	  "1 to 0xbfff", \
	  "look at the subnet manager's log for this GUID") \
	X(ib_gid, "ib-gid", FAIL, \
	  "first GID of each InfiniBand port", \
	  "gids/0", \
	  "a subnet prefix and a GUID", \
	  "look at the subnet manager's prefix and the card's GUID") \
	X(ib_pkey, "ib-pkey", FAIL, \
	  "partitions of each InfiniBand port", \
	  "pkeys", \
	  "those of the network, full members", \
	  "correct the subnet manager's partitions") \
	X(nic_firmware, "nic-firmware", FAIL, \
	  "firmware of RDMA devices", \
	  "fw_ver", \
	  "one of firmware of the network", \
	  "update the card's firmware") \
	X(gpu_xid, "gpu-xid", FAIL, \
	  "NVIDIA's errors in the kernel's log since boot", \
	  "Xid and SXid of /dev/kmsg, by data/events.json and the severity in " \
	  "the line", \
	  "none of class fatal or reset", \
	  "what events.json says: reset the GPU, reseat it, replace it; an " \
	  "unknown number is noted") \
	X(gpu_error, "gpu-error", FAIL, \
	  "AMD's errors in the kernel's log since boot", \
	  "amdgpu's lines in /dev/kmsg, by data/events.json", \
	  "none of class fatal or reset", \
	  "what events.json says: reset the GPU, reseat it, replace it") \
	X(nic_error, "nic-error", FAIL, \
	  "errors of NICs in the kernel's log since boot", \
	  "lines of their drivers in /dev/kmsg, by data/events.json", \
	  "none of class fatal or reset; of a NIC in no network of the profile it " \
	  "is noted", \
	  "what events.json says: reload the driver, cool it, reseat or replace " \
	  "the module, the cable, the NIC") \
	X(hardware_error, "hardware-error", FAIL, \
	  "uncorrected errors of CPUs and memory in the kernel's log", \
	  "/dev/kmsg: severity of machine checks, EDAC and firmware (APEI)", \
	  "none", \
	  "see the BMC's log for the DIMM or CPU and swap it") \
	X(hardware_corrected, "hardware-corrected", WARN, \
	  "corrected errors of CPUs and memory in the kernel's log", \
	  "the same lines, by their stamps: the most within a day", \
	  "at most thresholds.corrected_errors (10) a day", \
	  "see the BMC's log for the DIMM or CPU; swap it if they go on") \
	X(cpu_governor, "cpu-governor", WARN, \
	  "frequency governor of all CPUs", \
	  "cpufreq/scaling_governor", \
	  "performance, or governor of host", \
	  "set it in the image: cpupower, tuned") \
	X(cpu_cstates, "cpu-cstates", WARN, \
	  "idle states of CPU 0", \
	  "cpuidle/state*/latency of those that are on", \
	  "at most cstate_us of host", \
	  "processor.max_cstate, or the firmware's power profile") \
	X(numa_balancing, "numa-balancing", WARN, \
	  "automatic NUMA balancing, on machines with several nodes and " \
	  "fabric NICs or GPUs", \
	  "/proc/sys/kernel/numa_balancing", \
	  "off", \
	  "sysctl kernel.numa_balancing=0") \
	X(smt, "smt", FAIL, \
	  "hyper-threading", \
	  "cpu/smt/active", \
	  "smt of host", \
	  "set it in the firmware, or boot with nosmt") \
	X(hugepages, "hugepages", FAIL, \
	  "huge pages", \
	  "kernel/mm/hugepages/*/nr_hugepages", \
	  "hugepages of host", \
	  "reserve them at boot; later, fragmented memory gives fewer") \
	X(data_volumes, "data-volume", FAIL, \
	  "encrypted data partitions", \
	  "/etc/bringup/volumes, /proc/mounts", \
	  "open and mounted; with data_keys = tpm also sealed to the TPM", \
	  "journalctl -u bringup-agent on the node says why; then bringup node " \
	  "validate") \
	X(data_mounts, "data-mount", FAIL, \
	  "data partitions that are not encrypted", \
	  "/etc/fstab, /proc/mounts", \
	  "mounted", \
	  "systemctl --failed on the node says why; mend or swap the disk, then " \
	  "bringup node validate") \
	X(scratch, "scratch", FAIL, \
	  "the array of the other disks", \
	  "/etc/bringup/scratch, /proc/mounts", \
	  "mounted", \
	  "journalctl -u bringup-scratch on the node says which disk lacks; swap it, " \
	  "then bringup node rebuild NODE --grant wipe") \
	X(access, "access", FAIL, \
	  "accounts, host key and sshd, as the profile has them", \
	  "/run/bringup/access.failed, which bringup-access leaves", \
	  "all are set up", \
	  "correct what is named in the profile or the image; journalctl -u " \
	  "bringup-access on the node has the details") \
	X(root_mirror, "root-mirror", WARN, \
	  "the system's mirror", \
	  "/var/lib/bringup/mirror, block/*/serial, block/md*/md, the superblocks " \
	  "of both halves", \
	  "both disks that it was installed on are in the array, and up to date", \
	  "swap the disk that is named; then bringup node rebuild NODE --grant " \
	  "wipe, or reimage where a scratch array is to stay") \
	X(memlock, "memlock", FAIL, \
	  "memory that jobs may lock", \
	  "LimitMEMLOCK that systemd gives slurmd; a process of user nobody with " \
	  "that limit registers 1 GiB (less where memory is small) at a fabric port", \
	  "infinity; it can be registered", \
	  "a drop-in for slurmd.service: [Service] LimitMEMLOCK=infinity; in slurm.conf " \
	  "PropagateResourceLimitsExcept=MEMLOCK, or jobs bring the limit of the shell " \
	  "that they were submitted from") \
	X(uverbs_access, "uverbs-access", FAIL, \
	  "access of jobs to RDMA devices", \
	  "modes of /dev/infiniband/uverbs* and rdma_cm", \
	  "readable and writable for all", \
	  "install rdma-core's udev rules") \
	X(identity, "identity", WARN, \
	  "the machine's host name, for the comparison with the others", \
	  "/proc/sys/kernel/hostname", \
	  "set", \
	  "set the host name") \
	X(lldp, BU_CHECK_LLDP, WARN, \
	  "neighbours that switch ports announce", \
	  "LLDP frames on each fabric interface; over InfiniBand the neighbour " \
	  "is asked", \
	  "heard where the profile expects a switch port", \
	  "switch LLDP on at the switch; some NICs swallow the frames: switch " \
	  "off their own LLDP agent") \
	X(cabling, BU_CHECK_CABLING, FAIL, \
	  "switch port of each fabric interface", \
	  "LLDP neighbour against the profile", \
	  "the profile's", \
	  "re-plug the cable, or correct switch_ports of the node")
/* clang-format on */

#endif
