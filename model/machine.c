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
#include "base/json.h"
#include "base/text.h"

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

/* A row each: part of what DMI and Redfish say, in any case, and where that was seen.
 */
static const struct {
	const char *part, *source;
} dpus[] = {
	{"bluefield", "NVIDIA/libredfish tests/mockups/nvidia_dpu"},
};

int
bu_machine_is_dpu(const char *name)
{
	for (size_t i = 0; i < BU_LEN(dpus); i++)
		if (strcasestr(name, dpus[i].part))
			return 1;
	return 0;
}

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

/* "0000000000", "XXXXXXXX", a UUID of nothing but f. */
static int
is_one_character(const char *text)
{
	size_t count = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '-' && *text != '-')
			continue;
		if (*p != *text)
			return 0;
		count++;
	}
	return count >= 4;
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
	if (is_one_character(ret))
		ret[0] = '\0';
}

/* Not of all that is there: a card more must not make another machine of it. */
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
	snprintf(text, sizeof(text), "%s|%s|%s", uuid, serial,
		 *serial || *uuid ? "" : lowest);
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

void
bu_machine_add_mac(struct bu_machine *machine, const char *text)
{
	char mac[BU_MAC_SIZE];

	if (text && machine->macs_count < BU_MACS_MAX &&
	    bu_mac_normalize(text, mac) == 0 && !bu_machine_has_mac(machine, mac))
		strcpy(machine->macs[machine->macs_count++], mac);
}

/* Two ways to turn a UUID, by the hex digits of the text: firmware and BMC disagree
 * about its first three fields, and IPMI sends it back to front. One after the other
 * they lead through all orders, and after eight steps to the first. */
static const char *const uuid_turns[] = {
	"67452301-ab89-efcd-ghij-klmnopqrstuv",
	"uvstqrop-mnkl-ijgh-efcd-ab8967452301",
};

enum { UUID_ORDERS = 8, UUID_SIZE = 37 };

/* Turns the text, too, which has dashes then; 0 when it is no UUID. */
static int
turn_uuid(char text[BU_MACHINE_TEXT_SIZE], const char *turn)
{
	static const char places[] = "0123456789abcdefghijklmnopqrstuv";
	char digits[33];
	size_t count = 0;

	for (const char *p = text; *p; p++)
		if (*p != '-' && (!isxdigit((unsigned char)*p) || count >= 32))
			return 0;
		else if (*p != '-')
			digits[count++] = *p;
	if (count != 32)
		return 0;
	for (size_t i = 0; i < UUID_SIZE - 1; i++)
		text[i] =
			turn[i] == '-' ? '-' : digits[strchr(places, turn[i]) - places];
	text[UUID_SIZE - 1] = '\0';
	return 1;
}

void
bu_machine_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	size_t size = 0;

	bu_machine_text(text ? text : "", ret);
	for (const char *at = ret; *at; at++)
		if (*at != ' ' && *at != '\t')
			ret[size++] = *at;
	ret[size] = '\0';
}

/* The least of its orders. */
void
bu_machine_uuid_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE])
{
	char turned[BU_MACHINE_TEXT_SIZE];
	size_t i = 0;

	bu_machine_key(text, ret);
	memcpy(turned, ret, sizeof(turned));
	while (i < UUID_ORDERS && turn_uuid(turned, uuid_turns[i % 2]))
		if (i++ == 0 || strcmp(turned, ret) < 0)
			memcpy(ret, turned, sizeof(turned));
}

int
bu_machine_same_uuid(const char *a, const char *b)
{
	char key_a[BU_MACHINE_TEXT_SIZE], key_b[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(a, key_a);
	bu_machine_uuid_key(b, key_b);
	return key_a[0] && strcmp(key_a, key_b) == 0;
}

enum bu_machine_match
bu_machine_compare(const struct bu_machine *expected, const struct bu_machine *seen)
{
	int serials =
		bu_machine_says(expected->serial) && bu_machine_says(seen->serial);
	int uuids = bu_machine_says(expected->uuid) && bu_machine_says(seen->uuid);

	if ((serials && bu_machine_same(expected->serial, seen->serial)) ||
	    (uuids && bu_machine_same_uuid(expected->uuid, seen->uuid)))
		return BU_MACHINE_SAME;
	if (serials || uuids)
		return BU_MACHINE_OTHER;
	for (size_t i = 0; i < seen->macs_count; i++)
		if (bu_machine_has_mac(expected, seen->macs[i]))
			return BU_MACHINE_SAME;
	return expected->macs_count && seen->macs_count ? BU_MACHINE_OTHER
							: BU_MACHINE_UNSAID;
}

static int
share_a_card(const struct bu_machine *a, const struct bu_machine *b)
{
	for (size_t i = 0; i < b->macs_count; i++)
		if (bu_machine_has_mac(a, b->macs[i]))
			return 1;
	return 0;
}

enum bu_machine_match
bu_machine_recognize(const struct bu_machine *known, const struct bu_machine *seen)
{
	int uuids = bu_machine_says(known->uuid) && bu_machine_says(seen->uuid);
	int same_uuid = uuids && bu_machine_same_uuid(known->uuid, seen->uuid);
	int cards = known->macs_count && seen->macs_count;
	int others = cards && !share_a_card(known, seen);

	if (bu_machine_says(known->serial) && bu_machine_says(seen->serial)) {
		if (!bu_machine_same(known->serial, seen->serial))
			return BU_MACHINE_OTHER;
		/* A serial number that a vendor has given twice. */
		return uuids && !same_uuid && others ? BU_MACHINE_OTHER
						     : BU_MACHINE_SAME;
	}
	if (uuids && !same_uuid)
		return BU_MACHINE_OTHER;
	/* Boards of one batch share a UUID, and one may have all cards exchanged. */
	if (uuids)
		return others ? BU_MACHINE_UNSAID : BU_MACHINE_SAME;
	if (!cards)
		return BU_MACHINE_UNSAID;
	return others ? BU_MACHINE_OTHER : BU_MACHINE_SAME;
}

enum { CARDS_NAMED = 3 };

/* The cards of `of` that `without` lacks. */
static void
add_cards(char **text, const char *words, const struct bu_machine *of,
	  const struct bu_machine *without)
{
	size_t count = 0;

	for (size_t i = 0; i < of->macs_count; i++)
		if (!bu_machine_has_mac(without, of->macs[i]) && ++count <= CARDS_NAMED)
			bu_text_add(text, count == 1 ? "; " : ", ", "%s%s",
				    count == 1 ? words : "", of->macs[i]);
	if (count > CARDS_NAMED)
		bu_text_add(text, " ", "and %zu more", count - CARDS_NAMED);
}

char *
bu_machine_changes(const struct bu_machine *known, const struct bu_machine *seen)
{
	char *text = NULL;

	if (bu_machine_says(known->serial) &&
	    !bu_machine_same(known->serial, seen->serial))
		bu_text_add(&text, "; ", "serial number '%s', it was '%s'",
			    seen->serial, known->serial);
	if (bu_machine_says(known->uuid) &&
	    !bu_machine_same_uuid(known->uuid, seen->uuid))
		bu_text_add(&text, "; ", "UUID '%s', it was '%s'", seen->uuid,
			    known->uuid);
	add_cards(&text, "a NIC less: ", known, seen);
	add_cards(&text, "a NIC more: ", seen, known);
	return text;
}

char *
bu_machine_words(const struct bu_machine *machine)
{
	char *text = NULL;

	if (bu_machine_says(machine->serial))
		bu_text_add(&text, ", ", "serial %s", machine->serial);
	if (bu_machine_says(machine->uuid))
		bu_text_add(&text, ", ", "UUID %s", machine->uuid);
	for (size_t i = 0; i < machine->macs_count && i < 2; i++)
		bu_text_add(&text, ", ", "MAC %s", machine->macs[i]);
	return text ? text : bu_xstrdup("nothing");
}

void
bu_machine_of(const char *serial, const char *uuid, const char *macs,
	      struct bu_machine *ret)
{
	bu_autofree char *list = bu_xstrdup(macs ? macs : "");
	char *rest = list, *mac;

	memset(ret, 0, sizeof(*ret));
	bu_text_copy(ret->serial, sizeof(ret->serial), serial);
	bu_text_copy(ret->uuid, sizeof(ret->uuid), uuid);
	while ((mac = strsep(&rest, " ")))
		bu_machine_add_mac(ret, mac);
}

json_t *
bu_machine_to_json(const struct bu_machine *machine)
{
	json_t *macs = json_array();

	for (size_t i = 0; i < machine->macs_count; i++)
		json_array_append_new(macs, json_string(machine->macs[i]));
	return json_pack("{s:s,s:s,s:o}", "serial", machine->serial, "uuid",
			 machine->uuid, "macs", macs);
}

void
bu_machine_from_json(const json_t *value, struct bu_machine *ret)
{
	const json_t *macs = json_object_get(value, "macs");
	size_t i;
	json_t *mac;

	memset(ret, 0, sizeof(*ret));
	bu_text_copy(ret->serial, sizeof(ret->serial),
		     bu_json_str(value, "serial", ""));
	bu_text_copy(ret->uuid, sizeof(ret->uuid), bu_json_str(value, "uuid", ""));
	json_array_foreach (macs, i, mac)
		bu_machine_add_mac(ret, json_string_value(mac));
}
