/* SPDX-License-Identifier: Apache-2.0 */
/* What a node should have, where that was said, and what a change of it costs. */
#include "profiles/export/facets.h"

#include <string.h>

#include "base/json.h"
#include "profiles/language/schema.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static struct bu_desired *
load(const char *site, const char *racks)
{
	struct bu_desired *desired;
	bu_autofree char *found = bu_testing_check(site, racks, &desired);

	ck_assert_msg(desired != NULL, "%s", found);
	return desired;
}

/* Name, value, class and line in site.ini of each facet of node001. */
static const struct {
	const char *name, *value;
	enum bu_class change;
	int line;
} rows[] = {
	{"cluster", "hpc", BU_CLASS_RESTART, 32},
	{"cluster.controller", "10.77.0.1:6817", BU_CLASS_RESTART, 23},
	{"cluster.driver", "slurm", BU_CLASS_RESTART, 22},
	{"features", "rxe,lab", BU_CLASS_RELABEL, 34},
	{"gres", "rdma:rxe:1", BU_CLASS_RESTART, 35},
	{"hardware.disk", "smallest", BU_CLASS_WIPE, 19},
	{"network.boot.address", "10.77.0.11", BU_CLASS_RECONFIGURE, 9},
	{"network.boot.cidr", "10.77.0.0/24", BU_CLASS_RECONFIGURE, 8},
	{"network.boot.role", "boot", BU_CLASS_RECONFIGURE, 7},
	{"network.fabric.address", "10.78.0.11", BU_CLASS_RECONFIGURE, 13},
	{"network.fabric.cidr", "10.78.0.0/24", BU_CLASS_RECONFIGURE, 12},
	{"network.fabric.nic", "1", BU_CLASS_RECONFIGURE, 14},
	{"network.fabric.rdma", "rxe", BU_CLASS_REBOOT, 15},
	{"network.fabric.role", "fabric", BU_CLASS_RECONFIGURE, 11},
};

START_TEST(all_that_a_node_should_have)
{
	struct bu_desired *desired = load(bu_testing_site, bu_testing_racks);
	const struct bu_desired_node *node = bu_desired_node(desired, "node001");
	bu_autojson json_t *value = bu_facets_json(desired, node);
	struct bu_facets facets = {0};
	char digest[65], want[65];

	bu_facets_collect(&facets, desired, node);
	ck_assert_uint_eq(facets.count, BU_LEN(rows));
	bu_facets_digest(&facets, digest);
	bu_json_digest(value, want);
	ck_assert_str_eq(digest, want);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_facet *facet = &facets.items[i];

		ck_assert_str_eq(facet->name, rows[i].name);
		ck_assert_str_eq(facet->value, rows[i].value);
		ck_assert_str_eq(bu_class_name(facet->change),
				 bu_class_name(rows[i].change));
		ck_assert_str_eq(facet->origin.file, "site.ini");
		ck_assert_msg(facet->origin.line == rows[i].line, "%s: line %d",
			      facet->name, facet->origin.line);
		ck_assert_ptr_eq(bu_facets_find(&facets, rows[i].name), facet);
		ck_assert_int_eq(bu_facet_change(facet->name), facet->change);
	}
	ck_assert_ptr_null(bu_facets_find(&facets, "kargs"));
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

/* The facet as seen with this text put into the good profile at its end, "-" = none. */
static void
check_origin(const char *from, const char *to, const char *name, const char *value,
	     const char *file, int line)
{
	bu_autofree char *site = bu_testing_replace(bu_testing_site, from, to);
	struct bu_desired *desired = load(site, bu_testing_racks);
	struct bu_facets facets = {0};
	const struct bu_facet *facet;

	bu_facets_collect(&facets, desired, bu_desired_node(desired, "node001"));
	facet = bu_facets_find(&facets, name);
	if (value) {
		ck_assert_msg(facet != NULL, "%s", name);
		ck_assert_str_eq(facet->value, value);
		ck_assert_int_eq(facet->origin.line, line);
		if (line)
			ck_assert_str_eq(facet->origin.file, file);
		else
			ck_assert_ptr_null(facet->origin.file);
	} else {
		ck_assert_msg(facet == NULL, "%s", name);
	}
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}

START_TEST(says_who_set_it)
{
	/* the hardware class, over it the pool, over it the node */
	check_origin("nics = 2\n", "nics = 2\nkargs = a=1\n", "kargs", "a=1",
		     "site.ini", 21);
	check_origin("gres =", "kargs = b=2\ngres =", "kargs", "b=2", "site.ini", 35);
	check_origin("max_unavailable = 50 %\n",
		     "max_unavailable = 50 %\n[node node001]\nkargs = c=3\n", "kargs",
		     "c=3", "site.ini", 38);
	check_origin("max_unavailable = 50 %\n",
		     "max_unavailable = 50 %\n[node node002]\nkargs = c=3\n", "kargs",
		     NULL, NULL, 0);
	/* the site, a network, the pool itself */
	check_origin("zone = z1\n", "zone = z1\nntp = 10.77.0.9\n", "site.ntp",
		     "10.77.0.9", "site.ini", 5);
	check_origin("nic = 1\n", "nic = 1\nmtu = 9000\n", "network.fabric.mtu", "9000",
		     "site.ini", 15);
	check_origin("gres =", "data = scratch:1GiB:ext4:/scratch\ngres =", "data",
		     "scratch:1GiB:ext4:/scratch", "site.ini", 35);
	check_origin("nic = 1\n",
		     "bond = active-backup\nbond_nics = 0000:18:00.0,0000:18:00.1\n"
		     "bond_miimon = 2 s\n",
		     "network.fabric.bond_miimon", "2000 ms", "site.ini", 16);
	/* what is as it would be anyway is no facet */
	check_origin("nic = 1\n", "nic = 1\nbond = none\n", "network.fabric.bond", NULL,
		     NULL, 0);
	check_origin("gres =", "canary = 1\ngres =", "canary", NULL, NULL, 0);
}
END_TEST

/* One list that is filled again and again holds what a new one would. */
START_TEST(the_node_before_leaves_nothing_behind)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "max_unavailable = 50 %\n",
		"max_unavailable = 50 %\n[node node002]\nkargs = c=3\n");
	struct bu_desired *desired = load(site, bu_testing_racks);
	static const int order[] = {0, 0, 1, 1, 0, 1, 0};
	struct bu_facets facets = {0};

	for (size_t i = 0; i < BU_LEN(order); i++) {
		const struct bu_desired_node *node = &desired->nodes[order[i]];
		bu_autojson json_t *want = bu_facets_json(desired, node);
		bu_autojson json_t *have = NULL;

		bu_facets_collect(&facets, desired, node);
		have = bu_facets_to_json(&facets);
		ck_assert_msg(json_equal(have, want), "step %zu", i);
	}
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

/* What needs an escape in JSON, and what is no ASCII. */
START_TEST(digests_are_those_of_the_json)
{
	static const char *const values[] = {"'a=\"b\" c'", "x=\303\244", "a/b",
					     "a\\b"};

	for (size_t i = 0; i < BU_LEN(values); i++) {
		bu_autofree char *to = bu_xasprintf("kargs = %s\ngres =", values[i]);
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, "gres =", to);
		struct bu_desired *desired = NULL;
		bu_autofree char *found =
			bu_testing_check(site, bu_testing_racks, &desired);
		struct bu_facets facets = {0};
		bu_autojson json_t *value = NULL;
		char digest[65], want[65];

		ck_assert_msg(desired != NULL, "%s", found);
		bu_facets_collect(&facets, desired, &desired->nodes[0]);
		value = bu_facets_to_json(&facets);
		bu_facets_digest(&facets, digest);
		bu_json_digest(value, want);
		ck_assert_msg(strcmp(digest, want) == 0, "%s", values[i]);
		bu_facets_clear(&facets);
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(a_default_is_what_an_absent_facet_is)
{
	ck_assert_str_eq(bu_facet_default("network.fabric.bond"), "none");
	ck_assert_str_eq(bu_facet_default("network.a.b.bond_miimon"), "100 ms");
	ck_assert_str_eq(bu_facet_default("kargs"), "");
	ck_assert_str_eq(bu_facet_default("cluster.munge_key"),
			 "file:/etc/munge/munge.key");
	ck_assert_str_eq(bu_facet_default("of.another.version"), "");
	ck_assert_int_eq(bu_facet_change("of.another.version"), BU_CLASS_NONE);
	ck_assert_int_eq(bu_facet_change("s.dns"), BU_CLASS_NONE);
	ck_assert_int_eq(bu_facet_change("gone"), BU_CLASS_NONE);
	ck_assert_int_eq(bu_facet_change("network.gone.mtu"), BU_CLASS_RECONFIGURE);
}
END_TEST

/* A default that is written otherwise than values are would be a facet of each node. */
START_TEST(defaults_are_written_as_values_are)
{
	struct bu_desired *desired = load(bu_testing_site, bu_testing_racks);
	struct bu_facets facets = {0};
	size_t count, compared = 0;
	const struct bu_key *keys = bu_schema_keys(&count);

	bu_facets_collect(&facets, desired, bu_desired_node(desired, "node001"));
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *name = NULL;

		if (keys[i].change == BU_CLASS_NONE || !bu_key_default(&keys[i]))
			continue;
		name = strcmp(keys[i].section, "pool") == 0
			       ? bu_xstrdup(keys[i].key)
			       : bu_xasprintf("%s.%s",
					      strcmp(keys[i].section, "network") == 0
						      ? "network.boot"
						      : keys[i].section,
					      keys[i].key);
		ck_assert_msg(bu_facet_change(name) == keys[i].change, "%s", name);
		ck_assert_msg(!bu_facets_find(&facets, name), "%s", name);
		compared++;
	}
	ck_assert_uint_gt(compared, 4);
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(differs_where_nodes_differ)
{
	struct bu_desired *desired = load(bu_testing_site, bu_testing_racks);
	bu_autojson json_t *a =
		bu_facets_json(desired, bu_desired_node(desired, "node001"));
	bu_autojson json_t *b =
		bu_facets_json(desired, bu_desired_node(desired, "node002"));
	const char *key;
	json_t *value;
	size_t differ = 0;

	ck_assert_uint_eq(json_object_size(a), BU_LEN(rows));
	json_object_foreach (a, key, value) {
		if (json_equal(value, json_object_get(b, key)))
			continue;
		ck_assert_msg(strstr(key, ".address") != NULL, "%s", key);
		differ++;
	}
	ck_assert_uint_eq(differ, 2);
	bu_desired_destroy(desired);
}
END_TEST

#define OF_NODE(lines) "[node node001]\n" lines "\n[pool train]"
#define OF_POOL(lines) "power = redfish\n" lines
#define OF_HARDWARE(lines) "disk = smallest\n" lines

/* A value of each key of reach: the lines that say it, and what it is told by. */
static const struct {
	const char *section, *key, *to, *facet;
} reaches[] = {
	{"node", "power", OF_NODE("power = manual"), "power"},
	{"node", "mac", OF_NODE("mac = 52:54:00:99:00:01"), "mac"},
	{"node", "serial", OF_NODE("serial = S9"), "serial"},
	{"node", "uuid", OF_NODE("uuid = 11111111-2222-3333-4444-555555555501"),
	 "uuid"},
	{"node", "bmc", OF_NODE("bmc = https://x"), "bmc"},
	{"node", "bmc_factory", OF_NODE("bmc_factory = file:/f"), "bmc_factory"},
	{"node", "bmc_fingerprint",
	 OF_NODE("bmc_fingerprint = "
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	 "bmc_fingerprint"},
	{"node", "rack", OF_NODE("rack = r9"), "rack"},
	{"node", "slot", OF_NODE("slot = 9"), "slot"},
	{"node", "zone", OF_NODE("zone = z9"), "zone"},
	{"node", "switch_ports", OF_NODE("switch_ports = fabric=leaf01:swp3"),
	 "switch_ports"},
	{"pool", "power", "power = manual", "power"},
	{"pool", "bmc", "power = manual\nbmc = https://x[1-2]", "bmc"},
	{"pool", "serial", OF_POOL("serial = S[1-2]"), "serial"},
	{"pool", "rack", OF_POOL("rack = r9"), "rack"},
	{"pool", "slot", OF_POOL("slot = [1-2]"), "slot"},
	{"pool", "zone", OF_POOL("zone = z9"), "zone"},
	{"pool", "bmc_network", OF_POOL("bmc_network = oob"), "bmc_network"},
	{"pool", "bmc_credentials", OF_POOL("bmc_credentials = file:/c"),
	 "bmc_credentials"},
	{"pool", "bmc_credentials_before", OF_POOL("bmc_credentials_before = file:/b"),
	 "bmc_credentials_before"},
	{"pool", "bmc_identity", OF_POOL("bmc_identity = ignore"), "bmc_identity"},
	{"pool", "bmc_reset", OF_POOL("bmc_reset = last-try"), "bmc_reset"},
	{"pool", "console", OF_POOL("console = off"), "console"},
	{"hardware", "post", OF_HARDWARE("post = 20 m"), "hardware.post"},
	{"hardware", "boot", OF_HARDWARE("boot = media"), "hardware.boot"},
	{"hardware", "boot_loader", OF_HARDWARE("boot_loader = grub"),
	 "hardware.boot_loader"},
};

/* The line of the good profile that is replaced. */
static const char *
line_of(const char *section)
{
	return strcmp(section, "node") == 0   ? "[pool train]"
	       : strcmp(section, "pool") == 0 ? "power = redfish"
					      : "disk = smallest";
}

/* There is a network of BMCs, and no machine has a serial number. */
static struct bu_desired *
load_reach(const char *from, const char *to)
{
	bu_autofree char *with =
		bu_testing_replace(bu_testing_site, "[image debian12]",
				   "[network oob]\nrole = bmc\ncidr = 10.79.0.0/24\n"
				   "[image debian12]");
	bu_autofree char *good =
		bu_testing_replace(with, "power = libvirt", "power = redfish");
	bu_autofree char *site = bu_testing_replace(good, from, to);
	int manual = strstr(to, "power = manual") == to;
	const char *a = manual ? "" : "https://node001";
	const char *b = manual ? "" : "https://node002";
	bu_autofree char *racks =
		bu_xasprintf("name,mac,bmc\nnode001,52:54:00:77:00:01,%s\n"
			     "node002,52:54:00:77:00:02,%s\n",
			     a, b);

	return load(site, racks);
}

static void
check_reach(size_t at)
{
	const char *line = line_of(reaches[at].section);
	struct bu_desired *was = load_reach(
		line, strstr(reaches[at].to, "manual\nbmc") ? "power = manual" : line);
	struct bu_desired *is = load_reach(line, reaches[at].to);
	struct bu_facets before = {0}, after = {0};
	const struct bu_facet *facet;
	size_t differ = 0;

	bu_facets_reach(&before, was, bu_desired_node(was, "node001"));
	bu_facets_reach(&after, is, bu_desired_node(is, "node001"));
	ck_assert_msg(!bu_reach_same(bu_desired_node(was, "node001"),
				     bu_desired_node(is, "node001")),
		      "%s", reaches[at].facet);
	ck_assert(bu_reach_same(bu_desired_node(is, "node001"),
				bu_desired_node(is, "node001")));
	facet = bu_facets_find(&after, reaches[at].facet);
	ck_assert_msg(facet != NULL, "%s", reaches[at].facet);
	ck_assert_msg(facet->origin.line > 0, "%s", reaches[at].facet);
	for (size_t i = 0; i < after.count; i++) {
		const struct bu_facet *old =
			bu_facets_find(&before, after.items[i].name);

		differ += !old || strcmp(old->value, after.items[i].value) != 0;
	}
	ck_assert_msg(differ == 1, "%s", reaches[at].facet);
	bu_facets_clear(&before);
	bu_facets_clear(&after);
	bu_desired_destroy(was);
	bu_desired_destroy(is);
}

START_TEST(each_key_of_reach_is_told_by_its_name)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		if (keys[i].use != BU_KEY_REACH)
			continue;
		while (at < BU_LEN(reaches) &&
		       (strcmp(reaches[at].section, keys[i].section) != 0 ||
			strcmp(reaches[at].key, keys[i].key) != 0))
			at++;
		ck_assert_msg(at < BU_LEN(reaches), "[%s] %s has no value in this test",
			      keys[i].section, keys[i].key);
		check_reach(at);
	}
}
END_TEST

BU_UNIT("facets", all_that_a_node_should_have, says_who_set_it,
	the_node_before_leaves_nothing_behind, digests_are_those_of_the_json,
	a_default_is_what_an_absent_facet_is, defaults_are_written_as_values_are,
	differs_where_nodes_differ, each_key_of_reach_is_told_by_its_name)
