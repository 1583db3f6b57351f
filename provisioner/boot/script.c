/* SPDX-License-Identifier: Apache-2.0 */
/* iPXE scripts. */
#include "provisioner/boot/script.h"

#include "base/err.h"

char *
bu_script_first(const char *http_url)
{
	return bu_xasprintf("#!ipxe\n"
			    "chain %s/boot/script/${netX/mac:hexhyp}\n",
			    http_url);
}

/* "initrd=" is what the kernel asks for under UEFI; BIOS does not mind it. */
char *
bu_script_boot_agent(const struct bu_script_agent *agent)
{
	return bu_xasprintf("#!ipxe\n"
			    "echo bringup: %s boots the agent\n"
			    "kernel %s/boot/vmlinuz console=ttyS0 quiet panic=5 "
			    "initrd=agent.img BOOTIF=%s bringup.node=%s bringup.url=%s "
			    "bringup.boot=%s bringup.ca=%s bringup.token=%s%s%s\n"
			    "initrd %s/boot/agent.img\n"
			    "boot\n",
			    agent->node, agent->http_url, agent->mac, agent->node,
			    agent->agent_url, agent->http_url, agent->ca_digest,
			    agent->token, agent->kargs ? " " : "",
			    agent->kargs ? agent->kargs : "", agent->http_url);
}

/* iPXE of 2019 cannot start a disk under UEFI: the firmware's next entry has to. */
char *
bu_script_boot_disk(const char *why)
{
	return bu_xasprintf("#!ipxe\n"
			    "echo bringup: %s; booting from the disk\n"
			    "iseq ${platform} efi && exit 1 ||\n"
			    "sanboot --no-describe --drive 0x80\n",
			    why);
}
