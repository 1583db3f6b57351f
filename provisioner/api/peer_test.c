/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's connection with several requests: its certificate is verified once, and
 * what ends the certificate meanwhile counts at the next request.
 */
#include <gnutls/x509.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { TIMEOUT_MS = 20000, YEARS_S = 20 * 365 * 86400 };

struct agent {
	struct site site;
	struct bu_node *node;
	char *key;
	pid_t pid;
	int ask, said;
};

static void
write_pem(const struct agent *agent, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", agent->site.rig.dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

/* In a process of its own: a call for each byte, over one connection; each is answered
 * by its error. */
static void
speak(const struct agent *agent, int ask, int said)
{
	const char *dir = agent->site.rig.dir;
	bu_autofree char *url = bu_xasprintf("https://127.0.0.1:%d", agent->site.agent);
	bu_autofree char *ca = bu_xasprintf("%s/ca.pem", dir);
	bu_autofree char *cert = bu_xasprintf("%s/cert.pem", dir);
	bu_autofree char *key = bu_xasprintf("%s/key.pem", dir);
	bu_autojson json_t *body = json_object();
	struct bu_http *http = bu_http_create(&(struct bu_http_opts){
		.base_url = url, .ca_file = ca, .cert_file = cert, .key_file = key});
	char byte;

	while (read(ask, &byte, 1) == 1) {
		struct bu_err err = {0};

		if (bu_http_json(http,
				 &(struct bu_http_call){"POST", "/v1/agent/clock", body,
							TIMEOUT_MS},
				 NULL, &err) == 0)
			err.kind = BU_ERR_NONE;
		if (write(said, &err, sizeof(err)) != (ssize_t)sizeof(err))
			_exit(1);
	}
	_exit(0);
}

/* cert: of the agent's key. */
static void
connect_agent(struct agent *agent, const char *cert)
{
	int ask[2], said[2];
	char fingerprint[65];

	write_pem(agent, "ca.pem", bu_trust_ca(agent->site.rig.trust));
	write_pem(agent, "cert.pem", cert);
	write_pem(agent, "key.pem", agent->key);
	ck_assert_int_eq(bu_cert_fingerprint(cert, fingerprint, NULL), 0);
	bu_node_set_agent_cert(agent->node, fingerprint);
	ck_assert_int_eq(pipe(ask), 0);
	ck_assert_int_eq(pipe(said), 0);
	agent->pid = fork();
	if (agent->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ask[1]);
		speak(agent, ask[0], said[1]);
	}
	close(ask[0]);
	close(said[1]);
	agent->ask = ask[1];
	agent->said = said[0];
}

static void
begin(struct agent *agent)
{
	memset(agent, 0, sizeof(*agent));
	site_begin(&agent->site, 1);
	rig_to_validating(&agent->site.rig, 1);
	agent->node = rig_node(&agent->site.rig, 1);
	ck_assert_int_eq(bu_tls_key_create(&agent->key, NULL), 0);
}

static void
end(struct agent *agent)
{
	close(agent->ask);
	close(agent->said);
	waitpid(agent->pid, NULL, 0);
	site_end(&agent->site);
	free(agent->key);
}

static struct bu_err
ask(struct agent *agent)
{
	struct bu_err err = {0};
	ssize_t got = 0;

	ck_assert_int_eq(write(agent->ask, "?", 1), 1);
	for (int i = 0; i < 4000 && got == 0; i++) {
		fd_set ready;
		struct timeval now = {0, 5000};

		rig_pass(&agent->site.rig, 1);
		FD_ZERO(&ready);
		FD_SET(agent->said, &ready);
		if (select(agent->said + 1, &ready, NULL, NULL, &now) == 1)
			got = read(agent->said, &err, sizeof(err));
	}
	ck_assert_int_eq(got, sizeof(err));
	return err;
}

static char *
issued(const struct agent *agent)
{
	bu_autofree char *csr = NULL;
	char *cert;

	ck_assert_int_eq(bu_csr_create(agent->key, "whoever", &csr, NULL), 0);
	cert = bu_trust_issue(agent->site.rig.trust, csr, agent->node->machine, NULL);
	ck_assert_ptr_nonnull(cert);
	return cert;
}

static time_t
in_twenty_years(time_t *ret)
{
	time_t now = time(NULL) + YEARS_S;

	if (ret)
		*ret = now;
	return now;
}

/* Whoever verified again would find the certificate expired. */
START_TEST(a_certificate_is_verified_once)
{
	struct agent agent;
	bu_autofree char *cert = NULL;

	begin(&agent);
	cert = issued(&agent);
	connect_agent(&agent, cert);
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	gnutls_global_set_time_function(in_twenty_years);
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	gnutls_global_set_time_function(time);
	end(&agent);
}
END_TEST

START_TEST(what_the_log_says_counts_at_each_request)
{
	struct agent agent;
	bu_autofree char *cert = NULL;
	struct bu_err err;

	begin(&agent);
	cert = issued(&agent);
	connect_agent(&agent, cert);
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	agent.node->agent_revoked = 1;
	err = ask(&agent);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "was revoked");
	agent.node->agent_revoked = 0;
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	/* The node's time of the certificate, by the appliance's clock. */
	agent.node->agent_cert_until_ms = bu_wall_ms(&agent.site.rig.clock) - 1;
	err = ask(&agent);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "has ended");
	agent.node->agent_cert_until_ms = bu_wall_ms(&agent.site.rig.clock) + 1000;
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	/* Another certificate of the machine has replaced it. */
	bu_node_set_agent_cert(agent.node, "ffffffff");
	err = ask(&agent);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "is no longer valid");
	/* The machine is retired: no node is bound to it. */
	json_object_del(agent.site.rig.fleet->machines, agent.node->machine);
	err = ask(&agent);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "is bound to no node");
	end(&agent);
}
END_TEST

static gnutls_datum_t
datum(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned int)strlen(text)};
}

/* Of our CA, for the machine, for two seconds. */
static char *
short_lived(const struct agent *agent)
{
	bu_autofree char *keys = bu_xasprintf("%s/keys/ca.key", agent->site.rig.dir);
	bu_autofree char *ca_pem = bu_file_read(keys, 0, NULL, NULL);
	gnutls_x509_crt_t cert, ca;
	gnutls_x509_privkey_t key, ca_key;
	gnutls_datum_t pem, own = datum(agent->key), signer = datum(ca_pem),
			    issuer = datum(bu_trust_ca(agent->site.rig.trust));
	const char *name = agent->node->machine;
	char *text;

	gnutls_x509_privkey_init(&key);
	gnutls_x509_privkey_init(&ca_key);
	gnutls_x509_crt_init(&ca);
	gnutls_x509_crt_init(&cert);
	gnutls_x509_privkey_import(key, &own, GNUTLS_X509_FMT_PEM);
	gnutls_x509_privkey_import(ca_key, &signer, GNUTLS_X509_FMT_PEM);
	gnutls_x509_crt_import(ca, &issuer, GNUTLS_X509_FMT_PEM);
	gnutls_x509_crt_set_version(cert, 3);
	gnutls_x509_crt_set_serial(cert, "\1", 1);
	gnutls_x509_crt_set_activation_time(cert, time(NULL) - 60);
	gnutls_x509_crt_set_expiration_time(cert, time(NULL) + 2);
	gnutls_x509_crt_set_key(cert, key);
	gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, name,
				      (unsigned int)strlen(name));
	ck_assert_int_eq(gnutls_x509_crt_sign2(cert, ca, ca_key, GNUTLS_DIG_SHA256, 0),
			 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem), 0);
	text = bu_xstrdup((const char *)pem.data);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(cert);
	gnutls_x509_crt_deinit(ca);
	gnutls_x509_privkey_deinit(key);
	gnutls_x509_privkey_deinit(ca_key);
	return text;
}

START_TEST(a_certificate_that_ends_meanwhile_is_refused)
{
	struct agent agent;
	bu_autofree char *cert = NULL;
	struct bu_err err;

	begin(&agent);
	cert = short_lived(&agent);
	connect_agent(&agent, cert);
	ck_assert_int_eq(ask(&agent).kind, BU_ERR_NONE);
	sleep(4);
	err = ask(&agent);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "expired");
	end(&agent);
}
END_TEST

RIG_UNIT("peer", a_certificate_is_verified_once,
	 what_the_log_says_counts_at_each_request,
	 a_certificate_that_ends_meanwhile_is_refused)
