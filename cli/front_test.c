/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as it is installed, from outside: hints for mistyped words, examples
 * that parse, man pages, completion of shells. Runs the built program.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/text.h"
#include "tests/support/unit.h"

/* Output and errors of a shell command; owned. */
static char *
told_by(const char *command, int *ret_status)
{
	bu_autofree char *line = bu_xasprintf("%s 2>&1", command);
	char *text = NULL, buffer[4096];
	FILE *pipe = popen(line, "r");

	ck_assert_ptr_nonnull(pipe);
	while (fgets(buffer, sizeof(buffer), pipe))
		bu_text_add(&text, "", "%s", buffer);
	*ret_status = WEXITSTATUS(pclose(pipe));
	return text ? text : bu_xstrdup("");
}

START_TEST(a_mistyped_word_is_named_with_the_nearest)
{
	static const char *const rows[][2] = {
		{"statsu", "unknown command 'statsu' (did you mean 'status'?)"},
		{"node lsit",
		 "unknown command 'node lsit' (did you mean 'node list'?)"},
		{"nod why n1", "unknown command 'nod why' (did you mean 'node why'?)"},
		{"frobnicate", "unknown command 'frobnicate'; see bringup --help"},
		{"apply --wiat", "apply: unknown option --wiat (did you mean 'wait'?)"},
		{"apply --grnat=wipe", "--grnat=wipe (did you mean 'grant'?)"},
		{"status --frob", "status: unknown option --frob\n"},
		{"man nod", "man 'nod': there is no such group"},
		{"completion fish", "completion 'fish': give bash or zsh"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *command = bu_xasprintf("./bringup %s", rows[i][0]);
		int status;
		bu_autofree char *text = told_by(command, &status);

		ck_assert_int_eq(status, 1);
		ck_assert_msg(strstr(text, rows[i][1]) != NULL, "%s: %s", rows[i][0],
			      text);
	}
}
END_TEST

/* Each command's help, and each example in it with --help behind it: that parses all of
 * its words, and does nothing. */
START_TEST(examples_are_what_the_parser_takes)
{
	static const char script[] =
		"for c in check plan apply status events 'node list' 'node why' "
		"'node rebuild' 'rollout show' 'fabric run'; do "
		"./bringup help $c | sed -n '/^examples:/,$p' | sed 1d; done >ex.$$; "
		"n=0; while read -r line; do n=$((n+1)); "
		"eval \"set -- $(printf '%s' \"${line#bringup }\" | sed 's/[][!*]/\\\\&/g')\"; "
		"./bringup \"$@\" --help >/dev/null || { echo \"$line\"; exit 1; }; "
		"done <ex.$$; rm -f ex.$$; [ $n -gt 10 ]";
	int status;
	bu_autofree char *text = told_by(script, &status);

	ck_assert_msg(status == 0, "%s", text);
}
END_TEST

START_TEST(man_finds_nothing_to_warn_of)
{
	static const char *const groups[] = {"",      "node",  "rollout", "fabric",
					     "audit", "token", "profile", "-m"};

	BU_NEEDS("man", "groff");
	for (size_t i = 0; i < BU_LEN(groups); i++) {
		bu_autofree char *command = bu_xasprintf(
			"f=man.$$; %s %s >$f && MANWIDTH=72 man "
			"--warnings=w -l $f >/dev/null; s=$?; rm -f $f; exit $s",
			strcmp(groups[i], "-m") == 0 ? "./bringupd" : "./bringup man",
			groups[i]);
		int status;
		bu_autofree char *text = told_by(command, &status);

		ck_assert_msg(status == 0 && !*text, "%s: %s", groups[i], text);
	}
}
END_TEST

START_TEST(bash_completes_commands_and_options)
{
	static const char *const rows[][2] = {
		{"bringup stat", "status"},          {"bringup node wh", "why"},
		{"bringup rollout ab", "abort"},     {"bringup apply --wa", "--wait"},
		{"bringup node why --js", "--json"},
	};

	BU_NEEDS("bash");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *command = bu_xasprintf(
			"bash -euc 'source <(./bringup completion bash); "
			"COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
			"_bringup; echo \"${COMPREPLY[*]}\"'",
			rows[i][0]);
		bu_autofree char *want = bu_xasprintf("%s\n", rows[i][1]);
		int status;
		bu_autofree char *text = told_by(command, &status);

		ck_assert_str_eq(text, want);
	}
}
END_TEST

START_TEST(zsh_reads_its_completion)
{
	int status;
	bu_autofree char *text = NULL;

	BU_NEEDS("zsh");
	text = told_by("./bringup completion zsh >c.$$ && zsh -n c.$$; s=$?; "
		       "rm -f c.$$; exit $s",
		       &status);
	ck_assert_msg(status == 0, "%s", text);
}
END_TEST

BU_UNIT("front", a_mistyped_word_is_named_with_the_nearest,
	examples_are_what_the_parser_takes, man_finds_nothing_to_warn_of,
	bash_completes_commands_and_options, zsh_reads_its_completion)
