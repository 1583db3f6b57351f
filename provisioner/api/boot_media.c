/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's boot medium: the image of all, with the node's own lines laid over two of
 * its blocks. Its BMC fetches it, in many pieces. Called by routes.c and planning.c.
 * Invariant: a request without the secret of the present step gets nothing; once its
 * boot was admitted there is no such secret.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "provisioner/api/api.h"
#include "provisioner/boot/media.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/proof.h"

enum { ADDRESS_SIZE = 2 * INET_ADDRSTRLEN + 8 };

/* The node's address in the boot network; "" = the profile gives none. */
static void
static_address(const struct bu_desired_node *want, char ret[ADDRESS_SIZE])
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(want, BU_ROLE_BOOT);
	char address[INET_ADDRSTRLEN];

	ret[0] = '\0';
	if (boot && bu_desired_node_address(want, boot, address) == 0)
		snprintf(ret, ADDRESS_SIZE, "%s/%d%s%s", address, boot->cidr.prefix_len,
			 boot->gateway ? "," : "", boot->gateway ? boot->gateway : "");
}

/* The image, open; its size. */
static int
open_image(const struct bu_api *api, uint64_t *ret_size, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" BU_MEDIA_FILE, api->ramdisk_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO,
				  errno,
				  "boot medium '%s'; bringup image build ramdisk "
				  "makes it",
				  path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "'%s' is not a file", path);
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

int
bu_api_medium_check(const struct bu_api *api, struct bu_err *err)
{
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];
	uint64_t size;
	int fd = open_image(api, &size, err), rc;

	if (fd < 0)
		return -1;
	rc = bu_media_find(fd, blocks, err);
	close(fd);
	return rc;
}

static int
fill(const struct bu_api *api, const struct bu_node *node,
     const struct bu_desired_node *want, struct bu_media_block blocks[BU_MEDIA_BLOCKS],
     struct bu_err *err)
{
	char token[BU_DIGEST_SIZE], address[ADDRESS_SIZE];
	struct bu_script_agent script = {
		.http_url = api->work.http_url,
		.agent_url = api->agent_url,
		.ca_digest = bu_trust_ca_digest(api->trust),
		.node = node->name,
		.mac = want->mac ? want->mac : "",
		.token = token,
		.kargs = want->kargs,
		.from_media = 1,
	};

	static_address(want, address);
	script.address = address[0] ? address : NULL;
	bu_trust_token(api->trust, node->step.id, node->step.attempt, token);
	return bu_media_fill(&script, blocks, err);
}

static int
send_medium(const struct bu_api *api, const struct bu_node *node,
	    const struct bu_desired_node *want, struct bu_reply *reply,
	    struct bu_err *err)
{
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];
	int fd = open_image(api, &reply->fd_size, err);

	if (fd < 0)
		return BU_ANSWER_ERROR;
	if (bu_media_find(fd, blocks, err) != 0 ||
	    fill(api, node, want, blocks, err) != 0) {
		close(fd);
		return BU_ANSWER_ERROR;
	}
	reply->has_fd = 1;
	reply->fd = fd;
	reply->content_type = "application/octet-stream";
	reply->overlays = bu_xcalloc(BU_MEDIA_BLOCKS, sizeof(*reply->overlays));
	reply->overlays_count = BU_MEDIA_BLOCKS;
	for (int i = 0; i < BU_MEDIA_BLOCKS; i++) {
		reply->overlays[i].offset = blocks[i].offset;
		reply->overlays[i].size = BU_MEDIA_BLOCK;
		memcpy(reply->overlays[i].bytes, blocks[i].text, BU_MEDIA_BLOCK);
	}
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_boot_medium)
{
	const struct bu_api *api = arg;
	struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);
	char secret[BU_DIGEST_SIZE], address[BU_ADDRESS_SIZE];
	bu_autofree char *file = NULL;
	struct bu_target target;

	if (!node || !bu_reconcile_boots(node) ||
	    bu_fleet_target(api->fleet, node, &target, NULL) != 0 ||
	    !bu_medium_is(bu_fleet_reach(api->fleet, node)))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no boot from it is ordered");
	if (bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0)
		return BU_ANSWER_ERROR;
	bu_medium_secret(api->trust, node, secret);
	file = bu_xasprintf("%s.iso", secret);
	bu_request_address(request, address);
	if (strcmp(request->params[1], file) != 0) {
		bu_warn("boot",
			"%s asks for a boot medium of %s that is not of this boot",
			address, node->name);
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no boot from it is ordered");
	}
	if (send_medium(api, node, target.node, reply, err) != BU_ANSWER_NOW)
		return BU_ANSWER_ERROR;
	bu_proof_note(api->rec, node, BU_PROOF_MEDIUM, address);
	return BU_ANSWER_NOW;
}
