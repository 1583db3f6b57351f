/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What firmware calls itself in option 93 of DHCP: IANA's "Processor Architecture
 * Types" (registry dhcpv6-parameters, as of 2026-11; the first are of RFC 4578).
 */
#ifndef BU_BOOT_ARCH_H
#define BU_BOOT_ARCH_H

enum { BU_ARCH_WORDS_SIZE = 64 };

/* "22 (U-Boot, arm64)"; a number that is not in the registry is said to be none. */
void bu_arch_words(int number, char ret[BU_ARCH_WORDS_SIZE]);
/* Another number by which the same machine may ask; -1 = none is known. */
int bu_arch_instead(int number);

#endif
