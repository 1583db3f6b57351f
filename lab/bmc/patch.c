/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PATCH: what may be written is a table; anything else in a body is refused by name and
 * nothing of it is taken.
 */
#include <string.h>

#include "lab/bmc/engine.h"

static const struct bu_bmc_writable none[] = {{0}};
static const struct bu_bmc_writable session_service[] = {
	{"SessionTimeout", 'i'},
	{0},
};
static const struct bu_bmc_writable account_service[] = {
	{"AccountLockoutThreshold", 'i'},
	{"MinPasswordLength", 'i'},
	{0},
};
static const struct bu_bmc_writable network_protocol[] = {
	{"NTP", 'o'},  {"NTP/ProtocolEnabled", 'b'},  {"NTP/NTPServers", 'a'},
	{"IPMI", 'o'}, {"IPMI/ProtocolEnabled", 'b'}, {0},
};
static const struct bu_bmc_writable secure_boot[] = {
	{"SecureBootEnable", 'b'},
	{0},
};

static const struct {
	const char *type;
	const struct bu_bmc_writable *rows;
} stored[] = {
	{"SessionService", session_service},
	{"AccountService", account_service},
	{"ManagerNetworkProtocol", network_protocol},
	{"SecureBoot", secure_boot},
	{"Role", none},
};

const struct bu_bmc_writable *
bu_bmc_stored(const char *type)
{
	for (size_t i = 0; i < BU_LEN(stored); i++)
		if (strcmp(stored[i].type, type) == 0)
			return stored[i].rows;
	return NULL;
}

static int
is_of(const json_t *value, char type)
{
	switch (type) {
	case 's':
		return json_is_string(value) || json_is_null(value);
	case 'b':
		return json_is_boolean(value);
	case 'i':
		return json_is_integer(value);
	case 'a':
		return json_is_array(value);
	default:
		return json_is_object(value);
	}
}

static void
check_object(struct bu_bmc_call *call, const struct bu_bmc_writable *rows,
	     const char *below, const json_t *have, const json_t *body)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)body, key, value) {
		bu_autofree char *path = bu_xasprintf("%s%s", below, key);
		bu_autofree char *pointer = bu_xasprintf("/%s", path);
		const struct bu_bmc_writable *row = rows;
		bu_autofree char *text = NULL;

		if (strchr(key, '@'))
			continue;
		while (row->path && strcmp(row->path, path) != 0)
			row++;
		if (!row->path) {
			const char *const args[3] = {key};

			bu_bmc_refuse_at(call->reply,
					 json_object_get(have, key) ? BU_BMC_READ_ONLY
								    : BU_BMC_UNKNOWN,
					 pointer, args);
		} else if (!is_of(value, row->type)) {
			text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
			bu_bmc_refuse_at(call->reply, BU_BMC_TYPE, pointer,
					 (const char *const[3]){key, text});
		} else if (row->type == 'o') {
			bu_autofree char *deeper = bu_xasprintf("%s/", path);

			check_object(call, rows, deeper, json_object_get(have, key),
				     value);
		}
	}
}

static int
has_property(const json_t *body)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)body, key, value)
		if (!strchr(key, '@'))
			return 1;
	return 0;
}

int
bu_bmc_check_patch(struct bu_bmc_call *call, const struct bu_bmc_writable *rows)
{
	if (!has_property(call->body))
		bu_bmc_refuse(call->reply, BU_BMC_NO_OPERATION, NULL);
	else
		check_object(call, rows, "", call->resource, call->body);
	return call->reply->status ? -1 : 0;
}

/* DSP0266, PATCH of lists: null takes a member away, {} leaves it as it is. */
static json_t *
merged_list(const json_t *old, const json_t *list)
{
	json_t *made = json_array(), *value;
	size_t i;

	json_array_foreach (list, i, value) {
		if (json_is_null(value))
			continue;
		if (json_is_object(value) && !json_object_size(value))
			value = json_array_get(old, i);
		if (value)
			json_array_append(made, value);
	}
	return made;
}

void
bu_bmc_apply(json_t *resource, const json_t *body)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)body, key, value) {
		json_t *old = json_object_get(resource, key);

		if (strchr(key, '@'))
			continue;
		if (json_is_object(value) && json_is_object(old))
			bu_bmc_apply(old, value);
		else if (json_is_array(value) && json_is_array(old))
			json_object_set_new(resource, key, merged_list(old, value));
		else
			json_object_set_new(resource, key, json_deep_copy(value));
	}
}

void
bu_bmc_patched(struct bu_bmc_call *call)
{
	char etag[BU_BMC_ETAG_SIZE];

	if (bu_bmc_rule_int(call->bmc, "patch", 200) == 204) {
		call->reply->status = 204;
		return;
	}
	call->reply->status = 200;
	call->reply->body = bu_bmc_render(call->bmc, call->uri);
	bu_bmc_etag(call->bmc, call->uri, etag);
	if (*etag)
		bu_bmc_header(call->reply, "ETag", "%s", etag);
}
