/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event logs of a machine and of its BMC; called by driver.c. A log may hold ten
 * thousand entries and come in pages of fifty, newest or oldest first, or as links
 * alone. Invariants: never more than the asked number is held, nor more than one page;
 * a log that is longer than the time for it gives what was read, and says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"
#include "provisioner/power/report.h"

enum { PAGES_MAX = 400, LINKED_MAX = 40, MOST_DEFAULT = 100, MOST_MAX = 1000 };

/* Of the BMC's own software, or of one firmware's insides: long, and no event of the
 * machine. */
static const char *const passed_over[] = {"Journal",   "PostCode", "Dump",  "Debug",
					  "HostLog",   "Console",  "Audit", "Lclog",
					  "Crashdump", "FaultLog"};

struct reading {
	struct bu_bmc_log log;
	char name[RF_NAME_SIZE]; /* of the log that is read */
	int seen;                /* logs */
	struct bu_err why;       /* of one that could not be read */
};

/* --- entries --- */

static int64_t
time_of(const json_t *entry)
{
	return bu_bmc_time_read(bu_json_str(entry, "Created", ""));
}

static void
take(struct reading *reading, const json_t *entry)
{
	const char *text = bu_json_str(entry, "Message", "");

	if (!*text)
		text = bu_json_str(entry, "Description",
				   bu_json_str(entry, "MessageId",
					       bu_json_str(entry, "Name", "")));
	bu_bmc_log_take(&reading->log, time_of(entry),
			bu_json_str(entry, "Severity", ""), reading->name, text);
}

/* Entries themselves, or only where they are? */
static int
are_links(const json_t *members)
{
	const json_t *first = json_array_get(members, 0);

	return first && !json_object_get(first, "Created") &&
	       !json_object_get(first, "Message");
}

/* The number that a link ends with. */
static long
number_of(const json_t *link)
{
	const char *path = bu_json_str(link, "@odata.id", "");
	size_t end = strlen(path);

	while (end > 0 && (path[end - 1] < '0' || path[end - 1] > '9'))
		end--;
	while (end > 0 && path[end - 1] >= '0' && path[end - 1] <= '9')
		end--;
	return strtol(path + end, NULL, 10);
}

/* Does the newest come first? */
static int
is_newest_first(const json_t *members)
{
	const json_t *first = json_array_get(members, 0);
	const json_t *last = json_array_get(members, json_array_size(members) - 1);

	if (are_links(members))
		return number_of(first) > number_of(last);
	return time_of(first) > time_of(last);
}

/* One request for each: the newest few, until they are too old. -1 = there are more. */
static int
follow_links(struct rf_op *op, struct reading *reading, const json_t *members)
{
	size_t count = json_array_size(members);
	int newest = is_newest_first(members);

	for (size_t i = 0; i < count; i++) {
		const json_t *link =
			json_array_get(members, newest ? i : count - 1 - i);
		bu_autojson json_t *entry = NULL;
		char path[RF_PATH_SIZE];

		if (i == LINKED_MAX || rf_go_on(op, NULL) != 0)
			return -1;
		if (rf_path(op->bmc, bu_json_str(link, "@odata.id", ""), path) != 0)
			continue;
		entry = rf_get(op, path, NULL, NULL);
		if (entry && bu_bmc_log_is_old(&reading->log, time_of(entry)))
			return 0;
		if (entry)
			take(reading, entry);
	}
	return 0;
}

/* --- pages --- */

/* Where the last `most` entries begin, in the words of the link to the second page;
 * what has no such number in it is read page by page. */
static void
skip_ahead(const struct reading *reading, const json_t *page, char next[RF_PATH_SIZE])
{
	int64_t count = bu_json_int(page, "Members@odata.count", 0), second;
	char *number = strstr(next, "skip=");
	char digits[24];
	int64_t from = count - (int64_t)reading->log.most;

	if (!number)
		return;
	number += strlen("skip=");
	bu_text_copy(digits, sizeof(digits), number);
	if (bu_text_int(digits, 1, INT32_MAX, &second) != 0 || from <= second)
		return;
	snprintf(number, RF_PATH_SIZE - (size_t)(number - next), "%lld",
		 (long long)from);
}

/* 1 when what follows is older than what is asked for, or than what is held. */
static int
take_page(struct rf_op *op, struct reading *reading, const json_t *page)
{
	const json_t *members = json_object_get(page, "Members"), *entry;
	size_t count = json_array_size(members), i;

	if (are_links(members)) {
		reading->log.more |= follow_links(op, reading, members) != 0;
		return 1;
	}
	json_array_foreach (members, i, entry)
		take(reading, entry);
	return count > 0 && is_newest_first(members) &&
	       (json_array_size(reading->log.rows) >= reading->log.most ||
		bu_bmc_log_is_old(&reading->log,
				  time_of(json_array_get(members, count - 1))));
}

static int
read_entries(struct rf_op *op, struct reading *reading, const char *entries,
	     int64_t *ret_count, struct bu_err *err)
{
	char path[RF_PATH_SIZE];

	snprintf(path, sizeof(path), "%s", entries);
	for (int i = 0; path[0]; i++) {
		bu_autojson json_t *page = rf_get(op, path, NULL, err);

		if (!page)
			return -1;
		if (i == 0)
			*ret_count = bu_json_int(page, "Members@odata.count", 0);
		if (take_page(op, reading, page))
			return 0;
		if (rf_path(op->bmc, bu_json_str(page, "Members@odata.nextLink", ""),
			    path) != 0)
			path[0] = '\0';
		else if (i == PAGES_MAX) {
			reading->log.more = 1;
			return 0;
		} else if (!is_newest_first(json_object_get(page, "Members"))) {
			skip_ahead(reading, page, path);
		}
	}
	return 0;
}

/* --- logs --- */

static int
is_passed_over(const char *id)
{
	for (size_t i = 0; i < BU_LEN(passed_over); i++)
		if (strcasestr(id, passed_over[i]))
			return 1;
	return 0;
}

/* A log that keeps what it has says so, and how much it can have. */
static int
is_full(const json_t *service, int64_t count)
{
	int64_t most = bu_json_int(service, "MaxNumberOfRecords", 0);

	return most > 0 && count >= most &&
	       strcmp(bu_json_str(service, "OverWritePolicy", ""), "NeverOverWrites") ==
		       0;
}

static int
on_service(struct rf_op *op, const char *path, const json_t *service, void *arg)
{
	struct reading *reading = arg;
	const char *id = bu_json_str(service, "Id", path);
	int64_t now_ms = bu_wall_ms(bu_loop_clock(op->driver->loop)), count = 0;
	char entries[RF_PATH_SIZE];

	rf_link(op, service, "Entries", entries);
	if (is_passed_over(id) || !entries[0] ||
	    !bu_json_bool(service, "ServiceEnabled", 1))
		return 0;
	bu_text_copy(reading->name, sizeof(reading->name), id);
	bu_bmc_log_clock(&reading->log,
			 bu_bmc_time_read(bu_json_str(service, "DateTime", "")),
			 now_ms);
	if (read_entries(op, reading, entries, &count, &reading->why) == 0)
		reading->seen++;
	else if (json_array_size(reading->log.rows))
		reading->log.more = 1;
	reading->log.full |= is_full(service, count);
	return rf_go_on(op, NULL);
}

static void
read_logs_of(struct rf_op *op, const json_t *object, struct reading *reading)
{
	char link[RF_PATH_SIZE];

	rf_link(op, object, "LogServices", link);
	if (link[0])
		bu_ignore(rf_members(op, link, on_service, reading, &reading->why));
}

int
rf_events(struct rf_op *op, json_t **ret, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	bu_autojson json_t *manager = system ? rf_manager(op, system, NULL) : NULL;
	struct reading reading = {
		.log = {.most = MOST_DEFAULT, .since_ms = op->since_ms}};

	if (!system)
		return -1;
	if (op->most > 0)
		reading.log.most = op->most < MOST_MAX ? op->most : MOST_MAX;
	read_logs_of(op, system, &reading);
	read_logs_of(op, manager, &reading);
	if (reading.seen == 0 && json_array_size(reading.log.rows) == 0) {
		json_decref(reading.log.rows);
		if (rf_go_on(op, err) != 0)
			return -1;
		if (reading.why.kind)
			*err = reading.why;
		else
			bu_err_set(err, BU_ERR_INVAL, 0,
				   "%s: the BMC shows no event log", op->bmc->origin);
		return -1;
	}
	*ret = bu_bmc_log_end(&reading.log);
	return 0;
}
