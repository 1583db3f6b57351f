/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware of a machine, found by its agent. The daemon stores the inventory by
 * digest, compares it with a hardware class and shows it. Inventories cross the
 * network: bu_inventory_from_json() trusts nothing. The tables in inventory.c are the
 * JSON shape; members and fields have the same names.
 *
 * {"v":1,"boot_id","kernel","firmware":"bios"|"uefi","tpm":2,"memory_bytes",
 *  "cpu":{model,sockets,cores,threads},
 *  "dmi":{vendor,product,serial,uuid,board_serial,chassis_serial},
 *  "disks":[...],"nics":[...],"pci":[...],"gpus":[...],"rdma":[{...,"ports":[...]}],
 *  "links":[{...,"addresses":["10.0.0.1/24"],"routes":["10.1.0.0/16 via 10.0.0.9"]}]}
 *
 * nics are hardware; links are the network interfaces as configured now.
 */
#ifndef BU_MODEL_INVENTORY_H
#define BU_MODEL_INVENTORY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/record.h"
#include "model/machine.h"

/* Most members of each list; longer lists are refused. */
enum {
	BU_DISKS_MAX = 256,
	BU_NICS_MAX = 64,
	BU_PCI_MAX = 512,
	BU_GPUS_MAX = 64,
	BU_RDMA_MAX = 64,
	BU_RDMA_PORTS_MAX = 8,
	BU_NET_LINKS_MAX = 256,
	BU_NET_WORDS_MAX = 16, /* addresses, and routes, of a link */
	BU_NET_WORD_SIZE = 48,
};

enum bu_firmware { BU_FIRMWARE_BIOS, BU_FIRMWARE_UEFI };
/* PRESENT: a nonzero byte in the first or last MiB, or the disk was unreadable. */
enum bu_signature { BU_SIGNATURE_NONE, BU_SIGNATURE_PRESENT };

struct bu_cpu {
	char model[128];
	int sockets;
	int cores; /* of all sockets */
	int threads;
};

struct bu_dmi {
	char vendor[128];
	char product[128];
	char serial[64];
	char uuid[40];
	char board_serial[64];   /* "" = none */
	char chassis_serial[64]; /* likewise; a chassis may have several machines */
};

struct bu_disk {
	char name[32]; /* "nvme0n1" */
	char path[40]; /* "/dev/nvme0n1" */
	char serial[64];
	char wwn[48];   /* "eui.0025384c31b5a1f0", "naa.5000c500a1b2c3d4"; "" = none */
	char model[48]; /* "SAMSUNG MZQL23T8HCLS-00A07" */
	char by_path[64]; /* "pci-0000:02:00.0-nvme-1", its place; "" = not known */
	int sector_bytes; /* written at once; 0 = not known */
	int64_t size_bytes;
	int rotational;
	int removable;
	int signature;    /* enum bu_signature */
	char holds[96];   /* "gpt, linux_raid_member": names of its content */
	char held_by[32]; /* "md127", "dm-0": user of the whole disk; "" = none */
};
extern const struct bu_field bu_disk_fields[];

struct bu_nic {
	char name[16];
	char mac[60]; /* 6 bytes, or the 20 of an InfiniBand interface */
	char driver[32];
	char pci[16];   /* "0000:17:00.0"; "" = another bus */
	int speed_mbps; /* 0 = unknown, mostly without a link */
	char operstate[16];
};

struct bu_pci {
	char address[16];
	char class[8];  /* "020700": class, subclass, interface */
	char vendor[8]; /* "15b3" */
	char device[8];
	char driver[32]; /* "" = none is bound */
};

struct bu_gpu { /* NVIDIA GPUs, found on the PCI bus with or without a driver */
	char pci[16];
	char device[8];
	char driver[32];
};

struct bu_rdma_port {
	int port;
	char state[16]; /* "ACTIVE" */
	char rate[48];  /* "400 Gb/sec (4X NDR)" */
	char link_layer[16];
	char netdev[16]; /* "" = none */
};

struct bu_rdma {
	char name[32];
	char node_guid[24];
	size_t ports_count;
	struct bu_rdma_port ports[BU_RDMA_PORTS_MAX];
};

/* Members that the kind does not have are 0 and "". */
struct bu_net_link {
	char name[16];
	char kind[16]; /* "ethernet", "bond", "vlan", "bridge", "infiniband", "other" */
	char mac[60];  /* at present; "" = none */
	int mtu;       /* bytes */
	char operstate[16];
	char master[16];       /* its bond or bridge */
	int vlan;              /* 802.1Q id */
	char parent[16];       /* of a VLAN */
	char bond_mode[24];    /* "802.3ad", "active-backup" */
	int bond_miimon_ms;    /* 0 = the bond does not monitor its links */
	char bond_hash[16];    /* "layer3+4" */
	char bond_active[16];  /* active slave of an active-backup bond */
	char bond_partner[60]; /* partner's MAC of an 802.3ad bond; "" = none */
	int bond_aggregator;   /* 802.3ad: the bond's active one; in a slave: its own */
	size_t addresses_count;
	char addresses[BU_NET_WORDS_MAX]
		      [BU_NET_WORD_SIZE]; /* "10.77.0.11/24", IPv4 and global IPv6 */
	size_t routes_count;
	char routes[BU_NET_WORDS_MAX][BU_NET_WORD_SIZE]; /* IPv4 routes with a gateway:
							    "0.0.0.0/0 via 10.0.0.1" */
};

struct bu_inventory {
	char boot_id[40];
	char kernel[80];
	int firmware; /* enum bu_firmware */
	int tpm;      /* 2 = a TPM 2.0; 0 = none */
	int64_t memory_bytes;
	struct bu_cpu cpu;
	struct bu_dmi dmi;
	size_t disks_count, nics_count, pci_count, gpus_count, rdma_count, links_count;
	struct bu_disk *disks; /* by name */
	struct bu_nic *nics;   /* by PCI address */
	struct bu_pci *pci;    /* controllers and accelerators, by address */
	struct bu_gpu *gpus;
	struct bu_rdma *rdma;
	struct bu_net_link *links; /* by name */
};

struct bu_inventory *bu_inventory_create(void);
void bu_inventory_destroy(struct bu_inventory *inventory);
void bu_cleanup_inventory(struct bu_inventory **inventory);
#define bu_autoinventory __attribute__((cleanup(bu_cleanup_inventory)))

/* New reference. */
json_t *bu_inventory_to_json(const struct bu_inventory *inventory);
/* BU_ERR_INVAL "inventory: disks[3].size_bytes: ..." for a wrong shape. Unknown fields
 * are ignored. */
struct bu_inventory *bu_inventory_from_json(const json_t *value, struct bu_err *err);

/* Serial number, UUID and MACs of the PCI cards (of all cards, if none is on PCI). */
void bu_inventory_machine(const struct bu_inventory *inventory, struct bu_machine *ret);
/* The same with all cards. Cards not on PCI (USB, a system on a chip) identify no
 * machine, but may boot it. */
void bu_inventory_cards(const struct bu_inventory *inventory, struct bu_machine *ret);

#endif
