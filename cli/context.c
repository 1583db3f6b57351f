/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts on the disk, called by client.c and by `bringup login`. Invariant: a token
 * is written for its owner alone, and read only where nobody else could have read it.
 */
#include "cli/context.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "model/person.h"

enum { FILE_MAX = 64 * 1024 };

/* The owner, or root, runs this, and nobody else may read the file. */
static int
is_private(const struct stat *st)
{
	return !(st->st_mode & 077) && (st->st_uid == geteuid() || geteuid() == 0);
}

static void
free_secret(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void
bu_context_fini(struct bu_context *context)
{
	free(context->url);
	free_secret(context->token);
	free(context->ca_file);
	free(context->oidc.token_url);
	free(context->oidc.client);
	free_secret(context->oidc.refresh);
	free(context->oidc.ca_file);
	free(context->cert_file);
	free(context->key_file);
	memset(context, 0, sizeof(*context));
}

/* Owned; NULL = neither the folder nor HOME is known. */
static char *
folder(struct bu_err *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return bu_xasprintf("%s/bringup", config);
	if (home && *home == '/')
		return bu_xasprintf("%s/.config/bringup", home);
	bu_err_set(err, BU_ERR_INVAL, 0,
		   "where contexts are kept: HOME is not set to a folder");
	return NULL;
}

/* "~/.config/bringup/NAME.json"; owned. */
static char *
path_of(const char *name, const char *end, struct bu_err *err)
{
	bu_autofree char *dir = NULL;

	if (!bu_person_is_label(name)) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%.40s' cannot be the name of a context: up to %d letters, "
			   "digits and '._-'",
			   name, BU_TOKEN_NAME_SIZE - 1);
		return NULL;
	}
	dir = folder(err);
	return dir ? bu_xasprintf("%s/%s.%s", dir, name, end) : NULL;
}

/* 0 = only its owner, who runs this, may read the file. */
static int
check_private(const char *path, const char *name, struct bu_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "there is no context '%s' (%s); bringup login URL "
				  "--context %s makes it",
				  name, path, name);
	if (!is_private(&st))
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"'%s' has a token that others may read: chmod 600 it, "
			"and have the token revoked if they did",
			path);
	return 0;
}

int
bu_context_check_key(const char *path, struct bu_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, errno,
				  "the key of your certificate, '%s'", path);
	if (!is_private(&st))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "'%s' is a key that others may read: chmod 600 it, "
				  "and have the certificate revoked if they did",
				  path);
	return 0;
}

static int
read_oidc(const json_t *object, struct bu_context_oidc *ret, struct bu_err *err)
{
	const char *refresh = bu_json_str(object, "refresh_token", NULL);
	const char *token_url, *client;

	if (!object)
		return 0;
	if (bu_json_get_str(object, "token_url", &token_url, err) != 0 ||
	    bu_json_get_str(object, "client", &client, err) != 0)
		return -1;
	ret->token_url = bu_xstrdup(token_url);
	ret->client = bu_xstrdup(client);
	ret->refresh = refresh ? bu_xstrdup(refresh) : NULL;
	ret->until_s = bu_json_int(object, "until_s", 0);
	return 0;
}

static int
read_fields(const json_t *object, struct bu_context *ret, struct bu_err *err)
{
	const char *url, *token, *cert, *key;

	if (bu_json_get_str(object, "url", &url, err) != 0)
		return -1;
	ret->url = bu_xstrdup(url);
	if (json_object_get(object, "cert")) {
		if (bu_json_get_str(object, "cert", &cert, err) != 0 ||
		    bu_json_get_str(object, "key", &key, err) != 0)
			return -1;
		ret->cert_file = bu_xstrdup(cert);
		ret->key_file = bu_xstrdup(key);
		return 0;
	}
	if (bu_json_get_str(object, "token", &token, err) != 0)
		return -1;
	ret->token = bu_xstrdup(token);
	return read_oidc(json_object_get(object, "oidc"), &ret->oidc, err);
}

int
bu_context_load(const char *name, struct bu_context *ret, struct bu_err *err)
{
	bu_autofree char *path = path_of(name, "json", err);
	bu_autofree char *text = NULL;
	bu_autojson json_t *object = NULL;
	size_t size;

	memset(ret, 0, sizeof(*ret));
	if (!path || check_private(path, name, err) != 0)
		return -1;
	text = bu_file_read(path, FILE_MAX, &size, err);
	object = text ? bu_json_parse(text, size, path, err) : NULL;
	if (text)
		explicit_bzero(text, size);
	if (!object || read_fields(object, ret, err) != 0)
		return bu_err_wrap(err, "context '%s'; log in again", name);
	if (ret->key_file && bu_context_check_key(ret->key_file, err) != 0)
		return bu_err_wrap(err, "context '%s'", name);
	ret->ca_file = path_of(name, "pem", err);
	if (!ret->ca_file)
		return -1;
	ret->oidc.ca_file = path_of(name, "issuer", err);
	if (access(ret->oidc.ca_file, F_OK) != 0)
		free(bu_steal(&ret->oidc.ca_file));
	return 0;
}

/* The folder is for its owner alone from the start. */
static int
make_folder(struct bu_err *err)
{
	bu_autofree char *dir = folder(err);

	return dir ? bu_mkdir_p(dir, 0700, err) : -1;
}

char *
bu_context_draft(const char *ca, struct bu_err *err)
{
	bu_autofree char *dir = folder(err);
	bu_autofree char *path = NULL;

	if (!dir || make_folder(err) != 0)
		return NULL;
	path = bu_xasprintf("%s/.login-%d.pem", dir, (int)getpid());
	if (bu_file_write(path, ca, strlen(ca), 0600, err) != 0)
		return NULL;
	return bu_steal(&path);
}

/* NULL = the token is the appliance's own. */
static json_t *
oidc_json(const struct bu_context_oidc *oidc)
{
	return oidc->token_url
		       ? json_pack("{s:s,s:s,s:s*,s:I}", "token_url", oidc->token_url,
				   "client", oidc->client, "refresh_token",
				   oidc->refresh, "until_s", (json_int_t)oidc->until_s)
		       : NULL;
}

int
bu_context_update(const char *name, const struct bu_context *context,
		  struct bu_err *err)
{
	bu_autofree char *path = path_of(name, "json", err);
	bu_autojson json_t *object =
		json_pack("{s:s,s:s*,s:s*,s:s*,s:o*}", "url", context->url, "token",
			  context->token, "cert", context->cert_file, "key",
			  context->key_file, "oidc", oidc_json(&context->oidc));
	char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
	int rc = path && text && make_folder(err) == 0
			 ? bu_file_write(path, text, strlen(text), 0600, err)
			 : -1;

	free_secret(text);
	return rc;
}

int
bu_context_save(const char *name, const struct bu_context *context, const char *ca,
		struct bu_err *err)
{
	bu_autofree char *path = path_of(name, "pem", err);

	if (!path || make_folder(err) != 0 ||
	    bu_file_write(path, ca, strlen(ca), 0600, err) != 0)
		return -1;
	return bu_context_update(name, context, err);
}

int
bu_context_save_issuer(const char *name, const char *ca, struct bu_err *err)
{
	bu_autofree char *path = path_of(name, "issuer", err);

	if (!path)
		return -1;
	if (ca)
		return bu_file_write(path, ca, strlen(ca), 0600, err);
	if (unlink(path) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return 0;
}

int
bu_context_lock(const char *name, struct bu_err *err)
{
	bu_autofree char *path = path_of(name, "lock", err);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	if (path)
		bu_err_set(err, BU_ERR_IO, errno, "lock '%s'", path);
	if (fd >= 0)
		close(fd);
	return -1;
}
