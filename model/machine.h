/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine: hardware, known by what its firmware and its network cards say. A node is
 * a name; the binding of the two is in the log.
 */
#ifndef BU_MODEL_MACHINE_H
#define BU_MODEL_MACHINE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum {
	BU_MACS_MAX = 64,
	BU_MAC_SIZE = 18,        /* "52:54:00:77:00:01" and NUL */
	BU_MACHINE_ID_SIZE = 17, /* 16 hex digits and NUL */
	BU_NUMBERS_MAX = 8,
};

/* A BMC and the firmware may each call another one of them the serial number of the
 * system. Several machines in one chassis share its number. */
enum bu_number_of {
	BU_NUMBER_BOARD,
	BU_NUMBER_TAG,
	BU_NUMBER_CHASSIS,
	BU_NUMBER_KINDS
};
struct bu_number {
	enum bu_number_of of;
	char text[64];
};

struct bu_machine {
	char serial[64]; /* of the system, as the firmware says it; "" = none */
	char uuid[40];
	size_t numbers_count;
	struct bu_number numbers[BU_NUMBERS_MAX]; /* its further serial numbers */
	size_t macs_count;
	char macs[BU_MACS_MAX][BU_MAC_SIZE]; /* normalized; of its own network cards */
};

/* Ethernet address with ':', '-', '.' or nothing between into lower case with ':'; -1
 * when it is none that a card can have (malformed, zero, multicast). */
int bu_mac_normalize(const char *text, char ret_mac[BU_MAC_SIZE]);
enum { BU_MACHINE_TEXT_SIZE = 64 };
/* A serial number or UUID in lower case without blanks around; "" for what vendors and
 * spreadsheets leave in its place ("To be filled by O.E.M.", "N/A", "0123456789"), in
 * any case and punctuation. Cut to its size. */
void bu_machine_text(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
/* A name for a machine that is seen for the first time: first 16 hex digits of the
 * SHA-256 of "uuid|serial|", or of "||lowest MAC" where neither says anything, in lower
 * case. The log keeps it with the machine, and recognizes the machine by what it says:
 * ids of older logs were made of all three. BU_ERR_INVAL when nothing tells this
 * machine from another. */
bu_must int bu_machine_id(const struct bu_machine *machine,
			  char ret_id[BU_MACHINE_ID_SIZE], struct bu_err *err);
/* Does this serial number or UUID tell a machine from another? Not when it is empty or
 * a text that vendors leave in its place. */
int bu_machine_says(const char *text);
/* Are these the same serial number or UUID? Case and blanks do not count: firmware is
 * sloppy with both. What says nothing is the same as nothing. */
int bu_machine_same(const char *a, const char *b);
/* Adds a further serial number: of its board, its chassis, or a service tag. What says
 * nothing, is there already or has no room is left out; "/7XKQ2Z3/CNFCP1234567/", as
 * Dell has it for a board, is two. text may be NULL. */
void bu_machine_add_number(struct bu_machine *machine, enum bu_number_of of,
			   const char *text);
/* Is this text a serial number of the machine, of whatever part? OWN: of the system,
 * its board, or its service tag. SHARED: of its chassis, where others may be as well.
 */
enum bu_machine_tells { BU_MACHINE_SILENT, BU_MACHINE_SHARED, BU_MACHINE_OWN };
enum bu_machine_tells bu_machine_tells(const struct bu_machine *machine,
				       const char *text);
/* Its further serial numbers as one text, owned, NULL = none; and back again. */
char *bu_machine_numbers(const struct bu_machine *machine);
void bu_machine_add_numbers(struct bu_machine *machine, const char *numbers);
/* Is the machine that is seen the one that is expected? Same is one that has a serial
 * number of it (any, of whatever part), its UUID (in any order of its bytes) or one of
 * its MACs, unless the rest says otherwise: other are machines with another UUID and
 * other MACs in spite of one serial number, with another serial number and UUID in
 * spite of one MAC, and with anything else that differs where only the chassis is the
 * same. UNSAID: nothing can be compared. */
enum bu_machine_match { BU_MACHINE_UNSAID, BU_MACHINE_SAME, BU_MACHINE_OTHER };
enum bu_machine_match bu_machine_compare(const struct bu_machine *expected,
					 const struct bu_machine *seen);
/* Where a machine is the same, and a serial number or UUID of it is another than the
 * expected one: "serial number 'A', expected is 'B'"; owned, NULL = none is. */
char *bu_machine_differs(const struct bu_machine *expected,
			 const struct bu_machine *seen);
/* The same of UUIDs, in any order of their bytes. */
int bu_machine_same_uuid(const char *a, const char *b);
/* For an index: texts that are equal for the same serial numbers, and for the same
 * UUIDs; "" = it says nothing. text may be NULL. */
void bu_machine_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
void bu_machine_uuid_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
/* Is this the machine that told `known` of itself before? Its serial numbers and UUID
 * come first; MACs decide where neither says anything, tell two machines apart that
 * share one of them, and, with the UUID, outweigh another serial number. UNSAID: the
 * UUID is the same and nothing else is; that is a board with all its cards exchanged,
 * or another one with the same UUID. */
enum bu_machine_match bu_machine_recognize(const struct bu_machine *known,
					   const struct bu_machine *seen);
/* What is not as it was: "a NIC more: 52:..."; owned, NULL = nothing. What was a
 * placeholder is no change. */
char *bu_machine_changes(const struct bu_machine *known, const struct bu_machine *seen);
/* "serial X, UUID Y", or its MACs, or "nothing"; owned. */
char *bu_machine_words(const struct bu_machine *machine);
/* {"serial","uuid","macs":[...]} and, where it has some,
 * "numbers":[{"of":"board"|"tag"| "chassis","number"}]; new reference. What is wrong in
 * value is left out. */
json_t *bu_machine_to_json(const struct bu_machine *machine);
void bu_machine_from_json(const json_t *value, struct bu_machine *ret);
/* Adds the address in any form that bu_mac_normalize() reads. NULL, what is none, what
 * is there already and what has no room is left out. */
void bu_machine_add_mac(struct bu_machine *machine, const char *text);
/* A machine of its texts; macs has blanks between, NULL = none. */
void bu_machine_of(const char *serial, const char *uuid, const char *macs,
		   struct bu_machine *ret);
/* mac in any form that bu_mac_normalize() reads. */
int bu_machine_has_mac(const struct bu_machine *machine, const char *mac);
/* Is this the name (model, product, id) of a network card that is a computer? It has a
 * BMC, a serial number and a boot order of its own, and is never a node. */
int bu_machine_is_dpu(const char *name);

#endif
