/* SPDX-License-Identifier: Apache-2.0 */
/* [mount]: what is loaded, which facets a node has of it, and what is refused. */
#include <string.h>

#include "base/json.h"
#include "profiles/export/export.h"
#include "profiles/export/facets.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define HOME                                                                           \
	"[mount home]\nfs = nfs4\nsource = lake1:/export/home\npath = /home\n"         \
	"options = hard, vers=4.2\nwrite = /home/.check\n"
#define WORK "[mount work]\nfs = lustre\nsource = 10.1.0.4@o2ib:/work\npath = /work\n"

/* The good profile, with these lines in its pool and these sections. */
static struct bu_desired *
load(const char *pool, const char *sections, char **ret_text)
{
	bu_autofree char *lines = bu_xasprintf("hardware = vm\n%s", pool);
	bu_autofree char *first = bu_xasprintf("%s[hardware vm]", sections);
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "hardware = vm\n", lines);
	bu_autofree char *both = bu_testing_replace(site, "[hardware vm]", first);
	struct bu_desired *desired;

	*ret_text = bu_testing_check(both, bu_testing_racks, &desired);
	return desired;
}

START_TEST(a_node_has_what_its_pool_mounts)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired = load("mounts = work, home\n", HOME WORK, &text);
	bu_autojson json_t *json = NULL;
	const struct bu_desired_node *node;
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	node = bu_desired_node(desired, "node001");
	ck_assert_uint_eq(node->pool->mounts_count, 2);
	ck_assert_str_eq(node->pool->mounts[0]->name, "work");
	ck_assert_str_eq(node->pool->mounts[1]->options, "hard,vers=4.2");
	bu_facets_collect(&facets, desired, node);
	ck_assert_str_eq(bu_facets_find(&facets, "mount.home.source")->value,
			 "lake1:/export/home");
	ck_assert_int_eq(bu_facets_find(&facets, "mount.home.source")->change,
			 BU_CLASS_REBOOT);
	ck_assert_str_eq(bu_facets_find(&facets, "mount.work.fs")->value, "lustre");
	ck_assert_int_eq(bu_facet_change("mount.work.path"), BU_CLASS_REBOOT);
	json = bu_desired_to_json(desired);
	ck_assert_str_eq(
		json_string_value(json_array_get(
			json_object_get(
				json_array_get(json_object_get(json, "pool"), 0),
				"mounts"),
			1)),
		"home");
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(a_mount_that_no_pool_names_is_nobodys)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired = load("", HOME, &text);
	struct bu_facets facets = {0};

	ck_assert_msg(desired != NULL, "%s", text);
	bu_facets_collect(&facets, desired, bu_desired_node(desired, "node001"));
	ck_assert_ptr_null(bu_facets_find(&facets, "mount.home.source"));
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

static const struct {
	const char *pool, *sections, *want;
} wrongs[] = {
	{"mounts = hom\n", HOME,
	 "[pool train] mounts: there is no [mount hom] (did you mean 'home'?); allowed "
	 "is the name of a [mount] section\n"},
	{"mounts = home, home\n", HOME,
	 "[pool train] mounts: names 'home' twice; name each mount once\n"},
	{"", "[mount home]\nfs = nfs4\nsource = lake1:/x\npath = /usr/home\n",
	 "[mount home] path: '/usr/home' is a directory of the system; allowed are "
	 "others, like /home\n"},
	{"", "[mount home]\nfs = nfs4\nsource = a:/x\npath = /home\nwrite = /homes/x\n",
	 "[mount home] write: '/homes/x' is not in /home; the check writes to this file "
	 "system alone\n"},
	{"", "[mount home]\nfs = nfs5\nsource = lake1:/x\npath = /home\n",
	 "[mount home] fs: 'nfs5' is unknown; allowed is nfs4|nfs|lustre\n"},
	{"mounts = home, work\n",
	 HOME "[mount work]\nfs = nfs\nsource = a:/w\npath = /home/work\n",
	 "[pool train] mounts: work is mounted on /home/work, and home on /home; each "
	 "needs its own place\n"},
	{"mounts = home\ndata = lake:1GiB:ext4:/home\n", HOME,
	 "[pool train] mounts: home is mounted on /home, and lake on /home; each needs "
	 "its own place\n"},
	{"root = raw\nmounts = home\n", HOME,
	 "[pool train] root: raw and mounts: they would replace the /etc/fstab of an "
	 "image that bringup did not build; put them into the image and take mounts "
	 "out\n"},
};

START_TEST(each_wrong_one_is_named)
{
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		bu_autofree char *text = NULL;

		ck_assert_ptr_null(load(wrongs[i].pool, wrongs[i].sections, &text));
		ck_assert_msg(strchr(text, '[') &&
				      strcmp(strchr(text, '['), wrongs[i].want) == 0,
			      "row %zu: %s", i, text);
	}
}
END_TEST

START_TEST(a_mount_is_not_in_an_array)
{
	bu_autofree char *text = NULL;
	struct bu_desired *desired =
		load("mounts = work\n",
		     "[mount work]\nfs = nfs\nsource = a:/w\npath = /scratch/work\n"
		     "[disks fast]\nscratch = rotational:no\n"
		     "[hardware other]\ndisk = smallest\ndisks = fast\n",
		     &text);

	/* Of another class: nothing is in its way. */
	ck_assert_msg(desired != NULL, "%s", text);
	bu_desired_destroy(desired);
	free(text);
	{
		bu_autofree char *site = bu_testing_replace(
			bu_testing_site, "disk = smallest\n",
			"disk = smallest\ndisks = fast\n[disks fast]\nscratch = "
			"rotational:no\n[mount work]\nfs = nfs\nsource = a:/w\n"
			"path = /scratch/work\n[hardware more]\ndisk = smallest\n");
		bu_autofree char *both = bu_testing_replace(
			site, "hardware = vm\n", "hardware = vm\nmounts = work\n");

		text = bu_testing_check(both, bu_testing_racks, &desired);
	}
	ck_assert_ptr_null(desired);
	ck_assert_msg(strstr(text, "work is mounted on /scratch/work, and the array of "
				   "[disks] on /scratch") != NULL,
		      "%s", text);
}
END_TEST

BU_UNIT("mounts", a_node_has_what_its_pool_mounts,
	a_mount_that_no_pool_names_is_nobodys, each_wrong_one_is_named,
	a_mount_is_not_in_an_array)
