/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion for bash and zsh from the tables of commands and options; names of nodes
 * come from bringupd while a person types. Called by main.c.
 */
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/table.h"

/* "--json --socket -o " of a command. */
static void
print_words(FILE *out, const struct bu_command *command)
{
	const char *help;
	char *text;

	for (size_t at = 0; (text = bu_options_next(command->options, &at, &help));
	     free(text))
		fprintf(out, "%.*s ", (int)strcspn(text, " "), text);
}

/* bash: each command with its options, and the words that may come next. */
static void
print_bash(const struct bu_commands *commands, FILE *out)
{
	fputs("# Completion of bringup for bash, made by `bringup completion bash`.\n"
	      "_bringup_nodes() {\n"
	      "\tbringup node list --json 2>/dev/null |\n"
	      "\t\tgrep -o '\"name\": *\"[^\"]*\"' | cut -d'\"' -f4\n"
	      "}\n"
	      "_bringup() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} options= nodes=\n"
	      "\tlocal typed=\"${COMP_WORDS[*]:1:COMP_CWORD-1}\"\n"
	      "\tlocal -a commands=(\n",
	      out);
	for (size_t i = 0; i < commands->count; i++)
		fprintf(out, "\t\t'%s'\n", commands->rows[i].name);
	fputs("\t)\n\tcase \"$typed \" in\n", out);
	for (size_t i = 0; i < commands->count; i++) {
		const struct bu_command *command = &commands->rows[i];

		fprintf(out, "\t'%s '*) options='", command->name);
		print_words(out, command);
		fprintf(out, "--help'; nodes=%s ;;\n",
			strstr(command->args, "NODE") ? "yes" : "");
	}
	fputs("\tesac\n"
	      "\tif [[ -z $options ]]; then\n"
	      "\t\tlocal command\n"
	      "\t\tfor command in \"${commands[@]}\"; do\n"
	      "\t\t\tif [[ -z $typed ]]; then\n"
	      "\t\t\t\toptions+=\" ${command%% *}\"\n"
	      "\t\t\telif [[ $command == \"$typed \"* ]]; then\n"
	      "\t\t\t\toptions+=\" ${command#\"$typed \"}\"\n"
	      "\t\t\tfi\n"
	      "\t\tdone\n"
	      "\telif [[ -n $nodes && $word != -* ]]; then\n"
	      "\t\toptions+=\" $(_bringup_nodes)\"\n"
	      "\tfi\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
	      "}\n"
	      "complete -o default -F _bringup bringup\n",
	      out);
}

int
bu_completion_print(const struct bu_commands *commands, const char *shell, FILE *out)
{
	int is_zsh = strcmp(shell, "zsh") == 0;

	if (!is_zsh && strcmp(shell, "bash") != 0)
		return -1;
	/* zsh reads the functions of bash. */
	if (is_zsh)
		fputs("#compdef bringup\nautoload -U +X bashcompinit && "
		      "bashcompinit\n",
		      out);
	print_bash(commands, out);
	return 0;
}
