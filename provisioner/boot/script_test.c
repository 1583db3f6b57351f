/* SPDX-License-Identifier: Apache-2.0 */
#include "provisioner/boot/script.h"

#include <string.h>

#include "base/err.h"
#include "provisioner/boot/grub.h"
#include "tests/support/unit.h"

START_TEST(the_first_script_asks_again_with_the_mac)
{
	bu_autofree char *text = bu_script_first("http://10.77.0.1:8080");

	ck_assert_str_eq(text,
			 "#!ipxe\n"
			 "set tries:int8 0\n"
			 ":again\n"
			 "imgfetch --name next http://10.77.0.1:8080/boot/script/"
			 "${netX/mac:hexhyp} && goto run ||\n"
			 "inc tries\n"
			 "iseq ${tries} 12 && exit 1 ||\n"
			 "echo bringup: the appliance does not answer; again in 5 s\n"
			 "sleep 5\n"
			 "goto again\n"
			 ":run\n"
			 "imgexec next\n");
}
END_TEST

START_TEST(the_agents_script_tells_the_kernel_all_that_it_needs)
{
	struct bu_script_agent agent = {
		.http_url = "http://10.77.0.1:8080",
		.agent_url = "https://10.77.0.1:8443",
		.ca_digest = "cafe",
		.node = "node001",
		.mac = "52:54:00:77:00:01",
		.token = "secret",
	};
	bu_autofree char *plain = bu_script_boot_agent(&agent), *more = NULL;

	ck_assert_str_eq(
		plain,
		"#!ipxe\n"
		"echo bringup: node001 boots the agent\n"
		":again\n"
		"kernel http://10.77.0.1:8080/boot/vmlinuz console=tty0 console=ttyS0,115200n8 quiet panic=5 "
		"initrd=agent.img BOOTIF=52:54:00:77:00:01 "
		"bringup.url=https://10.77.0.1:8443 "
		"bringup.boot=http://10.77.0.1:8080 bringup.ca=cafe "
		"bringup.node=node001 bringup.token=secret && "
		"initrd http://10.77.0.1:8080/boot/agent.img && boot ||\n"
		"echo bringup: the appliance does not answer; again in 5 s\n"
		"imgfree\n"
		"sleep 5\n"
		"goto again\n");
	agent.kargs = "iommu=pt mitigations=off";
	more = bu_script_boot_agent(&agent);
	ck_assert_ptr_nonnull(
		strstr(more, "bringup.token=secret iommu=pt mitigations=off && "));
}
END_TEST

START_TEST(the_disks_script_holds_no_token_and_says_why)
{
	bu_autofree char *text = bu_script_boot_disk("no network boot is ordered",
						     "http://10.77.0.1:8080");

	ck_assert_ptr_nonnull(strstr(text, "no network boot is ordered"));
	ck_assert_ptr_nonnull(strstr(text, "sanboot"));
	/* Under UEFI the disk's own loader; the firmware's list when that fails. */
	ck_assert_ptr_nonnull(strstr(
		text, ":efi\nchain http://10.77.0.1:8080/boot/disk.efi ||\nexit 1\n"));
	ck_assert_ptr_null(strstr(text, "kernel"));
	ck_assert_ptr_null(strstr(text, "token"));
}
END_TEST

/* GRUB gives the kernel the same words, and asks TFTP for the files. */
START_TEST(grub_tells_the_kernel_the_same)
{
	struct bu_script_agent agent = {
		.http_url = "http://10.77.0.1:8080",
		.agent_url = "https://10.77.0.1:8443",
		.ca_digest = "cafe",
		.node = "node001",
		.mac = "52:54:00:77:00:01",
		.token = "secret",
	};
	bu_autofree char *kargs = bu_script_kargs(&agent),
			 *text = bu_grub_agent(&agent), *odd = NULL;
	bu_autofree char *want = bu_xasprintf(
		"linux $net/vmlinuz %s\ninitrd $net/agent.img\nboot\n", kargs);
	bu_autofree char *first = bu_grub_first();

	ck_assert_ptr_nonnull(strstr(kargs, "bringup.token=secret"));
	ck_assert_ptr_nonnull(strstr(text, want));
	ck_assert_ptr_null(strstr(first, "linux "));
	agent.kargs = "memmap=4G$12G a=\"b;c\"";
	odd = bu_grub_agent(&agent);
	ck_assert_ptr_nonnull(strstr(odd, " memmap=4G\\$12G a=\\\"b\\;c\\\"\n"));
}
END_TEST

BU_UNIT("script", grub_tells_the_kernel_the_same,
	the_first_script_asks_again_with_the_mac,
	the_agents_script_tells_the_kernel_all_that_it_needs,
	the_disks_script_holds_no_token_and_says_why)
