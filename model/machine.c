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
#include "base/plain.h"
#include "base/text.h"

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

static const struct {
	const char *name, *words;
} kinds[BU_NUMBER_KINDS] = {
	[BU_NUMBER_BOARD] = {"board", "board number"},
	[BU_NUMBER_TAG] = {"tag", "service tag"},
	[BU_NUMBER_CHASSIS] = {"chassis", "chassis number"},
};

/* A kind that a later version has says least. */
static enum bu_number_of
kind_of(const char *name)
{
	int of = 0;

	while (of < BU_NUMBER_CHASSIS && strcmp(kinds[of].name, name) != 0)
		of++;
	return (enum bu_number_of)of;
}

enum bu_machine_tells
bu_machine_tells(const struct bu_machine *machine, const char *text)
{
	enum bu_machine_tells ret = BU_MACHINE_SILENT;

	if (bu_machine_same(machine->serial, text))
		return BU_MACHINE_OWN;
	for (size_t i = 0; i < machine->numbers_count; i++) {
		const struct bu_number *number = &machine->numbers[i];

		if (!bu_machine_same(number->text, text))
			continue;
		if (number->of != BU_NUMBER_CHASSIS)
			return BU_MACHINE_OWN;
		ret = BU_MACHINE_SHARED;
	}
	return ret;
}

enum { PART_MIN = 5 };

static void
add_one_number(struct bu_machine *machine, enum bu_number_of of, const char *text)
{
	struct bu_number *number = &machine->numbers[machine->numbers_count];

	if (machine->numbers_count == BU_NUMBERS_MAX || !bu_machine_says(text) ||
	    bu_machine_tells(machine, text) != BU_MACHINE_SILENT)
		return;
	number->of = of;
	BU_PLAIN_COPY(number->text, text);
	bu_text_trim(number->text);
	machine->numbers_count++;
}

void
bu_machine_add_number(struct bu_machine *machine, enum bu_number_of of,
		      const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text ? text : "");
	char *rest = copy, *part;

	if (*copy != '/' && *copy != '.') {
		add_one_number(machine, of, copy);
		return;
	}
	while ((part = strsep(&rest, "/.")))
		if (strlen(part) >= PART_MIN) /* a shorter one is a slot */
			add_one_number(machine, of, part);
}

char *
bu_machine_numbers(const struct bu_machine *machine)
{
	char *text = NULL;

	for (size_t i = 0; i < machine->numbers_count; i++)
		bu_text_add(&text, "\n", "%s %s", kinds[machine->numbers[i].of].name,
			    machine->numbers[i].text);
	return text;
}

void
bu_machine_add_numbers(struct bu_machine *machine, const char *numbers)
{
	bu_autofree char *copy = bu_xstrdup(numbers ? numbers : "");
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *number = strchr(line, ' ');

		if (!number)
			continue;
		*number = '\0';
		add_one_number(machine, kind_of(line), number + 1);
	}
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
	for (size_t i = 0; i < machine->numbers_count; i++)
		bu_text_add(&text, ", ", "%s %s", kinds[machine->numbers[i].of].words,
			    machine->numbers[i].text);
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
	json_t *macs = json_array(), *numbers = json_array(), *value;

	for (size_t i = 0; i < machine->macs_count; i++)
		json_array_append_new(macs, json_string(machine->macs[i]));
	for (size_t i = 0; i < machine->numbers_count; i++)
		json_array_append_new(numbers,
				      json_pack("{s:s,s:s}", "of",
						kinds[machine->numbers[i].of].name,
						"number", machine->numbers[i].text));
	value = json_pack("{s:s,s:s,s:o}", "serial", machine->serial, "uuid",
			  machine->uuid, "macs", macs);
	if (machine->numbers_count)
		json_object_set(value, "numbers", numbers);
	json_decref(numbers);
	return value;
}

void
bu_machine_from_json(const json_t *value, struct bu_machine *ret)
{
	const json_t *macs = json_object_get(value, "macs");
	const json_t *numbers = json_object_get(value, "numbers");
	size_t i;
	json_t *mac, *number;

	memset(ret, 0, sizeof(*ret));
	BU_PLAIN_COPY(ret->serial, bu_json_str(value, "serial", ""));
	BU_PLAIN_COPY(ret->uuid, bu_json_str(value, "uuid", ""));
	json_array_foreach (macs, i, mac)
		bu_machine_add_mac(ret, json_string_value(mac));
	json_array_foreach (numbers, i, number)
		bu_machine_add_number(ret, kind_of(bu_json_str(number, "of", "")),
				      bu_json_str(number, "number", ""));
}
