/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup token: for administrators, tokens with which people and programs come from
 * other machines. Standard output of `create` is the token alone, so that it may go
 * into a file or another program without being seen.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"

/* "30d", "12h", "90m"; in seconds. */
static int
read_for(const char *text, int64_t *ret_s, struct bu_err *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}};
	bu_autofree char *number = bu_xstrdup(text);
	size_t size = strlen(number);
	int64_t count;

	for (size_t i = 0; size > 1 && i < BU_LEN(units); i++) {
		if (number[size - 1] != units[i].unit)
			continue;
		number[size - 1] = '\0';
		if (bu_text_int(number, 1, 600000, &count) < 0)
			break;
		*ret_s = count * units[i].seconds;
		return 0;
	}
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "--for '%s': give days, hours or minutes, as 30d, 12h or 90m",
			  text);
}

static void
print_time(int64_t at_ms, char *ret, size_t size)
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm when;

	*ret = '\0';
	if (localtime_r(&at, &when))
		strftime(ret, size, "%Y-%m-%d %H:%M", &when);
}

/* The token to out, what to do with it to words. */
static void
print_made(const json_t *made, FILE *out, FILE *words)
{
	char until[32];

	print_time(bu_json_int(made, "until_ms", 0), until, sizeof(until));
	fprintf(out, "%s\n", bu_json_str(made, "token", ""));
	fflush(out);
	fprintf(words,
		"The token of '%s', role %s, good until %s. Only this once is it "
		"shown; on the other machine:\n"
		"  bringup login %s --fingerprint %s --context NAME --token-stdin\n",
		bu_json_str(made, "name", ""), bu_json_str(made, "role", ""), until,
		bu_json_str(made, "url", ""), bu_json_str(made, "fingerprint", ""));
}

int
bu_cmd_token_create(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *body = NULL, *made = NULL;
	int64_t for_s = 0;

	if (!options->role)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "token create needs --role; see bringup help token "
				  "create");
	if (read_for(options->lasts ? options->lasts : "30d", &for_s, err) != 0)
		return -1;
	body = json_pack("{s:s,s:s,s:I}", "name", options->args[0], "role",
			 options->role, "for_s", (json_int_t)for_s);
	if (!body)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "token create: the words are not UTF-8");
	made = bu_client_post(client, "/v1/tokens", body, err);
	if (!made)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(made, stdout);
	else
		print_made(made, stdout, stderr);
	return 0;
}

static void
print_list(const json_t *tokens, FILE *out)
{
	static const char *const headings[] = {"NAME", "ROLE", "STATE", "EXPIRES",
					       "MADE", "BY",   NULL};
	struct bu_table *table = bu_table_create(headings);
	const json_t *token;
	size_t i;

	json_array_foreach ((json_t *)tokens, i, token) {
		bu_autofree char *by = bu_out_clean(bu_json_str(token, "by", ""), 0);
		char made[32], until[32];

		print_time(bu_json_int(token, "made_ms", 0), made, sizeof(made));
		print_time(bu_json_int(token, "until_ms", 0), until, sizeof(until));
		bu_table_row(table,
			     (const char *const[]){bu_json_str(token, "name", ""),
						   bu_json_str(token, "role", ""),
						   bu_json_str(token, "state", ""),
						   until, made, by, NULL});
	}
	bu_out_table(table, out);
	bu_table_destroy(table);
}

int
bu_cmd_token_list(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = bu_client_get(client, 0, err, "/v1/tokens");
	const json_t *tokens = json_object_get(reply, "tokens");

	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(tokens, stdout);
	else if (json_array_size(tokens))
		print_list(tokens, stdout);
	else
		puts("there are no tokens; bringup token create makes one");
	return 0;
}

int
bu_cmd_token_revoke(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *name = bu_url_escape(options->args[0]);
	bu_autofree char *path = bu_xasprintf("/v1/tokens/%s/revoke", name);
	bu_autojson json_t *body = json_object();
	bu_autojson json_t *reply = bu_client_post(client, path, body, err);

	if (!reply)
		return -1;
	printf("token '%s' opens nothing any more\n", options->args[0]);
	return 0;
}
