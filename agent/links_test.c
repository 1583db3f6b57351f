/* SPDX-License-Identifier: Apache-2.0 */
/* Networks made of files: bonds, a VLAN, routes; and this machine's own. */
#include "agent/links.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-links-XXXXXX";

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	bu_autofree char *dir = bu_xstrndup(path, strrchr(path, '/') - path);
	struct bu_err err = {0};

	ck_assert_msg(bu_mkdir_p(dir, 0755, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_file_write_text(path, 0644, &err, "%s", text) == 0, "%s",
		      err.text);
}

static void
put_link(const char *link, const char *file, const char *text)
{
	bu_autofree char *name = bu_xasprintf("sys/class/net/%s/%s", link, file);

	put(name, text);
}

static void
add_link(const char *name, const char *mac, const char *mtu)
{
	put_link(name, "address", mac);
	put_link(name, "mtu", mtu);
	put_link(name, "type", "1\n");
	put_link(name, "operstate", "up\n");
}

static void
enslave(const char *name, const char *master)
{
	bu_autofree char *path = bu_xasprintf("%s/sys/class/net/%s/master", root, name);
	bu_autofree char *target = bu_xasprintf("../%s", master);

	put_link(name, "device/vendor", "0x1af4\n");
	ck_assert_int_eq(symlink(target, path), 0);
}

static void
begin(void)
{
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static const struct bu_net_link *
get(const struct bu_inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->links_count; i++)
		if (strcmp(inventory->links[i].name, name) == 0)
			return &inventory->links[i];
	ck_abort_msg("no link %s", name);
	return NULL;
}

START_TEST(bonds_vlans_and_routes)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	const struct bu_net_link *link;

	begin();
	add_link("lo", "00:00:00:00:00:00\n", "65536\n");
	put("sys/class/net/bonding_masters", "bond0\n");
	add_link("eth0", "52:54:00:77:00:01\n", "1500\n");
	put_link("eth0", "device/vendor", "0x1af4\n");
	add_link("eth2", "52:54:00:79:00:01\n", "9000\n");
	enslave("eth2", "bond0");
	put_link("eth2", "bonding_slave/ad_aggregator_id", "1\n");
	add_link("bond0", "52:54:00:79:00:01\n", "9000\n");
	put_link("bond0", "bonding/mode", "802.3ad 4\n");
	put_link("bond0", "bonding/miimon", "100\n");
	put_link("bond0", "bonding/xmit_hash_policy", "layer3+4 1\n");
	put_link("bond0", "bonding/active_slave", "\n");
	put_link("bond0", "bonding/ad_partner_mac", "52:54:00:7b:00:02\n");
	put_link("bond0", "bonding/ad_aggregator", "1\n");
	add_link("bond1", "52:54:00:7a:00:01\n", "1500\n");
	put_link("bond1", "bonding/mode", "active-backup 1\n");
	put_link("bond1", "bonding/active_slave", "eth3\n");
	put_link("bond1", "bonding/ad_partner_mac", "00:00:00:00:00:00\n");
	add_link("storage", "52:54:00:79:00:01\n", "8996\n");
	add_link("eth0.7", "52:54:00:77:00:01\n", "1500\n");
	put("proc/net/vlan/config", "VLAN Dev name    | VLAN ID\nName-Type: "
				    "VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n"
				    "storage        | 100  | bond0\n"
				    "eth0.7         | 7  | eth0\n"
				    "gone           | 8  | eth0\n");
	put("proc/net/route",
	    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\t"
	    "Mask\tMTU\tWindow\tIRTT\n"
	    "eth0\t00000000\t01004D0A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
	    "eth0\t00004D0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	    "storage\t0000100A\t09004F0A\t0003\t0\t0\t0\t0000FFFF\t0\t0\t"
	    "0\n");
	bu_links_collect(root, inventory);
	ck_assert_uint_eq(inventory->links_count, 6);
	link = get(inventory, "eth0");
	ck_assert_str_eq(link->kind, "ethernet");
	ck_assert_int_eq(link->mtu, 1500);
	ck_assert_str_eq(link->mac, "52:54:00:77:00:01");
	ck_assert_uint_eq(link->routes_count, 1);
	ck_assert_str_eq(link->routes[0], "0.0.0.0/0 via 10.77.0.1");
	link = get(inventory, "eth2");
	ck_assert_str_eq(link->master, "bond0");
	ck_assert_int_eq(link->bond_aggregator, 1);
	link = get(inventory, "bond0");
	ck_assert_str_eq(link->kind, "bond");
	ck_assert_str_eq(link->bond_mode, "802.3ad");
	ck_assert_str_eq(link->bond_hash, "layer3+4");
	ck_assert_str_eq(link->bond_partner, "52:54:00:7b:00:02");
	ck_assert_int_eq(link->bond_miimon_ms, 100);
	ck_assert_int_eq(link->bond_aggregator, 1);
	link = get(inventory, "bond1");
	ck_assert_str_eq(link->bond_active, "eth3");
	ck_assert_str_eq(link->bond_partner, "");
	link = get(inventory, "storage");
	ck_assert_str_eq(link->kind, "vlan");
	ck_assert_int_eq(link->vlan, 100);
	ck_assert_str_eq(link->parent, "bond0");
	ck_assert_int_eq(link->mtu, 8996);
	ck_assert_str_eq(link->routes[0], "10.16.0.0/16 via 10.79.0.9");
	link = get(inventory, "eth0.7");
	ck_assert_str_eq(link->kind, "vlan");
	ck_assert_int_eq(link->vlan, 7);
	ck_assert_str_eq(link->parent, "eth0");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

#define IB_MAC "80:00:02:08:fe:80:00:00:00:00:00:00:52:54:00:ff:fe:77:00:01"

START_TEST(each_link_is_of_its_kind)
{
	static const struct {
		const char *name, *type, *file, *address; /* file: that it has, too */
		const char *kind, *mac;
	} rows[] = {
		{"eth0", "1\n", "device/vendor", "52:54:00:77:00:01\n", "ethernet",
		 "52:54:00:77:00:01"},
		{"ib0", "32\n", "device/vendor", IB_MAC "\n", "infiniband", IB_MAC},
		{"br0", "1\n", "bridge/x", "52:54:00:77:00:02\n", "bridge",
		 "52:54:00:77:00:02"},
		{"bond0", "1\n", "bonding/mode", "52:54:00:77:00:03\n", "bond",
		 "52:54:00:77:00:03"},
		{"dummy0", "1\n", "x", "52:54:00:77:00:04\n", "other",
		 "52:54:00:77:00:04"},
		{"tun0", "65534\n", "device/x", "", "other", ""},
		/* what is no address is told as none */
		{"odd0", "1\n", "x", "52:54:00:77:00:0g\n", "other", ""},
		{"odd1", "1\n", "x", "00:00:00:00:00:00\n", "other", ""},
		{"odd2", "1\n", "x", "52:54:00:77:00\n", "other", ""},
		{"fifteen__bytes_", "1\n", "x", "", "other", ""},
	};
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put_link(rows[i].name, "mtu", "1500\n");
		put_link(rows[i].name, "type", rows[i].type);
		put_link(rows[i].name, "address", rows[i].address);
		put_link(rows[i].name, rows[i].file, "");
	}
	/* One that is cut would be another's name. */
	put_link("sixteen___bytes_", "mtu", "1500\n");
	bu_links_collect(root, inventory);
	ck_assert_uint_eq(inventory->links_count, BU_LEN(rows));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_net_link *link = get(inventory, rows[i].name);

		ck_assert_str_eq(link->kind, rows[i].kind);
		ck_assert_str_eq(link->mac, rows[i].mac);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* More than the other end takes is left out here: of links, and of a link's routes. */
START_TEST(keeps_to_what_the_other_end_takes)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	bu_autofree char *routes = bu_xstrdup("Iface\tDestination\tGateway\n");

	begin();
	for (int i = 0; i <= BU_NET_LINKS_MAX; i++) {
		bu_autofree char *name = bu_xasprintf("e%d", i);

		put_link(name, "mtu", "1500\n");
	}
	for (int i = 0; i <= BU_NET_WORDS_MAX; i++) {
		bu_autofree char *old = routes;

		routes = bu_xasprintf("%se0\t0000%02X0A\t01004D0A\t0003\t0\t0\t0\t"
				      "00FFFFFF\t0\t0\t0\n",
				      old, i);
	}
	put("proc/net/route", routes);
	bu_links_collect(root, inventory);
	ck_assert_uint_eq(inventory->links_count, BU_NET_LINKS_MAX);
	ck_assert_uint_eq(get(inventory, "e0")->routes_count, BU_NET_WORDS_MAX);
	ck_assert_str_eq(get(inventory, "e0")->routes[0], "10.0.0.0/24 via 10.77.0.1");
	ck_assert_str_eq(get(inventory, "e0")->routes[1], "10.1.0.0/24 via 10.77.0.1");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* What the kernel says of this machine passes the check of the other end. */
START_TEST(this_machine_fits_the_shape)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	bu_autoinventory struct bu_inventory *back = NULL;
	json_t *json;
	struct bu_err err = {0};

	bu_links_collect("", inventory);
	json = bu_inventory_to_json(inventory);
	back = bu_inventory_from_json(json, &err);
	json_decref(json);
	ck_assert_msg(back != NULL, "%s", err.text);
	ck_assert_uint_eq(back->links_count, inventory->links_count);
}
END_TEST

/* In a network of its own; what each link has by itself is no address to tell. */
START_TEST(addresses_are_those_of_the_kernel)
{
	BU_NEEDS("root", "ip");
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	const struct bu_net_link *link;

	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("sysfs", "/sys", "sysfs", 0, NULL), 0);
	ck_assert_int_eq(system("ip link add left type veth peer name right && "
				"ip link set left up && ip link set right up && "
				"ip addr add 192.0.2.7/25 dev left && "
				"ip addr add 2001:db8::7/56 dev left nodad"),
			 0);
	bu_links_collect("", inventory);
	ck_assert_uint_eq(inventory->links_count, 2);
	link = get(inventory, "left");
	ck_assert_uint_eq(link->addresses_count, 2);
	ck_assert_str_eq(link->addresses[0], "192.0.2.7/25");
	ck_assert_str_eq(link->addresses[1], "2001:db8::7/56");
	link = get(inventory, "right");
	ck_assert_uint_eq(link->addresses_count, 0);
	/* A tree of files has none of this machine's. */
	begin();
	put("sys/class/net/left/mtu", "1500\n");
	bu_links_collect(root, inventory);
	ck_assert_uint_eq(get(inventory, "left")->addresses_count, 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("links", bonds_vlans_and_routes, each_link_is_of_its_kind,
	keeps_to_what_the_other_end_takes, addresses_are_those_of_the_kernel,
	this_machine_fits_the_shape)
