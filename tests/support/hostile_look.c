/* SPDX-License-Identifier: Apache-2.0 */
/* What a test plans with a fake BMC, and what it reads of it afterwards. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/hostile_impl.h"
#include "tests/support/quoted.h"

void
hostile_plan(struct hostile_bmc *bmc, const char *method, const char *end, int status,
	     const char *message, int times)
{
	int i = 0;

	while (bmc->plans[i].times > 0)
		ck_assert_int_lt(++i, PLANS_MAX);
	snprintf(bmc->plans[i].method, sizeof(bmc->plans[i].method), "%s", method);
	snprintf(bmc->plans[i].end, sizeof(bmc->plans[i].end), "%s", end);
	snprintf(bmc->plans[i].message, sizeof(bmc->plans[i].message), "%s",
		 message ? message : "GeneralError");
	free(bmc->plans[i].body);
	bmc->plans[i].body = NULL;
	bmc->plans[i].status = status;
	bmc->plans[i].times = times;
}

void
hostile_answer(struct hostile_bmc *bmc, const char *method, const char *end,
	       const struct hostile_answer *answer, int times)
{
	struct plan *plan = bmc->plans;
	bu_autojson json_t *body = quoted(answer->body ? answer->body : "{}");

	while (plan->times > 0)
		plan++;
	hostile_plan(bmc, method, end, answer->status, NULL, times);
	free(plan->headers);
	plan->body = bu_json_canonical(body);
	plan->headers = bu_xstrdup(answer->headers ? answer->headers : "");
}

void
hostile_put(struct hostile_bmc *bmc, const char *path, const char *object)
{
	json_t *resource = quoted(object);

	json_object_set_new(resource, "@odata.id", json_string(path));
	json_object_set_new(bmc->objects, path, resource);
}

json_t *
hostile_object(struct hostile_bmc *bmc, const char *path)
{
	return json_object_get(bmc->objects, path);
}

void
hostile_serves(struct hostile_bmc *bmc, int requests)
{
	bmc->serves = requests;
}

enum MHD_Result
hostile_serve(struct hostile_bmc *bmc, struct MHD_Connection *connection)
{
	static const struct linger at_once = {.l_onoff = 1};
	int *served =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	if (!bmc->serves || ++*served <= bmc->serves)
		return MHD_YES;
	setsockopt(
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			->connect_fd,
		SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	return MHD_NO;
}

void
hostile_raw(struct hostile_bmc *bmc, const char *path, const char *text)
{
	int i = 0;

	while (bmc->plans[i].times > 0)
		i++;
	hostile_plan(bmc, "GET", path, 200, NULL, 999);
	free(bmc->plans[i].headers);
	bmc->plans[i].headers = bu_xstrdup("");
	bmc->plans[i].body = bu_xstrdup(text);
}

char *
hostile_text(struct hostile_bmc *bmc, const char *path, const char *key,
	     const char *value)
{
	bu_autofree char *text = bu_json_canonical(hostile_object(bmc, path));

	return bu_xasprintf("{\"%s\":%s,%s", key, value, text + 1);
}

void
hostile_unplan(struct hostile_bmc *bmc)
{
	for (int i = 0; i < PLANS_MAX; i++)
		bmc->plans[i].times = 0;
}

void
hostile_delay(struct hostile_bmc *bmc, int ms)
{
	pthread_mutex_lock(&bmc->lock);
	bmc->delay_ms = ms;
	pthread_mutex_unlock(&bmc->lock);
}

void
hostile_move(struct hostile_bmc *bmc, json_t *system, const char *path)
{
	json_object_set(bmc->objects, path, system);
	hostile_set(bmc, path, "@odata.id", json_string(path));
	hostile_set(bmc, "/redfish/v1/Systems", "Members",
		    json_pack("[{s:s}]", "@odata.id", path));
}

static json_t *
system_of(struct hostile_bmc *bmc)
{
	bu_autofree char *path =
		bu_xasprintf("/redfish/v1/Systems/%s", bmc->shape->system);

	return json_object_get(bmc->objects, path);
}

const char *
hostile_power(struct hostile_bmc *bmc)
{
	return bu_json_str(system_of(bmc), "PowerState", "");
}

void
hostile_course(struct hostile_bmc *bmc, const char *shown, int looks, int lost)
{
	pthread_mutex_lock(&bmc->lock);
	bu_text_copy(bmc->course, sizeof(bmc->course), shown);
	bmc->course_looks = looks;
	bmc->course_lost = lost;
	bmc->looks_left = 0;
	pthread_mutex_unlock(&bmc->lock);
}

void
hostile_sticks(struct hostile_bmc *bmc)
{
	bmc->sticks = 1;
}

int
hostile_lasts(const json_t *boot)
{
	return strcmp(bu_json_str(boot, "BootSourceOverrideEnabled", ""),
		      "Continuous") == 0;
}

void
hostile_set_power(struct hostile_bmc *bmc, const char *state)
{
	json_object_set_new(system_of(bmc), "PowerState",
			    state ? json_string(state) : json_null());
}

void
hostile_set(struct hostile_bmc *bmc, const char *path, const char *key, json_t *value)
{
	json_object_set_new(json_object_get(bmc->objects, path), key, value);
}

/* Where it was written last. */
char *
hostile_boot(struct hostile_bmc *bmc)
{
	const json_t *boot =
		json_object_get(json_object_get(bmc->objects, bmc->changed), "Boot");

	return bu_xasprintf("%s %s %s",
			    bu_json_str(boot, "BootSourceOverrideTarget", "-"),
			    bu_json_str(boot, "BootSourceOverrideEnabled", "-"),
			    bu_json_str(boot, "BootSourceOverrideMode", "-"));
}

int
hostile_sessions(struct hostile_bmc *bmc)
{
	return bmc->sessions;
}

int
hostile_passwords(struct hostile_bmc *bmc)
{
	return bmc->passwords;
}

int
hostile_count(struct hostile_bmc *bmc, const char *method, const char *end)
{
	int count = 0;

	for (int i = 0; i < bmc->requests_count; i++)
		count += (!method ||
			  strncmp(bmc->requests[i], method, strlen(method)) == 0) &&
			 (!end || hostile_ends(bmc->requests[i], end));
	return count;
}

int
hostile_most(struct hostile_bmc *bmc)
{
	return bmc->most;
}

int
hostile_open(struct hostile_bmc *bmc)
{
	int open;

	pthread_mutex_lock(&bmc->lock);
	open = bmc->open;
	pthread_mutex_unlock(&bmc->lock);
	return open;
}

static int
is_request(const struct hostile_bmc *bmc, int i, const char *method, const char *end)
{
	return strncmp(bmc->requests[i], method, strlen(method)) == 0 &&
	       hostile_ends(bmc->requests[i], end);
}

char *
hostile_bodies(struct hostile_bmc *bmc, const char *method, const char *end)
{
	char *text = bu_xstrdup("");

	for (int i = 0; i < bmc->requests_count; i++)
		if (is_request(bmc, i, method, end))
			bu_text_add(&text, "", "%s\n", bmc->bodies[i]);
	return text;
}

char *
hostile_matches(struct hostile_bmc *bmc, const char *method)
{
	char *text = NULL;

	for (int i = 0; i < bmc->requests_count; i++)
		if (is_request(bmc, i, method, ""))
			bu_text_add(&text, ", ", "%s",
				    *bmc->matches[i] ? bmc->matches[i] : "-");
	return text ? text : bu_xstrdup("");
}

int
hostile_under(struct hostile_bmc *bmc, const char *begin)
{
	int count = 0;

	for (int i = 0; i < bmc->requests_count; i++)
		count += strncmp(bmc->requests[i], begin, strlen(begin)) == 0;
	return count;
}

char *
hostile_queries(struct hostile_bmc *bmc, const char *end)
{
	char *text = bu_xstrdup("");

	for (int i = 0; i < bmc->requests_count; i++)
		if (hostile_ends(bmc->requests[i], end) && bmc->queries[i])
			bu_text_add(&text, "", "%s", bmc->queries[i]);
	return text;
}

char *
hostile_changes(struct hostile_bmc *bmc)
{
	char *text = NULL;

	for (int i = 0; i < bmc->requests_count; i++)
		if (strncmp(bmc->requests[i], "GET", 3) != 0 &&
		    !strstr(bmc->requests[i], "/Sessions"))
			bu_text_add(&text, ", ", "%s", bmc->requests[i]);
	return text ? text : bu_xstrdup("");
}
