/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for IMEX on this node; called by gpu.c and nvlink.c. Invariant: it reads files
 * and asks no service, so it cannot hang; whether the other nodes of the domain have
 * theirs is not seen here.
 */
#include "checks/gpu/imex.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sysroot.h"
#include "base/text.h"

enum { CONFIG_MAX = 65536 };

static const char channels[] = "dev/nvidia-caps-imex-channels";

struct look {
	const char *root;
	struct bu_imex *imex;
};

static void
on_channel(const char *name, void *arg)
{
	const struct look *look = arg;
	bu_autofree char *path = bu_xasprintf("%s/%s/%s", look->root, channels, name);

	if (strncmp(name, "channel", 7) != 0)
		return;
	look->imex->channels++;
	if (!look->imex->channel[0] && access(path, R_OK | W_OK) == 0)
		bu_text_copy(look->imex->channel, sizeof(look->imex->channel), name);
}

static void
on_process(const char *name, void *arg)
{
	const struct look *look = arg;
	char comm[32];

	if (isdigit((unsigned char)name[0]) &&
	    bu_sysroot_line(look->root, comm, sizeof(comm), "proc/%s/comm", name) &&
	    strcmp(comm, "nvidia-imex") == 0)
		look->imex->runs = 1;
}

/* Lines that are neither empty nor a comment. */
static int
count_nodes(const char *root)
{
	bu_autofree char *text = bu_sysroot_read(root, CONFIG_MAX, NULL,
						 "etc/nvidia-imex/nodes_config.cfg");
	char *rest;
	int count = 0;

	if (!text)
		return -1;
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t\r");
		count += *line && *line != '#';
	}
	return count;
}

void
bu_imex_look(const char *root, struct bu_imex *ret)
{
	struct look look = {root, ret};

	memset(ret, 0, sizeof(*ret));
	bu_sysroot_each(root, on_channel, &look, "%s", channels);
	bu_sysroot_each(root, on_process, &look, "proc");
	ret->nodes = count_nodes(root);
}

void
bu_imex_text(const struct bu_imex *imex, char *ret, size_t size)
{
	char nodes[48] = "";

	if (imex->nodes >= 0)
		snprintf(nodes, sizeof(nodes), ", its configuration names %d nodes",
			 imex->nodes);
	snprintf(ret, size, "%s, nvidia-imex %s%s",
		 imex->channel[0] ? imex->channel
		 : imex->channels ? "no channel that can be opened"
				  : "no channel device",
		 imex->runs ? "runs" : "does not run", nodes);
}

void
bu_imex_domain(const struct bu_nvml_facts *facts, char ret[BU_DOMAIN_SIZE])
{
	ret[0] = '\0';
	for (size_t i = 0; i < facts->count && !ret[0]; i++)
		if (facts->gpus[i].fabric_uuid[0])
			snprintf(ret, BU_DOMAIN_SIZE, "%s.%u",
				 facts->gpus[i].fabric_uuid,
				 facts->gpus[i].fabric_clique);
}
