/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup image stored|rollback|gc: what is kept in the store and for whom. bringupd
 * knows which nodes have an image or were ordered to get it; without its answer gc
 * frees nothing, unless it is told that no daemon uses this store.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/commands/image_impl.h"
#include "cli/render/output.h"
#include "images/build/recipe.h"
#include "images/build/shelf.h"
#include "images/build/sign.h"

struct shelf {
	struct bu_shelf_item *items;
	size_t count;
	json_t *uses; /* of GET /v1/images; NULL = nobody was asked */
};

static const char *const needs[] = {
	[BU_NEED_NONE] = "nothing",
	[BU_NEED_BEFORE] = "rollback",
	[BU_NEED_NODES] = "nodes",
	[BU_NEED_NAME] = "its name",
};

static void
shelf_fini(struct shelf *shelf)
{
	free(shelf->items);
	json_decref(shelf->uses);
}

/* Each use says of which image: what cannot be read must not free anything. */
static int
check_uses(const json_t *answer, struct bu_err *err)
{
	const json_t *uses = json_object_get(answer, "uses"), *use;
	size_t i;

	if (!json_is_array(uses))
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the answer does not say which images nodes use");
	json_array_foreach (uses, i, use)
		if (strlen(bu_json_str(use, "digest", "")) != BU_DIGEST_SIZE - 1)
			return bu_err_set(err, BU_ERR_REMOTE, 0,
					  "the answer names an image without its "
					  "SHA-256");
	return 0;
}

static void
judge(struct shelf *shelf)
{
	const json_t *uses = json_object_get(shelf->uses, "uses");
	size_t count = json_array_size(uses);
	const char **digests = bu_xcalloc(count, sizeof(*digests));

	for (size_t i = 0; i < count; i++)
		digests[i] = bu_json_str(json_array_get(uses, i), "digest", "");
	bu_shelf_judge(shelf->items, shelf->count, digests, count);
	free(digests);
}

/* Without its daemon nobody knows what its nodes have. */
static int
check_claim(const struct bu_image_place *place, const struct bu_image_options *options,
	    struct bu_err *err)
{
	bu_autofree char *log = options->offline && options->yes
					? bu_image_claimed(place->images)
					: NULL;

	if (!log)
		return 0;
	return bu_err_set(
		err, BU_ERR_STATE, 0,
		"%s: the bringupd whose log is %s serves from it, and its nodes "
		"may have or need these images; start it, and gc asks it; "
		"remove %s/.bringupd when it is gone for good",
		place->images, log, place->images);
}

static int
shelf_open(const struct bu_image_place *place, const struct bu_image_options *options,
	   struct shelf *ret, struct bu_err *err)
{
	struct shelf shelf = {0};

	if (!options->offline) {
		bu_autoclient struct bu_client *client =
			bu_client_create(options->socket);

		shelf.uses = bu_client_get(client, 0, err, "/v1/images");
		if (!shelf.uses || check_uses(shelf.uses, err)) {
			shelf_fini(&shelf);
			return bu_err_wrap(err, "which images nodes use (--offline "
						"where no bringupd uses this store)");
		}
	}
	if (bu_shelf_list(place->images, &shelf.items, &shelf.count, err)) {
		shelf_fini(&shelf);
		return -1;
	}
	judge(&shelf);
	*ret = shelf;
	return 0;
}

/* "12 nodes" or why else it stays; owned. */
static char *
need_text(const struct shelf *shelf, const struct bu_shelf_item *item)
{
	const json_t *uses = json_object_get(shelf->uses, "uses"), *use;
	char *text = item->need == BU_NEED_NODES ? NULL : bu_xstrdup(needs[item->need]);
	size_t i, count = 0;

	json_array_foreach (uses, i, use)
		count += !strcmp(bu_json_str(use, "digest", ""), item->digest);
	if (count) {
		char *both =
			bu_xasprintf("%s%s%zu %s", text ? text : "", text ? ", " : "",
				     count, count == 1 ? "node" : "nodes");

		free(text);
		text = both;
	}
	return text;
}

static void
add_name(json_t *names, const char *name)
{
	json_t *at;
	size_t i;

	json_array_foreach (names, i, at)
		if (!strcmp(json_string_value(at), name))
			return;
	json_array_append_new(names, json_string(name));
}

static int
has_name(const json_t *names, const char *name)
{
	const json_t *at;
	size_t i;

	json_array_foreach (names, i, at)
		if (json_is_string(at) && !strcmp(json_string_value(at), name))
			return 1;
	return 0;
}

/* Those whose nodes have it or get it, and those whose next nodes would: they name an
 * image, and it has that name now. New reference. */
static json_t *
pools_of(const struct shelf *shelf, const struct bu_shelf_item *item)
{
	json_t *names = json_array(), *pools = json_object_get(shelf->uses, "pools");
	const json_t *uses = json_object_get(shelf->uses, "uses"), *use;
	const char *pool;
	json_t *its;
	size_t i;

	json_array_foreach (uses, i, use)
		if (!strcmp(bu_json_str(use, "digest", ""), item->digest) &&
		    *bu_json_str(use, "pool", ""))
			add_name(names, bu_json_str(use, "pool", ""));
	json_object_foreach (pools, pool, its)
		if (item->named && has_name(its, item->name))
			add_name(names, pool);
	return names;
}

/* "train, infer"; owned. */
static char *
pools_text(const struct shelf *shelf, const struct bu_shelf_item *item)
{
	bu_autojson json_t *names = pools_of(shelf, item);
	char *text = NULL;
	json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		bu_text_add(&text, ", ", "%s", json_string_value(name));
	return text ? text : bu_xstrdup("");
}

static void
add_row(struct bu_table *table, const struct shelf *shelf,
	const struct bu_shelf_item *item)
{
	bu_autofree char *size = bu_xasprintf("%.1f MB", item->bytes / 1e6);
	bu_autofree char *need = need_text(shelf, item);
	bu_autofree char *pools = pools_text(shelf, item);
	char stored[24], digest[13];

	bu_time_iso(item->stored_ms, stored);
	snprintf(digest, sizeof(digest), "%.12s", item->digest);
	bu_table_row(table,
		     (const char *const[]){item->name[0] ? item->name : "(unreadable)",
					   digest, size, stored, need, pools});
}

static json_t *
item_json(const struct shelf *shelf, const struct bu_shelf_item *item)
{
	json_t *nodes = json_array();
	const json_t *uses = json_object_get(shelf->uses, "uses"), *use;
	size_t i;

	json_array_foreach (uses, i, use)
		if (!strcmp(bu_json_str(use, "digest", ""), item->digest))
			json_array_append(nodes, json_object_get(use, "node"));
	return json_pack("{s:s, s:s, s:I, s:I, s:b, s:s, s:o, s:o}", "name", item->name,
			 "digest", item->digest, "bytes", (json_int_t)item->bytes,
			 "stored_ms", (json_int_t)item->stored_ms, "named", item->named,
			 "needed_by", needs[item->need], "nodes", nodes, "pools",
			 pools_of(shelf, item));
}

BU_IMAGE_VERB(bu_image_cmd_stored)
{
	static const char *const headings[] = {"NAME",      "DIGEST", ">SIZE", "STORED",
					       "NEEDED BY", "POOLS",  NULL};
	bu_autojson json_t *list = json_array();
	struct bu_table *table;
	struct shelf shelf;

	if (shelf_open(place, options, &shelf, err))
		return -1;
	table = bu_table_create(headings);
	for (size_t i = 0; i < shelf.count; i++) {
		if (count && strcmp(shelf.items[i].name, names[0]) != 0)
			continue;
		add_row(table, &shelf, &shelf.items[i]);
		json_array_append_new(list, item_json(&shelf, &shelf.items[i]));
	}
	if (options->json) {
		json_dumpf(list, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else {
		bu_out_table(table, stdout);
	}
	bu_table_destroy(table);
	shelf_fini(&shelf);
	return 0;
}

BU_IMAGE_VERB(bu_image_cmd_rollback)
{
	bu_autofree char *public_pem = bu_image_public_key(place->cache, err);
	bu_autoclose int lock = -1;
	struct bu_shelf_item item;
	struct bu_image image;

	lock = public_pem ? bu_image_lock(place->cache, err) : -1;
	if (lock < 0 || bu_shelf_find(place->images, names[0],
				      count > 1 ? names[1] : NULL, &item, err))
		return -1;
	/* What nodes would refuse gets no name. */
	if (bu_image_load_stored(place->images,
				 &(struct bu_image_id){names[0], item.digest},
				 public_pem, &image, err))
		return -1;
	bu_image_fini(&image);
	if (bu_shelf_use(place->images, &(struct bu_image_id){names[0], item.digest},
			 err))
		return -1;
	printf("%s is %.12s again; 'bringup plan' shows what that means for nodes\n",
	       names[0], item.digest);
	return 0;
}

/* What was freed is said line by line: a failure in the middle hides nothing. */
static int
free_one(const struct bu_image_place *place, const struct bu_shelf_item *item, int yes,
	 struct bu_err *err)
{
	if (yes && bu_shelf_remove(place->images, item, err))
		return -1;
	printf("%s %s %.12s, %.1f MB\n", yes ? "freed" : "would free",
	       item->name[0] ? item->name : "(unreadable)", item->digest,
	       item->bytes / 1e6);
	return 0;
}

/* What builds that were cut off left. */
static int
sweep(const struct bu_image_place *place, int yes, struct bu_err *err)
{
	bu_autofree char *tmp = bu_xasprintf("%s/tmp", place->cache);
	uint64_t bytes;

	if (bu_shelf_sweep(place->images, tmp, yes, &bytes, err))
		return -1;
	if (bytes)
		printf("%s what unfinished builds left, %.1f MB\n",
		       yes ? "freed" : "would free", bytes / 1e6);
	return 0;
}

BU_IMAGE_VERB(bu_image_cmd_gc)
{
	struct shelf shelf;
	uint64_t bytes = 0;
	size_t freed = 0;
	bu_autoclose int lock = bu_image_lock(place->cache, err);
	int rc = 0;

	if (lock < 0 || check_claim(place, options, err) ||
	    shelf_open(place, options, &shelf, err))
		return -1;
	for (size_t i = 0; !rc && i < shelf.count; i++) {
		if (shelf.items[i].need != BU_NEED_NONE)
			continue;
		rc = free_one(place, &shelf.items[i], options->yes, err);
		bytes += rc ? 0 : shelf.items[i].bytes;
		freed += !rc;
	}
	if (!rc)
		rc = sweep(place, options->yes, err);
	if (!rc)
		printf("%zu of %zu images, %.1f MB%s\n", freed, shelf.count,
		       bytes / 1e6, options->yes || !freed ? "" : "; --yes frees them");
	shelf_fini(&shelf);
	return rc;
}
