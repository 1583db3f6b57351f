/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Man pages from the tables of commands and options: bringup(1) with all commands, and
 * one page per group of two words. Called by main.c when the programs are built.
 * Invariant: no text of a table reaches roff unescaped.
 */
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/table.h"

/* A text inside a line: roff reads no escape and no request in it. */
static void
print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\'')
			fputs("\\(aq", out);
		else
			fputc(*text, out);
	}
}

static void
print_line(FILE *out, const char *request, const char *text)
{
	fprintf(out, "%s\\&", request);
	print_text(out, text);
	fputc('\n', out);
}

/* The length of the group's name in the command's: "node" of "node why"; 0 = none. */
static size_t
group_size(const struct bu_command *command)
{
	const char *space = strchr(command->name, ' ');

	return space ? (size_t)(space - command->name) : 0;
}

static int
is_in(const struct bu_command *command, const char *group)
{
	size_t size = group_size(command);

	return size && strlen(group) == size &&
	       strncmp(command->name, group, size) == 0;
}

static void
print_examples(FILE *out, const struct bu_command *command)
{
	const char *line = bu_command_examples(command);

	if (!line)
		return;
	fputs(".PP\n.nf\n", out);
	while (*line) {
		size_t size = strcspn(line, "\n");
		bu_autofree char *text =
			bu_xasprintf("    bringup %.*s", (int)size, line);

		print_line(out, "", text);
		line += size + (line[size] == '\n');
	}
	fputs(".fi\n", out);
}

static void
print_options(FILE *out, uint64_t options)
{
	const char *help;
	char *text;

	for (size_t at = 0; (text = bu_options_next(options, &at, &help)); free(text)) {
		fputs(".TP\n", out);
		print_line(out, ".B ", text);
		print_line(out, "", help);
	}
}

static void
print_command(FILE *out, const struct bu_command *command)
{
	bu_autofree char *title =
		bu_xasprintf("\"bringup %s%s%s%s\"", command->name,
			     command->options ? " [options]" : "",
			     *command->args ? " " : "", command->args);

	fputs(".SS ", out);
	print_text(out, title);
	fputc('\n', out);
	print_line(out, "", command->help);
	print_options(out, command->options);
	print_examples(out, command);
}

static void
print_head(FILE *out, const char *name, const char *what)
{
	fprintf(out, ".TH %s 1 \"\" \"bringup " BU_VERSION "\" \"bringup\"\n.SH NAME\n",
		name);
	fputs(name, out);
	fputs(" \\- ", out);
	print_text(out, what);
	fputc('\n', out);
}

static void
print_exit_codes(FILE *out)
{
	fputs(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nwrong usage\n.TP\n2\nthere are "
	      "changes (plan \\-\\-detailed\\-exitcode)\n",
	      out);
#define X(id, name, http, code)                                                        \
	if ((code) > BU_EXIT_CHANGES)                                                  \
		fprintf(out, ".TP\n%d\n%s\n", code, name);
	BU_ERRS(X)
#undef X
}

/* Each group once, at its first command. */
static int
begins_group(const struct bu_commands *commands, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (group_size(&commands->rows[i]) == group_size(&commands->rows[at]) &&
		    strncmp(commands->rows[i].name, commands->rows[at].name,
			    group_size(&commands->rows[at])) == 0)
			return 0;
	return group_size(&commands->rows[at]) > 0;
}

static void
print_main(const struct bu_commands *commands, FILE *out)
{
	print_head(out, "bringup", "bare-metal GPU cluster provisioning");
	fputs(".SH SYNOPSIS\n.B bringup\nCOMMAND [options] ...\n.SH DESCRIPTION\n"
	      "bringup powers, boots, images and proves the machines that profiles "
	      "describe, and\nlets them join their cluster. The commands speak with\n"
	      ".BR bringupd .\n.SH COMMANDS\n",
	      out);
	for (size_t i = 0; i < commands->count; i++)
		if (!group_size(&commands->rows[i]))
			print_command(out, &commands->rows[i]);
	fputs(".SH GROUPS\n", out);
	for (size_t i = 0; i < commands->count; i++)
		if (begins_group(commands, i))
			fprintf(out, ".TP\n.BR bringup\\-%.*s (1)\n",
				(int)group_size(&commands->rows[i]),
				commands->rows[i].name);
	fputs(".SH NODESETS\ngpu[001\\-128,200], @pool, state=ready, rack=r1*, "
	      "image=NAME;\na,b both; a!b a without b; a&b in both; a^b in exactly "
	      "one.\n",
	      out);
	fputs(".SH ENVIRONMENT\n.TP\nBRINGUP_SOCKET\nsocket of bringupd, unless "
	      "\\-\\-socket is given\n.TP\nBRINGUP_CONTEXT\nappliance that\n.B bringup "
	      "login\nkeeps by this name, unless \\-\\-context, \\-\\-socket or "
	      "BRINGUP_SOCKET is given\n",
	      out);
	print_exit_codes(out);
}

int
bu_man_print(const struct bu_commands *commands, const char *group, FILE *out)
{
	bu_autofree char *name = group ? bu_xasprintf("bringup\\-%s", group) : NULL;
	bu_autofree char *what = NULL;
	int found = 0;

	if (!group) {
		print_main(commands, out);
		return 0;
	}
	for (size_t i = 0; i < commands->count; i++)
		found |= is_in(&commands->rows[i], group);
	if (!found)
		return -1;
	what = bu_xasprintf("commands of bringup %s", group);
	print_head(out, name, what);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; i < commands->count; i++)
		if (is_in(&commands->rows[i], group))
			print_command(out, &commands->rows[i]);
	print_exit_codes(out);
	fputs(".SH SEE ALSO\n.BR bringup (1)\n", out);
	return 0;
}
