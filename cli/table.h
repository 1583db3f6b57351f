/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands. The parser, `bringup help`, the man pages and the completion
 * of shells are made from it.
 */
#ifndef BU_CLI_TABLE_H
#define BU_CLI_TABLE_H

#include "cli/options.h"

struct bu_command {
	const char *name; /* one or two words */
	const char *args;
	const char *help;
	int min_args, max_args;
	uint64_t options;
	int (*fn)(const struct bu_options *options, struct bu_err *err);
	int (*raw)(int argc, char **argv); /* instead of fn: has options of its own */
};

struct bu_commands {
	const struct bu_command *rows;
	size_t count;
};

/* Example lines of a command for its help and its man page, one per line, without
 * "bringup"; NULL = none. */
const char *bu_command_examples(const struct bu_command *command);

/* man.c. The page of a group ("node"), or bringup(1) for NULL, as roff. -1 = no such
 * group. */
int bu_man_print(const struct bu_commands *commands, const char *group, FILE *out);
/* bringup-profile(5), as roff. */
void bu_man_print_profile(FILE *out);
/* completion.c. The script of a shell, "bash" or "zsh". -1 = another shell. */
int bu_completion_print(const struct bu_commands *commands, const char *shell,
			FILE *out);

#endif
