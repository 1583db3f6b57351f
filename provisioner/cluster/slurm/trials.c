/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what squeue tells of acceptances, and scontrol of their reservations. Called by
 * accept.c. Invariant: a line that is neither is skipped; slurmctld prints all or
 * fails.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "provisioner/cluster/slurm/parse.h"
#include "provisioner/cluster/slurm/trials.h"

static const char *const active_states[] = {
	"PENDING",     "CONFIGURING", "RUNNING",      "COMPLETING",   "SUSPENDED",
	"STOPPED",     "SIGNALING",   "STAGE_OUT",    "REQUEUED",     "REQUEUE_HOLD",
	"REQUEUE_FED", "RESIZING",    "SPECIAL_EXIT", "RESV_DEL_HOLD"};

static int
is_active(const char *state)
{
	for (size_t i = 0; i < BU_LEN(active_states); i++)
		if (strcmp(active_states[i], state) == 0)
			return 1;
	return 0;
}

/* Of "bringup|12|RUNNING|2|node[001-002]|None|comment": where each begins; 0 = another
 * line. */
static int
split(const char *line, const char *end, const char *at[7])
{
	for (int i = 0; i < 7; i++) {
		at[i] = line;
		line = i < 6 ? memchr(line, '|', (size_t)(end - line)) : end;
		if (!line)
			return 0;
		line++;
	}
	return strncmp(at[0], "bringup|", 8) == 0;
}

static int
read_job(const char *line, const char *end, struct bu_slurm_trial_job *ret)
{
	const char *at[7];

	memset(ret, 0, sizeof(*ret));
	if (!split(line, end, at))
		return 0;
	ret->id = strtol(at[1], NULL, 10);
	bu_text_copy_part(ret->state, sizeof(ret->state), at[2],
			  (size_t)(at[3] - at[2] - 1));
	ret->nodes = (int)strtol(at[3], NULL, 10);
	ret->list = at[4];
	ret->list_size = (size_t)(at[5] - at[4] - 1);
	ret->reason = at[5];
	ret->reason_size = (size_t)(at[6] - at[5] - 1);
	ret->comment = at[6];
	ret->comment_size = (size_t)(end - at[6]);
	ret->active = is_active(ret->state);
	ret->cancelled = strcmp(ret->state, "CANCELLED") == 0;
	return ret->id > 0;
}

/* Words stand before the semicolon. */
static int
has_word(const struct bu_slurm_trial_job *job, const char *word)
{
	const char *semicolon = memchr(job->comment, ';', job->comment_size);
	size_t size =
		semicolon ? (size_t)(semicolon - job->comment) : job->comment_size;

	return *word && memmem(job->comment, size, word, strlen(word)) != NULL;
}

int
bu_slurm_trial_job(const char *text, const char *once, long after,
		   struct bu_slurm_trial_job *ret)
{
	struct bu_slurm_trial_job job;
	int found = 0;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (!read_job(text, end, &job) || job.id <= after ||
		    !has_word(&job, once))
			continue;
		after = job.id;
		*ret = job;
		found = 1;
	}
	return found;
}

int
bu_slurm_trial_stale(const char *text, const char *once, const char *node,
		     struct bu_slurm_trial_job *ret)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (read_job(text, end, ret) && ret->active && !has_word(ret, once) &&
		    bu_slurm_list_has(ret->list, ret->list_size, node))
			return 1;
	}
	return 0;
}

/* The value behind " KEY=", up to a space. */
static const char *
value(const char *line, const char *end, const char *key, size_t *ret_size)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));

	*ret_size = 0;
	if (!at)
		return NULL;
	at += strlen(key);
	while (at + *ret_size < end && at[*ret_size] != ' ')
		(*ret_size)++;
	return at;
}

void
bu_slurm_trial_reservation(const char *text, const char *node, char *name, size_t size,
			   int *ret_nodes)
{
	static const char begins[] = "ReservationName=" BU_SLURM_TRIAL_RESERVATION;

	*name = '\0';
	*ret_nodes = 0;
	for (const char *end; *text; text = *end ? end + 1 : end) {
		const char *list, *count, *named;
		size_t list_size, count_size, name_size;

		end = strchrnul(text, '\n');
		if (strncmp(text, begins, strlen(begins)) != 0)
			continue;
		named = value(text, end, "ReservationName=", &name_size);
		list = value(text, end, " Nodes=", &list_size);
		count = value(text, end, " NodeCnt=", &count_size);
		if (!list || !count || !bu_slurm_list_has(list, list_size, node))
			continue;
		bu_text_copy_part(name, size, named, name_size);
		*ret_nodes = (int)strtol(count, NULL, 10);
		return;
	}
}

int
bu_slurm_trial_told(const struct bu_slurm_trial_job *job, char **ret_output)
{
	static const char mark[] = "; exit ";
	const char *at = memmem(job->comment, job->comment_size, mark, strlen(mark));
	const char *end = job->comment + job->comment_size;
	char *after;
	long status;

	if (!at)
		return -1;
	status = strtol(at + strlen(mark), &after, 10);
	if (after >= end || *after != ';' || status < 0 || status > 255)
		return -1;
	for (after++; after < end && *after == ' ';)
		after++;
	*ret_output = bu_xstrndup(after, (size_t)(end - after));
	bu_text_clean(*ret_output);
	return (int)status;
}
