/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the names of counters in other people's models. Called by wire.c and
 * wire_site.c. Pure. Invariant: congestion and traffic are no errors.
 */
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "fabric/judge/wire_impl.h"

const json_t *
bu_wire_list(const json_t *answer)
{
	const char *key;
	json_t *value, *found = NULL;

	if (!json_is_object(answer))
		return answer;
	json_object_foreach ((json_t *)(uintptr_t)answer, key, value) {
		if (!json_is_array(value) && !json_is_object(value))
			continue;
		if (found)
			return NULL;
		found = value;
	}
	return found;
}

static int
has_any(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasestr(name, words[i]))
			return 1;
	}
	return 0;
}

enum bu_wire_counter
bu_wire_counter(const char *name)
{
	static const char *const harmless[] = {"pause", "cnp", "ecn", "marked"};
	static const char *const sender[] = {"timeout", "seq_err", "retr", "nak",
					     "rnr"};
	static const char *const receiver[] = {"out_of_seq", "symbol", "crc", "fec",
					       "dup",        "icrc",   "rcv", "rx_"};
	static const char *const bad[] = {"err",  "los",  "drop", "discard",
					  "down", "corr", "flap", "recover"};

	if (has_any(name, harmless, BU_LEN(harmless)) ||
	    (strcasestr(name, "corrected") && !strcasestr(name, "uncorrected")))
		return BU_WIRE_IGNORED;
	if (has_any(name, sender, BU_LEN(sender)))
		return BU_WIRE_SENDER;
	if (strcasestr(name, "byte") || strcasestr(name, "_data") ||
	    (strcasestr(name, "packets") && !has_any(name, bad, BU_LEN(bad))))
		return BU_WIRE_IGNORED;
	if (has_any(name, receiver, BU_LEN(receiver)))
		return BU_WIRE_RECEIVER;
	return has_any(name, bad, BU_LEN(bad)) ? BU_WIRE_BAD : BU_WIRE_IGNORED;
}
