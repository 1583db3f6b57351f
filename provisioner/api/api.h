/* SPDX-License-Identifier: Apache-2.0 */
/* What the routes work on, and the files that hold them. */
#ifndef BU_API_API_H
#define BU_API_API_H

#include "base/secrets.h"
#include "profiles/load/tree.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/api/server.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/gate/gate.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/node/verbs.h"
#include "provisioner/plan/plan.h"
#include "provisioner/rollout/rollout.h"
#include "provisioner/rollout/travel.h"

/* One that was made: texts in their canonical form. */
struct bu_kept_plan {
	char digest[65]; /* of the plan */
	char *plan, *tree;
};
enum { BU_PLANS_KEPT = 4 };

struct bu_api {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const struct bu_trust *trust;
	struct bu_rollouts *rollouts;
	struct bu_gate *gate;
	struct bu_travels *travels;
	struct bu_server *server;
	struct bu_secrets *secrets;
	const char *images_dir;
	const char *image_key; /* path of the public key when the profile names none */
	const char *ramdisk_dir; /* vmlinuz, agent.img */
	const char *web_dir;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */
	const char *boot_address;       /* ours in the boot network */
	struct bu_loader_dirs loader_dirs;
	char *tftp_dir;         /* what dnsmasq serves; NULL = it does not run */
	const char *dhcp_range; /* "FIRST,LAST" for unknown machines, or "" */
	const char *http_url;   /* plain listener for booting nodes */
	const char *agent_url;  /* TLS listener for agents */
	struct bu_kept_plan kept[BU_PLANS_KEPT]; /* the newest first */
};

/* All routes; ends with a NULL method. */
extern const struct bu_route bu_api_routes[];

#define BU_HANDLER(name)                                                               \
	enum bu_answer name(void *arg, const struct bu_request *request,               \
			    struct bu_reply *reply, struct bu_err *err)

/* boot.c: what a booting machine fetches */
BU_HANDLER(bu_api_boot_first);
BU_HANDLER(bu_api_boot_script);
BU_HANDLER(bu_api_boot_file);
/* boot_media.c: a node's boot medium, which its BMC fetches */
BU_HANDLER(bu_api_boot_medium);
/* Can one be made? BU_ERR_NOTFOUND, BU_ERR_VERIFY: no, and what to do. */
bu_must int bu_api_medium_check(const struct bu_api *api, struct bu_err *err);
/* What is served by TFTP follows the node; NULL: all of them, by another profile. */
void bu_api_boot_tell(const struct bu_api *api, const struct bu_node *node);
BU_HANDLER(bu_api_bundle_file);
BU_HANDLER(bu_api_image_file);
BU_HANDLER(bu_api_digest_file);
/* discover.c: machines that no MAC leads to */
BU_HANDLER(bu_api_agent_discover);
BU_HANDLER(bu_api_machines);
/* Such a one boots the ramdisk and is asked what it is. */
int bu_api_discovers(const struct bu_api *api, const char *mac);
/* agents.c: the agents' protocol */
BU_HANDLER(bu_api_agent_enroll);
BU_HANDLER(bu_api_agent_renew);
BU_HANDLER(bu_api_agent_hostkey);
BU_HANDLER(bu_api_agent_volumes);
BU_HANDLER(bu_api_agent_hello);
BU_HANDLER(bu_api_agent_work);
BU_HANDLER(bu_api_agent_progress);
BU_HANDLER(bu_api_agent_confirm);
BU_HANDLER(bu_api_agent_clock);
BU_HANDLER(bu_api_agent_result);
/* operator_routes.c: what people and tools look at */
BU_HANDLER(bu_api_status);
BU_HANDLER(bu_api_events);
BU_HANDLER(bu_api_audit);
BU_HANDLER(bu_api_nodes);
BU_HANDLER(bu_api_node);
/* console.c */
BU_HANDLER(bu_api_console);
/* bmc.c: what a node's BMC says now */
BU_HANDLER(bu_api_bmc);
/* web.c */
BU_HANDLER(bu_api_web);
/* plans.c: what changes something */
BU_HANDLER(bu_api_plan);
BU_HANDLER(bu_api_apply);
/* verbs.c: what is asked of nodes */
BU_HANDLER(bu_api_verb);
BU_HANDLER(bu_api_node_verb);
/* fabric.c */
BU_HANDLER(bu_api_verdict);
BU_HANDLER(bu_api_again);
BU_HANDLER(bu_api_node_fabric);
BU_HANDLER(bu_api_fabric_run);
BU_HANDLER(bu_api_fabric_runs);
/* nocloud.c */
BU_HANDLER(bu_api_nocloud);
/* image_uses.c */
BU_HANDLER(bu_api_image_uses);
/* topology.c */
BU_HANDLER(bu_api_topology);
/* rollouts.c */
BU_HANDLER(bu_api_rollouts);
BU_HANDLER(bu_api_rollout);
BU_HANDLER(bu_api_rollout_pause);
BU_HANDLER(bu_api_rollout_resume);
BU_HANDLER(bu_api_rollout_abort);

/* agents.c: the node of the agent that asks, by its certificate. */
struct bu_node *bu_api_peer_node(struct bu_api *api, const struct bu_request *request,
				 struct bu_err *err);
/* nodesets.c: names of nodes, in natural order; each is in the log or in desired (which
 * may be NULL). Owned; BU_ERR_NOTFOUND, BU_ERR_INVAL say which part is wrong. */
struct bu_nodeset *bu_api_nodeset(const struct bu_api *api,
				  const struct bu_desired *desired, const char *text,
				  struct bu_err *err);
/* work.c: the work item of the node's open step, NULL and err when it cannot be made.
 * New reference. */
json_t *bu_api_load_work(const struct bu_api *api, const struct bu_node *node,
			 const struct bu_ram_image *image, struct bu_err *err);
json_t *bu_api_step_work(const struct bu_api *api, const struct bu_node *node,
			 struct bu_err *err);
/* nocloud.c: the user data of what this step installs; owned. */
char *bu_api_user_data(const struct bu_api *api, const struct bu_node *node,
		       const struct bu_target *target, const char *step,
		       struct bu_err *err);
/* node_config.c: its files; *ret_network (owned; NULL = it is not asked for) is the
 * network for cloud-init. */
struct bu_config *bu_api_node_config(const struct bu_api *api,
				     const struct bu_node *node,
				     const struct bu_target *target, char **ret_network,
				     struct bu_err *err);
/* How the node's network differs from its profile: findings of
 * provisioner/config/drift.h; empty when there is nothing to say. New reference. */
json_t *bu_api_drift(const struct bu_api *api, const struct bu_node *node);
/* planning.c: the checked state of a tree; BU_ERR_INVAL with the first error, of what
 * no driver does and of addresses that are the appliance's, too. What [policy] forbids
 * is the plan's to say. */
struct bu_desired *bu_api_desired(const struct bu_api *api, const struct bu_tree *tree,
				  struct bu_err *err);
/* The plan that leads there from what the log says. limit: a nodeset, "" = all. New
 * reference. */
json_t *bu_api_make_plan(struct bu_api *api, const struct bu_desired *desired,
			 const char *commit, const char *limit, struct bu_err *err);
/* The same of the applied revision, with these nodes written anew by this class. */
json_t *bu_api_make_rebuild(struct bu_api *api, enum bu_class class, const char *limit,
			    struct bu_err *err);
/* rebuild.c: an answer for each node, as of bu_api_verb; NULL when nothing was done.
 * New reference. */
json_t *bu_api_rebuild(struct bu_api *api, const struct bu_nodeset *nodes,
		       const struct bu_verb_ask *ask, struct bu_err *err);
/* Puts what an apply refers to into the store, each by its digest: the tree, the plan,
 * and what each node with a step should have. */
bu_must int bu_api_store_plan(struct bu_api *api, const struct bu_desired *desired,
			      const json_t *plan, const struct bu_tree *tree,
			      struct bu_err *err);
/* kept.c: until it is applied, others are made, or the daemon stops. */
void bu_api_keep_plan(struct bu_api *api, const char *digest, const char *plan,
		      const char *tree);
/* NULL = there is none of this digest. */
const struct bu_kept_plan *bu_api_kept_plan(const struct bu_api *api,
					    const char *digest);
void bu_api_forget_plans(struct bu_api *api);
/* images.c: the desired image's manifest, checked with its key; borrowed until the next
 * call. A callback of struct bu_plan_input. */
const struct bu_plan_image *bu_api_plan_image(void *api,
					      const struct bu_desired_image *image,
					      struct bu_err *err);
/* The keys of which one must have signed it, PEM; "": it has no signature, and the
 * policy lets it pass. digest: NULL = the one that has the name now. Owned. */
char *bu_api_image_keys(const struct bu_api *api, const struct bu_desired_image *image,
			const char *digest, struct bu_err *err);
/* The same for the image that a node's boot loads: its own ones, whatever the profile
 * says since it was installed. Owned. */
char *bu_api_loaded_keys(const struct bu_api *api, const struct bu_node *node,
			 const struct bu_target *target,
			 const struct bu_ram_image *image, struct bu_err *err);

#endif
