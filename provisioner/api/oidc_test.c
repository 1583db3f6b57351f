/* SPDX-License-Identifier: Apache-2.0 */
/* People who come with tokens of an identity provider: their names and roles, and what
 * bringupd does when the issuer changes its keys, is asked too often or is gone. */
#include "provisioner/api/oidc.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/jwt.h"
#include "tests/support/jwt.h"
#include "tests/support/site.h"

enum { SECOND = 1000, HOUR = 3600 * SECOND };

static struct site site;
static int port; /* of people, without TLS */
static struct jwt_key key;
static struct bu_oidc_opts opts;

/* --- the issuer --- */

static struct MHD_Daemon *server;
static char url[64], ca_path[128];
static char *configuration, *set; /* that it answers */
static atomic_int fetches, is_down;

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *path,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	int is_keys = strcmp(path, "/keys") == 0;
	char *text = is_keys ? set : configuration;
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	ck_assert(is_keys || strcmp(path, "/.well-known/openid-configuration") == 0);
	atomic_fetch_add(&fetches, is_keys);
	rc = MHD_queue_response(connection, atomic_load(&is_down) ? 500 : 200,
				response);
	MHD_destroy_response(response);
	return rc;
}

static void
issuer_begin(void)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *ca_key = NULL, *ca = NULL, *own_key = NULL, *own = NULL;

	ck_assert_int_eq(bu_tls_key_create(&ca_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("issuer", ca_key, &ca, NULL), 0);
	ck_assert_int_eq(bu_tls_key_create(&own_key, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca, ca_key}, own_key, names,
					    &own, NULL),
			 0);
	snprintf(ca_path, sizeof(ca_path), "%s/issuer.pem", site.rig.dir);
	ck_assert_int_eq(bu_file_write(ca_path, ca, strlen(ca), 0644, NULL), 0);
	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0,
				  NULL, NULL, on_request, NULL,
				  MHD_OPTION_HTTPS_MEM_KEY, own_key,
				  MHD_OPTION_HTTPS_MEM_CERT, own, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	snprintf(
		url, sizeof(url), "https://127.0.0.1:%u",
		(unsigned)MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
}

static void
issuer_says(const char *name, const char *jwks_uri)
{
	free(configuration);
	configuration =
		bu_xasprintf("{\"issuer\":\"%s\",\"jwks_uri\":\"%s\"}", name, jwks_uri);
}

static void
issuer_has(const struct jwt_key *has)
{
	free(set);
	set = jwt_set_of(jwt_key_json(has), NULL, NULL);
}

/* --- people --- */

static const struct bu_callers_group groups[BU_PERSON_COUNT] = {
	[BU_PERSON_VIEWER] = {"lookers", -1},  [BU_PERSON_OPERATOR] = {"movers", -1},
	[BU_PERSON_GRANT] = {"", -1},          [BU_PERSON_ADMIN] = {"bosses", -1},
	[BU_PERSON_AUDITOR] = {"readers", -1},
};

static void
begin(void)
{
	bu_autofree char *keys_url = NULL;

	site_begin(&site, 1);
	port = site_listen_plain(&site, BU_LISTEN_PEOPLE);
	key = jwt_key_make("k1", GNUTLS_PK_ECDSA, 0);
	atomic_store(&fetches, 0);
	atomic_store(&is_down, 0);
	issuer_begin();
	keys_url = bu_xasprintf("%s/keys", url);
	issuer_says(url, keys_url);
	issuer_has(&key);
	opts = (struct bu_oidc_opts){.issuer = url,
				     .client = "bringup",
				     .ca = ca_path,
				     .scopes = "openid",
				     .groups_claim = "groups",
				     .name_claim = "",
				     .groups = groups};
	ck_assert_int_eq(bu_oidc_check(&opts, NULL), 0);
}

static void
open_oidc(void)
{
	site.api.oidc = bu_oidc_create(site.rig.loop, &opts);
	rig_pass(&site.rig, 1);
}

static void
end(void)
{
	bu_oidc_destroy(site.api.oidc);
	site_end(&site);
	MHD_stop_daemon(server);
	jwt_key_end(&key);
	free(bu_steal(&configuration));
	free(bu_steal(&set));
}

/* A token of five minutes that has these claims, too; owned. */
static char *
token_of(const struct jwt_key *by, const char *claims)
{
	long long now_s = bu_wall_ms(bu_loop_clock(site.rig.loop)) / 1000;
	bu_autofree char *text = bu_xasprintf(
		"{\"iss\":\"%s\",\"aud\":\"bringup\",\"iat\":%lld,\"exp\":%lld,%s}",
		url, now_s, now_s + 300, claims);

	return jwt_make(by, "ES256", text);
}

static const char *order; /* body of a POST */

static void
ask_with(const char *token, const char *line, int status, const char *has)
{
	const char *body = *line == 'P' ? order : "";
	bu_autofree char *request = bu_xasprintf(
		"%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
		line, token, strlen(body), body);
	struct talk talk;

	talk_begin(&talk, port, request, 0);
	site_until_ended(&site, &talk);
	ck_assert_msg(talk.status == status && strstr(talk.text, has),
		      "%s: not %d with '%s': %s", line, status, has, talk.text);
	talk_end(&talk);
}

static void
comes(const struct jwt_key *by, const char *claims, int status, const char *has)
{
	bu_autofree char *token = token_of(by, claims);

	ask_with(token, "GET /v1/nodes", status, has);
}

#define ALICE "\"preferred_username\":\"alice\",\"groups\":[\"lookers\"]"

START_TEST(groups_of_the_token_are_roles)
{
	static const struct {
		const char *claims;
		int look, hold, read;
	} rows[] = {
		{ALICE, 200, 403, 403},
		{"\"email\":\"bob@x\",\"groups\":[\"x\",\"movers\"]", 200, 200, 403},
		{"\"email\":\"bob@x\",\"groups\":\"movers\"", 200, 200, 403},
		{"\"email\":\"eve@x\",\"groups\":[\"readers\"]", 200, 403, 200},
		{"\"email\":\"zoe@x\",\"groups\":[\"bosses\"]", 200, 200, 200},
		{"\"email\":\"zoe@x\",\"groups\":[]", 401, 401, 401},
		{"\"email\":\"zoe@x\",\"groups\":[\"\",\"Bosses\",null,1]", 401, 401,
		 401},
		{"\"email\":\"zoe@x\",\"groups\":{\"bosses\":\"bosses\"}", 401, 401,
		 401},
		{"\"email\":\"zoe@x\",\"roles\":[\"bosses\"]", 401, 401, 401},
	};

	begin();
	open_oidc();
	order = "{\"reason\":\"a look\",\"dry_run\":true}";
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *token = token_of(&key, rows[i].claims);

		ask_with(token, "GET /v1/nodes", rows[i].look,
			 rows[i].look == 200 ? "node001" : "movers, bosses");
		ask_with(token, "POST /v1/nodes/node001/hold", rows[i].hold, "");
		ask_with(token, "GET /v1/audit", rows[i].read, "");
	}
	end();
}
END_TEST

/* As long as one may be, through the listener's memory for heads. */
START_TEST(a_person_of_many_groups_comes)
{
	bu_autofree char *fill = bu_xmalloc(BU_JWT_MAX), *claims = NULL, *token = NULL;
	int size = (BU_JWT_MAX - 200) * 3 / 4 - 230;

	begin();
	open_oidc();
	memset(fill, 'x', (size_t)size);
	fill[size] = '\0';
	claims =
		bu_xasprintf("\"email\":\"a@x\",\"groups\":[\"%s\",\"lookers\"]", fill);
	token = token_of(&key, claims);
	ck_assert_uint_gt(strlen(token), BU_JWT_MAX - 300);
	ck_assert_uint_le(strlen(token), BU_JWT_MAX);
	ask_with(token, "GET /v1/nodes", 200, "node001");
	end();
}
END_TEST

START_TEST(the_log_says_who)
{
	bu_autofree char *log = NULL;
	struct talk talk;

	begin();
	open_oidc();
	order = "{\"reason\":\"a look\"}";
	for (int i = 0; i < 2; i++) {
		bu_autofree char *token =
			token_of(&key, i ? "\"preferred_username\":\"carol\","
					   "\"email\":\"dan@x\",\"sub\":\"7\",\"by\":"
					   "\"root\",\"groups\":[\"movers\"]"
					 : ALICE);

		ask_with(token, "POST /v1/nodes/node001/hold", i ? 200 : 403, "");
	}
	log = site_text(&site, site.local, "/v1/events?limit=1000", 200);
	ck_assert_ptr_nonnull(strstr(log, "\"owner\":\"oidc:carol\""));
	ck_assert_ptr_null(strstr(log, "alice"));
	site_ask(&talk, port, "GET", "/v1/login", "");
	site_until_ended(&site, &talk);
	ck_assert_int_eq(talk.status, 200);
	ck_assert_ptr_nonnull(strstr(talk.body, url));
	ck_assert_ptr_nonnull(strstr(talk.body, "\"client\":\"bringup\""));
	talk_end(&talk);
	end();
}
END_TEST

START_TEST(a_name_is_of_the_claim_that_is_chosen)
{
	static const struct {
		const char *claim, *claims, *who; /* NULL = refused */
	} rows[] = {
		{"", "\"preferred_username\":\"al\",\"email\":\"b@x\"", "oidc:al"},
		{"", "\"email\":\"b@x\"", "oidc:b@x"},
		{"", "\"email\":\"b@x\",\"email_verified\":true", "oidc:b@x"},
		{"", "\"email\":\"b@x\",\"email_verified\":false", NULL},
		{"email", "\"email\":\"b@x\",\"email_verified\":false", NULL},
		{"sub", "\"sub\":\"7|x\",\"email\":\"b@x\"", "oidc:7|x"},
		{"sub", "\"email\":\"b@x\"", NULL},
		{"sub", "\"sub\":7", NULL},
		{"sub", "\"sub\":\"\"", NULL},
		{"sub", "\"sub\":\"a b\"", NULL},
		{"sub", "\"sub\":\"a\\nb\"", NULL},
		{"sub", "\"sub\":\"\\u00e9\"", NULL},
		{"sub", "\"sub\":\"(bob)\"", NULL},
		{"sub", "\"sub\":\"bob(1)\"", NULL},
		{"sub", "\"sub\":\"@bob\"", NULL},
		{"sub", "\"sub\":\"oidc:bob\"", NULL},
		{"sub",
		 "\"sub\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaa\"",
		 NULL},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *claims =
			bu_xasprintf("%s,\"groups\":[\"lookers\"]", rows[i].claims);
		bu_autofree char *token = token_of(&key, claims);
		struct bu_caller caller;
		struct bu_err err = {0};
		int rc;

		opts.name_claim = rows[i].claim;
		open_oidc();
		rc = bu_oidc_open(site.api.oidc, token, &caller, &err);
		ck_assert_msg((rc == 0) == (rows[i].who != NULL), "row %zu: %s", i,
			      err.text);
		if (rc == 0)
			ck_assert_str_eq(caller.who, rows[i].who);
		bu_oidc_destroy(bu_steal(&site.api.oidc));
	}
	end();
}
END_TEST

/* --- the keys --- */

START_TEST(keys_that_the_issuer_changes_are_fetched)
{
	struct jwt_key next;

	begin();
	next = jwt_key_make("k2", GNUTLS_PK_ECDSA, 0);
	open_oidc();
	comes(&key, ALICE, 200, "node001");
	issuer_has(&next);
	comes(&key, ALICE, 200, "node001");
	rig_pass(&site.rig, 30 * SECOND);
	comes(&next, ALICE, 503, "Retry-After: ");
	comes(&next, ALICE, 200, "node001");
	/* The key of before is the issuer's no more. */
	comes(&key, ALICE, 401, "no key of https://");
	ck_assert_int_eq(atomic_load(&fetches), 2);
	/* Without anybody who asks: in an hour. */
	issuer_has(&key);
	rig_pass(&site.rig, HOUR);
	comes(&next, ALICE, 401, "no key of https://");
	comes(&key, ALICE, 200, "node001");
	jwt_key_end(&next);
	end();
}
END_TEST

/* Whoever sends them: they cost one fetch in 30 seconds, and keep nobody out. */
START_TEST(a_storm_of_unknown_keys_fetches_once)
{
	struct jwt_key other;

	begin();
	other = jwt_key_make("x", GNUTLS_PK_ECDSA, 0);
	open_oidc();
	for (int round = 0; round < 3; round++) {
		rig_pass(&site.rig, 30 * SECOND);
		atomic_store(&fetches, 0);
		for (int i = 0; i < 6; i++) {
			char kid[16];

			snprintf(kid, sizeof(kid), "x%d-%d", round, i);
			other.kid = kid;
			comes(&other, ALICE, i ? 401 : 503, "");
		}
		ck_assert_int_eq(atomic_load(&fetches), 1);
		comes(&key, ALICE, 200, "node001");
	}
	/* A token that is wrong in any case fetches nothing. */
	rig_pass(&site.rig, 60 * SECOND);
	atomic_store(&fetches, 0);
	other.kid = "y";
	comes(&other, ALICE ",\"nbf\":9999999999", 401, "not good yet");
	ck_assert_int_eq(atomic_load(&fetches), 0);
	jwt_key_end(&other);
	end();
}
END_TEST

/* Known keys are good for a day; then it is said why nobody gets in. */
START_TEST(without_the_issuer_keys_are_good_for_a_day)
{
	begin();
	open_oidc();
	atomic_store(&is_down, 1);
	rig_pass(&site.rig, 12 * HOUR);
	comes(&key, ALICE, 200, "node001");
	rig_pass(&site.rig, 11 * HOUR);
	comes(&key, ALICE, 200, "node001");
	rig_pass(&site.rig, HOUR);
	comes(&key, ALICE, 502, "cannot fetch the keys of https://");
	comes(&key, ALICE, 502, "status 500");
	/* Nobody is counted as one who guesses. */
	for (int i = 0; i < 30; i++)
		comes(&key, ALICE, 502, "cannot fetch");
	atomic_store(&is_down, 0);
	rig_pass(&site.rig, 31 * SECOND);
	comes(&key, ALICE, 200, "node001");
	end();
}
END_TEST

START_TEST(another_issuer_is_not_believed)
{
	bu_autofree char *keys_url = NULL, *plain = NULL;

	begin();
	keys_url = bu_xasprintf("%s/keys", url);
	plain = bu_xasprintf("http%s/keys", url + strlen("https"));
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			issuer_says("https://other.example.org", keys_url);
		else if (i == 1)
			issuer_says(url, plain);
		else
			opts.ca = site.api.ramdisk_dir; /* no CA is there */
		open_oidc();
		comes(&key, ALICE, 502,
		      i == 0   ? "calls itself 'https://other.example.org'"
		      : i == 1 ? "jwks_uri of https"
			       : "no CA of");
		ck_assert_int_eq(atomic_load(&fetches), 0);
		bu_oidc_destroy(bu_steal(&site.api.oidc));
		issuer_says(url, keys_url);
	}
	end();
}
END_TEST

/* Where there is no issuer a token of one is a wrong token as any other. */
START_TEST(without_an_issuer_nobody_comes_by_one)
{
	struct talk talk;

	begin();
	comes(&key, ALICE, 401, "unknown here");
	site_ask(&talk, port, "GET", "/v1/login", "");
	site_until_ended(&site, &talk);
	ck_assert_int_eq(talk.status, 404);
	ck_assert_ptr_nonnull(strstr(talk.text, "oidc_issuer"));
	talk_end(&talk);
	end();
}
END_TEST

START_TEST(an_issuer_that_cannot_be_is_refused)
{
	static const struct {
		const char *issuer, *client, *ca, *says; /* NULL = it is fine */
	} rows[] = {
		{"", "", "", NULL},
		{"https://id/realms/a", "b", "/ca.pem", NULL},
		{"https://id/", "b", "", NULL},
		{"http://id/", "b", "", "oidc_issuer = http://id/: https://"},
		{"https://me@id/", "b", "", "https://HOST/PATH"},
		{"https://id/?a", "b", "", "https://HOST/PATH"},
		{"id", "b", "", "https://HOST/PATH"},
		{"https://id", "", "", "oidc_client"},
		{"", "b", "", "oidc_client without oidc_issuer"},
		{"https://id", "b", "ca.pem", "not an absolute path"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_oidc_opts row = {.issuer = rows[i].issuer,
						 .client = rows[i].client,
						 .ca = rows[i].ca,
						 .groups_claim = "groups"};
		struct bu_err err = {0};

		ck_assert_int_eq(bu_oidc_check(&row, &err), rows[i].says ? -1 : 0);
		if (rows[i].says)
			ck_assert_ptr_nonnull(strstr(err.text, rows[i].says));
	}
}
END_TEST

RIG_UNIT("oidc", groups_of_the_token_are_roles, a_person_of_many_groups_comes,
	 the_log_says_who, a_name_is_of_the_claim_that_is_chosen,
	 keys_that_the_issuer_changes_are_fetched, a_storm_of_unknown_keys_fetches_once,
	 without_the_issuer_keys_are_good_for_a_day, another_issuer_is_not_believed,
	 without_an_issuer_nobody_comes_by_one, an_issuer_that_cannot_be_is_refused)
