/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration; then dnsmasq itself, in a network of its own, asked as a node
 * asks: by the C library for names, by busybox's udhcpc for an address.
 */
#include "provisioner/boot/dnsmasq.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static const struct bu_dnsmasq_host hosts[] = {
	{"node001", "52:54:00:77:00:01", "10.77.0.11", 0},
	{"node002", "52:54:00:77:00:02", "10.77.0.12", 1},
};
static const struct bu_dnsmasq_site site = {
	.hosts = hosts,
	.count = 2,
	.names = "10.77.0.1 bringup bringup.lab.test\n"
		 "10.77.0.11 node001.lab.test node001\n"
		 "10.78.0.11 node001-fabric.lab.test node001-fabric\n",
	.domain = "lab.test",
	.ntp = "ntp.example.org, 10.9.0.1, 10.9.0.2",
};

/* Rows without their files are not printed; so these are made. */
static char loaders[sizeof("/tmp/bringup-dnsmasq-XXXXXX")];

static void
make_loaders(void)
{
	static const char *const files[] = {
		"undionly.kpxe", "snponly.efi",  "shimx64.efi",      "grubx64.efi",
		"shimaa64.efi",  "grubaa64.efi", "snponly-arm64.efi"};

	strcpy(loaders, "/tmp/bringup-dnsmasq-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(loaders));
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", loaders, files[i]);

		ck_assert_int_eq(bu_file_write(path, "x", 1, 0644, NULL), 0);
	}
}

static void
drop_loaders(void)
{
	bu_ignore(bu_remove_tree(loaders, NULL));
	loaders[0] = '\0';
}

static struct bu_dnsmasq_opts
opts_in(const char *dir)
{
	static char run_dir[64];

	/* Its user passes the folder, and reads what is in run_dir. */
	if (strncmp(dir, "/tmp/", 5) == 0)
		ck_assert_int_eq(chmod(dir, 0711), 0);
	snprintf(run_dir, sizeof(run_dir), "%s/run", dir);
	return (struct bu_dnsmasq_opts){
		.dir = dir,
		.run_dir = run_dir,
		.interface = "br-boot",
		.address = "10.77.0.1",
		.range = "10.77.0.50,10.77.0.199",
		.script_url = "http://10.77.0.1:8080/boot.ipxe",
		.http_url = "http://10.77.0.1:8080",
		.loaders = {loaders, NULL},
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
		"addn-hosts=/state/dnsmasq/run/names",
		"dhcp-hostsfile=/state/dnsmasq/run/hosts",
		"domain=lab.test",
		"local=/lab.test/",
		"dhcp-option=option:dns-server,10.77.0.1",
		/* servers that are names are none for DHCP */
		"dhcp-option=option:ntp-server,10.9.0.1,10.9.0.2",
		"dhcp-option=option:router",
		"dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe,,10.77.0.1",
		"tftp-root=/state/dnsmasq/run/tftp",
		"dhcp-match=set:arch0,option:client-arch,0",
		"dhcp-match=set:arch7,option:client-arch,7",
		"dhcp-match=set:arch9,option:client-arch,9",
		"dhcp-match=set:arch11,option:client-arch,11",
		"dhcp-match=set:arch16,option:client-arch,16",
		"dhcp-option-force=tag:arch16,tag:!grub,60,HTTPClient",
		"dhcp-boot=tag:arch0,tag:!ipxe,undionly.kpxe",
		"dhcp-boot=tag:arch7,tag:!ipxe,tag:!grub,snponly.efi",
		"dhcp-boot=tag:arch9,tag:!ipxe,tag:!grub,snponly.efi",
		("dhcp-boot=tag:arch16,tag:!ipxe,tag:!grub,"
		 "http://10.77.0.1:8080/boot/snponly.efi"),
		"dhcp-match=set:arch19,option:client-arch,19",
		"dhcp-option-force=tag:arch19,tag:!grub,60,HTTPClient",
		"dhcp-boot=tag:arch11,tag:!ipxe,tag:!grub,snponly-arm64.efi",
		("dhcp-boot=tag:arch19,tag:!ipxe,tag:!grub,"
		 "http://10.77.0.1:8080/boot/snponly-arm64.efi"),
		/* Secure Boot, where the class says so */
		"dhcp-boot=tag:arch7,tag:!ipxe,tag:grub,shimx64.efi",
		"dhcp-boot=tag:arch9,tag:!ipxe,tag:grub,shimx64.efi",
		"dhcp-boot=tag:arch11,tag:!ipxe,tag:grub,shimaa64.efi",
		"dhcp-lease-max=1000",
		"dhcp-ignore-names",
		/* the two that save 16 s at each start of iPXE */
		"dhcp-option=tag:ipxe,encap:175,176,1b",
		"ra-param=br-boot,10,0",
	};
	struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
	bu_autofree char *text = NULL;

	make_loaders();
	text = bu_dnsmasq_render(&opts, &site);
	drop_loaders();
	for (size_t i = 0; i < BU_LEN(lines); i++)
		ck_assert_msg(has_line(text, lines[i]), "no line '%s'", lines[i]);
}
END_TEST

START_TEST(what_is_not_said_is_not_answered)
{
	struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
	static const struct bu_dnsmasq_site none = {
		.dns = "10.1.0.53", .ntp = "ntp.example.org", .gateway = "10.77.0.254"};
	bu_autofree char *text = NULL;

	opts.no_dns = 1;
	text = bu_dnsmasq_render(&opts, &none);
	ck_assert(has_line(text, "port=0"));

	ck_assert_ptr_null(strstr(text, "domain="));
	ck_assert_ptr_null(strstr(text, "ntp-server"));
	ck_assert(has_line(text, "dhcp-option=option:dns-server,10.1.0.53"));
	ck_assert(has_line(text, "dhcp-option=option:router,10.77.0.254"));
	ck_assert(has_line(
		text, "dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe,,10.77.0.1"));
}
END_TEST

/* 5,000 machines and a range of 150: dnsmasq alone would stop at 1,000 leases. */
START_TEST(a_large_site_has_a_lease_for_each)
{
	struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
	struct bu_dnsmasq_host *many = bu_xcalloc(5000, sizeof(*many));
	struct bu_dnsmasq_site large = {.hosts = many, .count = 5000};
	bu_autofree char *text = bu_dnsmasq_render(&opts, &large);
	bu_autofree char *relay = NULL, *one = NULL;

	ck_assert(has_line(text, "dhcp-lease-max=6000"));
	/* A range without an end is none. */
	large.count = 5000 - 1;
	opts.range = "10.77.0.50";
	one = bu_dnsmasq_render(&opts, &large);
	ck_assert(has_line(one, "dhcp-lease-max=5000"));
	/* Not the range of another mode. */
	large.count = 4999;
	opts.dhcp = BU_DHCP_RELAY;
	relay = bu_dnsmasq_render(&opts, &large);
	ck_assert(has_line(relay, "dhcp-lease-max=5000"));
	free(many);
}
END_TEST

static const struct bu_dnsmasq_net far[] = {
	{"row-b", "10.80.0.0", "255.255.255.0", "10.80.0.254"},
	{"row-c", "10.81.0.0", "255.255.254.0", NULL},
};

/* What each way of DHCP says (+) and must not say (-). */
START_TEST(each_mode_says_its_own)
{
	static const struct {
		enum bu_dhcp mode;
		const char *says[8], *not [6];
	} rows[] = {
		{BU_DHCP_FULL,
		 {"dhcp-range=10.77.0.50,10.77.0.199,1h", "dhcp-authoritative",
		  "dhcp-range=set:net-row-b,10.80.0.0,static,255.255.255.0,1h",
		  "dhcp-option=tag:net-row-b,option:router,10.80.0.254",
		  "dhcp-range=set:net-row-c,10.81.0.0,static,255.255.254.0,1h",
		  "dhcp-option=tag:net-row-c,option:router"},
		 {"pxe-service", ",proxy"}},
		{BU_DHCP_RELAY,
		 {"dhcp-authoritative", "dhcp-ignore-names",
		  "dhcp-range=set:net-row-b,10.80.0.0,static,255.255.255.0,1h"},
		 {"10.77.0.50", ",proxy"}},
		{BU_DHCP_PROXY,
		 {"dhcp-range=10.77.0.1,proxy",
		  "pxe-service=tag:!ipxe,0,\"bringup\",undionly.kpxe",
		  "pxe-service=tag:!ipxe,tag:!grub,7,\"bringup\",snponly.efi",
		  "pxe-service=tag:!ipxe,tag:grub,7,\"bringup\",shimx64.efi",
		  "dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe,,10.77.0.1",
		  "dhcp-ignore-names", "enable-tftp"},
		 {"dhcp-authoritative", "10.77.0.50", "option:router", "static",
		  "encap:175", "enable-ra"}},
		{BU_DHCP_OFF,
		 {"enable-tftp", "tftp-max=1000", "tftp-root=/state/dnsmasq/run/tftp",
		  "addn-hosts=/state/dnsmasq/run/names"},
		 {"dhcp-range", "dhcp-authoritative", "enable-ra", "leasefile",
		  "dhcp-ignore-names"}},
	};
	struct bu_dnsmasq_site wide = site;

	make_loaders();
	wide.nets = far;
	wide.nets_count = BU_LEN(far);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_dnsmasq_opts opts = opts_in("/state/dnsmasq");
		bu_autofree char *text = NULL;

		opts.dhcp = rows[i].mode;
		text = bu_dnsmasq_render(&opts, &wide);
		for (size_t k = 0; k < BU_LEN(rows[i].says) && rows[i].says[k]; k++)
			ck_assert_msg(has_line(text, rows[i].says[k]),
				      "%zu: no '%s' in %s", i, rows[i].says[k], text);
		for (size_t k = 0; k < BU_LEN(rows[i].not ) && rows[i].not [k]; k++)
			ck_assert_msg(!strstr(text, rows[i].not [k]), "%zu: '%s' in %s",
				      i, rows[i].not [k], text);
	}
}
END_TEST

START_TEST(modes_have_names)
{
	enum bu_dhcp mode;
	struct bu_err err;

	ck_assert_int_eq(bu_dhcp_from_name("relay", &mode, &err), 0);
	ck_assert_int_eq(mode, BU_DHCP_RELAY);
	ck_assert_int_eq(bu_dhcp_from_name("on", &mode, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "full, proxy, relay or off"));
}
END_TEST

/* In each mode, with machines behind routers. */
static void
understands(enum bu_dhcp mode)
{
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	bu_autofree char *conf = NULL, *arg = NULL, *text = NULL;
	struct bu_dnsmasq_opts opts;
	const char *argv[] = {"/usr/sbin/dnsmasq", "--test", NULL, NULL};
	struct bu_job_opts job = {.argv = argv};
	struct bu_dnsmasq_site wide = site;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	opts = opts_in(dir);
	opts.dhcp = mode;
	wide.nets = far;
	wide.nets_count = BU_LEN(far);
	text = bu_dnsmasq_render(&opts, &wide);
	conf = bu_xasprintf("%s/conf", dir);
	arg = bu_xasprintf("--conf-file=%s", conf);
	argv[2] = arg;
	ck_assert_int_eq(bu_file_write(conf, text, strlen(text), 0600, NULL), 0);
	ck_assert_msg(bu_job_run(&job, NULL, &err) == 0, "%s", err.text);
	bu_ignore(bu_remove_tree(dir, NULL));
}

START_TEST(dnsmasq_understands_it)
{
	BU_NEEDS("/usr/sbin/dnsmasq");
	make_loaders();
	for (int mode = BU_DHCP_FULL; mode <= BU_DHCP_OFF; mode++)
		understands((enum bu_dhcp)mode);
	drop_loaders();
}
END_TEST

START_TEST(a_directory_that_cannot_be_is_an_error)
{
	struct bu_dnsmasq_opts opts = opts_in("/proc/no/such");
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_dnsmasq *dnsmasq = bu_dnsmasq_create(loop, &opts);
	struct bu_err err = {0};

	ck_assert_int_eq(bu_dnsmasq_set(dnsmasq, &site, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/proc/no"));
	bu_dnsmasq_destroy(dnsmasq);
	bu_dnsmasq_destroy(NULL);
	bu_loop_destroy(loop);
}
END_TEST

/* --- in a network of its own --- */

/* $D in the script is the test's folder. */
static void
expect(struct bu_loop *loop, const char *dir, const char *text, const char *want)
{
	bu_autofree char *out = shell_meanwhile(loop, dir, text);

	ck_assert_str_eq(out, want);
}

/* The appliance on a bridge, and a machine behind a cable to it. Its resolver asks the
 * appliance. */
static const char network[] =
	"mount --make-rprivate / && ip link set lo up &&\n"
	"ip link add br-boot type bridge forward_delay 0 &&\n"
	"ip addr add 10.77.0.1/24 dev br-boot && ip link set br-boot up &&\n"
	"ip link add cable type veth peer name node address 52:54:00:77:00:01 &&\n"
	"ip link set cable master br-boot up && ip link set node up &&\n"
	"echo 'nameserver 10.77.0.1' >$D/resolv && echo 'hosts: dns' >$D/nss &&\n"
	"mount --bind $D/nss /etc/nsswitch.conf &&\n"
	"mount --bind $D/resolv $(readlink -f /etc/resolv.conf) && echo good\n";

static void
make_network(struct bu_loop *loop, const char *dir)
{
	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	expect(loop, dir, network, "good\n");
}

/* Until the name is known: it starts, or reads its files again. */
#define ASK(name, more)                                                                \
	"for try in $(seq 300); do getent ahostsv4 " name                              \
	" >/dev/null && break; sleep 0.1; done; " more

START_TEST(a_first_configuration_that_is_refused_starts_nothing)
{
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	struct bu_dnsmasq_site bad = site;
	struct bu_dnsmasq_opts opts;
	struct bu_dnsmasq *dnsmasq;
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_err err = {0};

	BU_NEEDS("/usr/sbin/dnsmasq", "pgrep");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	opts = opts_in(dir);
	bad.domain = "lab.test\nno-such-option";
	dnsmasq = bu_dnsmasq_create(loop, &opts);
	ck_assert_int_eq(bu_dnsmasq_set(dnsmasq, &bad, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "does not take its new configuration"));
	ck_assert_ptr_null(strstr(err.text, "the old one"));
	ck_assert_ptr_nonnull(strstr(err.text, ": no-such-option"));
	expect(loop, dir, "pgrep -x bringup-boot -P $PPID || echo none", "none\n");
	bu_dnsmasq_destroy(dnsmasq);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* First while it runs, then by a bringupd that was started again. */
START_TEST(a_refused_configuration_and_a_restart_leave_the_old_one)
{
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	struct bu_dnsmasq_site bad = site;
	struct bu_dnsmasq_opts opts;
	struct bu_dnsmasq *dnsmasq;
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_err err = {0};

	BU_NEEDS("root", "/usr/sbin/dnsmasq", "getent");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_network(loop, dir);
	opts = opts_in(dir);
	bad.domain = "lab.test\nno-such-option";
	dnsmasq = bu_dnsmasq_create(loop, &opts);
	ck_assert_msg(bu_dnsmasq_set(dnsmasq, &site, &err) == 0, "%s", err.text);
	for (int starts = 0; starts < 2; starts++) {
		ck_assert_int_eq(bu_dnsmasq_set(dnsmasq, &bad, &err), -1);
		ck_assert_msg(strstr(err.text, "goes on with the old one"), "%s",
			      err.text);
		expect(loop, dir, ASK("node001.lab.test", "getent hosts 10.77.0.11"),
		       "10.77.0.11      node001.lab.test\n");
		bu_dnsmasq_destroy(dnsmasq);
		dnsmasq = bu_dnsmasq_create(loop, &opts);
	}
	bu_dnsmasq_destroy(dnsmasq);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

START_TEST(it_answers_names_addresses_and_machines)
{
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	struct bu_dnsmasq_site now = site;
	struct bu_dnsmasq_opts opts;
	struct bu_dnsmasq *dnsmasq;
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_err err = {0};

	BU_NEEDS("root", "/usr/sbin/dnsmasq", "busybox", "pgrep", "getent");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_network(loop, dir);
	opts = opts_in(dir);
	dnsmasq = bu_dnsmasq_create(loop, &opts);
	ck_assert_msg(bu_dnsmasq_set(dnsmasq, &now, &err) == 0, "%s", err.text);
	expect(loop, dir,
	       ASK("node001.lab.test",
		   "getent ahostsv4 node001 | awk '/STREAM/ { print $1 }';"
		   "getent hosts 10.77.0.11; getent hosts 10.78.0.11;"
		   "getent hosts node009.lab.test || echo none;"
		   "getent hosts node002-fabric || echo none"),
	       "10.77.0.11\n"
	       "10.77.0.11      node001.lab.test\n"
	       "10.78.0.11      node001-fabric.lab.test\n"
	       "none\nnone\n");
	/* A machine of the profile gets its address, and no way out that is none. */
	expect(loop, dir,
	       "printf '#!/bin/sh\\n[ $1 != bound ] || echo $ip $hostname $domain $dns "
	       "$ntpsrv $router\\n' >$D/lease && chmod 755 $D/lease\n"
	       "busybox udhcpc -n -q -f -t 20 -T 1 -i node -O ntpsrv -s "
	       "$D/lease 2>/dev/null",
	       "10.77.0.11 node001 lab.test 10.77.0.1 10.9.0.1 10.9.0.2\n");
	/* Another revision: the same process answers. */
	now.names = "10.78.0.12 node002-fabric.lab.test node002-fabric\n";
	expect(loop, dir,
	       "pgrep -x dnsmasq -P $(pgrep -x bringup-boot -P $PPID) >$D/pid; echo",
	       "\n");
	ck_assert_msg(bu_dnsmasq_set(dnsmasq, &now, &err) == 0, "%s", err.text);
	expect(loop, dir,
	       ASK("node002-fabric.lab.test",
		   "getent hosts 10.78.0.12; getent hosts 10.78.0.11 || echo none;"
		   "pgrep -x dnsmasq -P $(pgrep -x bringup-boot -P $PPID) | cmp - $D/pid && echo same"),
	       "10.78.0.12      node002-fabric.lab.test\nnone\nsame\n");
	/* What it refuses does not replace what it has; names are answered all the
	 * same.
	 */
	now.domain = "lab.test\nno-such-option";
	now.names = "10.78.0.13 node003-fabric.lab.test node003-fabric\n";
	ck_assert_int_eq(bu_dnsmasq_set(dnsmasq, &now, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "goes on with the old one"));
	ck_assert_ptr_nonnull(strstr(err.text, ": no-such-option"));
	expect(loop, dir,
	       ASK("node003-fabric.lab.test",
		   "cat $D/dnsmasq.conf $D/run/dnsmasq.conf | grep -c no-such-option;"
		   "pgrep -x dnsmasq -P $(pgrep -x bringup-boot -P $PPID) | cmp - $D/pid && echo same"),
	       "0\nsame\n");
	/* A storm of machines waits in its queue instead of being lost: twice what was
	 * asked for, as the kernel counts. */
	expect(loop, dir,
	       "for try in $(seq 100); do ss -Huamn 'sport = :67' | grep -o rb33554432 && "
	       "break; sleep 0.1; done",
	       "rb33554432\n");
	bu_dnsmasq_destroy(dnsmasq);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* Options 12 and 81: both put a name into the DNS of a dnsmasq that is not told. */
#define CALLS_ITSELF(name)                                                             \
	"busybox udhcpc -n -q -f -t 20 -T 1 -i node " name " -s $D/lease 2>/dev/null"

START_TEST(a_stranger_names_nothing_in_dns)
{
	static const char *const names[] = {"wpad", "lake1", "slurmctld", "node001",
					    "bringup"};
	char dir[] = "/tmp/bringup-dnsmasq-XXXXXX";
	struct bu_dnsmasq_opts opts;
	struct bu_dnsmasq *dnsmasq;
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_err err = {0};

	BU_NEEDS("root", "/usr/sbin/dnsmasq", "busybox", "getent");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_network(loop, dir);
	opts = opts_in(dir);
	opts.range = "10.77.0.50,10.77.0.50";
	dnsmasq = bu_dnsmasq_create(loop, &opts);
	ck_assert_msg(bu_dnsmasq_set(dnsmasq, &site, &err) == 0, "%s", err.text);
	expect(loop, dir,
	       ASK("node001.lab.test",
		   "ip link set node address 52:54:00:77:00:99\n"
		   "printf '#!/bin/sh\n[ $1 != bound ] || echo $ip\n' >$D/lease &&"
		   "chmod 755 $D/lease"),
	       "");
	for (size_t i = 0; i < BU_LEN(names); i++) {
		const int known = strncmp(names[i], "node", 4) == 0 ||
				  strcmp(names[i], "bringup") == 0;
		bu_autofree char *asks = bu_xasprintf(
			"N=%s\n" CALLS_ITSELF("-x hostname:$N") "\n" CALLS_ITSELF(
				"-F $N") "\n"
					 "getent hosts $N.lab.test | grep -v '10.77.0.\\(1\\|11\\) '\n"
					 "getent hosts $N >/dev/null && echo known\n"
					 "getent hosts 10.77.0.50 || echo none",
			names[i]);

		expect(loop, dir, asks,
		       known ? "10.77.0.50\n10.77.0.50\nknown\nnone\n"
			     : "10.77.0.50\n10.77.0.50\nnone\n");
	}
	/* The machine of the profile has the name of the profile, whatever it says. */
	expect(loop, dir,
	       "ip link set node address 52:54:00:77:00:02\n" CALLS_ITSELF(
		       "-x hostname:wpad") "\n"
					   "getent hosts node002.lab.test\n"
					   "getent hosts wpad.lab.test || echo none",
	       "10.77.0.12\n10.77.0.12      node002.lab.test\nnone\n");
	bu_dnsmasq_destroy(dnsmasq);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("dnsmasq", each_node_has_its_address_and_the_rest_a_range,
	what_is_not_said_is_not_answered, a_large_site_has_a_lease_for_each,
	each_mode_says_its_own, modes_have_names, dnsmasq_understands_it,
	a_directory_that_cannot_be_is_an_error,
	a_first_configuration_that_is_refused_starts_nothing,
	a_refused_configuration_and_a_restart_leave_the_old_one,
	it_answers_names_addresses_and_machines, a_stranger_names_nothing_in_dns)
