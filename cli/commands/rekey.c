/* SPDX-License-Identifier: Apache-2.0 */
/* bringup rekey ...: another CA and secret of tokens, step by step. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"

static void
print_step(const json_t *shown)
{
	static const struct {
		const char *step, *words;
	} steps[] = {
		{"none", "one CA is trusted"},
		{"told", "agents are told the new CA, and the old one issues; next: "
			 "bringup rekey switch"},
		{"issues", "the new CA issues, and the old one is still trusted; next: "
			   "bringup rekey finish"},
	};
	const char *step = bu_json_str(shown, "step", "");
	int64_t until_s = bu_json_int(shown, "ca_until_s", 0);
	char until[24];

	for (size_t i = 0; i < BU_LEN(steps); i++)
		if (strcmp(steps[i].step, step) == 0)
			printf("%s\n", steps[i].words);
	bu_time_iso(until_s * 1000, until);
	printf("the CA that issues is valid until %s\n", until);
	if (bu_json_bool(shown, "restart", 0))
		puts("restart bringupd, which listens as before this step: systemctl "
		     "restart bringupd");
}

static void
print_waits(const json_t *shown)
{
	const json_t *names = json_object_get(shown, "waits");
	size_t i;
	json_t *name;

	if (json_array_size(names))
		printf("%zu nodes have not taken it yet:\n", json_array_size(names));
	json_array_foreach (names, i, name)
		printf("  %s\n", json_string_value(name));
}

static int
show(json_t *reply)
{
	bu_autojson json_t *shown = reply;

	if (!shown)
		return -1;
	print_step(shown);
	print_waits(shown);
	return 0;
}

static int
take(const struct bu_options *options, const char *to, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *body = json_pack("{s:s,s:s,s:b}", "to", to, "reason",
					     options->reason, "force", options->force);

	return show(bu_client_post(client, "/v1/site/rekey", body, err));
}

int
bu_cmd_rekey_status(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);

	return show(bu_client_get(client, 0, err, "/v1/site/rekey"));
}

int
bu_cmd_rekey_begin(const struct bu_options *options, struct bu_err *err)
{
	return take(options, "told", err);
}

int
bu_cmd_rekey_switch(const struct bu_options *options, struct bu_err *err)
{
	return take(options, "issues", err);
}

int
bu_cmd_rekey_finish(const struct bu_options *options, struct bu_err *err)
{
	return take(options, "none", err);
}
