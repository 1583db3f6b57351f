/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages below docs/ show tables of the code: each block between "<!-- name -->" and
 * "<!-- end -->" must have exactly the rows of the code. With the arguments "print
 * NAME" this program prints the rows of a block (docs/update puts them there).
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/file.h"
#include "checks/audit/audit_rows.h"
#include "checks/fabric/loops.h"
#include "checks/gpu/gpu.h"
#include "checks/gpu/nvlink.h"
#include "checks/host/host.h"
#include "checks/soak/soak.h"
#include "model/class.h"
#include "model/condition.h"
#include "model/event_body.h"
#include "model/glossary.h"
#include "model/limit.h"
#include "model/plan.h"
#include "model/state.h"
#include "model/verb.h"
#include "profiles/export/export.h"
#include "provisioner/api/metrics.h"
#include "provisioner/api/webhook_form.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/node/lifecycle.h"
#include "provisioner/power/redfish/quirks.h"
#include "provisioner/settings.h"
#include "tests/support/unit.h"

static void
print_states(FILE *out)
{
	static const char *const ladders[] = {"", "power", "hold"};
	static const char *const aborts[] = {
		"", "until its disk is written",
		("until it has left its cluster, or where its files "
		 "cannot be written")};

	fputs("| state | settled | deadline | ladder | first step | called back | what "
	      "happens |\n"
	      "|---|---|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < BU_STATE_COUNT; i++) {
		const struct bu_state_info *info = bu_state_info(i);

		fprintf(out, "| %s | %s | ", info->name, info->settled ? "yes" : "");
		if (info->limit_s == BU_LIMIT_OF_POOL)
			fputs("its pool's", out);
		else if (info->limit_s)
			fprintf(out, "%d s", info->limit_s);
		fprintf(out, " | %s | %s | %s | %s |\n", ladders[info->ladder],
			info->first ? bu_action_name(info->first) : "",
			aborts[info->abort], info->help);
	}
}

static void
print_actions(FILE *out)
{
	static const char *const actors[] = {"", "power", "agent", "cluster"};
	static const char *const again[] = {"what was done is looked at",
					    "it is done again",
					    "it is done again, by the same name"};

	fputs("| step | by | broken off | deadline | what happens |\n"
	      "|---|---|---|---|---|\n",
	      out);
	for (int i = BU_ACTION_NONE + 1; i < BU_ACTION_COUNT; i++) {
		const struct bu_action_info *info = bu_action_info(i);

		fprintf(out, "| %s | %s | %s | ", info->name, actors[info->actor],
			again[info->again]);
		if (info->limit_s)
			fprintf(out, "%d s | %s |\n", info->limit_s, info->help);
		else
			fprintf(out, "its state's | %s |\n", info->help);
	}
}

static void
print_edges(FILE *out)
{
	static const char *const guards[] = {
#define X(id, holds, refusal) holds,
		BU_GUARDS(X)
#undef X
	};
	size_t count;
	const struct bu_edge *edges = bu_lifecycle_edges(&count);

	fputs("| from | on | to | only if |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s | %s |\n", bu_state_name(edges[i].from),
			bu_trigger_name(edges[i].on), bu_state_name(edges[i].to),
			guards[edges[i].guard]);
}

/* Each verb with the states that take it. */
static void
print_verbs(FILE *out)
{
	fputs("| verb | what it does | asked of nodes that are |\n|---|---|---|\n",
	      out);
	for (int verb = 0; verb < BU_VERB_COUNT; verb++) {
		const struct bu_verb_info *info = bu_verb_info((enum bu_verb)verb);
		const char *before = "";

		fprintf(out, "| %s | %s | ", info->name, info->help);
		for (int i = 0; i < BU_STATE_COUNT && info->states != BU_IN_ALL; i++) {
			if (!bu_verb_takes((enum bu_verb)verb, (enum bu_state)i))
				continue;
			fprintf(out, "%s%s", before, bu_state_name((enum bu_state)i));
			before = ", ";
		}
		fprintf(out, "%s |\n", info->states == BU_IN_ALL ? "anything" : "");
	}
}

static void
print_triggers(FILE *out)
{
	static const char *const fates[] = {"", "begins", "is withdrawn",
					    "is withdrawn where it began in service"};

	fputs("| trigger | when | its open order |\n|---|---|---|\n", out);
	for (int on = 0; on < BU_TRIGGER_COUNT; on++) {
		const struct bu_trigger_info *info = bu_trigger_info(on);

		fprintf(out, "| %s | %s | %s |\n", info->name, info->help,
			fates[info->fate]);
	}
}

static void
print_fields(const struct bu_field *fields, FILE *out)
{
	fputc('{', out);
	for (const struct bu_field *field = fields; field->key; field++) {
		fprintf(out, "%s%s", field == fields ? "" : ", ",
			field->kind == BU_FIELD_PARTS ? "code, args" : field->key);
		if (!field->fields)
			continue;
		fputs(": ", out);
		print_fields(field->fields, out);
	}
	fputc('}', out);
}

static void
print_events(FILE *out)
{
	fputs("| event | body |\n|---|---|\n", out);
#define X(id, name, says)                                                              \
	fputs("| " name " | ", out);                                                   \
	print_fields(bu_body_fields(BU_EVENT_##id), out);                              \
	fprintf(out, "%s%s |\n", *says ? ": " : "", says);
	BU_EVENTS(X)
#undef X
}

static void
print_conditions(FILE *out)
{
	fputs("| condition | of | away | set when | cleared when |\n"
	      "|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < BU_CONDITION_COUNT; i++) {
		const struct bu_condition_info *info = bu_condition_info(i);

		fprintf(out, "| %s | %s | %s | %s | %s |\n", info->name,
			info->of == BU_CONDITION_OF_SITE ? "the site" : "a node",
			info->away ? "yes" : "", info->set, info->cleared);
	}
}

static void
print_limits(FILE *out)
{
	fputs("| limit | most | given back per hour | counted by | over it |\n"
	      "|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < BU_LIMIT_COUNT; i++) {
		const struct bu_limit_info *info = bu_limit_info(i);

		fprintf(out, "| %s | %lld %s | ", info->name, (long long)info->most,
			info->unit);
		if (info->hourly)
			fprintf(out, "%lld", (long long)info->hourly);
		fprintf(out, " | %s | %s |\n", info->counted, info->over);
	}
}

static void
print_classes(FILE *out)
{
	fputs("| class | needs a grant | a node in service | what happens |\n"
	      "|---|---|---|---|\n",
	      out);
	for (int i = BU_CLASS_NONE + 1; i < BU_CLASS_COUNT; i++) {
		const struct bu_class_info *info = bu_class_info(i);

		fprintf(out, "| %s | %s | %s%s | %s |\n", info->name,
			info->needs_grant ? "yes" : "",
			info->in_service ? "stays in" : "leaves, then ",
			info->in_service ? "" : bu_state_name(info->next), info->help);
	}
}

static void
print_errors(FILE *out)
{
	fputs("| kind | HTTP | exit code |\n|---|---|---|\n", out);
#define X(id, name, http, code) fprintf(out, "| %s | %d | %d |\n", name, http, code);
	BU_ERRS(X)
#undef X
}

static void
print_settings(FILE *out)
{
	fputs("| key | default | what it says |\n|---|---|---|\n", out);
#define X(field, fallback, help)                                                       \
	fprintf(out, "| `%s` | %s | %s |\n", #field, fallback, help);
	BU_SETTINGS(X)
#undef X
}

static void
print_webhooks(FILE *out)
{
	fputs("| key | what it says |\n|---|---|\n", out);
#define X(key, help) fputs("| `" #key "` | " help " |\n", out);
	BU_WEBHOOK_KEYS(X)
#undef X
}

static void
print_metrics(FILE *out)
{
	fputs("| metric | labels | what |\n|---|---|---|\n", out);
	for (const struct bu_metric *row = bu_api_metrics; row->name; row++)
		fprintf(out, "| `%s` | %s | %s |\n", row->name, row->labels, row->help);
}

static void
print_audit(FILE *out)
{
	fputs("| check | what | how | expected | finding | what to do |\n"
	      "|---|---|---|---|---|---|\n",
	      out);
#define X(fn, id, severity, what, how, expectation, hint)                              \
	fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", id, what, how, expectation,  \
		bu_verdict_name(BU_VERDICT_##severity), hint);
	BU_AUDIT_ROWS(X)
#undef X
}

static void
print_gpu(FILE *out)
{
	size_t count;
	const struct bu_gpu_row *rows = bu_gpu_rows(&count);

	fputs("| check | what | what to do |\n|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s |\n", rows[i].id, rows[i].what,
			rows[i].hint);
}

static void
print_host(FILE *out)
{
	size_t count;
	const struct bu_host_row *rows = bu_host_rows(&count);

	fputs("| check | what | what to do |\n|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s |\n", rows[i].id, rows[i].what,
			rows[i].hint);
}

static void
print_loops(FILE *out)
{
	size_t count;
	const struct bu_loops_row *rows = bu_loops_rows(&count);

	fputs("| check | what | what to do |\n|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s |\n", rows[i].id, rows[i].what,
			rows[i].hint);
}

static void
print_soak(FILE *out)
{
	size_t count;
	const struct bu_soak_row *rows = bu_soak_rows(&count);

	fputs("| check | what | finding | what to do |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s | %s |\n", rows[i].id, rows[i].what,
			bu_verdict_name(rows[i].verdict), rows[i].hint);
}

static void
print_nvlink(FILE *out)
{
	size_t count;
	const struct bu_nvlink_row *rows = bu_nvlink_rows(&count);

	fputs("| check | what | finding | what to do |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "| %s | %s | %s | %s |\n", rows[i].id, rows[i].what,
			bu_verdict_name(rows[i].verdict), rows[i].hint);
}

static const struct {
	const char *word, *meaning;
} glossary[] = {
#define X(word, meaning) {word, meaning},
	BU_GLOSSARY(X)
#undef X
};

static void
print_glossary(FILE *out)
{
	fputs("| word | meaning |\n|---|---|\n", out);
	for (size_t i = 0; i < BU_LEN(glossary); i++)
		fprintf(out, "| %s | %s |\n", glossary[i].word, glossary[i].meaning);
}

static void
print_quirks(FILE *out)
{
	fputs("| | of | what it does, and what bringup does | source |\n|---|---|---|---|\n",
	      out);
	for (size_t i = 0; i < rf_quirks_count; i++) {
		const struct rf_quirk *quirk = &rf_quirks[i];

		fprintf(out, "| %d | %s | %s | %s |\n", quirk->number,
			quirk->vendor ? quirk->vendor : "any", quirk->what,
			quirk->source);
	}
}

/* Rows of one name that differ in the number alone are one. */
static void
print_loaders(FILE *out)
{
	static const char *const by[] = {[BU_BY_TFTP] = "TFTP", [BU_BY_HTTP] = "HTTP"};
	static const char *const of[] = {[BU_OF_ANY] = "all",
					 [BU_OF_IPXE] = "ipxe (the default)",
					 [BU_OF_GRUB] = "grub"};
	size_t count;
	const struct bu_boot_row *rows = bu_boot_rows(&count);

	fputs("| row | option 93 | boot_loader | first file | by | loads then | file of "
	      "|\n|---|---|---|---|---|---|---|\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct bu_boot_row *row = &rows[i];

		fprintf(out, "| %s | %d", row->name, row->arch);
		for (; i + 1 < count && strcmp(rows[i + 1].name, row->name) == 0; i++)
			fprintf(out, ", %d", rows[i + 1].arch);
		fprintf(out, " | %s | %s | %s | %s | %s |\n", of[row->of], row->file,
			by[row->transport],
			row->second ? row->second : "script by HTTP", row->package);
	}
}

static const struct {
	const char *page, *name;
	void (*print)(FILE *out);
} blocks[] = {
	{"docs/design.md", "states", print_states},
	{"docs/design.md", "actions", print_actions},
	{"docs/design.md", "edges", print_edges},
	{"docs/design.md", "triggers", print_triggers},
	{"docs/operations.md", "verbs", print_verbs},
	{"docs/design.md", "events", print_events},
	{"docs/design.md", "conditions", print_conditions},
	{"docs/design.md", "errors", print_errors},
	{"docs/operations.md", "settings", print_settings},
	{"docs/monitoring.md", "webhooks", print_webhooks},
	{"docs/operations.md", "limits", print_limits},
	{"docs/monitoring.md", "metrics", print_metrics},
	{"docs/glossary.md", "glossary", print_glossary},
	{"docs/profiles.md", "keys", bu_schema_print_reference},
	{"docs/plan.md", "classes", print_classes},
	{"docs/checks.md", "audit", print_audit},
	{"docs/checks.md", "gpu", print_gpu},
	{"docs/checks.md", "host", print_host},
	{"docs/checks.md", "loops", print_loops},
	{"docs/checks.md", "nvlink", print_nvlink},
	{"docs/checks.md", "soak", print_soak},
	{"docs/redfish.md", "quirks", print_quirks},
	{"docs/boot.md", "loaders", print_loaders},
};

static char *
rows_of(size_t block)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out != NULL);
	blocks[block].print(out);
	fclose(out);
	return text;
}

static void
check_block(size_t block)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", BU_SRCDIR, blocks[block].page);
	struct bu_err err = {0};
	bu_autofree char *page = bu_file_read(path, 0, NULL, &err);
	bu_autofree char *want = rows_of(block);
	bu_autofree char *mark = bu_xasprintf("<!-- %s -->\n", blocks[block].name);
	bu_autofree char *have = NULL;
	const char *start, *end;

	ck_assert_msg(page != NULL, "%s", err.text);
	start = strstr(page, mark);
	end = start ? strstr(start, "<!-- end -->") : NULL;
	ck_assert_msg(end != NULL, "%s has no block %s", path, mark);
	start += strlen(mark);
	have = bu_xstrndup(start, (size_t)(end - start));
	ck_assert_msg(strcmp(have, want) == 0,
		      "%s, block %s: run docs/update; the code says:\n%s",
		      blocks[block].page, blocks[block].name, want);
}

START_TEST(pages_show_the_tables_of_the_code)
{
	for (size_t i = 0; i < BU_LEN(blocks); i++)
		check_block(i);
}
END_TEST

/* Each program of tests/system has a word in the page on tests. */
START_TEST(each_system_test_is_described)
{
	bu_autofree char *text =
		bu_file_read(BU_SRCDIR "/docs/testing.md", 0, NULL, NULL);
	DIR *dir = opendir(BU_SRCDIR "/tests/system");
	struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		bu_autofree char *alone = bu_xasprintf("`%s`", entry->d_name);
		bu_autofree char *path = bu_xasprintf("tests/system/%s", entry->d_name);

		ck_assert_msg(entry->d_name[0] == '.' || strstr(text, alone) ||
				      strstr(text, path),
			      "docs/testing.md: nothing says what %s shows", path);
	}
	closedir(dir);
}
END_TEST

/* In order, so each word once; a table cell of one sentence. */
START_TEST(glossary_is_sorted_and_brief)
{
	for (size_t i = 0; i < BU_LEN(glossary); i++) {
		const char *word = glossary[i].word, *meaning = glossary[i].meaning;

		ck_assert_msg(i == 0 || strcasecmp(glossary[i - 1].word, word) < 0,
			      "'%s' is not in the order of the alphabet", word);
		ck_assert_msg(strlen(meaning) > 10 && strlen(meaning) < 150 &&
				      !strchr(meaning, '|') && !strstr(meaning, ". "),
			      "'%s' needs one short sentence", word);
		ck_assert_msg(meaning[strlen(meaning) - 1] != '.', "%s", word);
	}
}
END_TEST

/* `key` or "key" of each member is in the text. */
static void
names_all(const char *text, const struct bu_field *fields)
{
	for (; fields->key; fields++) {
		bu_autofree char *alone = bu_xasprintf("`%s`", fields->key);
		bu_autofree char *member = bu_xasprintf("\"%s\"", fields->key);

		ck_assert_msg(strstr(text, alone) || strstr(text, member),
			      "docs/plan.md: nothing says what '%s' is", fields->key);
		if (fields->kind == BU_FIELD_LIST || fields->kind == BU_FIELD_RECORD)
			names_all(text, fields->fields);
	}
}

START_TEST(a_plan_is_described_whole)
{
	bu_autofree char *text = bu_file_read(BU_SRCDIR "/docs/plan.md", 0, NULL, NULL);

	ck_assert_ptr_nonnull(text);
	names_all(text, bu_plan_fields);
	names_all(text, bu_plan_pool_fields);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		pages_show_the_tables_of_the_code,
		glossary_is_sorted_and_brief,
		each_system_test_is_described,
		a_plan_is_described_whole,
	};

	for (size_t i = 0; argc == 3 && i < BU_LEN(blocks); i++) {
		if (strcmp(argv[2], blocks[i].name) == 0) {
			blocks[i].print(stdout);
			return 0;
		}
	}
	return bu_unit_run("docs", tests, BU_LEN(tests));
}
