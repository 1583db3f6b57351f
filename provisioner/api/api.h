/* SPDX-License-Identifier: Apache-2.0 */
/* What the routes work on, and the files that hold them. */
#ifndef BU_API_API_H
#define BU_API_API_H

#include "profiles/load/tree.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/api/server.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/gate/gate.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/node/verbs.h"
#include "provisioner/rollout/rollout.h"
#include "provisioner/work/work.h"

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
	struct bu_work_input work; /* of what nodes are told to do */
	struct bu_rollouts *rollouts;
	struct bu_gate *gate;
	struct bu_server *server;
	const char *ramdisk_dir; /* vmlinuz, agent.img */
	const char *web_dir;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */
	struct bu_loader_dirs loader_dirs;
	char *tftp_dir;         /* what dnsmasq serves; NULL = it does not run */
	const char *dhcp_range; /* "FIRST,LAST" for unknown machines, or "" */
	const char *agent_url;  /* TLS listener for agents */
	struct bu_kept_plan kept[BU_PLANS_KEPT]; /* the newest first */
	struct bu_scan *scans;                   /* answers of scanners, in no order */
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
/* image_files.c: what verified manifests list */
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
/* planning.c: the checked state of a tree; BU_ERR_INVAL with the first error, of what
 * no driver does and of addresses that are the appliance's, too. What [policy] forbids
 * is the plan's to say. */
struct bu_desired *bu_api_desired(const struct bu_api *api, const struct bu_tree *tree,
				  struct bu_err *err);
/* What a plan is asked for beside its profile. */
struct bu_api_wish {
	const char *commit;
	const char *limit; /* a nodeset, "" = all */
	const char
		*restart; /* whose orders under way begin anew: likewise, "" = none */
	enum bu_class rebuild; /* all of them are written anew by; NONE = as needed */
};
/* The plan that leads there from what the log says. New reference. */
json_t *bu_api_make_plan(struct bu_api *api, const struct bu_desired *desired,
			 const struct bu_api_wish *wish, struct bu_err *err);
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
/* scanner.c: asks the program of [policy] scanner for each image that it has not judged
 * lately. 1 = an answer is still out: the handler is asked again when it is there. */
int bu_api_scan(struct bu_api *api, const struct bu_desired *desired);
/* Why the image with this digest is kept out, as words behind its name; "" = it has no
 * scanner, or was accepted. */
void bu_api_scanned(const struct bu_api *api, const struct bu_desired_image *image,
		    const char *digest, char *ret, size_t size);
void bu_api_forget_scans(struct bu_api *api);

#endif
