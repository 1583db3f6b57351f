/* SPDX-License-Identifier: Apache-2.0 */
/* iPXE scripts: pure text. The node's values are checked before they get here. */
#ifndef BU_BOOT_SCRIPT_H
#define BU_BOOT_SCRIPT_H

/* What DHCP points iPXE to: asks again with the MAC of the NIC that booted. Owned. */
char *bu_script_first(const char *http_url);

struct bu_script_agent {
	const char *http_url;  /* "http://10.77.0.1:8080" */
	const char *agent_url; /* "https://10.77.0.1:8443" */
	const char *ca_digest; /* SHA-256 of the CA's PEM */
	const char *node;      /* NULL = not known; no token then */
	const char *mac;
	const char *token; /* of this boot alone */
	const char *kargs; /* more kernel arguments; NULL = none */
	/* From a boot medium, whose loader needs no word of the ramdisk and whose agent
	 * has the firmware start the disk before any card; the address of
	 * the boot NIC, "10.77.0.11/24,GATEWAY", NULL = by DHCP. */
	int from_media;
	const char *address;
};
/* What the kernel is told, by any loader. Owned. */
char *bu_script_kargs(const struct bu_script_agent *agent);
/* Boots the ramdisk with the agent. Owned. */
char *bu_script_boot_agent(const struct bu_script_agent *agent);
/* Asks again, for as long as it takes: it must not go on to its disk. Owned. */
char *bu_script_wait(const char *why, const char *http_url);
/* Boots from the disk: no boot from the network was ordered. Owned. */
char *bu_script_boot_disk(const char *why, const char *http_url);

#endif
