/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the profile to the texts for cluster drivers. Called by joining.c, replay and
 * work/. Invariant: a driver sees texts of the profile and none of its structs.
 */
#include "provisioner/node/membership.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

void
bu_membership_site(const struct bu_desired_cluster *cluster,
		   struct bu_cluster_site *ret)
{
	*ret = (struct bu_cluster_site){.name = cluster->name,
					.driver = cluster->driver,
					.controller = cluster->controller,
					.conf = cluster->conf_path,
					.key = cluster->key,
					.token = cluster->token,
					.ca = cluster->ca};
}

int
bu_membership_member(const struct bu_desired_node *want, char address[INET_ADDRSTRLEN],
		     struct bu_cluster_member *ret, struct bu_err *err)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(want, BU_ROLE_BOOT);

	if (!boot || bu_desired_node_address(want, boot, address) < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: has no address in a boot network", want->name);
	*ret = (struct bu_cluster_member){.name = want->name,
					  .address = address,
					  .features = want->features,
					  .gres = want->gres,
					  .labels = want->labels,
					  .taints = want->taints};
	return 0;
}

int
bu_membership_acceptance(const struct bu_desired_node *want,
			 struct bu_cluster_acceptance *ret)
{
	const struct bu_desired_validation *validation = want ? want->validation : NULL;

	if (!validation || !validation->acceptance || !want->cluster)
		return 0;
	*ret = (struct bu_cluster_acceptance){
		.command = validation->acceptance,
		.image = validation->acceptance_image,
		.least = validation->acceptance_min,
		.limit_ms = validation->acceptance_timeout_ms};
	return 1;
}

/* A round of the cluster's driver: its queue, then the job. */
int64_t
bu_membership_acceptance_ms(const struct bu_desired_node *want)
{
	enum { ROUNDS = 4, QUEUE_MS = 180000 };
	struct bu_cluster_acceptance acceptance;

	if (!bu_membership_acceptance(want, &acceptance))
		return 0;
	return ROUNDS * (acceptance.limit_ms + QUEUE_MS);
}

void
bu_membership_joined(const struct bu_desired_node *want, struct bu_joined *ret)
{
	const struct bu_cluster_driver *driver =
		bu_cluster_driver(want->cluster->driver);
	struct bu_cluster_site site;

	static_assert(sizeof(ret->handle) == BU_CLUSTER_HANDLE_SIZE, "handles fit");
	bu_membership_site(want->cluster, &site);
	BU_TEXT_COPY(ret->cluster, site.name);
	BU_TEXT_COPY(ret->driver, site.driver);
	BU_TEXT_COPY(ret->node, want->name);
	ret->handle[0] = '\0';
	if (driver)
		driver->handle(&site, ret->handle);
}
