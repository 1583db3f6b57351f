/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd.conf(5) from the tables of settings. Called by bringupd.c when it is built.
 */
#include "base/mem.h"
#include "base/roff.h"
#include "provisioner/settings.h"

struct row {
	const char *key, *fallback, *help;
};

static const struct row settings[] = {
#define X(field, fallback, help) {#field, fallback, help},
	BU_SETTINGS(X)
#undef X
};

static const struct row webhooks[] = {
#define X(key, help) {#key, "", help},
	BU_WEBHOOK_KEYS(X)
#undef X
};

static void
print_rows(FILE *out, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *title =
			bu_xasprintf("%s = %s", rows[i].key,
				     *rows[i].fallback ? rows[i].fallback : "...");

		fputs(".TP\n", out);
		bu_roff_line(out, ".B ", title);
		bu_roff_line(out, "", rows[i].help);
	}
}

static void
print_limits(FILE *out)
{
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		const struct bu_state_info *info = bu_state_info((enum bu_state)state);
		bu_autofree char *title =
			info->limit_s > 0
				? bu_xasprintf("%s = %d", info->name, info->limit_s)
				: bu_xasprintf("%s = ...", info->name);

		if (info->settled)
			continue;
		fputs(".TP\n", out);
		bu_roff_line(out, ".B ", title);
		bu_roff_line(out, "", info->help);
	}
}

void
bu_settings_man(FILE *out)
{
	bu_roff_head(out, "bringupd.conf", 5, "settings of bringupd");
	fputs(".SH DESCRIPTION\n/etc/bringup/bringupd.conf says where bringupd listens and "
	      "keeps things.\nWhat it shall do is in profiles,\n.BR bringup\\-profile (5).\n"
	      "A key shows its default. bringupd reads the file when it starts.\n"
	      ".SH \"[bringupd]\"\n",
	      out);
	print_rows(out, settings, BU_LEN(settings));
	fputs(".SH \"[limits]\"\nDeadlines of states, in seconds.\n", out);
	print_limits(out);
	fputs(".SH \"[webhook NAME]\"\nAn address to which events are posted, in their "
	      "order.\n",
	      out);
	print_rows(out, webhooks, BU_LEN(webhooks));
	fputs(".SH EVENTS\nKinds of events of a webhook:\n", out);
	for (int kind = 0; kind < BU_EVENT_COUNT; kind++)
		if (kind != BU_EVENT_DELIVERED)
			bu_roff_line(out, "", bu_event_name((enum bu_event_kind)kind));
	fputs(".SH SEE ALSO\n.BR bringup (1),\n.BR bringup\\-profile (5)\n", out);
}
