/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the partitions of a disk are; used by install.c. Invariant: it follows from the
 * disk's size, the image and the options alone, and where data and the slots of two
 * roots lie follows without the image.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "images/install/gpt.h"

enum { ALIGN = 1024 * 1024, NAME_CHARS = 36 };

/* Of a part of the image: a disk that is written now has the right one. */
static const char *
type_of(const struct bu_part *part)
{
	return strcasecmp(part->type, BU_OLD_ESP_TYPE) == 0 ? BU_ESP_TYPE : part->type;
}

static uint64_t
align_up(uint64_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static int
check_data(const struct bu_install_opts *opts, struct bu_err *err)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (opts->data_count > BU_INSTALL_DATA_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%zu data partitions; %d at most", opts->data_count,
				  BU_INSTALL_DATA_MAX);
	for (size_t i = 0; i < opts->data_count; i++) {
		const char *guid = opts->data[i].guid, *name = opts->data[i].name;
		size_t k = 0;

		while (form[k] && (form[k] == 'x' ? isxdigit((unsigned char)guid[k])
						  : guid[k] == form[k]))
			k++;
		if (form[k] || guid[k] || !name[0] || strlen(name) > NAME_CHARS)
			return bu_err_set(
				err, BU_ERR_INVAL, 0,
				"data partition '%.40s': name or GUID is wrong", name);
	}
	return 0;
}

/* More than there is needs no exact number, and must not run over. */
static uint64_t
at_most(uint64_t bytes, uint64_t end)
{
	return bytes > end ? end + 1 : bytes;
}

/* Data lies at the end, or from root_bytes on; *end becomes where it begins. */
static int
place_data(const struct bu_install_opts *opts, struct bu_layout *layout, uint64_t *end,
	   struct bu_err *err)
{
	uint64_t need = 0, at = align_up(at_most(opts->root_bytes, *end));

	if (check_data(opts, err))
		return -1;
	for (size_t i = 0; i < opts->data_count; i++) {
		uint64_t size = align_up(at_most(opts->data[i].size_bytes, *end));

		need += size ? size : ALIGN;
	}
	if (need > *end || at > *end - need)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu MiB, the system's part %llu MiB; "
				  "%zu data partitions need %llu MiB",
				  (unsigned long long)(layout->disk_bytes >> 20),
				  (unsigned long long)(at >> 20), opts->data_count,
				  (unsigned long long)(need >> 20));
	if (!at)
		at = *end - need;
	layout->data_count = opts->data_count;
	for (size_t i = 0; i < opts->data_count; i++) {
		uint64_t size = align_up(opts->data[i].size_bytes);

		layout->data[i].begin_bytes = at;
		layout->data[i].size_bytes = size ? size : *end - at;
		layout->data[i].name = opts->data[i].name;
		layout->data[i].guid = opts->data[i].guid;
		at += layout->data[i].size_bytes;
	}
	*end = layout->data_count ? layout->data[0].begin_bytes : at;
	return 0;
}

static const char *const slot_names[2][2] = {{"ESP-a", "root-a"}, {"ESP-b", "root-b"}};

static int
check_roots(const struct bu_manifest *manifest, struct bu_err *err)
{
	const struct bu_part *parts = manifest->parts;

	if (manifest->part_count != 2 || strcmp(parts[0].name, "esp") != 0 ||
	    strcmp(parts[1].name, "root") != 0 ||
	    parts[0].size_bytes > BU_ROOTS_ESP_BYTES)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "image %s has other parts than a system partition of "
				  "at most %d MiB and a root; two roots take no other",
				  manifest->name, BU_ROOTS_ESP_BYTES >> 20);
	return 0;
}

static void
put_part(struct bu_layout *layout, uint64_t *at, uint64_t bytes,
	 const struct bu_part *part)
{
	size_t i = layout->count++;

	layout->parts[i].begin_bytes = *at;
	layout->parts[i].size_bytes = bytes;
	layout->parts[i].name = part->label;
	layout->parts[i].type = type_of(part);
	layout->parts[i].attrs = part->attrs;
	*at += bytes;
}

/* Firmware must find one system partition: those of the slots are none for it. */
static int
place_roots(const struct bu_manifest *manifest, struct bu_layout *layout, uint64_t end,
	    struct bu_err *err)
{
	const struct bu_part *parts = manifest->parts;
	uint64_t at = BU_PARTS_BEGIN, need, each;
	uint64_t fixed = at + 3ULL * BU_ROOTS_ESP_BYTES + 2ULL * BU_ROOTS_GAP_BYTES;

	if (check_roots(manifest, err))
		return -1;
	need = align_up(parts[1].size_bytes);
	each = end > fixed ? (end - fixed) / 2 / ALIGN * ALIGN : 0;
	if (each < need)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu MiB%s, two roots of image %s need "
				  "%llu MiB",
				  (unsigned long long)(layout->disk_bytes >> 20),
				  layout->data_count ? ", most of them for data" : "",
				  manifest->name,
				  (unsigned long long)((fixed + 2 * need) >> 20) + 1);
	put_part(layout, &at, BU_ROOTS_ESP_BYTES, &parts[0]);
	for (size_t slot = 0; slot < 2; slot++) {
		at += BU_ROOTS_GAP_BYTES;
		put_part(layout, &at, BU_ROOTS_ESP_BYTES, &parts[0]);
		layout->parts[layout->count - 1].type = BU_DATA_TYPE;
		layout->parts[layout->count - 1].attrs = 0;
		layout->parts[layout->count - 1].name = slot_names[slot][0];
		put_part(layout, &at, each, &parts[1]);
		layout->parts[layout->count - 1].name = slot_names[slot][1];
	}
	return 0;
}

static int
place_parts(const struct bu_manifest *manifest, const struct bu_install_opts *opts,
	    struct bu_layout *layout, uint64_t end, struct bu_err *err)
{
	uint64_t at = BU_PARTS_BEGIN, tail = bu_gpt_tail_bytes(layout->sector_bytes);

	for (size_t i = 0; i < manifest->part_count; i++) {
		const struct bu_part *part = &manifest->parts[i];
		uint64_t begin = at, need = align_up(part->size_bytes);

		put_part(layout, &at, need, part);
		if (opts->mirror && strcmp(part->name, "root") == 0) {
			need += ALIGN;
			layout->parts[i].size_bytes = need;
			layout->parts[i].name = BU_MIRROR_LABEL;
			layout->parts[i].type = BU_RAID_TYPE;
		}
		at = begin + need;
		if (part->grow && at < end)
			layout->parts[i].size_bytes = end - begin;
	}
	if (at > end)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu MiB%s, image %s needs %llu MiB",
				  (unsigned long long)(layout->disk_bytes >> 20),
				  layout->data_count ? ", most of them for data" : "",
				  manifest->name,
				  (unsigned long long)((at + tail + ALIGN - 1) >> 20));
	return 0;
}

int
bu_layout_make(const struct bu_manifest *manifest, const struct bu_install_opts *opts,
	       uint64_t disk_bytes, uint32_t sector_bytes, struct bu_layout *ret,
	       struct bu_err *err)
{
	struct bu_layout layout = {.disk_bytes = disk_bytes,
				   .sector_bytes = sector_bytes};
	uint64_t tail = bu_gpt_tail_bytes(sector_bytes);
	uint64_t end = disk_bytes > tail ? (disk_bytes - tail) / ALIGN * ALIGN : 0;

	if ((opts->data_count || opts->root_bytes) &&
	    place_data(opts, &layout, &end, err))
		return -1;
	if (opts->roots == 2 ? place_roots(manifest, &layout, end, err)
			     : place_parts(manifest, opts, &layout, end, err))
		return -1;
	*ret = layout;
	return 0;
}
