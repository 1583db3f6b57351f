/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the boot partition; called by roots.c while installing and by the agent
 * that confirms its system. Invariant: after bu_chooser_make() no file grows or moves:
 * a power cut leaves each sector old or new, and the file system as it was.
 */
#include "images/install/chooser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "images/install/bootargs.h"
#include "images/install/disk.h"

#define GRUB_CFG "EFI/debian/grub.cfg"
#define GRUB_ENV "EFI/debian/grubenv"
#define SYSLINUX_CFG "syslinux.cfg"
#define SYSLINUX "ldlinux.sys"
#define SYSLINUX_HEAD "DEFAULT "

enum {
	ENV_SIZE = 1024, /* of GRUB: a block that it writes in place */
	ADV_SIZE = 512,  /* syslinux: two copies at the end of its file */
	ADV_DATA = 8,
	ADV_END = ADV_SIZE - 4,
	ADV_ONCE = 1,
	FILE_MAX = 65536,
};
/* Of syslinux 6, libinstaller/setadv.c. */
static const uint32_t adv_head = 0x5a2d2fa5, adv_sum = 0xa3041767,
		      adv_tail = 0xdd28bf64;

/* disk.efi of the boot ramdisk looks for it. */
#define MARKER "bringup-slots"

/* The partitions are those of bu_layout_make(), counted from 1. */
static const char grub_cfg[] =
	"load_env -f /" GRUB_ENV " slot try\n"
	"if [ -n \"$try\" ]; then\n"
	"\tset tried=$try\n"
	"\tset try=\n"
	"\tif save_env -f /" GRUB_ENV " try; then set slot=$tried; fi\n"
	"fi\n"
	"regexp --set=1:disk '^([^,]*),' $root\n"
	"set number=2\n"
	"if [ \"$slot\" = b ]; then set number=4; fi\n"
	"echo \"bringup: root $slot\"\n"
	"set root=$disk,gpt$number\n"
	"configfile /" GRUB_CFG "\n";
static const char syslinux_cfg[] =
	SYSLINUX_HEAD "a\nPROMPT 0\nTIMEOUT 1\n"
		      "LABEL a\n COM32 chain.c32\n APPEND boot 2\n"
		      "LABEL b\n COM32 chain.c32\n APPEND boot 4\n";

const char *
bu_slot_name(int slot)
{
	return slot == BU_SLOT_B ? "b" : "a";
}

int
bu_slot_of(const char *word)
{
	if (!word || !*word || word[1])
		return BU_SLOT_NONE;
	return *word == 'a' ? BU_SLOT_A : *word == 'b' ? BU_SLOT_B : BU_SLOT_NONE;
}

static int
is_efi(void)
{
	return bu_file_exists("/sys/firmware/efi");
}

/* A file that is there already: its bytes where they are. */
static int
write_in_place(const char *dir, const char *name, const void *data, size_t size,
	       long offset, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, size, offset) != (ssize_t)size || fsync(fd))
		return bu_err_set(err, BU_ERR_IO, errno, "/%s of the boot partition",
				  name);
	return 0;
}

/* --- GRUB --- */

static void
fill_env(const struct bu_chooser *to, char ret[ENV_SIZE])
{
	int used =
		snprintf(ret, ENV_SIZE, "# GRUB Environment Block\nslot=%s\ntry=%s\n",
			 bu_slot_name(to->slot),
			 to->try == BU_SLOT_NONE ? "" : bu_slot_name(to->try));

	memset(ret + used, '#', (size_t)(ENV_SIZE - used));
}

/* "a" of the line "slot=a"; BU_SLOT_NONE when it is empty or not there. */
static int
env_slot(const char *text, const char *line)
{
	const char *at = strstr(text, line);
	char word[2] = "";

	if (!at || at[strlen(line) + 1] != '\n')
		return BU_SLOT_NONE;
	word[0] = at[strlen(line)];
	return bu_slot_of(word);
}

static int
read_env(const char *dir, struct bu_chooser *ret, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" GRUB_ENV, dir);
	size_t size = 0;
	bu_autofree char *text = bu_file_read(path, FILE_MAX, &size, NULL);

	*ret = (struct bu_chooser){BU_SLOT_NONE, BU_SLOT_NONE};
	if (text && size == ENV_SIZE) {
		ret->slot = env_slot(text, "\nslot=");
		ret->try = env_slot(text, "\ntry=");
	}
	if (ret->slot == BU_SLOT_NONE)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "/" GRUB_ENV " of the boot partition does not say "
				  "which root is confirmed; a wipe writes the disk "
				  "anew");
	return 0;
}

static int
set_env(const char *dir, const struct bu_chooser *to, struct bu_err *err)
{
	struct bu_chooser is;
	char block[ENV_SIZE];

	if (read_env(dir, &is, NULL) == 0 && is.slot == to->slot && is.try == to->try)
		return 0;
	fill_env(to, block);
	return write_in_place(dir, GRUB_ENV, block, sizeof(block), 0, err);
}

/* --- syslinux --- */

static void
fill_adv(int try, uint8_t ret[ADV_SIZE])
{
	uint32_t sum = adv_sum;

	memset(ret, 0, ADV_SIZE);
	if (try != BU_SLOT_NONE) {
		ret[ADV_DATA] = ADV_ONCE;
		ret[ADV_DATA + 1] = 1;
		ret[ADV_DATA + 2] = (uint8_t)*bu_slot_name(try);
	}
	for (size_t i = ADV_DATA; i < ADV_END; i += 4)
		sum -= (uint32_t)bu_le_get(ret + i, 4);
	bu_le_put(ret, adv_head, 4);
	bu_le_put(ret + 4, sum, 4);
	bu_le_put(ret + ADV_END, adv_tail, 4);
}

static int
is_adv(const uint8_t *adv)
{
	return bu_le_get(adv, 4) == adv_head && bu_le_get(adv + ADV_END, 4) == adv_tail;
}

/* Both copies; *ret_at where they are in the file. */
static int
read_adv(const char *dir, uint8_t ret[2 * ADV_SIZE], long *ret_at, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" SYSLINUX, dir);
	size_t size = 0;
	bu_autofree char *all = bu_file_read(path, 1 << 20, &size, err);

	if (!all)
		return -1;
	if (size < 2 * ADV_SIZE || !is_adv((uint8_t *)all + size - 2 * ADV_SIZE) ||
	    !is_adv((uint8_t *)all + size - ADV_SIZE))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "/" SYSLINUX " has no data vector at its end: the "
				  "image was built with another syslinux than 6");
	*ret_at = (long)(size - 2 * ADV_SIZE);
	memcpy(ret, all + *ret_at, 2 * ADV_SIZE);
	return 0;
}

static int
set_adv(const char *dir, int try, struct bu_err *err)
{
	uint8_t is[2 * ADV_SIZE], to[2 * ADV_SIZE];
	long at;

	if (read_adv(dir, is, &at, err))
		return -1;
	fill_adv(try, to);
	memcpy(to + ADV_SIZE, to, ADV_SIZE);
	return memcmp(is, to, sizeof(to)) == 0
		       ? 0
		       : write_in_place(dir, SYSLINUX, to, sizeof(to), at, err);
}

static int
read_default(const char *dir, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" SYSLINUX_CFG, dir);
	bu_autofree char *text = bu_file_read(path, FILE_MAX, NULL, err);
	size_t head = strlen(SYSLINUX_HEAD);
	char word[2] = "";
	int slot = BU_SLOT_NONE;

	if (!text)
		return BU_SLOT_NONE;
	if (!strncmp(text, SYSLINUX_HEAD, head)) {
		word[0] = text[head];
		slot = bu_slot_of(word);
	}
	if (slot == BU_SLOT_NONE)
		bu_err_set(err, BU_ERR_STATE, 0,
			   "/" SYSLINUX_CFG " of the boot partition does not say which "
			   "root is confirmed; a wipe writes the disk anew");
	return slot;
}

static int
read_syslinux(const char *dir, struct bu_chooser *ret, struct bu_err *err)
{
	uint8_t adv[2 * ADV_SIZE];
	char word[2] = "";
	long at;

	ret->slot = read_default(dir, err);
	if (ret->slot == BU_SLOT_NONE || read_adv(dir, adv, &at, err))
		return -1;
	if (adv[ADV_DATA] == ADV_ONCE && adv[ADV_DATA + 1] == 1)
		word[0] = (char)adv[ADV_DATA + 2];
	ret->try = bu_slot_of(word);
	return 0;
}

/* A try goes before the slot that it would go back from. */
static int
set_syslinux(const char *dir, const struct bu_chooser *to, struct bu_err *err)
{
	if (set_adv(dir, to->try, err))
		return -1;
	return read_default(dir, NULL) == to->slot
		       ? 0
		       : write_in_place(dir, SYSLINUX_CFG, bu_slot_name(to->slot), 1,
					(long)strlen(SYSLINUX_HEAD), err);
}

/* --- both --- */

int
bu_chooser_read_as(const char *dir, int efi, struct bu_chooser *ret, struct bu_err *err)
{
	return efi ? read_env(dir, ret, err) : read_syslinux(dir, ret, err);
}

int
bu_chooser_read(const char *dir, struct bu_chooser *ret, struct bu_err *err)
{
	return bu_chooser_read_as(dir, is_efi(), ret, err);
}

int
bu_chooser_set(const char *dir, const struct bu_chooser *to, struct bu_err *err)
{
	if (is_efi())
		return set_env(dir, to, err) || set_syslinux(dir, to, err) ? -1 : 0;
	return set_syslinux(dir, to, err) || set_env(dir, to, err) ? -1 : 0;
}

int
bu_chooser_set_mounted(const char *dir, void *to, struct bu_err *err)
{
	return bu_chooser_set(dir, to, err);
}

int
bu_chooser_make(const char *dir, struct bu_err *err)
{
	static const struct bu_chooser first = {BU_SLOT_A, BU_SLOT_NONE};
	static const struct {
		const char *name, *text;
	} texts[] = {
		{GRUB_CFG, grub_cfg}, {SYSLINUX_CFG, syslinux_cfg}, {MARKER, "\n"}};
	bu_autofree char *env = bu_xasprintf("%s/" GRUB_ENV, dir);
	bu_autofree char *chain = bu_xasprintf("%s/chain.c32", dir);
	char block[ENV_SIZE];

	if (!bu_file_exists(chain))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the image has no chain.c32 in its system partition: "
				  "it does not support two roots; build it again");
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, texts[i].name);

		if (bu_file_write(path, texts[i].text, strlen(texts[i].text), 0755,
				  err))
			return -1;
	}
	fill_env(&first, block);
	return bu_file_write(env, block, sizeof(block), 0755, err) ||
			       set_adv(dir, BU_SLOT_NONE, err)
		       ? -1
		       : 0;
}

int
bu_chooser_is(const char *dir, const struct bu_chooser *to)
{
	for (int efi = 0; efi < 2; efi++) {
		struct bu_chooser is;

		if (bu_chooser_read_as(dir, efi, &is, NULL) || is.slot != to->slot ||
		    is.try != to->try)
			return 0;
	}
	return 1;
}

static int
look(const char *dir, void *arg, struct bu_err *err)
{
	return bu_chooser_is(dir, arg) ? 0 : -1;
}

int
bu_chooser_confirm(int slot, struct bu_err *err)
{
	struct bu_chooser to = {slot, BU_SLOT_NONE};
	bu_autofree char *device = NULL;

	if (slot == BU_SLOT_NONE)
		return 0;
	device = bu_bootargs_boot(err);
	if (!device)
		return -1;
	return bu_bootargs_looked(device, look, &to, NULL) == 0
		       ? 0
		       : bu_bootargs_mounted(device, bu_chooser_set_mounted, &to, err);
}

static int
untry(const char *dir, void *arg, struct bu_err *err)
{
	struct bu_chooser is;

	if (bu_chooser_read(dir, &is, err))
		return -1;
	is.try = BU_SLOT_NONE;
	return bu_chooser_set(dir, &is, err);
}

int
bu_chooser_untry(const char *disk, struct bu_err *err)
{
	bu_autofree char *node = bu_disk_part(disk, 0);

	return bu_bootargs_mounted(node, untry, NULL, err);
}

/* --- a slot --- */

static int
add_argument(const char *esp_dir, int slot, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/kargs", esp_dir);
	bu_autofree char *text = bu_file_read(path, FILE_MAX, NULL, err), *line = NULL;

	if (!text)
		return bu_err_wrap(err, "the image's own kernel arguments");
	text[strcspn(text, "\r\n")] = '\0';
	if (strstr(text, BU_SLOT_ARG "="))
		return 0; /* a second try of the same step */
	line = bu_xasprintf("%s%s" BU_SLOT_ARG "=%s\n", text, *text ? " " : "",
			    bu_slot_name(slot));
	return bu_file_write(path, line, strlen(line), 0755, err);
}

int
bu_slot_fill(const char *esp_dir, int slot, const char *kargs, struct bu_err *err)
{
	static const char *const loaders[] = {"BOOTX64.EFI", "grubx64.efi"};

	for (size_t i = 0; i < BU_LEN(loaders); i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/EFI/BOOT/%s", esp_dir, loaders[i]);

		if (unlink(path) && errno != ENOENT)
			return bu_err_set(err, BU_ERR_IO, errno, "/EFI/BOOT/%s",
					  loaders[i]);
	}
	return add_argument(esp_dir, slot, err) ||
			       bu_bootargs_write(esp_dir, kargs, err)
		       ? -1
		       : 0;
}
