/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys on disk, and what is signed with them. A key file is written once, and replaced
 * by a change of the CA alone (rotation.c): losing one means that running nodes no
 * longer know this appliance.
 */
#include "provisioner/trust/trust.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"

struct bu_trust {
	char *ca_key;
	char *ca_cert;
	char *server_key;
	char *server_cert;
	char *sign_key;
	char *sign_pub;
	char *secret;     /* of volume keys */
	char *tokens[2];  /* secrets of tokens: of new ones, and the other; may be NULL
			   */
	char *other_cert; /* trusted, and issues nothing; NULL = none */
	char *trusted;    /* all */
	char *issuer;     /* of server_cert */
	char *dir;
	enum bu_rotation rotation, began;
	int64_t since_ms;
	struct bu_trust *before; /* what was borrowed before a step */
	char ca_digest[BU_DIGEST_SIZE];
};

static char *
path_of(const char *dir, const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static char *
load(const char *dir, const char *name, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);

	return bu_file_read(path, 65536, NULL, err);
}

static int
save(const char *dir, const char *name, const char *text, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);

	return bu_file_write(path, text, strlen(text), 0600, err);
}

static int
missing(const char *dir, const char *name)
{
	bu_autofree char *path = path_of(dir, name);

	return !bu_file_exists(path);
}

/* The key of this name, made when there is none. */
static int
keep_tls_key(const char *dir, const char *name, struct bu_err *err)
{
	bu_autofree char *key = NULL;

	if (!missing(dir, name))
		return 0;
	return bu_tls_key_create(&key, err) != 0 ? -1 : save(dir, name, key, err);
}

/* The private half comes last: its presence says that the public one fits. */
static int
keep_sign_key(const char *dir, struct bu_err *err)
{
	bu_autofree char *priv = NULL, *pub = NULL;

	if (!missing(dir, "sign.key"))
		return 0;
	if (bu_sign_key_create(&priv, &pub, err) != 0 ||
	    save(dir, "sign.pub", pub, err) != 0)
		return -1;
	return save(dir, "sign.key", priv, err);
}

static int
keep_ca(const char *dir, struct bu_err *err)
{
	bu_autofree char *key = load(dir, "ca.key", err), *ca = NULL;

	if (!key || bu_ca_create("bringup CA", key, &ca, err) != 0)
		return -1;
	return save(dir, "ca.pem", ca, err);
}

/* The first start; after one that was cut short, what is there stays. The certificate
 * comes last: its presence says that all keys were made, and a key that is missing then
 * was lost, which is an error and nothing to make a new one for. */
static int
create_keys(const char *dir, struct bu_err *err)
{
	char secret[65];

	if (bu_mkdir_p(dir, 0700, err) != 0 || keep_tls_key(dir, "ca.key", err) != 0 ||
	    keep_tls_key(dir, "server.key", err) != 0 || keep_sign_key(dir, err) != 0)
		return -1;
	bu_random_hex(secret, 32);
	if (missing(dir, "token.secret") && save(dir, "token.secret", secret, err) != 0)
		return -1;
	return keep_ca(dir, err);
}

/* Both of a change; before any, tokens come from the one secret. */
static int
load_others(struct bu_trust *trust, const char *dir, struct bu_err *err)
{
	int changes = trust->rotation != BU_ROTATION_NONE;
	int issues = trust->rotation == BU_ROTATION_ISSUES;
	const char *old =
		missing(dir, "tokens.secret") ? "token.secret" : "tokens.secret";

	trust->tokens[issues] = load(dir, old, err);
	if (!trust->tokens[issues])
		return -1;
	if (changes) {
		trust->tokens[!issues] = load(dir, "tokens.next", err);
		trust->other_cert = load(dir, issues ? "ca.pem" : "ca.next.pem", err);
		if (!trust->tokens[!issues] || !trust->other_cert)
			return -1;
	}
	trust->trusted =
		bu_xasprintf("%s%s", trust->ca_cert, changes ? trust->other_cert : "");
	bu_sha256_hex(trust->trusted, strlen(trust->trusted), trust->ca_digest);
	return 0;
}

static int
load_keys(struct bu_trust *trust, const char *dir, struct bu_err *err)
{
	int issues = trust->rotation == BU_ROTATION_ISSUES;

	trust->ca_key = load(dir, issues ? "ca.next.key" : "ca.key", err);
	trust->server_key = trust->ca_key ? load(dir, "server.key", err) : NULL;
	trust->sign_key = trust->server_key ? load(dir, "sign.key", err) : NULL;
	trust->sign_pub = trust->sign_key ? load(dir, "sign.pub", err) : NULL;
	trust->secret = trust->sign_pub ? load(dir, "token.secret", err) : NULL;
	trust->ca_cert = trust->secret
				 ? load(dir, issues ? "ca.next.pem" : "ca.pem", err)
				 : NULL;
	return trust->ca_cert ? load_others(trust, dir, err) : -1;
}

struct bu_trust *
bu_trust_open(const char *dir, const char *const *names, struct bu_err *err)
{
	struct bu_trust *trust = bu_xcalloc(1, sizeof(*trust));
	bu_autofree char *ca_path = path_of(dir, "ca.pem");

	if (!bu_file_exists(ca_path) && create_keys(dir, err) != 0)
		goto failed;
	trust->dir = bu_xstrdup(dir);
	if (bu_rotation_read(dir, &trust->rotation, &trust->since_ms, err) != 0 ||
	    load_keys(trust, dir, err) != 0 ||
	    bu_ca_issue_server(&(struct bu_ca){trust->ca_cert, trust->ca_key},
			       trust->server_key, names, &trust->server_cert, err) != 0)
		goto failed;
	trust->began = trust->rotation;
	trust->issuer = bu_xstrdup(trust->ca_cert);
	return trust;
failed:
	bu_err_wrap(err, "keys in '%s'", dir);
	bu_trust_destroy(trust);
	return NULL;
}

static void
forget_keys(struct bu_trust *trust)
{
	free(trust->ca_key);
	free(trust->ca_cert);
	free(trust->server_key);
	free(trust->server_cert);
	free(trust->sign_key);
	free(trust->sign_pub);
	free(trust->secret);
	free(trust->tokens[0]);
	free(trust->tokens[1]);
	free(trust->other_cert);
	free(trust->trusted);
	free(trust->issuer);
	free(trust->dir);
}

void
bu_trust_destroy(struct bu_trust *trust)
{
	while (trust) {
		struct bu_trust *before = trust->before;

		forget_keys(trust);
		free(trust);
		trust = before;
	}
}

enum bu_rotation
bu_trust_rotation(const struct bu_trust *trust)
{
	return trust->rotation;
}

enum bu_rotation
bu_trust_rotation_began(const struct bu_trust *trust)
{
	return trust->began;
}

int64_t
bu_trust_rotation_since_ms(const struct bu_trust *trust)
{
	return trust->since_ms;
}

int
bu_trust_rotate(struct bu_trust *trust, enum bu_rotation to, int64_t now_ms,
		struct bu_err *err)
{
	struct bu_trust *next = bu_xcalloc(1, sizeof(*next)), was = *trust;

	next->dir = bu_xstrdup(trust->dir);
	next->server_cert = bu_xstrdup(trust->server_cert);
	next->issuer = bu_xstrdup(trust->issuer);
	next->began = trust->began;
	if (bu_rotation_take(trust->dir, trust->rotation, to, now_ms, err) != 0 ||
	    bu_rotation_read(trust->dir, &next->rotation, &next->since_ms, err) != 0 ||
	    load_keys(next, trust->dir, err) != 0) {
		bu_trust_destroy(next);
		return bu_err_wrap(err, "keys in '%s'", trust->dir);
	}
	/* The caller's pointer has the new ones. */
	*trust = *next;
	*next = was;
	trust->before = next;
	return 0;
}

const char *
bu_trust_ca(const struct bu_trust *trust)
{
	return trust->trusted;
}

const char *
bu_trust_issuer(const struct bu_trust *trust)
{
	return trust->issuer;
}

const char *
bu_trust_server_cert(const struct bu_trust *trust)
{
	return trust->server_cert;
}

const char *
bu_trust_server_key(const struct bu_trust *trust)
{
	return trust->server_key;
}

const char *
bu_trust_sign_key(const struct bu_trust *trust)
{
	return trust->sign_key;
}

const char *
bu_trust_public_key(const struct bu_trust *trust)
{
	return trust->sign_pub;
}

const char *
bu_trust_ca_digest(const struct bu_trust *trust)
{
	return trust->ca_digest;
}

json_t *
bu_trust_sign(const struct bu_trust *trust, const json_t *body, struct bu_err *err)
{
	bu_autofree char *text = bu_json_canonical(body);
	char sig[BU_SIG_HEX_SIZE];

	if (bu_sign(trust->sign_key, text, strlen(text), sig, err) != 0)
		return NULL;
	return json_pack("{s:s,s:s}", "text", text, "sig", sig);
}

json_t *
bu_trust_open_signed(const struct bu_trust *trust, const json_t *sealed,
		     struct bu_err *err)
{
	const char *text, *sig;

	if (bu_json_get_str(sealed, "text", &text, err) != 0 ||
	    bu_json_get_str(sealed, "sig", &sig, err) != 0 ||
	    bu_verify(trust->sign_pub, text, strlen(text), sig, err) != 0)
		return NULL;
	return bu_json_parse(text, strlen(text), "signed text", err);
}

static void
make_token(const struct bu_trust *trust, int of, const char *what, char ret[65])
{
	bu_hmac_hex(trust->tokens[of], strlen(trust->tokens[of]), what, strlen(what),
		    ret);
}

static int
is_token(const struct bu_trust *trust, const char *what, const char *token)
{
	char expected[65];

	for (int i = 0; i < 2 && trust->tokens[i]; i++) {
		make_token(trust, i, what, expected);
		if (bu_equal_secret(expected, token))
			return 1;
	}
	return 0;
}

void
bu_trust_token(const struct bu_trust *trust, const char *step, int attempt, char *ret)
{
	bu_autofree char *what = bu_xasprintf("install token|%s|%d", step, attempt);

	make_token(trust, 0, what, ret);
}

int
bu_trust_is_token(const struct bu_trust *trust, const char *step, int attempt,
		  const char *token)
{
	bu_autofree char *what = bu_xasprintf("install token|%s|%d", step, attempt);

	return is_token(trust, what, token);
}

void
bu_trust_seed_token(const struct bu_trust *trust, const char *step, char ret[65])
{
	bu_autofree char *what = bu_xasprintf("first boot|%s", step);

	make_token(trust, 0, what, ret);
}

int
bu_trust_is_seed_token(const struct bu_trust *trust, const char *step,
		       const char *token)
{
	bu_autofree char *what = bu_xasprintf("first boot|%s", step);

	return is_token(trust, what, token);
}

void
bu_trust_volume_key(const struct bu_trust *trust, const char *machine, const char *guid,
		    char ret[65])
{
	bu_autofree char *what = bu_xasprintf("volume key|%s|%s", machine, guid);

	bu_hmac_hex(trust->secret, strlen(trust->secret), what, strlen(what), ret);
}

char *
bu_trust_issue(const struct bu_trust *trust, const char *csr_pem, const char *machine,
	       struct bu_err *err)
{
	char *cert = NULL;

	return bu_ca_issue_client(&(struct bu_ca){trust->ca_cert, trust->ca_key},
				  csr_pem, machine, BU_AGENT_CERT_DAYS, &cert, err) == 0
		       ? cert
		       : NULL;
}
