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

/* What the action takes; a vendor may want or refuse one of them. */
static const char *const parameters[] = {
	"Image",    "Inserted",       "WriteProtected",       "UserName",
	"Password", "TransferMethod", "TransferProtocolType",
};

static int
is_address(const char *image)
{
	return strncmp(image, "http://", 7) == 0 || strncmp(image, "https://", 8) == 0;
}

/* A stick takes no image of a CD. */
static int
takes(const json_t *slot, const char *image)
{
	const char *dot = strrchr(image, '.');
	json_t *type;
	size_t i;

	if (!dot || strcmp(dot, ".iso") != 0)
		return 1;
	json_array_foreach (json_object_get(slot, "MediaTypes"), i, type)
		if (strcmp(json_string_value(type), "CD") == 0)
			return 1;
	return 0;
}

/* The image is one that this drive takes, and it is there. */
static int
is_there(const struct bu_bmc *bmc, const json_t *slot, const char *image)
{
	struct bu_err err = {0};

	return is_address(image) && takes(slot, image) &&
	       (!bmc->fetch || bmc->fetch(image, &err) == 0);
}

static void
insert(struct bu_bmc *bmc, const char *uri, const char *image)
{
	const char *slash = image ? strrchr(image, '/') : NULL;
	json_t *slot = bu_bmc_own(bmc, uri);
	int stays = bu_bmc_rule_is(bmc, "media_stays", "yes");

	json_object_set_new(slot, "Image", image ? json_string(image) : json_null());
	json_object_set_new(slot, "ImageName",
			    slash ? json_string(slash + 1) : json_null());
	json_object_set_new(slot, "Inserted", json_boolean(image || stays));
	json_object_set_new(slot, "ConnectedVia",
			    json_string(image ? "URI" : "NotConnected"));
}

static int
is_full(const json_t *slot)
{
	return json_is_string(json_object_get(slot, "Image")) ||
	       json_object_get(slot, "#image");
}

static int
is_parameter(const struct bu_bmc *bmc, const char *key)
{
	if (bu_bmc_rule_is(bmc, "media_refuses", key))
		return 0;
	for (size_t i = 0; i < BU_LEN(parameters); i++)
		if (strcmp(parameters[i], key) == 0)
			return 1;
	return 0;
}

static void
check_parameters(struct bu_bmc_call *call)
{
	const char *wanted = bu_bmc_rule(call->bmc, "media_wants", "Image"), *key;
	json_t *value;

	json_object_foreach (call->body, key, value)
		if (!is_parameter(call->bmc, key))
			bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_UNKNOWN, key,
				      "VirtualMedia.InsertMedia");
	if (!json_object_get(call->body, wanted))
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER, wanted,
			      "VirtualMedia.InsertMedia");
}

/* At once, or when its task ends. */
static void
begin_insert(struct bu_bmc_call *call, const char *uri, const char *image)
{
	int64_t in_ms = bu_bmc_rule_int(call->bmc, "media_ms", 0);
	json_t *slot;

	if (!in_ms) {
		insert(call->bmc, uri, image);
		call->reply->status = 204;
		return;
	}
	slot = bu_bmc_own(call->bmc, uri);
	json_object_set_new(slot, "#image", json_string(image));
	json_object_set_new(slot, "#due_ms",
			    json_integer((json_int_t)(call->bmc->now_ms + in_ms)));
	bu_bmc_begin_task(call, "InsertMedia", in_ms);
}

void
bu_bmc_finish_media(struct bu_bmc *bmc)
{
	const char *uri;
	json_t *slot;

	json_object_foreach (bmc->own, uri, slot) {
		const char *image = bu_json_str(slot, "#image", NULL);

		if (!image || bmc->now_ms < bu_json_int(slot, "#due_ms", 0))
			continue;
		insert(bmc, uri, image);
		json_object_del(slot, "#image");
	}
}

void
bu_bmc_insert_media(struct bu_bmc_call *call, const char *resource)
{
	const char *image = bu_json_str(call->body, "Image", NULL);
	const json_t *slot = bu_bmc_get(call->bmc, resource);

	check_parameters(call);
	if (call->reply->status)
		return;
	if (!image || !is_there(call->bmc, slot, image))
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_VALUE, "Image",
			      image ? image : "");
	else if (is_full(slot))
		bu_bmc_refuse(call->reply, BU_BMC_CONFLICT, "Image", image);
	else
		begin_insert(call, resource, image);
}

void
bu_bmc_eject_media(struct bu_bmc_call *call, const char *resource)
{
	json_object_del(bu_bmc_own(call->bmc, resource), "#image");
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
	if (text && *text && !is_there(call->bmc, call->resource, text)) {
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
	       json_is_string(json_object_get(resource, "Image"));
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
