/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what scontrol and squeue print. Called by driver.c. Invariant: nothing that
 * they print is trusted to be short, complete or in a known order of flags, and what
 * cannot be read is never taken for "not there", "idle" or "drained".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "provisioner/cluster/slurm/parse.h"

enum { BRACKETS_MAX = 4 /* dimensions of a name */ };

enum {
	TAKES = 1 << 0,
	WORKS = 1 << 1, /* some of it is allocated */
	DOWN = 1 << 2,
	LOST = 1 << 3,
	DRAIN = 1 << 4,
	INVALID = 1 << 5,
	SLEEPS = 1 << 6,
	MAINT = 1 << 7,
	REBOOTS = 1 << 8,
};

/* Words of State=, joined by "+". Others of them mean nothing to bringup. */
static const struct {
	const char *word;
	int base; /* the first word must be one of these */
	unsigned int means;
} words[] = {
	{"IDLE", 1, TAKES},
	{"ALLOCATED", 1, TAKES | WORKS},
	{"MIXED", 1, TAKES | WORKS},
	{"DOWN", 1, DOWN},
	{"ERROR", 1, DOWN},
	{"UNKNOWN", 1, LOST},
	{"FUTURE", 1, LOST},
	{"INVAL", 1, INVALID},
	{"COMPLETING", 0, WORKS},
	{"DRAIN", 0, DRAIN},
	{"FAIL", 0, DRAIN},
	{"INVALID_REG", 0, INVALID},
	{"NOT_RESPONDING", 0, LOST},
	{"POWERED_DOWN", 0, LOST | SLEEPS},
	{"POWERING_DOWN", 0, LOST | SLEEPS},
	{"MAINTENANCE", 0, MAINT},
	{"REBOOT_ISSUED", 0, REBOOTS}, /* REBOOT_REQUESTED: jobs may run still */
};

/* Reasons that slurmctld gives a node by itself, which end when it is back; and by
 * whom, as its SlurmUser is set up. */
static const char *const own_reasons[] = {
	"Not responding", "Node unexpectedly rebooted", "ResumeTimeout reached"};
static const char *const own_names[] = {"slurm", "root"};

/* As 22.05 has them. slurmctld says nothing to whom it does not believe. */
static const struct {
	const char *printed, *fault;
} munge_faults[] = {
	{"Zero Bytes were transmitted or received",
	 "slurmctld does not believe munge of the appliance; compare the appliance's "
	 "/etc/munge/munge.key and its clock with slurmctld's"},
	{"Protocol authentication error",
	 "munge does not run on the appliance; see systemctl status munge"},
};

const char *
bu_slurm_munge_fault(const char *text)
{
	for (size_t i = 0; i < BU_LEN(munge_faults); i++)
		if (strstr(text, munge_faults[i].printed))
			return munge_faults[i].fault;
	return NULL;
}

const struct bu_err *
bu_slurm_explain(const struct bu_err *err, struct bu_err *own)
{
	const char *fault = err ? bu_slurm_munge_fault(err->text) : NULL;

	if (!fault)
		return err;
	bu_err_set(own, err->kind, 0, "%s: %s", fault, err->text);
	return own;
}

int
bu_slurm_has_no_reservation(const char *text)
{
	static const char *const printed = "Requested reservation is invalid";

	return strstr(text, printed) != NULL;
}

/* 0: the first word is none that a node begins with. */
static unsigned int
meaning_of(const char *state, size_t size)
{
	unsigned int means = 0;

	for (size_t at = 0; at < size;) {
		size_t len = 0, i = 0;

		while (at + len < size && state[at + len] != '+')
			len++;
		/* "IDLE*", of older versions */
		if (len && state[at + len - 1] == '*')
			means |= LOST;
		for (; i < BU_LEN(words); i++) {
			size_t size_of = strlen(words[i].word);

			if ((len == size_of ||
			     (len == size_of + 1 && state[at + size_of] == '*')) &&
			    strncmp(state + at, words[i].word, size_of) == 0)
				break;
		}
		if (at == 0 && (i == BU_LEN(words) || !words[i].base))
			return 0;
		if (i < BU_LEN(words))
			means |= words[i].means;
		at += len + 1;
	}
	return means;
}

/* Where the value of " KEY=" begins in the line, between from and end; NULL = nowhere.
 */
static const char *
value_of(const char *from, const char *end, const char *key)
{
	size_t size = strlen(key);
	const char *at = memmem(from, (size_t)(end - from), key, size);

	return at ? at + size : NULL;
}

static size_t
word_size(const char *at, const char *end)
{
	size_t size = 0;

	while (at + size < end && at[size] != ' ')
		size++;
	return size;
}

/* State= is followed by ThreadsPerCore=; OS= before it and Reason= behind it may hold
 * anything. */
static const char *
find_state(const char *line, const char *end, size_t *ret_size)
{
	static const char next[] = " ThreadsPerCore=";
	const char *at = line;

	while ((at = value_of(at, end, " State="))) {
		size_t size = word_size(at, end);

		if ((size_t)(end - at) > size + strlen(next) &&
		    strncmp(at + size, next, strlen(next)) == 0) {
			*ret_size = size;
			return at;
		}
	}
	return NULL;
}

/* "[root@2026-11-22T09:25:18]" at this place: who, whose name may have signs of its own
 * ("alice@corp.example.net"); its size, 0 = it is none. */
static size_t
stamp_name_size(const char *at, const char *end)
{
	const char *close = memchr(at, ']', (size_t)(end - at));
	const char *sign = close ? memrchr(at, '@', (size_t)(close - at)) : NULL;

	if (*at != '[' || !sign || close - sign != 20 || sign[11] != 'T')
		return 0;
	return (size_t)(sign - at) - 1;
}

/* "Reason=DIMM A3 [root@2026-11-22T09:25:18] Comment=...": the text may hold anything,
 * and what follows the stamp is none of it. */
static void
read_reason(const char *from, const char *end, struct bu_cluster_fact *fact)
{
	const char *reason = value_of(from, end, " Reason=");
	const char *at = reason, *comment;
	size_t name = 0;

	if (!reason)
		return;
	while (at < end && !(name = stamp_name_size(at, end)))
		at++;
	if (name)
		bu_text_copy_part(fact->by, sizeof(fact->by), at + 1, name);
	else if ((comment = value_of(reason, end, " Comment=")))
		at = comment - strlen(" Comment=");
	while (at > reason && at[-1] == ' ')
		at--;
	bu_text_copy_part(fact->reason, sizeof(fact->reason), reason,
			  (size_t)(at - reason));
}

static int
is_own_reason(const char *reason)
{
	for (size_t i = 0; i < BU_LEN(own_reasons); i++)
		if (strncmp(reason, own_reasons[i], strlen(own_reasons[i])) == 0)
			return 1;
	return 0;
}

/* slurmctld's words and nothing but them: whoever drains types a reason of his own. */
static int
is_own_word(const struct bu_cluster_fact *fact)
{
	int reason = 0, name = 0;

	for (size_t i = 0; i < BU_LEN(own_reasons); i++)
		reason |= strcmp(fact->reason, own_reasons[i]) == 0;
	for (size_t i = 0; i < BU_LEN(own_names); i++)
		name |= strcmp(fact->by, own_names[i]) == 0;
	return reason && name;
}

/* Nobody can drain without a reason: a drain without one is that of slurmd's --conf, as
 * the agent starts it. (A Reason= there is accepted, and lost.) slurmctld gives a node
 * that dies its own reason where there is none, and leaves what a person has typed. */
static enum bu_drain
drain_of(unsigned int means, const struct bu_cluster_fact *fact)
{
	if (!(means & (DRAIN | DOWN)))
		return BU_DRAIN_NONE;
	if (!fact->reason[0] ||
	    strncmp(fact->reason, BU_SLURM_MARK, strlen(BU_SLURM_MARK)) == 0)
		return BU_DRAIN_OURS;
	return (means & DRAIN ? is_own_word(fact) : is_own_reason(fact->reason))
		       ? BU_DRAIN_OURS
		       : BU_DRAIN_OTHER;
}

/* A number, or what cannot be read as 0: some. */
static int
is_some(const char *value, const char *end)
{
	return !value || value == end || *value != '0' ||
	       (value + 1 < end && value[1] != ' ');
}

static int
read_line(const char *line, const char *end, struct bu_cluster_row *ret)
{
	static const char key[] = "NodeName=";
	size_t name = word_size(line, end), size = 0;
	const char *state = find_state(line, end, &size);
	struct bu_cluster_fact *fact = &ret->fact;
	unsigned int means = state ? meaning_of(state, size) : 0;

	memset(ret, 0, sizeof(*ret));
	name -= name > strlen(key) ? strlen(key) : name;
	if (strncmp(line, key, strlen(key)) != 0 || !name || name >= sizeof(ret->name))
		return -1;
	memcpy(ret->name, line + strlen(key), name);
	fact->known = 1;
	if (state) {
		bu_text_copy_part(fact->state, sizeof(fact->state), state, size);
		read_reason(state, end, fact);
		ret->features = value_of(line, state, " AvailableFeatures=");
	}
	if (ret->features)
		ret->features_size = word_size(ret->features, end);
	if (ret->features_size == 6 && strncmp(ret->features, "(null)", 6) == 0)
		ret->features_size = 0;
	fact->jobs = (means & WORKS) || !state ||
		     is_some(value_of(line, state, " CPUAlloc="), end);
	fact->sleeps = (means & SLEEPS) != 0;
	fact->reboots = (means & REBOOTS) != 0;
	fact->responds = means && !(means & LOST);
	fact->drain = drain_of(means, fact);
	fact->down = !means || (means & (LOST | INVALID)) ||
		     ((means & DOWN) && fact->drain == BU_DRAIN_OURS);
	ret->invalid = (means & INVALID) != 0;
	ret->drains = (means & DRAIN) != 0;
	ret->maint = (means & MAINT) != 0;
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	const struct bu_cluster_row *left = a, *right = b;

	return strcmp(left->name, right->name);
}

int
bu_slurm_parse(const char *text, struct bu_cluster_row **ret_rows, size_t *ret_count,
	       struct bu_err *err)
{
	struct bu_cluster_row *rows = NULL;
	size_t count = 0, cap = 0;

	if (strcmp(text, "No nodes in the system\n") == 0)
		text = "";
	else if (!*text)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "scontrol printed nothing");
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (end == text)
			continue;
		rows = bu_xgrow(rows, &cap, count + 1, sizeof(*rows));
		if (*end && read_line(text, end, &rows[count]) == 0) {
			count++;
			continue;
		}
		free(rows);
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "scontrol printed a line that is not a node: '%.80s'",
				  text);
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_name);
	*ret_rows = rows;
	*ret_count = count;
	return 0;
}

const struct bu_cluster_row *
bu_slurm_find(const struct bu_cluster_row *rows, size_t count, const char *name)
{
	struct bu_cluster_row key;

	bu_text_copy(key.name, sizeof(key.name), name);
	return count ? bsearch(&key, rows, count, sizeof(key), by_name) : NULL;
}

static int matches(const char *pattern, const char *end, const char *name);

/* "001-004" or "7": does the name go on with one of it, and then with the rest? */
static int
in_range(const char *from, const char *to, const char *rest, const char *end,
	 const char *name)
{
	char *after;
	unsigned long low = strtoul(from, &after, 10), high = low;
	size_t width = (size_t)(after - from);

	if (*after == '-')
		high = strtoul(after + 1, &after, 10);
	if (after != to)
		return 1;
	for (size_t digits = width; digits && digits < 19; digits++) {
		char number[20];
		unsigned long value;

		for (size_t i = 0; i < digits; i++)
			if (!isdigit((unsigned char)name[i]))
				return 0;
		memcpy(number, name, digits);
		number[digits] = '\0';
		value = strtoul(number, NULL, 10);
		if (value >= low && value <= high &&
		    (digits == width || name[0] != '0') &&
		    matches(rest, end, name + digits))
			return 1;
	}
	return 0;
}

static int
matches(const char *pattern, const char *end, const char *name)
{
	const char *close;

	for (; pattern < end && *pattern != '['; pattern++, name++)
		if (*pattern != *name)
			return 0;
	if (pattern == end)
		return !*name;
	close = memchr(pattern, ']', (size_t)(end - pattern));
	if (!close)
		return 1;
	for (const char *at = pattern + 1; at <= close;) {
		const char *to = at + strcspn(at, ",]");

		if (!isdigit((unsigned char)*at) ||
		    in_range(at, to, close + 1, end, name))
			return 1;
		at = to + 1;
	}
	return 0;
}

int
bu_slurm_list_has(const char *list, size_t size, const char *name)
{
	const char *end = list + size;

	while (list < end) {
		const char *to = list;
		int depth = 0, brackets = 0;

		for (; to < end && (depth || *to != ','); to++) {
			depth += (*to == '[') - (*to == ']');
			brackets += *to == '[';
		}
		if (brackets > BRACKETS_MAX || matches(list, to, name))
			return 1;
		list = to + 1;
	}
	return 0;
}

char *
bu_slurm_jobs_of(const char *text, const char *node)
{
	char *jobs = bu_xstrdup("");

	for (const char *end; *text; text = *end ? end + 1 : end) {
		const char *bar;

		end = strchrnul(text, '\n');
		bar = memchr(text, '|', (size_t)(end - text));
		if (end == text ||
		    (bar && !bu_slurm_list_has(text, (size_t)(bar - text), node)))
			continue;
		bar = bar ? bar + 1 : text;
		bu_text_add(&jobs, ", ", "%.*s", (int)(end - bar), bar);
	}
	return jobs;
}
