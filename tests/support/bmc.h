/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual BMC of paper, asked directly; time is the test's. */
#ifndef BU_TESTS_SUPPORT_BMC_H
#define BU_TESTS_SUPPORT_BMC_H

#include <string.h>

#include "base/json.h"
#include "lab/bmc/bmc.h"
#include "tests/support/unit.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define RESET SYSTEM "/Actions/ComputerSystem.Reset"
#define SESSIONS "/redfish/v1/SessionService/Sessions"
#define ACCOUNTS "/redfish/v1/AccountService/Accounts"
#define DGX "/redfish/v1/Systems/DGX"

static const char __attribute__((unused)) pxe_once[] =
	"{\"Boot\":{\"BootSourceOverrideTarget\":\"Pxe\","
	"\"BootSourceOverrideEnabled\":\"Once\"}}";
static const char __attribute__((unused)) disk_first[] =
	"{\"Boot\":{\"BootOrder\":[\"Boot0001\",\"Boot0000\",\"Boot0002\"]}}";

struct site {
	struct bu_bmc_tree *tree;
	struct bu_bmc_machine *machine;
	struct bu_bmc *bmc;
	int64_t now_ms;
	struct bu_bmc_reply reply;  /* the last */
	struct bu_bmc_request with; /* headers of the next requests */
};

static inline void
begin_with(struct site *site, const char *name,
	   int (*fetch)(const char *url, struct bu_err *err))
{
	struct bu_bmc_identity identity;
	struct bu_err err = {0};

	memset(site, 0, sizeof(*site));
	site->now_ms = 1000;
	site->tree = bu_bmc_tree_load(name, &err);
	ck_assert_msg(site->tree != NULL, "%s", err.text);
	site->machine = bu_bmc_machine_paper(0, 2000, &identity);
	site->bmc = bu_bmc_create(&(struct bu_bmc_opts){.tree = site->tree,
							.machine = site->machine,
							.identity = &identity,
							.user = "admin",
							.password = "secret",
							.fetch = fetch,
							.now_ms = site->now_ms});
	/* admin:secret */
	site->with.authorization = "Basic YWRtaW46c2VjcmV0";
	site->with.content_type = "application/json";
	site->with.has_length = 1;
}

static inline void
finish(struct site *site)
{
	bu_bmc_reply_free(&site->reply);
	bu_bmc_destroy(site->bmc);
	bu_bmc_tree_free(site->tree);
}

static inline void
begin(struct site *site, const char *name)
{
	begin_with(site, name, NULL);
}

/* The status of the answer; the answer is in site->reply. */
static inline int
ask(struct site *site, const char *method, const char *path, const char *body)
{
	struct bu_bmc_request request = site->with;

	request.method = method;
	request.path = path;
	request.body = body;
	request.size = body ? strlen(body) : 0;
	bu_bmc_reply_free(&site->reply);
	bu_bmc_answer(site->bmc, &request, site->now_ms, 0, &site->reply);
	return site->reply.status;
}

static inline const char *
header(const struct site *site, const char *name)
{
	return bu_json_str(site->reply.headers, name, "");
}

/* The first MessageId without its registry; "" in an answer that has none. */
static inline const char *
message(const struct site *site)
{
	const json_t *error = json_object_get(site->reply.body, "error");
	const char *code = bu_json_str(error, "code", "");

	return strrchr(code, '.') ? strrchr(code, '.') + 1 : code;
}

/* A member of the answer, "Boot/BootSourceOverrideTarget", as text. */
static inline const char *
value(const struct site *site, const char *path)
{
	const json_t *at = site->reply.body;
	char name[128];

	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		size_t length = strcspn(path, "/");

		memcpy(name, path, length);
		name[length] = '\0';
		at = json_object_get(at, name);
	}
	return json_is_string(at) ? json_string_value(at) : at ? "(no text)" : "";
}

static inline const char *
power(struct site *site)
{
	ck_assert_int_eq(ask(site, "GET", SYSTEM, NULL), 200);
	return value(site, "PowerState");
}

static inline void
reset(struct site *site, const char *type, int status)
{
	bu_autofree char *body = bu_xasprintf("{\"ResetType\":\"%s\"}", type);

	ck_assert_msg(ask(site, "POST", RESET, body) == status, "%s: %d, not %d", type,
		      site->reply.status, status);
}

static inline void
set_fault(struct site *site, const char *text)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_bmc_fault(site->bmc, text, &err) == 0, "%s", err.text);
}

/* On, and at its boot loader. */
static inline void
boot(struct site *site)
{
	site->now_ms += 10000;
	reset(site, "On", 204);
	site->now_ms += 10000;
	bu_bmc_advance(site->bmc, site->now_ms);
	site->now_ms += 10000;
	bu_bmc_advance(site->bmc, site->now_ms);
}

static inline void
off(struct site *site)
{
	reset(site, "ForceOff", 204);
	site->now_ms += 10000;
	bu_bmc_advance(site->bmc, site->now_ms);
}

#endif
