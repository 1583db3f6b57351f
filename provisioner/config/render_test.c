/* SPDX-License-Identifier: Apache-2.0 */
/* The exact files of the demo's first node, and what is refused. */
#include "provisioner/config/render.h"

#include <string.h>

#include "profiles/load/load.h"
#include "tests/support/unit.h"

static struct bu_desired *desired;
static const struct bu_nic nics[] = {{.mac = "52:54:00:77:00:01"},
				     {.mac = "52-54-00-78-00-01"}};

static struct bu_config_input
demo(void)
{
	struct bu_findings findings = {0};
	struct bu_err err;
	struct bu_tree *tree = bu_tree_load(BU_SRCDIR "/profiles/demo", &err);

	ck_assert_ptr_nonnull(tree);
	desired = bu_profiles_load(tree, &findings);
	ck_assert_ptr_nonnull(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return (struct bu_config_input){.desired = desired,
					.node = bu_desired_node(desired, "node001"),
					.nics = nics,
					.nic_count = 2,
					.appliance = "10.77.0.1"};
}

static void
check_file(const struct bu_config *config, const char *path, mode_t mode,
	   const char *content)
{
	for (size_t i = 0; i < config->count; i++) {
		if (strcmp(config->files[i].path, path) != 0)
			continue;
		ck_assert_uint_eq(config->files[i].mode, mode);
		ck_assert_str_eq(config->files[i].content, content);
		ck_assert_uint_eq(config->files[i].size, strlen(content));
		return;
	}
	ck_abort_msg("%s is missing", path);
}

START_TEST(renders_the_first_node_of_the_demo)
{
	struct bu_config_input input = demo();
	struct bu_err err;
	struct bu_config *config = bu_config_render(&input, &err);

	ck_assert_msg(config != NULL, "%s", config ? "" : err.text);
	ck_assert_uint_eq(config->count, 7);
	check_file(config, "/etc/hostname", 0644, "node001\n");
	check_file(config, "/etc/hosts", 0644,
		   "# Written by bringup; changes are lost.\n"
		   "127.0.0.1 localhost\n"
		   "::1 localhost ip6-localhost\n"
		   "10.77.0.1 bringup\n"
		   "10.77.0.11 node001\n"
		   "10.78.0.11 node001-fabric\n"
		   "10.77.0.12 node002\n"
		   "10.78.0.12 node002-fabric\n");
	check_file(config, "/etc/resolv.conf", 0644,
		   "# Written by bringup; changes are lost.\n"
		   "nameserver 10.77.0.1\noptions timeout:1 attempts:1\n");
	check_file(config, "/etc/chrony/sources.d/bringup.sources", 0644,
		   "# Written by bringup; changes are lost.\n"
		   "server 10.77.0.1 iburst\n");
	check_file(config, "/etc/systemd/network/10-bringup-boot.network", 0644,
		   "# Written by bringup; changes are lost.\n"
		   "[Match]\nPermanentMACAddress=52:54:00:77:00:01\n\n"
		   "[Link]\nRequiredForOnline=yes\n\n"
		   "[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n"
		   "Address=10.77.0.11/24\n");
	check_file(config, "/etc/systemd/network/10-bringup-fabric.network", 0644,
		   "# Written by bringup; changes are lost.\n"
		   "[Match]\nPermanentMACAddress=52:54:00:78:00:01\n\n"
		   "[Link]\nRequiredForOnline=no\n\n"
		   "[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n"
		   "Address=10.78.0.11/24\n");
	check_file(config, "/etc/bringup/rxe", 0644, "rxe0 52:54:00:78:00:01\n");
	ck_assert_str_eq(config->kargs, "");
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(digest_follows_the_content)
{
	struct bu_config_input input = demo();
	struct bu_config *one = bu_config_render(&input, NULL);
	struct bu_config *same = bu_config_render(&input, NULL);
	struct bu_config *other;

	desired->networks[1].mtu = 4200;
	other = bu_config_render(&input, NULL);
	ck_assert_str_eq(one->digest, same->digest);
	ck_assert_str_ne(one->digest, other->digest);
	ck_assert_ptr_nonnull(strstr(other->files[5].content,
				     "[Link]\nRequiredForOnline=no\nMTUBytes=4200\n"));
	bu_config_destroy(one);
	bu_config_destroy(same);
	bu_config_destroy(other);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(machines_that_do_not_fit_are_refused)
{
	static const struct bu_nic swapped[] = {{.mac = "52:54:00:78:00:01"},
						{.mac = "52:54:00:77:00:01"}};
	static const struct bu_nic evil[] = {{.mac = "52:54:00:77:00:01"},
					     {.mac = "x\n[Match]"}};
	struct bu_config_input input = demo();
	struct bu_err err;

	input.nic_count = 1;
	ck_assert_ptr_null(bu_config_render(&input, &err));
	ck_assert_str_eq(err.text,
			 "node001: network 'fabric' is on nic 1, but the machine has 1 "
			 "NICs; correct [network fabric] nic or look for the card");
	input.nic_count = 2;
	input.nics = swapped;
	ck_assert_ptr_null(bu_config_render(&input, &err));
	ck_assert_str_eq(err.text,
			 "node001: the profile has MAC 52:54:00:77:00:01 for network "
			 "'boot', but nic 0 has 52:54:00:78:00:01; correct the MAC or "
			 "[network boot] nic");
	input.nics = evil;
	ck_assert_ptr_null(bu_config_render(&input, &err));
	ck_assert_str_eq(err.text,
			 "node001: nic 1 () has no MAC address of Ethernet; name an "
			 "InfiniBand port by [network] port instead");
	input.nics = nics;
	input.appliance = "bringup";
	ck_assert_ptr_null(bu_config_render(&input, &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("render", renders_the_first_node_of_the_demo, digest_follows_the_content,
	machines_that_do_not_fit_are_refused)
