/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of some nodes, for views of their history. Called by sqlite.c. Invariant: only
 * rows that are handed over are parsed. The rows of a few nodes are found by the index;
 * of many nodes most rows are wanted, and the log is read in its order.
 */
#include "provisioner/store/sqlite_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define COLUMNS "SELECT seq,time_ms,kind,node,body,hash FROM journal WHERE "
#define OF_NODE                                                                        \
	"SELECT seq FROM journal WHERE node=? AND node<>'' AND seq>? AND seq<? ORDER BY "

static const char *const scan_sql[] = {
	COLUMNS "seq>? AND seq<? ORDER BY seq LIMIT ?",
	COLUMNS "seq>? AND seq<? ORDER BY seq DESC LIMIT ?",
};
static const char *const find_sql[] = {
	OF_NODE "seq LIMIT ?",
	OF_NODE "seq DESC LIMIT ?",
};
static const char row_sql[] = COLUMNS "seq=?";

static int
failed(const struct bu_sqlite_search *search, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_IO, 0, "read the log: %s",
			  sqlite3_errmsg(search->db));
}

static sqlite3_stmt *
prepare(const struct bu_sqlite_search *search, const char *sql, struct bu_err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(search->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		bu_ignore(failed(search, err));
	return stmt;
}

/* 1 = the reader wants no more. */
static int
hand_over(const struct bu_sqlite_search *search, sqlite3_stmt *row, struct bu_err *err)
{
	struct bu_event event;
	int stop;

	if (search->read(row, &event, err) != 0)
		return -1;
	search->of->at = event.seq;
	stop = search->fn(&event, search->arg);
	bu_event_fini(&event);
	return stop != 0;
}

static int
is_wanted(const struct bu_search *of, sqlite3_stmt *row)
{
	const char *node = (const char *)sqlite3_column_text(row, 3);

	return !of->nodes || (node && json_object_get(of->nodes, node));
}

static int
scan(const struct bu_sqlite_search *search, int64_t before, struct bu_err *err)
{
	struct bu_search *of = search->of;
	sqlite3_stmt *stmt = prepare(search, scan_sql[of->newest], err);
	size_t looked = 0, given = 0, look = of->nodes ? of->look : of->max;
	int rc = SQLITE_ROW, stop = 0;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, of->after);
	sqlite3_bind_int64(stmt, 2, before);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)look);
	while (!stop && given < of->max && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		looked++;
		of->at = sqlite3_column_int64(stmt, 0);
		if (!is_wanted(of, stmt))
			continue;
		given++;
		stop = hand_over(search, stmt, err);
	}
	/* There are no others. */
	if (rc == SQLITE_DONE && looked < look)
		of->at = of->newest ? of->after : of->last;
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		stop = failed(search, err);
	sqlite3_finalize(stmt);
	return stop < 0 ? -1 : 0;
}

/* Numbers of rows, unsorted. */
struct numbers {
	int64_t *list;
	size_t count, cap;
};

static int
up(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int
down(const void *a, const void *b)
{
	return up(b, a);
}

/* Of each node as many rows as are wanted of all. */
static int
find(const struct bu_sqlite_search *search, int64_t before, struct numbers *numbers,
     struct bu_err *err)
{
	const struct bu_search *of = search->of;
	sqlite3_stmt *stmt = prepare(search, find_sql[of->newest], err);
	const char *name;
	json_t *value;
	int rc = SQLITE_DONE;

	if (!stmt)
		return -1;
	json_object_foreach ((json_t *)of->nodes, name, value) {
		sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 2, of->after);
		sqlite3_bind_int64(stmt, 3, before);
		sqlite3_bind_int64(stmt, 4, (sqlite3_int64)of->max);
		while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
			numbers->list = bu_xgrow(numbers->list, &numbers->cap,
						 numbers->count + 1, sizeof(int64_t));
			numbers->list[numbers->count++] = sqlite3_column_int64(stmt, 0);
		}
		sqlite3_reset(stmt);
		if (rc != SQLITE_DONE)
			break;
	}
	rc = rc == SQLITE_DONE ? 0 : failed(search, err);
	sqlite3_finalize(stmt);
	return rc;
}

static int
read_found(const struct bu_sqlite_search *search, const struct numbers *numbers,
	   struct bu_err *err)
{
	sqlite3_stmt *stmt = prepare(search, row_sql, err);
	int stop = stmt ? 0 : -1;

	for (size_t i = 0; !stop && i < numbers->count && i < search->of->max; i++) {
		sqlite3_bind_int64(stmt, 1, numbers->list[i]);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			stop = hand_over(search, stmt, err);
		else
			stop = failed(search, err);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	return stop;
}

static int
look_up(const struct bu_sqlite_search *search, int64_t before, struct bu_err *err)
{
	struct bu_search *of = search->of;
	struct numbers numbers = {0};
	int stop = find(search, before, &numbers, err);

	if (stop == 0) {
		if (numbers.count)
			qsort(numbers.list, numbers.count, sizeof(int64_t),
			      of->newest ? down : up);
		stop = read_found(search, &numbers, err);
	}
	if (stop == 0 && numbers.count < of->max)
		of->at = of->newest ? of->after : of->last;
	free(numbers.list);
	return stop < 0 ? -1 : 0;
}

int
bu_sqlite_search(const struct bu_sqlite_search *search, struct bu_err *err)
{
	struct bu_search *of = search->of;
	int64_t before = of->before ? of->before : INT64_MAX;
	int few = of->nodes && json_object_size(of->nodes) <= BU_SEARCH_FEW;

	of->at = of->newest ? before : of->after;
	return few ? look_up(search, before, err) : scan(search, before, err);
}
