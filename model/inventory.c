/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory and its JSON. The agent writes it; the daemon and the command line
 * read it.
 *
 * Invariant: the tables below are the only description of the shape, both directions
 * walk them. A text that comes in fits its member, holds no control character and has
 * the form that its row names, so that it may be shown and compared without another
 * look.
 */
#include "model/inventory.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"

enum { VERSION = 1 };

static const char *const firmwares[] = {"bios", "uefi", NULL};
static const char *const signatures[] = {"none", "present", NULL};

/* Forms of a text. */
static int
is_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return 0;
	return 1;
}

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
	return *text && strspn(text, "0123456789abcdef.:/ vi") == strlen(text);
}

static int
is_dev_path(const char *text)
{
	return strncmp(text, "/dev/", 5) == 0 && text[5] && !strstr(text, "..") &&
	       strspn(text, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789._:@+-") == strlen(text);
}

static int
is_hex(const char *text)
{
	return *text && strspn(text, "0123456789abcdef") == strlen(text);
}

static int
is_pci(const char *text)
{
	return *text && strspn(text, "0123456789abcdef:.") == strlen(text);
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

struct form {
	int (*holds)(const char *text);
	const char *what;
};
static const struct form text_form = {is_text, "printable text"};
static const struct form token_form = {is_token, "letters, digits and ._:@!+-"};
static const struct form name_form = {is_name, "a name of letters, digits and ._:@!+-"};
static const struct form dev_path_form = {is_dev_path, "a path below /dev"};
static const struct form hex_form = {is_hex, "lower-case hex digits"};
static const struct form pci_form = {is_pci, "a PCI address"};
static const struct form pci_or_none_form = {is_pci_or_none,
					     "a PCI address or nothing"};
static const struct form mac_form = {is_mac, "a MAC address in lower case with ':'"};

static const struct form mac_or_none_form = {is_mac_or_none,
					     "a MAC address in lower case or nothing"};
static const struct form address_form = {is_address, "an address or a route"};

enum kind { TEXT_FIELD, INT_FIELD, INT64_FIELD, FLAG_FIELD, WORD_FIELD };

struct field {
	const char *key;
	enum kind kind;
	size_t offset;
	size_t size;              /* of a text's member */
	const struct form *form;  /* of a text */
	const char *const *words; /* of a WORD: the member is the index */
};

/* clang-format off */
#define MEMBER(type, member) .key = #member, .offset = offsetof(type, member)
#define TEXT(type, member, its_form)                                                     \
	{MEMBER(type, member), .kind = TEXT_FIELD,                                       \
	 .size = sizeof(((type *)0)->member), .form = &its_form##_form}
#define INT(type, member) {MEMBER(type, member), .kind = INT_FIELD}
#define INT64(type, member) {MEMBER(type, member), .kind = INT64_FIELD}
#define FLAG(type, member) {MEMBER(type, member), .kind = FLAG_FIELD}
#define WORD(type, member, its_words)                                                    \
	{MEMBER(type, member), .kind = WORD_FIELD, .words = its_words}
#define END {.key = NULL}
/* clang-format on */

static const struct field top_fields[] = {
	TEXT(struct bu_inventory, boot_id, token),
	TEXT(struct bu_inventory, kernel, text),
	WORD(struct bu_inventory, firmware, firmwares),
	INT64(struct bu_inventory, memory_bytes),
	END,
};
static const struct field cpu_fields[] = {
	TEXT(struct bu_cpu, model, text),
	INT(struct bu_cpu, sockets),
	INT(struct bu_cpu, cores),
	INT(struct bu_cpu, threads),
	END,
};
static const struct field dmi_fields[] = {
	TEXT(struct bu_dmi, vendor, text),
	TEXT(struct bu_dmi, product, text),
	TEXT(struct bu_dmi, serial, text),
	TEXT(struct bu_dmi, uuid, text),
	END,
};
static const struct field disk_fields[] = {
	TEXT(struct bu_disk, name, name),
	TEXT(struct bu_disk, path, dev_path),
	TEXT(struct bu_disk, serial, text),
	INT64(struct bu_disk, size_bytes),
	FLAG(struct bu_disk, rotational),
	FLAG(struct bu_disk, removable),
	WORD(struct bu_disk, signature, signatures),
	END,
};
static const struct field nic_fields[] = {
	TEXT(struct bu_nic, name, name),
	TEXT(struct bu_nic, mac, mac),
	TEXT(struct bu_nic, driver, token),
	TEXT(struct bu_nic, pci, pci_or_none),
	INT(struct bu_nic, speed_mbps),
	TEXT(struct bu_nic, operstate, token),
	END,
};
static const struct field pci_fields[] = {
	TEXT(struct bu_pci, address, pci),  TEXT(struct bu_pci, class, hex),
	TEXT(struct bu_pci, vendor, hex),   TEXT(struct bu_pci, device, hex),
	TEXT(struct bu_pci, driver, token), END,
};
static const struct field gpu_fields[] = {
	TEXT(struct bu_gpu, pci, pci),
	TEXT(struct bu_gpu, device, hex),
	TEXT(struct bu_gpu, driver, token),
	END,
};
static const struct field rdma_fields[] = {
	TEXT(struct bu_rdma, name, name),
	TEXT(struct bu_rdma, node_guid, token),
	END,
};
static const struct field port_fields[] = {
	INT(struct bu_rdma_port, port),
	TEXT(struct bu_rdma_port, state, token),
	TEXT(struct bu_rdma_port, rate, text),
	TEXT(struct bu_rdma_port, link_layer, token),
	TEXT(struct bu_rdma_port, netdev, token),
	END,
};

static const struct field link_fields[] = {
	TEXT(struct bu_net_link, name, name),
	TEXT(struct bu_net_link, kind, name),
	TEXT(struct bu_net_link, mac, mac_or_none),
	INT(struct bu_net_link, mtu),
	TEXT(struct bu_net_link, operstate, token),
	TEXT(struct bu_net_link, master, token),
	INT(struct bu_net_link, vlan),
	TEXT(struct bu_net_link, parent, token),
	TEXT(struct bu_net_link, bond_mode, token),
	INT(struct bu_net_link, bond_miimon_ms),
	TEXT(struct bu_net_link, bond_hash, token),
	TEXT(struct bu_net_link, bond_active, token),
	TEXT(struct bu_net_link, bond_partner, mac_or_none),
	INT(struct bu_net_link, bond_aggregator),
	END,
};

/* The lists of an inventory; ports, the list in a list, are read by hand. */
/* clang-format off */
#define LIST(member, its_max, its_fields)                                                \
	{.key = #member,                                                                 \
	 .max = its_max,                                                                 \
	 .fields = its_fields,                                                           \
	 .size = sizeof(*((struct bu_inventory *)0)->member),                            \
	 .offset = offsetof(struct bu_inventory, member),                                \
	 .count_offset = offsetof(struct bu_inventory, member##_count)}
/* clang-format on */
static const struct list {
	const char *key;
	size_t max;
	const struct field *fields;
	size_t size;
	size_t offset;
	size_t count_offset;
} lists[] = {
	LIST(disks, BU_DISKS_MAX, disk_fields),
	LIST(nics, BU_NICS_MAX, nic_fields),
	LIST(pci, BU_PCI_MAX, pci_fields),
	LIST(gpus, BU_GPUS_MAX, gpu_fields),
	LIST(rdma, BU_RDMA_MAX, rdma_fields),
	LIST(links, BU_NET_LINKS_MAX, link_fields),
};

struct bu_inventory *
bu_inventory_create(void)
{
	return bu_xcalloc(1, sizeof(struct bu_inventory));
}

void
bu_inventory_destroy(struct bu_inventory *inventory)
{
	if (!inventory)
		return;
	free(inventory->disks);
	free(inventory->nics);
	free(inventory->pci);
	free(inventory->gpus);
	free(inventory->rdma);
	free(inventory->links);
	free(inventory);
}

void
bu_cleanup_inventory(struct bu_inventory **inventory)
{
	bu_inventory_destroy(*inventory);
}

static json_t *
write_field(const struct field *field, const void *object)
{
	const void *member = (const char *)object + field->offset;
	int number = field->kind == INT64_FIELD || field->kind == TEXT_FIELD
			     ? 0
			     : *(const int *)member;
	json_t *text;

	switch (field->kind) {
	case TEXT_FIELD:
		text = json_string(member);
		return text ? text : json_string(""); /* no UTF-8 */
	case INT_FIELD:
		return json_integer(number);
	case INT64_FIELD:
		return json_integer(*(const int64_t *)member);
	case FLAG_FIELD:
		return json_boolean(number);
	case WORD_FIELD:
		return json_string(field->words[number]);
	}
	return NULL;
}

static json_t *
write_fields(const struct field *fields, const void *object)
{
	json_t *value = json_object();

	for (; fields->key; fields++)
		json_object_set_new(value, fields->key, write_field(fields, object));
	return value;
}

static json_t *
write_array(const struct field *fields, const void *members, size_t count, size_t size)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array, write_fields(fields, (const char *)members + i * size));
	return array;
}

static json_t *
write_words(const char words[][BU_NET_WORD_SIZE], size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(words[i]));
	return array;
}

json_t *
bu_inventory_to_json(const struct bu_inventory *inventory)
{
	json_t *value = write_fields(top_fields, inventory);
	json_t *rdma;

	json_object_set_new(value, "v", json_integer(VERSION));
	json_object_set_new(value, "cpu", write_fields(cpu_fields, &inventory->cpu));
	json_object_set_new(value, "dmi", write_fields(dmi_fields, &inventory->dmi));
	for (size_t i = 0; i < BU_LEN(lists); i++) {
		const char *base = (const char *)inventory;
		const void *members;
		size_t count = *(const size_t *)(base + lists[i].count_offset);

		memcpy(&members, base + lists[i].offset, sizeof(members));
		json_object_set_new(
			value, lists[i].key,
			write_array(lists[i].fields, members, count, lists[i].size));
	}
	rdma = json_object_get(value, "rdma");
	for (size_t i = 0; i < inventory->rdma_count; i++) {
		const struct bu_rdma *device = &inventory->rdma[i];

		json_object_set_new(json_array_get(rdma, i), "ports",
				    write_array(port_fields, device->ports,
						device->ports_count,
						sizeof(device->ports[0])));
	}
	for (size_t i = 0; i < inventory->links_count; i++) {
		const struct bu_net_link *link = &inventory->links[i];
		json_t *row = json_array_get(json_object_get(value, "links"), i);

		json_object_set_new(
			row, "addresses",
			write_words(link->addresses, link->addresses_count));
		json_object_set_new(row, "routes",
				    write_words(link->routes, link->routes_count));
	}
	return value;
}

static int
read_text(const struct field *field, const json_t *object, char *ret,
	  struct bu_err *err)
{
	const char *text;

	if (bu_json_get_str(object, field->key, &text, err))
		return -1;
	if (!field->form->holds(text))
		return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': is not %s",
				  field->key, field->form->what);
	return bu_json_copy_str(object, field->key, ret, field->size, err);
}

static int
read_word(const struct field *field, const json_t *object, int *ret, struct bu_err *err)
{
	const char *text;

	if (bu_json_get_str(object, field->key, &text, err))
		return -1;
	for (int i = 0; field->words[i]; i++)
		if (strcmp(field->words[i], text) == 0) {
			*ret = i;
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': '%s' or '%s' is needed",
			  field->key, field->words[0], field->words[1]);
}

static int
read_number(const struct field *field, const json_t *object, int64_t max, int64_t *ret,
	    struct bu_err *err)
{
	int64_t number;

	if (bu_json_get_int(object, field->key, &number, err))
		return -1;
	if (number < 0 || number > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 0 to %lld are allowed", field->key,
				  (long long)max);
	*ret = number;
	return 0;
}

static int
read_flag(const struct field *field, const json_t *object, int *ret, struct bu_err *err)
{
	const json_t *value = json_object_get(object, field->key);

	if (!json_is_boolean(value))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': true or false is needed", field->key);
	*ret = json_is_true(value);
	return 0;
}

static int
read_field(const struct field *field, const json_t *value, void *object,
	   struct bu_err *err)
{
	void *member = (char *)object + field->offset;
	int64_t number;

	switch (field->kind) {
	case TEXT_FIELD:
		return read_text(field, value, member, err);
	case INT_FIELD:
		if (read_number(field, value, INT_MAX, &number, err))
			return -1;
		*(int *)member = (int)number;
		return 0;
	case INT64_FIELD:
		return read_number(field, value, INT64_MAX, member, err);
	case FLAG_FIELD:
		return read_flag(field, value, member, err);
	case WORD_FIELD:
		return read_word(field, value, member, err);
	}
	return -1;
}

static int
read_fields(const struct field *fields, const json_t *value, void *object,
	    struct bu_err *err)
{
	if (!json_is_object(value))
		return bu_err_set(err, BU_ERR_INVAL, 0, "an object is needed");
	for (; fields->key; fields++)
		if (read_field(fields, value, object, err))
			return -1;
	return 0;
}

/* The array of that name, with at most max members. */
static const json_t *
get_array(const json_t *value, const char *key, size_t max, struct bu_err *err)
{
	const json_t *array = json_object_get(value, key);

	if (!json_is_array(array))
		bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': a list is needed", key);
	else if (json_array_size(array) > max)
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "field '%s': has %zu members; at most %zu are allowed", key,
			   json_array_size(array), max);
	else
		return array;
	return NULL;
}

static int
read_array(const struct field *fields, const char *key, const json_t *array,
	   void *members, size_t size, struct bu_err *err)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (read_fields(fields, json_array_get(array, i),
				(char *)members + i * size, err))
			return bu_err_wrap(err, "%s[%zu]", key, i);
	return 0;
}

static int
read_list(const struct list *list, const json_t *value, struct bu_inventory *inventory,
	  struct bu_err *err)
{
	const json_t *array = get_array(value, list->key, list->max, err);
	void *members;

	if (!array)
		return -1;
	members = bu_xcalloc(json_array_size(array) + 1, list->size);
	memcpy((char *)inventory + list->offset, &members, sizeof(members));
	*(size_t *)((char *)inventory + list->count_offset) = json_array_size(array);
	return read_array(list->fields, list->key, array, members, list->size, err);
}

static int
read_ports(const json_t *rdma, struct bu_inventory *inventory, struct bu_err *err)
{
	for (size_t i = 0; i < inventory->rdma_count; i++) {
		struct bu_rdma *device = &inventory->rdma[i];
		const json_t *array = get_array(json_array_get(rdma, i), "ports",
						BU_RDMA_PORTS_MAX, err);

		if (!array || read_array(port_fields, "ports", array, device->ports,
					 sizeof(device->ports[0]), err))
			return bu_err_wrap(err, "rdma[%zu]", i);
		device->ports_count = json_array_size(array);
	}
	return 0;
}

static int
read_words(const json_t *object, const char *key, char words[][BU_NET_WORD_SIZE],
	   size_t *ret_count, struct bu_err *err)
{
	const json_t *array = get_array(object, key, BU_NET_WORDS_MAX, err);

	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (!text || strlen(text) >= BU_NET_WORD_SIZE ||
		    !address_form.holds(text))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field '%s': member %zu is not %s", key, i,
					  address_form.what);
		strcpy(words[i], text);
	}
	*ret_count = json_array_size(array);
	return array ? 0 : -1;
}

static int
read_links(const json_t *links, struct bu_inventory *inventory, struct bu_err *err)
{
	for (size_t i = 0; i < inventory->links_count; i++) {
		struct bu_net_link *link = &inventory->links[i];
		const json_t *row = json_array_get(links, i);

		if (read_words(row, "addresses", link->addresses,
			       &link->addresses_count, err) ||
		    read_words(row, "routes", link->routes, &link->routes_count, err))
			return bu_err_wrap(err, "links[%zu]", i);
	}
	return 0;
}

static int
read_all(const json_t *value, struct bu_inventory *inventory, struct bu_err *err)
{
	int64_t version;

	if (bu_json_get_int(value, "v", &version, err))
		return -1;
	if (version != VERSION)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'v': version %lld; %d is known",
				  (long long)version, VERSION);
	if (read_fields(top_fields, value, inventory, err))
		return -1;
	if (read_fields(cpu_fields, json_object_get(value, "cpu"), &inventory->cpu,
			err))
		return bu_err_wrap(err, "cpu");
	if (read_fields(dmi_fields, json_object_get(value, "dmi"), &inventory->dmi,
			err))
		return bu_err_wrap(err, "dmi");
	for (size_t i = 0; i < BU_LEN(lists); i++) {
		int optional = lists[i].fields == link_fields;

		if ((!optional || json_object_get(value, lists[i].key)) &&
		    read_list(&lists[i], value, inventory, err))
			return -1;
	}
	if (read_ports(json_object_get(value, "rdma"), inventory, err))
		return -1;
	return read_links(json_object_get(value, "links"), inventory, err);
}

struct bu_inventory *
bu_inventory_from_json(const json_t *value, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();

	if (read_all(value, inventory, err)) {
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

		if ((pci_only && !*nic->pci) || machine->macs_count == BU_MACS_MAX)
			continue;
		if (bu_mac_normalize(nic->mac, machine->macs[machine->macs_count]) == 0)
			machine->macs_count++;
	}
}

/* A USB interface is mostly the way to the BMC: its address is the same everywhere. */
void
bu_inventory_machine(const struct bu_inventory *inventory, struct bu_machine *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->serial, inventory->dmi.serial, sizeof(ret->serial));
	memcpy(ret->uuid, inventory->dmi.uuid, sizeof(ret->uuid));
	add_macs(inventory, 1, ret);
	if (ret->macs_count == 0)
		add_macs(inventory, 0, ret);
}

const char *
bu_firmware_name(int firmware)
{
	return firmware == BU_FIRMWARE_UEFI ? firmwares[1] : firmwares[0];
}

const char *
bu_signature_name(int signature)
{
	return signature == BU_SIGNATURE_NONE ? signatures[0] : signatures[1];
}
