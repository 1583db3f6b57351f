/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses of an index by tag and platform; oci.c calls it with each index on the way.
 * Invariant: one entry is left or the choice is refused: the order of the entries means
 * nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "images/build/oci_json_impl.h"

enum { TOLD_MAX = 150 }; /* bytes of a list in an error */

static const struct {
	const char *name, *arch, *variant;
} platforms[] = {
	{"linux/amd64", "amd64", "v1"},    {"linux/amd64/v1", "amd64", "v1"},
	{"linux/amd64/v2", "amd64", "v2"}, {"linux/amd64/v3", "amd64", "v3"},
	{"linux/amd64/v4", "amd64", "v4"},
};

int
bu_oci_platform(const char *text, struct bu_oci_want *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(platforms); i++)
		if (!strcmp(platforms[i].name, text)) {
			ret->arch = platforms[i].arch;
			ret->variant = platforms[i].variant;
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "platform '%.60s': linux/amd64, or with a level behind "
			  "(linux/amd64/v2, /v3, /v4), is needed",
			  text);
}

/* --- an entry --- */

static const char *
tag_of(const json_t *entry)
{
	return bu_json_str(json_object_get(entry, "annotations"),
			   "org.opencontainers.image.ref.name", "");
}

static const char *
variant_of(const json_t *entry)
{
	return bu_json_str(json_object_get(entry, "platform"), "variant", "");
}

/* 1 when it has the tag and is for the architecture, of whichever level. */
static int
fits(const json_t *entry, const struct bu_oci_want *want)
{
	const json_t *platform = json_object_get(entry, "platform");

	if (want->tag && strcmp(tag_of(entry), want->tag) != 0)
		return 0;
	if (!json_is_object(platform))
		return 1;
	return !strcmp(bu_json_str(platform, "os", ""), "linux") &&
	       !strcmp(bu_json_str(platform, "architecture", ""), want->arch);
}

/* Of one that fits. */
enum rank {
	RANK_OTHER, /* of another level */
	RANK_LEVEL, /* of the level */
	RANK_BASE,  /* the base level is wanted, and it says none, as is usual */
	RANKS,
};

static enum rank
rank_of(const json_t *entry, const struct bu_oci_want *want)
{
	const char *level = want->variant ? want->variant : "v1";
	const char *variant = variant_of(entry);

	if (!strcmp(variant, level))
		return RANK_LEVEL;
	if (!*variant && !strcmp(level, "v1"))
		return RANK_BASE;
	/* An index for all platforms, say: what it leads to is looked at. */
	return *variant || json_is_object(json_object_get(entry, "platform"))
		       ? RANK_OTHER
		       : RANK_LEVEL;
}

/* --- what an error says --- */

/* Adds a word that the list has not, as long as it is short. */
static void
add_once(char **list, const char *word)
{
	bu_autofree char *inside = bu_xasprintf(", %s, ", *list ? *list : "");
	bu_autofree char *whole = bu_xasprintf(", %s, ", word);

	if (*word && !strstr(inside, whole) && strlen(inside) < TOLD_MAX)
		bu_text_add(list, ", ", "%.40s", word);
}

/* Owned; NULL = none. Attestations say that their platform is unknown. */
static char *
list_platforms(const json_t *entries, const struct bu_oci_want *want)
{
	char *list = NULL;
	const json_t *entry;
	size_t i;

	json_array_foreach (entries, i, entry) {
		const json_t *platform = json_object_get(entry, "platform");
		const char *os = bu_json_str(platform, "os", "");
		const char *variant = variant_of(entry);
		bu_autofree char *word =
			bu_xasprintf("%.12s/%.12s%s%.8s", os,
				     bu_json_str(platform, "architecture", ""),
				     *variant ? "/" : "", variant);

		if ((!want->tag || !strcmp(tag_of(entry), want->tag)) && *os &&
		    strcmp(os, "unknown") != 0)
			add_once(&list, word);
	}
	return list;
}

static char *
list_tags(const json_t *entries, const struct bu_oci_want *want)
{
	char *list = NULL;
	const json_t *entry;
	size_t i;

	json_array_foreach (entries, i, entry)
		if (fits(entry, want))
			add_once(&list, tag_of(entry));
	return list;
}

/* Says what would choose one: a tag, where those that fit have several, or the
 * platform.
 */
static char *
advice(const json_t *entries, const struct bu_oci_want *want, size_t found)
{
	const struct bu_oci_want any = {.arch = want->arch};
	bu_autofree char *platforms_there = list_platforms(entries, want);
	bu_autofree char *tags = list_tags(entries, &any);
	char *text = NULL;

	if (platforms_there)
		bu_text_add(&text, "; ", "%s are for %s",
			    want->tag ? "those with the tag" : "its entries",
			    platforms_there);
	if (found != 1 && !want->tag && tags)
		bu_text_add(&text, "; ", "name one by its tag: %s", tags);
	else if (want->tag && !platforms_there && tags)
		bu_text_add(&text, "; ", "its tags are %s", tags);
	if (!found && platforms_there)
		bu_text_add(&text, "; ", "--platform chooses another of linux/%s",
			    want->arch);
	if (found > 1 && !tags)
		bu_text_add(&text, "; ", "none has a tag that would tell them apart");
	return text;
}

static int
refuse(const json_t *entries, const struct bu_oci_want *want, size_t found,
       struct bu_err *err)
{
	bu_autofree char *more = advice(entries, want, found);
	int base = !want->variant || !strcmp(want->variant, "v1");

	return bu_err_set(
		err, found ? BU_ERR_VERIFY : BU_ERR_NOTFOUND, 0,
		"image index: %zu of its %zu entries are for linux/%s%s%s%s%.60s%s%s",
		found, json_array_size(entries), want->arch, base ? "" : "/",
		base ? "" : want->variant, want->tag ? " with tag " : "",
		want->tag ? want->tag : "", more ? "; " : "", more ? more : "");
}

/* --- the choice --- */

/* 1 when two of those that fit have different tags. */
static int
has_several_tags(const json_t *entries, const struct bu_oci_want *want)
{
	const char *first = "";
	const json_t *entry;
	size_t i;

	json_array_foreach (entries, i, entry) {
		const char *tag = fits(entry, want) ? tag_of(entry) : "";

		if (*tag && *first && strcmp(first, tag) != 0)
			return 1;
		if (*tag)
			first = tag;
	}
	return 0;
}

/* Counts those that fit, by their rank; several tags are of several images, whose
 * levels nobody has compared. */
static void
count_ranks(const json_t *entries, const struct bu_oci_want *want, size_t ret[RANKS])
{
	int mixed = !want->variant && has_several_tags(entries, want);
	const json_t *entry;
	size_t i;

	json_array_foreach (entries, i, entry)
		if (fits(entry, want))
			ret[mixed ? RANK_BASE : rank_of(entry, want)]++;
}

/* The entry to take; NULL and their number where it is not one. */
static const json_t *
choose(const json_t *entries, const struct bu_oci_want *want, size_t *ret_found)
{
	size_t counts[RANKS] = {0};
	enum rank rank = RANK_BASE;
	const json_t *entry;
	size_t i;

	count_ranks(entries, want, counts);
	while (rank > RANK_OTHER && !counts[rank])
		rank--;
	*ret_found = rank == RANK_OTHER && (want->variant || counts[rank] != 1)
			     ? 0
			     : counts[rank];
	if (*ret_found != 1)
		return NULL;
	json_array_foreach (entries, i, entry)
		if (fits(entry, want) && rank_of(entry, want) == rank)
			return entry;
	return NULL;
}

int
bu_oci_index(const char *text, size_t size, const struct bu_oci_want *want,
	     struct bu_oci_desc *ret, struct bu_err *err)
{
	bu_autojson json_t *root = bu_oci_parse(text, size, "image index", err);
	const json_t *entries = json_object_get(root, "manifests"), *entry;
	size_t found;

	if (!root)
		return -1;
	entry = choose(entries, want, &found);
	if (!entry)
		return refuse(entries, want, found, err);
	if (bu_oci_read_desc(entry, ret, err))
		return bu_err_wrap(err, "image index: the entry for linux/%s",
				   want->arch);
	if (ret->kind != BU_OCI_MANIFEST && ret->kind != BU_OCI_INDEX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image index: the entry for linux/%s is not an image",
				  want->arch);
	bu_text_copy(ret->variant, sizeof(ret->variant), variant_of(entry));
	return 0;
}
