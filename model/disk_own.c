/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAID controllers give all their volumes one serial number, NVMe controllers all their
 * namespaces, and cheap drives come with one for the whole batch. Called by the daemon
 * for inventories and by the agent before it writes. Invariant: both judge all disks of
 * the machine, so that both take the same texts for a disk's own.
 */
#include "model/disk_own.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "model/machine.h"

/* A row each: part of the model of a disk on USB that a BMC makes of an image or of a
 * part of its own flash memory, in any case. Many say that they are not removable. */
static const char *const bmc_media[] = {
	"virtual", /* AMI, Supermicro, HPE, Lenovo: "Virtual HDisk0", "Virtual Floppy"
		    */
	"lcdrive",     "oemdrv", "secupd",  "vflash",  "idrac", /* Dell */
	"ilo ",        "intvol",                                /* HPE */
	"lun 0 media", "aten ",  "openbmc", "remote ",
};

/* "mmcblk0boot0", "mmcblk0gp1", "mmcblk0rpmb" */
static int
is_part_of_emmc(const char *name)
{
	size_t digits;

	if (strncmp(name, "mmcblk", 6) != 0)
		return 0;
	digits = strspn(name + 6, "0123456789");
	return isalpha((unsigned char)name[6 + digits]) && name[6 + digits] != 'p';
}

static int
is_of_bmc(const struct bu_disk *disk)
{
	for (size_t i = 0; i < BU_LEN(bmc_media); i++)
		if (strcasestr(disk->model, bmc_media[i]))
			return strstr(disk->by_path, "-usb-") != NULL;
	return 0;
}

int
bu_disk_bears(const struct bu_disk *disk)
{
	return !disk->removable && disk->size_bytes >= BU_DISK_LEAST_BYTES &&
	       !is_part_of_emmc(disk->name) && !is_of_bmc(disk);
}

/* "eui.0100000000000000", "naa.5000000000000000": next to nothing behind the dot. */
static int
says_wwn(const char *wwn)
{
	const char *digits = strchr(wwn, '.');
	int other = 0;

	digits = digits ? digits + 1 : wwn;
	if (!bu_machine_says(digits))
		return 0;
	for (const char *at = digits; *at; at++)
		other += *at != '0' && *at != '-' && !isspace((unsigned char)*at);
	return other > (strlen(digits) >= 16);
}

static int
same_wwn(const char *a, const char *b)
{
	return says_wwn(a) && strcasecmp(a, b) == 0;
}

static int
has_one_port(const struct bu_disk *disk)
{
	return strstr(disk->by_path, "-ata-") || strstr(disk->by_path, "-usb-");
}

int
bu_disk_is_same(const struct bu_disk *a, const struct bu_disk *b)
{
	if (a == b)
		return 1;
	if (!same_wwn(a->wwn, b->wwn) || strcmp(a->serial, b->serial) != 0 ||
	    strcmp(a->model, b->model) != 0 || a->size_bytes != b->size_bytes)
		return 0;
	return !(has_one_port(a) && has_one_port(b) &&
		 strcmp(a->by_path, b->by_path) != 0);
}

static int
is_own_serial(const struct bu_disk *disks, size_t count, size_t which)
{
	const struct bu_disk *disk = &disks[which];

	for (size_t i = 0; i < count; i++)
		if (bu_machine_same(disks[i].serial, disk->serial) &&
		    !bu_disk_is_same(&disks[i], disk))
			return 0;
	return bu_machine_says(disk->serial);
}

static int
is_own_wwn(const struct bu_disk *disks, size_t count, size_t which)
{
	const struct bu_disk *disk = &disks[which];

	for (size_t i = 0; i < count; i++)
		if (same_wwn(disks[i].wwn, disk->wwn) &&
		    !bu_disk_is_same(&disks[i], disk))
			return 0;
	return says_wwn(disk->wwn);
}

void
bu_disks_own(struct bu_disk *disks, size_t count)
{
	bu_autofree unsigned char *lacks = bu_xcalloc(count + 1, 1);

	for (size_t i = 0; i < count; i++)
		lacks[i] = (unsigned char)((!is_own_serial(disks, count, i)) |
					   (!is_own_wwn(disks, count, i)) << 1);
	for (size_t i = 0; i < count; i++) {
		if (lacks[i] & 1)
			disks[i].serial[0] = '\0';
		if (lacks[i] & 2)
			disks[i].wwn[0] = '\0';
	}
}

int
bu_disk_agrees(const struct bu_disk *disk, const char *serial, const char *wwn)
{
	int serials = *serial && *disk->serial, wwns = *wwn && *disk->wwn;

	return (serials || wwns) && (!serials || strcmp(disk->serial, serial) == 0) &&
	       (!wwns || strcasecmp(disk->wwn, wwn) == 0);
}

const char *
bu_disk_number(const char *serial, const char *wwn)
{
	return *serial ? serial : wwn;
}

char *
bu_disk_number_words(const char *serial, const char *wwn)
{
	return bu_xasprintf("%s%s%s%s", serial, *serial && *wwn ? ", " : "",
			    *wwn      ? "WWN "
			    : *serial ? ""
				      : "(none)",
			    wwn);
}

char *
bu_disk_tellers(const struct bu_disk *disks, size_t count, const char *serial,
		const char *wwn, size_t *ret_count)
{
	char *text = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(*serial && bu_machine_same(disks[i].serial, serial)) &&
		    !(*wwn && strcasecmp(disks[i].wwn, wwn) == 0))
			continue;
		bu_text_add(&text, ", ", "%s", disks[i].path);
		++*ret_count;
	}
	return text;
}
