/* SPDX-License-Identifier: Apache-2.0 */
/* The system partition of an image with two roots, as a folder. */
#ifndef BU_TESTS_SUPPORT_SLOTS_H
#define BU_TESTS_SUPPORT_SLOTS_H

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/unit.h"

enum { LOADER_BYTES = 4096, ADV_BYTES = 512 };

static inline void
put_file(const char *folder, const char *name, const char *text, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", folder, name);

	ck_assert_int_eq(bu_file_write(path, text, size, 0755, NULL), 0);
}

static inline void
make_esp(const char *folder)
{
	static const char *const texts[][2] = {
		{"kargs", "rw quiet\n"},
		{"syslinux.cfg", "DEFAULT linux\n APPEND rw quiet\n"},
		{"EFI/debian/grub.cfg", "linux /vmlinuz bringup.esp=$esp rw quiet\n"},
		{"EFI/BOOT/BOOTX64.EFI", "shim"},
		{"EFI/BOOT/grubx64.efi", "grub"},
		{"chain.c32", "chain"},
	};
	bu_autofree char *debian = bu_xasprintf("%s/EFI/debian", folder);
	bu_autofree char *boot = bu_xasprintf("%s/EFI/BOOT", folder);
	uint8_t loader[LOADER_BYTES];

	ck_assert_int_eq(bu_mkdir_p(debian, 0755, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(boot, 0755, NULL), 0);
	for (size_t i = 0; i < BU_LEN(texts); i++)
		put_file(folder, texts[i][0], texts[i][1], strlen(texts[i][1]));
	memset(loader, 0x90, sizeof(loader));
	for (size_t at = LOADER_BYTES - 2 * ADV_BYTES; at < LOADER_BYTES;
	     at += ADV_BYTES) {
		memset(loader + at, 0, ADV_BYTES);
		bu_le_put(loader + at, 0x5a2d2fa5, 4);
		bu_le_put(loader + at + 4, 0xa3041767, 4);
		bu_le_put(loader + at + ADV_BYTES - 4, 0xdd28bf64, 4);
	}
	put_file(folder, "ldlinux.sys", (char *)loader, sizeof(loader));
}

#endif
