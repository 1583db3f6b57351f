/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of some nodes in SQLite. */
#ifndef BU_STORE_SQLITE_SEARCH_H
#define BU_STORE_SQLITE_SEARCH_H

#include <sqlite3.h>

#include "provisioner/store/store.h"

/* For the schema. Rows of no node are not in the index. */
#define BU_SQLITE_SEARCH_INDEX                                                         \
	"CREATE INDEX IF NOT EXISTS journal_node ON journal(node) WHERE node<>'';"

struct bu_sqlite_search {
	sqlite3 *db;
	/* seq, time_ms, kind, node, body, hash -> an event */
	int (*read)(sqlite3_stmt *row, struct bu_event *event, struct bu_err *err);
	struct bu_search *of;
	bu_store_read_fn fn;
	void *arg;
};
bu_must int bu_sqlite_search(const struct bu_sqlite_search *search, struct bu_err *err);

#endif
