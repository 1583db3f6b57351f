/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot table. dnsmasq.c prints it, bringupd checks it before it answers DHCP,
 * tftp.c and the HTTP server serve what it names: a name that is handed out is a file
 * that is there.
 */
#include "provisioner/boot/loaders.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/boot/arch.h"

#define IPXE "Debian's package ipxe, or set boot_loaders in bringupd.conf"
#define SIGNED "bringup image build ramdisk, which fetches it"
#define ARM64                                                                          \
	"shim-signed and grub-efi-arm64-signed of Debian arm64, copied to boot_loaders"

#define ARM64_IPXE                                                                     \
	"iPXE (make bin-arm64-efi/snponly.efi), copied to boot_loaders under this name"

/* Debian's signed GRUB has no HTTP, so a machine that must have it and asks by HTTP
 * gets no answer, and its firmware goes on to PXE. */
static const struct bu_boot_row rows[] = {
	{"bios-pxe", 0, BU_BY_TFTP, BU_OF_ANY, "undionly.kpxe", NULL, IPXE, 0},
	{"uefi-pxe", 7, BU_BY_TFTP, BU_OF_IPXE, "snponly.efi", NULL, IPXE, 0},
	/* what some firmware calls itself */
	{"uefi-pxe", 9, BU_BY_TFTP, BU_OF_IPXE, "snponly.efi", NULL, IPXE, 0},
	{"uefi-http", 16, BU_BY_HTTP, BU_OF_IPXE, "snponly.efi", NULL, IPXE, 0},
	{"uefi-secure", 7, BU_BY_TFTP, BU_OF_GRUB, "shimx64.efi", "grubx64.efi", SIGNED,
	 1},
	{"uefi-secure", 9, BU_BY_TFTP, BU_OF_GRUB, "shimx64.efi", "grubx64.efi", SIGNED,
	 1},
	{"arm64-pxe", 11, BU_BY_TFTP, BU_OF_IPXE, "snponly-arm64.efi", NULL, ARM64_IPXE,
	 1},
	{"arm64-http", 19, BU_BY_HTTP, BU_OF_IPXE, "snponly-arm64.efi", NULL,
	 ARM64_IPXE, 1},
	/* of all machines where there is no iPXE for them */
	{"arm64-secure", 11, BU_BY_TFTP, BU_OF_ANY, "shimaa64.efi", "grubaa64.efi",
	 ARM64, 1},
};

const struct bu_boot_row *
bu_boot_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

/* Where it is, or where it would be; owned. */
static char *
find(const struct bu_loader_dirs *dirs, const char *file)
{
	char *path = bu_xasprintf("%s/%s", dirs->loaders, file);

	if (access(path, R_OK) == 0 || !dirs->ramdisk)
		return path;
	bu_autofree char *other = bu_xasprintf("%s/%s", dirs->ramdisk, file);

	if (access(other, R_OK) != 0)
		return path;
	free(path);
	return bu_steal(&other);
}

/* The first of its files that is not there; NULL = all are; owned. */
static char *
missing(const struct bu_boot_row *row, const struct bu_loader_dirs *dirs)
{
	const char *const files[] = {row->file, row->second};

	for (size_t i = 0; i < BU_LEN(files) && files[i]; i++) {
		char *path = find(dirs, files[i]);

		if (access(path, R_OK) != 0)
			return path;
		free(path);
	}
	return NULL;
}

int
bu_boot_row_there(const struct bu_boot_row *row, const struct bu_loader_dirs *dirs)
{
	bu_autofree char *path = missing(row, dirs);

	return !path;
}

int
bu_loaders_check(const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	const char *said = "";

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *path = missing(&rows[i], dirs);

		if (!path || strcmp(said, rows[i].name) == 0)
			continue;
		if (!rows[i].only_if_there)
			return bu_err_set(err, BU_ERR_NOTFOUND, 0,
					  "boot loader %s is missing, machines could "
					  "not boot by %s; install %s",
					  path, rows[i].name, rows[i].package);
		said = rows[i].name;
		bu_info("boot", "no machine boots by %s: %s is missing; it is of %s",
			rows[i].name, path, rows[i].package);
	}
	return 0;
}

int
bu_loaders_check_signed(const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	bu_autofree char *first = NULL;
	const char *package = "";

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *path = missing(&rows[i], dirs);

		if (rows[i].second && !path)
			return 0;
		if (!rows[i].second || first)
			continue;
		first = bu_steal(&path);
		package = rows[i].package;
	}
	return bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s is missing; it is of %s", first,
			  package);
}

static int
is_named(const struct bu_boot_row *row, const char *name)
{
	return strcmp(row->file, name) == 0 ||
	       (row->second && strcmp(row->second, name) == 0);
}

char *
bu_loader_path(const struct bu_loader_dirs *dirs, const char *name)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (is_named(&rows[i], name))
			return find(dirs, name);
	return NULL;
}

char *
bu_loader_http_path(const struct bu_loader_dirs *dirs, const char *name)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (rows[i].transport == BU_BY_HTTP && is_named(&rows[i], name))
			return find(dirs, name);
	return NULL;
}

/* Of the rows of this number: one that is handed out, else one whose file is missing;
 * NULL = there is none by this transport. */
static const struct bu_boot_row *
row_of(const struct bu_loader_dirs *dirs, int proxy, int arch, char **ret_missing)
{
	const struct bu_boot_row *best = NULL;

	*ret_missing = NULL;
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *path = NULL;

		if (rows[i].arch != arch || (proxy && rows[i].transport == BU_BY_HTTP))
			continue;
		path = missing(&rows[i], dirs);
		if (path && best)
			continue;
		best = &rows[i];
		free(*ret_missing);
		*ret_missing = bu_steal(&path);
		if (!*ret_missing)
			break;
	}
	return best;
}

static int
is_by_http(int arch)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (rows[i].arch == arch && rows[i].transport == BU_BY_HTTP)
			return 1;
	return 0;
}

static char *
lack_words(const struct bu_loader_dirs *dirs, int proxy, int arch)
{
	bu_autofree char *file = NULL, *other = NULL;
	const struct bu_boot_row *row = row_of(dirs, proxy, arch, &file);
	int instead = bu_arch_instead(arch);
	char name[BU_ARCH_WORDS_SIZE];

	if (row)
		return bu_xasprintf("its loader %s is missing; it is of %s; restart "
				    "bringupd then",
				    file, row->package);
	if (instead < 0 || !row_of(dirs, proxy, instead, &other))
		return bu_xstrdup("bringup has no loader for it; docs/boot.md has "
				  "those that it has");
	bu_arch_words(instead, name);
	return bu_xasprintf("%s; let it ask as %s",
			    is_by_http(arch) ? "dhcp = proxy answers no UEFI HTTP boot"
					     : "bringup has no loader for it",
			    name);
}

char *
bu_loaders_lack(const struct bu_loader_dirs *dirs, int proxy, const uint16_t *archs,
		size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *file = NULL;

		if (row_of(dirs, proxy, archs[i], &file) && !file)
			return NULL;
	}
	return count ? lack_words(dirs, proxy, archs[0]) : NULL;
}

/* A host of the profile has the tag grub when its class says so. iPXE names itself by
 * option 175, and is past all this. */
static const char *const tags[] = {
	[BU_OF_ANY] = "",
	[BU_OF_IPXE] = "tag:!grub,",
	[BU_OF_GRUB] = "tag:grub,",
};

/* For whom a row is printed: one for all is only for GRUB's where iPXE's is there. */
static const char *
tag_of(const struct bu_boot_row *row, const struct bu_loader_dirs *dirs)
{
	for (size_t i = 0; row->of == BU_OF_ANY && i < BU_LEN(rows); i++)
		if (rows[i].arch == row->arch && rows[i].of == BU_OF_IPXE &&
		    bu_boot_row_there(&rows[i], dirs))
			return tags[BU_OF_GRUB];
	return tags[row->of];
}

static void
print_row(FILE *out, const struct bu_boot_row *row, const struct bu_loaders_conf *conf)
{
	const char *tag = tag_of(row, conf->dirs);

	fprintf(out, "dhcp-match=set:arch%d,option:client-arch,%d\n", row->arch,
		row->arch);
	if (row->transport == BU_BY_HTTP)
		fprintf(out,
			"dhcp-option-force=tag:arch%d,tag:!grub,60,HTTPClient\n"
			"dhcp-boot=tag:arch%d,tag:!ipxe,%s%s/boot/%s\n",
			row->arch, row->arch, tag, conf->http_url, row->file);
	else
		fprintf(out, "dhcp-boot=tag:arch%d,tag:!ipxe,%s%s\n", row->arch, tag,
			row->file);
}

/* Another server gives the addresses; firmware asks us for the file alone. */
static void
print_proxy_row(FILE *out, const struct bu_boot_row *row,
		const struct bu_loaders_conf *conf)
{
	if (row->transport == BU_BY_TFTP)
		fprintf(out, "pxe-service=tag:!ipxe,%s%d,\"bringup\",%s\n",
			tag_of(row, conf->dirs), row->arch, row->file);
}

/* dnsmasq's own limit of 50 transfers lets the others wait, and firmware gives up after
 * half a minute; a kernel and a ramdisk take longer than that. It takes as many as it
 * may have files open. */
enum { TFTP_MAX = 1000 };

void
bu_loaders_print(FILE *out, const struct bu_loaders_conf *conf)
{
	fprintf(out, "enable-tftp\ntftp-max=%d\ntftp-root=%s\n", TFTP_MAX,
		conf->tftp_dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		if (!bu_boot_row_there(&rows[i], conf->dirs))
			continue;
		if (conf->proxy)
			print_proxy_row(out, &rows[i], conf);
		else
			print_row(out, &rows[i], conf);
	}
}
