/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a profile names on the appliance, by the table of keys; called when the
 * daemon checks a profile. Invariant: a new key of such a type is found without a line
 * here.
 */
#include "profiles/load/named.h"

#include <string.h>

#include "base/mem.h"
#include "base/secret.h"

struct walk {
	void (*fn)(const struct bu_named *named, void *arg);
	void *arg;
};

/* Paths that are not the node's. */
static const struct {
	const char *section, *key;
	enum bu_named_kind kind;
} own_paths[] = {
	{"image", "path", BU_NAMED_IMAGES},
	{"cluster", "slurm_conf", BU_NAMED_CONF},
};

static int
path_kind(const struct bu_key *key, enum bu_named_kind *ret)
{
	for (size_t i = 0; i < BU_LEN(own_paths); i++)
		if (strcmp(own_paths[i].section, key->section) == 0 &&
		    strcmp(own_paths[i].key, key->key) == 0) {
			*ret = own_paths[i].kind;
			return 1;
		}
	return 0;
}

/* "/path" of "file:/path" or "exec:/path"; NULL = it names no file. */
static const char *
path_of(const char *reference)
{
	const char *colon = strchr(reference, ':');

	return colon && colon[1] == '/' ? colon + 1 : NULL;
}

static void
tell_each(const struct walk *walk, struct bu_named *named, const char *text)
{
	char *word;

	while ((word = bu_value_next_word(&text))) {
		bu_autofree char *owned = word;

		named->path = path_of(owned);
		if (named->path)
			walk->fn(named, walk->arg);
	}
}

static void
look_at(const struct walk *walk, struct bu_named *named, const char *text)
{
	named->kind = BU_NAMED_SECRET;
	named->path = NULL;
	switch (named->key->type) {
	case BU_KEY_SECRET:
	case BU_KEY_EXEC:
		named->path = path_of(text);
		break;
	case BU_KEY_PLACE:
		named->path = bu_secret_is_exec(text) ? path_of(text) : NULL;
		break;
	case BU_KEY_KEYFILE:
		named->kind = BU_NAMED_PUBLIC;
		named->path = text;
		break;
	case BU_KEY_KEYFILES:
		named->kind = BU_NAMED_PUBLIC;
		tell_each(walk, named, text);
		return;
	case BU_KEY_PATH:
		if (path_kind(named->key, &named->kind))
			named->path = text;
		break;
	default:
		break;
	}
	if (named->path)
		walk->fn(named, walk->arg);
}

/* One object of the kind; origins: by key, NULL = there are none. A default was named
 * by nobody. */
static void
look_into(const struct walk *walk, const char *kind, const struct bu_named *of,
	  const void *object, const struct bu_origin *origins)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		struct bu_named named = *of;
		const char *text;

		if (keys[i].offset == BU_KEY_NO_FIELD || !bu_key_is_text(&keys[i]) ||
		    strcmp(keys[i].section, kind) != 0)
			continue;
		text = *(char *const *)(const void *)((const char *)object +
						      keys[i].offset);
		named.key = &keys[i];
		if (origins && origins[i].line)
			named.at = origins[i];
		if (text && (!origins || origins[i].line))
			look_at(walk, &named, text);
	}
}

#define EACH(walk, desired, kind, list)                                                \
	for (size_t n = 0; n < (desired)->list##_count; n++)                           \
	look_into(walk, kind,                                                          \
		  &(struct bu_named){.name = (desired)->list[n].name,                  \
				     .at = (desired)->list[n].origin},                 \
		  &(desired)->list[n], (desired)->list[n].origins)

void
bu_named_each(const struct bu_desired *desired,
	      void (*fn)(const struct bu_named *named, void *arg), void *arg)
{
	const struct walk walk = {fn, arg};
	const struct bu_named site = {.at = desired->site.origin};

	look_into(&walk, "policy", &site, &desired->policy, desired->policy.origins);
	look_into(&walk, "access", &site, &desired->access, desired->access.origins);
	EACH(&walk, desired, "network", networks);
	EACH(&walk, desired, "image", images);
	EACH(&walk, desired, "cluster", clusters);
	EACH(&walk, desired, "pool", pools);
	for (size_t i = 0; i < desired->nodes_count; i++)
		look_into(&walk, "node",
			  &(struct bu_named){.name = desired->nodes[i].name,
					     .at = desired->nodes[i].origin},
			  &desired->nodes[i], NULL);
}
