/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Architectures of firmware in DHCP option 93: IANA's "Processor Architecture Types"
 * (registry dhcpv6-parameters, as of 2026-11; the first are of RFC 4578).
 */
#ifndef BU_BOOT_ARCH_H
#define BU_BOOT_ARCH_H

enum { BU_ARCH_WORDS_SIZE = 64 };

/* "22 (U-Boot, arm64)"; says so for a number that is not in the registry. */
void bu_arch_words(int number, char ret[BU_ARCH_WORDS_SIZE]);
/* Another number that the same machine may send; -1 = none known. */
int bu_arch_instead(int number);

#endif
