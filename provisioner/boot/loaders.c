/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of boot loaders. dnsmasq.c prints it, bringupd checks it before it answers
 * DHCP, and the HTTP server serves what it names: a name that is handed out is a file
 * that is there.
 */
#include "provisioner/boot/loaders.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum transport { TFTP, HTTP };

static const struct loader {
	int arch;
	const char *tag;
	enum transport transport;
	const char *file;
	const char *package;
} loaders[] = {
	{0, "bios", TFTP, "undionly.kpxe", "ipxe"},
	{7, "efi64", TFTP, "snponly.efi", "ipxe"},
	{9, "efi64", TFTP, "snponly.efi", "ipxe"}, /* what some firmware calls itself */
	{16, "efihttp", HTTP, "snponly.efi", "ipxe"},
};

int
bu_loaders_check(const char *dir, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(loaders); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, loaders[i].file);

		if (access(path, R_OK) != 0)
			return bu_err_set(err, BU_ERR_NOTFOUND, 0,
					  "boot loader %s is missing, machines could "
					  "not boot; install Debian's package %s, or "
					  "set boot_loaders in bringupd.conf",
					  path, loaders[i].package);
	}
	return 0;
}

char *
bu_loader_path(const char *dir, const char *name)
{
	for (size_t i = 0; i < BU_LEN(loaders); i++)
		if (loaders[i].transport == HTTP && strcmp(loaders[i].file, name) == 0)
			return bu_xasprintf("%s/%s", dir, name);
	return NULL;
}

/* The same tag again says the same file. */
static int
is_said(size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (strcmp(loaders[i].tag, loaders[row].tag) == 0)
			return 1;
	return 0;
}

void
bu_loaders_print(FILE *out, const char *dir, const char *http_url)
{
	fprintf(out, "enable-tftp\ntftp-root=%s\n", dir);
	for (size_t i = 0; i < BU_LEN(loaders); i++) {
		const struct loader *loader = &loaders[i];

		fprintf(out, "dhcp-match=set:%s,option:client-arch,%d\n", loader->tag,
			loader->arch);
		if (is_said(i))
			continue;
		if (loader->transport == HTTP)
			fprintf(out,
				"dhcp-option-force=tag:%s,60,HTTPClient\n"
				"dhcp-boot=tag:%s,tag:!ipxe,%s/boot/%s\n",
				loader->tag, loader->tag, http_url, loader->file);
		else
			fprintf(out, "dhcp-boot=tag:%s,tag:!ipxe,%s\n", loader->tag,
				loader->file);
	}
}
