/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Man pages from the tables of commands and options: bringup(1) with all commands, and
 * one page per group of two words; bringup-profile(5) from the schema. Called by main.c
 * when the programs are built. Invariant: texts of tables are printed by base/roff.h
 * alone.
 */
#include <string.h>

#include "base/err.h"
#include "base/roff.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/table.h"
#include "profiles/language/schema.h"

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

		bu_roff_line(out, "", text);
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
		bu_roff_line(out, ".B ", text);
		bu_roff_line(out, "", help);
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
	bu_roff_text(out, title);
	fputc('\n', out);
	bu_roff_line(out, "", command->help);
	print_options(out, command->options);
	print_examples(out, command);
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
	bu_roff_head(out, "bringup", 1, "bare-metal GPU cluster provisioning");
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

/* --- bringup-profile(5) --- */

static void
print_key(FILE *out, const struct bu_key *key)
{
	const char *given = bu_key_default(key);
	bu_autofree char *allowed = bu_key_allowed(key);
	bu_autofree char *title =
		bu_xasprintf("%s = %s", key->key, given ? given : "...");

	fputs(".TP\n", out);
	bu_roff_line(out, ".B ", title);
	bu_roff_line(out, "", key->help);
	fputs(".br\n", out);
	bu_roff_line(out, "", allowed);
	if (bu_key_required(key))
		fputs("(required)\n", out);
}

static void
print_kind(FILE *out, const struct bu_section_kind *kind)
{
	bu_autofree char *title =
		bu_xasprintf("\"[%s%s%s]\"", kind->kind, kind->named ? " " : "",
			     kind->named ? "NAME" : "");
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	fputs(".SS ", out);
	bu_roff_text(out, title);
	fputc('\n', out);
	bu_roff_line(out, "", kind->help);
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].section, kind->kind) == 0)
			print_key(out, &keys[i]);
}

void
bu_man_print_profile(FILE *out)
{
	size_t count;
	const struct bu_section_kind *kinds = bu_schema_kinds(&count);

	bu_roff_head(out, "bringup-profile", 5,
		     "profiles of bringup: what the cluster is");
	fputs(".SH DESCRIPTION\nA profile is a folder of INI files, site.ini first.\n"
	      ".B bringup check\nreads it and reports every mistake.\n"
	      "A key shows its default; the line below its meaning is what is "
	      "allowed.\n.SH SECTIONS\n",
	      out);
	for (size_t i = 0; i < count; i++)
		print_kind(out, &kinds[i]);
	fputs(".SH SEE ALSO\n.BR bringup (1),\n.BR bringupd.conf (5)\n", out);
}

int
bu_man_print(const struct bu_commands *commands, const char *group, FILE *out)
{
	bu_autofree char *name = group ? bu_xasprintf("bringup-%s", group) : NULL;
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
	bu_roff_head(out, name, 1, what);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; i < commands->count; i++)
		if (is_in(&commands->rows[i], group))
			print_command(out, &commands->rows[i]);
	print_exit_codes(out);
	fputs(".SH SEE ALSO\n.BR bringup (1)\n", out);
	return 0;
}
