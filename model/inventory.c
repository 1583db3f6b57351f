/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory and its JSON. The agent writes it; the daemon and the command line
 * read it.
 *
 * Invariant: the tables below are the only description of the shape. A text that comes
 * in fits its member, holds no control character and has the form that its row names,
 * so that it may be shown and compared without another look.
 */
#include "model/inventory.h"

#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "base/record.h"
#include "base/text.h"

static const char *const firmwares[] = {"bios", "uefi", NULL};
static const char *const signatures[] = {"none", "present", NULL};

/* Forms of a text. */
static int
is_token(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._:@!+-", *text))
			return 0;
	return 1;
}

static int
is_name(const char *text)
{
	return *text && is_token(text);
}

/* "10.77.0.11/24", "fd77::1/64", "10.0.0.0/8 via 10.77.0.1" */
static int
is_address(const char *text)
{
	return bu_text_is(text, "0123456789abcdef.:/ vi");
}

static int
is_dev_path(const char *text)
{
	return bu_path_is_below(text, "/dev") &&
	       bu_text_is(text, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789._:@+-");
}

static int
is_hex(const char *text)
{
	return bu_text_is(text, "0123456789abcdef");
}

static int
is_pci(const char *text)
{
	return bu_text_is(text, "0123456789abcdef:.");
}

static int
is_pci_or_none(const char *text)
{
	return !*text || is_pci(text);
}

/* Pairs of hex digits with ':' between; 6 or 20 of them. */
static int
is_mac(const char *text)
{
	size_t size = strlen(text);

	if (size != 3 * 6 - 1 && size != 3 * 20 - 1)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (i % 3 == 2 ? text[i] != ':' : !strchr("0123456789abcdef", text[i]))
			return 0;
	return 1;
}

static int
is_mac_or_none(const char *text)
{
	return !*text || is_mac(text);
}

static const struct bu_form token_form = {is_token, "letters, digits and ._:@!+-"};
static const struct bu_form name_form = {is_name,
					 "a name of letters, digits and ._:@!+-"};
static const struct bu_form dev_path_form = {is_dev_path, "a path below /dev"};
static const struct bu_form hex_form = {is_hex, "lower-case hex digits"};
static const struct bu_form pci_form = {is_pci, "a PCI address"};
static const struct bu_form pci_or_none_form = {is_pci_or_none,
						"a PCI address or nothing"};
static const struct bu_form mac_form = {is_mac, "a MAC address in lower case with ':'"};

static const struct bu_form mac_or_none_form = {
	is_mac_or_none, "a MAC address in lower case or nothing"};
static const struct bu_form address_form = {is_address, "an address or a route"};

static const struct bu_field cpu_fields[] = {
	BU_FIELD(TEXT, struct bu_cpu, model),
	BU_FIELD(INT, struct bu_cpu, sockets),
	BU_FIELD(INT, struct bu_cpu, cores),
	BU_FIELD(INT, struct bu_cpu, threads),
	BU_FIELD_END,
};
static const struct bu_field dmi_fields[] = {
	BU_FIELD(TEXT, struct bu_dmi, vendor),
	BU_FIELD(TEXT, struct bu_dmi, product),
	BU_FIELD(TEXT, struct bu_dmi, serial),
	BU_FIELD(TEXT, struct bu_dmi, uuid),
	BU_FIELD(TEXT, struct bu_dmi, board_serial, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_dmi, chassis_serial, .need = BU_SPARSE),
	BU_FIELD_END,
};
const struct bu_field bu_disk_fields[] = {
	BU_FIELD(TEXT, struct bu_disk, name, .form = &name_form),
	BU_FIELD(TEXT, struct bu_disk, path, .form = &dev_path_form),
	BU_FIELD(TEXT, struct bu_disk, serial),
	BU_FIELD(TEXT, struct bu_disk, wwn, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_disk, model, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_disk, by_path, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_disk, sector_bytes, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_disk, size_bytes),
	BU_FIELD(FLAG, struct bu_disk, rotational),
	BU_FIELD(FLAG, struct bu_disk, removable),
	BU_FIELD(WORD, struct bu_disk, signature, .words = signatures),
	BU_FIELD(TEXT, struct bu_disk, holds, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_disk, held_by, .need = BU_SPARSE),
	BU_FIELD_END,
};
static const struct bu_field nic_fields[] = {
	BU_FIELD(TEXT, struct bu_nic, name, .form = &name_form),
	BU_FIELD(TEXT, struct bu_nic, mac, .form = &mac_form),
	BU_FIELD(TEXT, struct bu_nic, driver, .form = &token_form),
	BU_FIELD(TEXT, struct bu_nic, pci, .form = &pci_or_none_form),
	BU_FIELD(INT, struct bu_nic, speed_mbps),
	BU_FIELD(TEXT, struct bu_nic, operstate, .form = &token_form),
	BU_FIELD_END,
};
static const struct bu_field pci_fields[] = {
	BU_FIELD(TEXT, struct bu_pci, address, .form = &pci_form),
	BU_FIELD(TEXT, struct bu_pci, class, .form = &hex_form),
	BU_FIELD(TEXT, struct bu_pci, vendor, .form = &hex_form),
	BU_FIELD(TEXT, struct bu_pci, device, .form = &hex_form),
	BU_FIELD(TEXT, struct bu_pci, driver, .form = &token_form),
	BU_FIELD_END,
};
static const struct bu_field gpu_fields[] = {
	BU_FIELD(TEXT, struct bu_gpu, pci, .form = &pci_form),
	BU_FIELD(TEXT, struct bu_gpu, device, .form = &hex_form),
	BU_FIELD(TEXT, struct bu_gpu, driver, .form = &token_form),
	BU_FIELD_END,
};
static const struct bu_field port_fields[] = {
	BU_FIELD(INT, struct bu_rdma_port, port),
	BU_FIELD(TEXT, struct bu_rdma_port, state, .form = &token_form),
	BU_FIELD(TEXT, struct bu_rdma_port, rate),
	BU_FIELD(TEXT, struct bu_rdma_port, link_layer, .form = &token_form),
	BU_FIELD(TEXT, struct bu_rdma_port, netdev, .form = &token_form),
	BU_FIELD_END,
};
static const struct bu_field rdma_fields[] = {
	BU_FIELD(TEXT, struct bu_rdma, name, .form = &name_form),
	BU_FIELD(TEXT, struct bu_rdma, node_guid, .form = &token_form),
	BU_FIELD_MANY(LIST, struct bu_rdma, ports, BU_RDMA_PORTS_MAX, port_fields),
	BU_FIELD_END,
};
static const struct bu_field address_field[] = {
	BU_FIELD_ONE(TEXT, BU_NET_WORD_SIZE, .form = &address_form)};
static const struct bu_field link_fields[] = {
	BU_FIELD(TEXT, struct bu_net_link, name, .form = &name_form),
	BU_FIELD(TEXT, struct bu_net_link, kind, .form = &name_form),
	BU_FIELD(TEXT, struct bu_net_link, mac, .form = &mac_or_none_form),
	BU_FIELD(INT, struct bu_net_link, mtu),
	BU_FIELD(TEXT, struct bu_net_link, operstate, .form = &token_form),
	BU_FIELD(TEXT, struct bu_net_link, master, .form = &token_form),
	BU_FIELD(INT, struct bu_net_link, vlan),
	BU_FIELD(TEXT, struct bu_net_link, parent, .form = &token_form),
	BU_FIELD(TEXT, struct bu_net_link, bond_mode, .form = &token_form),
	BU_FIELD(INT, struct bu_net_link, bond_miimon_ms),
	BU_FIELD(TEXT, struct bu_net_link, bond_hash, .form = &token_form),
	BU_FIELD(TEXT, struct bu_net_link, bond_active, .form = &token_form),
	BU_FIELD(TEXT, struct bu_net_link, bond_partner, .form = &mac_or_none_form),
	BU_FIELD(INT, struct bu_net_link, bond_aggregator),
	BU_FIELD_MANY(ARRAY, struct bu_net_link, addresses, BU_NET_WORDS_MAX,
		      address_field),
	BU_FIELD_MANY(ARRAY, struct bu_net_link, routes, BU_NET_WORDS_MAX,
		      address_field),
	BU_FIELD_END,
};
static const struct bu_field inventory_fields[] = {
	BU_FIELD_V(1, 1),
	BU_FIELD(TEXT, struct bu_inventory, boot_id, .form = &token_form),
	BU_FIELD(TEXT, struct bu_inventory, kernel),
	BU_FIELD(WORD, struct bu_inventory, firmware, .words = firmwares),
	BU_FIELD(INT, struct bu_inventory, tpm, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_inventory, memory_bytes),
	BU_FIELD(RECORD, struct bu_inventory, cpu, .fields = cpu_fields),
	BU_FIELD(RECORD, struct bu_inventory, dmi, .fields = dmi_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, disks, BU_DISKS_MAX, bu_disk_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, nics, BU_NICS_MAX, nic_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, pci, BU_PCI_MAX, pci_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, gpus, BU_GPUS_MAX, gpu_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, rdma, BU_RDMA_MAX, rdma_fields),
	BU_FIELD_MANY(LIST, struct bu_inventory, links, BU_NET_LINKS_MAX, link_fields),
	BU_FIELD_END,
};

struct bu_inventory *
bu_inventory_create(void)
{
	return bu_xcalloc(1, sizeof(struct bu_inventory));
}

void
bu_inventory_destroy(struct bu_inventory *inventory)
{
	if (inventory)
		bu_record_fini(inventory_fields, inventory);
	free(inventory);
}

void
bu_cleanup_inventory(struct bu_inventory **inventory)
{
	bu_inventory_destroy(*inventory);
}

json_t *
bu_inventory_to_json(const struct bu_inventory *inventory)
{
	return bu_record_to_json(inventory_fields, inventory);
}

struct bu_inventory *
bu_inventory_from_json(const json_t *value, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();

	if (bu_record_from_json(inventory_fields, value, inventory, err)) {
		bu_err_wrap(err, "inventory");
		return NULL;
	}
	return bu_steal(&inventory);
}

static void
add_macs(const struct bu_inventory *inventory, int pci_only, struct bu_machine *machine)
{
	for (size_t i = 0; i < inventory->nics_count; i++) {
		const struct bu_nic *nic = &inventory->nics[i];

		if (!pci_only || *nic->pci)
			bu_machine_add_mac(machine, nic->mac);
	}
}

/* A USB interface is mostly the way to the BMC: its address is the same everywhere. */
void
bu_inventory_machine(const struct bu_inventory *inventory, struct bu_machine *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->serial, inventory->dmi.serial, sizeof(ret->serial));
	memcpy(ret->uuid, inventory->dmi.uuid, sizeof(ret->uuid));
	bu_machine_add_number(ret, BU_NUMBER_BOARD, inventory->dmi.board_serial);
	bu_machine_add_number(ret, BU_NUMBER_CHASSIS, inventory->dmi.chassis_serial);
	add_macs(inventory, 1, ret);
	if (ret->macs_count == 0)
		add_macs(inventory, 0, ret);
}

void
bu_inventory_cards(const struct bu_inventory *inventory, struct bu_machine *ret)
{
	bu_inventory_machine(inventory, ret);
	add_macs(inventory, 0, ret);
}
