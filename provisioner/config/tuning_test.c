/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each setting becomes, on the node's disk and for the installer; and that a node
 * without settings gets no file for them. systemd's own tools read the files where they
 * are installed.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "provisioner/config/render.h"
#include "provisioner/config/tuning.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define HEAD "# Written by bringup; changes are lost.\n"

static const struct bu_nic nics[] = {{.mac = "52:54:00:77:00:01"},
				     {.mac = "52:54:00:78:00:01"}};
static struct bu_desired *desired;

/* The first node of this site. */
static struct bu_config *
render_site(const char *text)
{
	bu_autofree char *found = bu_testing_check(text, bu_testing_racks, &desired);
	struct bu_config_input input = {
		.nics = nics, .nic_count = BU_LEN(nics), .appliance = "10.77.0.1"};
	struct bu_config *config;
	struct bu_err err = {0};

	ck_assert_msg(desired != NULL, "%s", found);
	input.desired = desired;
	input.node = bu_desired_node(desired, "node001");
	config = bu_config_render(&input, &err);
	ck_assert_msg(config != NULL, "%s", err.text);
	return config;
}

/* Of the good profile with these lines in its pool and its hardware. */
static struct bu_config *
render(const char *pool, const char *hardware)
{
	bu_autofree char *nics_too = bu_xasprintf("nics = 2\n%s", hardware);
	bu_autofree char *last = bu_xasprintf("max_unavailable = 50 %%\n%s", pool);
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "nics = 2\n", nics_too);
	bu_autofree char *text =
		bu_testing_replace(site, "max_unavailable = 50 %\n", last);

	return render_site(text);
}

static const struct bu_config_file *
find(const struct bu_config *config, const char *path)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->files[i].path, path) == 0)
			return &config->files[i];
	return NULL;
}

#define MOUNTS                                                                         \
	"[mount home]\nfs = nfs4\nsource = lake1:/export/home\npath = /home\n"         \
	"options = hard, vers=4.2\n"                                                   \
	"[mount work]\nfs = lustre\nsource = 10.1.0.4@o2ib:/work\npath = /work\n"      \
	"[hardware more]\ndisk = smallest\n"
#define FSTAB                                                                          \
	"lake1:/export/home /home nfs4 hard,vers=4.2,_netdev,nofail,"                  \
	"x-systemd.mount-timeout=90s 0 0\n10.1.0.4@o2ib:/work /work lustre "           \
	"_netdev,nofail,x-systemd.mount-timeout=90s 0 0\n"

static const struct {
	const char *pool, *hardware, *path, *apply, *content;
} rows[] = {
	{"sysctl = vm.swappiness=1, net.ipv4.tcp_rmem=4096 131072 7\n", "",
	 "/etc/sysctl.d/90-bringup.conf", "sysctl",
	 HEAD "vm.swappiness=1\nnet.ipv4.tcp_rmem=4096 131072 7\n"},
	{"modules = nvidia_peermem, dummy\n", "", "/etc/modules-load.d/bringup.conf",
	 "modules", HEAD "nvidia_peermem\ndummy\n"},
	{"governor = performance\nthp = madvise\n", "", "/etc/tmpfiles.d/bringup.conf",
	 "tmpfiles",
	 HEAD "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - "
	      "performance\nw /sys/kernel/mm/transparent_hugepage/enabled - - - - "
	      "madvise\n"},
	{"thp = never\n", "", "/etc/tmpfiles.d/bringup.conf", "tmpfiles",
	 HEAD "w /sys/kernel/mm/transparent_hugepage/enabled - - - - never\n"},
	{"mig = 0-1:3g.40gb+2g.20gb*2,3:1g.10gb*3\n",
	 "gpus = 4\ngpu_model = h100-80gb\n", "/etc/bringup/gpu", "gpu",
	 HEAD "# GPU and its instances; a GPU that is not here is whole.\n"
	      "0 3g.40gb,2g.20gb,2g.20gb\n1 3g.40gb,2g.20gb,2g.20gb\n"
	      "3 1g.10gb,1g.10gb,1g.10gb\n"},
	{"mig = 7g.80gb\n", "gpus = 2\ngpu_model = h100-80gb\n", "/etc/bringup/gpu",
	 "gpu",
	 HEAD "# GPU and its instances; a GPU that is not here is whole.\n"
	      "0 7g.80gb\n1 7g.80gb\n"},
	/* What was divided before becomes whole. */
	{"", "gpus = 2\n", "/etc/bringup/gpu", "gpu",
	 HEAD "# GPU and its instances; a GPU that is not here is whole.\n"},
	{"gpu_slices = 4\n", "gpus = 2\n", "/etc/bringup/device-plugin.yaml", "gpu",
	 HEAD "version: v1\nsharing:\n  timeSlicing:\n    resources:\n"
	      "      - name: nvidia.com/gpu\n        replicas: 4\n"},
	{"data = scratch:500GiB:ext4:/scratch, lake:rest:xfs:/var/lake\n", "",
	 "/etc/fstab", "",
	 HEAD "PARTUUID=a4a8d01d-e1d4-850a-86ca-8153e91e0fcb /scratch ext4 "
	      "defaults,nofail,x-systemd.makefs 0 2\n"
	      "PARTUUID=86c95332-d628-82bf-8334-3547ee7a9c7b /var/lake xfs "
	      "defaults,nofail,x-systemd.makefs 0 2\n"},
	{"data = lake:500GiB:xfs:/lake, fog:rest:ext4:/fog\ndata_keys = appliance\n",
	 "", "/etc/bringup/volumes", "",
	 HEAD
	 "86c95332-d628-82bf-8334-3547ee7a9c7b lake xfs /lake\nd10d2294-58d5-8d74-8b33-646ab0bd254e fog ext4 /fog\n"},
	{"data = lake:500GiB:xfs:/lake\ndata_keys = tpm\n", "", "/etc/bringup/volumes",
	 "", HEAD "86c95332-d628-82bf-8334-3547ee7a9c7b lake xfs /lake\n"},
	{"data = lake:500GiB:xfs:/lake\ndata_keys = tpm\n", "",
	 "/etc/bringup/volumes.tpm", "", HEAD},
	{"",
	 "disks = fast\n[disks fast]\nscratch = rotational:no\n"
	 "scratch_mount = /fast\n[hardware more]\ndisk = smallest\n",
	 "/etc/bringup/scratch", "", HEAD "xfs /fast\n"},
	{"",
	 "disks = fast\n[disks fast]\nscratch = rotational:no\n"
	 "scratch_fs = ext4\nscratch_keys = volatile\n"
	 "[hardware more]\ndisk = smallest\n",
	 "/etc/bringup/scratch", "", HEAD "volatile-ext4 /scratch\n"},
	/* After what is on the disk; what is encrypted is the agent's. */
	{"data = lake:500GiB:xfs:/lake\nmounts = home, work\n", MOUNTS, "/etc/fstab",
	 "",
	 HEAD "PARTUUID=86c95332-d628-82bf-8334-3547ee7a9c7b /lake xfs "
	      "defaults,nofail,x-systemd.makefs 0 2\n" FSTAB},
	{"data = lake:500GiB:xfs:/lake\ndata_keys = appliance\nmounts = home, work\n",
	 MOUNTS, "/etc/fstab", "", HEAD FSTAB},
};

START_TEST(each_setting_becomes_a_file)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_config *config = render(rows[i].pool, rows[i].hardware);
		const struct bu_config_file *file = find(config, rows[i].path);

		ck_assert_msg(file != NULL, "row %zu: no %s", i, rows[i].path);
		ck_assert_str_eq(file->content, rows[i].content);
		ck_assert_str_eq(file->apply, rows[i].apply);
		bu_config_destroy(config);
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(without_settings_there_are_no_files)
{
	struct bu_config *config = render("", "");

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(!find(config, rows[i].path), "%s", rows[i].path);
	ck_assert_str_eq(config->kargs, "");
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}
END_TEST

/* Neighbours learn each rail's address with that rail's NIC; the profile has the last
 * word. */
START_TEST(two_rails_keep_their_addresses_apart)
{
#define OF_RAILS "net.ipv4.conf.all.arp_ignore=1\nnet.ipv4.conf.all.arp_announce=2\n"
	static const struct {
		const char *role, *pool, *content;
	} pools[] = {
		{"fabric", "", HEAD OF_RAILS},
		{"fabric", "sysctl = net.ipv4.conf.all.arp_ignore=0\n",
		 HEAD OF_RAILS "net.ipv4.conf.all.arp_ignore=0\n"},
		{"storage", "", NULL},
	};

	for (size_t i = 0; i < BU_LEN(pools); i++) {
		bu_autofree char *both =
			bu_xasprintf("networks = boot, fabric, two\n%s", pools[i].pool);
		bu_autofree char *pool = bu_testing_replace(
			bu_testing_site, "networks = boot, fabric\n", both);
		bu_autofree char *site =
			bu_xasprintf("%s[network two]\nrole = %s\ncidr = 10.79.0.0/24\n"
				     "addresses = 10.79.0.[11-12]\nnic = 1\nvlan = 7\n",
				     pool, pools[i].role);
		struct bu_config *config = render_site(site);
		const struct bu_config_file *file =
			find(config, "/etc/sysctl.d/90-bringup.conf");

		ck_assert_msg((file != NULL) == (pools[i].content != NULL), "%zu", i);
		if (file)
			ck_assert_str_eq(file->content, pools[i].content);
		bu_config_destroy(config);
		bu_desired_destroy(desired);
	}
#undef OF_RAILS
}
END_TEST

START_TEST(the_kernel_gets_its_arguments)
{
	static const char *const lines[][3] = {
		{"kargs = iommu=pt isolcpus=2-7\n", "iommu=pt isolcpus=2-7"},
		{"kargs = iommu=pt\n", "iommu=pt bringup.disk_wait=90",
		 "disk_wait = 90 s\n"},
		{"", "bringup.disk_wait=2", "disk_wait = 1500 ms\n"},
		{"hugepages = 1GiB*64, 2MiB*1024\n",
		 "hugepagesz=1G hugepages=64 hugepagesz=2M hugepages=1024"},
		{"kargs = iommu=pt\nhugepages = 1GiB*4\n",
		 "iommu=pt hugepagesz=1G hugepages=4"},
	};
	char digest[65] = "";

	for (size_t i = 0; i < BU_LEN(lines); i++) {
		struct bu_config *config =
			render(lines[i][0], lines[i][2] ? lines[i][2] : "");

		ck_assert_str_eq(config->kargs, lines[i][1]);
		ck_assert_str_ne(config->digest, digest);
		memcpy(digest, config->digest, sizeof(digest));
		bu_config_destroy(config);
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(the_installer_gets_the_data_partitions)
{
	static const struct {
		const char *pool;
		int64_t root_bytes;
		size_t count;
		int first_mib, last_mib;
	} layouts[] = {
		{"", 0, 0, 0, 0},
		{"root_size = 64 GiB\n", 64ull << 30, 0, 0, 0},
		{"data = a:1GiB:ext4:/a, b:2MiB:ext4:/b\n", 0, 2, 1024, 2},
		{"data = a:1GiB:ext4:/a, b:rest:xfs:/b\n", 32ull << 30, 2, 1024, 0},
		{"data = b:rest:xfs:/b\nroot_size = 100 GiB\n", 100ull << 30, 1, 0, 0},
		/* the header is not taken from what was asked for */
		{"data = a:1GiB:ext4:/a, b:rest:xfs:/b\ndata_keys = tpm\n", 32ull << 30,
		 2, 1024 + 16, 0},
	};

	for (size_t i = 0; i < BU_LEN(layouts); i++) {
		struct bu_config *config = render(layouts[i].pool, "");
		struct bu_work_data list[BU_WORK_DATA_MAX] = {{.size_bytes = 0}};
		int64_t root_bytes;
		size_t count =
			bu_config_data(desired, bu_desired_node(desired, "node001"),
				       list, &root_bytes);

		ck_assert_int_eq(root_bytes, layouts[i].root_bytes);
		ck_assert_uint_eq(count, layouts[i].count);
		ck_assert_int_eq(list[0].size_bytes >> 20, layouts[i].first_mib);
		ck_assert_int_eq(list[count ? count - 1 : 0].size_bytes >> 20,
				 layouts[i].last_mib);
		if (count) { /* fstab mounts what the installer makes */
			const struct bu_config_file *file =
				find(config, list[0].size_bytes >> 20 == 1024 + 16
						     ? "/etc/bringup/volumes"
						     : "/etc/fstab");

			ck_assert_ptr_nonnull(strstr(file->content, list[0].guid));
		}
		bu_config_destroy(config);
		bu_desired_destroy(desired);
	}
}
END_TEST

/* Every file of ours is one that the agent knows to be ours when it is no longer there.
 */
START_TEST(old_files_are_known_by_their_names)
{
	struct bu_config *config =
		render("sysctl = a=1\nmodules = x\nthp = never\ngpu_slices = 2\n",
		       "gpus = 1\n");
	size_t matched = 0;

	for (size_t i = 0; i < config->count; i++)
		for (const char *const *p = bu_config_patterns; *p; p++)
			matched +=
				fnmatch(*p, config->files[i].path, FNM_PATHNAME) == 0;
	/* hostname, hosts, resolv.conf and chrony's are always there */
	ck_assert_uint_eq(matched, config->count - 4);
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(systemd_understands_them)
{
	char dir[] = "/tmp/bringup-tuning-XXXXXX";
	struct bu_config *config;
	bu_autofree char *path = NULL, *out = NULL;
	const struct bu_config_file *file;
	const char *argv[] = {"sh",
			      "-c",
			      "cd \"$1\" && mkdir -p sys/kernel/mm/"
			      "transparent_hugepage sys/devices/system/cpu/cpufreq/"
			      "policy0 && echo x >sys/kernel/mm/"
			      "transparent_hugepage/enabled && for i in 0 1; do mkdir "
			      "-p sys/devices/system/cpu/cpufreq/policy$i && echo x "
			      ">sys/devices/system/cpu/cpufreq/policy$i/"
			      "scaling_governor; done; systemd-tmpfiles --create "
			      "--root=\"$1\" \"$1/conf\" 2>&1; cat sys/kernel/mm/*/* "
			      "sys/devices/system/cpu/cpufreq/policy[01]/*",
			      "sh",
			      dir,
			      NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};

	BU_NEEDS("systemd-tmpfiles");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/conf", dir);
	config = render("governor = performance\nthp = madvise\n", "");
	file = find(config, "/etc/tmpfiles.d/bringup.conf");
	ck_assert_int_eq(
		bu_file_write(path, file->content, file->size, file->mode, NULL), 0);
	ck_assert_int_eq(bu_job_run(&opts, &out, NULL), 0);
	ck_assert_str_eq(out, "madviseperformanceperformance");
	bu_ignore(bu_remove_tree(dir, NULL));
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}
END_TEST

/* Its own generator makes mount units of them, which a boot does not wait for. */
START_TEST(systemd_mounts_what_servers_have)
{
	char dir[] = "/tmp/bringup-tuning-XXXXXX";
	struct bu_config *config;
	bu_autofree char *path = NULL, *out = NULL;
	const struct bu_config_file *file;
	const char *argv[] = {
		"sh",
		"-c",
		"cd \"$1\" && mkdir a b c && SYSTEMD_FSTAB=\"$1/fstab\" "
		"/usr/lib/systemd/system-generators/systemd-fstab-generator a b c && "
		"grep -hE '^(What|Where|Type|Options|TimeoutSec)=' a/home.mount && "
		"ls a/remote-fs.target.wants && ! grep -r Before=remote-fs.target a",
		"sh",
		dir,
		NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};

	BU_NEEDS("/usr/lib/systemd/system-generators/systemd-fstab-generator");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/fstab", dir);
	config = render("mounts = home, work\n", MOUNTS);
	file = find(config, "/etc/fstab");
	ck_assert_int_eq(
		bu_file_write(path, file->content, file->size, file->mode, NULL), 0);
	ck_assert_int_eq(bu_job_run(&opts, &out, NULL), 0);
	ck_assert_str_eq(out, "What=lake1:/export/home\nWhere=/home\nType=nfs4\n"
			      "TimeoutSec=1min 30s\n"
			      "Options=hard,vers=4.2,_netdev,nofail,"
			      "x-systemd.mount-timeout=90s\nhome.mount\nwork.mount\n");
	bu_ignore(bu_remove_tree(dir, NULL));
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("tuning", systemd_mounts_what_servers_have, each_setting_becomes_a_file,
	without_settings_there_are_no_files, two_rails_keep_their_addresses_apart,
	the_kernel_gets_its_arguments, the_installer_gets_the_data_partitions,
	old_files_are_known_by_their_names, systemd_understands_them)
