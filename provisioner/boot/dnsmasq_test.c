/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration alone; dnsmasq itself reads it, and starts nothing. */
#include "provisioner/boot/dnsmasq.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static const struct bu_dnsmasq_host hosts[] = {
	{"node001", "52:54:00:77:00:01", "10.77.0.11"},
	{"node002", "52:54:00:77:00:02", "10.77.0.12"},
};

static struct bu_dnsmasq_opts
opts_in(const char *dir)
{
	return (struct bu_dnsmasq_opts){
		.dir = dir,
		.interface = "br-boot",
		.range = "10.77.0.50,10.77.0.199",
		.script_url = "http://10.77.0.1:8080/boot.ipxe",
		.http_url = "http://10.77.0.1:8080",
	};
}

static int
has_line(const char *text, const char *line)
{
	bu_autofree char *want = bu_xasprintf("\n%s\n", line);

	return strstr(text, want) != NULL;
}

START_TEST(each_node_has_its_address_and_the_rest_a_range)
{
	static const char *const lines[] = {
		"interface=br-boot",
		"bind-interfaces",
		"dhcp-range=10.77.0.50,10.77.0.199,1h",
		"dhcp-leasefile=/state/dnsmasq/leases",
		"dhcp-host=52:54:00:77:00:01,10.77.0.11,node001",
		"dhcp-host=52:54:00:77:00:02,10.77.0.12,node002",
		"dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe",
		"tftp-root=/tftp",
		"dhcp-boot=tag:bios,tag:!ipxe,undionly.kpxe",
		"dhcp-boot=tag:efi64,tag:!ipxe,snponly.efi",
		("dhcp-boot=tag:efihttp,tag:!ipxe,"
		 "http://10.77.0.1:8080/boot/snponly.efi"),
		/* the two that save 16 s at each start of iPXE */
		"dhcp-option=tag:ipxe,encap:175,176,1b",
		"ra-param=br-boot,10,0",
	};
	struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
	bu_autofree char *text = bu_dnsmasq_render(&opts, "/tftp", hosts, 2);

	ck_assert_int_eq(strncmp(text, "port=0\n", 7), 0); /* no DNS */
	for (size_t i = 0; i < BU_LEN(lines); i++)
		ck_assert_msg(has_line(text, lines[i]), "no line '%s'", lines[i]);
}
END_TEST

START_TEST(without_files_there_is_no_tftp)
{
	struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
	bu_autofree char *text = bu_dnsmasq_render(&opts, NULL, hosts, 0);

	ck_assert_ptr_null(strstr(text, "tftp"));
	ck_assert_ptr_null(strstr(text, "undionly"));
	ck_assert_ptr_null(strstr(text, "dhcp-host"));
	ck_assert(has_line(text, "dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe"));
}
END_TEST

START_TEST(dnsmasq_understands_it)
{
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	bu_autofree char *conf = NULL, *arg = NULL, *text = NULL;
	struct bu_dnsmasq_opts opts;
	const char *argv[] = {"/usr/sbin/dnsmasq", "--test", NULL, NULL};
	struct bu_job_opts job = {.argv = argv};
	struct bu_err err = {0};

	if (access(argv[0], X_OK) != 0)
		return; /* bootstrap.sh installs it */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	opts = opts_in(dir);
	text = bu_dnsmasq_render(&opts, dir, hosts, 2);
	conf = bu_xasprintf("%s/conf", dir);
	arg = bu_xasprintf("--conf-file=%s", conf);
	argv[2] = arg;
	ck_assert_int_eq(bu_file_write(conf, text, strlen(text), 0600, NULL), 0);
	ck_assert_msg(bu_job_run(&job, NULL, &err) == 0, "%s", err.text);
	bu_remove_tree(dir, NULL);
}
END_TEST

START_TEST(a_directory_that_cannot_be_is_an_error)
{
	struct bu_dnsmasq_opts opts = opts_in("/proc/no/such");
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_dnsmasq *dnsmasq = bu_dnsmasq_create(loop, &opts);
	struct bu_err err = {0};

	ck_assert_int_eq(bu_dnsmasq_set_hosts(dnsmasq, hosts, 2, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/proc/no"));
	bu_dnsmasq_destroy(dnsmasq);
	bu_dnsmasq_destroy(NULL);
	bu_loop_destroy(loop);
}
END_TEST

BU_UNIT("dnsmasq", each_node_has_its_address_and_the_rest_a_range,
	without_files_there_is_no_tftp, dnsmasq_understands_it,
	a_directory_that_cannot_be_is_an_error)
