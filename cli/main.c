/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup: the command line. The table below is all of it: dispatch, `--help` and
 * `help CMD` loop over its rows. What a command cannot do is said here, in one form:
 * "bringup: <text>" on standard error and the exit code of the error's kind.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/commands/node_verbs.h"
#include "cli/render/output.h"
#include "cli/table.h"
#include "profiles/language/schema.h"

#define BIT BU_OPTION_BIT
#define SOURCE (BIT(GIT) | BIT(REF) | BIT(PATH) | BIT(ONLY) | BIT(RESTART))
#define REACH (BIT(SOCKET) | BIT(CONTEXT))
#define LOGIN (BIT(TOKEN_STDIN) | BIT(OIDC) | BIT(ISSUER_CA))
#define LISTING (BIT(OUTPUT) | BIT(JSON) | REACH)

#define VERB (LISTING | BIT(REASON) | BIT(DRY_RUN))
#define TAKES_NOTHING 0
#define TAKES_GRANT BIT(GRANT)
#define TAKES_FORCE BIT(FORCE)

#define X(id, name, args, states, takes, help)                                         \
	static int verb_##id(const struct bu_options *options, struct bu_err *err)     \
	{                                                                              \
		return bu_cmd_node_verb(BU_VERB_##id, options, err);                   \
	}
BU_VERBS(X)
#undef X

static int print_completion(const struct bu_options *options, struct bu_err *err);
static int print_man(const struct bu_options *options, struct bu_err *err);

static int
print_version(const struct bu_options *options, struct bu_err *err)
{
	(void)options;
	(void)err;
	puts("bringup " BU_VERSION);
	return 0;
}

static const struct bu_command commands[] = {
	{"check", "DIR", "read a profile tree and report every mistake in it", 1, 1,
	 BIT(JSON), bu_cmd_check, NULL},
	{"plan", "[DIR]", "what an apply would do to which node, and why", 0, 1,
	 LISTING | SOURCE | BIT(OUT) | BIT(DETAILED), bu_cmd_plan, NULL},
	{"apply", "[DIR|FILE]",
	 "make it so: plan, ask, order (FILE comes from plan --out)", 0, 1,
	 LISTING | SOURCE | BIT(YES) | BIT(GRANT) | BIT(WAIT) | BIT(TIMEOUT),
	 bu_cmd_apply, NULL},
	{"export", "[DIR]", "a checked profile tree as JSON, or for other services", 0,
	 1, BIT(JSON) | BIT(ANSIBLE) | BIT(SCHEMA) | BIT(HOSTS) | BIT(DNS) | BIT(NTP),
	 bu_cmd_export, NULL},
	{"import", "DIR", "write a profile tree of the machines that were seen", 1, 1,
	 REACH, bu_cmd_import, NULL},
	{"status", "", "nodes, measured pairs and the rollout", 0, 0,
	 LISTING | BIT(WATCH), bu_cmd_status, NULL},
	{"events", "", "what is in the log", 0, 0,
	 LISTING | BIT(FOLLOW) | BIT(LIMIT) | BIT(NODE), bu_cmd_events, NULL},
	{"audit verify", "",
	 "whether a row or blob of the log is missing or was changed", 0, 0,
	 BIT(OUTPUT) | BIT(JSON) | REACH | BIT(ANCHOR), bu_cmd_audit_verify, NULL},
	{"audit anchor", "", "print what the log ends with, signed; keep it elsewhere",
	 0, 0, REACH, bu_cmd_audit_anchor, NULL},
	{"backup keygen", "FILE",
	 "make the pair that backups are sealed and opened with", 1, 1, 0,
	 bu_cmd_backup_keygen, NULL},
	{"backup", "", "back up the log of the running appliance, sealed", 0, 0,
	 BIT(TO) | BIT(WITH_KEYS) | BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_backup,
	 NULL},
	{"restore", "FILE ...",
	 "make a state directory from a backup, without a daemon; --help says more", 0,
	 0, 0, NULL, bu_cmd_restore},
	{"init", "",
	 "make a state directory from the profile and the site key, without a daemon; "
	 "nodes that run are adopted",
	 0, 0,
	 BIT(FROM) | BIT(REF) | BIT(PATH) | BIT(STATE) | BIT(SITE_KEY) | BIT(IDENTITY) |
		 BIT(SHEET),
	 bu_cmd_init, NULL},
	{"site take-over", "",
	 "say that this appliance leads the site, after a restore or where another "
	 "one was seen; first see that the other one is off",
	 0, 0, BIT(REASON) | REACH, bu_cmd_site_take_over, NULL},
	{"rekey status", "",
	 "the change of the appliance's CA, and the nodes that it waits for", 0, 0,
	 REACH, bu_cmd_rekey_status, NULL},
	{"rekey begin", "",
	 "make another CA and secret of tokens, and tell the CA to the agents", 0, 0,
	 BIT(REASON) | REACH, bu_cmd_rekey_begin, NULL},
	{"rekey switch", "", "issue by the new CA; agents renew their certificates", 0,
	 0, BIT(REASON) | BIT(FORCE) | REACH, bu_cmd_rekey_switch, NULL},
	{"rekey finish", "",
	 "trust the old CA no more; before the switch: take it back", 0, 0,
	 BIT(REASON) | BIT(FORCE) | REACH, bu_cmd_rekey_finish, NULL},
	{"start", "",
	 "after a power loss: switch the machines of the site on, in the profile's order; "
	 "nothing is switched off",
	 0, 0, BIT(YES) | BIT(NEXT) | BIT(ABORT) | BIT(REASON) | REACH, bu_cmd_start,
	 NULL},
	{"node list", "[NODESET]", "nodes, all or these", 0, 1, LISTING | BIT(UNKNOWN),
	 bu_cmd_node_list, NULL},
	{"node show", "NODESET", "a node, its hardware and its certificates", 1, 1,
	 LISTING | BIT(ORIGIN), bu_cmd_node_show, NULL},
	{"node why", "NODESET", "why a node is where it is, and what comes next", 1, 1,
	 LISTING, bu_cmd_node_why, NULL},
	{"node console", "NODE",
	 "what its machine wrote to its serial console; nothing is sent to it", 1, 1,
	 BIT(FOLLOW) | BIT(LINES) | BIT(RAW) | REACH, bu_cmd_node_console, NULL},
	{"node events", "NODE", "the newest entries of its BMC's event logs, asked now",
	 1, 1, BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_node_events, NULL},
	{"node sensors", "NODE", "temperatures, fans, power, as its BMC reads them now",
	 1, 1, BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_node_sensors, NULL},
	{"node firmware", "NODE", "firmware versions of its machine, as its BMC says",
	 1, 1, BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_node_firmware, NULL},
#define X(id, name, args, states, takes, help)                                         \
	{                                                                              \
		"node " name,                                                          \
		args,                                                                  \
		help,                                                                  \
		BU_VERB_ARGS(args),                                                    \
		BU_VERB_ARGS(args),                                                    \
		VERB | TAKES_##takes,                                                  \
		verb_##id,                                                             \
		NULL},
	BU_VERBS(X)
#undef X
		{"rollout list", "", "applied plans, newest first", 0, 0,
		 BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_rollout_list, NULL},
	{"rollout show", "[ID]",
	 "one of them (the newest): pools, nodes and what they wait for", 0, 1, LISTING,
	 bu_cmd_rollout_show, NULL},
	{"rollout pause", "ID", "start no further node; nodes under way go on", 1, 1,
	 REACH, bu_cmd_rollout_pause, NULL},
	{"rollout resume", "ID", "go on, even after it has stopped itself", 1, 1, REACH,
	 bu_cmd_rollout_resume, NULL},
	{"rollout abort", "ID",
	 "withdraw what has not started, cancel what still can be", 1, 1, REACH,
	 bu_cmd_rollout_abort, NULL},
	{"pool list", "", "pools: how many nodes are in service, wanted and allowed", 0,
	 0, LISTING, bu_cmd_pool_list, NULL},
	{"pool scale", "NAME NUMBER",
	 "have so many nodes of a pool in service; idle ones leave first", 2, 2,
	 BIT(OUTPUT) | BIT(JSON) | BIT(REASON) | REACH, bu_cmd_pool_scale, NULL},
	{"fabric run", "NODESET",
	 "measure nodes against each other again, but for those with jobs; their "
	 "states stay",
	 1, 1, BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_fabric_run, NULL},
	{"fabric show", "[NODE]",
	 "measured pairs with verdicts; of a node, all that was found on it", 0, 1,
	 LISTING, bu_cmd_fabric_show, NULL},
	{"fabric matrix", "[NODESET]", "rates of the last probes, sender by receiver",
	 0, 1, BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_fabric_matrix, NULL},
	{"fabric certificate", "NODE", "the certificates of a node", 1, 1, LISTING,
	 bu_cmd_fabric_certificate, NULL},
	{"fabric topology", "[slurm|blocks|yaml|labels]",
	 "which switch port each node is cabled to; also in the formats of schedulers",
	 0, 1, LISTING, bu_cmd_fabric_topology, NULL},
	{"fabric rehearse", "[--model ...]",
	 "what a campaign would find on a model of a fabric; --help says more", 0, 0, 0,
	 NULL, bu_cmd_fabric_rehearse},
	{"login", "URL", "keep a login for an appliance on another machine", 1, 1,
	 LOGIN | BIT(CA) | BIT(FINGERPRINT) | BIT(CERT) | BIT(KEY_FILE) | BIT(CONTEXT),
	 bu_cmd_login, NULL},
	{"token create", "NAME", "print a token for a person or program, once", 1, 1,
	 BIT(ROLE) | BIT(FOR) | BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_token_create,
	 NULL},
	{"token list", "", "tokens: whose, of which role, until when", 0, 0,
	 BIT(OUTPUT) | BIT(JSON) | REACH, bu_cmd_token_list, NULL},
	{"token revoke", "NAME", "let a token open nothing any more", 1, 1, REACH,
	 bu_cmd_token_revoke, NULL},
	{"cluster manifest", "NAME",
	 "what a Kubernetes cluster must allow bringup, for kubectl apply", 1, 1, 0,
	 bu_cmd_cluster_manifest, NULL},
	{"image", "VERB ...", "build and inspect images; see bringup image help", 0, 0,
	 0, NULL, bu_cmd_image},
	{"lab", "VERB ...", "a virtual rack on this machine; see bringup lab --help", 0,
	 0, 0, NULL, bu_cmd_lab},
	{"completion", "bash|zsh",
	 "completion for a shell: source <(bringup completion bash)", 1, 1, 0,
	 print_completion, NULL},
	{"man", "[GROUP]", "the manual page of bringup, a group or profile, for man -l",
	 0, 1, 0, print_man, NULL},
	{"version", "", "the version of this program", 0, 0, 0, print_version, NULL},
};
static const struct bu_commands table = {commands, BU_LEN(commands)};

static int
print_completion(const struct bu_options *options, struct bu_err *err)
{
	if (bu_completion_print(&table, options->args[0], stdout) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_USAGE, 0, "completion '%s': give bash or zsh",
			  options->args[0]);
}

static int
print_man(const struct bu_options *options, struct bu_err *err)
{
	const char *group = options->args_count ? options->args[0] : NULL;

	if (group && strcmp(group, "profile") == 0) {
		bu_man_print_profile(stdout);
		return 0;
	}
	if (bu_man_print(&table, group, stdout) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "man '%s': there is no such group; see bringup --help",
			  group);
}

static void
print_usage(const struct bu_command *command, FILE *out)
{
	bu_autofree char *text = bu_xasprintf("%s %s", command->name, command->args);

	fprintf(out, "  %-26s  %s\n", text, command->help);
}

static void
print_help(FILE *out)
{
	fputs("usage: bringup COMMAND ...\n\n", out);
	for (size_t i = 0; i < BU_LEN(commands); i++)
		print_usage(&commands[i], out);
	fputs("\n"
	      "`bringup help COMMAND` shows the options of a command.\n"
	      "NODESET: gpu[001-128,200], @pool, state=ready, rack=r1*, image=NAME;\n"
	      "a,b both; a!b a without b; a&b in both; a^b in exactly one.\n"
	      "bringupd is reached over its unix socket: --socket PATH, else\n"
	      "$BRINGUP_SOCKET, else $BRINGUP_RACK/run/bringup/sock when "
	      "BRINGUP_RACK\n"
	      "is set, else /run/bringup/sock. From another machine: --context NAME or\n"
	      "$BRINGUP_CONTEXT, an appliance that `bringup login` keeps.\n"
	      "Exit codes: 0 done; 1 wrong usage; 2 changes (plan --detailed-exitcode)",
	      out);
#define X(id, name, http, code)                                                        \
	if ((code) > BU_EXIT_CHANGES)                                                  \
		fprintf(out, "; %d %s", code, name);
	BU_ERRS(X)
#undef X
	fputs(".\n", out);
}

static void
print_examples(const struct bu_command *command, FILE *out)
{
	const char *line = bu_command_examples(command);

	if (line)
		fputs("\nexamples:\n", out);
	while (line && *line) {
		size_t size = strcspn(line, "\n");

		fprintf(out, "  bringup %.*s\n", (int)size, line);
		line += size + (line[size] == '\n');
	}
}

static void
print_command_help(const struct bu_command *command, FILE *out)
{
	fprintf(out, "usage: bringup %s%s%s%s\n%s\n", command->name,
		command->options ? " [options]" : "", *command->args ? " " : "",
		command->args, command->help);
	if (command->options)
		fputc('\n', out);
	bu_options_help(command->options, out);
	print_examples(command, out);
}

/* How many of the words are the command's name; 0 when it is another one. */
static int
match(const struct bu_command *command, int count, char **words)
{
	const char *rest = command->name;

	for (int i = 0; i < count; i++) {
		size_t size = strlen(words[i]);

		if (size == 0 || strncmp(rest, words[i], size) != 0)
			return 0;
		if (rest[size] == '\0')
			return i + 1;
		if (rest[size] != ' ')
			return 0;
		rest += size + 1;
	}
	return 0;
}

static const struct bu_command *
find(int count, char **words, int *ret_used)
{
	for (size_t i = 0; i < BU_LEN(commands); i++) {
		*ret_used = match(&commands[i], count, words);
		if (*ret_used)
			return &commands[i];
	}
	return NULL;
}

/* 1 when the word begins the name of some command ("node"). */
static int
is_group(const char *word, FILE *out)
{
	size_t size = strlen(word);
	int found = 0;

	for (size_t i = 0; i < BU_LEN(commands); i++) {
		if (strncmp(commands[i].name, word, size) == 0 &&
		    commands[i].name[size] == ' ') {
			if (!found++)
				fputs("usage:\n", out);
			print_usage(&commands[i], out);
		}
	}
	return found > 0;
}

static int
fail(const struct bu_err *err)
{
	fflush(stdout);
	fprintf(stderr, "bringup: %s\n", err->text);
	return bu_err_exit_code(err->kind);
}

/* " (did you mean 'node list'?)" or ""; owned. */
static char *
nearest_command(const char *word)
{
	bu_autofree const char **names = bu_xcalloc(BU_LEN(commands), sizeof(*names));

	for (size_t i = 0; i < BU_LEN(commands); i++)
		names[i] = commands[i].name;
	return bu_did_you_mean(word, names, BU_LEN(commands));
}

static int
unknown(int count, char **words, struct bu_err *err)
{
	bu_autofree char *both =
		count > 1 ? bu_xasprintf("%s %s", words[0], words[1]) : NULL;
	bu_autofree char *hint = nearest_command(both ? both : words[0]);
	int group = 0;

	/* A group's whole list helps where no command is near. */
	if (!*hint)
		group = is_group(words[0], stderr);
	if (both && (group || *hint))
		return bu_err_set(err, BU_ERR_USAGE, 0, "unknown command '%s'%s", both,
				  hint);
	if (group)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "%s: a command is missing; see bringup help %s",
				  words[0], words[0]);
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "unknown command '%s'%s; see bringup --help", words[0], hint);
}

static int
help(int count, char **words)
{
	const struct bu_command *command;
	struct bu_err err;
	int used;

	if (count == 0) {
		print_help(stdout);
		return 0;
	}
	command = find(count, words, &used);
	if (command) {
		print_command_help(command, stdout);
		return 0;
	}
	if (is_group(words[0], stdout))
		return 0;
	unknown(count, words, &err);
	return fail(&err);
}

static int
check_count(const struct bu_command *command, const struct bu_options *options,
	    struct bu_err *err)
{
	if (options->args_count < command->min_args)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "%s needs %s; see bringup help %s", command->name,
				  command->args, command->name);
	if (options->args_count > command->max_args)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "%s: unexpected argument '%s'; see bringup help %s",
				  command->name, options->args[command->max_args],
				  command->name);
	return 0;
}

/* argv[0] is the last word of the command's name. */
static int
run(const struct bu_command *command, int argc, char **argv)
{
	struct bu_options options;
	struct bu_err err = {0};
	int code;

	if (command->raw)
		return command->raw(argc, argv);
	if (bu_options_parse(command->options, argc, argv, &options, &err) != 0) {
		bu_err_wrap(&err, "%s", command->name);
		return fail(&err);
	}
	if (options.help) {
		print_command_help(command, stdout);
		return 0;
	}
	if (check_count(command, &options, &err) != 0)
		return fail(&err);
	bu_out_begin(options.style);
	code = command->fn(&options, &err);
	return code < 0 ? fail(&err) : code;
}

static int
dispatch(int argc, char **argv)
{
	const struct bu_command *command;
	struct bu_err err;
	int used;

	if (argc < 2) {
		print_help(stderr);
		return bu_err_exit_code(BU_ERR_USAGE);
	}
	if (strcmp(argv[1], "--version") == 0)
		return print_version(NULL, NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(0, NULL);
	if (strcmp(argv[1], "help") == 0)
		return help(argc - 2, argv + 2);
	command = find(argc - 1, argv + 1, &used);
	if (command)
		return run(command, argc - used, argv + used);
	if (argc > 2 && strcmp(argv[2], "--help") == 0)
		return help(1, argv + 1);
	unknown(argc - 1, argv + 1, &err);
	return fail(&err);
}

int
main(int argc, char **argv)
{
	struct bu_err err;
	int code;

	setlocale(LC_CTYPE, "");
	code = dispatch(argc, argv);
	if (code == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		bu_err_set(&err, BU_ERR_IO, 0, "cannot write the output: %m");
		return fail(&err);
	}
	return code;
}
