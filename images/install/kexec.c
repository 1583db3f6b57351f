/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the kernel that was installed, so that the machine starts it without its
 * firmware; the agent calls it after an install. Invariant: nothing on the disk
 * changes, and whatever fails here, the machine can still be started from its disk.
 */
#include "images/install/kexec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "images/install/bootargs.h"
#include "images/install/disk.h"
#include "images/install/gpt.h"

#define LOADED "/sys/kernel/kexec_loaded"

/* As text: its first three fields are little-endian on the disk. */
static void
print_guid(const uint8_t guid[16], char ret[37])
{
	static const uint8_t places[16] = {3, 2, 1,  0,  5,  4,  7,  6,
					   8, 9, 10, 11, 12, 13, 14, 15};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(places); i++)
		at += (size_t)snprintf(ret + at, 37 - at, "%s%02x",
				       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				       guid[places[i]]);
}

char *
bu_kexec_line(const char *esp_dir, const struct bu_gpt_esp *esp, struct bu_err *err)
{
	bu_autofree char *line = bu_bootargs_line(esp_dir, err);
	char guid[37];

	print_guid(esp->guid, guid);
	return line ? bu_xasprintf("bringup.esp=%s %s", guid, line) : NULL;
}

static int
open_file(const char *esp_dir, const char *name, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", esp_dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd : bu_err_set(err, BU_ERR_IO, errno, "/%s", name);
}

static int
load(const char *esp_dir, void *arg, struct bu_err *err)
{
	bu_autofree char *line = bu_kexec_line(esp_dir, arg, err);
	bu_autoclose int kernel = line ? open_file(esp_dir, "vmlinuz", err) : -1;
	bu_autoclose int initrd = kernel >= 0 ? open_file(esp_dir, "initrd", err) : -1;

	if (initrd < 0)
		return -1;
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(line) + 1, line, 0UL))
		return bu_err_set(err, BU_ERR_IO, errno, "kexec_file_load");
	return 0;
}

int
bu_kexec_load(const char *disk, const char *name)
{
	bu_autofree char *device = NULL;
	struct bu_gpt_esp esp;
	struct bu_err err;

	if ((name ? bu_gpt_find_part(disk, name, &esp, &err)
		  : bu_gpt_find_esp(disk, &esp, &err)) == 0) {
		device = bu_disk_part(disk, esp.number - 1);
		if (bu_bootargs_mounted(device, load, &esp, &err) == 0)
			return 1;
	}
	bu_warn("install", "kexec: %s; its BMC starts the machine", err.text);
	return 0;
}

void
bu_kexec_leave(int may_kexec)
{
	char loaded[8];

	bu_file_line(LOADED, loaded, sizeof(loaded));
	may_kexec = may_kexec && loaded[0] == '1';
	bu_info("install", "installed; %s",
		may_kexec ? "starting it by kexec" : "switching off");
	sync();
	if (may_kexec)
		reboot(RB_KEXEC); /* comes back when it fails */
	reboot(RB_POWER_OFF);
}
