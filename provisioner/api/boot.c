/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a booting machine fetches over plain HTTP. A token is in a script only while the
 * boot that bringup ordered has not been admitted; every other boot goes to the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "images/store.h"
#include "provisioner/api/api.h"
#include "provisioner/api/strangers.h"
#include "provisioner/boot/grub.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/boot/script.h"
#include "provisioner/boot/tftp.h"
#include "provisioner/config/tuning.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/proof.h"

BU_HANDLER(bu_api_boot_first)
{
	const struct bu_api *api = arg;

	reply->text = bu_script_first(api->work.http_url);
	return BU_ANSWER_NOW;
}

/* The folder of the files if the image with this digest is there; owned. */
static char *
digest_dir(const char *images_dir, const struct bu_image_id *id)
{
	bu_autofree char *dir = bu_image_dir(images_dir, id->name, id->digest);

	return bu_image_has_digest(dir, id->digest) ? bu_steal(&dir) : NULL;
}

/* Where a revision by which an order goes says that it lies, else with all others. */
static char *
find_digest(const struct bu_api *api, const struct bu_image_id *id)
{
	const struct bu_desired *desired;
	char *dir = NULL;

	for (size_t i = 0; !dir && (desired = bu_fleet_state(api->fleet, i)); i++) {
		const struct bu_desired_image *image =
			bu_desired_image(desired, id->name);

		if (image && image->path &&
		    bu_confine_check(BU_CONFINE_IMAGES, image->path, O_DIRECTORY,
				     NULL) == 0)
			dir = digest_dir(image->path, id);
	}
	return dir ? dir : digest_dir(api->work.images_dir, id);
}

/* The system that runs from memory has the ramdisk's kernel: there is no other boot in
 * which that could be told what the image's loader would say, and then the profile. */
static char *
ram_kargs(const struct bu_api *api, const struct bu_node *node,
	  const struct bu_desired_node *want)
{
	bu_autofree char *tuned = bu_config_kargs(want), *dir = NULL, *path = NULL;
	bu_autofree char *text = NULL, *all = NULL;
	struct bu_manifest *manifest = NULL;
	struct bu_ram_image image;
	size_t size = 0;

	bu_ram_image(node, &image);
	dir = find_digest(api, &(struct bu_image_id){image.name, image.digest});
	path = bu_xasprintf("%s/manifest.json", dir ? dir : "");
	text = dir ? bu_file_read(path, BU_MANIFEST_MAX, &size, NULL) : NULL;
	manifest = text ? bu_manifest_parse(text, size, NULL) : NULL;
	if (!manifest)
		return bu_steal(&tuned);
	all = bu_xasprintf("%s%s%s", manifest->kargs, *tuned ? " " : "", tuned);
	bu_manifest_destroy(manifest);
	return bu_steal(&all);
}

/* print: in the words of iPXE or of GRUB. */
static char *
agent_script(const struct bu_api *api, const struct bu_node *node,
	     const struct bu_desired_node *want, const char *mac,
	     char *(*print)(const struct bu_script_agent *))
{
	char token[BU_DIGEST_SIZE], boots_from[BU_MAC_SIZE] = "";
	char step[BU_RAM_STEP_SIZE];
	bu_autofree char *system =
		bu_ram_is(api->rec, node) ? ram_kargs(api, node, want) : NULL;
	struct bu_script_agent script = {
		.http_url = api->work.http_url,
		.agent_url = api->agent_url,
		.ca_digest = bu_trust_ca_digest(api->trust),
		.node = node->name,
		.mac = boots_from,
		.token = token,
		.kargs = system ? system : want->kargs,
	};

	bu_mac_normalize(mac, boots_from);
	if (bu_reconcile_boots(node)) {
		bu_trust_token(api->trust, node->step.id, node->step.attempt, token);
	} else {
		bu_ram_step(node, step);
		bu_trust_token(api->trust, step, 1, token);
	}
	return print(&script);
}

/* One that boots from a medium has its token there alone. */
static int
loads_grub(const struct bu_desired_node *want)
{
	return want->hardware->boot_loader == BU_BOOT_LOADER_GRUB &&
	       !bu_medium_is(want);
}

/* GRUB reads files by TFTP: a machine has one exactly while its boot is ordered. */
static void
put_grub(const struct bu_api *api, const struct bu_node *node, int also_removes)
{
	bu_autofree char *text = NULL;
	const struct bu_desired_node *reach = bu_fleet_reach(api->fleet, node);
	struct bu_target target;
	struct bu_err err;
	int grub;

	if (!reach || !reach->mac)
		return;
	/* Two may say that it is theirs; the file is of who has it. */
	if (bu_fleet_node_by_mac(api->fleet, reach->mac) != node)
		return;
	grub = loads_grub(reach);
	if (!grub && !also_removes)
		return;
	if (grub && bu_reconcile_boots(node) && !bu_fence_is_shut(api->fleet) &&
	    bu_fleet_target(api->fleet, node, &target, NULL) == 0)
		text = agent_script(api, node, target.node, reach->mac, bu_grub_agent);
	if (text && bu_tftp_system(api->tftp_dir, api->ramdisk_dir, &err) != 0)
		bu_error("boot", "%s: %s", node->name, err.text);
	if (bu_tftp_put(api->tftp_dir, reach->mac, text, &err) != 0)
		bu_error("boot", "%s: %s", node->name, err.text);
}

/* Has the machine with this MAC a file of its own? */
static int
has_grub(const char *mac, void *arg)
{
	const struct bu_api *api = arg;
	const struct bu_node *node = bu_fleet_node_by_mac(api->fleet, mac);
	const struct bu_desired_node *reach =
		node ? bu_fleet_reach(api->fleet, node) : NULL;

	return reach && reach->mac && strcmp(reach->mac, mac) == 0 &&
	       loads_grub(reach) && bu_reconcile_boots(node);
}

void
bu_api_boot_tell(const struct bu_api *api, const struct bu_node *node)
{
	struct bu_err err;

	if (!api->tftp_dir)
		return;
	/* A MAC or a node may be in the profile no more. */
	if (!node &&
	    bu_tftp_prune(api->tftp_dir, has_grub, (void *)(uintptr_t)api, &err) != 0)
		bu_error("boot", "%s", err.text);
	if (node)
		put_grub(api, node, 0);
	for (size_t i = 0; !node && i < api->fleet->count; i++)
		put_grub(api, api->fleet->nodes[i], 1);
}

static char *
unknown_script(const struct bu_api *api, const char *mac)
{
	return bu_script_boot_agent(&(struct bu_script_agent){
		.http_url = api->work.http_url,
		.agent_url = api->agent_url,
		.ca_digest = bu_trust_ca_digest(api->trust),
		.mac = mac,
	});
}

/* The appliance may not lead, so the machine neither gets a token nor boots what is on
 * its disk. */
static int
waits_for_fence(const struct bu_api *api, const struct bu_node *node,
		struct bu_reply *reply)
{
	struct bu_err why;

	if (bu_fence_check(api->fleet, BU_ERR_BUSY, &why) == 0)
		return 0;
	bu_warn("boot", "%s asks for its boot script: %s", node->name, why.text);
	reply->text = bu_script_wait("the appliance hands out no token yet",
				     api->work.http_url);
	return 1;
}

BU_HANDLER(bu_api_boot_script)
{
	const struct bu_api *api = arg;
	const char *mac = request->params[0];
	char address[BU_ADDRESS_SIZE];
	struct bu_target target;
	struct bu_node *node = bu_fleet_node_by_mac(api->fleet, mac);
	enum bu_ram_script ram;
	int agent;

	if (bu_request_within(request, BU_LIMIT_STRANGERS, err) != 0)
		return BU_ANSWER_ERROR;
	if (!node) {
		char plain[BU_MAC_SIZE] = "(malformed)";

		bu_mac_normalize(mac, plain);
		agent = plain[0] != '(' && bu_api_discovers(api, plain);
		bu_warn("boot",
			"a machine with MAC %s boots; no node of the profile has that "
			"MAC; %s",
			plain, agent ? "it is asked what it is" : "it boots its disk");
		reply->text =
			agent ? unknown_script(api, plain)
			      : bu_script_boot_disk("this MAC is not in the inventory",
						    api->work.http_url);
		return BU_ANSWER_NOW;
	}
	bu_request_address(request, address);
	/* One that boots from a medium has its token there. */
	ram = bu_ram_script(api->rec, node);
	agent = ((bu_reconcile_boots(node) &&
		  !bu_medium_is(bu_fleet_reach(api->fleet, node))) ||
		 ram == BU_RAM_SYSTEM) &&
		bu_fleet_target(api->fleet, node, &target, NULL) == 0;
	if ((agent || ram || bu_reconcile_may_restart_boot(node)) &&
	    bu_stranger_asks(api, node, request, mac)) {
		reply->text = bu_script_boot_disk("this is not its machine",
						  api->work.http_url);
		return BU_ANSWER_NOW;
	}
	if ((agent || ram) && waits_for_fence(api, node, reply))
		return BU_ANSWER_NOW;
	bu_info("boot", "%s asks for its boot script: %s", node->name,
		agent ? "agent"
		: ram ? "later"
		      : "disk");
	if (!ram || agent)
		bu_proof_note(api->rec, node, agent ? BU_PROOF_SCRIPT : BU_PROOF_DISK,
			      address);
	if (!agent)
		bu_reconcile_boot_restarts(api->rec, node);
	reply->text =
		agent ? agent_script(api, node, target.node, mac, bu_script_boot_agent)
		: ram ? bu_script_wait("its system runs from memory, and it cannot "
				       "have it yet",
				       api->work.http_url)
		      : bu_script_boot_disk("no network boot is ordered",
					    api->work.http_url);
	return BU_ANSWER_NOW;
}

static enum bu_answer
send_file(const char *path, struct bu_reply *reply, struct bu_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO,
				  errno, "'%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "'%s' is not a file", path);
	}
	reply->has_fd = 1;
	reply->fd = fd;
	reply->fd_size = (uint64_t)st.st_size;
	reply->content_type = "application/octet-stream";
	return BU_ANSWER_NOW;
}

static void
note_file(const struct bu_api *api, const struct bu_request *request,
	  enum bu_proof_link link)
{
	char address[BU_ADDRESS_SIZE];
	struct bu_node *node;

	bu_request_address(request, address);
	node = bu_proof_of(api->fleet, address);
	if (node)
		bu_proof_note(api->rec, node, link, address);
}

BU_HANDLER(bu_api_boot_file)
{
	const struct bu_api *api = arg;
	const char *name = request->params[0];
	bu_autofree char *path = NULL;

	if (strcmp(name, "ca.pem") == 0) {
		reply->text = bu_xstrdup(bu_trust_ca(api->trust));
		return BU_ANSWER_NOW;
	}
	if (strcmp(name, "vmlinuz") == 0 || strcmp(name, "agent.img") == 0 ||
	    strcmp(name, "disk.efi") == 0)
		path = bu_xasprintf("%s/%s", api->ramdisk_dir, name);
	else
		path = bu_loader_http_path(&api->loader_dirs, name);
	if (!path)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no boot file '%s'", name);
	if (strcmp(name, "vmlinuz") == 0)
		note_file(api, request, BU_PROOF_KERNEL);
	else if (strcmp(name, "agent.img") == 0)
		note_file(api, request, BU_PROOF_RAMDISK);
	return send_file(path, reply, err);
}

BU_HANDLER(bu_api_bundle_file)
{
	const struct bu_api *api = arg;
	const char *name = request->params[0];
	bu_autofree char *path =
		bu_xasprintf("%s/" BU_BUNDLE_DIR "/%s", api->ramdisk_dir, name);

	if (!bu_path_is_name(name))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "the bundle has no file of that name");
	return send_file(path, reply, err);
}
