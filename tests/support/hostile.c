/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake BMC over libmicrohttpd; used by the tests of the Redfish driver. The
 * tree is a map from paths to objects, made by hostile_tree.c; what changes it is
 * here.
 */
#include "tests/support/hostile.h"

#include <check.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/hostile_impl.h"

enum { TOKEN_LIFE = 3, BODY_MAX = 4096 };

struct request {
	struct MHD_Connection *connection;
	const char *method, *path;
	char body[BODY_MAX];
	size_t size;
};

/* --- answers --- */

static enum MHD_Result
answer_text(struct hostile_bmc *bmc, struct request *request, int status,
	    const char *text, const char *header, const char *value)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (header)
		MHD_add_response_header(response, header, value);
	MHD_add_response_header(response, "Content-Type", "application/json");
	if (status == 201)
		MHD_add_response_header(response, "X-Auth-Token", bmc->token);
	rc = MHD_queue_response(request->connection, (unsigned)status, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
answer_error(struct hostile_bmc *bmc, struct request *request, int status,
	     const char *message)
{
	bu_autofree char *text = bu_xasprintf(
		"{\"error\":{\"code\":\"Base.1.8.GeneralError\",\"message\":\"see "
		"below\",\"@Message.ExtendedInfo\":[{\"MessageId\":\"Base.1.8.%s\","
		"\"Message\":\"it is %s\",\"MessageArgs\":[\"/redfish/v1/"
		"AccountService/Accounts/7\"]}]}}",
		message, message);

	return answer_text(bmc, request, status, text, NULL, NULL);
}

/* What the tree gives for the ETag, and what it wants to see. */
static char *
etag_text(const struct hostile_bmc *bmc, int wanted)
{
	int weak = strcmp(bmc->shape->etag, "weak") == 0 ||
		   (bmc->habits & HOSTILE_STRONG_ETAG);

	if (wanted && (bmc->habits &
		       (HOSTILE_STRONG_ETAG | HOSTILE_GZIP_ETAG | HOSTILE_BARE_ETAG)))
		return bu_xasprintf("\"e%d\"", bmc->etag);
	if (bmc->habits & HOSTILE_GZIP_ETAG)
		return bu_xasprintf("\"e%d-gzip\"", bmc->etag);
	if (bmc->habits & HOSTILE_BARE_ETAG)
		return bu_xasprintf("e%d", bmc->etag);
	return bu_xasprintf("%s\"e%d\"", weak ? "W/" : "", bmc->etag);
}

static enum MHD_Result
answer_object(struct hostile_bmc *bmc, struct request *request, const json_t *object)
{
	bu_autofree char *text = bu_json_canonical(object);
	bu_autofree char *etag = etag_text(bmc, 0);
	int with = bmc->shape->etag[0] != '\0';

	return answer_text(bmc, request, 200, text, with ? "ETag" : NULL, etag);
}

int
hostile_ends(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static int
is_system(const struct hostile_bmc *bmc, const char *path)
{
	return hostile_ends(path, bmc->shape->system);
}

/* --- who asks --- */

static const char *
header(const struct request *request, const char *name)
{
	const char *value =
		MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
	return value ? value : "";
}

static int
basic_ok(struct hostile_bmc *bmc, struct request *request)
{
	char *password = NULL;
	char *user =
		MHD_basic_auth_get_username_password(request->connection, &password);
	int ok = user && password && strcmp(user, "root") == 0 &&
		 strcmp(password, "calvin") == 0;

	if (user && !ok)
		bmc->passwords++;
	MHD_free(user);
	MHD_free(password);
	return ok;
}

static int
may_enter(struct hostile_bmc *bmc, struct request *request)
{
	const char *token = header(request, "X-Auth-Token");

	if ((bmc->habits & HOSTILE_OPEN) ||
	    strcmp(request->path, "/redfish/v1/") == 0 ||
	    (hostile_ends(request->path, "/Sessions") &&
	     strcmp(request->method, "POST") == 0 &&
	     !(bmc->habits & HOSTILE_NO_SERVICE)))
		return 1;
	if (!token[0])
		return basic_ok(bmc, request);
	if (!bmc->token[0] || strcmp(token, bmc->token) != 0 ||
	    (bmc->habits & HOSTILE_DENIES_TOKENS))
		return 0;
	if ((bmc->habits & HOSTILE_FORGETS) && ++bmc->token_uses > TOKEN_LIFE) {
		bmc->sessions = 0;
		return 0;
	}
	return 1;
}

static enum MHD_Result
log_in(struct hostile_bmc *bmc, struct request *request)
{
	bu_autojson json_t *body = json_loads(request->body, 0, NULL);
	char session[64];

	if (bmc->habits & HOSTILE_NO_SESSIONS)
		return answer_error(bmc, request, 404, "ResourceMissingAtURI");
	if (strcmp(bu_json_str(body, "Password", ""), "calvin") != 0 ||
	    strcmp(bu_json_str(body, "UserName", ""), "root") != 0) {
		bmc->passwords++;
		return answer_error(bmc, request, 401, "ResourceAtUriUnauthorized");
	}
	if (bmc->habits & HOSTILE_FULL)
		return answer_error(bmc, request, 503, "RAC0218");
	snprintf(bmc->token, sizeof(bmc->token), "token%d", ++bmc->tokens);
	bmc->sessions++;
	bmc->token_uses = 0;
	snprintf(session, sizeof(session), "/redfish/v1/SessionService/Sessions/%d",
		 bmc->tokens);
	return answer_text(bmc, request, 201, "{}", "Location", session);
}

static enum MHD_Result
log_out(struct hostile_bmc *bmc, struct request *request)
{
	bmc->token[0] = '\0';
	bmc->sessions--;
	return answer_text(bmc, request, 204, "", NULL, NULL);
}

/* --- what changes something --- */

static enum MHD_Result
answer_done(struct hostile_bmc *bmc, struct request *request)
{
	bmc->etag++;
	bmc->task_reads = 0;
	if (bmc->habits & HOSTILE_TASKS)
		return answer_text(bmc, request, 202, "{\"TaskState\":\"New\"}",
				   "Location", "/redfish/v1/TaskService/Tasks/1");
	return answer_text(bmc, request, 200, "{}", NULL, NULL);
}

static enum MHD_Result
answer_task(struct hostile_bmc *bmc, struct request *request)
{
	const char *end = bmc->habits & HOSTILE_BAD_TASKS ? "Exception" : "Completed";
	bu_autofree char *text = bu_xasprintf("{\"TaskState\":\"%s\"}",
					      bmc->task_reads++ < 2 ? "Running" : end);

	return answer_text(bmc, request, 200, text, NULL, NULL);
}

static enum MHD_Result
patch_boot(struct hostile_bmc *bmc, struct request *request, json_t *object,
	   const json_t *wish)
{
	const char *target = bu_json_str(wish, "BootSourceOverrideTarget", NULL);
	const char *enabled = bu_json_str(wish, "BootSourceOverrideEnabled", NULL);
	const char *mode = bu_json_str(wish, "BootSourceOverrideMode", NULL);
	json_t *boot = json_object_get(object, "Boot");

	snprintf(bmc->changed, sizeof(bmc->changed), "%s", request->path);
	if ((mode && (bmc->habits & HOSTILE_NO_MODE)) ||
	    (target && strcmp(target, "None") == 0 && (bmc->habits & HOSTILE_NO_NONE)))
		return answer_error(bmc, request, 400, "PropertyNotWritable");
	if (bmc->habits & HOSTILE_DROPS_BOOT)
		return answer_done(bmc, request);
	if (!mode && (bmc->habits & HOSTILE_WANTS_ALL))
		mode = "Legacy";
	if (bmc->habits & HOSTILE_REVERTS_MODE)
		mode = "Legacy";
	if (enabled && strcmp(enabled, "Once") == 0 &&
	    (bmc->habits & HOSTILE_CONTINUOUS))
		enabled = "Continuous";
	if (enabled && bmc->sticks && hostile_lasts(boot))
		enabled = strcmp(enabled, "Disabled") == 0 ? enabled : NULL;
	if (bmc->habits & HOSTILE_LATE_BOOT) {
		json_decref(bmc->boot_before);
		bmc->boot_before = json_deep_copy(boot);
		bmc->looks_before = 2;
	}
	if (target)
		json_object_set_new(boot, "BootSourceOverrideTarget",
				    json_string(target));
	if (enabled)
		json_object_set_new(boot, "BootSourceOverrideEnabled",
				    json_string(enabled));
	if (mode)
		json_object_set_new(boot, "BootSourceOverrideMode", json_string(mode));
	return answer_done(bmc, request);
}

static enum MHD_Result
patch(struct hostile_bmc *bmc, struct request *request, json_t *object)
{
	bu_autojson json_t *body = json_loads(request->body, 0, NULL);
	bu_autofree char *wanted = etag_text(bmc, 1);
	const char *match = header(request, "If-Match");

	if (bmc->habits & HOSTILE_NEW_ETAGS) {
		bmc->etag++;
		return answer_error(bmc, request, 412, "PreconditionFailed");
	}
	if ((bmc->habits & HOSTILE_NEEDS_ETAG) && !match[0])
		return answer_error(bmc, request, 428, "PreconditionHeaderMissing");
	if ((match[0] && (bmc->habits & HOSTILE_NO_ETAG)) ||
	    ((bmc->habits & HOSTILE_NEEDS_ETAG) && strcmp(match, wanted) != 0 &&
	     strcmp(match, "*") != 0))
		return answer_error(bmc, request, 412, "PreconditionFailed");
	if (is_system(bmc, request->path) && (bmc->habits & HOSTILE_SYSTEM_FIXED))
		return answer_error(bmc, request, 405, "OperationNotAllowed");
	return patch_boot(bmc, request, object, json_object_get(body, "Boot"));
}

static enum MHD_Result
reset(struct hostile_bmc *bmc, struct request *request)
{
	bu_autojson json_t *body = json_loads(request->body, 0, NULL);
	const char *type = bu_json_str(body, "ResetType", "");
	bu_autofree char *path =
		bu_xasprintf("/redfish/v1/Systems/%s", bmc->shape->system);
	json_t *system = json_object_get(bmc->objects, path);
	const char *state = strcmp(type, "On") == 0         ? "On"
			    : strcmp(type, "ForceOff") == 0 ? "Off"
							    : NULL;

	if (header(request, "If-Match")[0] && (bmc->habits & HOSTILE_NO_ACTION_ETAG))
		return answer_error(bmc, request, 412, "PreconditionFailed");
	if (!state)
		return answer_error(bmc, request, 400, "ActionParameterNotSupported");
	if (!(bmc->habits & HOSTILE_LIES))
		json_object_set_new(system, "PowerState", json_string(state));
	bmc->looks_left = bmc->course_looks;
	if (bmc->course_lost && bmc->course_lost--)
		return MHD_NO;
	return answer_done(bmc, request);
}

/* --- requests --- */

static struct plan *
planned(struct hostile_bmc *bmc, const struct request *request)
{
	for (int i = 0; i < PLANS_MAX; i++) {
		struct plan *plan = &bmc->plans[i];

		if (plan->times > 0 && strcmp(plan->method, request->method) == 0 &&
		    hostile_ends(request->path, plan->end)) {
			plan->times--;
			return plan;
		}
	}
	return NULL;
}

static enum MHD_Result
answer_planned(struct request *request, const struct plan *plan)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(plan->body), plan->body, MHD_RESPMEM_MUST_COPY);
	bu_autofree char *headers = bu_xstrdup(plan->headers);
	enum MHD_Result rc;
	char *rest;

	for (char *line = strtok_r(headers, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':');

		*colon = '\0';
		MHD_add_response_header(response, line, colon + 2);
	}
	rc = MHD_queue_response(request->connection, (unsigned)plan->status, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
answer_hostile(struct hostile_bmc *bmc, struct request *request)
{
	size_t size = bmc->habits & HOSTILE_DEEP ? 100000 : 5 * 1024 * 1024;
	bu_autofree char *text = bu_xmalloc(size + 1);

	memset(text, bmc->habits & HOSTILE_DEEP ? '[' : ' ', size);
	text[size] = '\0';
	return answer_text(bmc, request, 200, text, NULL, NULL);
}

static enum MHD_Result
answer_get(struct hostile_bmc *bmc, struct request *request, const json_t *object)
{
	if (hostile_ends(request->path, "/Systems") &&
	    (bmc->habits & HOSTILE_LEADS_AWAY))
		return answer_text(bmc, request, 302, "", "Location",
				   "http://127.0.0.2:1/redfish/v1/Systems");
	if (is_system(bmc, request->path) &&
	    (bmc->habits & (HOSTILE_DEEP | HOSTILE_HUGE)))
		return answer_hostile(bmc, request);
	if (is_system(bmc, request->path) && bmc->looks_before > 0) {
		bu_autojson json_t *before = json_copy((json_t *)object);

		bmc->looks_before--;
		json_object_set(before, "Boot", bmc->boot_before);
		return answer_object(bmc, request, before);
	}
	if (is_system(bmc, request->path) && bmc->looks_left > 0) {
		bu_autojson json_t *before = json_copy((json_t *)object);

		bmc->looks_left--;
		json_object_set_new(before, "PowerState", json_string(bmc->course));
		return answer_object(bmc, request, before);
	}
	if (hostile_ends(request->path, "/Tasks/1"))
		return answer_task(bmc, request);
	return object ? answer_object(bmc, request, object)
		      : answer_error(bmc, request, 404, "ResourceMissingAtURI");
}

static enum MHD_Result
dispatch(struct hostile_bmc *bmc, struct request *request)
{
	json_t *object = json_object_get(bmc->objects, request->path);
	const struct plan *plan = planned(bmc, request);

	if (plan && plan->status == 0)
		return MHD_NO;
	if (plan && plan->body)
		return answer_planned(request, plan);
	if (plan)
		return answer_error(bmc, request, plan->status, plan->message);
	if ((bmc->habits & HOSTILE_NO_IDENTITY) &&
	    strcmp(header(request, "Accept-Encoding"), "identity") == 0)
		return answer_error(bmc, request, 406, "NotAcceptable");
	if (!may_enter(bmc, request))
		return answer_error(bmc, request, 401, "NoValidSession");
	if (hostile_ends(request->path, "/Sessions") &&
	    strcmp(request->method, "POST") == 0)
		return log_in(bmc, request);
	if (strcmp(request->method, "DELETE") == 0)
		return log_out(bmc, request);
	if (strcmp(request->path, "/redfish/v1/") != 0 &&
	    (bmc->habits & HOSTILE_NEW_PASSWORD))
		return answer_error(bmc, request, 403, "PasswordChangeRequired");
	if ((bmc->habits & HOSTILE_NAMES) &&
	    hostile_ends(request->path, "/Systems/name")) {
		bu_autofree char *path =
			bu_xasprintf("/redfish/v1/Systems/%s", bmc->shape->system);

		return answer_text(bmc, request, 307, "", "Location", path);
	}
	if (strcmp(request->method, "GET") == 0)
		return answer_get(bmc, request, object);
	if (strcmp(request->method, "PATCH") == 0 && object)
		return patch(bmc, request, object);
	if (hostile_ends(request->path, "/Actions/ComputerSystem.Reset"))
		return reset(bmc, request);
	return answer_error(bmc, request, 405, "OperationNotAllowed");
}

static enum MHD_Result
add_query(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	char **query = arg;

	(void)kind;
	bu_text_add(query, "&", "%s%s=%s", *query ? "" : "?", key, value ? value : "");
	return MHD_YES;
}

static void
note(struct hostile_bmc *bmc, const struct request *request)
{
	if (bmc->requests_count == REQUESTS_MAX)
		return;
	bmc->requests[bmc->requests_count] =
		bu_xasprintf("%s %s", request->method, request->path);
	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_query,
				  &bmc->queries[bmc->requests_count]);
	bmc->matches[bmc->requests_count] = bu_xstrdup(header(request, "If-Match"));
	bmc->bodies[bmc->requests_count++] = bu_xstrdup(request->body);
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	struct hostile_bmc *bmc = arg;
	struct request *request = *state;
	enum MHD_Result rc;
	int slow, delay_ms;

	(void)version;
	if (!request) {
		request = *state = bu_xcalloc(1, sizeof(*request));
		pthread_mutex_lock(&bmc->lock);
		if (++bmc->now > bmc->most)
			bmc->most = bmc->now;
		pthread_mutex_unlock(&bmc->lock);
		return MHD_YES;
	}
	if (*upload_size) {
		if (request->size + *upload_size < BODY_MAX)
			memcpy(request->body + request->size, upload, *upload_size);
		request->size += *upload_size;
		*upload_size = 0;
		return MHD_YES;
	}
	request->connection = connection;
	request->method = method;
	request->path = url;
	pthread_mutex_lock(&bmc->lock);
	note(bmc, request);
	slow = bmc->plans[0].times > 0 && bmc->plans[0].status == -1 &&
	       hostile_ends(url, bmc->plans[0].end);
	if (slow)
		bmc->plans[0].times--;
	delay_ms = slow ? 2500 : bmc->delay_ms;
	pthread_mutex_unlock(&bmc->lock);
	usleep((useconds_t)delay_ms * 1000);
	pthread_mutex_lock(&bmc->lock);
	rc = hostile_serve(bmc, connection);
	if (rc == MHD_YES)
		rc = dispatch(bmc, request);
	pthread_mutex_unlock(&bmc->lock);
	return rc;
}

static void
on_done(void *arg, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode code)
{
	struct hostile_bmc *bmc = arg;

	(void)connection, (void)code;
	if (!*state)
		return;
	pthread_mutex_lock(&bmc->lock);
	bmc->now--;
	pthread_mutex_unlock(&bmc->lock);
	free(*state);
}

static void
on_connection(void *arg, struct MHD_Connection *connection, void **state,
	      enum MHD_ConnectionNotificationCode code)
{
	struct hostile_bmc *bmc = arg;

	(void)connection;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*state = bu_xcalloc(1, sizeof(int));
	else
		free(*state);
	pthread_mutex_lock(&bmc->lock);
	bmc->open += code == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1;
	pthread_mutex_unlock(&bmc->lock);
}

/* --- for the test --- */

struct hostile_bmc *
hostile_create(const struct hostile_shape *shape, int habits, int tls)
{
	struct hostile_bmc *bmc = bu_xcalloc(1, sizeof(*bmc));
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *ca_key = NULL, *ca = NULL, *key = NULL, *cert = NULL;
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD |
			 MHD_USE_THREAD_PER_CONNECTION | (tls ? MHD_USE_TLS : 0);

	pthread_mutex_init(&bmc->lock, NULL);
	bmc->shape = shape;
	bmc->habits = habits;
	bmc->etag = 1;
	bmc->objects = hostile_tree(shape, habits);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_tls_key_create(&ca_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("bmc", ca_key, &ca, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca, ca_key}, key, names,
					    &cert, NULL),
			 0);
	ck_assert_int_eq(bu_cert_fingerprint(cert, bmc->fingerprint, NULL), 0);
	bmc->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, bmc, MHD_OPTION_NOTIFY_COMPLETED,
		on_done, bmc, MHD_OPTION_NOTIFY_CONNECTION, on_connection, bmc,
		tls ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, key,
		MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_END);
	ck_assert_ptr_nonnull(bmc->daemon);
	snprintf(bmc->url, sizeof(bmc->url), "http%s://127.0.0.1:%d", tls ? "s" : "",
		 MHD_get_daemon_info(bmc->daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	return bmc;
}

void
hostile_destroy(struct hostile_bmc *bmc)
{
	MHD_stop_daemon(bmc->daemon);
	for (int i = 0; i < bmc->requests_count; i++) {
		free(bmc->requests[i]);
		free(bmc->bodies[i]);
		free(bmc->matches[i]);
		free(bmc->queries[i]);
	}
	for (int i = 0; i < PLANS_MAX; i++) {
		free(bmc->plans[i].body);
		free(bmc->plans[i].headers);
	}
	json_decref(bmc->objects);
	json_decref(bmc->boot_before);
	pthread_mutex_destroy(&bmc->lock);
	free(bmc);
}

const char *
hostile_url(const struct hostile_bmc *bmc)
{
	return bmc->url;
}

const char *
hostile_fingerprint(const struct hostile_bmc *bmc)
{
	return bmc->fingerprint;
}

void
hostile_habits(struct hostile_bmc *bmc, int habits)
{
	bmc->habits = habits;
}
