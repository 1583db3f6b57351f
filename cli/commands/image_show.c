/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup image list|show: what is told of images in this machine's cache. Invariant:
 * what is told of one was verified with this cache's key.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/commands/image_impl.h"
#include "cli/render/output.h"
#include "images/build/recipe.h"
#include "images/build/sign.h"
#include "images/store.h"

/* What the system in it has, as far as somebody looked, and where that is listed. */
static void
add_contents(const struct bu_image *image, json_t *value)
{
	const struct bu_manifest *manifest = image->manifest;
	json_t *holds = json_object();

	for (size_t i = 0; i < manifest->holding_count; i++)
		json_object_set_new(holds, manifest->holdings[i].name,
				    json_string(manifest->holdings[i].version));
	json_object_set_new(value, "holds", manifest->described ? holds : json_null());
	if (!manifest->described)
		json_decref(holds);
	json_object_set_new(value, "disk",
			    manifest->disk.sector_bytes
				    ? bu_whole_disk_to_json(&manifest->disk)
				    : json_null());
	json_object_set_new(value, "sbom",
			    manifest->sbom[0]
				    ? json_pack("{s:s, s:s+}", "sha256", manifest->sbom,
						"path", image->dir, "/" BU_SBOM_FILE)
				    : json_null());
}

/* What list and show tell about one image, without its frames. */
static json_t *
describe(const struct bu_image *image)
{
	const struct bu_manifest *manifest = image->manifest;
	json_t *parts = json_array(), *value;

	for (size_t i = 0; i < manifest->part_count; i++) {
		const struct bu_part *part = &manifest->parts[i];

		json_array_append_new(
			parts,
			json_pack("{s:s, s:I, s:I, s:I, s:b}", "name", part->name,
				  "size_bytes", (json_int_t)part->size_bytes,
				  "stored_bytes",
				  (json_int_t)bu_part_stored_bytes(part), "frames",
				  (json_int_t)part->frame_count, "grow", part->grow));
	}
	value = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:o}", "name",
			  manifest->name, "digest", image->digest, "arch",
			  manifest->arch, "kernel", manifest->kernel, "created",
			  manifest->created, "kargs", manifest->kargs, "dir",
			  image->dir, "stored_bytes", (json_int_t)image->stored_bytes,
			  "parts", parts);
	bu_origin_to_json(&manifest->origin, value);
	add_contents(image, value);
	return value;
}

static void
print_json(const json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
}

static void
add_row(struct bu_table *table, const struct bu_image *image)
{
	bu_autofree char *size = bu_xasprintf("%.1f MB", image->stored_bytes / 1e6);
	const struct bu_manifest *manifest = image->manifest;
	char digest[13];

	snprintf(digest, sizeof(digest), "%.12s", image->digest);
	bu_table_row(table, (const char *const[]){manifest->name, manifest->kernel,
						  size, manifest->created, digest});
}

/* An image that does not load is told, and the others are listed. */
static void
list_one(const struct bu_image_place *place, const char *name, const char *public_pem,
	 struct bu_table *table, json_t *list)
{
	struct bu_image image;
	struct bu_err err = {0};

	if (bu_image_load(place->images, name, public_pem, &image, &err)) {
		fprintf(stderr, "bringup image: %s: %s\n", name, err.text);
		return;
	}
	add_row(table, &image);
	json_array_append_new(list, describe(&image));
	bu_image_fini(&image);
}

BU_IMAGE_VERB(bu_image_cmd_list)
{
	static const char *const headings[] = {"NAME",    "KERNEL", ">SIZE",
					       "CREATED", "DIGEST", NULL};
	bu_autojson json_t *list = json_array();
	bu_autofree char *public_pem = NULL;
	struct bu_table *table;
	char **found;
	size_t found_count;
	int rc = 0;

	if (bu_image_list(place->images, &found, &found_count, err))
		return -1;
	if (found_count) {
		public_pem = bu_image_public_key(place->cache, err);
		rc = public_pem ? 0 : -1;
	}
	table = bu_table_create(headings);
	for (size_t i = 0; i < found_count; i++) {
		if (!rc)
			list_one(place, found[i], public_pem, table, list);
		free(found[i]);
	}
	free(found);
	if (!rc && options->json)
		print_json(list);
	else if (!rc)
		bu_out_table(table, stdout);
	bu_table_destroy(table);
	return rc;
}

static int
load(const struct bu_image_place *place, const char *name, struct bu_image *ret,
     struct bu_err *err)
{
	bu_autofree char *public_pem = bu_image_public_key(place->cache, err);

	return public_pem ? bu_image_load(place->images, name, public_pem, ret, err)
			  : -1;
}

static void
print_origin(const struct bu_image_origin *origin)
{
	if (origin->version[0])
		printf("version  %s\n", origin->version);
	for (size_t i = 0; i < origin->source_count; i++) {
		const struct bu_image_source *source = &origin->sources[i];

		printf("source   %s %s%s%s\n", bu_source_kinds[source->kind],
		       source->name, source->digest[0] ? " sha256:" : "",
		       source->digest);
	}
}

static void
print_text(const struct bu_image *image)
{
	const struct bu_manifest *manifest = image->manifest;

	printf("image    %s\ndigest   %s\nkernel   %s (%s)\ncreated  %s\nkargs    %s\n"
	       "folder   %s\nfetched  %.1f MB\n",
	       manifest->name, image->digest, manifest->kernel, manifest->arch,
	       manifest->created, manifest->kargs, image->dir,
	       image->stored_bytes / 1e6);
	print_origin(&manifest->origin);
	if (manifest->disk.sector_bytes)
		printf("disk     %.1f MB, sectors of %u bytes, SHA-256 %s\n",
		       manifest->disk.size_bytes / 1e6, manifest->disk.sector_bytes,
		       manifest->disk.digest);
	for (size_t i = 0; i < manifest->holding_count; i++)
		printf("holds    %s %s\n", manifest->holdings[i].name,
		       manifest->holdings[i].version);
	for (size_t i = 0; i < manifest->part_count; i++) {
		const struct bu_part *part = &manifest->parts[i];

		printf("part     %s: %.1f MB in %zu frames, %.1f MB fetched%s\n",
		       part->name, part->size_bytes / 1e6, part->frame_count,
		       bu_part_stored_bytes(part) / 1e6,
		       part->grow ? ", grows to the end of the disk" : "");
	}
}

BU_IMAGE_VERB(bu_image_cmd_show)
{
	struct bu_image image;
	int rc = 0;

	if (load(place, names[0], &image, err))
		return -1;
	if (options->sbom) {
		bu_autofree char *text = bu_image_sbom(&image, err);

		rc = text ? 0 : -1;
		if (text)
			puts(text);
	} else if (options->json) {
		bu_autojson json_t *value = describe(&image);

		print_json(value);
	} else {
		print_text(&image);
	}
	bu_image_fini(&image);
	return rc;
}
