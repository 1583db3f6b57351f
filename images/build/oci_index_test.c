/* SPDX-License-Identifier: Apache-2.0 */
/* Which entry of an index is taken, by tag and platform, and how a choice is refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "images/build/oci_json.h"
#include "tests/support/unit.h"

#define TAG "org.opencontainers.image.ref.name"

/* words: "OS/ARCH[/VARIANT]" or "-" for no platform, and "@TAG" behind. Digest of the
 * entry: its number, 64 times. */
static json_t *
entry_of(const char *words, size_t number)
{
	char os[20] = "", arch[20] = "", variant[20] = "", digest[65];
	const char *tag = strchr(words, '@');
	json_t *entry;

	memset(digest, '0' + (int)number, 64);
	digest[64] = '\0';
	entry = json_pack("{s:s, s:o, s:i}", "mediaType",
			  "application/vnd.oci.image.manifest.v1+json", "digest",
			  json_sprintf("sha256:%s", digest), "size", 100);
	if (sscanf(words, "%19[^/@]/%19[^/@]/%19[^/@]", os, arch, variant) >= 2)
		json_object_set_new(entry, "platform",
				    json_pack("{s:s, s:s, s:s*}", "os", os,
					      "architecture", arch, "variant",
					      *variant ? variant : NULL));
	if (tag)
		json_object_set_new(entry, "annotations",
				    json_pack("{s:s}", TAG, tag + 1));
	return entry;
}

/* Number of the entry that is taken; 0 and err. */
static int
choose(const char *const *entries, const char *platform, const char *tag,
       struct bu_err *err)
{
	struct bu_oci_want want = {.arch = "amd64"};
	bu_autojson json_t *index =
		json_pack("{s:i, s:[]}", "schemaVersion", 2, "manifests");
	bu_autofree char *text = NULL;
	struct bu_oci_desc desc;

	for (size_t i = 0; entries[i]; i++)
		json_array_append_new(json_object_get(index, "manifests"),
				      entry_of(entries[i], i + 1));
	text = bu_json_canonical(index);
	memset(err, 0, sizeof(*err));
	if (platform)
		ck_assert_int_eq(bu_oci_platform(platform, &want, err), 0);
	want.tag = tag;
	if (bu_oci_index(text, strlen(text), &want, &desc, err))
		return 0;
	return desc.digest[0] - '0';
}

START_TEST(the_base_level_is_first_and_a_platform_chooses_another)
{
	static const struct {
		const char *entries[5], *platform, *tag;
		int taken;
	} rows[] = {
		{{"linux/amd64", "linux/amd64/v3"}, NULL, NULL, 1},
		{{"linux/amd64/v3", "linux/amd64"}, NULL, NULL, 2},
		{{"linux/amd64/v3", "linux/amd64/v1"}, NULL, NULL, 2},
		{{"linux/amd64/v1", "linux/amd64", "linux/arm64"}, NULL, NULL, 2},
		{{"linux/amd64", "linux/amd64/v3"}, "linux/amd64/v3", NULL, 2},
		{{"linux/amd64", "linux/amd64/v3"}, "linux/amd64", NULL, 1},
		{{"linux/amd64", "linux/amd64/v3"}, "linux/amd64/v1", NULL, 1},
		{{"linux/amd64/v2", "linux/amd64/v4", "linux/amd64/v3"},
		 "linux/amd64/v4",
		 NULL,
		 2},
		/* with its attestations, which are for no platform */
		{{"linux/amd64", "unknown/unknown", "linux/amd64/v3",
		  "unknown/unknown"},
		 NULL,
		 NULL,
		 1},
		/* the only one of the architecture */
		{{"linux/amd64/v3", "linux/arm64/v8"}, NULL, NULL, 1},
		{{"linux/amd64/v3@a"}, NULL, "a", 1},
		/* an index in the index says no platform, and has them inside */
		{{"-"}, "linux/amd64/v3", NULL, 1},
		{{"-@a", "-@b"}, "linux/amd64/v3", "b", 2},
		/* one tag for all levels, and one for each */
		{{"linux/amd64@a", "linux/amd64/v3@a"}, NULL, "a", 1},
		{{"linux/amd64@a", "linux/amd64/v3@a"}, NULL, NULL, 1},
		{{"linux/amd64@a", "linux/amd64/v3@a"}, "linux/amd64/v3", "a", 2},
		{{"linux/amd64@a", "linux/amd64/v3@b"}, NULL, "b", 2},
		{{"linux/amd64@a", "linux/amd64/v3@b"}, "linux/amd64/v3", NULL, 2},
	};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(choose(rows[i].entries, rows[i].platform, rows[i].tag,
				     &err) == rows[i].taken,
			      "row %zu: %s", i, err.text);
}
END_TEST

START_TEST(a_refused_choice_names_what_is_there)
{
	static const struct {
		const char *entries[5], *platform, *tag;
		enum bu_err_kind kind;
		const char *why, *also;
	} rows[] = {
		{{"linux/amd64", "linux/amd64/v3", "linux/arm64", "unknown/unknown"},
		 "linux/amd64/v4",
		 NULL,
		 BU_ERR_NOTFOUND,
		 "0 of its 4 entries are for linux/amd64/v4; its entries are for "
		 "linux/amd64, linux/amd64/v3, linux/arm64; ",
		 "--platform chooses another"},
		/* nobody knows which level all machines have */
		{{"linux/amd64/v2", "linux/amd64/v3"},
		 NULL,
		 NULL,
		 BU_ERR_NOTFOUND,
		 "for linux/amd64/v2, linux/amd64/v3",
		 "--platform chooses another"},
		{{"linux/amd64/v3"},
		 "linux/amd64",
		 NULL,
		 BU_ERR_NOTFOUND,
		 "for linux/amd64/v3",
		 "--platform"},
		{{"linux/arm64", "windows/amd64"},
		 NULL,
		 NULL,
		 BU_ERR_NOTFOUND,
		 "its entries are for linux/arm64, windows/amd64",
		 ""},
		{{"linux/amd64@a", "linux/amd64@b"},
		 NULL,
		 NULL,
		 BU_ERR_VERIFY,
		 "2 of its 2 entries",
		 "name one by its tag: a, b"},
		/* two images, not two levels of one */
		{{"linux/amd64@a", "linux/amd64/v3@b"},
		 NULL,
		 NULL,
		 BU_ERR_VERIFY,
		 "2 of its 2 entries",
		 "name one by its tag: a, b"},
		{{"-@a", "linux/amd64@b"},
		 NULL,
		 NULL,
		 BU_ERR_VERIFY,
		 "2 of its 2 entries",
		 "name one by its tag: a, b"},
		{{"linux/amd64@a", "linux/amd64/v3@a"},
		 NULL,
		 "c",
		 BU_ERR_NOTFOUND,
		 "0 of its 2 entries are for linux/amd64 with tag c",
		 "its tags are a"},
		{{"linux/amd64", "linux/amd64"},
		 NULL,
		 NULL,
		 BU_ERR_VERIFY,
		 "2 of its 2 entries",
		 "none has a tag"},
	};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(
			!choose(rows[i].entries, rows[i].platform, rows[i].tag, &err),
			"row %zu was taken", i);
		ck_assert_msg(err.kind == rows[i].kind &&
				      strstr(err.text, rows[i].why) &&
				      strstr(err.text, rows[i].also),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(!strstr(err.text, "unknown"), "row %zu: %s", i, err.text);
	}
}
END_TEST

START_TEST(a_platform_that_no_node_has_is_refused)
{
	static const char *const wrong[] = {"",
					    "amd64",
					    "linux/arm64",
					    "linux/amd64/",
					    "linux/amd64/3",
					    "linux/amd64/v5",
					    "LINUX/amd64",
					    "windows/amd64",
					    "linux/amd64 ",
					    "linux/amd64/v3/x"};
	struct bu_oci_want want = {.arch = "amd64"};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		ck_assert_msg(bu_oci_platform(wrong[i], &want, &err) == -1, "%s",
			      wrong[i]);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.text, "linux/amd64/v2"));
	}
	ck_assert_ptr_null(want.variant);
}
END_TEST

BU_UNIT("oci_index", the_base_level_is_first_and_a_platform_chooses_another,
	a_refused_choice_names_what_is_there, a_platform_that_no_node_has_is_refused)
