/* SPDX-License-Identifier: Apache-2.0 */
/* Names and time of a node: who it is, who the others are, whom it asks. */
#include "provisioner/config/services.h"

#include <stdio.h>

#include "profiles/language/schema.h"
#include "profiles/nodeset/names.h"

/* Names must resolve when nothing else works, so they are all in the file. */
static void
add_hosts(const struct bu_config_input *input, struct bu_config *config)
{
	bu_config_add(config, "/etc/hosts", 0644, "hosts",
		      BU_CONFIG_HEAD
		      "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
		      "%s bringup\n%s",
		      input->appliance, bu_names_hosts(input->desired));
}

/* A line for each server of the list, the appliance without a list. Owned. */
static char *
servers(const char *list, const char *appliance, const char *before, const char *after)
{
	const char *rest = list ? list : appliance;
	char *text = NULL, *word;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	while ((word = bu_value_next_word(&rest))) {
		fprintf(out, "%s%s%s\n", before, word, after);
		free(word);
	}
	fclose(out);
	return text;
}

void
bu_config_services(const struct bu_config_input *input, struct bu_config *config)
{
	const struct bu_desired_site *site = &input->desired->site;
	bu_autofree char *dns = servers(site->dns, input->appliance, "nameserver ", "");
	bu_autofree char *ntp =
		servers(site->ntp, input->appliance, "server ", " iburst");

	bu_config_add(config, "/etc/hostname", 0644, "hostname", "%s\n",
		      input->node->name);
	add_hosts(input, config);
	/* What no server knows should fail at once, not after a minute. */
	bu_config_add(config, "/etc/resolv.conf", 0644, "hosts",
		      BU_CONFIG_HEAD "%s%s%s%soptions timeout:1 attempts:1\n",
		      site->domain ? "search " : "", site->domain ? site->domain : "",
		      site->domain ? "\n" : "", dns);
	/* chronyd reads files of this name there and reloads them by `chronyc`. */
	bu_config_add(config, "/etc/chrony/sources.d/bringup.sources", 0644, "time",
		      BU_CONFIG_HEAD "%s", ntp);
}
