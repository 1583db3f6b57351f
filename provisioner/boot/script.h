/* SPDX-License-Identifier: Apache-2.0 */
/* iPXE scripts: pure text. Callers have checked the node's values. */
#ifndef BU_BOOT_SCRIPT_H
#define BU_BOOT_SCRIPT_H

/* The script named by DHCP: asks again with the MAC of the booted NIC. Owned. */
char *bu_script_first(const char *http_url);

struct bu_script_agent {
	const char *http_url;  /* "http://10.77.0.1:8080" */
	const char *agent_url; /* "https://10.77.0.1:8443" */
	const char *ca_digest; /* SHA-256 of the CA's PEM */
	const char *node;      /* NULL = not known, without a token */
	const char *mac;
	const char *token; /* for this boot only */
	const char *kargs; /* more kernel arguments; NULL = none */
	/* Boot from a medium: its loader needs no ramdisk argument, and the agent makes
	 * the firmware boot from disk before any card. address: of the boot NIC,
	 * "10.77.0.11/24,GATEWAY"; NULL = by DHCP. */
	int from_media;
	const char *address;
};
/* Kernel arguments, for any loader. Owned. */
char *bu_script_kargs(const struct bu_script_agent *agent);
/* The script that boots the ramdisk with the agent. Owned. */
char *bu_script_boot_agent(const struct bu_script_agent *agent);
/* The script that asks again without end, and never boots from disk. Owned. */
char *bu_script_wait(const char *why, const char *http_url);
/* The script that boots from disk: no network boot was ordered. Owned. */
char *bu_script_boot_disk(const char *why, const char *http_url);

#endif
