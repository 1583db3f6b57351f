/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's words about GPUs and NICs. Called by the gate, which loads the rows, and
 * by the audit, which asks them. Invariant: what no row is about is unknown, never good
 * and never bad.
 */
#include "model/kernel_event.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"

enum { PART_SIZE = 128, FORMAT = 1, NUMBERED = 1 };

static const char *const classes[] = {
#define X(id, name, what) name,
	BU_KERNEL_CLASSES(X)
#undef X
};

static const struct {
	const char *of;
	int numbered;
} kinds[] = {{"xid", NUMBERED}, {"sxid", NUMBERED}, {"amd", 0}, {"nic", 0}};

static const char *const fields[] = {"of",    "number", "to",     "pattern", "line",
				     "class", "action", "source", "date"};

/* Those that a row may name; -1 = none of them. */
static int
class_of(const json_t *row)
{
	const char *name = bu_json_str(row, "class", "");

	for (int i = 0; i <= BU_KERNEL_IGNORE; i++)
		if (strcmp(classes[i], name) == 0)
			return i;
	return -1;
}

static int
fields_are_known(const json_t *row)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)row, key, value) {
		int known = 0;

		for (size_t i = 0; i < BU_LEN(fields); i++)
			known |= strcmp(fields[i], key) == 0;
		if (!known)
			return 0;
	}
	return json_is_object(row);
}

static int
is_date(const char *text)
{
	int year, month, day, used = 0;

	return sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 &&
	       used == 10 && !text[used];
}

static const char *
trouble_of(const json_t *row)
{
	const char *of = bu_json_str(row, "of", "");
	int64_t number = bu_json_int(row, "number", -1);
	size_t kind = 0;

	while (kind < BU_LEN(kinds) && strcmp(kinds[kind].of, of) != 0)
		kind++;
	if (!fields_are_known(row))
		return "unknown field";
	if (kind == BU_LEN(kinds))
		return "field 'of': expected xid, sxid, amd or nic";
	if (number >= 0 && !kinds[kind].numbered)
		return "field 'number': only xid and sxid have one";
	if (number < 0 && !*bu_json_str(row, "pattern", ""))
		return "neither number nor pattern";
	if (bu_json_int(row, "to", number) < number)
		return "field 'to': lower than the number";
	if (class_of(row) < 0)
		return "field 'class': expected fatal, reset, job or ignore";
	if (!*bu_json_str(row, "action", ""))
		return "field 'action': say what is to be done, or none";
	if (!*bu_json_str(row, "source", ""))
		return "field 'source': where this is from";
	return is_date(bu_json_str(row, "date", ""))
		       ? NULL
		       : "field 'date': expected YYYY-MM-DD";
}

int
bu_kernel_events_check(const json_t *value, struct bu_err *err)
{
	const json_t *rows = json_object_get(value, "events");
	size_t i;
	json_t *row;

	if (bu_json_int(value, "format", 0) != FORMAT || !json_is_array(rows))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "expected \"format\": %d and a list \"events\"",
				  FORMAT);
	json_array_foreach (rows, i, row) {
		const char *trouble = trouble_of(row);

		if (trouble)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "event %zu (%s %lld%s): %s", i + 1,
					  bu_json_str(row, "of", "?"),
					  (long long)bu_json_int(row, "number", -1),
					  bu_json_str(row, "pattern", ""), trouble);
	}
	return 0;
}

json_t *
bu_kernel_events_wire(const json_t *value)
{
	json_t *rows = json_deep_copy(json_object_get(value, "events")), *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		json_object_del(row, "source");
		json_object_del(row, "date");
	}
	return rows;
}

int
bu_kernel_event_fits(const char *pattern, const char *line)
{
	while (*pattern) {
		size_t size = strcspn(pattern, "*");
		char part[PART_SIZE];

		if (size >= sizeof(part))
			return 0;
		memcpy(part, pattern, size);
		part[size] = '\0';
		line = strstr(line, part);
		if (!line)
			return 0;
		line += size;
		pattern += size + (pattern[size] == '*');
	}
	return 1;
}

/* "RLW_RXPIPE Nonfatal XC0 ...", "Non-fatal, Link 32 ...": the first two words, where
 * the driver writes it, and behind the process that it names. */
static enum bu_kernel_class
said_by(const char *line, enum bu_kernel_class otherwise)
{
	static const struct {
		const char *word;
		enum bu_kernel_class class;
	} words[] = {{"Nonfatal", BU_KERNEL_NOTE},
		     {"Non-fatal", BU_KERNEL_NOTE},
		     {"Fatal", BU_KERNEL_RESET}};

	for (int read = 0; *line && read < 2; line += strcspn(line, ", ")) {
		line += strspn(line, ", ");
		for (size_t i = 0; i < BU_LEN(words); i++) {
			size_t size = strlen(words[i].word);

			if (strncasecmp(line, words[i].word, size) == 0 &&
			    (!line[size] || strchr(", ", line[size])))
				return words[i].class;
		}
		read += strncmp(line, "pid=", 4) != 0 && strncmp(line, "name=", 5) != 0;
	}
	return otherwise;
}

static int
is_about(const json_t *row, const char *of, int number, const char *line)
{
	int64_t from = bu_json_int(row, "number", -1);
	const char *pattern = bu_json_str(row, "pattern", "");

	return strcmp(bu_json_str(row, "of", ""), of) == 0 &&
	       (from < 0 ||
		(number >= from && number <= bu_json_int(row, "to", from))) &&
	       bu_kernel_event_fits(pattern, line);
}

struct bu_kernel_event
bu_kernel_events_find(const json_t *rows, const char *of, int number, const char *line)
{
	struct bu_kernel_event event = {BU_KERNEL_UNKNOWN, ""};
	size_t i;
	json_t *row;

	json_array_foreach ((json_t *)(uintptr_t)rows, i, row) {
		int class = class_of(row);

		if (class < 0 || !is_about(row, of, number, line))
			continue;
		event.class = (enum bu_kernel_class) class;
		event.action = bu_json_str(row, "action", "");
		if (bu_json_bool(row, "line", 0))
			event.class = said_by(line, event.class);
		break;
	}
	return event;
}
