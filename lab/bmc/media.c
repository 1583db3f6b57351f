/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual media: an image's address in a slot. Which slots take the action and which a
 * PATCH is the tree's business.
 */
#include <string.h>

#include "lab/bmc/engine.h"

static const struct bu_bmc_writable writable[] = {
	{"Image", 's'},
	{"Inserted", 'b'},
	{"WriteProtected", 'b'},
	{"UserName", 's'},
	{"Password", 's'},
	{"TransferProtocolType", 's'},
	{0},
};

static int
is_address(const char *image)
{
	return strncmp(image, "http://", 7) == 0 || strncmp(image, "https://", 8) == 0;
}

static void
insert(struct bu_bmc *bmc, const char *uri, const char *image)
{
	const char *slash = image ? strrchr(image, '/') : NULL;
	json_t *slot = bu_bmc_own(bmc, uri);

	json_object_set_new(slot, "Image", image ? json_string(image) : json_null());
	json_object_set_new(slot, "ImageName",
			    slash ? json_string(slash + 1) : json_null());
	json_object_set_new(slot, "Inserted", json_boolean(image != NULL));
	json_object_set_new(slot, "ConnectedVia",
			    json_string(image ? "URI" : "NotConnected"));
}

void
bu_bmc_insert_media(struct bu_bmc_call *call, const char *resource)
{
	const char *image = bu_json_str(call->body, "Image", NULL);
	const json_t *slot = bu_bmc_get(call->bmc, resource);

	if (!image)
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER, "Image",
			      "VirtualMedia.InsertMedia");
	else if (!is_address(image))
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_VALUE, "Image", image);
	else if (bu_json_bool(slot, "Inserted", 0))
		bu_bmc_refuse(call->reply, BU_BMC_CONFLICT, "Image", image);
	else {
		insert(call->bmc, resource, image);
		call->reply->status = 204;
	}
}

void
bu_bmc_eject_media(struct bu_bmc_call *call, const char *resource)
{
	insert(call->bmc, resource, NULL);
	call->reply->status = 204;
}

void
bu_bmc_patch_media(struct bu_bmc_call *call)
{
	const json_t *image = json_object_get(call->body, "Image");
	const char *text = json_string_value(image);

	if (bu_bmc_check_patch(call, writable) != 0)
		return;
	if (text && *text && !is_address(text)) {
		bu_bmc_refuse_at(call->reply, BU_BMC_VALUE, "/Image",
				 (const char *const[3]){"Image", text});
		return;
	}
	if (image)
		insert(call->bmc, call->uri, text && *text ? text : NULL);
	bu_bmc_patched(call);
}

static int
find_image(struct bu_bmc *bmc, const char *uri, json_t *resource)
{
	char type[32];

	bu_bmc_type(resource, type, sizeof(type));
	return strcmp(type, "VirtualMedia") == 0 &&
	       bu_json_bool(resource, "Inserted", 0);
}

const char *
bu_bmc_media_image(struct bu_bmc *bmc)
{
	const char *uri;
	json_t *resource;

	json_object_foreach (bmc->own, uri, resource)
		if (find_image(bmc, uri, resource))
			return bu_json_str(resource, "Image", NULL);
	return NULL;
}
