/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work items of steps: what the agent has to do, complete, so that it needs to ask
 * nothing more. Made anew at each request from the log's facts: the same step gives the
 * same item. Invariant: what a step does to a node is what its order's revision says,
 * all of it, whatever was applied since.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "model/applied.h"
#include "model/work.h"
#include "profiles/export/facets.h"
#include "provisioner/config/nocloud.h"
#include "provisioner/config/render.h"
#include "provisioner/config/tuning.h"
#include "provisioner/node/issued.h"
#include "provisioner/node/membership.h"
#include "provisioner/work/disks.h"
#include "provisioner/work/work.h"

/* What a mark or a stamp is of. */
struct note {
	const char *kind, *step;
	struct bu_ram_image image;
	json_t *disks; /* by their serial numbers; NULL = it names none */
};

static json_t *
signed_note(const struct bu_work_input *input, const struct bu_node *node,
	    const struct note *note, struct bu_err *err)
{
	bu_autojson json_t *body = json_pack(
		"{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:O*}", "v", 1, "kind", note->kind,
		"node", node->name, "machine", node->machine, "step", note->step,
		"image", note->image.name, "digest", note->image.digest, "epoch",
		(json_int_t)input->fleet->epoch, "disks", note->disks);

	return bu_trust_sign(input->trust, body, err);
}

static struct bu_work
work_of(const struct bu_node *node)
{
	return (struct bu_work){.id = node->step.id, .attempt = node->step.attempt};
}

/* The files of a configuration, and last of all the record of them. */
struct written {
	struct bu_work_file *files;
	size_t count;
	char *record;
};

/* What a file that bringup did not write stands in the way of; how many. */
static size_t
patterns_of(const struct bu_target *target, const char *ret[BU_WORK_WORDS_MAX])
{
	size_t count = 0;

	/* Another image than ours has a file system table of its own. */
	for (const char *const *p = bu_config_patterns; *p; p++)
		if (!bu_desired_is_raw(target->node) || strcmp(*p, "/etc/fstab") != 0)
			ret[count++] = *p;
	return count;
}

/* Those of its order, by which the log has them. */
static void
facets_of(const struct bu_node *node, const struct bu_target *target, char ret[65])
{
	bu_autojson json_t *facets = NULL;

	if (node->order->open && node->order->begun && node->order->facets[0]) {
		bu_text_copy(ret, 65, node->order->facets);
		return;
	}
	facets = bu_facets_json(target->desired, target->node);
	bu_json_digest(facets, ret);
}

/* kargs: NULL = the node's kernel arguments are not written with them. */
static void
record(const struct bu_node *node, const struct bu_target *target,
       struct bu_config *config, const char *step, const char *kargs,
       struct written *ret)
{
	struct bu_applied applied = {.node = node->name, .step = step, .kargs = kargs};
	const struct bu_work_file *rows = bu_config_rows(config);
	char facets[65];

	*ret = (struct written){.count = config->count};
	ret->files = bu_xcalloc(config->count + 1, sizeof(*ret->files));
	memcpy(ret->files, rows, config->count * sizeof(*rows));
	/* Without one its agent tells nothing of them. */
	if (config->count >= BU_WORK_FILES_MAX)
		return;
	facets_of(node, target, facets);
	applied.facets = facets;
	applied.patterns_count = patterns_of(target, applied.patterns);
	ret->record = bu_applied_text(&applied, rows, config->count);
	ret->files[ret->count++] = (struct bu_work_file){
		.path = BU_APPLIED_PATH, .mode = 0600, .content = ret->record};
}

static void
written_fini(struct written *written)
{
	free(written->files);
	free(written->record);
}

/* What the installer leaves for cloud-init on a disk that somebody else made. */
struct seed {
	struct bu_work_file files[3];
	char *owned[3];
};

static int
set_seed(struct bu_work_install *work, const struct bu_work_input *input,
	 const struct bu_node *node, const struct bu_target *target, struct seed *seed,
	 struct bu_err *err)
{
	static const char *const paths[] = {"/meta-data", "/user-data",
					    "/network-config"};
	const struct bu_nocloud what = {.node = node->name, .instance = node->step.id};

	bu_config_destroy(bu_work_config(input, node, target, &seed->owned[2], err));
	if (seed->owned[2])
		seed->owned[1] =
			bu_work_user_data(input, node, target, node->step.id, err);
	if (!seed->owned[1])
		return -1;
	seed->owned[0] = bu_nocloud_meta(&what);
	for (size_t i = 0; i < BU_LEN(paths); i++)
		seed->files[i] = (struct bu_work_file){
			.path = paths[i], .mode = 0600, .content = seed->owned[i]};
	work->raw = 1;
	work->kexec = work->keep = 0;
	work->files = seed->files;
	work->files_count = BU_LEN(paths);
	return 0;
}

static json_t *
install_work(const struct bu_work_input *input, const struct bu_node *node,
	     const struct bu_target *target, struct bu_err *err)
{
	bu_autofree char *key = bu_work_image_keys(input, target->node->image,
						   node->order->image_digest, err);
	/* The image that was ordered, whatever is built or applied meanwhile. */
	bu_autofree char *url = bu_xasprintf("%s/digests/%s", input->http_url,
					     node->order->image_digest);
	struct bu_work_install work = {
		.work = work_of(node),
		.base_url = url,
		.image = node->order->image,
		.digest = node->order->image_digest,
		.image_key = key,
		.appliance_key = bu_trust_public_key(input->trust),
		.kexec = strcmp(target->node->hardware->kexec, "yes") == 0,
	};
	const struct bu_ram_image ordered = {node->order->image,
					     node->order->image_digest};
	bu_autojson json_t *mark = NULL, *stamp = NULL, *disks = NULL;
	struct bu_seen_disk seen;
	struct seed seed = {.owned = {NULL}};
	struct written written = {NULL, 0, NULL};
	struct bu_config *config =
		key ? bu_work_config(input, node, target, NULL, err) : NULL;
	json_t *item = NULL;

	if (config && bu_work_set_disks(&work, input, node, target, &seen, err) == 0)
		disks = bu_work_written_disks(&work);
	if (disks)
		mark = signed_note(
			input, node,
			&(struct note){"mark", node->step.id, ordered, disks}, err);
	if (mark)
		stamp = signed_note(
			input, node,
			&(struct note){"stamp", node->step.id, ordered, NULL}, err);
	if (stamp &&
	    bu_record_from_json(bu_work_note_fields, mark, &work.mark, err) == 0 &&
	    bu_record_from_json(bu_work_note_fields, stamp, &work.stamp, err) == 0) {
		work.kargs = config->kargs;
		record(node, target, config, node->step.id, config->kargs, &written);
		work.files = written.files;
		work.files_count = written.count;
		if (!bu_desired_is_raw(target->node) ||
		    set_seed(&work, input, node, target, &seed, err) == 0)
			item = bu_record_to_json(bu_work_install_fields, &work);
	}
	for (size_t i = 0; i < BU_LEN(seed.owned); i++)
		free(seed.owned[i]);
	written_fini(&written);
	bu_config_destroy(config);
	return item;
}

/* The system that it is in is made anew with what the profile says now, or its order.
 */
json_t *
bu_work_make_load(const struct bu_work_input *input, const struct bu_node *node,
		  const struct bu_ram_image *image, struct bu_err *err)
{
	bu_autofree char *key = NULL, *url = NULL;
	bu_autojson json_t *stamp = NULL;
	struct bu_config *config = NULL;
	struct bu_work_load work = {.image = image->name, .digest = image->digest};
	struct bu_target target;
	struct written written = {NULL, 0, NULL};
	json_t *item = NULL;

	work.work = (struct bu_work){.id = node->admitted_step,
				     .attempt = node->live.load->attempt + 1};
	if (bu_fleet_target(input->fleet, node, &target, err) != 0)
		return NULL;
	key = bu_work_loaded_keys(input, node, &target, image, err);
	if (key)
		config = bu_work_config(input, node, &target, NULL, err);
	if (config)
		stamp = signed_note(
			input, node,
			&(struct note){"stamp", node->admitted_step, *image, NULL},
			err);
	if (stamp &&
	    bu_record_from_json(bu_work_note_fields, stamp, &work.stamp, err) == 0) {
		url = bu_xasprintf("%s/digests/%s", input->http_url, image->digest);
		work.base_url = url;
		work.image_key = key;
		record(node, &target, config, node->admitted_step, NULL, &written);
		work.files = written.files;
		work.files_count = written.count;
		item = bu_record_to_json(bu_work_load_fields, &work);
	}
	written_fini(&written);
	bu_config_destroy(config);
	return item;
}

/* What a reboot needs is written now and holds with it; everything else holds at once,
 * also on a node that has left its cluster for a restart. Who does not boot next (it is
 * measured anew, or parked, in the middle of its order) stays on: nobody would start
 * it.
 */
static json_t *
configure_work(const struct bu_work_input *input, const struct bu_node *node,
	       const struct bu_target *target, struct bu_err *err)
{
	int reboots = node->order->class == BU_CLASS_REBOOT;
	struct bu_config *config = bu_work_config(input, node, target, NULL, err);
	struct bu_work_configure work = {
		.work = work_of(node),
		.live = !reboots,
		.then = reboots && node->next->state == BU_STATE_BOOTING ? "off" : "",
		.confirm_ms = target->node->pool->confirm_deadline_ms,
	};
	struct written written;
	json_t *item;

	if (!config)
		return NULL;
	work.patterns_count = patterns_of(target, work.patterns);
	/* What boots from the network has them from there; another boot loader than
	 * ours is not touched. */
	work.kargs =
		node->ram || bu_desired_is_raw(target->node) ? NULL : config->kargs;
	record(node, target, config, node->step.id, work.kargs, &written);
	work.files = written.files;
	work.files_count = written.count;
	item = bu_record_to_json(bu_work_configure_fields, &work);
	written_fini(&written);
	bu_config_destroy(config);
	return item;
}

/* The cluster makes the secret of each node's client, and wakes who waits for it. */
static int
issued(const struct bu_work_input *input, const struct bu_node *node, char **ret_secret,
       size_t *ret_size, struct bu_err *err)
{
	const char *secret = bu_issued_secret(input->fleet, node, ret_size);

	if (!secret)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "the secret of its client is made");
	*ret_secret = bu_xcalloc(1, *ret_size + 1);
	memcpy(*ret_secret, secret, *ret_size);
	return 0;
}

static int
make_client(const struct bu_work_input *input, const struct bu_node *node,
	    const struct bu_desired_node *want, struct bu_cluster_client *ret,
	    struct bu_err *err)
{
	const struct bu_cluster_driver *driver =
		bu_cluster_driver(want->cluster->driver);
	struct bu_cluster_member member;
	struct bu_cluster_site site;
	char address[INET_ADDRSTRLEN], *secret = NULL;
	const char *reference;
	size_t size = 0;
	int rc = -1;

	if (!driver)
		return bu_err_set(err, BU_ERR_INVAL, 0, "no cluster driver '%s'",
				  want->cluster->driver);
	bu_membership_site(want->cluster, &site);
	reference = driver->secret(&site);
	if (bu_membership_member(want, address, &member, err) != 0)
		return -1;
	if (driver->issue && issued(input, node, &secret, &size, err) != 0)
		return bu_err_wrap(err, "cluster %s", site.name);
	if (reference)
		secret = bu_secrets_get(input->secrets, reference, &size, err);
	if (secret || !reference)
		rc = driver->client(&site, &member, secret, size, ret, err);
	bu_secret_free(secret, size);
	return rc == 0 ? 0 : bu_err_wrap(err, "cluster %s", site.name);
}

/* Nodes without a cluster have nothing to start; their certificates are kept as well.
 */
static json_t *
join_work(const struct bu_work_input *input, const struct bu_node *node,
	  const struct bu_desired_node *want, struct bu_err *err)
{
	struct bu_work_join work = {.work = work_of(node)};
	struct bu_cluster_client client = {.files_count = 0};
	bu_autofree char *full =
		bu_fleet_certificate(input->fleet, node, BU_FABCERT_FULL, err);
	bu_autofree char *boot = NULL;
	json_t *item;

	if (full)
		boot = bu_fleet_certificate(input->fleet, node, BU_FABCERT_BOOT, err);
	if (!boot) {
		bu_err_wrap(err, "node %s", node->name);
		return NULL;
	}
	work.full =
		(struct bu_work_cert){bu_certificate_kinds[BU_CERTIFICATE_FULL], full};
	work.boot =
		(struct bu_work_cert){bu_certificate_kinds[BU_CERTIFICATE_BOOT], boot};
	if (want->cluster && make_client(input, node, want, &client, err) != 0)
		return NULL;
	for (size_t i = 0; i < client.services_count; i++)
		work.services[work.services_count++] = client.services[i];
	work.files = client.files;
	work.files_count = client.files_count;
	item = bu_record_to_json(bu_work_join_fields, &work);
	bu_cluster_client_fini(&client);
	return item;
}

json_t *
bu_work_make_step(const struct bu_work_input *input, const struct bu_node *node,
		  struct bu_err *err)
{
	struct bu_target target;

	if (bu_fleet_target(input->fleet, node, &target, err) != 0)
		return NULL;
	if (node->step.action == BU_ACTION_INSTALL)
		return install_work(input, node, &target, err);
	if (node->step.action == BU_ACTION_CONFIGURE)
		return configure_work(input, node, &target, err);
	return join_work(input, node, target.node, err);
}
