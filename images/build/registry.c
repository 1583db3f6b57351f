/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the blobs of an image in a registry come from: import.c calls it, oci.c checks
 * what it gives. Invariant: name and password go to the token server that the registry
 * names, over https, and the token to the registry alone.
 */
#include "images/build/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/download.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#define SCHEME "oci://"
#define TYPES                                                                          \
	"application/vnd.oci.image.index.v1+json, "                                    \
	"application/vnd.oci.image.manifest.v1+json, "                                 \
	"application/vnd.docker.distribution.manifest.list.v2+json, "                  \
	"application/vnd.docker.distribution.manifest.v2+json"
#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"

enum { TOKEN_MAX = 64 * 1024 };

struct registry {
	const struct bu_registry_ref *ref;
	char *blobs;         /* folder */
	char *authorization; /* for the registry; NULL = none so far */
};

/* --- references --- */

static int
refuse_ref(const char *text, const char *why, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "source '%.200s': %s; oci://HOST[:PORT]/REPOSITORY[:TAG] or "
			  "...@sha256:DIGEST is needed",
			  text, why);
}

static int
is_repository(const char *text)
{
	return bu_text_is(text, LOWER "._-/") && text[0] != '/' && text[0] != '.' &&
	       !strstr(text, "..") && !strstr(text, "//") &&
	       text[strlen(text) - 1] != '/';
}

int
bu_registry_parse(const char *text, struct bu_registry_ref *ret, struct bu_err *err)
{
	const char *host = text + strlen(SCHEME);
	size_t host_size = strcspn(host, "/");
	const char *repository = host + host_size + (host[host_size] == '/');
	size_t size = strcspn(repository, ":@");
	const char *rest = repository + size;

	memset(ret, 0, sizeof(*ret));
	if (!host_size || host_size >= sizeof(ret->host))
		return refuse_ref(text, "it has no host", err);
	if (!size || size >= sizeof(ret->repository))
		return refuse_ref(text, "it has no repository", err);
	bu_text_copy_part(ret->host, sizeof(ret->host), host, host_size);
	bu_text_copy_part(ret->repository, sizeof(ret->repository), repository, size);
	if (!bu_text_is(ret->host, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-:") ||
	    !is_repository(ret->repository))
		return refuse_ref(text, "its host or repository is none", err);
	if (*rest == '@')
		return bu_oci_digest(rest + 1, ret->digest, err)
			       ? bu_err_wrap(err, "source '%.200s'", text)
			       : 0;
	bu_text_copy(ret->tag, sizeof(ret->tag), *rest ? rest + 1 : "latest");
	if (!bu_text_is(ret->tag, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-") ||
	    (*rest && strlen(rest + 1) >= sizeof(ret->tag)))
		return refuse_ref(text, "its tag is none", err);
	return 0;
}

/* --- tokens --- */

/* The value of key="..." in a challenge; owned, NULL when it is not there. */
static char *
challenge_value(const char *challenge, const char *key)
{
	bu_autofree char *begin = bu_xasprintf("%s=\"", key);
	const char *at = strstr(challenge, begin);
	const char *end;

	if (!at)
		return NULL;
	at += strlen(begin);
	end = strchr(at, '"');
	return end ? bu_xstrndup(at, (size_t)(end - at)) : NULL;
}

static void
add_query(char **url, const char *key, const char *value)
{
	const char *at;

	if (!value)
		return;
	bu_text_add(url, strchr(*url, '?') ? "&" : "?", "%s=", key);
	for (at = value; *at; at++)
		bu_text_add(url, "",
			    strchr(LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-~/:", *at)
				    ? "%c"
				    : "%%%02X",
			    (unsigned char)*at);
}

char *
bu_registry_token_url(const char *challenge, struct bu_err *err)
{
	static const char wanted[] = "Bearer ";
	const char *scheme = challenge + strspn(challenge, " ");
	bu_autofree char *realm = challenge_value(challenge, "realm");
	bu_autofree char *service = challenge_value(challenge, "service");
	bu_autofree char *scope = challenge_value(challenge, "scope");

	if (strncasecmp(scheme, wanted, strlen(wanted)) != 0 || !realm) {
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "the registry wants '%.100s', not a token", scheme);
		return NULL;
	}
	add_query(&realm, "service", service);
	add_query(&realm, "scope", scope);
	return bu_steal(&realm);
}

/* "Basic ..." for the host; NULL = there is none; owned. */
static char *
basic_of(const char *host)
{
	const char *path = getenv("REGISTRY_AUTH_FILE");
	bu_autojson json_t *file = path ? bu_json_load(path, NULL) : NULL;
	const char *auth = bu_json_str(
		json_object_get(json_object_get(file, "auths"), host), "auth", "");

	return *auth && bu_text_is(auth, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ+/=")
		       ? bu_xasprintf("Basic %s", auth)
		       : NULL;
}

static char *
scratch(const struct registry *registry, int *ret_fd, struct bu_err *err)
{
	char *path = bu_xasprintf("%s/answer", registry->blobs);

	*ret_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return path;
	bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	free(path);
	return NULL;
}

static int
get_token(struct registry *registry, const char *challenge, struct bu_err *err)
{
	bu_autofree char *url = bu_registry_token_url(challenge, err);
	bu_autofree char *basic = basic_of(registry->ref->host);
	bu_autoclose int fd = -1;
	bu_autofree char *path = url ? scratch(registry, &fd, err) : NULL;
	const struct bu_download what = {
		.url = url, .authorization = basic, .max_bytes = TOKEN_MAX};
	struct bu_downloaded answer = {0};
	bu_autojson json_t *reply = NULL;
	const char *token;
	int rc = path ? bu_download(&what, fd, &answer, err) : -1;

	bu_downloaded_fini(&answer);
	if (rc)
		return path ? bu_err_wrap(err, "token for %s", registry->ref->host)
			    : -1;
	reply = bu_json_load(path, err);
	token = bu_json_str(reply, "token", bu_json_str(reply, "access_token", ""));
	if (!bu_text_is_ascii(token) || !*token)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "%s gave no token", url);
	free(registry->authorization);
	registry->authorization = bu_xasprintf("Bearer %s", token);
	return 0;
}

/* --- blobs --- */

static char *
url_of(const struct registry *registry, const char *kind, const char *name)
{
	const char *host = registry->ref->host;
	size_t length = strcspn(host, ":");
	int local = (length == 9 && !strncmp(host, "localhost", 9)) ||
		    (length == 9 && !strncmp(host, "127.0.0.1", 9));

	return bu_xasprintf("%s://%s/v2/%s/%s/%s", local ? "http" : "https", host,
			    registry->ref->repository, kind, name);
}

/* Once more with a token where the registry wants one. */
static int
fetch(struct registry *registry, const char *url, uint64_t max, int fd,
      struct bu_err *err)
{
	struct bu_err why = {0};

	for (int try = 0;; try++) {
		const struct bu_download what = {.url = url,
						 .authorization =
							 registry->authorization,
						 .accept = TYPES ", */*",
						 .max_bytes = max};
		struct bu_downloaded answer = {0};
		int rc = bu_download(&what, fd, &answer, &why);

		if (rc && answer.status == 401 && answer.challenge && !try)
			rc = get_token(registry, answer.challenge, &why) ? -1 : 1;
		bu_downloaded_fini(&answer);
		if (rc == 1)
			continue;
		if (rc && err)
			*err = why;
		return rc;
	}
}

static char *
get_blob(void *arg, const struct bu_oci_desc *desc, struct bu_err *err)
{
	struct registry *registry = arg;
	bu_autofree char *path = bu_xasprintf("%s/%s", registry->blobs, desc->digest);
	bu_autofree char *name = bu_xasprintf("sha256:%s", desc->digest);
	bu_autofree char *url =
		url_of(registry,
		       desc->kind == BU_OCI_INDEX || desc->kind == BU_OCI_MANIFEST
			       ? "manifests"
			       : "blobs",
		       name);
	bu_autoclose int fd = -1;

	if (bu_file_exists(path))
		return bu_steal(&path);
	if (desc->kind == BU_OCI_LAYER)
		fprintf(stderr, "image: fetching layer %.12s, %.1f MB\n", desc->digest,
			desc->size / 1e6);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		bu_err_set(err, BU_ERR_IO, errno, "%s", path);
		return NULL;
	}
	return fetch(registry, url, desc->size ? desc->size : BU_OCI_JSON_MAX, fd, err)
		       ? NULL
		       : bu_steal(&path);
}

/* The document that the tag names now, kept under its digest. */
static int
resolve_tag(struct registry *registry, struct bu_oci_desc *ret, struct bu_err *err)
{
	bu_autofree char *url = url_of(registry, "manifests", registry->ref->tag);
	bu_autofree char *path = bu_xasprintf("%s/tag", registry->blobs);
	bu_autofree char *kept = NULL, *text = NULL;
	bu_autoclose int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t size;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	if (fetch(registry, url, BU_OCI_JSON_MAX, fd, err))
		return -1;
	text = bu_file_read(path, BU_OCI_JSON_MAX, &size, err);
	if (!text || bu_oci_kind(text, size, &ret->kind, err))
		return -1;
	bu_sha256_hex(text, size, ret->digest);
	ret->size = size;
	kept = bu_xasprintf("%s/%s", registry->blobs, ret->digest);
	return rename(path, kept) ? bu_err_set(err, BU_ERR_IO, errno, "%s", kept) : 0;
}

static int
pull(struct registry *registry, const struct bu_oci_want *want,
     const struct bu_oci_room *room, struct bu_oci_image *ret, struct bu_err *err)
{
	const struct bu_oci_blobs blobs = {get_blob, registry};
	struct bu_oci_desc top = {.kind = BU_OCI_MANIFEST};

	if (bu_mkdir_p(registry->blobs, 0700, err))
		return -1;
	memcpy(top.digest, registry->ref->digest, sizeof(top.digest));
	if (registry->ref->tag[0] && resolve_tag(registry, &top, err))
		return -1;
	return bu_oci_unpack(&blobs, &top, want, room, ret, err);
}

int
bu_registry_unpack(const char *source, const struct bu_oci_want *want,
		   const struct bu_oci_room *room, struct bu_oci_image *ret,
		   struct bu_err *err)
{
	struct bu_registry_ref ref;
	struct registry registry = {.ref = &ref};
	int rc;

	if (bu_registry_parse(source, &ref, err))
		return -1;
	registry.blobs = bu_xasprintf("%s/blobs", room->work);
	rc = pull(&registry, want, room, ret, err);
	if (bu_remove_tree(registry.blobs, rc ? NULL : err))
		rc = -1;
	free(registry.blobs);
	free(registry.authorization);
	return rc ? bu_err_wrap(err, "%s", source) : 0;
}
