/* SPDX-License-Identifier: Apache-2.0 */
/* iPXE scripts. */
#include "provisioner/boot/script.h"

#include "base/err.h"
#include "base/text.h"

/* A minute's patience with an appliance that starts anew; then the disk, which may hold
 * a good system: a node must not need the appliance to come back from a power cut. */
char *
bu_script_first(const char *http_url)
{
	return bu_xasprintf(
		"#!ipxe\n"
		"set tries:int8 0\n"
		":again\n"
		"imgfetch --name next %s/boot/script/${netX/mac:hexhyp} && "
		"goto run ||\n"
		"inc tries\n"
		"iseq ${tries} 12 && exit 1 ||\n"
		"echo bringup: the appliance does not answer; again in 5 s\n"
		"sleep 5\n"
		"goto again\n"
		":run\n"
		"imgexec next\n",
		http_url);
}

char *
bu_script_kargs(const struct bu_script_agent *agent)
{
	char *text = bu_xstrdup("console=tty0 console=ttyS0,115200n8 quiet panic=5");

	bu_text_add(&text, " ", "%s",
		    agent->from_media ? "bringup.medium=1" : "initrd=agent.img");
	if (*agent->mac)
		bu_text_add(&text, " ", "BOOTIF=%s", agent->mac);
	if (agent->address)
		bu_text_add(&text, " ", "bringup.ip=%s", agent->address);
	bu_text_add(&text, " ", "bringup.url=%s bringup.boot=%s bringup.ca=%s",
		    agent->agent_url, agent->http_url, agent->ca_digest);
	if (agent->node)
		bu_text_add(&text, " ", "bringup.node=%s bringup.token=%s", agent->node,
			    agent->token);
	if (agent->kargs)
		bu_text_add(&text, " ", "%s", agent->kargs);
	return text;
}

/* "initrd=" is what the kernel asks for under UEFI; BIOS does not mind it. It asks
 * until it gets them: this boot was ordered, and its order has the deadline.
 */
char *
bu_script_boot_agent(const struct bu_script_agent *agent)
{
	bu_autofree char *kargs = bu_script_kargs(agent);

	return bu_xasprintf(
		"#!ipxe\n"
		"echo bringup: %s boots the agent\n"
		":again\n"
		"kernel %s/boot/vmlinuz %s && "
		"initrd %s/boot/agent.img && boot ||\n"
		"echo bringup: the appliance does not answer; again in 5 s\n"
		"imgfree\n"
		"sleep 5\n"
		"goto again\n",
		agent->node ? agent->node : "an unknown machine", agent->http_url,
		kargs, agent->http_url);
}

char *
bu_script_wait(const char *why, const char *http_url)
{
	return bu_xasprintf("#!ipxe\n"
			    "echo bringup: %s; again in 5 s\n"
			    ":again\n"
			    "sleep 5\n"
			    "chain --replace %s/boot/script/${netX/mac:hexhyp} || "
			    "goto again\n",
			    why, http_url);
}

/* iPXE of 2019 cannot start a disk under UEFI: GRUB does, which looks for the system
 * partition of ours. Without it the firmware's next entry has to. */
char *
bu_script_boot_disk(const char *why, const char *http_url)
{
	return bu_xasprintf("#!ipxe\n"
			    "echo bringup: %s; booting from the disk\n"
			    "iseq ${platform} efi && goto efi ||\n"
			    "sanboot --no-describe --drive 0x80\n"
			    ":efi\n"
			    "chain %s/boot/disk.efi ||\n"
			    "exit 1\n",
			    why, http_url);
}
