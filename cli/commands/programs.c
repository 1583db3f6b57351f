/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that are programs of their own. Called by the table of commands in main.c.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands/commands.h"

/* Comes back with the exit code of an error. word: the first of the program's own; NULL
 * = the words as they are. */
static int
hand_over(const char *program, const char *word, int argc, char **argv)
{
	bu_autofree char *path = bu_program_path(program);
	bu_autofree char **words = bu_xcalloc((size_t)argc + 2, sizeof(*words));
	bu_autofree char *first = word ? bu_xstrdup(word) : NULL;

	memcpy(words + (word ? 1 : 0), argv, (size_t)argc * sizeof(*words));
	if (word)
		words[1] = first;
	words[0] = path;
	execv(path, words);
	fprintf(stderr, "bringup: %s: %m\n", path);
	return bu_err_exit_code(BU_ERR_IO);
}

int
bu_cmd_lab(int argc, char **argv)
{
	return hand_over("bringup-lab", NULL, argc, argv);
}

int
bu_cmd_restore(int argc, char **argv)
{
	return hand_over("bringup-backup", "restore", argc, argv);
}
