/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and files, for `up` and `reset`. Runs on the host's side, before the keeper
 * mounts anything; writes only below the rack's directory.
 */
#include "lab/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/worker.h"
#include "lab/render.h"

enum { ALWAYS, SLURM, UEFI };

#define LIBDIR "/usr/lib/x86_64-linux-gnu/"

static const struct {
	const char *what; /* a path, or a program to be found in PATH */
	const char *package;
	int when;
} needs[] = {
	{"qemu-system-x86_64", "qemu-system-x86", ALWAYS},
	{"qemu-img", "qemu-utils", ALWAYS},
	{"/usr/lib/ipxe/qemu/pxe-virtio.rom", "ipxe-qemu", ALWAYS},
	{"libvirtd", "libvirt-daemon", ALWAYS},
	{LIBDIR "libvirt/connection-driver/libvirt_driver_qemu.so",
	 "libvirt-daemon-driver-qemu", ALWAYS},
	{"ip", "iproute2", ALWAYS},
	{"tc", "iproute2", ALWAYS},
	{BU_OVMF_CODE, "ovmf", UEFI},
	{BU_OVMF_VARS, "ovmf", UEFI},
	{"munged", "munge", SLURM},
	{"slurmctld", "slurmctld", SLURM},
	{"/dev/net/tun", "(no package: modprobe tun)", ALWAYS},
};

static int
in_path(const char *program)
{
	const char *path = getenv("PATH");
	bu_autofree char *copy = bu_xstrdup(path ? path : "");
	char *save = NULL;

	if (*program == '/')
		return bu_file_exists(program);
	for (char *dir = strtok_r(copy, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save)) {
		bu_autofree char *full = bu_xasprintf("%s/%s", dir, program);

		if (access(full, X_OK) == 0)
			return 1;
	}
	return 0;
}

static int
any_uefi(const struct bu_rack *rack)
{
	for (size_t i = 0; i < rack->node_count; i++)
		if (rack->nodes[i].uefi)
			return 1;
	return 0;
}

int
bu_prepare_check(const struct bu_rack *rack, struct bu_err *err)
{
	char text[320] = "";
	size_t used = 0;

	if (geteuid() != 0)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"a rack needs root (it makes namespaces and mounts of "
			"its own); run it with sudo");
	for (size_t i = 0; i < BU_LEN(needs); i++) {
		if ((needs[i].when == SLURM && !rack->slurm) ||
		    (needs[i].when == UEFI && !any_uefi(rack)) ||
		    in_path(needs[i].what))
			continue;
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%s: %s", used ? "; " : "",
						 needs[i].what, needs[i].package);
	}
	if (used)
		return bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"missing on this machine (with the Debian package that "
			"has it): %s",
			text);
	return 0;
}

static int
write_owned(const struct bu_rack *rack, const char *path, mode_t mode, char *text,
	    struct bu_err *err)
{
	bu_autofree char *full = bu_rack_path(rack, "%s", path);
	int rc = bu_file_write(full, text, strlen(text), mode, err);

	free(text);
	return rc;
}

static int
make_dirs(const struct bu_rack *rack, struct bu_err *err)
{
	static const struct {
		const char *path;
		mode_t mode;
	} dirs[] = {
		{"console", 0755},
		{"disks", 0755},
		{"run/lock", 0755},
		{"run/munge", 0755},
		{"run/bringup", 0755},
		{"slurm", 0700},
		{"var/lib/libvirt", 0755},
		{"var/cache/libvirt", 0755},
		{"var/log/libvirt/qemu", 0755},
	};

	for (size_t i = 0; i < BU_LEN(dirs); i++) {
		bu_autofree char *path = bu_rack_path(rack, "%s", dirs[i].path);

		if (bu_mkdir_p(path, dirs[i].mode, err) != 0)
			return -1;
	}
	return 0;
}

int
bu_prepare_log_dir(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "log");

	return bu_mkdir_p(path, 0755, err);
}

int
bu_prepare_fresh_dir(const char *path, struct bu_err *err)
{
	struct stat st;
	int there = lstat(path, &st) == 0;

	if (there && S_ISDIR(st.st_mode)) {
		if (bu_remove_tree(path, err) != 0)
			return -1;
	} else if (there && unlink(path) != 0) {
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	}
	if (mkdir(path, 0755) != 0 || chmod(path, 0755) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "make '%s'", path);
	return 0;
}

/* What the rack has settings of its own for must not be the host's: there it may be a
 * link to somewhere else or belong to a user. */
static int
copy_etc(const struct bu_rack *rack, struct bu_err *err)
{
	static const char *const dirs[] = {"etc/libvirt", "etc/slurm", "etc/munge",
					   "etc/bringup"};
	bu_autofree char *etc = bu_rack_path(rack, "etc");
	const char *const argv[] = {"cp", "-a", "-x", "/etc", etc, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};

	if (bu_job_run(&opts, NULL, err) != 0)
		return bu_err_wrap(err, "copy /etc into the rack");
	for (size_t i = 0; i < BU_LEN(dirs); i++) {
		bu_autofree char *path = bu_rack_path(rack, "%s", dirs[i]);

		if (bu_prepare_fresh_dir(path, err) != 0)
			return -1;
	}
	return 0;
}

/* libvirt asks for Debian's user before it reads in its configuration that it is to
 * take another; only libvirt-daemon-system would have made it. */
static int
add_account(const struct bu_rack *rack, const char *file, const char *line,
	    struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "etc/%s", file);
	bu_autofree char *text = bu_file_read(path, 0, NULL, err);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return -1;
	if (strncmp(text, "libvirt-qemu:", 13) == 0 || strstr(text, "\nlibvirt-qemu:"))
		return 0;
	return bu_file_write_text(path, 0644, err, "%s%s%s\n", text,
				  len && text[len - 1] != '\n' ? "\n" : "", line);
}

static int
add_accounts(const struct bu_rack *rack, struct bu_err *err)
{
	if (add_account(rack, "group", "libvirt-qemu:x:64055:", err) != 0)
		return -1;
	return add_account(
		rack, "passwd",
		"libvirt-qemu:x:64055:64055::/var/lib/libvirt:/usr/sbin/nologin", err);
}

static int
write_munge_key(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "etc/munge/munge.key");
	uint8_t key[128];

	bu_random(key, sizeof(key));
	return bu_file_write(path, key, sizeof(key), 0400, err);
}

static int
write_configs(const struct bu_rack *rack, struct bu_err *err)
{
	/* No D-Bus, no polkit, perhaps no user libvirt-qemu; who may reach the socket
	 * is root. No cgroups and no mount namespaces of libvirt's own. */
	static const char libvirtd[] = "unix_sock_group = \"root\"\n"
				       "unix_sock_rw_perms = \"0700\"\n"
				       "auth_unix_ro = \"none\"\n"
				       "auth_unix_rw = \"none\"\n";
	static const char qemu[] = "user = \"root\"\n"
				   "group = \"root\"\n"
				   "swtpm_user = \"root\"\n"
				   "swtpm_group = \"root\"\n"
				   "dynamic_ownership = 0\n"
				   "remember_owner = 0\n"
				   "security_driver = \"none\"\n"
				   "cgroup_controllers = [ ]\n"
				   "namespaces = [ ]\n"
				   "stdio_handler = \"file\"\n";
	const struct {
		const char *path;
		char *text;
	} files[] = {
		{"etc/libvirt/libvirtd.conf", bu_xstrdup(libvirtd)},
		{"etc/libvirt/qemu.conf", bu_xstrdup(qemu)},
		{"etc/swtpm-localca.conf", bu_render_swtpm_conf(rack)},
		{"etc/hosts", bu_render_hosts(rack)},
		{"etc/hostname", bu_xstrdup("ctl\n")},
		{"etc/resolv.conf", bu_xstrdup("")},
		{"etc/slurm/slurm.conf", bu_render_slurm_conf(rack)},
		{"etc/slurm/gres.conf", bu_xstrdup("AutoDetect=off\n")},
		{"etc/slurm/cgroup.conf", bu_xstrdup("CgroupPlugin=cgroup/v1\n")},
		{"etc/bringup/bringupd.conf", bu_render_bringupd_conf(rack)},
		{"racks.csv", bu_render_csv(rack)},
	};
	int rc = 0;

	for (size_t i = 0; i < BU_LEN(files); i++)
		if (write_owned(rack, files[i].path, 0644, files[i].text,
				rc == 0 ? err : NULL) != 0)
			rc = -1;
	return rc;
}

static int
make_disk(const struct bu_rack *rack, const struct bu_rack_node *node,
	  struct bu_err *err)
{
	bu_autofree char *disk = bu_rack_path(rack, "disks/%s.qcow2", node->name);
	bu_autofree char *vars = bu_rack_path(rack, "disks/%s.vars.fd", node->name);
	bu_autofree char *first = NULL;
	const char *const argv[] = {"qemu-img", "create", "-q", "-f",
				    "qcow2",    disk,     "4G", NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 30000};
	size_t size;

	if (unlink(disk) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", disk);
	if (bu_job_run(&opts, NULL, err) != 0)
		return bu_err_wrap(err, "make disk of %s", node->name);
	if (!node->uefi)
		return 0;
	first = bu_file_read(BU_OVMF_VARS, 0, &size, err);
	return first ? bu_file_write(vars, first, size, 0600, err) : -1;
}

int
bu_prepare_disks(const struct bu_rack *rack, struct bu_err *err)
{
	for (size_t i = 0; i < rack->node_count; i++)
		if (make_disk(rack, &rack->nodes[i], err) != 0)
			return -1;
	return 0;
}

int
bu_prepare_consoles(const struct bu_rack *rack, struct bu_err *err)
{
	for (size_t i = 0; i < rack->node_count; i++) {
		bu_autofree char *path =
			bu_rack_path(rack, "console/%s.log", rack->nodes[i].name);
		bu_autoclose int fd =
			open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		if (fd < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "empty '%s'", path);
	}
	return 0;
}

int
bu_prepare_files(const struct bu_rack *rack, struct bu_err *err)
{
	if (make_dirs(rack, err) != 0 || copy_etc(rack, err) != 0 ||
	    add_accounts(rack, err) != 0 || write_munge_key(rack, err) != 0 ||
	    write_configs(rack, err) != 0)
		return -1;
	if (bu_prepare_consoles(rack, err) != 0)
		return -1;
	return bu_prepare_disks(rack, err);
}
