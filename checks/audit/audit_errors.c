/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about errors of CPUs and memory in the kernel's log, whoever tells
 * them: machine checks of Intel and AMD, EDAC, firmware (APEI). Called by audit.c.
 * Invariant: the severity that a line tells decides; corrected errors are judged by how
 * many there were within a day, and no error counts twice for having two tellers.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "checks/audit/audit_impl.h"

enum { DAY_S = 24 * 60 * 60, CORRECTED_A_DAY = 10 };

enum severity { CORRECTED, UNCORRECTED, AS_STATUS, AS_EDAC };

/* MCi_STATUS.UC */
static const unsigned long long uncorrected_bit = 1ull << 61;

/* Lines that tell an error, once each; the first that fits counts. */
static const struct teller {
	const char *mark;
	enum severity severity;
	int source; /* each tells all of its errors */
} tellers[] = {
	{"[Hardware Error]: event severity: corrected", CORRECTED, 0},
	{"[Hardware Error]: event severity: recoverable", UNCORRECTED, 0},
	{"[Hardware Error]: event severity: fatal", UNCORRECTED, 0},
	{"[Hardware Error]: Corrected error", CORRECTED, 1},
	{"[Hardware Error]: Uncorrected", UNCORRECTED, 1},
	{"[Hardware Error]: Deferred error", UNCORRECTED, 1},
	{"[Hardware Error]: System Fatal error", UNCORRECTED, 1},
	{"mce: Uncorrected hardware memory error", UNCORRECTED, 1},
	{"Memory failure: 0x", UNCORRECTED, 1},
	{"[Hardware Error]: Machine check events logged", CORRECTED, 2},
	{": Machine Check Exception: ", UNCORRECTED, 1},
	{": Machine Check: ", AS_STATUS, 1},
	{"EDAC MC", AS_EDAC, 3},
};
enum { SOURCES = 4 };

struct errors {
	struct stamps {
		double *at_s;
		size_t count, cap;
	} corrected[SOURCES];
	int uncorrected;
	char first[160];
};

/* "6,1,4000000,-;..." */
static double
stamp_of(const char *line)
{
	unsigned long long us;

	return sscanf(line, "%*u,%*u,%llu", &us) == 1 ? (double)us / 1e6 : 0;
}

/* "Machine Check: 0 Bank 7: 8c00004000010090"; without a status nothing was lost. */
static enum severity
by_status(const char *text)
{
	const char *bank = strstr(text, " Bank ");
	const char *status = bank ? strchr(bank, ':') : NULL;

	return status && (strtoull(status + 1, NULL, 16) & uncorrected_bit)
		       ? UNCORRECTED
		       : CORRECTED;
}

/* "EDAC MC1: 2 UE memory read error on ..."; how many, 0 = it tells no error. */
static int
edac_count(const char *text, enum severity *ret)
{
	const char *colon = strchr(text, ':');
	char kind[3];
	int count;

	if (!colon || sscanf(colon + 1, " %d %2s", &count, kind) != 2 || count <= 0 ||
	    (strcmp(kind, "CE") != 0 && strcmp(kind, "UE") != 0))
		return 0;
	*ret = *kind == 'U' ? UNCORRECTED : CORRECTED;
	return count;
}

static void
count_line(struct bu_audit *a, char *line, void *arg)
{
	struct errors *errors = arg;
	const char *text = NULL;
	enum severity severity;
	int count = 1;
	size_t i = 0;

	(void)a;
	for (; i < BU_LEN(tellers) && !text; i++)
		text = strstr(line, tellers[i].mark);
	if (!text)
		return;
	severity = tellers[--i].severity;
	if (severity == AS_STATUS)
		severity = by_status(text);
	else if (severity == AS_EDAC)
		count = edac_count(text, &severity);
	if (severity == UNCORRECTED && count > 0 && errors->uncorrected++ == 0)
		bu_text_copy(errors->first, sizeof(errors->first), text);
	for (int k = 0; k < count && severity == CORRECTED; k++) {
		struct stamps *stamps = &errors->corrected[tellers[i].source];

		if (stamps->count == BU_AUDIT_STAMPS_MAX)
			break;
		stamps->at_s = bu_xgrow(stamps->at_s, &stamps->cap, stamps->count + 1,
					sizeof(*stamps->at_s));
		stamps->at_s[stamps->count++] = stamp_of(line);
	}
}

/* The most within a day. */
static size_t
most_a_day(const struct stamps *stamps)
{
	size_t from = 0, most = 0;

	for (size_t i = 0; i < stamps->count; i++) {
		while (stamps->at_s[i] - stamps->at_s[from] > DAY_S)
			from++;
		most = i - from + 1 > most ? i - from + 1 : most;
	}
	return most;
}

static int
count_errors(struct bu_audit *a, struct errors *ret, size_t *ret_a_day)
{
	int is_read;

	memset(ret, 0, sizeof(*ret));
	*ret_a_day = 0;
	is_read = bu_audit_each_line(a, count_line, ret);
	for (size_t i = 0; i < SOURCES; i++) {
		size_t most = most_a_day(&ret->corrected[i]);

		*ret_a_day = most > *ret_a_day ? most : *ret_a_day;
		free(ret->corrected[i].at_s);
	}
	return is_read;
}

void
bu_audit_hardware_error(struct bu_audit *a)
{
	struct errors errors;
	size_t a_day;
	char seen[32];

	if (!count_errors(a, &errors, &a_day))
		return;
	snprintf(seen, sizeof(seen), "%d", errors.uncorrected);
	if (errors.uncorrected == 0)
		bu_audit_good(a, "", "none");
	else
		bu_audit_bad(a, "", seen, "none",
			     "uncorrected hardware errors in the kernel's log: %d, "
			     "first: %.120s",
			     errors.uncorrected, errors.first);
}

void
bu_audit_hardware_corrected(struct bu_audit *a)
{
	int64_t most = bu_audit_threshold(a, "corrected_errors", CORRECTED_A_DAY);
	struct errors errors;
	size_t a_day;
	char seen[32], expected[40];

	if (!count_errors(a, &errors, &a_day))
		return;
	snprintf(seen, sizeof(seen), "%zu a day", a_day);
	snprintf(expected, sizeof(expected), "at most %lld a day", (long long)most);
	bu_audit_judge(a, (int64_t)a_day <= most, "", seen, expected,
		       "corrected hardware errors in the kernel's log: %s, expected %s",
		       seen, expected);
}
