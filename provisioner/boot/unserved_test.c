/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as bytes; what is said of each number; then a real dnsmasq, asked by
 * busybox's udhcpc as firmware asks, behind a cable.
 */
#include "provisioner/boot/unserved.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "provisioner/boot/dnsmasq.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

enum { IP_AND_UDP = 28, BOOTP = 240, ROOM = 400 };

/* A request of 52:54:00:77:00:09 with these options behind the cookie. */
static size_t
request(uint8_t packet[ROOM], const uint8_t *options, size_t size)
{
	uint8_t *bootp = packet + IP_AND_UDP;

	memset(packet, 0, ROOM);
	packet[0] = 0x45;
	bootp[0] = 1;
	bootp[1] = 1;
	bootp[2] = 6;
	memcpy(bootp + 28, "\x52\x54\x00\x77\x00\x09", 6);
	memcpy(bootp + 236, "\x63\x82\x53\x63", 4);
	memcpy(bootp + BOOTP, options, size);
	return IP_AND_UDP + BOOTP + size;
}

START_TEST(a_request_of_firmware_tells_its_card_and_numbers)
{
	static const uint8_t one[] = {53, 1, 1, 93, 2, 0, 22, 255};
	static const uint8_t two[] = {53, 1, 1, 0, 93, 4, 0, 19, 1, 0, 255};
	uint8_t packet[ROOM];
	struct bu_unserved_asks asks;
	size_t size = request(packet, one, sizeof(one));

	ck_assert_int_eq(bu_unserved_parse(packet, size, &asks), 0);
	ck_assert_str_eq(asks.mac, "52:54:00:77:00:09");
	ck_assert_uint_eq(asks.count, 1);
	ck_assert_uint_eq(asks.archs[0], 22);
	ck_assert_int_eq(asks.relayed, 0);
	size = request(packet, two, sizeof(two));
	packet[IP_AND_UDP + 24] = 10;
	ck_assert_int_eq(bu_unserved_parse(packet, size, &asks), 0);
	ck_assert_uint_eq(asks.count, 2);
	ck_assert_uint_eq(asks.archs[0], 19);
	ck_assert_uint_eq(asks.archs[1], 256);
	ck_assert_int_eq(asks.relayed, 1);
}
END_TEST

/* iPXE gets a script; an installed system tells no number; a second packet of firmware
 * (request) says nothing new. Cut off everywhere: the sanitizer sees what is read
 * behind the end. */
START_TEST(what_is_no_request_of_firmware_is_passed_over)
{
	static const uint8_t rows[][12] = {
		{53, 1, 1, 175, 1, 0, 93, 2, 0, 22, 255},
		{53, 1, 1, 12, 1, 'x', 255},
		{53, 1, 3, 93, 2, 0, 22, 255},
		{53, 1, 1, 93, 1, 22, 255},
		{93, 2, 0, 22, 255},
		{53, 1, 1, 93, 200, 0, 22, 255},
	};
	static const uint8_t good[] = {53, 1, 1, 93, 2, 0, 22};
	uint8_t packet[ROOM];
	struct bu_unserved_asks asks;
	size_t whole;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		size_t size = request(packet, rows[i], sizeof(rows[i]));

		ck_assert_msg(bu_unserved_parse(packet, size, &asks) == -1, "%zu", i);
	}
	whole = request(packet, good, sizeof(good));
	for (size_t size = 0; size < whole; size++) {
		uint8_t *part = bu_xmalloc(size + 1);

		memcpy(part, packet, size);
		ck_assert_int_eq(bu_unserved_parse(part, size, &asks), -1);
		free(part);
	}
	ck_assert_int_eq(bu_unserved_parse(packet, whole, &asks), 0);
	packet[IP_AND_UDP] = 2; /* an answer */
	ck_assert_int_eq(bu_unserved_parse(packet, whole, &asks), -1);
	packet[0] = 0x4f; /* its head is longer than it has */
	ck_assert_int_eq(bu_unserved_parse(packet, 40, &asks), -1);
}
END_TEST

static char loaders[sizeof("/tmp/bringup-unserved-XXXXXX")];

static void
make_loaders(const char *const *files)
{
	strcpy(loaders, "/tmp/bringup-unserved-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(loaders));
	for (; *files; files++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", loaders, *files);

		ck_assert_int_eq(bu_file_write(path, "x", 1, 0644, NULL), 0);
	}
}

static const char *const x86[] = {"undionly.kpxe", "snponly.efi", NULL};
static const char *const both[] = {"undionly.kpxe", "snponly.efi", "snponly-arm64.efi",
				   NULL};

/* says NULL: there is a loader. $L in it is the folder of the loaders. */
START_TEST(each_number_has_a_loader_or_a_word)
{
	static const struct {
		int proxy;
		uint16_t archs[2];
		const char *says;
	} rows[] = {
		{0, {0}, NULL},
		{0, {7}, NULL},
		{0, {9}, NULL},
		{0, {16}, NULL},
		/* one of several will do */
		{0, {6, 7}, NULL},
		{0,
		 {19},
		 "its loader $L/snponly-arm64.efi is missing; it is of iPXE (make "
		 "bin-arm64-efi/snponly.efi), copied to boot_loaders under this name; "
		 "restart bringupd then"},
		{0,
		 {11},
		 "its loader $L/snponly-arm64.efi is missing; it is of iPXE (make "
		 "bin-arm64-efi/snponly.efi), copied to boot_loaders under this name; "
		 "restart bringupd then"},
		{0,
		 {22},
		 "bringup has no loader for it; let it ask as 11 (UEFI, arm64)"},
		{0,
		 {24},
		 "bringup has no loader for it; let it ask as 11 (UEFI, arm64)"},
		{0, {20}, "bringup has no loader for it; let it ask as 0 (BIOS, x86)"},
		{0,
		 {18},
		 "bringup has no loader for it; docs/boot.md has those that it has"},
		{0,
		 {6},
		 "bringup has no loader for it; docs/boot.md has those that it has"},
		{0,
		 {27},
		 "bringup has no loader for it; docs/boot.md has those that it has"},
		{0,
		 {65535},
		 "bringup has no loader for it; docs/boot.md has those that it has"},
		{1, {7}, NULL},
		{1,
		 {16},
		 "dhcp = proxy answers no UEFI HTTP boot; let it ask as 7 (UEFI, "
		 "x86-64)"},
	};

	make_loaders(x86);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_loader_dirs dirs = {loaders, NULL};
		size_t count = rows[i].archs[1] ? 2 : 1;
		bu_autofree char *says =
			bu_loaders_lack(&dirs, rows[i].proxy, rows[i].archs, count);
		bu_autofree char *want = NULL;
		const char *dir = rows[i].says ? strstr(rows[i].says, "$L") : NULL;

		ck_assert_msg(!says == !rows[i].says, "%zu: %s", i, says ? says : "");
		if (!says)
			continue;
		want = dir ? bu_xasprintf("%.*s%s%s", (int)(dir - rows[i].says),
					  rows[i].says, loaders, dir + 2)
			   : bu_xstrdup(rows[i].says);
		ck_assert_str_eq(says, want);
	}
	bu_ignore(bu_remove_tree(loaders, NULL));
}
END_TEST

START_TEST(a_number_is_said_with_its_name)
{
	static const struct {
		int number;
		const char *words;
	} rows[] = {
		{0, "0 (BIOS, x86)"},
		{19, "19 (UEFI HTTP, arm64)"},
		{22, "22 (U-Boot, arm64)"},
		{28, "28 (UEFI HTTP, RISC-V of 64 bits)"},
		{41, "41 (Raspberry Pi's loader, arm)"},
		{42, "42 (not in IANA's registry)"},
		{65535, "65535 (not in IANA's registry)"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char words[BU_ARCH_WORDS_SIZE];

		bu_arch_words(rows[i].number, words);
		ck_assert_str_eq(words, rows[i].words);
	}
}
END_TEST

struct heard {
	char text[400];
};

static void
on_unserved(const char *mac, const char *asks, void *arg)
{
	struct heard *heard = arg;
	size_t used = strlen(heard->text);

	snprintf(heard->text + used, sizeof(heard->text) - used, "%s: %s\n", mac, asks);
}

/* With dhcp = relay a machine on our own link is not answered, and not told. */
START_TEST(a_relayed_machine_is_told_until_its_loader_is_there)
{
	struct heard heard = {""};
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_unserved_opts opts = {.interface = "no-such-link",
					.loaders = {loaders, NULL},
					.relayed_only = 1,
					.fn = on_unserved,
					.arg = &heard};
	struct bu_unserved_asks asks = {"52:54:00:77:00:09", {22}, 1, 0};
	struct bu_unserved *unserved;

	bu_clock_fake(&clock, 0);
	loop = bu_loop_create(&clock);
	make_loaders(x86);
	unserved = bu_unserved_create(loop, &opts);
	bu_unserved_take(unserved, &asks);
	ck_assert_str_eq(heard.text, "");
	/* Told, not told again within a moment, told again: of its next boot. */
	asks.relayed = 1;
	bu_unserved_take(unserved, &asks);
	bu_unserved_take(unserved, &asks);
	bu_clock_advance(&clock, 4000);
	bu_unserved_take(unserved, &asks);
	asks.archs[0] = 7;
	bu_unserved_take(unserved, &asks);
	bu_unserved_take(unserved, &asks);
	ck_assert_str_eq(heard.text, "52:54:00:77:00:09: 22 (U-Boot, arm64)\n"
				     "52:54:00:77:00:09: 22 (U-Boot, arm64)\n"
				     "52:54:00:77:00:09: \n");
	bu_unserved_destroy(unserved);
	bu_unserved_destroy(NULL);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(loaders, NULL));
}
END_TEST

static const char network[] =
	"ip link set lo up && ip link add br-boot type bridge forward_delay 0 &&\n"
	"ip addr add 10.77.0.1/24 dev br-boot && ip link set br-boot up &&\n"
	"ip link add cable type veth peer name node address 52:54:00:77:00:09 &&\n"
	"ip link set cable master br-boot up && ip link set node up &&\n"
	"printf '#!/bin/sh\\n[ $1 != bound ] || echo file=$boot_file\\n' >$D/lease &&\n"
	"chmod 755 $D/lease && echo good\n";

static void
gets(struct bu_loop *loop, const char *dir, const char *arch, const char *file)
{
	bu_autofree char *text = bu_xasprintf(
		"busybox udhcpc -n -q -f -t 20 -T 1 -i node -x 0x5d:%s -s $D/lease "
		"2>/dev/null",
		arch);
	bu_autofree char *out = shell_meanwhile(loop, dir, text);
	bu_autofree char *want = bu_xasprintf("file=%s\n", file);

	ck_assert_msg(strcmp(out, want) == 0, "%s: %s", arch, out);
}

START_TEST(dnsmasq_answers_each_number_and_who_gets_nothing_is_told)
{
	char dir[] = "/tmp/bringup-unserved-XXXXXX", run_dir[sizeof(dir) + 8];
	struct heard heard = {""};
	struct bu_dnsmasq_opts opts = {.dir = dir,
				       .run_dir = run_dir,
				       .interface = "br-boot",
				       .address = "10.77.0.1",
				       .range = "10.77.0.50,10.77.0.60",
				       .script_url = "http://10.77.0.1:8080/boot.ipxe",
				       .http_url = "http://10.77.0.1:8080",
				       .loaders = {loaders, NULL},
				       .unserved = on_unserved,
				       .arg = &heard};
	static const struct bu_dnsmasq_site site = {.names = ""};
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_dnsmasq *dnsmasq;
	struct bu_err err = {0};
	bu_autofree char *made = NULL;

	BU_NEEDS("root", "/usr/sbin/dnsmasq", "busybox");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0711), 0); /* dnsmasq passes it */
	snprintf(run_dir, sizeof(run_dir), "%s/run", dir);
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	made = shell_meanwhile(loop, dir, network);
	ck_assert_str_eq(made, "good\n");
	make_loaders(both);
	dnsmasq = bu_dnsmasq_create(loop, &opts);
	ck_assert_msg(bu_dnsmasq_set(dnsmasq, &site, &err) == 0, "%s", err.text);
	gets(loop, dir, "0000", "undionly.kpxe");
	gets(loop, dir, "000b", "snponly-arm64.efi");
	gets(loop, dir, "0013", "http://10.77.0.1:8080/boot/snponly-arm64.efi");
	ck_assert_str_eq(heard.text, "");
	gets(loop, dir, "0016", "");
	ck_assert_ptr_nonnull(
		strstr(heard.text, "52:54:00:77:00:09: 22 (U-Boot, arm64)\n"));
	gets(loop, dir, "0007", "snponly.efi");
	ck_assert_ptr_nonnull(strstr(heard.text, "52:54:00:77:00:09: \n"));
	bu_dnsmasq_destroy(dnsmasq);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
	bu_ignore(bu_remove_tree(loaders, NULL));
}
END_TEST

BU_UNIT("unserved", a_request_of_firmware_tells_its_card_and_numbers,
	what_is_no_request_of_firmware_is_passed_over,
	each_number_has_a_loader_or_a_word, a_number_is_said_with_its_name,
	a_relayed_machine_is_told_until_its_loader_is_there,
	dnsmasq_answers_each_number_and_who_gets_nothing_is_told)
