/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to its answer: is the BMC there, who asks, is there such a resource,
 * may it be done, is the body what it should be, does If-Match fit; then what the type
 * of the resource does. Each check answers alone and in this order: a stranger learns
 * nothing but that he is one.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "lab/bmc/engine.h"

typedef void (*handler)(struct bu_bmc_call *call);

static void patch_stored(struct bu_bmc_call *call);

/* What the types can do besides GET. */
static const struct kind {
	const char *type;
	const char *privilege; /* of changes; NULL = the handler looks */
	handler patch, post, delete;
} kinds[] = {
	{"ComputerSystem", "ConfigureComponents", bu_bmc_patch_system, NULL, NULL},
	{"Bios", "ConfigureComponents", bu_bmc_patch_bios, NULL, NULL},
	{"VirtualMedia", "ConfigureManager", bu_bmc_patch_media, NULL, NULL},
	{"SessionCollection", NULL, NULL, bu_bmc_create_session, NULL},
	{"Session", NULL, NULL, NULL, bu_bmc_delete_session},
	{"ManagerAccountCollection", "ConfigureUsers", NULL, bu_bmc_create_account,
	 NULL},
	{"ManagerAccount", NULL, bu_bmc_patch_account, NULL, bu_bmc_delete_account},
	{"SessionService", "ConfigureManager", patch_stored, NULL, NULL},
	{"AccountService", "ConfigureUsers", patch_stored, NULL, NULL},
	{"ManagerNetworkProtocol", "ConfigureManager", patch_stored, NULL, NULL},
	{"SecureBoot", "ConfigureComponents", patch_stored, NULL, NULL},
};

static const char metadata[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" "
	"Version=\"4.0\">\n"
	"<edmx:Reference "
	"Uri=\"http://redfish.dmtf.org/schemas/v1/ServiceRoot_v1.xml\">"
	"<edmx:Include Namespace=\"ServiceRoot.v1_9_0\"/></edmx:Reference>\n"
	"<edmx:DataServices><Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" "
	"Namespace=\"Service\"><EntityContainer Name=\"Service\" "
	"Extends=\"ServiceRoot.v1_9_0.ServiceContainer\"/></Schema>"
	"</edmx:DataServices>\n</edmx:Edmx>\n";

static void
patch_stored(struct bu_bmc_call *call)
{
	char type[64];

	bu_bmc_type(call->resource, type, sizeof(type));
	if (bu_bmc_check_patch(call, bu_bmc_stored(type)) != 0)
		return;
	bu_bmc_apply(bu_bmc_own(call->bmc, call->uri), call->body);
	bu_bmc_patched(call);
}

/* A current Bios and a system without power are for reading alone, and a slot with
 * actions takes no PATCH. */
static int
is_fixed(const struct bu_bmc_call *call, const char *type)
{
	const char *system = call->bmc->tree->system;

	if (strcmp(type, "Bios") == 0)
		return json_object_get(call->resource, "@Redfish.Settings") != NULL;
	if (strcmp(type, "VirtualMedia") == 0)
		return json_object_get(call->resource, "Actions") != NULL;
	return strcmp(type, "ComputerSystem") == 0 &&
	       strncmp(call->uri, system, strlen(system)) != 0;
}

static const struct kind *
kind_of(const struct bu_bmc_call *call)
{
	static const struct kind reading = {0};
	char type[64];

	bu_bmc_type(call->resource, type, sizeof(type));
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (strcmp(kinds[i].type, type) == 0 && !is_fixed(call, type))
			return &kinds[i];
	return &reading;
}

static void
allow(struct bu_bmc_call *call, const struct kind *kind)
{
	bu_bmc_header(call->reply, "Allow", "GET, HEAD%s%s%s",
		      kind->patch ? ", PATCH" : "", kind->post ? ", POST" : "",
		      kind->delete ? ", DELETE" : "");
}

static int
is_get(const struct bu_bmc_request *request)
{
	return strcmp(request->method, "GET") == 0 ||
	       strcmp(request->method, "HEAD") == 0;
}

/* --- GET --- */

static void
send_resource(struct bu_bmc_call *call)
{
	struct bu_bmc_reply *reply = call->reply;
	char etag[BU_BMC_ETAG_SIZE], type[64];

	bu_bmc_etag(call->bmc, call->uri, etag);
	bu_bmc_type(call->resource, type, sizeof(type));
	if (*etag)
		bu_bmc_header(reply, "ETag", "%s", etag);
	bu_bmc_header(
		reply, "Link",
		"<http://redfish.dmtf.org/schemas/v1/%s.json>; rel=\"describedby\"",
		type);
	if (*etag && call->request->if_none_match &&
	    strcmp(call->request->if_none_match, etag) == 0) {
		reply->status = 304;
		return;
	}
	reply->status = 200;
	reply->body = bu_bmc_render(call->bmc, call->uri);
}

/* 1 when it was one of the documents that are no resources. */
static int
send_document(struct bu_bmc_call *call)
{
	if (strcmp(call->uri, "/redfish") == 0) {
		call->reply->body = json_pack("{s:s}", "v1", "/redfish/v1/");
	} else if (strcmp(call->uri, "/redfish/v1/$metadata") == 0) {
		call->reply->text = metadata;
		call->reply->type = "application/xml;charset=utf-8";
	} else if (strcmp(call->uri, "/redfish/v1/odata") == 0) {
		const json_t *root = bu_bmc_get(call->bmc, "/redfish/v1");
		json_t *list = json_array(), *link;
		const char *key;

		json_object_foreach ((json_t *)(uintptr_t)root, key, link)
			if (json_object_get(link, "@odata.id"))
				json_array_append_new(
					list,
					json_pack("{s:s,s:s,s:O}", "name", key, "kind",
						  "Singleton", "url",
						  json_object_get(link, "@odata.id")));
		call->reply->body = json_pack("{s:s,s:o}", "@odata.context",
					      "/redfish/v1/$metadata", "value", list);
	} else
		return 0;
	call->reply->status = 200;
	bu_bmc_header(call->reply, "Allow", "GET, HEAD");
	return 1;
}

static int
is_document(const char *uri)
{
	return strcmp(uri, "/redfish") == 0 ||
	       strcmp(uri, "/redfish/v1/$metadata") == 0 ||
	       strcmp(uri, "/redfish/v1/odata") == 0;
}

/* application/json; what a document is sent as may be accepted besides. */
static int
is_accepted(const struct bu_bmc_call *call)
{
	const char *accept = call->request->accept;
	int is_xml = strcmp(call->uri, "/redfish/v1/$metadata") == 0;

	return !accept || strstr(accept, "*/*") || strstr(accept, "application/*") ||
	       strstr(accept, is_xml ? "xml" : "json");
}

/* --- before a change --- */

static int
check_body(struct bu_bmc_call *call)
{
	const struct bu_bmc_request *request = call->request;
	const char *type = request->content_type ? request->content_type : "";

	if (!request->has_length) {
		bu_bmc_refuse(call->reply, BU_BMC_LENGTH, NULL);
		return -1;
	}
	if (request->size && strncasecmp(type, "application/json", 16) != 0) {
		bu_bmc_refuse(call->reply, BU_BMC_MEDIA_TYPE, type);
		return -1;
	}
	call->body = request->size ? json_loadb(request->body, request->size,
						JSON_REJECT_DUPLICATES, NULL)
				   : json_object();
	if (json_is_object(call->body))
		return 0;
	bu_bmc_refuse(call->reply, BU_BMC_MALFORMED, NULL);
	return -1;
}

static int
check_if_match(struct bu_bmc_call *call)
{
	const char *given = call->request->if_match;
	char etag[BU_BMC_ETAG_SIZE];

	bu_bmc_etag(call->bmc, call->uri, etag);
	if (given && *etag && strcmp(given, "*") != 0 && strcmp(given, etag) != 0) {
		bu_bmc_refuse(call->reply, BU_BMC_NO_MATCH, NULL);
		return -1;
	}
	if (!given && *etag && bu_bmc_rule_is(call->bmc, "if_match", "required")) {
		int is_ami = bu_bmc_rule_is(call->bmc, "if_match_message", "ami");

		bu_bmc_refuse(call->reply,
			      is_ami ? BU_BMC_AMI_IF_MATCH : BU_BMC_NO_IF_MATCH, NULL);
		return -1;
	}
	return 0;
}

static void
change(struct bu_bmc_call *call, handler fn)
{
	const char *method = call->request->method;

	if (strcmp(method, "DELETE") != 0 && check_body(call) != 0)
		return;
	if (strcmp(method, "PATCH") == 0 && check_if_match(call) != 0)
		return;
	fn(call);
}

static void
act(struct bu_bmc_call *call)
{
	if (strcmp(call->request->method, "POST") != 0) {
		bu_bmc_header(call->reply, "Allow", "POST");
		bu_bmc_refuse(call->reply, BU_BMC_METHOD, NULL);
	} else if (call->request->if_match &&
		   bu_bmc_rule_is(call->bmc, "action_if_match", "refused")) {
		bu_bmc_refuse(call->reply, BU_BMC_NO_MATCH, NULL);
	} else if (check_body(call) == 0)
		bu_bmc_act(call);
}

/* --- the way of a request --- */

/* POST to a collection's Members is one to the collection. */
static void
set_uri(struct bu_bmc_call *call)
{
	static const char members[] = "/Members";
	size_t length;

	bu_text_copy(call->uri, sizeof(call->uri), call->request->path);
	length = strlen(call->uri);
	while (length > 1 && call->uri[length - 1] == '/')
		call->uri[--length] = '\0';
	if (strcmp(call->request->method, "POST") == 0 && length > sizeof(members) &&
	    strcmp(call->uri + length - sizeof(members) + 1, members) == 0)
		call->uri[length - sizeof(members) + 1] = '\0';
	call->resource = bu_bmc_get(call->bmc, call->uri);
}

static int
is_open(const struct bu_bmc_call *call)
{
	if (is_get(call->request))
		return is_document(call->uri) || strcmp(call->uri, "/redfish/v1") == 0;
	return strcmp(call->request->method, "POST") == 0 &&
	       strcmp(call->uri, "/redfish/v1/SessionService/Sessions") == 0;
}

static int
check_who(struct bu_bmc_call *call)
{
	int rc = is_open(call) ? 0 : bu_bmc_login(call);

	if (is_open(call))
		return 0;
	if (rc != 0 || !call->account) {
		bu_bmc_header(call->reply, "WWW-Authenticate",
			      "Basic realm=\"Redfish\"");
		bu_bmc_refuse(call->reply, BU_BMC_NO_SESSION, NULL);
		return -1;
	}
	if (bu_bmc_must_change_password(call) &&
	    strcmp(call->uri, call->account) != 0 &&
	    !(call->session && strcmp(call->uri, call->session) == 0)) {
		bu_bmc_refuse(call->reply, BU_BMC_PASSWORD_CHANGE, call->account);
		return -1;
	}
	return 0;
}

static int
check_there(struct bu_bmc_call *call)
{
	struct bu_bmc *bmc = call->bmc;
	int64_t left = bu_bmc_fault_get(bmc, BU_BMC_FAULT_BUSY);
	char after[16];

	if (bmc->now_ms < bmc->away_ms) {
		snprintf(after, sizeof(after), "%d",
			 (int)((bmc->away_ms - bmc->now_ms) / 1000) + 1);
		bu_bmc_header(call->reply, "Retry-After", "%s", after);
		bu_bmc_refuse(call->reply, BU_BMC_BUSY, after);
		return -1;
	}
	if (left == BU_BMC_NOT)
		return 0;
	if (left == 0) {
		bmc->faults[BU_BMC_FAULT_BUSY] = BU_BMC_NOT;
		return 0;
	}
	if (left != INT64_MAX)
		bmc->faults[BU_BMC_FAULT_BUSY] = left - 1;
	bu_bmc_header(call->reply, "Retry-After", "1");
	bu_bmc_refuse(call->reply, BU_BMC_BUSY, "1");
	return -1;
}

/* $skip of a log that has pages; nothing else is a query that it knows. */
static int
is_page(const struct bu_bmc_call *call)
{
	const struct bu_bmc_request *request = call->request;

	return strcmp(request->query, "$skip") == 0 && call->resource &&
	       bu_bmc_is_log(call->resource) &&
	       bu_bmc_rule_int(call->bmc, "log_page", 0) > 0 &&
	       bu_text_int(request->query_value ? request->query_value : "", 0,
			   INT32_MAX, &call->bmc->skip) == 0;
}

static int
check_headers(struct bu_bmc_call *call)
{
	const struct bu_bmc_request *request = call->request;

	if (request->odata_version && strcmp(request->odata_version, "4.0") != 0)
		bu_bmc_refuse(call->reply, BU_BMC_ODATA_VERSION,
			      request->odata_version);
	else if (is_get(request) && (call->resource || is_document(call->uri)) &&
		 !is_accepted(call))
		bu_bmc_refuse(call->reply, BU_BMC_ACCEPT, request->accept);
	else if (request->query && !is_page(call))
		bu_bmc_refuse(call->reply, BU_BMC_QUERY, request->query);
	return call->reply->status ? -1 : 0;
}

/* What the method does at this kind of resource; NULL = nothing. */
static handler
method_of(const struct bu_bmc_call *call, const struct kind *kind)
{
	const char *method = call->request->method;

	if (strcmp(method, "PATCH") == 0)
		return kind->patch;
	if (strcmp(method, "POST") == 0)
		return kind->post;
	return strcmp(method, "DELETE") == 0 ? kind->delete : NULL;
}

static void
serve(struct bu_bmc_call *call)
{
	const struct kind *kind = kind_of(call);
	handler fn = method_of(call, kind);

	allow(call, kind);
	if (is_get(call->request))
		send_resource(call);
	else if (!fn)
		bu_bmc_refuse(call->reply, BU_BMC_METHOD, NULL);
	else if (kind->privilege && !bu_bmc_may(call, kind->privilege))
		bu_bmc_refuse(call->reply, BU_BMC_DENIED, NULL);
	else
		change(call, fn);
}

void
bu_bmc_answer(struct bu_bmc *bmc, const struct bu_bmc_request *request, int64_t now_ms,
	      int64_t wall_ms, struct bu_bmc_reply *ret)
{
	struct bu_bmc_call call = {.bmc = bmc, .request = request, .reply = ret};

	memset(ret, 0, sizeof(*ret));
	bmc->wall_ms = wall_ms;
	if (bu_bmc_fault_get(bmc, BU_BMC_FAULT_CLOCK) != BU_BMC_NOT)
		bmc->wall_ms += bu_bmc_fault_get(bmc, BU_BMC_FAULT_CLOCK) * 1000;
	bmc->skip = 0;
	bu_bmc_advance(bmc, now_ms);
	set_uri(&call);
	if (check_there(&call) == 0 && check_who(&call) == 0 &&
	    check_headers(&call) == 0) {
		if (is_get(request) && (send_document(&call) || bu_bmc_monitor(&call)))
			;
		else if (bu_bmc_is_action(bmc, call.uri))
			act(&call);
		else if (call.resource)
			serve(&call);
		else if (is_document(call.uri))
			bu_bmc_refuse(ret, BU_BMC_METHOD, NULL);
		else
			bu_bmc_refuse(ret, BU_BMC_MISSING, request->path);
	}
	bu_bmc_header(ret, "OData-Version", "4.0");
	bu_bmc_header(ret, "Cache-Control", "no-cache");
	json_decref(call.body);
}
