/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a machine is; called by the daemon for each hello and by the agent for its own
 * log lines. Both ends compute the same id from the same inventory, so everything here
 * depends on its arguments alone.
 */
#include "model/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"

/* What vendors leave in the firmware; in lower case. Machines share these. */
static const char *const placeholders[] = {
	"none",
	"null",
	"n/a",
	"na",
	"0",
	"unknown",
	"not specified",
	"not available",
	"not applicable",
	"default string",
	"system serial number",
	"chassis serial number",
	"to be filled by o.e.m.",
	"to be filled by oem",
	"0123456789",
	"123456789",
	"1234567890",
	"00000000-0000-0000-0000-000000000000",
	"ffffffff-ffff-ffff-ffff-ffffffffffff",
	"03000200-0400-0500-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
};

int
bu_mac_normalize(const char *text, char ret_mac[BU_MAC_SIZE])
{
	char hex[13] = "";
	size_t digits = 0;
	unsigned int separators = 0;

	for (const char *p = text; *p; p++) {
		if (isxdigit((unsigned char)*p) && digits < 12)
			hex[digits++] = (char)tolower((unsigned char)*p);
		else if (strchr(":-.", *p) && digits && p[1] && p[-1] != *p)
			separators++;
		else
			return -1;
	}
	if (digits != 12 || (separators != 0 && separators != 5 && separators != 2))
		return -1;
	/* A group address (all ones among them) is no NIC's. */
	if (strchr("13579bdf", hex[1]) || strspn(hex, "0") == 12)
		return -1;
	snprintf(ret_mac, BU_MAC_SIZE, "%.2s:%.2s:%.2s:%.2s:%.2s:%.2s", hex, hex + 2,
		 hex + 4, hex + 6, hex + 8, hex + 10);
	return 0;
}

void
bu_machine_text(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	size_t size;

	text += strspn(text, " \t");
	size = strlen(text);
	if (size >= BU_MACHINE_TEXT_SIZE)
		size = BU_MACHINE_TEXT_SIZE - 1;
	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	for (size_t i = 0; i < size; i++)
		ret[i] = (char)tolower((unsigned char)text[i]);
	ret[size] = '\0';
	for (size_t i = 0; i < BU_LEN(placeholders); i++)
		if (strcmp(ret, placeholders[i]) == 0)
			ret[0] = '\0';
}

int
bu_machine_id(const struct bu_machine *machine, char ret_id[BU_MACHINE_ID_SIZE],
	      struct bu_err *err)
{
	char serial[BU_MACHINE_TEXT_SIZE];
	char uuid[BU_MACHINE_TEXT_SIZE];
	const char *lowest = "";
	char text[sizeof(serial) + sizeof(uuid) + BU_MAC_SIZE + 2];
	char digest[BU_DIGEST_SIZE];

	bu_machine_text(machine->serial, serial);
	bu_machine_text(machine->uuid, uuid);
	for (size_t i = 0; i < machine->macs_count; i++)
		if (!*lowest || strcmp(machine->macs[i], lowest) < 0)
			lowest = machine->macs[i];
	if (!*serial && !*uuid && !*lowest)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"the machine has no serial number, no UUID and no MAC "
			"address; set one in its firmware");
	snprintf(text, sizeof(text), "%s|%s|%s", uuid, serial, lowest);
	bu_sha256_hex(text, strlen(text), digest);
	memcpy(ret_id, digest, BU_MACHINE_ID_SIZE - 1);
	ret_id[BU_MACHINE_ID_SIZE - 1] = '\0';
	return 0;
}

int
bu_machine_says(const char *text)
{
	char plain[BU_MACHINE_TEXT_SIZE];

	bu_machine_text(text, plain);
	return plain[0] != '\0';
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

int
bu_machine_same(const char *a, const char *b)
{
	if (!bu_machine_says(a) || !bu_machine_says(b))
		return 0;
	for (;;) {
		a = skip_blanks(a);
		b = skip_blanks(b);
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return 0;
		if (!*a)
			return 1;
		a++;
		b++;
	}
}

int
bu_machine_has_mac(const struct bu_machine *machine, const char *mac)
{
	char plain[BU_MAC_SIZE];

	if (bu_mac_normalize(mac, plain))
		return 0;
	for (size_t i = 0; i < machine->macs_count; i++)
		if (strcmp(machine->macs[i], plain) == 0)
			return 1;
	return 0;
}
