/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing by the table of options, called by main.c for every command. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "profiles/language/schema.h"

enum kind { KIND_FLAG, KIND_INT, KIND_TEXT, KIND_LIST, KIND_FORMAT, KIND_JSON };

/* getopt's value of a long option: above every letter. */
enum { LONG_BASE = 256 };

static const struct option_row {
	const char *name;
	char letter;
	enum kind kind;
	size_t offset; /* in struct bu_options */
	const char *arg;
	long min, max;
	const char *help;
} rows[] = {
#define X(id, name, letter, kind, member, arg, min, max, help)                         \
	{name, letter, KIND_##kind, offsetof(struct bu_options, member),               \
	 arg,  min,    max,         help},
	BU_OPTIONS(X)
#undef X
};

static const struct {
	const char *name;
	enum bu_format format;
	enum bu_style style;
} formats[] = {
	{"table", BU_FORMAT_TABLE, BU_STYLE_NONE},
	{"wide", BU_FORMAT_TABLE, BU_STYLE_WIDE},
	{"json", BU_FORMAT_JSON, BU_STYLE_NONE},
	{"yaml", BU_FORMAT_JSON, BU_STYLE_YAML},
	{"hostlist", BU_FORMAT_HOSTLIST, BU_STYLE_NONE},
	{"name", BU_FORMAT_HOSTLIST, BU_STYLE_NAME},
};

static int
read_int(const struct option_row *row, const char *text, int *ret, struct bu_err *err)
{
	int64_t value;

	if (bu_text_int(text, row->min, row->max, &value) < 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--%s '%s': give a whole number from %ld to %ld",
				  row->name, text, row->min, row->max);
	*ret = (int)value;
	return 0;
}

static int
read_format(const char *text, struct bu_options *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(formats); i++) {
		if (strcmp(formats[i].name, text) == 0) {
			ret->format = (int)formats[i].format;
			ret->style = formats[i].style;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "-o '%s': give table, wide, json, yaml, hostlist or name",
			  text);
}

static int
add_word(const struct option_row *row, const char *text, struct bu_explain *words,
	 struct bu_err *err)
{
	if (words->count == BU_WORDS_MAX)
		return bu_err_set(err, BU_ERR_USAGE, 0, "--%s: %d of them at most",
				  row->name, BU_WORDS_MAX);
	words->items[words->count++] = text;
	return 0;
}

static int
take(const struct option_row *row, const char *text, struct bu_options *options,
     struct bu_err *err)
{
	void *to = (char *)options + row->offset;

	switch (row->kind) {
	case KIND_FLAG:
		*(int *)to = 1;
		return 0;
	case KIND_JSON:
		*(int *)to = BU_FORMAT_JSON;
		options->style = BU_STYLE_NONE;
		return 0;
	case KIND_INT:
		return read_int(row, text, to, err);
	case KIND_FORMAT:
		return read_format(text, options, err);
	case KIND_LIST:
		return add_word(row, text, to, err);
	case KIND_TEXT:
		*(const char **)to = text;
		return 0;
	}
	return 0;
}

/* getopt's own tables, of the options that are taken. */
struct tables {
	struct option longs[BU_OPTION_COUNT + 2];
	char letters[2 * BU_OPTION_COUNT + 8];
};

static void
make_tables(uint64_t taken, struct tables *ret)
{
	struct option *next = ret->longs;
	char *letter = ret->letters;

	memset(ret, 0, sizeof(*ret));
	*letter++ = ':'; /* ':' for a missing argument, '?' for an unknown option */
	*letter++ = 'h';
	*next++ = (struct option){"help", no_argument, NULL, 'h'};
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct option_row *row = &rows[i];

		if (!(taken & UINT64_C(1) << i))
			continue;
		if (row->name[0])
			*next++ = (struct option){
				row->name, *row->arg ? required_argument : no_argument,
				NULL, LONG_BASE + (int)i};
		if (row->letter) {
			*letter++ = row->letter;
			*letter++ = ':';
		}
	}
}

static const struct option_row *
row_of(int c)
{
	if (c >= LONG_BASE)
		return &rows[c - LONG_BASE];
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

/* " (did you mean 'wait'?)" of the options that are taken, or ""; owned. */
static char *
nearest_option(uint64_t taken, const char *text)
{
	bu_autofree char *word = NULL;
	const char *candidates[BU_OPTION_COUNT] = {NULL};

	text += strspn(text, "-");
	word = bu_xstrndup(text, strcspn(text, "="));
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (taken & UINT64_C(1) << i)
			candidates[i] = rows[i].name;
	return bu_did_you_mean(word, candidates, BU_OPTION_COUNT);
}

static int
refuse(uint64_t taken, int c, const char *text, struct bu_err *err)
{
	bu_autofree char *hint = nearest_option(taken, text);

	if (c == ':')
		return bu_err_set(err, BU_ERR_USAGE, 0, "%s needs an argument", text);
	if (optopt && optopt < LONG_BASE && optopt != 'h')
		return bu_err_set(err, BU_ERR_USAGE, 0, "unknown option -%c", optopt);
	return bu_err_set(err, BU_ERR_USAGE, 0, "unknown option %s%s", text, hint);
}

int
bu_options_parse(uint64_t taken, int argc, char **argv, struct bu_options *ret,
		 struct bu_err *err)
{
	struct bu_options options = {
		.timeout_s = BU_TIMEOUT_DEFAULT_S,
		.limit = BU_EVENTS_DEFAULT,
		.lines = BU_LINES_DEFAULT,
	};
	struct tables tables;
	int c;

	make_tables(taken, &tables);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) !=
	       -1) {
		if (c == ':' || c == '?')
			return refuse(taken, c, argv[optind - 1], err);
		if (c == 'h')
			options.help = 1;
		else if (take(row_of(c), optarg, &options, err) != 0)
			return -1;
	}
	options.args = argv + optind;
	options.args_count = argc - optind;
	*ret = options;
	return 0;
}

char *
bu_options_next(uint64_t taken, size_t *at, const char **ret_help)
{
	while (*at < BU_LEN(rows)) {
		const struct option_row *row = &rows[*at];

		if (!(taken & UINT64_C(1) << (*at)++))
			continue;
		*ret_help = row->help;
		return row->letter ? bu_xasprintf("-%c %s", row->letter, row->arg)
				   : bu_xasprintf("--%s %s", row->name, row->arg);
	}
	return NULL;
}

void
bu_options_help(uint64_t taken, FILE *out)
{
	const char *help;
	char *text;

	for (size_t at = 0; (text = bu_options_next(taken, &at, &help)); free(text))
		fprintf(out, "  %-24s  %s\n", text, help);
}
