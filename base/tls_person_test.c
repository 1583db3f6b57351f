/* SPDX-License-Identifier: Apache-2.0 */
/* Which certificates of people are taken, and that each refusal names its reason. */
#include "base/tls_person.h"

#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/unit.h"

enum { TIMEOUT_MS = 10000, HOUR_S = 3600 };

static char folder[64], base_url[64], crl_file[96];
static char *ca_file, *server_ca_file, *key_file, *key;
static struct authority {
	char *key, *cert;
} ours, foreign;
static struct bu_person_ca *people;
static struct MHD_Daemon *server;

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload, size_t *size,
	   void **state)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct bu_tls_person person;
	struct bu_err err = {0};
	bu_autojson json_t *value = json_object();
	bu_autofree char *text = NULL, *groups = NULL;
	struct MHD_Response *response;
	enum MHD_Result rc;
	int denied = bu_tls_person(people, info->tls_session, &person, &err);

	for (size_t i = 0; !denied && i < person.count; i++)
		bu_text_add(&groups, ",", "%s", person.organisations[i]);
	if (denied)
		json_object_set_new(value, "error", bu_json_from_err(&err));
	else
		json_object_update_new(value,
				       json_pack("{s:s,s:s}", "name", person.name,
						 "groups", groups ? groups : ""));
	text = bu_json_canonical(value);
	response = MHD_create_response_from_buffer(strlen(text), text,
						   MHD_RESPMEM_MUST_COPY);
	rc = MHD_queue_response(connection, denied ? 403 : 200, response);
	MHD_destroy_response(response);
	return rc;
}

static char *
write_pem(const char *name, const char *pem)
{
	char *path = bu_xasprintf("%s/%s", folder, name);

	ck_assert_int_eq(bu_file_write(path, pem, strlen(pem), 0600, NULL), 0);
	return path;
}

static void
make_ca(struct authority *a, const char *name)
{
	ck_assert_int_eq(bu_tls_key_create(&a->key, NULL), 0);
	ck_assert_int_eq(bu_ca_create(name, a->key, &a->cert, NULL), 0);
}

struct signer {
	gnutls_x509_crt_t cert;
	gnutls_x509_privkey_t key;
};

static gnutls_x509_privkey_t
load_key(const char *pem)
{
	const gnutls_datum_t in = {(unsigned char *)(uintptr_t)pem,
				   (unsigned)strlen(pem)};
	gnutls_x509_privkey_t ret;

	gnutls_x509_privkey_init(&ret);
	ck_assert_int_eq(gnutls_x509_privkey_import(ret, &in, GNUTLS_X509_FMT_PEM), 0);
	return ret;
}

static struct signer
load_signer(const struct authority *a)
{
	const gnutls_datum_t in = {(unsigned char *)a->cert, (unsigned)strlen(a->cert)};
	struct signer ret = {.key = load_key(a->key)};

	gnutls_x509_crt_init(&ret.cert);
	ck_assert_int_eq(gnutls_x509_crt_import(ret.cert, &in, GNUTLS_X509_FMT_PEM), 0);
	return ret;
}

static void
drop_signer(struct signer *signer)
{
	gnutls_x509_crt_deinit(signer->cert);
	gnutls_x509_privkey_deinit(signer->key);
}

struct wish {
	const struct authority *by;
	const char *name, *groups[3], *purpose;
	int from_s, until_s; /* from now */
	char serial;
};

/* The file of such a certificate. */
static char *
issue(const struct wish *wish)
{
	struct signer signer = load_signer(wish->by);
	gnutls_x509_privkey_t own = load_key(key);
	gnutls_x509_crt_t cert;
	gnutls_datum_t pem;
	char *path;

	gnutls_x509_crt_init(&cert);
	gnutls_x509_crt_set_version(cert, 3);
	gnutls_x509_crt_set_serial(cert, &wish->serial, 1);
	gnutls_x509_crt_set_activation_time(cert, time(NULL) + wish->from_s);
	gnutls_x509_crt_set_expiration_time(cert, time(NULL) + wish->until_s);
	gnutls_x509_crt_set_key(cert, own);
	if (wish->purpose)
		gnutls_x509_crt_set_key_purpose_oid(cert, wish->purpose, 0);
	for (size_t i = 0; i < BU_LEN(wish->groups) && wish->groups[i]; i++)
		gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_ORGANIZATION_NAME,
					      0, wish->groups[i],
					      (unsigned)strlen(wish->groups[i]));
	if (wish->name)
		gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0,
					      wish->name, (unsigned)strlen(wish->name));
	ck_assert_int_eq(gnutls_x509_crt_sign2(cert, signer.cert, signer.key,
					       GNUTLS_DIG_SHA256, 0),
			 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem), 0);
	path = write_pem("client.pem", (const char *)pem.data);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(cert);
	gnutls_x509_privkey_deinit(own);
	drop_signer(&signer);
	return path;
}

/* A list of this CA that revokes this serial, and is good for that long. */
static void
write_list(const struct authority *by, char serial, int until_s)
{
	struct signer signer = load_signer(by);
	bu_autofree char *next = bu_xasprintf("%s.next", crl_file);
	gnutls_x509_crl_t list;
	gnutls_datum_t pem;

	gnutls_x509_crl_init(&list);
	gnutls_x509_crl_set_version(list, 2);
	gnutls_x509_crl_set_number(list, "\1", 1);
	gnutls_x509_crl_set_this_update(list, time(NULL) - 2 * HOUR_S);
	gnutls_x509_crl_set_next_update(list, time(NULL) + until_s);
	gnutls_x509_crl_set_crt_serial(list, &serial, 1, time(NULL) - HOUR_S);
	ck_assert_int_eq(gnutls_x509_crl_sign2(list, signer.cert, signer.key,
					       GNUTLS_DIG_SHA256, 0),
			 0);
	ck_assert_int_eq(gnutls_x509_crl_export2(list, GNUTLS_X509_FMT_PEM, &pem), 0);
	ck_assert_int_eq(bu_file_write(next, pem.data, pem.size, 0600, NULL), 0);
	ck_assert_int_eq(rename(next, crl_file), 0);
	gnutls_free(pem.data);
	gnutls_x509_crl_deinit(list);
	drop_signer(&signer);
}

static void
serve(const char *cert)
{
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_HTTPS_MEM_KEY, 0, key},
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (char *)(uintptr_t)cert},
		{MHD_OPTION_HTTPS_MEM_TRUST, 0,
		 (char *)(uintptr_t)bu_person_ca_pem(people)},
		{MHD_OPTION_END, 0, NULL},
	};

	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0,
				  NULL, NULL, on_request, NULL, MHD_OPTION_ARRAY,
				  options, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	snprintf(
		base_url, sizeof(base_url), "https://127.0.0.1:%u",
		(unsigned)MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
}

static void
begin(int with_list)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *cert = NULL;
	struct bu_err err = {0};

	snprintf(folder, sizeof(folder), "/tmp/bringup-person-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(crl_file, sizeof(crl_file), "%s/crl.pem", folder);
	make_ca(&ours, "people");
	make_ca(&foreign, "people"); /* the same name: it is the key that counts */
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){foreign.cert, foreign.key},
					    key, names, &cert, NULL),
			 0);
	ca_file = write_pem("ca.pem", ours.cert);
	server_ca_file = write_pem("server-ca.pem", foreign.cert);
	key_file = write_pem("key.pem", key);
	people = bu_person_ca_open(ca_file, with_list ? crl_file : "", &err);
	ck_assert_msg(people != NULL, "%s", err.text);
	serve(cert);
}

static void
end(void)
{
	char **all[] = {&ours.key, &ours.cert,      &foreign.key, &foreign.cert,
			&ca_file,  &server_ca_file, &key_file,    &key};

	MHD_stop_daemon(server);
	bu_person_ca_close(people);
	for (size_t i = 0; i < BU_LEN(all); i++)
		free(bu_steal(all[i]));
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}

/* "alice: a,b", or what the server has against it; owned. */
static char *
ask(const char *cert_file)
{
	struct bu_http *http = bu_http_create(
		&(struct bu_http_opts){.base_url = base_url,
				       .ca_file = server_ca_file,
				       .cert_file = cert_file,
				       .key_file = cert_file ? key_file : NULL});
	bu_autojson json_t *reply = NULL;
	struct bu_err err = {0};
	int rc =
		bu_http_json(http, &(struct bu_http_call){"GET", "/", NULL, TIMEOUT_MS},
			     &reply, &err);

	bu_http_destroy(http);
	if (rc != 0)
		return bu_xstrdup(err.text);
	return bu_xasprintf("%s: %s", bu_json_str(reply, "name", ""),
			    bu_json_str(reply, "groups", ""));
}

static void
expect(const struct wish *wish, const char *words)
{
	bu_autofree char *file = issue(wish), *said = ask(file);

	ck_assert_msg(strstr(said, words) != NULL, "'%s' is not in '%s'", words, said);
}

#define ALICE                                                                          \
	.by = &ours, .name = "alice", .groups = {"movers", "readers"},                 \
	.purpose = GNUTLS_KP_TLS_WWW_CLIENT, .from_s = -HOUR_S, .until_s = HOUR_S,     \
	.serial = 7

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
START_TEST(each_refusal_says_why)
{
	static const struct {
		struct wish wish;
		const char *words;
	} rows[] = {
		{{ALICE}, "alice: movers,readers"},
		{{ALICE, .groups = {NULL}}, "alice: "},
		{{ALICE, .by = &foreign}, "another CA"},
		{{ALICE, .until_s = -60}, "has expired"},
		{{ALICE, .from_s = 60}, "not yet valid"},
		{{ALICE, .purpose = GNUTLS_KP_TLS_WWW_SERVER}, "clientAuth"},
		{{ALICE, .purpose = NULL}, "clientAuth"},
		{{ALICE, .name = NULL}, "names no person"},
		{{ALICE, .name = "al\nice"}, "names no person"},
	};
	bu_autofree char *said = NULL;

	begin(0);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		expect(&rows[i].wish, rows[i].words);
	said = ask(NULL);
	ck_assert_ptr_nonnull(strstr(said, "no certificate was shown"));
	end();
}
END_TEST
#pragma GCC diagnostic pop

/* Without a restart, and for the one that was good a moment ago. */
START_TEST(a_list_counts_when_it_is_there)
{
	const struct wish alice = {ALICE};

	begin(1);
	expect(&alice, "list of revoked ones (people_crl) is unusable");
	write_list(&ours, 8, HOUR_S);
	expect(&alice, "alice: ");
	write_list(&ours, 7, HOUR_S);
	expect(&alice, "was revoked");
	write_list(&foreign, 8, HOUR_S);
	expect(&alice, "unusable");
	write_list(&ours, 8, -60);
	expect(&alice, "people_crl");
	write_list(&ours, 8, HOUR_S);
	expect(&alice, "alice: ");
	ck_assert_int_eq(unlink(crl_file), 0);
	expect(&alice, "unusable");
	end();
}
END_TEST

START_TEST(a_file_without_a_ca_is_refused)
{
	bu_autofree char *path = NULL;
	struct bu_err err = {0};

	begin(0);
	ck_assert_ptr_null(bu_person_ca_open(key_file, "", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "only certificates may be"));
	path = bu_xasprintf("%s/none", folder);
	ck_assert_ptr_null(bu_person_ca_open(path, "", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "people_ca"));
	end();
}
END_TEST

BU_UNIT("tls_person", each_refusal_says_why, a_list_counts_when_it_is_there,
	a_file_without_a_ca_is_refused)
