/* SPDX-License-Identifier: Apache-2.0 */
/* Which networks and machines dnsmasq is told of. */
#include "provisioner/served.h"

#include <string.h>

#include "tests/support/unit.h"

/* One boot network is the appliance's own, the other behind a router, with a gateway of
 * its own; the machines of one class load GRUB. */
START_TEST(networks_behind_routers_and_machines_with_grub)
{
	struct bu_desired_hardware plain = {.boot_loader = BU_BOOT_LOADER_IPXE};
	struct bu_desired_hardware secure = {.boot_loader = BU_BOOT_LOADER_GRUB};
	struct bu_desired_network networks[] = {
		{.name = (char *)(uintptr_t) "boot",
		 .role = BU_ROLE_BOOT,
		 .cidr = {0x0a4d0000, 24},
		 .index = 0,
		 .gateway = (char *)(uintptr_t) "10.77.0.254"},
		{.name = (char *)(uintptr_t) "row-b",
		 .role = BU_ROLE_BOOT,
		 .cidr = {0x0a500000, 23},
		 .index = 1,
		 .gateway = (char *)(uintptr_t) "10.80.1.254"},
		{.name = (char *)(uintptr_t) "fabric",
		 .role = BU_ROLE_FABRIC,
		 .cidr = {0x0a510000, 24},
		 .index = 2},
	};
	const struct bu_desired_network *here[] = {&networks[0]},
					*far[] = {&networks[1]};
	struct bu_desired_pool pools[] = {
		{.networks = here, .networks_count = 1},
		{.networks = far, .networks_count = 1},
	};
	uint32_t addresses[][3] = {{0x0a4d000b, 0, 0}, {0, 0x0a500102, 0}, {0, 0, 0}};
	struct bu_desired_node nodes[] = {
		{.name = (char *)(uintptr_t) "a",
		 .mac = (char *)(uintptr_t) "52:54:00:00:00:01",
		 .pool = &pools[0],
		 .hardware = &plain,
		 .addresses = addresses[0]},
		{.name = (char *)(uintptr_t) "b",
		 .mac = (char *)(uintptr_t) "52:54:00:00:00:02",
		 .pool = &pools[1],
		 .hardware = &secure,
		 .addresses = addresses[1]},
		{.name = (char *)(uintptr_t) "no-mac",
		 .pool = &pools[0],
		 .hardware = &plain,
		 .addresses = addresses[2]},
	};
	const struct bu_desired desired = {
		.networks = networks,
		.networks_count = BU_LEN(networks),
		.nodes = nodes,
		.nodes_count = BU_LEN(nodes),
	};
	struct bu_served served;

	bu_served_make(&desired, "10.77.0.1", &served);
	ck_assert_uint_eq(served.site.count, 2);
	ck_assert_str_eq(served.hosts[0].address, "10.77.0.11");
	ck_assert_int_eq(served.hosts[0].grub, 0);
	ck_assert_str_eq(served.hosts[1].address, "10.80.1.2");
	ck_assert_int_eq(served.hosts[1].grub, 1);
	/* Not the router of the last machine's network. */
	ck_assert_str_eq(served.site.gateway, "10.77.0.254");
	ck_assert_uint_eq(served.site.nets_count, 1);
	ck_assert_str_eq(served.nets[0].name, "row-b");
	ck_assert_str_eq(served.nets[0].net, "10.80.0.0");
	ck_assert_str_eq(served.nets[0].mask, "255.255.254.0");
	ck_assert_str_eq(served.nets[0].gateway, "10.80.1.254");
	bu_served_fini(&served);
}
END_TEST

START_TEST(without_a_profile_there_is_our_own_name)
{
	struct bu_served served;

	bu_served_make(NULL, "10.77.0.1", &served);
	ck_assert_uint_eq(served.site.count, 0);
	ck_assert_str_eq(served.site.names, "10.77.0.1 bringup\n");
	bu_served_fini(&served);
}
END_TEST

START_TEST(names_of_the_appliance_are_of_dns_and_of_its_configuration)
{
	struct bu_desired desired = {
		.site = {.domain = (char *)(uintptr_t) "lab.example"}};
	bu_autofree char *none = bu_served_hosts(NULL, "", "");
	bu_autofree char *all = bu_served_hosts(&desired, "page.example, nodes.example",
						"http://media.example:8080");
	static const char *const want[] = {"bringup,bringup.lab.example,",
					   "page.example", "nodes.example",
					   ",media.example"};

	ck_assert_int_eq(strncmp(none, "bringup", 7), 0);
	for (size_t i = 0; i < BU_LEN(want); i++)
		ck_assert_msg(strstr(all, want[i]), "%s: %s", want[i], all);
}
END_TEST

BU_UNIT("served", networks_behind_routers_and_machines_with_grub,
	without_a_profile_there_is_our_own_name,
	names_of_the_appliance_are_of_dns_and_of_its_configuration)
