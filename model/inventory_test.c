/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory over the wire and back, every way to spoil it, and machine ids. */
#include "model/inventory.h"

#include <string.h>

#include "base/json.h"
#include "model/machine.h"
#include "tests/support/unseen.h"

static const char good[] =
	"{\"v\":1,\"boot_id\":\"6a1f0e1c-7d37-4a0e-8f7e-5a4f0c1d2e3f\","
	"\"kernel\":\"6.1.0-28-amd64\",\"firmware\":\"uefi\",\"memory_bytes\":"
	"2164260864,"
	"\"cpu\":{\"model\":\"Xeon "
	"8480+\",\"sockets\":2,\"cores\":112,\"threads\":224},"
	"\"dmi\":{\"vendor\":\"ACME\",\"product\":\"GX8\",\"serial\":\"S "
	"1\",\"uuid\":\"\"},"
	"\"disks\":[{\"name\":\"nvme0n1\",\"path\":\"/dev/nvme0n1\",\"serial\":\"X\","
	"\"size_bytes\":3840755982336,\"rotational\":false,\"removable\":true,"
	"\"signature\":\"present\"}],"
	"\"nics\":[{\"name\":\"eth0\",\"mac\":\"52:54:00:77:00:01\",\"driver\":\"mlx5_"
	"core\","
	"\"pci\":\"0000:17:00.0\",\"speed_mbps\":400000,\"operstate\":\"up\"}],"
	"\"pci\":[{\"address\":\"0000:17:00.0\",\"class\":\"020700\",\"vendor\":"
	"\"15b3\","
	"\"device\":\"1021\",\"driver\":\"mlx5_core\"}],"
	"\"gpus\":[{\"pci\":\"0000:18:00.0\",\"device\":\"2330\",\"driver\":\"\"}],"
	"\"rdma\":[{\"name\":\"mlx5_0\",\"node_guid\":\"5054:00ff:fe77:0001\","
	"\"ports\":[{"
	"\"port\":1,\"state\":\"ACTIVE\",\"rate\":\"400 Gb/sec (4X NDR)\","
	"\"link_layer\":\"InfiniBand\",\"netdev\":\"ib0\"}]}],"
	"\"links\":[{\"name\":\"bond0\",\"kind\":\"bond\",\"mac\":\"\",\"mtu\":9000,"
	"\"operstate\":\"up\",\"master\":\"\",\"vlan\":0,\"parent\":\"\","
	"\"bond_mode\":\"802.3ad\",\"bond_miimon_ms\":100,\"bond_hash\":\"layer3+4\","
	"\"bond_active\":\"\",\"bond_partner\":\"52:54:00:7b:00:02\","
	"\"bond_aggregator\":1,\"addresses\":[\"10.79.0.11/24\"],"
	"\"routes\":[\"10.0.0.0/8 via 10.79.0.1\"]}]}";

static json_t *
good_json(void)
{
	struct bu_err err = {0};
	json_t *value = bu_json_parse(good, strlen(good), "the test", &err);

	ck_assert_msg(value != NULL, "%s", err.text);
	return value;
}

START_TEST(comes_back_as_it_went)
{
	bu_autojson json_t *in = good_json();
	bu_autojson json_t *out = NULL;
	struct bu_err err = {0};
	struct bu_inventory *inventory = bu_inventory_from_json(in, &err);

	ck_assert_msg(inventory != NULL, "%s", err.text);
	ck_assert_int_eq(inventory->firmware, BU_FIRMWARE_UEFI);
	ck_assert_int_eq(inventory->cpu.threads, 224);
	ck_assert_int_eq(inventory->memory_bytes, 2164260864);
	ck_assert_str_eq(inventory->dmi.serial, "S 1");
	ck_assert_uint_eq(inventory->disks_count, 1);
	ck_assert_int_eq(inventory->disks[0].size_bytes, 3840755982336);
	ck_assert_int_eq(inventory->disks[0].rotational, 0);
	ck_assert_int_eq(inventory->disks[0].removable, 1);
	ck_assert_int_eq(inventory->disks[0].signature, BU_SIGNATURE_PRESENT);
	ck_assert_int_eq(inventory->nics[0].speed_mbps, 400000);
	ck_assert_str_eq(inventory->gpus[0].device, "2330");
	ck_assert_uint_eq(inventory->rdma[0].ports_count, 1);
	ck_assert_str_eq(inventory->rdma[0].ports[0].rate, "400 Gb/sec (4X NDR)");
	ck_assert_uint_eq(inventory->links_count, 1);
	ck_assert_str_eq(inventory->links[0].addresses[0], "10.79.0.11/24");
	ck_assert_str_eq(inventory->links[0].routes[0], "10.0.0.0/8 via 10.79.0.1");
	ck_assert_int_eq(inventory->firmware, BU_FIRMWARE_UEFI);
	ck_assert_int_ne(inventory->disks[0].signature, BU_SIGNATURE_NONE);
	out = bu_inventory_to_json(inventory);
	ck_assert(json_equal(in, out));
	bu_inventory_destroy(inventory);
}
END_TEST

/* Sets a field by path: "disks.0.name". NULL takes it away. */
static void
spoil(json_t *value, const char *path, const char *json)
{
	char part[64];

	for (;;) {
		size_t size = strcspn(path, ".");

		memcpy(part, path, size);
		part[size] = '\0';
		if (!path[size])
			break;
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(part))
					     : json_object_get(value, part);
		path += size + 1;
	}
	if (json)
		json_object_set_new(value, part,
				    json_loads(json, JSON_DECODE_ANY, NULL));
	else
		json_object_del(value, part);
}

static json_t *
again(const json_t *document)
{
	bu_autoinventory struct bu_inventory *inventory =
		bu_inventory_from_json(document, NULL);

	return inventory ? bu_inventory_to_json(inventory) : NULL;
}

/* Kernel, processor, DMI's four, serial number of the disk, rate of the port. */
START_TEST(no_text_of_a_machine_is_unseen)
{
	bu_autojson json_t *document = good_json();

	unseen_everywhere(document, again, 8);
}
END_TEST

START_TEST(refuses_what_is_wrong)
{
	static const struct {
		const char *path;
		const char *json;
		const char *text; /* in the error */
	} cases[] = {
		{"v", "2", "v"},
		{"v", NULL, "v"},
		{"v", "\"1\"", "v"},
		{"boot_id", "\"a b\"", "boot_id"},
		{"links", NULL, "links"},
		{"boot_id", "\"0123456789012345678901234567890123456789\"",
		 "at most 39"},
		{"firmware", "\"coreboot\"", "expected 'bios', 'uefi'"},
		{"firmware", "1", "firmware"},
		{"memory_bytes", "-1", "memory_bytes"},
		{"memory_bytes", "1.5", "memory_bytes"},
		{"cpu", "[]", "cpu: expected an object"},
		{"cpu", NULL, "cpu: missing; expected an object"},
		{"cpu.cores", "3000000000", "cpu.cores"},
		{"dmi.uuid", "null", "dmi.uuid"},
		{"disks", "{}", "disks: expected a list"},
		{"disks", NULL, "disks: missing; expected a list"},
		{"disks.0.name", "\"\"", "disks[0].name"},
		{"disks.0.path", "\"/etc/passwd\"", "disks[0].path"},
		{"disks.0.path", "\"/dev/../etc\"", "disks[0].path"},
		{"disks.0.path", "\"/dev/a b\"", "disks[0].path"},
		{"disks.0.size_bytes", "\"1\"", "disks[0].size_bytes"},
		{"disks.0.rotational", "0", "disks[0].rotational"},
		{"disks.0.signature", "\"maybe\"", "expected 'none', 'present'"},
		{"nics.0.mac", "\"52:54:00:77:00\"", "nics[0].mac"},
		{"nics.0.mac", "\"52:54:00:77:00:0A\"", "nics[0].mac"},
		{"nics.0.mac", "\"52-54-00-77-00-01\"", "nics[0].mac"},
		{"nics.0.name", "\"0123456789abcdef\"", "nics[0].name"},
		{"nics.0.pci", "\"usb\"", "nics[0].pci"},
		{"pci.0.class", "\"0x0207\"", "pci[0].class"},
		{"gpus.0.device", "\"\"", "gpus[0].device"},
		{"links", "{}", "links: expected a list"},
		{"links.0.mac", "\"zz\"", "links[0].mac"},
		{"links.0.kind", "\"\"", "links[0].kind"},
		{"links.0.mtu", "-1", "links[0].mtu"},
		{"links.0.addresses", "null", "links[0].addresses: expected a list"},
		{"links.0.addresses", "[\"<b>\"]", "links[0].addresses"},
		{"links.0.routes", "[1]", "links[0].routes"},
		{"links.0.routes", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
		 "at most 16"},
		{"rdma", "[1]", "rdma[0]: expected an object"},
		{"rdma.0.ports", "1", "rdma[0].ports: expected a list"},
		{"rdma.0.ports", "[{}]", "rdma[0].ports[0].port"},
		{"rdma.0.ports", "[1,2,3,4,5,6,7,8,9]", "at most 8"},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *value = good_json();
		struct bu_err err = {0};

		spoil(value, cases[i].path, cases[i].json);
		ck_assert_msg(bu_inventory_from_json(value, &err) == NULL, "%s %s",
			      cases[i].path, cases[i].json);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
		ck_assert_int_eq(strncmp(err.text, "inventory: ", 11), 0);
	}
	ck_assert_ptr_null(bu_inventory_from_json(NULL, NULL));
	ck_assert_ptr_null(bu_inventory_from_json(json_true(), NULL));
}
END_TEST

/* Every list has a cap; exactly so many are taken. */
START_TEST(caps_every_list)
{
	static const struct {
		const char *key;
		size_t max;
	} lists[] = {
		{"disks", BU_DISKS_MAX}, {"nics", BU_NICS_MAX}, {"pci", BU_PCI_MAX},
		{"gpus", BU_GPUS_MAX},   {"rdma", BU_RDMA_MAX},
	};

	for (size_t i = 0; i < BU_LEN(lists); i++) {
		bu_autojson json_t *value = good_json();
		json_t *list = json_object_get(value, lists[i].key);
		struct bu_err err = {0};
		struct bu_inventory *inventory;

		while (json_array_size(list) < lists[i].max)
			json_array_append(list, json_array_get(list, 0));
		inventory = bu_inventory_from_json(value, &err);
		ck_assert_msg(inventory != NULL, "%s", err.text);
		bu_inventory_destroy(inventory);
		json_array_append(list, json_array_get(list, 0));
		ck_assert_ptr_null(bu_inventory_from_json(value, &err));
		ck_assert_msg(strstr(err.text, lists[i].key) != NULL, "%s", err.text);
	}
}
END_TEST

START_TEST(ignores_fields_of_a_newer_agent)
{
	bu_autojson json_t *value = good_json();
	bu_autoinventory struct bu_inventory *inventory = NULL;

	json_object_set_new(value, "odour", json_string("2.0"));
	inventory = bu_inventory_from_json(value, NULL);
	ck_assert_ptr_nonnull(inventory);
}
END_TEST

START_TEST(writes_an_empty_one)
{
	bu_autoinventory struct bu_inventory *empty = bu_inventory_create();
	bu_autojson json_t *value = bu_inventory_to_json(empty);
	bu_autoinventory struct bu_inventory *again = NULL;
	struct bu_err err = {0};

	again = bu_inventory_from_json(value, &err);
	ck_assert_msg(again != NULL, "%s", err.text);
	ck_assert_uint_eq(again->disks_count, 0);
}
END_TEST

START_TEST(finds_the_machine)
{
	bu_autojson json_t *value = good_json();
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_machine machine;
	json_t *nics = json_object_get(value, "nics");

	json_array_append_new(nics, json_deep_copy(json_array_get(nics, 0)));
	json_array_append_new(nics, json_deep_copy(json_array_get(nics, 0)));
	json_array_append_new(nics, json_deep_copy(json_array_get(nics, 0)));
	spoil(value, "nics.1.mac", "\"02:00:00:00:00:01\"");
	spoil(value, "nics.1.pci", "\"\""); /* the BMC's USB interface */
	spoil(value, "nics.2.mac", "\"00:00:00:00:00:00\"");
	spoil(value, "nics.3.mac",
	      "\"80:00:02:08:fe:80:00:00:00:00:00:00:52:54:00:ff:fe:77:00:01\"");
	inventory = bu_inventory_from_json(value, NULL);
	bu_inventory_machine(inventory, &machine);
	ck_assert_str_eq(machine.serial, "S 1");
	ck_assert_uint_eq(machine.macs_count, 1);
	ck_assert_str_eq(machine.macs[0], "52:54:00:77:00:01");
	inventory->nics[0].pci[0] = '\0'; /* only USB is left */
	inventory->nics_count = 2;
	bu_inventory_machine(inventory, &machine);
	ck_assert_uint_eq(machine.macs_count, 2);
}
END_TEST

START_TEST(normalizes_macs)
{
	static const char *const bad[] = {
		"",
		"52:54:00:77:00",
		"52:54:00:77:00:0",
		"52:54:00:77:00:0g",
		"52-54",
		"5254007700",
		"52:54:00:77:00:01:",
		"00:00:00:00:00:00",
		"ff:ff:ff:ff:ff:ff",
		"01:00:5e:00:00:01",
	};
	char mac[BU_MAC_SIZE] = "untouched";

	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_msg(bu_mac_normalize(bad[i], mac) == -1, "%s", bad[i]);
	ck_assert_str_eq(mac, "untouched");
	ck_assert_int_eq(bu_mac_normalize("52-54-00-AB-cd-01", mac), 0);
	ck_assert_str_eq(mac, "52:54:00:ab:cd:01");
	ck_assert_int_eq(bu_mac_normalize("525400770001", mac), 0);
	ck_assert_str_eq(mac, "52:54:00:77:00:01");
	ck_assert_int_eq(bu_mac_normalize("5254.0077.0002", mac), 0);
	ck_assert_str_eq(mac, "52:54:00:77:00:02");
}
END_TEST

static struct bu_machine
machine_of(const char *uuid, const char *serial, const char *mac, const char *mac2)
{
	struct bu_machine machine = {0};

	strcpy(machine.uuid, uuid);
	strcpy(machine.serial, serial);
	if (mac)
		strcpy(machine.macs[machine.macs_count++], mac);
	if (mac2)
		strcpy(machine.macs[machine.macs_count++], mac2);
	return machine;
}

START_TEST(names_machines)
{
	struct bu_machine a =
		machine_of("4C4C4544-0042-3510-8053-B4C04F4E4D32", " Ab1 ",
			   "52:54:00:77:00:02", "52:54:00:77:00:01");
	struct bu_machine same =
		machine_of("4c4c4544-0042-3510-8053-b4c04f4e4d32", "aB1",
			   "52:54:00:77:00:01", "52:54:00:77:00:02");
	struct bu_machine other =
		machine_of("4c4c4544-0042-3510-8053-b4c04f4e4d32", "aB2",
			   "52:54:00:77:00:01", "52:54:00:77:00:02");
	struct bu_machine plain = machine_of("", "", "52:54:00:77:00:01", NULL);
	struct bu_machine filler =
		machine_of("00000000-0000-0000-0000-000000000000",
			   "To Be Filled By O.E.M.", "52:54:00:77:00:01", NULL);
	struct bu_machine nobody = machine_of("", "Default string", NULL, NULL);
	char id[BU_MACHINE_ID_SIZE];
	char id2[BU_MACHINE_ID_SIZE];
	struct bu_err err = {0};

	/* sha256("4c4c4544-0042-3510-8053-b4c04f4e4d32|ab1|") */
	ck_assert_int_eq(bu_machine_id(&a, id, &err), 0);
	ck_assert_str_eq(id, "1197199d74dc7c27");
	ck_assert_int_eq(bu_machine_id(&same, id2, &err), 0);
	ck_assert_str_eq(id, id2);
	ck_assert_int_eq(bu_machine_id(&other, id2, &err), 0);
	ck_assert_str_ne(id, id2);
	ck_assert_int_eq(bu_machine_id(&plain, id, &err), 0);
	ck_assert_int_eq(bu_machine_id(&filler, id2, &err), 0);
	ck_assert_str_eq(id, id2);
	ck_assert_int_eq(bu_machine_id(&nobody, id, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(id, id2); /* untouched */
	ck_assert_int_eq(bu_machine_has_mac(&a, "52-54-00-77-00-01"), 1);
	ck_assert_int_eq(bu_machine_has_mac(&a, "52:54:00:77:00:03"), 0);
	ck_assert_int_eq(bu_machine_has_mac(&a, "rubbish"), 0);
}
END_TEST

BU_UNIT("inventory", comes_back_as_it_went, no_text_of_a_machine_is_unseen,
	refuses_what_is_wrong, caps_every_list, ignores_fields_of_a_newer_agent,
	writes_an_empty_one, finds_the_machine, normalizes_macs, names_machines)
