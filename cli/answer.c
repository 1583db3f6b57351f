/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of bringupd as structs; called by every command that shows one. Invariant:
 * what is shown was there: a field that bringupd did not send is an error, or has the
 * default that its table names.
 */
#include "cli/answer.h"

int
bu_answer_read(const struct bu_field *fields, const json_t *answer, void *ret,
	       struct bu_err *err)
{
	struct bu_err why = {0};

	if (bu_record_from_json(fields, answer, ret, &why) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "bringupd's answer: %s; bringupd may be of another version "
			  "than this program, which is " BU_VERSION,
			  why.text);
}
