/* SPDX-License-Identifier: Apache-2.0 */
/* A talk with another program: one JSON value a line, each answer with a deadline. */
#ifndef BU_CLI_COMMANDS_JSONL_H
#define BU_CLI_COMMANDS_JSONL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_LINE_MAX = 256 * 1024 * 1024 };

struct bu_jsonl {
	int in, out;
	int64_t timeout_ms; /* for one answer, and for writing one request */
	char *buf;
	size_t used, cap;
};

void bu_jsonl_fini(struct bu_jsonl *lines);
/* BU_ERR_TIMEOUT, BU_ERR_REMOTE when the other end is gone. SIGPIPE is the caller's. */
bu_must int bu_jsonl_send(struct bu_jsonl *lines, const json_t *request,
			  struct bu_err *err);
/* New reference; what: named in the error. BU_ERR_INVAL when it is no JSON,
 * BU_ERR_REMOTE for {"error": text}. */
json_t *bu_jsonl_receive(struct bu_jsonl *lines, const char *what, struct bu_err *err);

#endif
