/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes slurmd run on a node: a drop-in of its unit, which tells it where
 * slurmctld is and as what the node registers, and the key of munge. Invariants: the
 * node registers as drained, and takes work only when bringup says so; slurmd does not
 * start in a boot that has no certificate.
 */
#include <string.h>

#include "provisioner/cluster/slurm/op.h"

#define HEAD "# Written by bringup; changes are lost.\n"

/* For HealthCheckProgram of slurm.conf: where slurmd is started by others, the unit's
 * condition is not theirs. slurmd runs it before it registers, and slurmctld lets root
 * of the node drain it. bringup's mark lets a join resume it. */
static const char gate[] =
	"#!/bin/sh\n" HEAD "[ ! -e " BU_CLUSTER_CERTIFIED " ] || exit 0\n"
	"scontrol update nodename=\"${SLURMD_NODENAME:-$(hostname -s)}\" state=drain \\\n"
	"\treason='" BU_SLURM_MARK " this boot has no certificate'\n"
	"exit 1\n";

/* NodeAddr: slurmctld must never wait for a name that does not resolve. */
int
bu_slurm_client(const struct bu_cluster_site *site,
		const struct bu_cluster_member *member, const void *secret,
		size_t secret_size, struct bu_cluster_client *ret, struct bu_err *err)
{
	const char *features = member->features ? member->features : "";
	const char *gres = member->gres ? member->gres : "";
	bu_autofree char *unit = bu_xasprintf(
		HEAD "[Unit]\nConditionPathExists=\n"
		     "ConditionPathExists=" BU_CLUSTER_CERTIFIED
		     "\n\n[Service]\nExecStart=\n"
		     "ExecStart=/usr/sbin/slurmd -D -Z --conf-server %s --conf "
		     "\"State=DRAIN NodeAddr=%s%s%s%s%s\"\n",
		site->controller, member->address, *features ? " Feature=" : "",
		features, *gres ? " Gres=" : "", gres);

	*ret = (struct bu_cluster_client){.services = {"munge", "slurmd"},
					  .services_count = 2};
	if (!secret)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "a node joins with the key of munge; give [cluster "
				  "%s] munge_key",
				  site->name);
	bu_cluster_client_add(ret, "/etc/systemd/system/slurmd.service.d/bringup.conf",
			      0644, NULL, unit, strlen(unit));
	bu_cluster_client_add(ret, BU_CLUSTER_CERTIFIED, 0644, NULL, member->name,
			      strlen(member->name));
	bu_cluster_client_add(ret, "/usr/lib/bringup/slurm-gate", 0755, NULL, gate,
			      strlen(gate));
	bu_cluster_client_add(ret, "/etc/munge/munge.key", 0400, "munge", secret,
			      secret_size);
	return 0;
}

const char *
bu_slurm_secret(const struct bu_cluster_site *site)
{
	return site->key;
}
