/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup login: keeps a token, or where a certificate is, for an appliance of which
 * this machine is not one. The token comes from standard input, never from a word that
 * others see in a list of processes, or from the site's identity provider. Invariant:
 * nothing is kept before the appliance was verified and has taken the token or
 * certificate.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/idp.h"
#include "cli/render/output.h"
#include "model/person.h"

enum { TOKEN_SIZE = 512, CA_MAX = 256 * 1024, ANSWER_MS = 30000 };

/* One line. */
static int
read_token(char ret[TOKEN_SIZE], struct bu_err *err)
{
	const char *text = fgets(ret, TOKEN_SIZE, stdin) ? bu_text_trim(ret) : "";

	if (!*text || strlen(text) + 2 > TOKEN_SIZE || strpbrk(text, " \t"))
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"--token-stdin: standard input has no token; give the "
			"one line that bringup token create printed");
	memmove(ret, text, strlen(text) + 1);
	return 0;
}

/* "AB:CD:..." as bringup has it. */
static int
read_fingerprint(const char *text, char ret[BU_DIGEST_SIZE], struct bu_err *err)
{
	unsigned char bytes[BU_SHA256_SIZE];
	size_t size = 0;

	for (; *text && size + 1 < BU_DIGEST_SIZE; text++)
		if (*text != ':')
			ret[size++] = (char)tolower((unsigned char)*text);
	ret[size] = '\0';
	if (!*text && bu_hex_decode(ret, bytes, sizeof(bytes)) == 0)
		return 0;
	return bu_err_set(
		err, BU_ERR_USAGE, 0,
		"--fingerprint: give the SHA-256 of the appliance's CA, %d hex "
		"digits",
		BU_DIGEST_SIZE - 1);
}

/* The CA in PEM; owned. */
static char *
find_ca(const struct bu_options *options, const char *url, struct bu_err *err)
{
	char fingerprint[BU_DIGEST_SIZE];
	bu_autofree char *text = NULL;
	char *ca;

	if (options->fingerprint)
		return read_fingerprint(options->fingerprint, fingerprint, err) == 0
			       ? bu_http_find_ca(url, fingerprint, err)
			       : NULL;
	text = bu_file_read(options->ca, CA_MAX, NULL, err);
	ca = text ? bu_certs_only(text, err) : NULL;
	if (!ca)
		bu_err_wrap(err, "--ca %s", options->ca);
	return ca;
}

static int
check_words(const struct bu_options *options, struct bu_err *err)
{
	struct bu_url url;

	if (bu_url_parse(options->args[0], &url) != 0 ||
	    strcmp(url.scheme, "https") != 0 || url.has_user || *url.path)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "'%s': give https://ADDRESS:PORT of people_listen in "
				  "the appliance's bringupd.conf",
				  options->args[0]);
	if (!options->ca == !options->fingerprint)
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"login needs one of --ca FILE and --fingerprint "
			"SHA256, so that the token goes to the right machine");
	if (!options->cert != !options->key ||
	    !!options->cert + !!options->token_stdin + !!options->oidc != 1)
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"login needs one of --oidc, --token-stdin with the token there "
			"(words of a command are seen by others), and --cert FILE with "
			"--key FILE");
	if (options->issuer_ca && !options->oidc)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--issuer-ca is for a login with --oidc");
	if (!options->context || !bu_person_is_label(options->context))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "login needs --context NAME, by which other commands "
				  "find the appliance; letters, digits and '._-'");
	return 0;
}

/* The answer, which has this object; new reference. */
static json_t *
ask(const struct bu_context *context, const char *path, const char *has,
    struct bu_err *err)
{
	struct bu_http *http =
		bu_http_create(&(struct bu_http_opts){.base_url = context->url,
						      .ca_file = context->ca_file,
						      .cert_file = context->cert_file,
						      .key_file = context->key_file,
						      .token = context->token});
	json_t *reply = NULL;

	if (bu_idp_call(http, &(struct bu_http_call){"GET", path, NULL, ANSWER_MS},
			&reply, err) == 0 &&
	    !json_is_object(json_object_get(reply, has))) {
		json_decref(bu_steal(&reply));
		bu_err_set(err, BU_ERR_REMOTE, 0, "%s does not answer as bringupd does",
			   context->url);
	}
	bu_http_destroy(http);
	return reply;
}

/* At the identity provider that the appliance names. */
static int
log_in_there(const struct bu_options *options, struct bu_context *context,
	     struct bu_err *err)
{
	bu_autojson json_t *ways = ask(context, "/v1/login", "oidc", err);
	const json_t *way = json_object_get(ways, "oidc");
	const struct bu_idp idp = {.issuer = bu_json_str(way, "issuer", ""),
				   .client = bu_json_str(way, "client", ""),
				   .scopes = bu_json_str(way, "scopes", ""),
				   .ca = options->issuer_ca};

	return ways ? bu_device_grant(&idp, context, err) : -1;
}

/* The appliance's answer about the caller, new reference; with the CA in a file of its
 * own until then. */
static json_t *
verify(const struct bu_options *options, struct bu_context *context, const char *ca,
       struct bu_err *err)
{
	json_t *meta = NULL;

	context->ca_file = bu_context_draft(ca, err);
	if (!context->ca_file)
		return NULL;
	if (!options->oidc || log_in_there(options, context, err) == 0)
		meta = ask(context, "/v1/meta", "caller", err);
	unlink(context->ca_file);
	return meta;
}

/* PEM; owned. NULL without error: none was named. */
static char *
read_issuer_ca(const struct bu_options *options, struct bu_err *err)
{
	bu_autofree char *text = NULL;
	char *ca;

	if (!options->issuer_ca)
		return NULL;
	text = bu_file_read(options->issuer_ca, CA_MAX, NULL, err);
	ca = text ? bu_certs_only(text, err) : NULL;
	if (!ca)
		bu_err_wrap(err, "--issuer-ca %s", options->issuer_ca);
	return ca;
}

static int
save(const struct bu_options *options, const struct bu_context *context, const char *ca,
     const char *issuer_ca, struct bu_err *err)
{
	return bu_context_save(options->context, context, ca, err) == 0
		       ? bu_context_save_issuer(options->context, issuer_ca, err)
		       : -1;
}

/* A path that holds from any folder; owned. */
static char *
whole_path(const char *option, const char *path, struct bu_err *err)
{
	char *whole = realpath(path, NULL);

	if (!whole)
		bu_err_set(err, BU_ERR_NOTFOUND, errno, "%s '%s'", option, path);
	return whole;
}

static int
take_secret(const struct bu_options *options, struct bu_context *ret,
	    struct bu_err *err)
{
	char token[TOKEN_SIZE];

	if (options->oidc)
		return 0;
	if (options->token_stdin) {
		if (read_token(token, err) != 0)
			return -1;
		ret->token = bu_xstrdup(token);
		explicit_bzero(token, sizeof(token));
		return 0;
	}
	ret->cert_file = whole_path("--cert", options->cert, err);
	ret->key_file = ret->cert_file ? whole_path("--key", options->key, err) : NULL;
	return ret->key_file ? bu_context_check_key(ret->key_file, err) : -1;
}

int
bu_cmd_login(const struct bu_options *options, struct bu_err *err)
{
	bu_autocontext struct bu_context context = {0};
	bu_autojson json_t *meta = NULL;
	bu_autofree char *ca = NULL, *issuer_ca = NULL, *name = NULL, *role = NULL;
	const json_t *caller;

	if (check_words(options, err) != 0 || take_secret(options, &context, err) != 0)
		return -1;
	issuer_ca = read_issuer_ca(options, err);
	if (options->issuer_ca && !issuer_ca)
		return -1;
	context.url = bu_xstrdup(options->args[0]);
	ca = find_ca(options, context.url, err);
	meta = ca ? verify(options, &context, ca, err) : NULL;
	if (!meta || save(options, &context, ca, issuer_ca, err) != 0)
		return -1;
	caller = json_object_get(meta, "caller");
	name = bu_out_clean(bu_json_str(caller, "name", ""), 0);
	role = bu_out_clean(bu_json_str(caller, "role", ""), 0);
	printf("logged in to %s as %s, role %s\n", context.url, name, role);
	printf("use it: --context %s, or export BRINGUP_CONTEXT=%s\n", options->context,
	       options->context);
	return 0;
}
