/* SPDX-License-Identifier: Apache-2.0 */
/* Logins at an identity provider, and tokens that are made anew. */
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/client.h"
#include "cli/idp.h"
#include "tests/support/jwt.h"

/* --- the issuer --- */

enum { SCRIPT_MAX = 8 };

static struct MHD_Daemon *server;
static char url[64], dir[64], ca_path[96], token_url[80];
static char configuration[512];
/* Answers to requests in their order, and the forms that came with them. */
static char *script[SCRIPT_MAX], forms[SCRIPT_MAX][1024];
static int asked;

static enum MHD_Result
answer(struct MHD_Connection *connection, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (char *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_queue_response(
		connection, strstr(text, "\"error\"") ? 400 : 200, response);

	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *path,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	if (strcmp(path, "/.well-known/openid-configuration") == 0)
		return answer(connection, configuration);
	ck_assert(asked < SCRIPT_MAX && script[asked]);
	if (!*state || *upload_size) {
		snprintf(forms[asked] + strlen(forms[asked]),
			 sizeof(forms[asked]) - strlen(forms[asked]), "%.*s",
			 (int)*upload_size, upload ? upload : "");
		*upload_size = 0;
		*state = forms[asked];
		return MHD_YES;
	}
	return answer(connection, script[asked++]);
}

static void
begin(void)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *ca_key = NULL, *ca = NULL, *key = NULL, *cert = NULL;

	snprintf(dir, sizeof(dir), "/tmp/device_grant_test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("XDG_CONFIG_HOME", dir, 1);
	ck_assert_int_eq(bu_tls_key_create(&ca_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("issuer", ca_key, &ca, NULL), 0);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca, ca_key}, key, names,
					    &cert, NULL),
			 0);
	snprintf(ca_path, sizeof(ca_path), "%s/issuer.pem", dir);
	ck_assert_int_eq(bu_file_write(ca_path, ca, strlen(ca), 0644, NULL), 0);
	server =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL,
				 NULL, on_request, NULL, MHD_OPTION_HTTPS_MEM_KEY, key,
				 MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	snprintf(
		url, sizeof(url), "https://127.0.0.1:%u",
		(unsigned)MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
	snprintf(token_url, sizeof(token_url), "%s/token", url);
	snprintf(configuration, sizeof(configuration),
		 "{\"issuer\":\"%s\",\"token_endpoint\":\"%s/token\","
		 "\"device_authorization_endpoint\":\"%s/device\"}",
		 url, url, url);
}

static void
forget(void)
{
	for (int i = 0; i < SCRIPT_MAX; i++)
		free(bu_steal(&script[i]));
	memset(forms, 0, sizeof(forms));
	asked = 0;
}

static void
end(void)
{
	bu_autofree char *command = bu_xasprintf("rm -rf %s", dir);

	MHD_stop_daemon(server);
	forget();
	ck_assert_int_eq(system(command), 0);
}

/* An answer with a token of so many seconds, as an id token; owned. */
static char *
tokens(int for_s, const char *more)
{
	bu_autofree char *claims =
		bu_xasprintf("{\"exp\":%lld}",
			     (long long)bu_wall_ms(bu_clock_system()) / 1000 + for_s);
	bu_autofree char *text = jwt_text("{\"alg\":\"ES256\"}", claims);

	return bu_xasprintf("{\"access_token\":\"opaque\",\"id_token\":\"%s.c2ln\"%s}",
			    text, more);
}

/* --- login --- */

static int passed_s, waits;

static void
sleep_s(int seconds)
{
	passed_s += seconds;
	waits++;
}

static int
log_in(struct bu_context *ret, struct bu_err *err)
{
	const struct bu_idp idp = {.issuer = url,
				   .client = "bring up",
				   .scopes = "openid email",
				   .ca = ca_path,
				   .sleep_s = sleep_s};

	memset(ret, 0, sizeof(*ret));
	passed_s = waits = 0;
	return bu_device_grant(&idp, ret, err);
}

#define BEGUN(more)                                                                    \
	"{\"device_code\":\"d&1\",\"user_code\":\"AB-CD\",\"verification_uri\":"       \
	"\"https://id/device\"" more "}"
#define ERROR(code) "{\"error\":\"" code "\"}"

START_TEST(a_confirmed_code_is_a_login)
{
	struct bu_context context;
	struct bu_err err = {0};

	begin();
	script[0] = bu_xstrdup(BEGUN(",\"interval\":2,\"expires_in\":100"));
	script[1] = bu_xstrdup(ERROR("authorization_pending"));
	script[2] = bu_xstrdup(ERROR("slow_down"));
	script[3] = bu_xstrdup(ERROR("authorization_pending"));
	script[4] = tokens(300, ",\"refresh_token\":\"r1\"");
	ck_assert_msg(log_in(&context, &err) == 0, "%s", err.text);
	ck_assert_int_eq(asked, 5);
	/* 2 + 2, and 7 after it was told to be slower. */
	ck_assert_int_eq(passed_s, 2 + 2 + 7 + 7);
	ck_assert_str_eq(forms[0], "client_id=bring%20up&scope=openid%20email");
	ck_assert_str_eq(
		forms[1],
		"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
		"&device_code=d%261&client_id=bring%20up");
	ck_assert_str_eq(context.oidc.refresh, "r1");
	ck_assert_str_eq(context.oidc.token_url, token_url);
	ck_assert_str_eq(context.oidc.client, "bring up");
	ck_assert_int_eq(strncmp(context.token, "eyJ", 3), 0);
	ck_assert_int_gt(context.oidc.until_s,
			 bu_wall_ms(bu_clock_system()) / 1000 + 200);
	bu_context_fini(&context);
	end();
}
END_TEST

START_TEST(what_ends_a_login_is_said)
{
	static const struct {
		const char *begun, *then; /* then: to each further request */
		enum bu_err_kind kind;
		const char *says;
		int waits;
	} rows[] = {
		{ERROR("invalid_client"), NULL, BU_ERR_DENIED,
		 "refuses: invalid_client", 0},
		{"{\"error\":\"x\",\"error_description\":\"no\\u001b[2Jway\"}", NULL,
		 BU_ERR_DENIED, "refuses: x: no?[2Jway", 0},
		{"{}", NULL, BU_ERR_REMOTE, "no code to confirm", 0},
		{"[]", NULL, BU_ERR_REMOTE, "not a JSON object", 0},
		{BEGUN(""), ERROR("access_denied"), BU_ERR_DENIED, "was refused", 1},
		{BEGUN(""), ERROR("expired_token"), BU_ERR_TIMEOUT, "not confirmed", 1},
		{BEGUN(""), ERROR("invalid_grant"), BU_ERR_DENIED,
		 "refuses: invalid_grant", 1},
		{BEGUN(""), "{\"access_token\":\"opaque\"}", BU_ERR_REMOTE,
		 "scope openid", 1},
		{BEGUN(",\"expires_in\":10"), ERROR("authorization_pending"),
		 BU_ERR_TIMEOUT, "not confirmed", 2},
		/* None that would have it asked all the time. */
		{BEGUN(",\"interval\":-7,\"expires_in\":3"),
		 ERROR("authorization_pending"), BU_ERR_TIMEOUT, "not confirmed", 3},
		{BEGUN(",\"expires_in\":15"), "<html>", BU_ERR_TIMEOUT, "not confirmed",
		 3},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_context context;
		struct bu_err err = {0};

		forget();
		script[0] = bu_xstrdup(rows[i].begun);
		for (int k = 1; k < 5 && rows[i].then; k++)
			script[k] = bu_xstrdup(rows[i].then);
		ck_assert_int_eq(log_in(&context, &err), -1);
		ck_assert_msg(err.kind == rows[i].kind &&
				      strstr(err.text, rows[i].says),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(waits == rows[i].waits, "row %zu: %d", i, waits);
		bu_context_fini(&context);
	}
	end();
}
END_TEST

START_TEST(another_issuer_is_not_asked)
{
	static const char *const rows[][2] = {
		{"{\"issuer\":\"https://other\"}", "something else"},
		{"{\"issuer\":\"%s\",\"token_endpoint\":\"http://x/t\","
		 "\"device_authorization_endpoint\":\"https://x/d\"}",
		 "'token_endpoint'"},
		{"{\"issuer\":\"%s\",\"token_endpoint\":\"https://x/t\"}",
		 "'device_authorization_endpoint'"},
	};
	struct bu_context context;
	struct bu_err err;

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const char *at = strstr(rows[i][0], "%s");

		snprintf(configuration, sizeof(configuration), "%.*s%s%s",
			 at ? (int)(at - rows[i][0]) : (int)strlen(rows[i][0]),
			 rows[i][0], at ? url : "", at ? at + 2 : "");
		ck_assert_int_eq(log_in(&context, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i][1]) != NULL, "%s", err.text);
	}
	/* Nor one that another CA vouches for. */
	unlink(ca_path);
	ck_assert_int_eq(log_in(&context, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(asked, 0);
	end();
}
END_TEST

/* --- the token of a context --- */

static void
keep(int ends_in_s, const char *refresh)
{
	struct bu_context context = {
		.url = bu_xstrdup("https://127.0.0.1:1"),
		.token = bu_xstrdup("old"),
		.oidc = {.token_url = bu_xstrdup(token_url),
			 .client = bu_xstrdup("bringup"),
			 .refresh = refresh ? bu_xstrdup(refresh) : NULL,
			 .until_s = bu_wall_ms(bu_clock_system()) / 1000 + ends_in_s}};
	bu_autofree char *ca = bu_file_read(ca_path, 0, NULL, NULL);

	ck_assert_int_eq(bu_context_save("prod", &context, "PEM\n", NULL), 0);
	ck_assert_int_eq(bu_context_save_issuer("prod", ca, NULL), 0);
	bu_context_fini(&context);
}

START_TEST(a_token_that_is_over_is_made_anew_and_kept)
{
	bu_autofree char *path = NULL;
	struct bu_context context, other;
	struct bu_err err = {0};
	struct stat st;

	begin();
	keep(300, "r1");
	ck_assert_int_eq(bu_context_load("prod", &context, NULL), 0);
	ck_assert_int_eq(bu_context_is_due(&context), 0);
	bu_context_fini(&context);
	keep(20, "r 1");
	ck_assert_int_eq(bu_context_load("prod", &context, NULL), 0);
	ck_assert_int_eq(bu_context_load("prod", &other, NULL), 0);
	ck_assert_int_eq(bu_context_is_due(&context), 1);
	script[0] = tokens(300, ",\"refresh_token\":\"r2\"");
	ck_assert_msg(bu_context_renew("prod", &context, &err) == 0, "%s", err.text);
	ck_assert_str_eq(
		forms[0],
		"grant_type=refresh_token&refresh_token=r%201&client_id=bringup");
	ck_assert_int_eq(bu_context_is_due(&context), 0);
	/* A command that read the context before takes what the first one got. */
	ck_assert_int_eq(bu_context_renew("prod", &other, &err), 0);
	ck_assert_int_eq(asked, 1);
	ck_assert_str_eq(other.token, context.token);
	ck_assert_str_eq(other.oidc.refresh, "r2");
	bu_context_fini(&other);
	bu_context_fini(&context);
	for (int i = 0; i < 2; i++) {
		path = bu_xasprintf("%s/bringup/prod.%s", dir, i ? "issuer" : "json");
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, 0600);
		free(bu_steal(&path));
	}
	end();
}
END_TEST

/* An issuer that gives no further one lets the first be used again. */
START_TEST(a_refresh_token_may_be_good_for_long)
{
	struct bu_context context;

	begin();
	keep(0, "r1");
	ck_assert_int_eq(bu_context_load("prod", &context, NULL), 0);
	script[0] = tokens(1, "");
	script[1] = tokens(300, "");
	ck_assert_int_eq(bu_context_renew("prod", &context, NULL), 0);
	ck_assert_int_eq(bu_context_renew("prod", &context, NULL), 0);
	ck_assert_int_eq(asked, 2);
	ck_assert_str_eq(forms[1], forms[0]);
	bu_context_fini(&context);
	end();
}
END_TEST

/* A command says so before it sends anything. */
START_TEST(a_login_that_is_over_is_said)
{
	static const struct {
		const char *refresh, *answer, *says;
	} rows[] = {
		{NULL, NULL, "log in again (bringup login https://127.0.0.1:1 --oidc"},
		{"r1", ERROR("invalid_grant"), "log in again (bringup login https://"},
		{"r1", "{}", "scope openid"},
	};
	char text[512];

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_options options = {.context = "prod"};
		bu_autoclient struct bu_client *client = NULL;
		struct bu_err err = {0};
		bu_autojson json_t *reply = NULL;

		forget();
		keep(0, rows[i].refresh);
		script[0] = rows[i].answer ? bu_xstrdup(rows[i].answer) : NULL;
		client = bu_client_open(&options);
		reply = bu_client_get(client, 0, &err, "/v1/nodes");
		ck_assert_ptr_null(reply);
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s", err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "context 'prod': "));
		snprintf(text, sizeof(text), "%s", err.text);
		ck_assert_ptr_null(strstr(text, "r1"));
	}
	end();
}
END_TEST

BU_UNIT("device grant", a_confirmed_code_is_a_login, what_ends_a_login_is_said,
	another_issuer_is_not_asked, a_token_that_is_over_is_made_anew_and_kept,
	a_refresh_token_may_be_good_for_long, a_login_that_is_over_is_said)
