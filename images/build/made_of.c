/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what an image is made of; recipe.c and the imports call it. Invariant: the same
 * sources give the same words in any folder of any machine, so no path, no time and
 * nothing of the environment goes in.
 */
#include "images/build/made_of.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"
#include "base/url.h"

/* --- recipes --- */

/* "SHA-256 REST" for each line "PATH REST". */
static int
add_files(char **inputs, const char *lines, struct bu_err *err)
{
	bu_autofree char *copy = bu_xstrdup(lines ? lines : "");
	char *at = copy, *line;

	while ((line = strsep(&at, "\n"))) {
		char *rest = line + strcspn(line, " ");
		char digest[BU_DIGEST_SIZE];

		if (!*line)
			continue;
		if (*rest)
			*rest++ = '\0';
		if (bu_sha256_file(line, digest, err))
			return -1;
		bu_text_add(inputs, "\n", "%s %s", digest, rest);
	}
	return 0;
}

/* Of a line of sources.list(5) what tells where it leads: "URL SUITE COMPONENT...". */
static const char *
without_options(const char *line)
{
	const char *at = line + strcspn(line, " \t"), *end;

	at += strspn(at, " \t");
	end = *at == '[' ? strchr(at, ']') : NULL;
	return end ? end + 1 + strspn(end + 1, " \t") : at;
}

/* The name has no user and no password, which a manifest shows to everybody. */
static int
add_mirror(const char *line, struct bu_image_origin *ret, struct bu_err *err)
{
	const char *what = without_options(line), *rest = what + strcspn(what, " \t");
	bu_autofree char *text = bu_xstrndup(what, (size_t)(rest - what));
	bu_autofree char *host = NULL, *name = NULL;
	struct bu_image_source *source;
	struct bu_url url;

	if (bu_url_parse(text, &url) || !url.host[0] || !url.scheme[0])
		return 0; /* of the machine itself: "file:", "cdrom:" */
	host = url.port < 0 ? bu_xstrdup(url.host)
			    : bu_xasprintf("%s:%d", url.host, url.port);
	name = bu_xasprintf("%s://%s%s%s", url.scheme, host, url.path, rest);
	source = bu_origin_add(ret, BU_SOURCE_MIRROR, name, err);
	if (!source)
		return -1;
	BU_TEXT_COPY(source->host, host);
	return 0;
}

static int
add_mirrors(const char *lines, struct bu_image_origin *ret, struct bu_err *err)
{
	bu_autofree char *copy = bu_xstrdup(lines ? lines : "");
	char *at = copy, *line;

	while ((line = strsep(&at, "\n")))
		if (*line && add_mirror(line, ret, err))
			return -1;
	return 0;
}

int
bu_made_of_recipe(const char *name, const char *script, const struct bu_recipe_ini *ini,
		  struct bu_image_origin *ret, struct bu_err *err)
{
	bu_autofree char *inputs = bu_xstrdup(ini->layers ? ini->layers : "");
	struct bu_image_source *source;

	bu_text_add(&inputs, "\n", "script");
	if (add_files(&inputs, script, err))
		return -1;
	bu_text_add(&inputs, "\n", "files");
	if (add_files(&inputs, ini->files, err))
		return -1;
	bu_text_add(&inputs, "\n", "hooks");
	if (add_files(&inputs, ini->hooks, err))
		return -1;
	bu_text_add(&inputs, "\n", "dkms_hooks");
	if (add_files(&inputs, ini->dkms_hooks, err))
		return -1;
	source = bu_origin_add(ret, BU_SOURCE_RECIPE, name, err);
	if (!source)
		return -1;
	bu_sha256_hex(inputs, strlen(inputs), source->digest);
	bu_origin_version(ret, ini->version ? ini->version : "");
	return add_mirrors(ini->mirrors, ret, err) ||
			       add_mirrors(ini->sources, ret, err)
		       ? -1
		       : 0;
}

int
bu_made_of_packages(const char *suite, const struct bu_packages *packages,
		    struct bu_image_origin *ret, struct bu_err *err)
{
	struct bu_image_source *source =
		bu_origin_add(ret, BU_SOURCE_PACKAGES, suite, err);
	struct bu_sha256_state *sha;

	if (!source)
		return -1;
	sha = bu_sha256_begin();
	for (size_t i = 0; i < packages->count; i++) {
		const struct bu_package *at = &packages->list[i];
		bu_autofree char *line =
			bu_xasprintf("%s %s %s\n", at->name, at->version, at->arch);

		bu_sha256_add(sha, line, strlen(line));
	}
	bu_sha256_final(sha, source->digest);
	return 0;
}

/* --- imports --- */

int
bu_made_of_file(enum bu_source_kind kind, const char *path, struct bu_image_origin *ret,
		struct bu_err *err)
{
	struct bu_image_source *source;
	struct stat st;

	if (stat(path, &st))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	if (!S_ISREG(st.st_mode)) /* a pipe is read once */
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s: a plain file is needed",
				  path);
	source = bu_origin_add(ret, kind, bu_path_name(path), err);
	return source ? bu_sha256_file(path, source->digest, err) : -1;
}
