/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of commands, for `bringup help` and the man pages. Each line is parsed by a
 * test as a person would type it. */
#include <string.h>

#include "base/text.h"
#include "cli/table.h"

static const struct {
	const char *name, *lines;
} examples[] = {
	{"check", "check ."},
	{"plan", "plan .\nplan --git https://git.example.com/site.git --ref main\n"
		 "plan . --limit @train --out train.plan"},
	{"apply", "apply . --wait\napply . --grant reimage:gpu[001-016]\n"
		  "apply train.plan --yes"},
	{"export", "export . --json\nexport . --hosts"},
	{"status", "status\nstatus --watch"},
	{"start", "start\nstart --next --reason 'gpu007 has no BMC'"},
	{"events", "events --node gpu007 --limit 20\nevents --follow"},
	{"node list", "node list state=quarantined\n"
		      "node list @train!rack=r12 -o hostlist\nnode list --unknown"},
	{"node show", "node show gpu007\nnode show gpu007 --origin ."},
	{"node why", "node why gpu007\nnode why state=failed"},
	{"node console", "node console gpu007 --follow"},
	{"node drain", "node drain gpu007 --reason 'fan 3'"},
	{"node resume", "node resume gpu007"},
	{"node hold", "node hold gpu007 --reason 'ticket 4711'"},
	{"node rebuild", "node rebuild gpu007 --grant reimage"},
	{"login",
	 "login https://10.0.0.1:8444 --ca ca.pem --context prod --token-stdin\n"
	 "login https://10.0.0.1:8444 --ca ca.pem --context prod --oidc"},
	{"token create", "token create ci --role viewer --for 90d"},
	{"token revoke", "token revoke ci"},
	{"pool scale", "pool scale infer 12 --reason 'evening load'"},
	{"cluster manifest", "cluster manifest serving"},
	{"rollout show", "rollout show"},
	{"rollout abort", "rollout abort r-20261130-1"},
	{"fabric run", "fabric run gpu[001-008]"},
	{"fabric show", "fabric show gpu007"},
	{"fabric matrix", "fabric matrix @train"},
	{"fabric topology", "fabric topology slurm"},
};

const char *
bu_command_examples(const struct bu_command *command)
{
	for (size_t i = 0; i < BU_LEN(examples); i++)
		if (strcmp(examples[i].name, command->name) == 0)
			return examples[i].lines;
	return NULL;
}
