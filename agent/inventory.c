/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the inventory; called by the agent before its hello.
 *
 * Invariants: it only reads; lists are in an order that does not depend on the order of
 * discovery, so that the same hardware gives the same lists; texts are printable ASCII
 * that fits, because the other end refuses an inventory with any other.
 */
#include "agent/inventory.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/disks.h"
#include "agent/links.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { ARPHRD_ETHERNET = 1, ARPHRD_IB = 32 };
enum { DISK_MS = 20000 }; /* one that stands still needs 15 s until it turns */

struct collect {
	int quiet; /* of network cards nothing that a driver is asked for */
	const char *root;
	struct bu_inventory *inventory;
	int64_t *cores; /* (package, die, core) of each thread */
	size_t cores_count;
	size_t cores_cap;
};

static int
by_text(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* nvme2n1 before nvme10n1 */
static int
by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

typedef int (*compare_fn)(const struct dirent **a, const struct dirent **b);
typedef void (*visit_fn)(struct collect *c, const char *name, void *arg);

static void
each(struct collect *c, const char *folder, compare_fn compare, visit_fn visit,
     void *arg)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", c->root, folder);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, not_hidden, compare);

	for (int i = 0; i < count; i++) {
		visit(c, entries[i]->d_name, arg);
		free(entries[i]);
	}
	free(entries);
}

/* Whether one more fits; says so once when it does not. */
static int
has_room(size_t count, size_t max, const char *what, const char *name)
{
	if (count < max)
		return 1;
	bu_warn("inventory", "%s '%s' is left out: more than %zu", what, name, max);
	return 0;
}

static void
visit_cpu(struct collect *c, const char *name, void *arg)
{
	const char *folder = "sys/devices/system/cpu";
	int64_t package;
	int64_t die;
	int64_t core;

	if (strncmp(name, "cpu", 3) != 0 || !name[3] ||
	    strspn(name + 3, "0123456789") != strlen(name + 3) ||
	    !bu_sysroot_exists(c->root, "%s/%s/%s", folder, name, "topology"))
		return;
	package = bu_sysroot_number(c->root, 0xffff, 0,
				    "%s/%s/topology/physical_package_id", folder, name);
	die = bu_sysroot_number(c->root, 0xffff, 0, "%s/%s/topology/die_id", folder,
				name);
	core = bu_sysroot_number(c->root, 0xffff, 0, "%s/%s/topology/core_id", folder,
				 name);
	c->cores = bu_xgrow(c->cores, &c->cores_cap, c->cores_count + 1,
			    sizeof(*c->cores));
	c->cores[c->cores_count++] = package << 32 | die << 16 | core;
}

static int
compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void
collect_cpu(struct collect *c)
{
	struct bu_cpu *cpu = &c->inventory->cpu;
	bu_autofree char *path = bu_xasprintf("%s/proc/cpuinfo", c->root);
	bu_autofree char *info = bu_file_read(path, 0, NULL, NULL);
	const char *model = info ? strstr(info, "model name") : NULL;

	if (model && (model = strchr(model, ':'))) {
		model++;
		snprintf(cpu->model, sizeof(cpu->model), "%.*s",
			 (int)strcspn(model, "\n"), model);
		bu_sysroot_clean(cpu->model);
	}
	each(c, "sys/devices/system/cpu", by_number, visit_cpu, NULL);
	if (c->cores_count > 0)
		qsort(c->cores, c->cores_count, sizeof(*c->cores), compare_int64);
	cpu->threads = (int)c->cores_count;
	for (size_t i = 0; i < c->cores_count; i++) {
		cpu->cores += i == 0 || c->cores[i] != c->cores[i - 1];
		cpu->sockets += i == 0 || c->cores[i] >> 32 != c->cores[i - 1] >> 32;
	}
}

static void
collect_memory(struct collect *c)
{
	int64_t bytes = bu_sysroot_meminfo_bytes(c->root, "MemTotal:");

	if (bytes > 0)
		c->inventory->memory_bytes = bytes;
}

static void
collect_dmi(struct collect *c)
{
	struct bu_dmi *dmi = &c->inventory->dmi;
	const char *folder = "sys/class/dmi/id";

	bu_sysroot_line(c->root, dmi->vendor, sizeof(dmi->vendor), "%s/sys_vendor",
			folder);
	bu_sysroot_line(c->root, dmi->product, sizeof(dmi->product), "%s/product_name",
			folder);
	bu_sysroot_line(c->root, dmi->serial, sizeof(dmi->serial), "%s/product_serial",
			folder);
	bu_sysroot_line(c->root, dmi->uuid, sizeof(dmi->uuid), "%s/product_uuid",
			folder);
	bu_sysroot_line(c->root, dmi->board_serial, sizeof(dmi->board_serial),
			"%s/board_serial", folder);
	bu_sysroot_line(c->root, dmi->chassis_serial, sizeof(dmi->chassis_serial),
			"%s/chassis_serial", folder);
}

static void
visit_disk(struct collect *c, const char *name, void *arg)
{
	struct bu_inventory *inventory = c->inventory;
	struct bu_disk disk;

	if (bu_disk_read(c->root, name, &disk) &&
	    has_room(inventory->disks_count, BU_DISKS_MAX, "disk", name))
		inventory->disks[inventory->disks_count++] = disk;
}

/* The PCI function that a device of sysfs belongs to: the last one in its real path;
 * "" for a device behind USB. */
static void
read_pci_of(const struct collect *c, const char *folder, const char *name, char *ret,
	    size_t size)
{
	bu_autofree char *real = bu_sysroot_real(c->root, "%s/%s", folder, name);
	char *save = NULL;

	ret[0] = '\0';
	for (char *part = real ? strtok_r(real, "/", &save) : NULL; part;
	     part = strtok_r(NULL, "/", &save)) {
		if (bu_sysroot_is_pci(part))
			snprintf(ret, size, "%s", part);
		else if (strncmp(part, "usb", 3) == 0)
			ret[0] = '\0';
	}
}

/* Its own address, not the one that a bond has lent it; "" when it has none. */
static void
read_mac(const struct collect *c, const char *name, char *ret, size_t size)
{
	int64_t type =
		bu_sysroot_number(c->root, 0xffff, 0, "sys/class/net/%s/type", name);
	char mac[BU_MAC_SIZE];
	char text[60];

	ret[0] = '\0';
	bu_sysroot_line(c->root, text, sizeof(text),
			"sys/class/net/%s/bonding_slave/perm_hwaddr", name);
	if (!*text)
		bu_sysroot_line(c->root, text, sizeof(text), "sys/class/net/%s/address",
				name);
	if (type == ARPHRD_ETHERNET && bu_mac_normalize(text, mac) == 0)
		bu_text_copy(ret, size, mac);
	else if (type == ARPHRD_IB && strlen(text) == 3 * 20 - 1)
		bu_text_copy(ret, size, text);
}

static void
visit_nic(struct collect *c, const char *name, void *arg)
{
	static const char folder[] = "sys/class/net";
	struct bu_inventory *inventory = c->inventory;
	struct bu_nic *nic = &inventory->nics[inventory->nics_count];
	char mac[sizeof(nic->mac)];

	/* Hardware alone: no bridge, bond or tunnel, no virtual function. */
	if (!bu_sysroot_exists(c->root, "%s/%s/%s", folder, name, "device") ||
	    bu_sysroot_exists(c->root, "%s/%s/%s", folder, name, "device/physfn"))
		return;
	read_mac(c, name, mac, sizeof(mac));
	if (!*mac || strlen(name) >= sizeof(nic->name) ||
	    !has_room(inventory->nics_count, BU_NICS_MAX, "network card", name))
		return;
	bu_text_copy(nic->name, sizeof(nic->name), name);
	memcpy(nic->mac, mac, sizeof(mac));
	bu_sysroot_link(c->root, nic->driver, sizeof(nic->driver),
			"%s/%s/device/driver", folder, name);
	read_pci_of(c, folder, name, nic->pci, sizeof(nic->pci));
	if (!c->quiet)
		nic->speed_mbps = (int)bu_sysroot_number(c->root, INT_MAX, 0,
							 "%s/%s/speed", folder, name);
	bu_sysroot_line(c->root, nic->operstate, sizeof(nic->operstate),
			"%s/%s/operstate", folder, name);
	inventory->nics_count++;
}

/* By PCI address; those of another bus come last. */
static int
compare_nics(const void *a, const void *b)
{
	const struct bu_nic *x = a;
	const struct bu_nic *y = b;
	int order = strcmp(*x->pci ? x->pci : "~", *y->pci ? y->pci : "~");

	return order ? order : strverscmp(x->name, y->name);
}

/* Classes (by their first digits) that the inventory lists; NULL = of any vendor. */
static const struct {
	const char *class;
	const char *vendor;
} interesting[] = {
	{"01", NULL},     /* storage */
	{"02", NULL},     /* network, InfiniBand */
	{"03", NULL},     /* display: GPUs */
	{"0680", "10de"}, /* NVSwitch */
	{"0b40", NULL},   /* co-processor */
	{"0c06", NULL},   /* InfiniBand, in the old way */
	{"12", NULL},     /* accelerator */
};

static int
is_interesting(const struct bu_pci *pci)
{
	for (size_t i = 0; i < BU_LEN(interesting); i++)
		if (strncmp(pci->class, interesting[i].class,
			    strlen(interesting[i].class)) == 0 &&
		    (!interesting[i].vendor ||
		     strcmp(pci->vendor, interesting[i].vendor) == 0))
			return 1;
	return 0;
}

static int
is_nvidia_gpu(const struct bu_pci *pci)
{
	return strcmp(pci->vendor, "10de") == 0 &&
	       (strncmp(pci->class, "0300", 4) == 0 ||
		strncmp(pci->class, "0302", 4) == 0);
}

/* "0x10de" of a file as "10de"; "" when it is not hex. */
static void
read_pci_id(const struct collect *c, const char *name, const char *file, char *ret,
	    size_t size)
{
	char text[16];

	bu_sysroot_line(c->root, text, sizeof(text), "sys/bus/pci/devices/%s/%s", name,
			file);
	ret[0] = '\0';
	if (strncmp(text, "0x", 2) == 0 && strlen(text + 2) < size &&
	    strspn(text + 2, "0123456789abcdef") == strlen(text + 2))
		bu_text_copy(ret, size, text + 2);
}

static void
visit_pci(struct collect *c, const char *name, void *arg)
{
	struct bu_inventory *inventory = c->inventory;
	struct bu_pci pci = {0};

	read_pci_id(c, name, "class", pci.class, sizeof(pci.class));
	read_pci_id(c, name, "vendor", pci.vendor, sizeof(pci.vendor));
	read_pci_id(c, name, "device", pci.device, sizeof(pci.device));
	if (!bu_sysroot_is_pci(name) || !*pci.class || !*pci.vendor || !*pci.device ||
	    !is_interesting(&pci))
		return;
	bu_text_copy(pci.address, sizeof(pci.address), name);
	bu_sysroot_link(c->root, pci.driver, sizeof(pci.driver),
			"sys/bus/pci/devices/%s/driver", name);
	if (has_room(inventory->pci_count, BU_PCI_MAX, "PCI device", name))
		inventory->pci[inventory->pci_count++] = pci;
	if (is_nvidia_gpu(&pci) &&
	    has_room(inventory->gpus_count, BU_GPUS_MAX, "GPU", name)) {
		struct bu_gpu *gpu = &inventory->gpus[inventory->gpus_count++];

		memcpy(gpu->pci, pci.address, sizeof(gpu->pci));
		memcpy(gpu->device, pci.device, sizeof(gpu->device));
		memcpy(gpu->driver, pci.driver, sizeof(gpu->driver));
	}
}

struct port_search {
	const char *device;
	struct bu_rdma *rdma;
	struct bu_rdma_port *port;
};

/* A network interface of the RDMA device's PCI function: ours when on the same port. */
static void
visit_rdma_netdev(struct collect *c, const char *name, void *arg)
{
	struct port_search *search = arg;
	int64_t port = bu_sysroot_number(
		c->root, 255, 0, "sys/class/infiniband/%s/device/net/%s/dev_port",
		search->device, name);

	if (!*search->port->netdev && port + 1 == search->port->port &&
	    strlen(name) < sizeof(search->port->netdev))
		snprintf(search->port->netdev, sizeof(search->port->netdev), "%s",
			 name);
}

/* Soft-RoCE names its interface in `parent`, RoCE in its GID table, and InfiniBand has
 * one beside it. */
static void
read_netdev(struct collect *c, struct port_search *search)
{
	struct bu_rdma_port *port = search->port;
	bu_autofree char *nets =
		bu_xasprintf("sys/class/infiniband/%s/device/net", search->device);

	bu_sysroot_line(c->root, port->netdev, sizeof(port->netdev),
			"sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs/0",
			search->device, port->port);
	if (!*port->netdev)
		bu_sysroot_line(c->root, port->netdev, sizeof(port->netdev),
				"sys/class/infiniband/%s/parent", search->device);
	if (!*port->netdev)
		each(c, nets, by_number, visit_rdma_netdev, search);
}

/* The driver asks its adapter. */
static void
read_state(const struct collect *c, const char *device, const char *name,
	   struct bu_rdma_port *port)
{
	static const char folder[] = "sys/class/infiniband";
	char state[32];
	const char *colon;

	bu_sysroot_line(c->root, state, sizeof(state), "%s/%s/ports/%s/state", folder,
			device, name);
	colon = strstr(state, ": "); /* "4: ACTIVE" */
	bu_text_copy(port->state, sizeof(port->state), colon ? colon + 2 : state);
	bu_sysroot_line(c->root, port->rate, sizeof(port->rate), "%s/%s/ports/%s/rate",
			folder, device, name);
}

static void
visit_port(struct collect *c, const char *name, void *arg)
{
	static const char folder[] = "sys/class/infiniband";
	struct port_search *search = arg;
	struct bu_rdma *rdma = search->rdma;
	const char *device = search->device;
	struct bu_rdma_port *port = &rdma->ports[rdma->ports_count];

	if (atoi(name) < 1 ||
	    !has_room(rdma->ports_count, BU_RDMA_PORTS_MAX, "RDMA port", name))
		return;
	port->port = atoi(name);
	if (!c->quiet)
		read_state(c, device, name, port);
	bu_sysroot_line(c->root, port->link_layer, sizeof(port->link_layer),
			"%s/%s/ports/%s/link_layer", folder, device, name);
	search->port = port;
	read_netdev(c, search);
	rdma->ports_count++;
}

static void
visit_rdma(struct collect *c, const char *name, void *arg)
{
	struct bu_inventory *inventory = c->inventory;
	struct bu_rdma *rdma = &inventory->rdma[inventory->rdma_count];
	struct port_search search = {.device = name, .rdma = rdma};
	bu_autofree char *ports = bu_xasprintf("sys/class/infiniband/%s/ports", name);

	if (strlen(name) >= sizeof(rdma->name) ||
	    !has_room(inventory->rdma_count, BU_RDMA_MAX, "RDMA device", name))
		return;
	bu_text_copy(rdma->name, sizeof(rdma->name), name);
	bu_sysroot_line(c->root, rdma->node_guid, sizeof(rdma->node_guid),
			"sys/class/infiniband/%s/node_guid", name);
	each(c, ports, by_number, visit_port, &search);
	inventory->rdma_count++;
}

static void
collect_devices(struct collect *c)
{
	struct bu_inventory *inventory = c->inventory;

	/* One more than the most: a visit looks at its place before it counts. */
	inventory->disks = bu_xcalloc(BU_DISKS_MAX + 1, sizeof(*inventory->disks));
	inventory->nics = bu_xcalloc(BU_NICS_MAX + 1, sizeof(*inventory->nics));
	inventory->pci = bu_xcalloc(BU_PCI_MAX + 1, sizeof(*inventory->pci));
	inventory->gpus = bu_xcalloc(BU_GPUS_MAX + 1, sizeof(*inventory->gpus));
	inventory->rdma = bu_xcalloc(BU_RDMA_MAX + 1, sizeof(*inventory->rdma));
	each(c, "sys/block", by_number, visit_disk, NULL);
	bu_disks_look(c->root, inventory->disks, inventory->disks_count, DISK_MS);
	each(c, "sys/class/net", by_number, visit_nic, NULL);
	each(c, "sys/bus/pci/devices", by_text, visit_pci, NULL);
	each(c, "sys/class/infiniband", by_number, visit_rdma, NULL);
	qsort(inventory->nics, inventory->nics_count, sizeof(*inventory->nics),
	      compare_nics);
}

static struct bu_inventory *
collect(const char *root, int quiet, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	struct collect c = {.root = root, .quiet = quiet, .inventory = inventory};

	bu_sysroot_line(c.root, inventory->boot_id, sizeof(inventory->boot_id),
			"proc/sys/kernel/random/boot_id");
	if (!*inventory->boot_id || !bu_sysroot_exists(c.root, "sys/class/net")) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "%s/proc or %s/sys is not mounted: no inventory", root,
			   root);
		return NULL;
	}
	bu_sysroot_line(c.root, inventory->kernel, sizeof(inventory->kernel),
			"proc/sys/kernel/osrelease");
	inventory->firmware = bu_sysroot_exists(c.root, "sys/firmware/efi")
				      ? BU_FIRMWARE_UEFI
				      : BU_FIRMWARE_BIOS;
	inventory->tpm = (int)bu_sysroot_number(c.root, 9, 0,
						"sys/class/tpm/tpm0/tpm_version_major");
	collect_memory(&c);
	collect_cpu(&c);
	collect_dmi(&c);
	collect_devices(&c);
	if (!quiet)
		bu_links_collect(root, inventory);
	free(c.cores);
	return bu_steal(&inventory);
}

struct bu_inventory *
bu_inventory_collect(const char *root, struct bu_err *err)
{
	return collect(root, 0, err);
}

struct bu_inventory *
bu_inventory_collect_quietly(const char *root, struct bu_err *err)
{
	return collect(root, 1, err);
}
