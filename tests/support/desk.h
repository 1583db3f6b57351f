/* SPDX-License-Identifier: Apache-2.0 */
/* A fake site with its routes and a signed image: what people plan and apply. */
#ifndef BU_TESTS_SUPPORT_DESK_H
#define BU_TESTS_SUPPORT_DESK_H

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/build/shelf.h"
#include "tests/support/image.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

struct desk {
	struct site site;
	char key_path[80];
	char *private_pem, *public_pem;
};

static inline void
paint(struct desk *desk, const char *dir, const char *created)
{
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_msg(paper_image(dir, "debian12", created, desk->private_pem, digest,
				  &err) == 0,
		      "%s", err.text);
}

static inline void
write_image(struct desk *desk, const char *created)
{
	paint(desk, desk->site.images, created);
}

/* Built anew: the name goes to another one, and the one of before stays. */
static inline void
write_image_anew(struct desk *desk, const char *created)
{
	bu_autofree char *dir = bu_xasprintf("%s/new", desk->site.rig.dir);
	bu_autofree char *out = bu_xasprintf("%s/debian12", dir);
	struct bu_err err = {0};

	paint(desk, dir, created);
	ck_assert_msg(!bu_shelf_put(desk->site.images, "debian12", out, &err), "%s",
		      err.text);
}

static inline void
begin(struct desk *desk)
{
	memset(desk, 0, sizeof(*desk));
	site_begin(&desk->site, 0);
	snprintf(desk->key_path, sizeof(desk->key_path), "%s/image.pub",
		 desk->site.rig.dir);
	ck_assert_int_eq(
		bu_sign_key_create(&desk->private_pem, &desk->public_pem, NULL), 0);
	ck_assert_int_eq(bu_file_write(desk->key_path, desk->public_pem,
				       strlen(desk->public_pem), 0644, NULL),
			 0);
	desk->site.api.work.image_key = desk->key_path;
	write_image(desk, "2026-01-01T00:00:00Z");
}

static inline void
end(struct desk *desk)
{
	site_end(&desk->site);
	free(desk->private_pem);
	free(desk->public_pem);
}

/* The answer to a plan of the good profile with `from` replaced. */
static inline json_t *
plan(struct desk *desk, const char *from, const char *to, const char *limit, int status)
{
	struct bu_tree *tree = rig_tree(3, from, to);
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autojson json_t *request =
		json_pack("{s:O,s:s,s:s}", "tree", value, "commit", "abc", "limit",
			  limit ? limit : "");
	bu_autofree char *text = bu_json_canonical(request);

	bu_tree_destroy(tree);
	return site_call(&desk->site, desk->site.local, "POST", "/v1/plan", text,
			 status);
}

/* grants: a list as JSON, "" = none. */
static inline json_t *
apply_with(struct desk *desk, const json_t *planned, const char *grants, int status)
{
	bu_autofree char *text = bu_xasprintf("{\"digest\":\"%s\"%s%s}",
					      bu_json_str(planned, "digest", ""),
					      *grants ? ",\"grants\":" : "", grants);

	return site_call(&desk->site, desk->site.local, "POST", "/v1/apply", text,
			 status);
}

static inline json_t *
apply(struct desk *desk, const json_t *planned, int status)
{
	return apply_with(desk, planned, "", status);
}

static inline const json_t *
steps_of(const json_t *planned)
{
	return json_object_get(json_object_get(planned, "plan"), "steps");
}

static inline void
says(const json_t *answer, const char *words)
{
	const char *text = bu_json_str(json_object_get(answer, "error"), "text", "");

	ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in '%s'", words, text);
}

#endif
