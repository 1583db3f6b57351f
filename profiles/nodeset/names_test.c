/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the good profile; BIND's own checker reads the zones where it is. */
#include "profiles/nodeset/names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static struct bu_desired *desired;

static void
load(const char *extra)
{
	bu_autofree char *to = bu_xasprintf("zone = z1\n%s", extra);
	bu_autofree char *power =
		bu_testing_replace(bu_testing_site, "libvirt", "redfish");
	bu_autofree char *text = bu_testing_replace(power, "zone = z1\n", to);
	static const char racks[] =
		"name,mac,serial,bmc\n"
		"node001,52:54:00:77:00:01,A,https://bmc1.lab\n"
		"node002,52:54:00:77:00:02,B,https://10.9.0.2:8443/\n";
	bu_autofree char *found = bu_testing_check(text, racks, &desired);

	ck_assert_msg(desired != NULL, "%s", found);
}

static char *
printed(void (*fn)(const struct bu_desired *desired, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fn(desired, out);
	fclose(out);
	return text;
}

static char *
zone_of(const char *name, struct bu_err *err)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc = bu_names_print_zone(desired, name, out, err);

	fclose(out);
	if (rc == 0)
		return text;
	ck_assert_uint_eq(size, 0);
	free(text);
	return NULL;
}

START_TEST(every_node_has_a_name_in_every_network)
{
	bu_autofree char *plain = NULL, *full = NULL;

	load("");
	plain = printed(bu_names_print_hosts);
	ck_assert_str_eq(plain, "10.77.0.11 node001\n10.78.0.11 node001-fabric\n"
				"10.77.0.12 node002\n10.78.0.12 node002-fabric\n"
				"10.9.0.2 node002-bmc\n");
	bu_desired_destroy(desired);
	load("domain = lab.test\n");
	full = printed(bu_names_print_hosts);
	ck_assert_str_eq(full, "10.77.0.11 node001.lab.test node001\n"
			       "10.78.0.11 node001-fabric.lab.test node001-fabric\n"
			       "10.77.0.12 node002.lab.test node002\n"
			       "10.78.0.12 node002-fabric.lab.test node002-fabric\n"
			       "10.9.0.2 node002-bmc.lab.test node002-bmc\n");
	ck_assert_str_eq(bu_names_hosts(desired), full);
	ck_assert_ptr_eq(bu_names_hosts(desired), bu_names_hosts(desired));
	bu_desired_destroy(desired);
}
END_TEST

/* named-checkzone ends with 0 for a zone that BIND would load. */
static void
judge(const char *name, const char *text)
{
	char path[] = "/tmp/bringup-zone-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	const char *argv[] = {"sh", "-c", "named-checkzone -i local \"$1\" \"$2\"",
			      "sh", name, path,
			      NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 20000};
	bu_autofree char *out = NULL;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_write_all(fd, text, strlen(text), NULL), 0);
	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s: %s", out ? out : "",
		      err.text);
	unlink(path);
}

START_TEST(zones_have_what_lies_in_them)
{
	static const struct {
		const char *zone, *want;
	} rows[] = {
		{"lab.test", "node001 A 10.77.0.11\nnode001-fabric A 10.78.0.11\n"
			     "node002 A 10.77.0.12\nnode002-fabric A 10.78.0.12\n"
			     "node002-bmc A 10.9.0.2\n"},
		{"0.77.10.in-addr.arpa",
		 "11 PTR node001.lab.test.\n12 PTR node002.lab.test.\n"},
		{"10.in-addr.arpa",
		 "11.0.77 PTR node001.lab.test.\n11.0.78 PTR node001-fabric.lab.test.\n"
		 "12.0.77 PTR node002.lab.test.\n12.0.78 PTR node002-fabric.lab.test.\n"
		 "2.0.9 PTR node002-bmc.lab.test.\n"},
	};
	struct bu_err err = {0};

	load("domain = lab.test\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = zone_of(rows[i].zone, &err);
		const char *records;

		ck_assert_msg(text != NULL, "%s", err.text);
		records = strstr(text, "@ NS localhost.\n");
		ck_assert_ptr_nonnull(records);
		ck_assert_str_eq(strchr(records, '\n') + 1, rows[i].want);
	}
	ck_assert_ptr_null(zone_of("99.10.in-addr.arpa", &err));
	ck_assert_str_eq(err.text, "no name of the site is in zone "
				   "'99.10.in-addr.arpa'; give 'lab.test' or a reverse "
				   "zone like 77.10.in-addr.arpa");
	bu_desired_destroy(desired);
	load("");
	ck_assert_ptr_null(zone_of("lab.test", &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(a_name_server_takes_the_zones)
{
	static const char *const zones[] = {"lab.test", "0.77.10.in-addr.arpa",
					    "10.in-addr.arpa"};

	BU_NEEDS("named-checkzone");
	load("domain = lab.test\n");
	for (size_t i = 0; i < BU_LEN(zones); i++) {
		bu_autofree char *text = zone_of(zones[i], NULL);

		ck_assert_ptr_nonnull(text);
		judge(zones[i], text);
	}
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(the_time_server_answers_the_nodes)
{
	bu_autofree char *own = NULL, *others = NULL;

	load("");
	own = printed(bu_names_print_chrony);
	ck_assert_str_eq(own, "local stratum 10\nallow 10.77.0.0/24\n"
			      "allow 10.78.0.0/24\n");
	bu_desired_destroy(desired);
	load("ntp = ntp.example.org, 10.1.0.1\n");
	others = printed(bu_names_print_chrony);
	ck_assert_str_eq(others, "server ntp.example.org iburst\n"
				 "server 10.1.0.1 iburst\nlocal stratum 10\n"
				 "allow 10.77.0.0/24\nallow 10.78.0.0/24\n");
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("names", every_node_has_a_name_in_every_network, zones_have_what_lies_in_them,
	a_name_server_takes_the_zones, the_time_server_answers_the_nodes)
