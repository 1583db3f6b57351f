/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of a TLS connection: whom the server takes for a client (crypto.h), and
 * which servers the client (http.h) refuses.
 */
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/unit.h"

enum { TIMEOUT_MS = 10000 };

static struct MHD_Daemon *server;
static char base_url[64];

static enum MHD_Result
answer_peer(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct bu_tls_peer peer;
	struct bu_err err = {0};
	bu_autojson json_t *value = json_object();
	bu_autofree char *text = NULL;
	struct MHD_Response *response;
	enum MHD_Result rc;
	int denied = bu_tls_peer(info->tls_session, &peer, &err);

	if (denied)
		json_object_set_new(value, "error", bu_json_from_err(&err));
	else
		json_object_update_new(value,
				       json_pack("{s:s,s:s}", "name", peer.name,
						 "fingerprint", peer.fingerprint));
	text = bu_json_canonical(value);
	response = MHD_create_response_from_buffer(strlen(text), text,
						   MHD_RESPMEM_MUST_COPY);
	rc = MHD_queue_response(connection, denied ? 403 : 200, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	return answer_peer(connection);
}

/* tls: key, certificate, CA. */
static void
serve(char *const tls[3], const char *versions)
{
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_HTTPS_MEM_KEY, 0, tls[0]},
		{MHD_OPTION_HTTPS_MEM_CERT, 0, tls[1]},
		{MHD_OPTION_HTTPS_MEM_TRUST, 0, tls[2]},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)versions},
		{MHD_OPTION_END, 0, NULL},
	};
	const union MHD_DaemonInfo *info;

	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0,
				  NULL, NULL, on_request, NULL, MHD_OPTION_ARRAY,
				  options, MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(base_url, sizeof(base_url), "https://127.0.0.1:%u",
		 (unsigned int)info->port);
}

/* Two CAs, "ours" and "other"; a server and a client certificate of each; as files. */
static char folder[] = "/tmp/bringup-tls-XXXXXX";
static struct authority {
	char *ca_key, *ca_cert;
	char *key, *server_cert, *client_cert;
	char *ca_file, *key_file, *server_file, *client_file;
} ours, other;

static char *
write_pem(const char *prefix, const char *name, const char *pem)
{
	char *path = bu_xasprintf("%s/%s-%s", folder, prefix, name);

	ck_assert_int_eq(bu_file_write(path, pem, strlen(pem), 0600, NULL), 0);
	return path;
}

static void
make_authority(struct authority *a, const char *prefix, const char *server_name)
{
	const char *const names[] = {server_name, NULL};
	bu_autofree char *csr = NULL;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_tls_key_create(&a->ca_key, &err), 0);
	ck_assert_int_eq(bu_ca_create(prefix, a->ca_key, &a->ca_cert, &err), 0);
	ck_assert_int_eq(bu_tls_key_create(&a->key, &err), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){a->ca_cert, a->ca_key},
					    a->key, names, &a->server_cert, &err),
			 0);
	ck_assert_int_eq(bu_csr_create(a->key, "whoever", &csr, &err), 0);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){a->ca_cert, a->ca_key}, csr,
					    "node001", 30, &a->client_cert, &err),
			 0);
	a->ca_file = write_pem(prefix, "ca.pem", a->ca_cert);
	a->key_file = write_pem(prefix, "key.pem", a->key);
	a->server_file = write_pem(prefix, "server.pem", a->server_cert);
	a->client_file = write_pem(prefix, "client.pem", a->client_cert);
}

static void
drop_authority(struct authority *a)
{
	char **all[] = {&a->ca_key,      &a->ca_cert,     &a->key,
			&a->server_cert, &a->client_cert, &a->ca_file,
			&a->key_file,    &a->server_file, &a->client_file};

	for (size_t i = 0; i < BU_LEN(all); i++)
		free(*all[i]);
}

static void
begin_tls(const char *server_name, const char *versions)
{
	char *tls[3];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_authority(&ours, "ours", server_name);
	make_authority(&other, "other", server_name);
	tls[0] = ours.key;
	tls[1] = ours.server_cert;
	tls[2] = ours.ca_cert;
	serve(tls, versions);
}

static void
end_tls(void)
{
	MHD_stop_daemon(server);
	drop_authority(&ours);
	drop_authority(&other);
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}

/* One call with these files; the error's kind, and the name that the server saw. */
static struct {
	char fingerprint[BU_DIGEST_SIZE];
	struct bu_err err;
} last;

static enum bu_err_kind
ask_peer(const char *ca_file, const char *cert_file, const char *key_file,
	 char name[64])
{
	struct bu_http_opts opts = {.base_url = base_url,
				    .ca_file = ca_file,
				    .cert_file = cert_file,
				    .key_file = key_file};
	struct bu_http *http = bu_http_create(&opts);
	struct bu_err err = {0};
	json_t *reply = NULL;

	if (bu_http_json(http, &(struct bu_http_call){"GET", "/peer", NULL, TIMEOUT_MS},
			 &reply, &err) == 0)
		snprintf(name, 64, "%s", bu_json_str(reply, "name", ""));
	bu_text_copy(last.fingerprint, sizeof(last.fingerprint),
		     bu_json_str(reply, "fingerprint", ""));
	last.err = err;
	if (err.kind)
		printf("as expected: %s\n", err.text);
	json_decref(reply);
	bu_http_destroy(http);
	return err.kind;
}

#define TLS_1_3 "SECURE128:-VERS-ALL:+VERS-TLS1.3"

START_TEST(knows_its_tls_peer)
{
	char name[64] = "", fingerprint[BU_DIGEST_SIZE];

	begin_tls("IP:127.0.0.1", TLS_1_3);
	ck_assert_int_eq(ask_peer(ours.ca_file, ours.client_file, ours.key_file, name),
			 BU_ERR_NONE);
	ck_assert_str_eq(name, "node001");
	ck_assert_int_eq(bu_cert_fingerprint(ours.client_cert, fingerprint, NULL), 0);
	ck_assert_str_eq(last.fingerprint, fingerprint);
	/* No certificate; one of another CA; one that is not for clients. */
	ck_assert_int_eq(ask_peer(ours.ca_file, NULL, NULL, name), BU_ERR_DENIED);
	ck_assert_int_ne(
		ask_peer(ours.ca_file, other.client_file, other.key_file, name),
		BU_ERR_NONE);
	ck_assert_int_eq(ask_peer(ours.ca_file, ours.server_file, ours.key_file, name),
			 BU_ERR_DENIED);
	end_tls();
}
END_TEST

static time_t
in_five_weeks(time_t *ret)
{
	time_t now = time(NULL) + 35 * 86400;

	if (ret)
		*ret = now;
	return now;
}

START_TEST(refuses_a_peer_whose_time_is_over)
{
	char name[64] = "";

	begin_tls("IP:127.0.0.1", TLS_1_3);
	gnutls_global_set_time_function(in_five_weeks);
	ck_assert_int_eq(ask_peer(ours.ca_file, ours.client_file, ours.key_file, name),
			 BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(last.err.text, "expired"));
	ck_assert_str_eq(name, "");
	gnutls_global_set_time_function(time);
	ck_assert_int_eq(ask_peer(ours.ca_file, ours.client_file, ours.key_file, name),
			 BU_ERR_NONE);
	end_tls();
}
END_TEST

/* A certificate of our CA, for clients, with this name; the file of it. */
static char *
odd_client(const char *name, size_t size)
{
	gnutls_x509_crt_t cert, ca;
	gnutls_x509_privkey_t key, ca_key;
	gnutls_datum_t pem,
		text[] = {
			{(unsigned char *)ours.key, (unsigned int)strlen(ours.key)},
			{(unsigned char *)ours.ca_key,
			 (unsigned int)strlen(ours.ca_key)},
			{(unsigned char *)ours.ca_cert,
			 (unsigned int)strlen(ours.ca_cert)},
		};
	char *path;

	gnutls_x509_privkey_init(&key);
	gnutls_x509_privkey_init(&ca_key);
	gnutls_x509_crt_init(&ca);
	gnutls_x509_crt_init(&cert);
	gnutls_x509_privkey_import(key, &text[0], GNUTLS_X509_FMT_PEM);
	gnutls_x509_privkey_import(ca_key, &text[1], GNUTLS_X509_FMT_PEM);
	gnutls_x509_crt_import(ca, &text[2], GNUTLS_X509_FMT_PEM);
	gnutls_x509_crt_set_version(cert, 3);
	gnutls_x509_crt_set_serial(cert, "\1", 1);
	gnutls_x509_crt_set_activation_time(cert, time(NULL) - 60);
	gnutls_x509_crt_set_expiration_time(cert, time(NULL) + 3600);
	gnutls_x509_crt_set_key(cert, key);
	gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	if (size)
		gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0,
					      name, (unsigned int)size);
	ck_assert_int_eq(gnutls_x509_crt_sign2(cert, ca, ca_key, GNUTLS_DIG_SHA256, 0),
			 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem), 0);
	path = write_pem("odd", "client.pem", (const char *)pem.data);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(cert);
	gnutls_x509_crt_deinit(ca);
	gnutls_x509_privkey_deinit(key);
	gnutls_x509_privkey_deinit(ca_key);
	return path;
}

/* Signed by our CA all the same: no name that we give looks like this. */
START_TEST(refuses_a_peer_with_an_odd_name)
{
	static const struct {
		const char *name;
		size_t size;
		int good;
	} rows[] = {
		{"0123456789abcdef", 16, 1}, {"node001\n", 8, 0}, {"node001\0x", 9, 0},
		{"n\xc3\xb6", 3, 0},         {"", 0, 0},
	};
	char name[64] = "";

	begin_tls("IP:127.0.0.1", TLS_1_3);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *file = odd_client(rows[i].name, rows[i].size);

		ck_assert_msg((ask_peer(ours.ca_file, file, ours.key_file, name) ==
			       BU_ERR_NONE) == rows[i].good,
			      "row %zu: %s", i, name);
		if (!rows[i].good)
			ck_assert_ptr_nonnull(strstr(last.err.text, "common name"));
	}
	end_tls();
}
END_TEST

START_TEST(refuses_other_servers)
{
	char name[64];

	begin_tls("IP:127.0.0.1", TLS_1_3);
	ck_assert_int_eq(ask_peer(other.ca_file, NULL, NULL, name), BU_ERR_VERIFY);
	ck_assert_int_eq(ask_peer(NULL, NULL, NULL, name), BU_ERR_INVAL);
	ck_assert_int_eq(ask_peer("/nonexistent", NULL, NULL, name), BU_ERR_INVAL);
	end_tls();
}
END_TEST

START_TEST(refuses_another_name)
{
	char name[64];

	begin_tls("IP:127.0.0.2", TLS_1_3);
	ck_assert_int_eq(ask_peer(ours.ca_file, NULL, NULL, name), BU_ERR_VERIFY);
	end_tls();
}
END_TEST

START_TEST(refuses_old_tls)
{
	char name[64];

	begin_tls("IP:127.0.0.1", "SECURE128:-VERS-ALL:+VERS-TLS1.2");
	ck_assert_int_eq(ask_peer(ours.ca_file, NULL, NULL, name), BU_ERR_REMOTE);
	end_tls();
}
END_TEST

BU_UNIT("tls", knows_its_tls_peer, refuses_a_peer_whose_time_is_over,
	refuses_a_peer_with_an_odd_name, refuses_other_servers, refuses_another_name,
	refuses_old_tls)
