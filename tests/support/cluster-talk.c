/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster driver that does what lines of standard input say, for judges from outside:
 *
 *	cluster-talk DRIVER HANDLE
 *	issue|admit|gate|relabel|leave NODE [ADDRESS LABELS TAINTS DRAINED SECONDS FILE]
 *	fault NODE CODE
 *	answer REQUEST accepted|repaired|refused
 *	observe|repairs
 *
 * "-" stands for an empty word. FILE gets the secret of an issue. Each answer is a
 *line: "done VERB NODE|DETAIL|DRAINED", "failed VERB NODE|TEXT", "words NODE|TEXT",
 * "row NODE|STATE|DRAIN|JOBS|REASON", "seen COUNT", "unseen TEXT",
 * "repair REQUEST NODE ACCEPTED_MS".
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/cluster/cluster.h"

enum { WORDS_MAX = 8, LINE_SIZE = 4096 };

struct talk {
	struct bu_loop *loop;
	const struct bu_cluster_driver *driver;
	struct bu_cluster *cluster;
	char in[LINE_SIZE];
	size_t size;
};

/* One operation; never freed: the program is short-lived. */
struct one {
	char *line, *words[WORDS_MAX];
};

static const char *
word(const struct one *one, size_t at)
{
	const char *text = one->words[at];

	return text && strcmp(text, "-") != 0 ? text : NULL;
}

static void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	const struct one *one = arg;
	const char *file = word(one, 7);

	if (file && done->secret)
		bu_ignore(bu_file_write(file, done->secret, done->secret_size, 0600,
					NULL));
	if (err)
		printf("failed %s %s|%s\n", one->words[0], one->words[1], err->text);
	else
		printf("done %s %s|%s|%s\n", one->words[0], one->words[1], done->detail,
		       done->drained);
	fflush(stdout);
}

static void
on_words(const char *text, void *arg)
{
	const struct one *one = arg;

	printf("words %s|%s\n", one->words[1], text);
	fflush(stdout);
}

static void
on_seen(const struct bu_cluster_row *rows, size_t count, const struct bu_err *err,
	void *arg)
{
	static const char *const drains[] = {[BU_DRAIN_NONE] = "none",
					     [BU_DRAIN_OURS] = "ours",
					     [BU_DRAIN_OTHER] = "other"};

	for (size_t i = 0; i < count; i++)
		printf("row %s|%s|%s|%d|%s\n", rows[i].name, rows[i].fact.state,
		       drains[rows[i].fact.drain], rows[i].fact.jobs,
		       rows[i].fact.reason);
	if (err)
		printf("unseen %s\n", err->text);
	else
		printf("seen %zu\n", count);
	fflush(stdout);
}

static void
on_repair(const struct bu_cluster_repair *repair, void *arg)
{
	(void)arg;
	printf("repair %s %s %lld\n", repair->id, repair->node,
	       (long long)repair->accepted_ms);
	fflush(stdout);
}

static void
answer(struct talk *talk, const struct one *one)
{
	const char *verdict = word(one, 2);
	enum bu_cluster_verdict as =
		!verdict                           ? BU_CLUSTER_REFUSED
		: strcmp(verdict, "accepted") == 0 ? BU_CLUSTER_ACCEPTED
		: strcmp(verdict, "repaired") == 0 ? BU_CLUSTER_REPAIRED
						   : BU_CLUSTER_REFUSED;

	talk->driver->answer(talk->cluster, one->words[1], as, "Judged",
			     "said by a judge");
}

static void
begin(struct talk *talk, struct one *one)
{
	const struct bu_cluster_driver *driver = talk->driver;
	const char *verb = one->words[0], *seconds = word(one, 6);
	struct bu_cluster_target target = {.member = {.name = one->words[1],
						      .address = word(one, 2),
						      .labels = word(one, 3),
						      .taints = word(one, 4)},
					   .proof = "c0ffee",
					   .drained = word(one, 5),
					   .deadline_ms =
						   seconds ? atoi(seconds) * 1000 : 0,
					   .words = on_words};

	if (strcmp(verb, "observe") == 0)
		driver->observe(talk->cluster);
	else if (strcmp(verb, "repairs") == 0)
		driver->repairs(talk->cluster, on_repair, NULL);
	else if (strcmp(verb, "answer") == 0)
		answer(talk, one);
	else if (strcmp(verb, "fault") == 0)
		driver->fault(talk->cluster, one->words[1], word(one, 2),
			      word(one, 2) ? "[judged] so - RecommendedAction: NONE"
					   : NULL);
	else if (strcmp(verb, "issue") == 0)
		driver->issue(talk->cluster, &target, on_end, one);
	else if (strcmp(verb, "admit") == 0)
		driver->admit(talk->cluster, &target, on_end, one);
	else if (strcmp(verb, "gate") == 0)
		driver->gate(talk->cluster, &target, on_end, one);
	else if (strcmp(verb, "relabel") == 0)
		driver->relabel(talk->cluster, &target, on_end, one);
	else if (strcmp(verb, "leave") == 0)
		driver->leave(talk->cluster, &target, on_end, one);
}

static void
take_line(struct talk *talk, const char *line, size_t size)
{
	struct one *one = bu_xcalloc(1, sizeof(*one));
	char *rest = one->line = bu_xstrndup(line, size);

	for (size_t i = 0; i < WORDS_MAX; i++)
		one->words[i] = strtok_r(rest, " ", &rest);
	if (one->words[0])
		begin(talk, one);
}

static void
on_input(int fd, int what, void *arg)
{
	struct talk *talk = arg;
	ssize_t got = read(fd, talk->in + talk->size, LINE_SIZE - talk->size);
	char *end;

	if (got <= 0) {
		bu_loop_stop(talk->loop);
		return;
	}
	talk->size += (size_t)got;
	while ((end = memchr(talk->in, '\n', talk->size))) {
		size_t size = (size_t)(end - talk->in);

		take_line(talk, talk->in, size);
		talk->size -= size + 1;
		memmove(talk->in, end + 1, talk->size);
	}
}

int
main(int argc, char **argv)
{
	struct talk talk = {0};
	struct bu_watch *input;

	if (argc != 3 || !(talk.driver = bu_cluster_driver(argv[1]))) {
		fputs("usage: cluster-talk DRIVER HANDLE\n", stderr);
		return 2;
	}
	talk.loop = bu_loop_create(bu_clock_system());
	talk.cluster = talk.driver->open(talk.loop, argv[2], on_seen, NULL);
	input = bu_watch_create(talk.loop, STDIN_FILENO, BU_READABLE, on_input, &talk);
	bu_loop_run(talk.loop);
	talk.driver->close(talk.cluster);
	bu_watch_destroy(input);
	bu_loop_destroy(talk.loop);
	return 0;
}
