/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk as sysfs and its two ends show it; called by inventory.c and, before a write,
 * by the agent's jobs; disklook.c reads the ends, in children. Invariant: a disk counts
 * as empty only when both its ends were read and hold nothing but zeros.
 */
#include "agent/disks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/leftovers.h"
#include "base/file.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { EDGE_BYTES = 1024 * 1024 };

/* Kernel names of what is not a disk that a system could be installed on. */
static const char *const no_disks[] = {"loop", "ram", "zram", "sr",  "fd",
				       "dm-",  "md",  "nbd",  "rbd", "drbd"};

static int
is_disk(const char *root, const char *name)
{
	bu_autofree char *device = NULL;

	for (size_t i = 0; i < BU_LEN(no_disks); i++)
		if (strncmp(name, no_disks[i], strlen(no_disks[i])) == 0)
			return 0;
	/* Only hardware has a device; a path below an NVMe multipath disk is hidden. */
	device = bu_xasprintf("%s/sys/block/%s/device", root, name);
	return bu_file_exists(device) &&
	       bu_sysroot_number(root, 1, 0, "sys/block/%s/hidden", name) == 0;
}

/* Hosts are numbered as they are found: the port is what stays. */
static void
add_ata(const char *root, const char *device, char *ret, size_t size)
{
	const char *at = strstr(device, "/ata");
	int number, port;

	if (!at || sscanf(at, "/ata%d/", &number) != 1)
		return;
	port = (int)bu_sysroot_number(root, 1024, number,
				      "sys/class/ata_port/ata%d/port_no", number);
	snprintf(ret, size, "-ata-%d", port);
}

/* Of ".../usb1/1-2/1-2:1.0/host6/..." the last interface: "-usb-0:2:1.0". */
static void
add_usb(const char *device, char *ret, size_t size)
{
	const char *at = strstr(device, "/usb");
	char port[24];

	while (at && (at = strchr(at + 1, '/')))
		if (sscanf(at, "/%*d-%23[0-9.:]", port) == 1 && strchr(port, ':'))
			snprintf(ret, size, "-usb-0:%s", port);
}

/* "-nvme-1", "-ata-2", "-scsi-0:1:5:0": where a disk is behind its PCI card. Of a SCSI
 * host the number is none of its own: another card may come before it. */
static void
describe_port(const char *root, const char *name, const char *device, char *ret,
	      size_t size)
{
	const char *last = strrchr(device, '/');
	int host, channel, id, lun;
	size_t used;

	*ret = '\0';
	add_usb(device, ret, size);
	used = strlen(ret);
	if (strncmp(name, "nvme", 4) == 0)
		snprintf(ret, size, "-nvme-%d",
			 (int)bu_sysroot_number(root, 1 << 20, 1, "sys/block/%s/nsid",
						name));
	else
		add_ata(root, device, ret, size);
	if (!ret[used] && last &&
	    sscanf(last, "/%d:%d:%d:%d", &host, &channel, &id, &lun) == 4)
		snprintf(ret + used, size - used, "-scsi-0:%d:%d:%d", channel, id, lun);
}

/* "/0000:00:1d.0/": the last one is the card itself, those before are bridges. */
static int
is_pci(const char *part)
{
	return strspn(part, "0123456789abcdef") == 4 && part[4] == ':' &&
	       part[7] == ':' && part[10] == '.' && part[12] == '/';
}

/* The PCI card in a path of sysfs, the last one; NULL = there is none. */
static const char *
card_in(const char *device)
{
	const char *card = NULL;

	for (const char *at = device; at && (at = strchr(at, '/')); at++)
		if (strlen(at + 1) > 12 && is_pci(at + 1))
			card = at + 1;
	return card;
}

/* "nvme0", and not "nvme0n1". */
static int
is_controller(const char *name)
{
	return strncmp(name, "nvme", 4) == 0 && name[4] &&
	       !name[4 + strspn(name + 4, "0123456789")];
}

/* With native multipath a namespace belongs to its subsystem, and that to no card: of
 * its controllers the first one by its card. Owned; NULL = none is behind a card. */
static char *
controller_of(const char *subsystem)
{
	struct dirent *entry;
	DIR *list = opendir(subsystem);
	char *first = NULL;

	while (list && (entry = readdir(list))) {
		bu_autofree char *link = NULL, *device = NULL;

		if (!is_controller(entry->d_name))
			continue;
		link = bu_xasprintf("%s/%s", subsystem, entry->d_name);
		device = realpath(link, NULL);
		if (!card_in(device) ||
		    (first && strcmp(card_in(first), card_in(device)) <= 0))
			continue;
		free(first);
		first = bu_steal(&device);
	}
	if (list)
		closedir(list);
	return first;
}

/* As udev names it in /dev/disk/by-path, of disks behind PCI. */
static void
read_by_path(const char *root, const char *name, char *ret, size_t size)
{
	bu_autofree char *link = bu_xasprintf("%s/sys/block/%s/device", root, name);
	bu_autofree char *device = realpath(link, NULL);
	char port[48];

	if (device && !card_in(device)) {
		char *controller = controller_of(device);

		free(device);
		device = controller;
	}
	if (!card_in(device))
		return;
	describe_port(root, name, device, port, sizeof(port));
	snprintf(ret, size, "pci-%.12s%s", card_in(device), port);
}

static int
is_zero_at(int fd, char *buf, int64_t offset, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = pread(fd, buf + used, size - used,
				    (off_t)(offset + (int64_t)used));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		used += (size_t)got;
	}
	return buf[0] == 0 && memcmp(buf, buf + 1, size - 1) == 0;
}

static int
find_signature(const char *path, int64_t size_bytes)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bu_autofree char *buf = NULL;
	size_t edge = size_bytes < EDGE_BYTES ? (size_t)size_bytes : EDGE_BYTES;

	if (fd < 0)
		return BU_SIGNATURE_PRESENT;
	buf = bu_xmalloc(edge);
	if (!is_zero_at(fd, buf, 0, edge) ||
	    !is_zero_at(fd, buf, size_bytes - (int64_t)edge, edge))
		return BU_SIGNATURE_PRESENT;
	return BU_SIGNATURE_NONE;
}

/* Who has all of it: "dm-3" of a multipath map, "md127" of an array of whole disks. */
static void
read_holder(const char *root, const char *name, char *ret, size_t size)
{
	bu_autofree char *dir = bu_xasprintf("%s/sys/block/%s/holders", root, name);
	struct dirent *entry;
	DIR *list = opendir(dir);

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.' &&
		    (!*ret || strcmp(entry->d_name, ret) < 0))
			bu_text_copy(ret, size, entry->d_name);
	if (list)
		closedir(list);
}

/* Reads the serial number and the WWN of disk->name. */
static void
read_numbers(const char *root, struct bu_disk *disk)
{
	bu_sysroot_serial(root, disk->serial, sizeof(disk->serial), disk->name);
	bu_sysroot_wwn(root, disk->wwn, sizeof(disk->wwn), disk->name);
	bu_sysroot_line(root, disk->model, sizeof(disk->model),
			"sys/block/%s/device/model", disk->name);
	read_by_path(root, disk->name, disk->by_path, sizeof(disk->by_path));
}

int
bu_disk_read(const char *root, const char *name, struct bu_disk *ret)
{
	struct bu_disk disk = {.path = ""};
	int64_t sectors =
		bu_sysroot_number(root, INT64_MAX / 512, 0, "sys/block/%s/size", name);

	if (sectors == 0 || !is_disk(root, name) || strlen(name) >= sizeof(disk.name))
		return 0;
	bu_text_copy(disk.name, sizeof(disk.name), name);
	snprintf(disk.path, sizeof(disk.path), "/dev/%s", name);
	for (char *p = disk.path; *p; p++)
		if (*p == '!') /* sysfs' way to write '/' */
			*p = '/';
	read_numbers(root, &disk);
	disk.sector_bytes = (int)bu_sysroot_number(
		root, 1 << 20, 0, "sys/block/%s/queue/logical_block_size", name);
	disk.size_bytes = sectors * 512; /* of 512 bytes, whatever the disk has */
	disk.rotational = bu_sysroot_number(root, 1, 0, "sys/block/%s/queue/rotational",
					    name) == 1;
	disk.removable =
		bu_sysroot_number(root, 1, 0, "sys/block/%s/removable", name) == 1;
	disk.signature = BU_SIGNATURE_PRESENT;
	read_holder(root, name, disk.held_by, sizeof(disk.held_by));
	*ret = disk;
	return 1;
}

void
bu_disk_look(const char *root, struct bu_disk *disk)
{
	bu_autofree char *path = bu_xasprintf("%s%s", root, disk->path);

	disk->signature = find_signature(path, disk->size_bytes);
	if (disk->signature != BU_SIGNATURE_NONE)
		bu_leftovers_read(root, disk->name, disk->holds, sizeof(disk->holds));
}

int
bu_disk_identify(const char *root, const char *path, struct bu_disk *ret,
		 struct bu_err *err)
{
	struct bu_disk disk = {.path = ""};
	int64_t sectors = 0;

	if (strncmp(path, "/dev/", 5) == 0 && strlen(path + 5) < sizeof(disk.name)) {
		bu_text_copy(disk.name, sizeof(disk.name), path + 5);
		for (char *p = disk.name; *p; p++)
			if (*p == '/') /* sysfs' way to write it */
				*p = '!';
		sectors = bu_sysroot_number(root, INT64_MAX / 512, 0,
					    "sys/block/%s/size", disk.name);
	}
	if (sectors == 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no disk %s", path);
	bu_text_copy(disk.path, sizeof(disk.path), path);
	read_numbers(root, &disk);
	disk.size_bytes = sectors * 512;
	*ret = disk;
	return 0;
}
