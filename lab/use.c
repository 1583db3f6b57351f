/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Using a rack that is up: exec, status, link, slurm, reset.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "lab/commands.h"
#include "lab/domains.h"
#include "lab/enter.h"
#include "lab/keeper.h"
#include "lab/prepare.h"

struct exec_opts {
	const char *dir;
	const char *listen[BU_ENTER_LISTEN_MAX];
	struct bu_enter enter;
};

static int
parse_exec(int argc, char **argv, struct exec_opts *opts, struct bu_err *err)
{
	static const struct option options[] = {
		{"dir", required_argument, NULL, 'd'},
		{"listen", required_argument, NULL, 'l'},
		{"detach", no_argument, NULL, 'D'},
		{"log", required_argument, NULL, 'L'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 'd')
			opts->dir = optarg;
		else if (c == 'l' && opts->enter.listen_count < BU_ENTER_LISTEN_MAX)
			opts->listen[opts->enter.listen_count++] = optarg;
		else if (c == 'D')
			opts->enter.detach = 1;
		else if (c == 'L')
			opts->enter.log_path = optarg;
		else
			return bu_err_set(
				err, BU_ERR_USAGE, 0,
				"see bringup-lab --help (at most %d --listen)",
				BU_ENTER_LISTEN_MAX);
	}
	if (optind >= argc)
		return bu_err_set(err, BU_ERR_USAGE, 0, "give a command after --");
	if (opts->enter.log_path && !opts->enter.detach)
		return bu_err_set(err, BU_ERR_USAGE, 0, "--log needs --detach");
	opts->enter.argv = argv + optind;
	return 0;
}

int
bu_lab_exec(int argc, char **argv)
{
	struct exec_opts opts = {0};
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	int result;

	if (parse_exec(argc, argv, &opts, &err) != 0 ||
	    bu_rack_load_live(&rack, opts.dir, &err) != 0)
		return bu_lab_fail("exec", &err);
	for (int i = 0; i < opts.enter.listen_count; i++) {
		char address[64];

		opts.enter.listen_fds[i] =
			bu_enter_listen(opts.listen[i], address, sizeof(address), &err);
		if (opts.enter.listen_fds[i] < 0)
			return bu_lab_fail("exec", &err);
		/* The output of a command that stays here is the command's. */
		fprintf(opts.enter.detach ? stdout : stderr, "listen %s\n", address);
	}
	fflush(stdout);
	if (bu_enter_run(&rack, &opts.enter, &result, &err) != 0)
		return bu_lab_fail("exec", &err);
	if (!opts.enter.detach)
		return result;
	printf("pid %d\n", result);
	return 0;
}

static json_t *
get_status(struct bu_rack *rack, int alive)
{
	json_t *status = bu_rack_to_json(rack);
	bu_autojson json_t *request = json_pack("{s:s}", "op", "status");
	struct bu_domains *domains = alive ? bu_domains_open(rack, NULL) : NULL;
	json_t *services = NULL, *node;
	size_t i;

	if (!alive || bu_keeper_ask(rack, request, &services, NULL) != 0)
		services = json_object();
	json_object_set_new(services, "keeper", json_boolean(alive));
	json_object_set_new(status, "services", services);
	json_array_foreach (json_object_get(status, "nodes"), i, node) {
		const char *power =
			domains ? bu_domains_power(domains, rack->nodes[i].name)
				: "unknown";

		json_object_set_new(node, "power", json_string(power));
	}
	bu_domains_close(domains);
	return status;
}

static void
print_status(const json_t *status)
{
	static const char *const headings[] = {"NODE",     "POWER",   "FIRMWARE",
					       "BOOT MAC", "CONSOLE", NULL};
	static const char *const fields[] = {"name", "power", "firmware", "boot_mac",
					     "console"};
	struct bu_table *table = bu_table_create(headings);
	json_t *services = json_object_get(status, "services");
	const char *name;
	json_t *value;
	size_t i;

	printf("rack %s (%s)\n", bu_json_str(status, "dir", ""),
	       bu_json_str(status, "accel", ""));
	json_object_foreach (services, name, value) {
		printf("%s: %s\n", name, json_is_true(value) ? "alive" : "not running");
	}
	json_array_foreach (json_object_get(status, "nodes"), i, value) {
		const char *cells[BU_LEN(fields)];

		for (size_t f = 0; f < BU_LEN(fields); f++)
			cells[f] = bu_json_str(value, fields[f], "");
		bu_table_row(table, cells);
	}
	bu_table_print(table, stdout);
	bu_table_destroy(table);
}

int
bu_lab_status(int argc, char **argv)
{
	static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
						{"json", no_argument, NULL, 'j'},
						{0}};
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	const char *dir = NULL, *format = "table";
	bu_autojson json_t *status = NULL;
	int alive, c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'd')
			dir = optarg;
		else if (c == 'j' || c == 'o')
			format = c == 'j' ? "json" : optarg;
		else
			bu_err_set(&err, BU_ERR_USAGE, 0, "see bringup-lab --help");
	}
	if (strcmp(format, "table") != 0 && strcmp(format, "json") != 0)
		bu_err_set(&err, BU_ERR_USAGE, 0, "-o '%s': give table or json",
			   format);
	if (err.kind || bu_rack_locate(&rack, dir, &err) != 0 ||
	    bu_rack_load(&rack, &err) != 0)
		return bu_lab_fail("status", &err);
	alive = bu_rack_keeper_alive(&rack);
	status = get_status(&rack, alive);
	if (strcmp(format, "json") == 0) {
		json_dumpf(status, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		print_status(status);
	}
	return alive ? 0 : bu_err_exit_code(BU_ERR_STATE);
}

static int
set_rate(const struct bu_rack *rack, const struct bu_rack_node *node, int mbit,
	 struct bu_err *err)
{
	bu_autojson json_t *request = json_pack("{s:s, s:i, s:i}", "op", "rate", "node",
						node->number, "mbit", mbit);

	return bu_keeper_ask(rack, request, NULL, err);
}

int
bu_lab_link(int argc, char **argv)
{
	static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
						{"rate", required_argument, NULL, 'r'},
						{0}};
	const struct bu_rack_node *node = NULL;
	const char *dir = NULL, *rate = NULL;
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	int mbit, c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd')
			dir = optarg;
		else if (c == 'r')
			rate = optarg;
	}
	if (!rate || optind != argc - 1)
		bu_err_set(&err, BU_ERR_USAGE, 0,
			   "give NODE and --rate MBIT, or --rate default");
	if (err.kind || bu_rack_load_live(&rack, dir, &err) != 0)
		return bu_lab_fail("link", &err);
	mbit = rack.fabric_rate_mbit;
	node = bu_rack_find(&rack, argv[optind]);
	if (!node)
		bu_err_set(&err, BU_ERR_NOTFOUND, 0,
			   "no node '%s' in the rack; see bringup-lab status",
			   argv[optind]);
	else if (strcmp(rate, "default") != 0)
		bu_ignore(bu_lab_parse_int("--rate", rate, 1, 100000, &mbit, &err));
	if (err.kind || set_rate(&rack, node, mbit, &err) != 0)
		return bu_lab_fail("link", &err);
	printf("%s: fabric link at %d Mbit/s in both directions\n", node->name, mbit);
	return 0;
}

int
bu_lab_slurm(int argc, char **argv)
{
	static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
						{0}};
	bu_autojson json_t *request = NULL;
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	const char *dir = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (c == 'd')
			dir = optarg;
	if (optind != argc - 1)
		bu_err_set(&err, BU_ERR_USAGE, 0, "give stop, start or forget");
	else
		request = json_pack("{s:s,s:s}", "op", "slurm", "verb", argv[optind]);
	if (err.kind || bu_rack_load_live(&rack, dir, &err) != 0 ||
	    bu_keeper_ask(&rack, request, NULL, &err) != 0)
		return bu_lab_fail("slurm", &err);
	return 0;
}

/* Machines first: they hold disks and consoles open. Then what runs in the rack, so
 * that nothing writes what is removed; machines are defined anew last. */
static int
reset_rack(const struct bu_rack *rack, struct bu_domains *domains, struct bu_err *err)
{
	bu_autojson json_t *clean = json_pack("{s:s}", "op", "clean");
	bu_autofree char *state = bu_rack_path(rack, "state");

	if (bu_domains_destroy(domains, err) != 0 ||
	    bu_keeper_ask(rack, clean, NULL, err) != 0 ||
	    bu_remove_tree(state, err) != 0 || bu_prepare_disks(rack, err) != 0 ||
	    bu_prepare_consoles(rack, err) != 0)
		return -1;
	for (size_t i = 0; i < rack->node_count; i++)
		if (set_rate(rack, &rack->nodes[i], rack->fabric_rate_mbit, err) != 0)
			return -1;
	return bu_domains_define(domains, err);
}

int
bu_lab_reset(int argc, char **argv)
{
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	struct bu_domains *domains;
	const char *dir;
	int rc;

	if (bu_lab_parse_dir("reset", argc, argv, &dir, &err) != 0 ||
	    bu_rack_load_live(&rack, dir, &err) != 0)
		return bu_lab_fail("reset", &err);
	domains = bu_domains_open(&rack, &err);
	rc = domains ? reset_rack(&rack, domains, &err) : -1;
	bu_domains_close(domains);
	if (rc != 0)
		return bu_lab_fail("reset", &err);
	printf("rack %s is as it was after `up`\n", rack.dir);
	return 0;
}
