/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents that change over: the slots, the script that starts what is current, a stop at
 * every write of a change, trials that end well and badly. The agents are scripts.
 */
#include "agent/slots.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-slots-XXXXXX";
static int stop_at, writes; /* the process dies at this one; 0 = at none */
static int fail_at;         /* or it fails */

/* Everything that changes what is on the disk. 1 = it fails. */
static int
may_stop(void)
{
	if (++writes == stop_at)
		kill(getpid(), SIGKILL);
	errno = EIO;
	return writes == fail_at;
}

#define STOPS(type, name, parameters, arguments)                                       \
	type __real_##name parameters;                                                 \
	type __wrap_##name parameters;                                                 \
	type __wrap_##name parameters                                                  \
	{                                                                              \
		return may_stop() ? -1 : __real_##name arguments;                      \
	}
STOPS(int, rename, (const char *from, const char *to), (from, to))
STOPS(int, symlink, (const char *to, const char *at), (to, at))
STOPS(int, unlink, (const char *path), (path))
STOPS(int, fsync, (int fd), (fd))

static char *
below(const char *path)
{
	return bu_xasprintf("%s/%s", dir, path);
}

/* With $D, the folder. */
static void
run(const char *command)
{
	setenv("D", dir, 1);
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* What the script says when it starts the agent; owned. */
static char *
start(void)
{
	bu_autofree char *said = below("said");

	run("cd $D && { ./agent --installed; } >said 2>&1; true");
	return bu_file_read(said, 0, NULL, NULL);
}

static void
starts(const char *what)
{
	bu_autofree char *said = start();

	ck_assert_msg(strstr(said, what) != NULL, "%s instead of %s", said, what);
}

/* An agent is two files: its "loader" runs the last but one of its arguments. */
static const char loader[] = "#!/bin/sh\nexec sh \"$3\" \"$4\"\n";

struct agent {
	struct bu_bundle bundle;
	char *text; /* the list */
	char *program;
};

static struct agent
agent_of(const char *version, const char *program)
{
	struct agent agent = {.program = bu_xstrdup(program)};
	const char *const contents[] = {"#!/bin/sh\n", program, loader};
	static const char *const paths[] = {"agent", "bringup-agent",
					    "ld-linux-x86-64.so.2"};
	bu_autojson json_t *list = NULL;
	json_t *files = json_array();
	struct bu_err err = {0};

	for (size_t i = 0; i < BU_LEN(paths); i++) {
		char digest[BU_DIGEST_SIZE];

		bu_sha256_hex(contents[i], strlen(contents[i]), digest);
		json_array_append_new(files,
				      json_pack("{s:s,s:i,s:I,s:s}", "path", paths[i],
						"mode", 0755, "size_bytes",
						(json_int_t)strlen(contents[i]),
						"sha256", digest));
	}
	list = json_pack("{s:i,s:s,s:s,s:o}", "v", 1, "kind", "agent", "version",
			 version, "files", files);
	agent.text = json_dumps(list, JSON_COMPACT);
	ck_assert_msg(bu_bundle_parse(agent.text, strlen(agent.text), &agent.bundle,
				      &err) == 0,
		      "%s", err.text);
	return agent;
}

static void
agent_fini(struct agent *agent)
{
	bu_bundle_fini(&agent->bundle);
	free(agent->text);
	free(agent->program);
}

static int fetched;

static void *
fetch(void *arg, const struct bu_bundle_file *file, struct bu_err *err)
{
	const struct agent *agent = arg;

	fetched++;
	return bu_xstrdup(strcmp(file->path, "bringup-agent") == 0 ? agent->program
			  : strcmp(file->path, "agent") == 0       ? "#!/bin/sh\n"
								   : loader);
}

static int
fill(struct agent *agent, struct bu_err *err)
{
	const struct bu_slot_source source = {fetch, agent};

	return bu_slots_fill(dir, &agent->bundle, agent->text, &source, err);
}

static void
change(struct agent *agent)
{
	struct bu_err err = {0};

	ck_assert_msg(fill(agent, &err) == 0 &&
			      bu_slots_switch(dir, &agent->bundle, &err) == 0,
		      "%s", err.text);
}

/* A system whose installation brought the agent `old`. */
static struct agent
begin(void)
{
	struct agent old = agent_of("1", "echo old is here $1\n");
	struct bu_err err = {0};
	bu_autofree char *name = bu_xasprintf("slots/%.16s", old.bundle.digest);

	bu_log_init("slots_test", BU_LOG_ERROR);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	stop_at = 0;
	fetched = 0;
	setenv("BRINGUP_SLOTS", dir, 1);
	setenv("BRINGUP_TRIAL_S", "2", 1);
	run("cp " BU_SRCDIR "/images/build/recipes/agent $D/agent");
	ck_assert_msg(fill(&old, &err) == 0, "%s", err.text);
	setenv("SLOT", name, 1);
	run("ln -s $SLOT $D/current");
	starts("old is here --installed");
	return old;
}

static void
end(struct agent *a, struct agent *b)
{
	run("rm -rf $D");
	agent_fini(a);
	if (b)
		agent_fini(b);
}

static void
has_failed(const struct agent *agent, const char *why)
{
	bu_autojson json_t *failed = bu_slots_failed(dir);

	ck_assert_ptr_nonnull(failed);
	ck_assert_str_eq(bu_json_str(failed, "digest", ""), agent->bundle.digest);
	ck_assert_str_eq(bu_json_str(failed, "version", ""), agent->bundle.version);
	ck_assert_str_eq(bu_json_str(failed, "why", ""), why);
	bu_slots_told(dir);
	json_decref(bu_steal(&failed));
	failed = bu_slots_failed(dir);
	ck_assert_ptr_null(failed);
}

static int
slots(void)
{
	bu_autofree char *count = below("count");
	bu_autofree char *text = NULL;

	run("ls -A $D/slots | wc -l >$D/count");
	text = bu_file_read(count, 0, NULL, NULL);
	return atoi(text);
}

START_TEST(a_good_agent_stays)
{
	struct agent old = begin(), new = agent_of("2", "echo new is here $1\n");
	struct agent third = agent_of("3", "echo third is here\n");
	struct bu_err err = {0};

	fetched = 0;
	change(&new);
	/* The others are those of the slot that was current. */
	ck_assert_int_eq(fetched, 1);
	ck_assert_int_eq(bu_slots_on_trial(dir), 1);
	starts("new is here --installed");
	bu_slots_settle(dir);
	ck_assert_int_eq(bu_slots_on_trial(dir), 0);
	for (int i = 0; i < 5; i++)
		starts("new is here");
	ck_assert_int_eq(bu_slots_switch(dir, &new.bundle, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	starts("new is here");
	/* Two are kept. */
	change(&third);
	starts("third is here");
	/* Not before the trial is over: the way back leads to one of them. */
	run("mv $D/trial $D/kept && mkdir $D/trial");
	bu_slots_settle(dir);
	ck_assert_int_eq(bu_slots_on_trial(dir), 1);
	ck_assert_int_eq(slots(), 3);
	run("rmdir $D/trial && mv $D/kept $D/trial");
	bu_slots_settle(dir);
	ck_assert_int_eq(slots(), 2);
	run("grep -q third $D/current/bringup-agent && "
	    "grep -q new $D/previous/bringup-agent");
	starts("third is here");
	agent_fini(&third);
	end(&old, &new);
}
END_TEST

START_TEST(an_agent_that_ends_three_times_makes_way)
{
	struct agent old = begin(), bad = agent_of("2", "echo new fails; exit 1\n");

	change(&bad);
	for (int i = 0; i < 3; i++)
		starts("new fails");
	starts("old is here --installed");
	has_failed(&bad, "ended");
	ck_assert_int_eq(bu_slots_on_trial(dir), 0);
	starts("old is here");
	end(&old, &bad);
}
END_TEST

/* Also one whose loader is not there any more. */
START_TEST(an_agent_that_cannot_start_makes_way_at_once)
{
	struct agent old = begin(), bad = agent_of("2", "echo new\n");

	change(&bad);
	run("rm $D/current/ld-linux-x86-64.so.2");
	starts("old is here");
	end(&old, &bad);
}
END_TEST

START_TEST(an_agent_that_nobody_answers_makes_way)
{
	struct agent old = begin(),
		     bad = agent_of("2", "echo new hangs; mkfifo f; read x <f\n");

	change(&bad);
	setenv("BRINGUP_TRIAL_S", "1", 1);
	starts("new hangs");
	starts("old is here");
	has_failed(&bad, "silent");
	end(&old, &bad);
}
END_TEST

START_TEST(an_agent_at_work_may_take_its_time)
{
	struct agent old = begin(),
		     slow = agent_of("2", "echo work >>$BRINGUP_SLOTS/trial; "
					  "sleep 2.5; echo new worked\n");

	change(&slow);
	setenv("BRINGUP_TRIAL_S", "1", 1);
	starts("new worked");
	ck_assert_int_eq(bu_slots_on_trial(dir), 1);
	end(&old, &slow);
}
END_TEST

/* That it was heard of once, and even that it did something, is no reason to stay. */
START_TEST(an_agent_that_hangs_later_makes_way)
{
	struct agent old = begin(),
		     bad = agent_of("2", "echo work >>$BRINGUP_SLOTS/trial; sleep 1.5; "
					 "echo worked >>$BRINGUP_SLOTS/trial; "
					 "echo new hangs; mkfifo f; read x <f\n");

	change(&bad);
	setenv("BRINGUP_TRIAL_S", "1", 1);
	starts("new hangs");
	starts("old is here");
	has_failed(&bad, "silent");
	end(&old, &bad);
}
END_TEST

/* The way back of the second would be the first, of which nobody knows anything yet. */
START_TEST(a_change_waits_for_the_trial_before)
{
	struct agent old = begin(), bad = agent_of("2", "echo new fails; exit 1\n");
	struct agent third = agent_of("3", "echo third fails; exit 1\n");
	struct bu_err err = {0};

	change(&bad);
	starts("new fails");
	ck_assert_int_eq(fill(&third, &err), 0);
	ck_assert_int_eq(bu_slots_switch(dir, &third.bundle, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	starts("new fails");
	starts("new fails");
	starts("old is here");
	has_failed(&bad, "ended");
	change(&third);
	starts("third fails");
	agent_fini(&third);
	end(&old, &bad);
}
END_TEST

/* A disk that takes nothing more, as far as files go. */
START_TEST(an_agent_whose_starts_cannot_be_counted_makes_way)
{
	struct agent old = begin(), bad = agent_of("2", "echo new fails; exit 1\n");
	bu_autofree char *path = below("said"), *said = NULL;

	change(&bad);
	run("cd $D && sh -c 'trap \"\" XFSZ; ulimit -f 0; exec ./agent --installed' "
	    "2>&1 | cat >said");
	said = bu_file_read(path, 0, NULL, NULL);
	ck_assert_msg(strstr(said, "old is here --installed") != NULL, "%s", said);
	has_failed(&bad, "ended");
	end(&old, &bad);
}
END_TEST

/* The change in a process that is killed at its nth write; 1 when it was. */
static int
change_until(struct agent *agent, int nth)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		stop_at = nth;
		writes = 0;
		_exit(fill(agent, NULL) != 0 ||
		      bu_slots_switch(dir, &agent->bundle, NULL) != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* Wherever it was: one of both starts, whole; and when the new one is bad, the old one
 * comes back, whether or not its change had come to its end. */
START_TEST(a_stop_at_each_write_leaves_an_agent)
{
	int nth = 1, changed = 0, stopped = 1;

	for (; stopped; nth++) {
		struct agent old = begin(),
			     new = agent_of("2", "echo new is here; exit 1\n");
		bu_autofree char *said = NULL;

		stopped = change_until(&new, nth);
		said = start();
		changed += strstr(said, "new is here") != NULL;
		ck_assert_msg(strstr(said, "is here") != NULL, "write %d: %s", nth,
			      said);
		for (int i = 0; i < 3; i++)
			free(start());
		starts("old is here");
		/* And another try comes to its end. */
		ck_assert_int_eq(change_until(&new, 0), 0);
		starts("new is here");
		end(&old, &new);
	}
	ck_assert_int_gt(nth, 12);
	/* Only after the last of its writes but one: before, the old one ran. */
	ck_assert_int_ge(changed, 1);
	ck_assert_int_le(changed, 3);
}
END_TEST

/* The way back is cut off as well. */
START_TEST(a_stop_on_the_way_back_leads_back)
{
	struct agent old = begin(), bad = agent_of("2", "echo new fails; exit 1\n");

	change(&bad);
	for (int i = 0; i < 3; i++)
		starts("new fails");
	/* After the link, before the mark of the trial has gone. */
	run("cd $D && ln -sfn \"$(readlink previous)\" current");
	starts("old is here");
	has_failed(&bad, "ended");
	end(&old, &bad);
}
END_TEST

START_TEST(bytes_that_were_not_signed_are_not_used)
{
	struct agent old = begin(), new = agent_of("2", "echo new is here\n");
	struct bu_err err = {0};

	new.program[5] = 'N';
	ck_assert_int_eq(fill(&new, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(err.text, "bringup-agent"));
	ck_assert_int_eq(slots(), 2); /* and what is begun has no slot's name */
	starts("old is here");
	end(&old, &new);
}
END_TEST

/* A slot that was filled before is not fetched again, unless its bytes have changed. */
START_TEST(a_whole_slot_is_kept)
{
	struct agent old = begin(), new = agent_of("2", "echo new is here\n");
	struct bu_err err = {0};
	int before;

	ck_assert_int_eq(fill(&new, &err), 0);
	before = fetched;
	ck_assert_int_eq(fill(&new, &err), 0);
	ck_assert_int_eq(fetched, before);
	for (size_t i = 0; i < new.bundle.files_count; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/slots/%.16s/%s", dir, new.bundle.digest,
				     new.bundle.files[i].path);

		ck_assert_int_eq(bu_file_write_text(path, 0755, &err, "other bytes"),
				 0);
		ck_assert_int_eq(fill(&new, &err), 0);
		ck_assert_int_eq(fetched, ++before); /* the others are the old one's */
	}
	end(&old, &new);
}
END_TEST

/* Nothing that fails on the way is called done: the agent that runs goes on, and when
 * it comes back to it, the other one starts. */
START_TEST(a_write_that_fails_ends_the_change)
{
	int nth = 1, failed = 1;

	for (; failed; nth++) {
		struct agent old = begin(),
			     new = agent_of("2", "echo new is here; exit 1\n");
		struct bu_err err = {0};
		int rc;

		writes = 0;
		fail_at = nth;
		rc = fill(&new, &err);
		if (rc == 0)
			rc = bu_slots_switch(dir, &new.bundle, &err);
		failed = writes >= nth;
		fail_at = 0;
		ck_assert_msg(rc == (failed ? -1 : 0), "write %d: %s", nth, err.text);
		if (failed) {
			ck_assert_int_eq(err.kind, BU_ERR_IO);
			for (int i = 0; i < 4; i++)
				free(start());
			starts("old is here");
			ck_assert_int_eq(change_until(&new, 0), 0);
		}
		starts("new is here");
		end(&old, &new);
	}
	ck_assert_int_gt(nth, 12);
}
END_TEST

START_TEST(without_a_current_one_there_is_no_change)
{
	struct agent old = begin(), new = agent_of("2", "echo new is here\n");
	struct bu_err err = {0};

	run("rm $D/current");
	ck_assert_int_eq(bu_slots_switch(dir, &new.bundle, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text, "no agent is current") != NULL, "%s", err.text);
	ck_assert_int_eq(bu_slots_on_trial(dir), 0);
	end(&old, &new);
}
END_TEST

static int
warns_of_told(void)
{
	bu_autofree char *path = below("log"), *text = NULL;
	int kept = dup(2), rc;

	fflush(NULL);
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	bu_log_init("slots_test", BU_LOG_WARN);
	bu_slots_told(dir);
	fflush(NULL);
	ck_assert_int_eq(dup2(kept, 2), 2);
	close(kept);
	text = bu_file_read(path, 0, NULL, NULL);
	rc = *text != '\0';
	ck_assert_msg(!rc || strstr(text, "/back' stays") != NULL, "%s", text);
	return rc;
}

/* A mark that says nothing is none; one that stays would be told for ever. */
START_TEST(a_trial_that_failed_is_told_once)
{
	struct agent old = begin();

	ck_assert_int_eq(warns_of_told(), 0);
	run("echo half >$D/back");
	ck_assert_ptr_null(bu_slots_failed(dir));
	ck_assert_int_eq(warns_of_told(), 0);
	run("test ! -e $D/back && mkdir $D/back");
	ck_assert_int_eq(warns_of_told(), 1);
	end(&old, NULL);
}
END_TEST

BU_UNIT("slots", a_whole_slot_is_kept, a_good_agent_stays,
	a_write_that_fails_ends_the_change, without_a_current_one_there_is_no_change,
	a_trial_that_failed_is_told_once, an_agent_that_ends_three_times_makes_way,
	an_agent_that_cannot_start_makes_way_at_once,
	an_agent_that_nobody_answers_makes_way, an_agent_at_work_may_take_its_time,
	an_agent_that_hangs_later_makes_way, a_change_waits_for_the_trial_before,
	an_agent_whose_starts_cannot_be_counted_makes_way,
	a_stop_at_each_write_leaves_an_agent, a_stop_on_the_way_back_leads_back,
	bytes_that_were_not_signed_are_not_used)
