/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections [webhook NAME] of bringupd.conf: which events are told, and how they are
 * signed. Called by webhooks.c and the daemon's settings. Invariant: what is accepted
 * here is not refused when an event is told.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/url.h"
#include "profiles/language/schema.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/api/webhook_form.h"

enum { KEY_MIN = 24, KEY_MAX = 4096 };

_Static_assert(BU_EVENT_COUNT <= 64, "a bit for each kind");

/* The next word of a list with commas or blanks; NULL = the end. */
static char *
next_word(char **rest)
{
	char *word;

	while ((word = strsep(rest, ", \t")) != NULL)
		if (*word)
			return word;
	return NULL;
}

static int
say_kinds(const struct bu_webhook_opts *opts, const char *word, struct bu_err *err)
{
	const char *known[BU_EVENT_COUNT];
	bu_autofree char *near = NULL;

	for (int kind = 0; kind < BU_EVENT_COUNT; kind++)
		known[kind] = bu_event_name((enum bu_event_kind)kind);
	near = bu_did_you_mean(word, known, BU_EVENT_COUNT);
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "[webhook %s] events: unknown kind '%s'%s; bringup events "
			  "shows kinds, bringupd.conf(5) lists them",
			  opts->name, word, near);
}

static int
read_kinds(const struct bu_webhook_opts *opts, uint64_t *ret, struct bu_err *err)
{
	bu_autofree char *own = bu_xstrdup(opts->events);
	char *rest = own, *word;

	*ret = *opts->events ? 0 : UINT64_MAX;
	while ((word = next_word(&rest)) != NULL) {
		enum bu_event_kind kind;

		if (bu_event_from_name(word, &kind, NULL) != 0)
			return say_kinds(opts, word, err);
		*ret |= UINT64_C(1) << kind;
	}
	*ret &= ~(UINT64_C(1) << BU_EVENT_DELIVERED);
	if (!*ret)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "[webhook %s] events = %s: name kinds of events, or "
				  "leave it out for all of them",
				  opts->name, opts->events);
	return 0;
}

static json_t *
read_nodes(const char *text, struct bu_err *err)
{
	struct bu_nodeset *nodeset = bu_nodeset_parse(text, NULL, NULL, err);
	json_t *names;

	if (!nodeset)
		return NULL;
	names = json_object();
	for (size_t i = 0; i < nodeset->count; i++)
		json_object_set_new(names, nodeset->names[i], json_true());
	bu_nodeset_destroy(nodeset);
	return names;
}

static json_t *
read_pools(const char *text)
{
	bu_autofree char *own = bu_xstrdup(text);
	json_t *names = json_object();
	char *rest = own, *word;

	while ((word = next_word(&rest)) != NULL)
		json_object_set_new(names, word, json_true());
	return names;
}

int
bu_webhook_filter_read(const struct bu_webhook_opts *opts,
		       struct bu_webhook_filter *ret, struct bu_err *err)
{
	*ret = (struct bu_webhook_filter){0};
	if (read_kinds(opts, &ret->kinds, err) != 0)
		return -1;
	if (*opts->nodes) {
		ret->nodes = read_nodes(opts->nodes, err);
		if (!ret->nodes)
			return bu_err_wrap(err, "[webhook %s] nodes", opts->name);
	}
	if (*opts->pools)
		ret->pools = read_pools(opts->pools);
	return 0;
}

void
bu_webhook_filter_fini(struct bu_webhook_filter *filter)
{
	json_decref(filter->nodes);
	json_decref(filter->pools);
	*filter = (struct bu_webhook_filter){0};
}

int
bu_webhook_wants(const struct bu_webhook_filter *filter, const struct bu_event *event,
		 const char *pool)
{
	return (filter->kinds >> event->kind & 1) &&
	       (!filter->nodes || json_object_get(filter->nodes, event->node)) &&
	       (!filter->pools || json_object_get(filter->pools, pool));
}

char *
bu_webhook_sign(const char *secret, size_t size, const char *signed_text,
		struct bu_err *err)
{
	static const char prefix[] = "whsec_";
	char hex[BU_DIGEST_SIZE];
	uint8_t key[KEY_MAX], mac[BU_SHA256_SIZE];
	bu_autofree char *base64 = NULL;
	int coded = strncmp(secret, prefix, strlen(prefix)) == 0;

	if (coded &&
	    bu_base64_decode(secret + strlen(prefix), key, sizeof(key), &size) != 0) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the secret begins with whsec_, and what follows is not "
			   "base64");
		return NULL;
	}
	if (size < KEY_MIN) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the secret has %zu bytes; at least %d are needed (openssl "
			   "rand -hex 32)",
			   size, KEY_MIN);
		return NULL;
	}
	bu_hmac_hex(coded ? (const void *)key : secret, size, signed_text,
		    strlen(signed_text), hex);
	explicit_bzero(key, sizeof(key));
	if (bu_hex_decode(hex, mac, sizeof(mac)) != 0)
		return NULL;
	base64 = bu_base64_encode(mac, sizeof(mac));
	return bu_xasprintf("v1,%s", base64);
}

int
bu_webhook_check(const struct bu_webhook_opts *opts, struct bu_err *err)
{
	struct bu_webhook_filter filter;
	struct bu_url url;

	if (!bu_node_name_ok(opts->name))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "[webhook %s]: a name has lower-case letters, digits "
				  "and '-'",
				  opts->name);
	if (bu_url_parse(opts->url, &url) != 0 || url.has_user ||
	    (strcmp(url.scheme, "https") != 0 && strcmp(url.scheme, "http") != 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "[webhook %s] url = %s: give https://HOST/... or "
				  "http://HOST/..., without a user",
				  opts->name, opts->url);
	if (!bu_secret_form_ok(opts->secret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "[webhook %s] secret: give file:PATH beneath "
				  "secrets_dir, credential:NAME or exec:PROGRAM; the "
				  "secret itself stays out of bringupd.conf",
				  opts->name);
	if (bu_webhook_filter_read(opts, &filter, err) != 0)
		return -1;
	bu_webhook_filter_fini(&filter);
	return 0;
}
