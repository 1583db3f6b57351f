/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shapes of the API's answers share. The daemon fills these structs and the
 * command line reads into them; their members have the names that are on the wire, and
 * texts are borrowed from the JSON. A member that comes later has a default
 * (BU_OPTIONAL, BU_SPARSE): bringupd may be older than the command line. A time or the
 * difference of two is any number (BU_ANY): a clock that was set back breaks no view.
 */
#ifndef BU_MODEL_SHOWN_H
#define BU_MODEL_SHOWN_H

#include "base/json.h"
#include "base/record.h"

enum { BU_SHOWN_MAX = 1000000 }; /* members of a list */

/* clang-format off */
/* A reason of model/reason.h: its sentence, and what programs read. */
#define BU_SHOWN_REASON_ROWS(X, T) \
	X(T, STRING, reason, .unsaid = "") X(T, STRING, code, .need = BU_SPARSE) \
	X(T, JSON, args, .need = BU_SPARSE)
/* Their values, of what bu_reason_to_body() wrote. */
#define BU_SHOWN_REASON(body)                                                          \
	.reason = bu_json_str(body, "reason", ""),                                     \
	.code = bu_json_str(body, "code", NULL), .args = json_object_get(body, "args")
/* clang-format on */

#endif
