/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the XML of a libvirt domain. Called by the power driver and by the
 * virtual rack, which switch domains.
 */
#ifndef BU_BASE_DOMAIN_XML_H
#define BU_BASE_DOMAIN_XML_H

#include <stddef.h>

/* The domain with these two as its boot order ("network", "hd", "cdrom"), and no other
 * order at a device; owned. NULL when it is no domain with an <os>. */
char *bu_domain_xml_reorder(const char *xml, const char *const order[2]);
/* The domain with this file in a CD drive that boots, and no other such file; NULL =
 * none. Owned; NULL when it is no domain. */
char *bu_domain_xml_cdrom(const char *xml, const char *file);
/* The serial number that its SMBIOS says; "" when it says none, or is no domain. */
void bu_domain_xml_serial(const char *xml, char *ret, size_t size);
/* Where its first serial port leads: the path of a file, else the type ("pty"); "" when
 * it has none. */
void bu_domain_xml_console(const char *xml, char *ret, size_t size);
/* Calls fn with the address of each of its network cards, as it is written. */
void bu_domain_xml_macs(const char *xml, void (*fn)(const char *mac, void *arg),
			void *arg);

#endif
