/* SPDX-License-Identifier: Apache-2.0 */
/* [disks]: what is loaded, which facets a node has of it, and what is refused. */
#include <string.h>

#include "profiles/export/facets.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define LINKED "disk = smallest\ndisks = fast\n[disks fast]\n"

static struct bu_desired *
load(const char *to, char **ret_text)
{
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "disk = smallest\n", to);
	struct bu_desired *desired;

	*ret_text = bu_testing_check(site, bu_testing_racks, &desired);
	return desired;
}

START_TEST(an_array_is_the_nodes)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired =
		load("disk = smallest\ndisks = fast\nnics = 2\n[disks fast]\n"
		     "scratch = path:*-nvme-*\nscratch_disks = 8\n"
		     "scratch_keys = volatile\n[hardware more]\ndisk = smallest\n",
		     &text);
	const struct bu_desired_node *node;
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	node = bu_desired_node(desired, "node001");
	ck_assert_str_eq(bu_desired_scratch(node), "path:*-nvme-*");
	ck_assert_int_eq(bu_desired_keeps(node), 1);
	ck_assert_int_eq(node->hardware->disks->scratch_disks, 8);
	ck_assert_str_eq(node->hardware->disks->scratch_fs, "xfs");
	ck_assert_str_eq(node->hardware->disks->scratch_mount, "/scratch");
	bu_facets_collect(&facets, desired, node);
	ck_assert_str_eq(bu_facets_find(&facets, "disks.scratch")->value,
			 "path:*-nvme-*");
	ck_assert_int_eq(bu_facets_find(&facets, "disks.scratch")->change,
			 BU_CLASS_WIPE);
	ck_assert_int_eq(bu_facet_change("disks.scratch_mount"), BU_CLASS_REBOOT);
	ck_assert_str_eq(bu_facets_find(&facets, "disks.scratch_keys")->value,
			 "volatile");
	ck_assert_int_eq(bu_desired_forgets_scratch(node), 1);
	ck_assert_int_eq(bu_facet_change("disks.scratch_keys"), BU_CLASS_WIPE);
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(without_disks_there_is_none)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired = load("disk = smallest\n", &text);
	const struct bu_desired_node *node = bu_desired_node(desired, "node001");

	ck_assert_ptr_null(bu_desired_scratch(node));
	ck_assert_int_eq(bu_desired_forgets_scratch(node), 0);
	ck_assert_int_eq(bu_desired_keeps(node), 0);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(a_mirror_is_the_systems)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired = load(
		"disk = size:-1TiB,first\ndisks = pair\nnics = 2\n[disks pair]\n"
		"mirror = size:-1TiB, smallest\n[hardware more]\ndisk = smallest\n",
		&text);
	const struct bu_desired_node *node;
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	node = bu_desired_node(desired, "node001");
	ck_assert_str_eq(bu_desired_mirror(node), "size:-1TiB,smallest");
	ck_assert_ptr_null(bu_desired_scratch(node));
	ck_assert_int_eq(bu_desired_keeps(node), 0);
	bu_facets_collect(&facets, desired, node);
	ck_assert_str_eq(bu_facets_find(&facets, "disks.mirror")->value,
			 "size:-1TiB,smallest");
	ck_assert_int_eq(bu_facet_change("disks.mirror"), BU_CLASS_WIPE);
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

static const struct {
	const char *to, *want;
} wrongs[] = {
	{LINKED "mirror = serial:A\nscratch_disks = 2\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_disks: there is no array; give scratch, or "
	 "leave it out\n"},
	{LINKED "mirror = sdb\n[hardware more]\ndisk = smallest\n",
	 "site.ini:21: [disks fast] scratch: is missing, and so is mirror; without one "
	 "of them, or roots = 2, the section says nothing\n"
	 "site.ini:22: [disks fast] mirror: 'sdb' is wrong; allowed is what stays with a "
	 "disk, like serial:S6X1, wwn:eui.0025, path:pci-0000:02:00.0-nvme-1, "
	 "model:MZQL2*, size:400GiB-1TiB, rotational:no, smallest, first, boot-pair; "
	 "all of them hold; no name like /dev/sda, which the kernel gives anew at each "
	 "start\n"},
	{"disk = smallest\ndisks = fsat\n[disks fast]\nscratch = rotational:no\n"
	 "[hardware more]\ndisk = smallest\n",
	 "site.ini:20: [hardware vm] disks: there is no [disks fsat] (did you mean "
	 "'fast'?); allowed is the name of a [disks] section\n"},
	{LINKED "scratch_fs = ext4\n[hardware more]\ndisk = smallest\n",
	 "site.ini:21: [disks fast] scratch: is missing, and so is mirror; without one "
	 "of them, or roots = 2, the section says nothing\n"},
	{LINKED "roots = 1\n[hardware more]\ndisk = smallest\n",
	 "site.ini:21: [disks fast] scratch: is missing, and so is mirror; without one "
	 "of them, or roots = 2, the section says nothing\n"},
	{LINKED "roots = 3\n[hardware more]\ndisk = smallest\n",
	 "site.ini:22: [disks fast] roots: '3' is out of range; allowed is 1 to 2\n"},
	{LINKED "roots = 2\nmirror = serial:A\n[hardware more]\ndisk = smallest\n",
	 "site.ini:22: [disks fast] roots: 2 and mirror: of a mirrored system each disk "
	 "has a loader of its own, and they would not agree on the root; take one of "
	 "them out\n"},
	{LINKED "scratch = rotational:no, smallest\n[hardware more]\ndisk = smallest\n",
	 "site.ini:22: [disks fast] scratch: 'rotational:no,smallest' picks some of "
	 "its disks; an array takes all that it says, like path:*-nvme-* or "
	 "rotational:no\n"},
	{LINKED "scratch = rotational:no\nscratch_mount = /usr/fast\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_mount: '/usr/fast' is a directory of the "
	 "system; allowed are others, like /scratch\n"},
	{LINKED "scratch = rotational:no\nscratch_fs = btrfs\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_fs: 'btrfs' is unknown; allowed is "
	 "xfs|ext4\n"},
	{LINKED "scratch = rotational:no\nscratch_keys = tpm\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_keys: 'tpm' is unknown; allowed is "
	 "none|volatile\n"},
	{LINKED "mirror = serial:A\nscratch_keys = volatile\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_keys: there is no array to encrypt; give "
	 "scratch, or leave it out\n"},
};

/* The disk of a class and its mirror -> what is wrong. */
static const struct {
	const char *disk, *mirror, *want;
} pairs[] = {
	{"boot-pair", "mirror = boot-pair", ""},
	{"boot-pair, model:A*", "mirror = boot-pair,model:A*", ""},
	{"boot-pair", "scratch = rotational:no",
	 "a boot-pair is the disk of [hardware vm] ('boot-pair') and the mirror of its "
	 "[disks] ('none'); both say it, in the same words\n"},
	{"boot-pair", "mirror = boot-pair, model:A*", "('boot-pair,model:A*')"},
	{"smallest", "mirror = boot-pair", "('smallest') and the mirror"},
	{"boot-pair", "mirror = boot-pair\nscratch = boot-pair",
	 "[disks fast] scratch: 'boot-pair' picks some of its disks"},
};

START_TEST(a_boot_pair_is_disk_and_mirror)
{
	for (size_t i = 0; i < BU_LEN(pairs); i++) {
		bu_autofree char *text = NULL;
		bu_autofree char *to = bu_xasprintf(
			"disk = %s\ndisks = fast\nnics = 2\n[disks fast]\n%s\n"
			"[hardware more]\ndisk = smallest\n",
			pairs[i].disk, pairs[i].mirror);
		struct bu_desired *desired = load(to, &text);

		ck_assert_msg((desired != NULL) == !*pairs[i].want, "%zu: %s", i, text);
		ck_assert_msg(strstr(text, pairs[i].want) != NULL, "%zu: %s", i, text);
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(each_wrong_one_is_named)
{
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		bu_autofree char *text = NULL;

		ck_assert_ptr_null(load(wrongs[i].to, &text));
		ck_assert_str_eq(text, wrongs[i].want);
	}
}
END_TEST

/* The kernel's names pass to nobody's array. */
START_TEST(a_kernels_name_is_refused)
{
	bu_autofree char *text = NULL;

	bu_desired_destroy(load(LINKED "scratch = /dev/nvme1n1\n[hardware more]\n"
				       "disk = smallest\n",
				&text));
	ck_assert_msg(strstr(text, "[disks fast] scratch: '/dev/nvme1n1' is wrong") !=
			      NULL,
		      "%s", text);
}
END_TEST

/* Of a pool whose nodes have an array in /scratch. Owned. */
static char *
with_data(const char *data, int *ret_loads)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "disk = smallest\n",
		LINKED "scratch = rotational:no\n[hardware more]\ndisk = smallest\n");
	bu_autofree char *line = bu_xasprintf("hardware = vm\ndata = %s\n", data);
	bu_autofree char *both = bu_testing_replace(site, "hardware = vm\n", line);
	struct bu_desired *desired;
	char *text = bu_testing_check(both, bu_testing_racks, &desired);

	*ret_loads = desired != NULL;
	bu_desired_destroy(desired);
	return text;
}

/* Nor below one another: the later mount would hide the earlier one. */
START_TEST(two_mounts_are_in_two_places)
{
	static const char *const places[] = {"/scratch", "/scratch/", "/scratch/lake"};
	int loads;

	for (size_t i = 0; i < BU_LEN(places); i++) {
		bu_autofree char *data = bu_xasprintf(
			"a:1GiB:ext4:/scratches, b:1GiB:ext4:%s", places[i]);
		bu_autofree char *text = with_data(data, &loads);
		bu_autofree char *want = bu_xasprintf(
			"site.ini:34: [pool train] data: 'b:1GiB:ext4:%s' is mounted "
			"where [disks fast] has its array, or above or below it; each "
			"needs its own place\n",
			places[i]);

		ck_assert_int_eq(loads, 0);
		ck_assert_str_eq(text, want);
	}
}
END_TEST

START_TEST(an_array_is_not_below_a_partition)
{
	bu_autofree char *text = NULL;
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "disk = smallest\n",
		LINKED "scratch = rotational:no\nscratch_mount = /lake/fast\n"
		       "[hardware more]\ndisk = smallest\n");
	bu_autofree char *both = bu_testing_replace(
		site, "hardware = vm\n", "hardware = vm\ndata = a:1GiB:ext4:/lake\n");
	struct bu_desired *desired;

	text = bu_testing_check(both, bu_testing_racks, &desired);
	ck_assert_ptr_null(desired);
	ck_assert_ptr_nonnull(strstr(text, "'a:1GiB:ext4:/lake' is mounted where"));
}
END_TEST

/* What the agent knows, how the node boots and who may log in. */
START_TEST(no_mount_hides_what_the_system_needs)
{
	static const char *const places[] = {"/etc/bringup",
					     "/etc/ssh",
					     "/boot/efi",
					     "/run/x",
					     "/bin/x",
					     "/lib32/x",
					     "/lib64/x",
					     "/var/lib/bringup/",
					     "/var/lib/",
					     "/sbin/x",
					     "/lib/bringup",
					     "/var/lib/bringup",
					     "/usr/",
					     "/root",
					     "/var/lib/bringup/change"};
	int loads;

	for (size_t i = 0; i < BU_LEN(places); i++) {
		bu_autofree char *data = bu_xasprintf("a:1GiB:ext4:%s", places[i]);
		bu_autofree char *text = with_data(data, &loads);
		bu_autofree char *want =
			bu_xasprintf("site.ini:34: [pool train] data: '%s' is a "
				     "directory of the system; allowed are others, "
				     "like /scratch\n",
				     places[i]);

		ck_assert_int_eq(loads, 0);
		ck_assert_str_eq(text, want);
	}
	free(with_data("a:1GiB:ext4:/var/lib/lake, b:1GiB:ext4:/var/lib/bringups, "
		       "c:1GiB:ext4:/tmp/x, d:1GiB:ext4:/library",
		       &loads));
	ck_assert_int_eq(loads, 1);
}
END_TEST

START_TEST(two_roots_are_the_systems)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired =
		load("disk = smallest\ndisks = two\nnics = 2\n[disks two]\nroots = 2\n"
		     "scratch = path:*-nvme-*\n[hardware more]\ndisk = smallest\n",
		     &text);
	const struct bu_desired_node *node;
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	node = bu_desired_node(desired, "node001");
	ck_assert_int_eq(bu_desired_has_two_roots(node), 1);
	ck_assert_int_eq(bu_desired_keeps(node), 1);
	bu_facets_collect(&facets, desired, node);
	ck_assert_str_eq(bu_facets_find(&facets, "disks.roots")->value, "2");
	ck_assert_int_eq(bu_facet_change("disks.roots"), BU_CLASS_WIPE);
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

/* Nodes of before have no word of it, and nothing differs for them. */
START_TEST(one_root_is_nothing_new)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired =
		load("disk = smallest\ndisks = one\nnics = 2\n[disks one]\nroots = 1\n"
		     "mirror = size:1TiB-\n[hardware more]\ndisk = smallest\n",
		     &text);
	const struct bu_desired_node *node;
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	node = bu_desired_node(desired, "node001");
	ck_assert_int_eq(bu_desired_has_two_roots(node), 0);
	ck_assert_int_eq(bu_desired_keeps(node), 0);
	bu_facets_collect(&facets, desired, node);
	ck_assert_ptr_null(bu_facets_find(&facets, "disks.roots"));
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

/* What a pool cannot have on two disks yet. */
START_TEST(what_is_not_mirrored_is_refused)
{
	static const struct {
		const char *disk, *pool, *want, *keys;
	} rows[] = {
		{"smallest", "root = ram", "no disk to mirror and no two roots\n",
		 "roots = 2"},
		{"smallest", "root = raw", "no mirror and no second root\n",
		 "roots = 2"},
		{"smallest", "data = root-b:1GiB:ext4:/lake",
		 "[pool train] data: 'root-b' is the name of a partition of the system, "
		 "which has two roots\n",
		 "roots = 2"},
		{"smallest", "data = root-c:1GiB:ext4:/lake", "", "roots = 2"},
		{"smallest", "data = lake:1GiB:ext4:/lake\ndata_keys = tpm", "",
		 "roots = 2"},
		{"smallest", "data = lake:1GiB:ext4:/lake",
		 "[pool train] data: [disks fast] mirrors the system, and data "
		 "partitions are not mirrored yet; take data out, or mirror\n",
		 "mirror = serial:A"},
		{"smallest", "root = ram",
		 "ram and [hardware vm] disks: nodes whose system runs from memory have "
		 "no array yet, no disk to mirror and no two roots\n",
		 "mirror = serial:A"},
		{"smallest", "root = raw",
		 "raw and [hardware vm] disks: an image that bringup did not build "
		 "mounts no array and starts from no mirror and no second root\n",
		 "mirror = serial:A"},
		{"serial:A", "root = disk",
		 "[disks fast] mirror says the disk of [hardware vm] itself: "
		 "'serial:A'; it takes another one\n",
		 "mirror = serial:A"},
		{"smallest", "root_size = 8 GiB", "", "mirror = serial:A"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *to =
			bu_xasprintf("disk = %s\ndisks = fast\n[disks fast]\n%s\n"
				     "[hardware more]\ndisk = smallest\n",
				     rows[i].disk, rows[i].keys);
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, "disk = smallest\n", to);
		bu_autofree char *line =
			bu_xasprintf("hardware = vm\n%s\n", rows[i].pool);
		bu_autofree char *both =
			bu_testing_replace(site, "hardware = vm\n", line);
		struct bu_desired *desired;
		bu_autofree char *text =
			bu_testing_check(both, bu_testing_racks, &desired);

		ck_assert_msg(!desired == !!*rows[i].want &&
				      strstr(text, rows[i].want) != NULL,
			      "row %zu: %s", i, text);
		bu_desired_destroy(desired);
	}
}
END_TEST

BU_UNIT("disks", an_array_is_the_nodes, without_disks_there_is_none,
	each_wrong_one_is_named, a_boot_pair_is_disk_and_mirror,
	a_kernels_name_is_refused, two_mounts_are_in_two_places,
	an_array_is_not_below_a_partition, no_mount_hides_what_the_system_needs,
	a_mirror_is_the_systems, what_is_not_mirrored_is_refused,
	two_roots_are_the_systems, one_root_is_nothing_new)
