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
		     "scratch = path:*-nvme-*\nscratch_disks = 8\n[hardware more]\n"
		     "disk = smallest\n",
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
	ck_assert_int_eq(bu_desired_keeps(node), 0);
	bu_desired_destroy(desired);
}
END_TEST

static const struct {
	const char *to, *want;
} wrongs[] = {
	{"disk = smallest\ndisks = fsat\n[disks fast]\nscratch = rotational:no\n"
	 "[hardware more]\ndisk = smallest\n",
	 "site.ini:20: [hardware vm] disks: there is no [disks fsat] (did you mean "
	 "'fast'?); allowed is the name of a [disks] section\n"},
	{LINKED "scratch_fs = ext4\n[hardware more]\ndisk = smallest\n",
	 "site.ini:21: [disks fast] scratch: is missing; without it, the section says "
	 "nothing\n"},
	{LINKED "scratch = rotational:no, smallest\n[hardware more]\ndisk = smallest\n",
	 "site.ini:22: [disks fast] scratch: 'rotational:no,smallest' says one disk; "
	 "an array takes all disks that it says, like path:*-nvme-* or "
	 "rotational:no\n"},
	{LINKED "scratch = rotational:no\nscratch_mount = /usr/fast\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_mount: '/usr/fast' is a directory of the "
	 "system; allowed are others, like /scratch\n"},
	{LINKED "scratch = rotational:no\nscratch_fs = btrfs\n[hardware more]\n"
		"disk = smallest\n",
	 "site.ini:23: [disks fast] scratch_fs: 'btrfs' is unknown; allowed is "
	 "xfs|ext4\n"},
};

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
	ck_assert_msg(strstr(text,
			     "[disks fast] scratch: '/dev/nvme1n1' is a name that "
			     "the kernel gives anew at each start") != NULL,
		      "%s", text);
}
END_TEST

START_TEST(two_mounts_are_in_two_places)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "disk = smallest\n",
		LINKED "scratch = rotational:no\n[hardware more]\ndisk = smallest\n");
	bu_autofree char *both = bu_testing_replace(
		site, "hardware = vm\n",
		"hardware = vm\ndata = a:1GiB:ext4:/a, b:1GiB:ext4:/scratch\n");
	struct bu_desired *desired;
	bu_autofree char *text = bu_testing_check(both, bu_testing_racks, &desired);

	ck_assert_ptr_null(desired);
	ck_assert_str_eq(text,
			 "site.ini:34: [pool train] data: 'b:1GiB:ext4:/scratch' is "
			 "mounted where [disks fast] has its array; each needs its own "
			 "place\n");
}
END_TEST

BU_UNIT("disks", an_array_is_the_nodes, without_disks_there_is_none,
	each_wrong_one_is_named, a_kernels_name_is_refused,
	two_mounts_are_in_two_places)
