/* SPDX-License-Identifier: Apache-2.0 */
/* The table of client architectures. Called where a request has no loader, to say whose
 * it is. */
#include "provisioner/boot/arch.h"

#include <stdio.h>

#include "base/mem.h"

enum { BIOS = 0, UEFI_X64 = 7, UEFI_ARM32 = 10, UEFI_ARM64 = 11, NONE = -1 };

/* U-Boot's method "efi" asks as UEFI does (its boot/bootmeth_efi.c); its method "pxe"
 * looks for a configuration of PXELINUX, which is none of ours. */
static const struct {
	const char *name;
	int instead;
} archs[] = {
	[BIOS] = {"BIOS, x86", NONE},
	[1] = {"NEC PC-98", NONE},
	[2] = {"UEFI, Itanium", NONE},
	[3] = {"DEC Alpha", NONE},
	[4] = {"ARC, x86", NONE},
	[5] = {"Intel Lean Client", NONE},
	[6] = {"UEFI, x86 of 32 bits", NONE},
	[UEFI_X64] = {"UEFI, x86-64", NONE},
	[8] = {"UEFI, XScale", NONE},
	[9] = {"UEFI, EBC", NONE},
	[UEFI_ARM32] = {"UEFI, arm32", NONE},
	[UEFI_ARM64] = {"UEFI, arm64", NONE},
	[12] = {"Open Firmware, PowerPC", NONE},
	[13] = {"ePAPR, PowerPC", NONE},
	[14] = {"OPAL, POWER", NONE},
	[15] = {"UEFI HTTP, x86 of 32 bits", NONE},
	[16] = {"UEFI HTTP, x86-64", UEFI_X64},
	[17] = {"UEFI HTTP, EBC", UEFI_X64},
	[18] = {"UEFI HTTP, arm32", UEFI_ARM32},
	[19] = {"UEFI HTTP, arm64", UEFI_ARM64},
	[20] = {"BIOS, x86, by HTTP", BIOS},
	[21] = {"U-Boot, arm32", UEFI_ARM32},
	[22] = {"U-Boot, arm64", UEFI_ARM64},
	[23] = {"U-Boot, arm32, by HTTP", UEFI_ARM32},
	[24] = {"U-Boot, arm64, by HTTP", UEFI_ARM64},
	[25] = {"UEFI, RISC-V of 32 bits", NONE},
	[26] = {"UEFI HTTP, RISC-V of 32 bits", NONE},
	[27] = {"UEFI, RISC-V of 64 bits", NONE},
	[28] = {"UEFI HTTP, RISC-V of 64 bits", NONE},
	[29] = {"UEFI, RISC-V of 128 bits", NONE},
	[30] = {"UEFI HTTP, RISC-V of 128 bits", NONE},
	[31] = {"s390, basic", NONE},
	[32] = {"s390, extended", NONE},
	[33] = {"UEFI, MIPS of 32 bits", NONE},
	[34] = {"UEFI, MIPS of 64 bits", NONE},
	[35] = {"UEFI, Sunway of 32 bits", NONE},
	[36] = {"UEFI, Sunway of 64 bits", NONE},
	[37] = {"UEFI, LoongArch of 32 bits", NONE},
	[38] = {"UEFI HTTP, LoongArch of 32 bits", NONE},
	[39] = {"UEFI, LoongArch of 64 bits", NONE},
	[40] = {"UEFI HTTP, LoongArch of 64 bits", NONE},
	[41] = {"Raspberry Pi's loader, arm", NONE},
};

static int
is_known(int number)
{
	return number >= 0 && number < (int)BU_LEN(archs);
}

void
bu_arch_words(int number, char ret[BU_ARCH_WORDS_SIZE])
{
	snprintf(ret, BU_ARCH_WORDS_SIZE, "%d (%s)", number,
		 is_known(number) ? archs[number].name : "not in IANA's registry");
}

int
bu_arch_instead(int number)
{
	return is_known(number) ? archs[number].instead : NONE;
}
