/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are two machines one? Called by bringup-power for the machine behind a BMC, and by
 * the daemon for one that tells of itself. Invariant: what a machine may share with
 * another (the number of a chassis, a UUID of a batch, a card that moved) never decides
 * against all the rest that both tell.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/machine.h"

/* What is the same of both, and what is another. */
struct comparison {
	int same_number, same_uuid, same_card;
	int same_chassis;  /* a number of both that one of them has of its chassis */
	int other_numbers; /* none is the same, and both tell their own */
	int other_uuid, other_cards;
};

static int
share_a_card(const struct bu_machine *a, const struct bu_machine *b)
{
	for (size_t i = 0; i < b->macs_count; i++)
		if (bu_machine_has_mac(a, b->macs[i]))
			return 1;
	return 0;
}

static const char *
board_of(const struct bu_machine *machine)
{
	for (size_t i = 0; i < machine->numbers_count; i++)
		if (machine->numbers[i].of == BU_NUMBER_BOARD)
			return machine->numbers[i].text;
	return "";
}

/* Each number of a machine, the one of the system first; NULL = no more. */
static const char *
number_at(const struct bu_machine *machine, size_t i, int *ret_own)
{
	*ret_own = i == 0 || machine->numbers[i - 1].of != BU_NUMBER_CHASSIS;
	return i == 0 ? machine->serial : machine->numbers[i - 1].text;
}

static void
compare_numbers(const struct bu_machine *a, const struct bu_machine *b,
		struct comparison *ret)
{
	int serials = bu_machine_says(a->serial) && bu_machine_says(b->serial);
	int boards = *board_of(a) && *board_of(b);

	for (size_t i = 0; i <= a->numbers_count; i++) {
		int own;
		const char *text = number_at(a, i, &own);
		enum bu_machine_tells tells = bu_machine_tells(b, text);

		ret->same_number |= own && tells == BU_MACHINE_OWN;
		ret->same_chassis |= tells != BU_MACHINE_SILENT;
	}
	ret->other_numbers = !ret->same_number && (serials || boards);
}

static void
compare(const struct bu_machine *a, const struct bu_machine *b, struct comparison *ret)
{
	int uuids = bu_machine_says(a->uuid) && bu_machine_says(b->uuid);
	int cards = a->macs_count && b->macs_count;

	*ret = (struct comparison){
		.same_uuid = uuids && bu_machine_same_uuid(a->uuid, b->uuid),
		.same_card = cards && share_a_card(a, b),
	};
	ret->other_uuid = uuids && !ret->same_uuid;
	ret->other_cards = cards && !ret->same_card;
	compare_numbers(a, b, ret);
}

/* The serial number of the profile may be the one on the chassis. */
static int
is_in_chassis(const struct bu_machine *expected, const struct bu_machine *seen)
{
	return bu_machine_tells(seen, expected->serial) == BU_MACHINE_SHARED ||
	       bu_machine_tells(expected, seen->serial) == BU_MACHINE_SHARED;
}

enum bu_machine_match
bu_machine_compare(const struct bu_machine *expected, const struct bu_machine *seen)
{
	struct comparison is;

	compare(expected, seen, &is);
	if (is.same_uuid)
		return BU_MACHINE_SAME;
	if (is.same_number)
		return is.other_uuid && is.other_cards ? BU_MACHINE_OTHER
						       : BU_MACHINE_SAME;
	if (is.same_card)
		return is.other_uuid && is.other_numbers ? BU_MACHINE_OTHER
							 : BU_MACHINE_SAME;
	if (is.same_chassis && !is.other_uuid && !is.other_cards &&
	    (!is.other_numbers || is_in_chassis(expected, seen)))
		return BU_MACHINE_SAME;
	return is.other_numbers || is.other_uuid || is.other_cards ? BU_MACHINE_OTHER
								   : BU_MACHINE_UNSAID;
}

char *
bu_machine_differs(const struct bu_machine *expected, const struct bu_machine *seen)
{
	char *text = NULL;

	if (bu_machine_says(expected->serial) && bu_machine_says(seen->serial) &&
	    bu_machine_tells(seen, expected->serial) == BU_MACHINE_SILENT &&
	    bu_machine_tells(expected, seen->serial) == BU_MACHINE_SILENT)
		bu_text_add(&text, "; ", "serial number '%s', expected is '%s'",
			    seen->serial, expected->serial);
	if (bu_machine_says(expected->uuid) && bu_machine_says(seen->uuid) &&
	    !bu_machine_same_uuid(expected->uuid, seen->uuid))
		bu_text_add(&text, "; ", "UUID '%s', expected is '%s'", seen->uuid,
			    expected->uuid);
	return text;
}

enum bu_machine_match
bu_machine_recognize(const struct bu_machine *known, const struct bu_machine *seen)
{
	struct comparison is;

	compare(known, seen, &is);
	/* A serial number that a vendor has given twice. */
	if (is.same_number)
		return is.other_uuid && is.other_cards ? BU_MACHINE_OTHER
						       : BU_MACHINE_SAME;
	if (is.other_numbers)
		return is.same_uuid && is.same_card ? BU_MACHINE_SAME
						    : BU_MACHINE_OTHER;
	if (is.other_uuid)
		return BU_MACHINE_OTHER;
	/* Boards of one batch share a UUID, and one may have all cards exchanged. */
	if (is.same_uuid)
		return is.other_cards ? BU_MACHINE_UNSAID : BU_MACHINE_SAME;
	if (is.same_card)
		return BU_MACHINE_SAME;
	return is.other_cards ? BU_MACHINE_OTHER : BU_MACHINE_UNSAID;
}
