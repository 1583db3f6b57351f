/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine: hardware, known by its firmware and its network cards. A node is a name.
 * The log binds machines to nodes.
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

/* Part of a serial number. BMC and firmware may each give another part's number as the
 * system's. Machines in one chassis share its number. */
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
	char serial[64]; /* of the system, by the firmware; "" = none */
	char uuid[40];
	size_t numbers_count;
	struct bu_number numbers[BU_NUMBERS_MAX]; /* further serial numbers */
	size_t macs_count;
	char macs[BU_MACS_MAX][BU_MAC_SIZE]; /* normalized; of its own network cards */
};

/* Ethernet address with ':', '-', '.' or no separators to lower case with ':'; -1 =
 * malformed, zero or multicast. */
int bu_mac_normalize(const char *text, char ret_mac[BU_MAC_SIZE]);
enum { BU_MACHINE_TEXT_SIZE = 64 };
/* A serial number or UUID in lower case without blanks around, cut to its size. "" for
 * placeholders of vendors and spreadsheets ("To be filled by O.E.M.", "N/A",
 * "0123456789"), in any case and punctuation. */
void bu_machine_text(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
/* Name of a machine seen for the first time: the first 16 hex digits of the SHA-256 of
 * "uuid|serial|" in lower case, or of "||lowest MAC" when both say nothing. The log
 * keeps the id; machines are recognized by their identity. BU_ERR_INVAL: nothing
 * identifies the machine. */
bu_must int bu_machine_id(const struct bu_machine *machine,
			  char ret_id[BU_MACHINE_ID_SIZE], struct bu_err *err);
/* 1 = the serial number or UUID identifies a machine: not empty, no placeholder. */
int bu_machine_says(const char *text);
/* 1 = the same serial number or UUID, without regard to case and blanks. Placeholders
 * equal nothing. */
int bu_machine_same(const char *a, const char *b);
/* Adds a serial number of the board, the chassis or a service tag. Placeholders, known
 * ones and those without room are left out. "/7XKQ2Z3/CNFCP1234567/", a board number of
 * Dell's, is two. text may be NULL. */
void bu_machine_add_number(struct bu_machine *machine, enum bu_number_of of,
			   const char *text);
/* Is this text a serial number of the machine? OWN: of the system, its board, or its
 * service tag. SHARED: of its chassis, which other machines may have too. */
enum bu_machine_tells { BU_MACHINE_SILENT, BU_MACHINE_SHARED, BU_MACHINE_OWN };
enum bu_machine_tells bu_machine_tells(const struct bu_machine *machine,
				       const char *text);
/* Further serial numbers as one text, owned, NULL = none; and back. */
char *bu_machine_numbers(const struct bu_machine *machine);
void bu_machine_add_numbers(struct bu_machine *machine, const char *numbers);
/* Compares the seen machine with the expected one. SAME: one serial number (of any
 * part), the UUID (in any byte order) or one MAC is the same, and the rest does not
 * contradict. OTHER: other UUID and MACs in spite of one serial number; other serial
 * number and UUID in spite of one MAC; any difference where only the chassis is the
 * same. UNSAID: nothing to compare. */
enum bu_machine_match { BU_MACHINE_UNSAID, BU_MACHINE_SAME, BU_MACHINE_OTHER };
enum bu_machine_match bu_machine_compare(const struct bu_machine *expected,
					 const struct bu_machine *seen);
/* For the same machine, a serial number or UUID that differs from the expected one:
 * "serial number 'A', expected is 'B'"; owned, NULL = none. */
char *bu_machine_differs(const struct bu_machine *expected,
			 const struct bu_machine *seen);
/* The same for UUIDs, in any byte order. */
int bu_machine_same_uuid(const char *a, const char *b);
/* Index keys: equal for the same serial numbers, and for the same UUIDs. "" = a
 * placeholder. text may be NULL. */
void bu_machine_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
void bu_machine_uuid_key(const char *text, char ret[BU_MACHINE_TEXT_SIZE]);
/* Is this the machine that reported `known`? Serial numbers and UUID come first. MACs
 * decide when neither says anything, tell two machines with one of them apart, and with
 * the UUID outweigh another serial number. UNSAID: only the UUID is the same: a board
 * with all cards replaced, or another board with the same UUID. */
enum bu_machine_match bu_machine_recognize(const struct bu_machine *known,
					   const struct bu_machine *seen);
/* The changes: "a NIC more: 52:..."; owned, NULL = none. Placeholders do not count. */
char *bu_machine_changes(const struct bu_machine *known, const struct bu_machine *seen);
/* "serial X, UUID Y", or its MACs, or "nothing"; owned. */
char *bu_machine_words(const struct bu_machine *machine);
/* {"serial","uuid","macs":[...]} and, if any, "numbers":[{"of":"board"|"tag"|"chassis",
 * "number"}]; new reference. Reading leaves out wrong values. */
json_t *bu_machine_to_json(const struct bu_machine *machine);
void bu_machine_from_json(const json_t *value, struct bu_machine *ret);
/* Adds an address in any form of bu_mac_normalize(). NULL, malformed or known addresses
 * and those without room are left out. */
void bu_machine_add_mac(struct bu_machine *machine, const char *text);
/* A machine made of texts; macs: separated by blanks, NULL = none. */
void bu_machine_of(const char *serial, const char *uuid, const char *macs,
		   struct bu_machine *ret);
/* mac: in any form of bu_mac_normalize(). */
int bu_machine_has_mac(const struct bu_machine *machine, const char *mac);
/* 1 = this name (model, product, id) is of a DPU: a network card with its own BMC,
 * serial number and boot order, which is never a node. */
int bu_machine_is_dpu(const char *name);

#endif
