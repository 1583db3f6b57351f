/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs a profile needs of an image, line by line of it. */
#include "base/text.h"
#include "images/programs.h"
#include "model/sentence.h"
#include "provisioner/plan/plan_impl.h"
#include "tests/support/plan.h"

#define ALL ((UINT32_C(1) << BU_PROGRAMS) - 1)
#define KEY                                                                            \
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Ya4vBrwLqGtyrdQ0yZ8mJ7hE0eXlY6uB7Xl3Q" \
	"2W5k"

/* The profile with these lines is the first that needs the program. */
static const struct {
	const char *sections; /* before [image debian12] */
	const char *image, *hardware, *pool;
	enum bu_image_program program;
	const char *want; /* "" = it is not needed */
} rows[] = {
	{"", "", "", "", BU_PROGRAM_CHRONY,
	 "the image has no chrony, and it gets the time from the site; install chrony "
	 "(Debian) or chrony (RPM) in it"},
	{"", "", "", "", BU_PROGRAM_NETWORKD,
	 "no systemd-networkd, and its network is configured for it; install systemd "
	 "(Debian) or systemd-networkd (RPM)"},
	{"", "network_config = netplan\n", "", "", BU_PROGRAM_NETWORKD,
	 "no systemd-networkd"},
	{"", "network_config = networkmanager\n", "", "", BU_PROGRAM_NETWORKD, ""},
	{"", "network_config = networkmanager\n", "", "", BU_PROGRAM_NETWORKMANAGER,
	 "install network-manager (Debian) or NetworkManager (RPM)"},
	{"", "", "", "", BU_PROGRAM_NETWORKMANAGER, ""},
	{"", "network_config = netplan\n", "", "", BU_PROGRAM_NETPLAN,
	 "install netplan.io (Debian)"},
	{"", "", "", "", BU_PROGRAM_NETPLAN, ""},
	{"", "", "", "", BU_PROGRAM_SSHD, ""},
	{"[user ann]\nuid = 2001\n", "", "", "", BU_PROGRAM_SSHD, ""},
	{"[user ann]\nuid = 2001\nkeys = " KEY "\n", "", "", "", BU_PROGRAM_SSHD,
	 "users of the profile log in with keys; install openssh-server (Debian)"},
	{"[user ann]\nuid = 2001\n[access]\nuser_ca = " KEY "\n", "", "", "",
	 BU_PROGRAM_SSHD, "log in with keys"},
	{"", "", "", "", BU_PROGRAM_SSSD, ""},
	{"[access]\ndirectory = ldaps://ldap.example\ndirectory_base = dc=example\n"
	 "directory_ca = file:/etc/ca\n",
	 "", "", "", BU_PROGRAM_SSSD,
	 "the image has no sssd, and its users are those of a directory; install "
	 "sssd-ldap (Debian)"},
	{"[user ann]\nuid = 2001\n", "", "", "", BU_PROGRAM_SUDO, ""},
	{"[user ann]\nuid = 2001\nsudo = all\n", "", "", "", BU_PROGRAM_SUDO,
	 "the image has no sudo, and the profile has sudo rules; install sudo"},
	{"[group adm1]\ngid = 2001\nsudo = /usr/bin/a\n", "", "", "", BU_PROGRAM_SUDO,
	 "no sudo"},
	{"", "", "", "data = scratch:5GiB:ext4:/scratch\n", BU_PROGRAM_EXT4,
	 "install e2fsprogs (Debian) or e2fsprogs (RPM)"},
	{"", "", "", "data = scratch:5GiB:ext4:/scratch\n", BU_PROGRAM_XFS, ""},
	{"", "", "", "data = a:5GiB:ext4:/scratch, b:rest:xfs:/b\n", BU_PROGRAM_XFS,
	 "install xfsprogs"},
	{"", "", "", "data = xfs:5GiB:ext4:/xfs\n", BU_PROGRAM_XFS, ""},
	{"", "", "", "", BU_PROGRAM_EXT4, ""},
	{"[disks a]\nscratch = size:1GiB-\nscratch_fs = ext4\n", "", "disks = a\n", "",
	 BU_PROGRAM_EXT4, "mkfs.ext4"},
	{"[disks a]\nscratch = size:1GiB-\nscratch_fs = xfs\n", "", "disks = a\n", "",
	 BU_PROGRAM_EXT4, ""},
	{"[disks a]\nscratch = size:1GiB-\nscratch_fs = xfs\n", "", "disks = a\n", "",
	 BU_PROGRAM_XFS, "mkfs.xfs"},
	{"[disks a]\nscratch = size:1GiB-\n", "", "disks = a\n", "", BU_PROGRAM_MDADM,
	 "no mdadm, and its disks are an array; build or import it again"},
	{"", "", "", "", BU_PROGRAM_MDADM, ""},
	{"[disks a]\nscratch = size:1GiB-\nscratch_keys = volatile\n", "",
	 "disks = a\n", "", BU_PROGRAM_VOLATILE,
	 "the image has no scratch-volatile, and its scratch_keys is volatile; build or "
	 "import it again"},
	{"[disks a]\nscratch = size:1GiB-\n", "", "disks = a\n", "",
	 BU_PROGRAM_VOLATILE, ""},
	{"", "", "", "data = scratch:5GiB:ext4:/scratch\ndata_keys = appliance\n",
	 BU_PROGRAM_CRYPTSETUP, "no cryptsetup, and its data is encrypted"},
	{"", "", "", "data = scratch:5GiB:ext4:/scratch\n", BU_PROGRAM_CRYPTSETUP, ""},
	{"[mount home]\nfs = nfs4\nsource = lake:/home\npath = /lake\n", "", "",
	 "mounts = home\n", BU_PROGRAM_NFS,
	 "its pool mounts NFS; install nfs-common (Debian) or nfs-utils (RPM)"},
	{"[mount home]\nfs = nfs\nsource = lake:/home\npath = /lake\n", "", "",
	 "mounts = home\n", BU_PROGRAM_NFS, "mount.nfs"},
	{"[mount home]\nfs = nfs4\nsource = lake:/home\npath = /lake\n", "", "", "",
	 BU_PROGRAM_NFS, ""},
	{"[mount home]\nfs = nfs4\nsource = lake:/home\npath = /lake\n", "", "",
	 "mounts = home\n", BU_PROGRAM_LUSTRE, ""},
	{"[mount home]\nfs = lustre\nsource = 10.0.0.1@tcp:/home\npath = /lake\n", "",
	 "", "mounts = home\n", BU_PROGRAM_LUSTRE,
	 "its pool mounts Lustre; install lustre-client-utils (Debian) or lustre-client"},
};

static struct bu_desired *
profile(size_t row)
{
	bu_autofree char *image = bu_xasprintf("%s[image debian12]\n%s",
					       rows[row].sections, rows[row].image);
	bu_autofree char *hardware =
		bu_xasprintf("[hardware vm]\n%s", rows[row].hardware);
	bu_autofree char *pool = bu_xasprintf("[pool train]\n%s", rows[row].pool);
	bu_autofree char *one =
		bu_testing_replace(bu_testing_site, "[image debian12]\n", image);
	bu_autofree char *two = bu_testing_replace(one, "[hardware vm]\n", hardware);
	bu_autofree char *all = bu_testing_replace(two, "[pool train]\n", pool);
	struct bu_desired *desired;
	bu_autofree char *found = bu_testing_check(all, bu_testing_racks, &desired);

	ck_assert_msg(desired != NULL, "row %zu: %s", row, found);
	return desired;
}

/* The sentences, a line each. */
static char *
needs_of(const struct bu_desired *desired, uint32_t programs)
{
	bu_autojson json_t *missing = json_array();

	bu_plan_needs(desired, &desired->nodes[0], programs, missing);
	return bu_said_lines(missing);
}

START_TEST(each_line_needs_its_program)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired *desired = profile(i);
		uint32_t without = ALL & ~(UINT32_C(1) << rows[i].program);
		bu_autofree char *all = needs_of(desired, ALL);
		bu_autofree char *found = needs_of(desired, without);
		bu_autofree char *old = needs_of(desired, 0);
		const char *end = strchr(found, '\n');

		ck_assert_msg(!*all, "row %zu: %s", i, all);
		ck_assert_msg(!*found == !*rows[i].want, "row %zu: %s", i, found);
		ck_assert_msg(strstr(found, rows[i].want), "row %zu: %s", i, found);
		ck_assert_msg(!end || !end[1], "row %zu: %s", i, found);
		ck_assert_str_eq(old, ""); /* nobody looked */
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(an_image_without_systemd_is_asked_for_nothing)
{
	struct bu_manifest manifest = {.described = 1};

	strcpy(manifest.holdings[0].name, "sudo");
	manifest.holding_count = 1;
	ck_assert_uint_eq(bu_image_programs_of(&manifest), 0);
	strcpy(manifest.holdings[1].name, "systemd");
	manifest.holding_count = 2;
	ck_assert_uint_eq(bu_image_programs_of(&manifest),
			  UINT32_C(1) << BU_PROGRAM_SYSTEMD |
				  UINT32_C(1) << BU_PROGRAM_SUDO);
}
END_TEST

/* As other misfits: a warning, or with [policy] a refusal. */
START_TEST(a_plan_names_what_is_missing)
{
	for (int refuses = 0; refuses < 2; refuses++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL;
		bu_autofree char *first = NULL;

		begin(&site, NULL, NULL, "[image debian12]\n",
		      refuses ? "[policy]\ncompatibility = refuse\n[image debian12]\n"
			      : "[image debian12]\n");
		site.image.programs = ALL & ~(UINT32_C(1) << BU_PROGRAM_CHRONY);
		plan = make(&site);
		first = warning_of(plan);
		ck_assert_int_eq(!*first, refuses);
		ck_assert_int_eq(plan_allowed(plan, &err), refuses ? -1 : 0);
		ck_assert_ptr_nonnull(
			strstr(refuses ? err.text : first,
			       "[image debian12] on [hardware vm]: the image has no "
			       "chrony, and it gets the time from the site; install "));
		end(&site);
	}
}
END_TEST

/* Another pool of the same image and class, whose data is another file system. */
START_TEST(a_pool_is_judged_by_its_own_storage)
{
	static const char was[] = "[pool train]\nnodes = node[001-002]\n";
	static const char both[] =
		"[pool other]\nnodes = node002\nhardware = vm\nimage = debian12\n"
		"power = libvirt\nnetworks = boot, fabric\ncluster = hpc\n"
		"validation = pairs\ndata = b:rest:xfs:/b\n"
		"[pool train]\nnodes = node001\n";
	struct site site;
	bu_autojson json_t *plan = NULL;
	bu_autofree char *warning = NULL;

	begin(&site, was, both, was, both);
	site.image.programs = ALL & ~(UINT32_C(1) << BU_PROGRAM_XFS);
	plan = make(&site);
	warning = warning_of(plan);
	ck_assert_ptr_nonnull(
		strstr(warning, ": node002: [image debian12] on [hardware vm]: the "
				"image has no mkfs.xfs"));
	end(&site);
}
END_TEST

BU_UNIT("needs", a_pool_is_judged_by_its_own_storage, each_line_needs_its_program,
	an_image_without_systemd_is_asked_for_nothing, a_plan_names_what_is_missing)
