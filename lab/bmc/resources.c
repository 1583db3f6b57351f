/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources: the tree's, and the BMC's own copies of what changed. They are rendered
 * when they are sent: members of collections are counted then, and what the machine
 * knows
 * ({power}, {serial}) is asked then.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/text.h"
#include "lab/bmc/engine.h"

const json_t *
bu_bmc_get(const struct bu_bmc *bmc, const char *uri)
{
	const json_t *own = json_object_get(bmc->own, uri);

	return own ? own : json_object_get(bmc->tree->resources, uri);
}

json_t *
bu_bmc_own(struct bu_bmc *bmc, const char *uri)
{
	json_t *own = json_object_get(bmc->own, uri);

	if (!own) {
		own = json_deep_copy(json_object_get(bmc->tree->resources, uri));
		if (own)
			json_object_set_new(bmc->own, uri, own);
	}
	return own;
}

const char *
bu_bmc_rule(const struct bu_bmc *bmc, const char *name, const char *fallback)
{
	return bu_json_str(bmc->tree->rules, name, fallback);
}

int64_t
bu_bmc_rule_int(const struct bu_bmc *bmc, const char *name, int64_t fallback)
{
	return bu_json_int(bmc->tree->rules, name, fallback);
}

int
bu_bmc_rule_is(const struct bu_bmc *bmc, const char *name, const char *value)
{
	return strcmp(bu_bmc_rule(bmc, name, ""), value) == 0;
}

void
bu_bmc_time(const struct bu_bmc *bmc, char ret[24])
{
	bu_time_iso(bmc->wall_ms, ret);
}

void
bu_bmc_type(const json_t *resource, char *ret, size_t size)
{
	const char *type = bu_json_str(resource, "@odata.type", "#");

	bu_text_copy_part(ret, size, type + 1, strcspn(type + 1, "."));
}

/* 1 when the URI is one level below. */
static int
is_below(const char *uri, const char *collection)
{
	size_t length = strlen(collection);

	return strncmp(uri, collection, length) == 0 && uri[length] == '/' &&
	       !strchr(uri + length + 1, '/');
}

int
bu_bmc_members(struct bu_bmc *bmc, const char *collection, bu_bmc_member_fn fn,
	       void *arg)
{
	const char *uri;
	json_t *resource;
	void *next;
	int rc;

	json_object_foreach (bmc->tree->resources, uri, resource) {
		json_t *own = json_object_get(bmc->own, uri);

		if (is_below(uri, collection) &&
		    (rc = fn(bmc, uri, own ? own : resource, arg)) != 0)
			return rc;
	}
	/* fn may take its own one away */
	json_object_foreach_safe(bmc->own, next, uri, resource)
	{
		if (is_below(uri, collection) &&
		    !json_object_get(bmc->tree->resources, uri) &&
		    (rc = fn(bmc, uri, resource, arg)) != 0)
			return rc;
	}
	return 0;
}

void
bu_bmc_add(struct bu_bmc *bmc, const char *collection, enum bu_bmc_id id,
	   json_t *resource, char ret_uri[256])
{
	snprintf(ret_uri, 256, "%s/%d", collection, ++bmc->last[id]);
	json_object_set_new(resource, "@odata.id", json_string(ret_uri));
	json_object_set_new(resource, "Id", json_sprintf("%d", bmc->last[id]));
	json_object_set_new(bmc->own, ret_uri, resource);
}

/* --- what is sent --- */

static const char *
power_state(const struct bu_bmc *bmc)
{
	if (bu_bmc_fault_get(bmc, BU_BMC_FAULT_SAYS_ON) != BU_BMC_NOT)
		return "On";
	switch (bmc->phase) {
	case BU_BMC_OFF:
		return "Off";
	case BU_BMC_GOING_ON:
		return "PoweringOn";
	case BU_BMC_GOING_OFF:
		return "PoweringOff";
	default:
		return "On";
	}
}

static const char *
progress(const struct bu_bmc *bmc)
{
	switch (bmc->phase) {
	case BU_BMC_IN_POST:
		return "SystemHardwareInitializationComplete";
	case BU_BMC_ON:
		return "OSBootStarted";
	default:
		return "None";
	}
}

static json_t *
time_of(int64_t wall_ms)
{
	char text[24];

	bu_time_iso(wall_ms, text);
	return json_string(text);
}

/* Sensors of a machine that is off have no reading. */
static int
is_read(const struct bu_bmc *bmc)
{
	return (bmc->phase == BU_BMC_ON || bmc->phase == BU_BMC_IN_POST) &&
	       bu_bmc_fault_get(bmc, BU_BMC_FAULT_NO_READING) == BU_BMC_NOT;
}

static json_t *
live(const struct bu_bmc *bmc, const char *text)
{
	double reading;
	int number;

	if (strcmp(text, "{power}") == 0)
		return json_string(power_state(bmc));
	if (strcmp(text, "{progress}") == 0)
		return json_string(progress(bmc));
	if (strcmp(text, "{serial}") == 0)
		return json_string(bmc->identity.serial);
	if (strcmp(text, "{board}") == 0)
		return json_sprintf("CN%s", bmc->identity.serial);
	if (strcmp(text, "{uuid}") == 0)
		return json_string(bmc->identity.uuid);
	if (strcmp(text, "{service}") == 0)
		return json_string(bmc->service);
	if (strcmp(text, "{now}") == 0)
		return time_of(bmc->wall_ms);
	if (strcmp(text, "{reset}") == 0)
		return time_of(bmc->reset_ms);
	if (strcmp(text, "{policy}") == 0)
		return json_string(bu_bmc_fault_get(bmc, BU_BMC_FAULT_LOG_FULL) ==
						   BU_BMC_NOT
					   ? "WrapsWhenFull"
					   : "NeverOverWrites");
	if (sscanf(text, "{reading:%lf}", &reading) == 1)
		return is_read(bmc) ? json_real(reading) : json_null();
	if (sscanf(text, "{mac:%d}", &number) == 1 && number >= 0)
		return number < bmc->identity.mac_count
			       ? json_string(bmc->identity.macs[number])
			       : json_null();
	return json_string(text);
}

static json_t *
rendered(const struct bu_bmc *bmc, const json_t *value)
{
	int slash = bu_bmc_rule_is(bmc, "trailing_slash", "yes");
	json_t *made, *member;
	const char *key;
	size_t i;

	if (json_is_string(value))
		return *json_string_value(value) == '{'
			       ? live(bmc, json_string_value(value))
			       : json_incref((json_t *)(uintptr_t)value);
	if (json_is_array(value)) {
		made = json_array();
		json_array_foreach (value, i, member)
			json_array_append_new(made, rendered(bmc, member));
		return made;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)(uintptr_t)value);
	made = json_object();
	json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
		const char *text = json_string_value(member);

		if (*key == '#' && key[1] >= 'a' && key[1] <= 'z')
			continue;
		if (slash && text && strcmp(key, "@odata.id") == 0 && *text &&
		    text[strlen(text) - 1] != '/')
			json_object_set_new(made, key, json_sprintf("%s/", text));
		else
			json_object_set_new(made, key, rendered(bmc, member));
	}
	return made;
}

int
bu_bmc_is_log(const json_t *resource)
{
	char type[64];

	bu_bmc_type(resource, type, sizeof(type));
	return strcmp(type, "LogEntryCollection") == 0;
}

/* Of the URIs of all entries those of the call's page; the body gets where the next one
 * is. New reference. */
static json_t *
log_page(struct bu_bmc *bmc, const char *uri, const json_t *all, json_t *body)
{
	int64_t most = bu_bmc_rule_int(bmc, "log_page", 0);
	size_t count = json_array_size(all), from = (size_t)bmc->skip;
	size_t end = most ? from + (size_t)most : count;
	int newest = bu_bmc_rule_is(bmc, "log_order", "newest");
	json_t *page = json_array();

	for (size_t i = from; i < end && i < count; i++)
		json_array_append(page,
				  json_array_get(all, newest ? count - 1 - i : i));
	if (end < count)
		json_object_set_new(body, "Members@odata.nextLink",
				    json_sprintf("%s?$skip=%zu", uri, end));
	return page;
}

static int
add_uri(struct bu_bmc *bmc, const char *uri, const json_t *resource, void *arg)
{
	(void)bmc, (void)resource;
	json_array_append_new(arg, json_string(uri));
	return 0;
}

/* Links to its members; of a log perhaps the entries themselves. */
static void
render_members(struct bu_bmc *bmc, const char *uri, const json_t *resource,
	       json_t *made)
{
	int is_log = bu_bmc_is_log(resource);
	int whole = is_log && bu_bmc_rule_is(bmc, "log_members", "full");
	bu_autojson json_t *all = json_array();
	bu_autojson json_t *page = NULL;
	json_t *members = json_array(), *one;
	size_t i;

	bu_bmc_members(bmc, uri, add_uri, all);
	page = is_log ? log_page(bmc, uri, all, made) : json_incref(all);
	json_array_foreach (page, i, one) {
		bu_autojson json_t *link = json_pack("{s:O}", "@odata.id", one);
		const json_t *shown =
			whole ? bu_bmc_get(bmc, json_string_value(one)) : link;

		json_array_append_new(members, rendered(bmc, shown));
	}
	json_object_set_new(made, "Members@odata.count",
			    json_integer((json_int_t)json_array_size(all)));
	json_object_set_new(made, "Members", members);
}

static json_t *
render_bare(struct bu_bmc *bmc, const char *uri)
{
	const json_t *resource = bu_bmc_get(bmc, uri);
	json_t *made = rendered(bmc, resource);
	const char *type = bu_json_str(resource, "@odata.type", "");

	if (strstr(type, "Collection."))
		render_members(bmc, uri, resource, made);
	/* The root's own spelling has the slash. */
	if (strcmp(uri, "/redfish/v1") == 0)
		json_object_set_new(made, "@odata.id", json_string("/redfish/v1/"));
	return made;
}

static void
digest(const struct bu_bmc *bmc, const json_t *body, char ret[BU_BMC_ETAG_SIZE])
{
	const char *kind = bu_bmc_rule(bmc, "etag", "strong");
	char hex[BU_DIGEST_SIZE], type[64];
	bu_autojson json_t *timeless = NULL;

	bu_bmc_type(body, type, sizeof(type));
	ret[0] = '\0';
	/* DSP0266 wants one for accounts whatever else has none. */
	if (strcmp(kind, "none") == 0 && strcmp(type, "ManagerAccount") != 0)
		return;
	/* Its clock goes on, and nobody has changed it. */
	timeless = json_copy((json_t *)(uintptr_t)body);
	json_object_del(timeless, "DateTime");
	bu_json_digest(timeless, hex);
	snprintf(ret, BU_BMC_ETAG_SIZE, "%s\"%.8s\"",
		 strcmp(kind, "weak") == 0 ? "W/" : "", hex);
}

void
bu_bmc_etag(struct bu_bmc *bmc, const char *uri, char ret[BU_BMC_ETAG_SIZE])
{
	bu_autojson json_t *body = render_bare(bmc, uri);

	digest(bmc, body, ret);
}

json_t *
bu_bmc_render(struct bu_bmc *bmc, const char *uri)
{
	json_t *body = render_bare(bmc, uri);
	char etag[BU_BMC_ETAG_SIZE];

	digest(bmc, body, etag);
	if (*etag)
		json_object_set_new(body, "@odata.etag", json_string(etag));
	return body;
}
