/* SPDX-License-Identifier: Apache-2.0 */
/* What bringupd answers, read by the tables of model/shown_*.h. */
#ifndef BU_CLI_ANSWER_H
#define BU_CLI_ANSWER_H

#include "base/record.h"

/* Texts are borrowed from the answer. BU_ERR_INVAL names what is missing or of another
 * type, and says that bringupd may be of another version. */
bu_must int bu_answer_read(const struct bu_field *fields, const json_t *answer,
			   void *ret, struct bu_err *err);

#endif
