/* SPDX-License-Identifier: Apache-2.0 */
/* The state that routes work on, and the files with the handlers. */
#ifndef BU_API_API_H
#define BU_API_API_H

#include <stdio.h>

#include "profiles/load/tree.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/api/server.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/gate/gate.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/node/verbs.h"
#include "provisioner/rollout/rollout.h"
#include "provisioner/work/work.h"

/* A plan that was made and not applied. plan and tree are canonical JSON. */
struct bu_kept_plan {
	char digest[65]; /* of the plan */
	char *plan, *tree;
};
enum { BU_PLANS_KEPT = 4 };

/* Sessions of the page; sessions.c. */
struct bu_session;
struct bu_sessions {
	struct bu_session *list;
	size_t count, cap;
};

struct bu_api {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	struct bu_trust *trust;
	struct bu_work_input work; /* sources of work for nodes */
	struct bu_rollouts *rollouts;
	struct bu_gate *gate;
	struct bu_server *server;
	const char *ramdisk_dir; /* vmlinuz, agent.img */
	const char *web_dir;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */
	struct bu_loader_dirs loader_dirs;
	char *tftp_dir;         /* dnsmasq's TFTP folder; NULL = dnsmasq does not run */
	const char *dhcp_range; /* "FIRST,LAST" for unknown machines, or "" */
	const char *agent_url;  /* TLS listener for agents */
	const char *people_listen;   /* "10.0.0.1:8444", TLS; "" = there is none */
	struct bu_person_ca *people; /* of people's certificates; NULL = none come */
	struct bu_kept_plan kept[BU_PLANS_KEPT]; /* the newest first */
	struct bu_scan *scans; /* results of image scanners, unsorted */
	struct bu_scan_manifest
		*scan_manifests;      /* of the images that were read for it */
	struct bu_renderings *status; /* of its present version; NULL = none yet */
	struct bu_backups *backups;   /* NULL = none are made */
	uint64_t image_bytes;         /* of image files, sent since the start */
	struct bu_webhooks *webhooks; /* NULL = there are none */
	struct bu_sessions sessions;
	struct bu_oidc *oidc; /* NULL = nobody comes by an identity provider */
};

/* All routes; ends with a NULL method. */
extern const struct bu_route bu_api_routes[];

#define BU_HANDLER(name)                                                               \
	enum bu_answer name(void *arg, const struct bu_request *request,               \
			    struct bu_reply *reply, struct bu_err *err)

/* boot.c: files for booting machines */
BU_HANDLER(bu_api_boot_first);
BU_HANDLER(bu_api_boot_script);
BU_HANDLER(bu_api_boot_file);
/* boot_media.c: a node's boot medium, for its BMC */
BU_HANDLER(bu_api_boot_medium);
/* Can a medium be made? BU_ERR_NOTFOUND, BU_ERR_VERIFY: err says what to do. */
bu_must int bu_api_medium_check(const struct bu_api *api, struct bu_err *err);
/* Updates the node's files in the TFTP folder; NULL = those of all nodes, for another
 * profile. */
void bu_api_boot_tell(const struct bu_api *api, const struct bu_node *node);
BU_HANDLER(bu_api_bundle_file);
/* image_files.c: files that verified manifests list */
BU_HANDLER(bu_api_image_file);
BU_HANDLER(bu_api_digest_file);
/* discover.c: machines whose MAC is of no node */
BU_HANDLER(bu_api_agent_discover);
BU_HANDLER(bu_api_machines);
/* 1 = a machine with this unknown MAC boots the ramdisk to tell its identity. */
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
/* status.c */
BU_HANDLER(bu_api_status);
void bu_api_forget_status(struct bu_api *api);
/* events.c */
BU_HANDLER(bu_api_events);
/* pairs.c */
BU_HANDLER(bu_api_pairs);
/* operator_routes.c: views for people and tools */
BU_HANDLER(bu_api_audit);
BU_HANDLER(bu_api_audit_blobs);
BU_HANDLER(bu_api_anchor);
/* backups.c */
BU_HANDLER(bu_api_backup);
BU_HANDLER(bu_api_backup_end);
/* site.c */
BU_HANDLER(bu_api_take_over);
BU_HANDLER(bu_api_rekey);
BU_HANDLER(bu_api_rekey_show);
/* rekey.c. ca: the digest of the CAs that the node's agent trusts; NULL = not told.
 * Adds "ca" and "renew" to the answer where they are due. */
void bu_api_rekey_tell(const struct bu_api *api, struct bu_node *node, const char *ca,
		       json_t *answer);
BU_HANDLER(bu_api_start);
BU_HANDLER(bu_api_start_ask);
BU_HANDLER(bu_api_nodes);
BU_HANDLER(bu_api_node);
/* console.c */
BU_HANDLER(bu_api_console);
/* bmc.c: reports of a node's BMC */
BU_HANDLER(bu_api_bmc);
/* web.c */
BU_HANDLER(bu_api_web);
/* plans.c: changes */
BU_HANDLER(bu_api_plan);
BU_HANDLER(bu_api_apply);
/* verbs.c: verbs of nodes */
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
/* meta.c */
BU_HANDLER(bu_api_meta);
/* metrics.c */
BU_HANDLER(bu_api_metrics_get);
BU_HANDLER(bu_api_targets);
/* topology.c */
BU_HANDLER(bu_api_topology);
/* rollouts.c */
BU_HANDLER(bu_api_rollouts);
BU_HANDLER(bu_api_rollout);
BU_HANDLER(bu_api_rollout_pause);
BU_HANDLER(bu_api_rollout_resume);
BU_HANDLER(bu_api_rollout_abort);

/* pools.c */
BU_HANDLER(bu_api_pools);
BU_HANDLER(bu_api_pool_scale);

/* tokens.c */
BU_HANDLER(bu_api_tokens);
BU_HANDLER(bu_api_token_create);
BU_HANDLER(bu_api_token_revoke);
/* Opens people_listen, where there is one. */
bu_must int bu_api_listen_people(const struct bu_api *api, struct bu_err *err);
/* Of struct bu_callers; arg is the struct bu_api. */
bu_must int bu_api_token_open(void *arg, const char *text, struct bu_caller *ret,
			      struct bu_err *err);
/* The caller who comes with this token. */
void bu_api_token_caller(const struct bu_token *token, struct bu_caller *ret);

/* oidc.c: how people log in */
BU_HANDLER(bu_api_login_ways);
/* sessions.c: the page's login */
BU_HANDLER(bu_api_login);
BU_HANDLER(bu_api_logout);
/* Of struct bu_callers; arg is the struct bu_api. BU_ERR_DENIED: the session is over,
 * or its token is. */
bu_must int bu_api_session_open(void *arg, const char *cookie, struct bu_caller *ret,
				struct bu_err *err);
void bu_api_forget_sessions(struct bu_api *api);

/* listed.c: writes the nodes as a list of JSON, as bu_api_shown_node() has each; turns
 * are told as of the fleet's version. */
void bu_api_list_nodes(const struct bu_api *api, struct bu_node *const *nodes,
		       size_t count, FILE *out);
/* Why a node waits for its turn is told anew in the next list. */
void bu_api_list_turns(struct bu_node *const *nodes, size_t count);
/* shown.c: a node in a list, and an order; new references. */
json_t *bu_api_shown_node(const struct bu_fleet *fleet, const struct bu_node *node);
json_t *bu_api_shown_order(const struct bu_order *order);
/* adopts.c: hears the anchor of the hello. 1 = an installed system that this log knows
 * nothing of, or less than the stamp that it shows: it is adopted or refused, and err
 * says so. An agent with a good stamp may speak for its node. known: the node that its
 * certificate speaks for; NULL = none. */
int bu_api_adopts(struct bu_api *api, const struct bu_request *request,
		  const struct bu_node *known, struct bu_err *err);
/* agents.c: the node of the asking agent, by its certificate. */
struct bu_node *bu_api_peer_node(struct bu_api *api, const struct bu_request *request,
				 struct bu_err *err);
/* nodesets.c: BU_ERR_NOTFOUND that says which node may have been meant; always -1. */
int bu_api_no_node(const struct bu_fleet *fleet, const char *name, struct bu_err *err);
/* Names of nodes in natural order, each in the log or in desired (may be
 * NULL). Owned. BU_ERR_NOTFOUND, BU_ERR_INVAL: err names the wrong part. */
struct bu_nodeset *bu_api_nodeset(const struct bu_api *api,
				  const struct bu_desired *desired, const char *text,
				  struct bu_err *err);
/* planning.c: the checked state of a tree. BU_ERR_INVAL with the first error, also of a
 * missing driver or of an address that is the appliance's. Violations of [policy] are
 * left to the plan. */
struct bu_desired *bu_api_desired(const struct bu_api *api, const struct bu_tree *tree,
				  struct bu_err *err);
/* A plan is made of these beside its profile. */
struct bu_api_plan_request {
	const char *commit;
	const char *limit;     /* a nodeset, "" = all */
	const char *restart;   /* nodes whose orders under way begin anew; "" = none */
	enum bu_class rebuild; /* class for all nodes; NONE = as needed */
};
/* The plan from the state of the log to desired. New reference. */
json_t *bu_api_make_plan(struct bu_api *api, const struct bu_desired *desired,
			 const struct bu_api_plan_request *wanted, struct bu_err *err);
/* The plan by the applied revision that writes these nodes anew by this class. */
json_t *bu_api_make_rebuild(struct bu_api *api, enum bu_class class, const char *limit,
			    struct bu_err *err);
/* two_persons.c: may this caller have the plan carried out? BU_ERR_DENIED: its consent
 * is noted, and another person's is missing. */
struct bu_agreement {
	const struct bu_plan *plan;
	const char *digest; /* of the plan */
	const struct bu_desired *desired;
};
bu_must int bu_two_persons_check(struct bu_api *api, const struct bu_agreement *asked,
				 const struct bu_caller *caller, struct bu_err *err);
/* rebuild.c: an answer for each node, as of bu_api_verb(); NULL = nothing was done. New
 * reference. */
json_t *bu_api_rebuild(struct bu_api *api, const struct bu_nodeset *nodes,
		       const struct bu_verb_ask *ask, const struct bu_caller *caller,
		       struct bu_err *err);
/* Stores the blobs of an apply by their digests: the tree, the plan, and the desired
 * facets of each node with a step. */
bu_must int bu_api_store_plan(struct bu_api *api, const struct bu_desired *desired,
			      const json_t *plan, const struct bu_tree *tree,
			      struct bu_err *err);
/* kept.c: keeps the plan until it is applied, BU_PLANS_KEPT newer ones are made or the
 * daemon stops. */
void bu_api_keep_plan(struct bu_api *api, const char *digest, const char *plan,
		      const char *tree);
/* NULL = none with this digest. */
const struct bu_kept_plan *bu_api_kept_plan(const struct bu_api *api,
					    const char *digest);
void bu_api_forget_plans(struct bu_api *api);
/* backups.c: makes them, by the profile's interval and as asked, and writes an anchor
 * of the log to the journal of the system each hour. state: the state directory; conf:
 * the path of bringupd.conf; program: NULL = the installed
 * bringup-backup. */
struct bu_backups_opts {
	struct bu_api *api;
	const char *state, *conf, *program;
};
struct bu_backups *bu_backups_create(const struct bu_backups_opts *opts);
void bu_backups_destroy(struct bu_backups *backups);
/* The last one, for the status; backups may be NULL. New reference. */
json_t *bu_backups_json(const struct bu_backups *backups);
/* webhooks.c: rows of the log, posted to addresses of bringupd.conf in their order,
 * each until its receiver has taken it (HTTP status 2xx). opts have passed
 * bu_webhook_check(), and are borrowed. Each webhook goes on after the last row that
 * the log says was delivered; one that the log does not know begins with the next row.
 */
struct bu_webhook_opts;
struct bu_webhooks *bu_webhooks_create(struct bu_api *api,
				       const struct bu_webhook_opts *opts,
				       size_t count);
/* Notes in the log how far each is. webhooks may be NULL. */
void bu_webhooks_destroy(struct bu_webhooks *webhooks);
/* Unix time of the oldest event that receiver `at` has not taken, with its name; 0 =
 * none waits. -1 = there is no such receiver. webhooks may be NULL. */
int64_t bu_webhooks_waiting(const struct bu_webhooks *webhooks, size_t at,
			    const char **ret_name);
/* scanner.c: starts the program of [policy] scanner for each image without a recent
 * result. 1 = a result is missing; the handler is asked again when it is there. */
int bu_api_scan(struct bu_api *api, const struct bu_desired *desired);
/* The refusal of the image with this digest, as words after its name; "" = accepted, or
 * no scanner. */
void bu_api_scanned(const struct bu_api *api, const struct bu_desired_image *image,
		    const char *digest, char *ret, size_t size);
void bu_api_forget_scans(struct bu_api *api);

#endif
