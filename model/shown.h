/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the shapes of API answers. The daemon fills these structs, the command line
 * reads into them. Members have their names on the wire; texts are borrowed from the
 * JSON. New members have a default (BU_OPTIONAL, BU_SPARSE), as bringupd may be older
 * than the command line. Times and differences of times may be any number (BU_ANY): a
 * clock that was set back breaks no view.
 */
#ifndef BU_MODEL_SHOWN_H
#define BU_MODEL_SHOWN_H

#include "base/json.h"
#include "base/record.h"

enum { BU_SHOWN_MAX = 1000000 }; /* most members of a list */

/* clang-format off */
/* A reason: {"code","args"} of model/sentence.h; NULL = none. */
#define BU_SHOWN_REASON_ROWS(X, T) X(T, JSON, reason, .need = BU_SPARSE)
/* clang-format on */

#endif
