/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One machine with every kind of link, rendered for all three back-ends: the files that
 * they must be lie in golden/, and the
 * programs that read them say what they make of them, where they are installed. Then
 * machines that do not fit.
 */
#include "provisioner/config/links.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "provisioner/config/render.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static const struct bu_nic nics[] = {
	{.mac = "52:54:00:77:00:01", .pci = "0000:01:00.0", .name = "ens1"},
	{.mac = "52-54-00-78-00-01", .pci = "0000:18:00.0", .name = "ens2"},
	{.mac = "52:54:00:78:00:02", .pci = "0000:18:00.1", .name = "ens3"},
	{.mac = "52:54:00:79:00:01", .pci = "0000:3b:00.0", .name = "ens4"},
	{.mac = "52:54:00:79:00:02", .pci = "0000:3b:00.1", .name = "ens5"},
	{.mac = "52:54:00:7A:00:01", .pci = "0000:5e:00.0", .name = "ens6"},
	{.mac = "52:54:00:7b:00:01", .pci = "0000:5f:00.0", .name = "ens7"},
};

static const char site_text[] =
	"[site]\nformat = 1\nname = lab\ninventory = racks.csv\n"
	"[network boot]\nrole = boot\ncidr = 10.77.0.0/24\naddresses = "
	"10.77.0.[11-14]\n"
	/* VLAN over the boot NIC, next to its untagged network */
	"[network mgmt]\nrole = storage\ncidr = 10.80.0.0/24\n"
	"addresses = 10.80.0.[11-14]\nvlan = 100\n"
	/* active-backup over two NICs by number, jumbo frames, soft-RoCE, a table of
	 * its own */
	"[network fabric]\nrole = fabric\ncidr = 10.78.0.0/24\n"
	"addresses = 10.78.0.[11-14]\nbond = active-backup\nbond_nics = 2, 1\n"
	"bond_miimon = 50 ms\nmtu = 9000\nrdma = rxe\nlink_gbps = 0.02\n"
	"rail_gateway = 10.78.0.1\nroutes = 10.92.0.0/16 via 10.78.0.2\n"
	/* two VLANs over a bond that has no network itself, NICs by slot */
	"[network lake]\nrole = storage\ncidr = 10.81.0.0/16\n"
	"addresses = 10.81.0.[11-14]\nbond = 802.3ad\n"
	"bond_nics = 0000:3b:00.0, 0000:3b:00.1\nbond_lacp_rate = fast\nvlan = 300\n"
	"mtu = 9000\nroutes = 10.90.0.0/16 via 10.81.0.1, 10.91.0.0/16 via 10.81.0.2\n"
	"[network home]\nrole = storage\ncidr = 10.82.0.0/24\n"
	"addresses = 10.82.0.[11-14]\nbond = 802.3ad\n"
	"bond_nics = 0000:3b:00.0, 0000:3b:00.1\nbond_lacp_rate = fast\nvlan = 301\n"
	"mtu = 4000\n"
	/* by MAC, with the default route */
	"[network out]\nrole = storage\ncidr = 10.83.0.0/24\n"
	"addresses = 10.83.0.[11-14]\nnic = 5\ngateway = 10.83.0.1\n"
	"[image own]\nnetwork_config = networkd\n"
	"[hardware vm]\ndisk = smallest\n"
	"[pool train]\nnodes = node[001-002]\nhardware = vm\nimage = own\n"
	"power = libvirt\nnetworks = boot, mgmt, fabric, lake, home, out\n"
	"[node node001]\nnics = out=52:54:00:7b:00:01\n";

static struct bu_desired *desired;

/* Some of the site, with `from` replaced. */
static struct bu_config *
render(const char *from, const char *to, struct bu_err *err)
{
	bu_autofree char *text = bu_testing_replace(site_text, from, to);
	bu_autofree char *found = bu_testing_check(text, bu_testing_racks, &desired);
	struct bu_config_input input = {
		.desired = desired,
		.nics = nics,
		.nic_count = BU_LEN(nics),
		.appliance = "10.77.0.1",
	};

	ck_assert_msg(desired != NULL, "%s", found);
	input.node = bu_desired_node(desired, "node001");
	return bu_config_render(&input, err);
}

static struct bu_config *
render_for(const char *backend)
{
	bu_autofree char *to = bu_xasprintf("network_config = %s\n", backend);
	struct bu_err err = {0};
	struct bu_config *config = render("network_config = networkd\n", to, &err);

	ck_assert_msg(config != NULL, "%s", err.text);
	return config;
}

/* The files of the network, one after the other; owned. */
static char *
network_files(const struct bu_config *config)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];

		if (strcmp(file->apply, "network") == 0)
			fprintf(out, "=== %s %03o\n%s", file->path, file->mode,
				file->content);
	}
	fclose(out);
	return text;
}

static void
check_golden(const char *backend)
{
	bu_autofree char *path =
		bu_xasprintf("%s/provisioner/config/golden/%s.txt", BU_SRCDIR, backend);
	struct bu_err err = {0};
	bu_autofree char *want = bu_file_read(path, 0, NULL, &err);
	struct bu_config *config = render_for(backend);
	bu_autofree char *got = network_files(config);

	ck_assert_msg(want != NULL, "%s", err.text);
	if (strcmp(got, want) != 0) { /* longer than Check takes */
		bu_autofree char *wrong = bu_xasprintf("/tmp/bringup-%s.txt", backend);

		ck_assert_int_eq(bu_file_write(wrong, got, strlen(got), 0644, NULL), 0);
		ck_abort_msg("not as golden/%s.txt but as %s", backend, wrong);
	}
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}

START_TEST(networkd_gets_these_files)
{
	check_golden("networkd");
}
END_TEST

START_TEST(networkmanager_gets_these_files)
{
	check_golden("networkmanager");
}
END_TEST

START_TEST(netplan_gets_this_file)
{
	check_golden("netplan");
}
END_TEST

/* --- what their own programs say --- */

static void
write_below(const struct bu_config *config, const char *dir)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];
		bu_autofree char *path = bu_xasprintf("%s%s", dir, file->path);
		bu_autofree char *parent =
			bu_xstrndup(path, (size_t)(strrchr(path, '/') - path));

		ck_assert_int_eq(bu_mkdir_p(parent, 0755, NULL), 0);
		ck_assert_int_eq(bu_file_write(path, file->content, file->size,
					       file->mode, NULL),
				 0);
	}
}

/* What `sh -c` printed on both its outputs. */
static char *
run(const char *script, const char *dir)
{
	const char *argv[] = {"sh", "-c", script, "sh", dir, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	struct bu_err err = {0};
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s: %s", script, err.text);
	return out;
}

static void
judge(const char *backend, const char *script, const char *want)
{
	char dir[] = "/tmp/bringup-links-XXXXXX";
	bu_autofree char *out = NULL;
	struct bu_config *config;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	config = render_for(backend);
	write_below(config, dir);
	out = run(script, dir);
	ck_assert_str_eq(out, want);
	bu_ignore(bu_remove_tree(dir, NULL));
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}

/* networkd in a network of its own: what it does not understand it says, and it loads
 * every file. */
START_TEST(networkd_understands_its_files)
{
	BU_NEEDS("root", "/lib/systemd/systemd-networkd");
	judge("networkd",
	      "chmod 755 \"$1\"\n"
	      "unshare --mount --net --pid --fork --kill-child --mount-proc sh -c '\n"
	      "mount -t tmpfs run /run\n"
	      "mount --bind \"$1/etc/systemd/network\" /etc/systemd/network\n"
	      "SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console "
	      "/lib/systemd/systemd-networkd >\"$1/log\" 2>&1 &\n"
	      "for try in $(seq 300); do\n"
	      "! grep -q \"Enumeration completed\" \"$1/log\" || break; sleep 0.1\n"
	      "done' sh \"$1\"\n"
	      "grep -e /10-bringup- -e 'loaded \"' \"$1/log\" | LC_ALL=C sort",
	      "bond0: loaded \"bond\"\nbond1: loaded \"bond\"\n"
	      "vlan100: loaded \"vlan\"\nvlan300: loaded \"vlan\"\n"
	      "vlan301: loaded \"vlan\"\n");
}
END_TEST

START_TEST(networkmanager_understands_its_files)
{
	BU_NEEDS("nmcli");
	judge("networkmanager",
	      "cd \"$1/etc/NetworkManager/system-connections\"\n"
	      "for file in *; do\n"
	      "nmcli --offline connection modify connection.autoconnect yes <\"$file\" "
	      ">\"$1/out\" || echo \"$file\"\n"
	      /* what it wrote back has each setting that we gave it */
	      "grep = \"$file\" | grep -v -e '^#' -e ^autoconnect= | while read -r "
	      "line; do\n"
	      "grep -qixF -e \"$line\" -e \"${line%=*}=${line#*=}\" \"$1/out\" || "
	      "echo \"$file: $line\"; done; done",
	      "");
}
END_TEST

START_TEST(netplan_understands_its_file)
{
	BU_NEEDS("/usr/libexec/netplan/generate");
	judge("netplan",
	      "/usr/libexec/netplan/generate --root-dir \"$1\" 2>&1 || echo failed\n"
	      "cd \"$1/run/systemd/network\" && ls *.netdev *.network\n"
	      "grep -vx '' 10-netplan-bond0.network | sed -n '/Route/,$p'",
	      "10-netplan-bond0.netdev\n10-netplan-bond0.network\n"
	      "10-netplan-bond1.netdev\n10-netplan-bond1.network\n"
	      "10-netplan-boot.network\n10-netplan-nic_1.network\n"
	      "10-netplan-nic_2.network\n10-netplan-nic_3.network\n"
	      "10-netplan-nic_4.network\n10-netplan-out.network\n"
	      "10-netplan-vlan100.netdev\n10-netplan-vlan100.network\n"
	      "10-netplan-vlan300.netdev\n10-netplan-vlan300.network\n"
	      "10-netplan-vlan301.netdev\n10-netplan-vlan301.network\n"
	      "[Route]\nDestination=10.92.0.0/16\nGateway=10.78.0.2\n"
	      "[Route]\nDestination=10.78.0.0/24\nScope=link\nTable=7702\n"
	      "[Route]\nDestination=0.0.0.0/0\nGateway=10.78.0.1\nTable=7702\n"
	      "[Route]\nDestination=10.92.0.0/16\nGateway=10.78.0.2\nTable=7702\n"
	      "[RoutingPolicyRule]\nFrom=10.78.0.11\nTable=7702\nPriority=7702\n");
}
END_TEST

/* --- what does not fit --- */

static const struct {
	const char *from, *to, *text;
} misfits[] = {
	{"nic = 5", "nic = 9", NULL}, /* nics names it */
	/* a port's interface is left as it is */
	{"home, out\n",
	 "home, out, ib\n[network ib]\nrole = fabric\nrdma = hardware\n"
	 "port = mlx5_3/1\n",
	 NULL},
	{"nics = out=52:54:00:7b:00:01", "nics = out=52:54:00:7b:00:99",
	 "node001: network 'out' is on the NIC 52:54:00:7b:00:99, which the machine "
	 "does "
	 "not have; correct [node node001] nics"},
	{"nics = out=52:54:00:7b:00:01", "nics = out=52:54:00:79:00:01",
	 "node001: network 'out' is on nic 5, which is 52:54:00:79:00:01, part of a "
	 "bond; "
	 "give it a NIC of its own"},
	{"nics = out=52:54:00:7b:00:01", "nics = out=52:54:00:77:00:01",
	 "node001: the networks 'boot' and 'out' are on one NIC, 52:54:00:77:00:01; "
	 "give "
	 "each a NIC of its own or a vlan"},
	{"bond_nics = 2, 1", "bond_nics = 2, 17",
	 "node001: network 'fabric' is on nic 17, but the machine has 7 NICs; correct "
	 "[network fabric] bond_nics or look for the card"},
	{"bond_nics = 2, 1", "bond_nics = 2, 0000:18:00.1",
	 "node001: nic 0000:18:00.1 of the bond of network 'fabric' is "
	 "52:54:00:78:00:02, "
	 "which is in use already; correct [network fabric] bond_nics"},
	{"bond_nics = 2, 1", "bond_nics = 2, 0000:01:00.0",
	 "node001: nic 0000:01:00.0 of the bond of network 'fabric' is "
	 "52:54:00:77:00:01, which is in use already; correct [network fabric] "
	 "bond_nics"},
	{"bond_nics = 2, 1", "bond_nics = 2, 0000:99:00.0",
	 "node001: network 'fabric' is on nic 0000:99:00.0, but the machine has 7 "
	 "NICs, "
	 "none in this slot; correct [network fabric] bond_nics or look for the card"},
	{"addresses = 10.77.0.[11-14]\n",
	 "addresses = 10.77.0.[11-14]\nbond = active-backup\n"
	 "bond_nics = 0000:5e:00.0, 0000:5f:00.0\n",
	 "node001: the profile has MAC 52:54:00:77:00:01 for network 'boot', which no "
	 "NIC "
	 "of its bond has; correct the MAC or [network boot] bond_nics"},
};

START_TEST(what_does_not_fit_is_refused)
{
	for (size_t i = 0; i < BU_LEN(misfits); i++) {
		struct bu_err err = {0};
		struct bu_config *config = render(misfits[i].from, misfits[i].to, &err);

		ck_assert_msg((config != NULL) == (misfits[i].text == NULL), "row %zu",
			      i);
		if (misfits[i].text)
			ck_assert_str_eq(err.text, misfits[i].text);
		bu_config_destroy(config);
		bu_desired_destroy(desired);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		networkd_gets_these_files,
		networkmanager_gets_these_files,
		netplan_gets_this_file,
		networkd_understands_its_files,
		networkmanager_understands_its_files,
		netplan_understands_its_file,
		what_does_not_fit_is_refused,
	};

	return bu_unit_run("links", tests, BU_LEN(tests));
}
