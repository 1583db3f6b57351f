/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which disks a step may write: those that were granted, by their world-wide names and
 * serial numbers, where the kernel of this boot has them. Called by work.c. Invariant:
 * a number that two disks tell finds neither; what was not granted is named as such,
 * and the agent takes it only where there is nothing on it; a grant to wipe or reimage
 * is for a disk that it names, not for whichever is found later.
 */
#include "provisioner/work/disks.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "profiles/load/disk.h"
#include "provisioner/config/render.h"
#include "provisioner/config/tuning.h"
#include "provisioner/node/fallback.h"

/* Paths of the disks that the order may mean, where it knows but a size; how many. */
static size_t
find_alike(const struct bu_work_input *input, const struct bu_node *node, char **ret)
{
	size_t count, found = 0;
	bu_autofree struct bu_disk *disks =
		bu_fleet_disks(input->fleet, node, 1, &count);

	for (size_t i = 0; i < count; i++) {
		if (*bu_disk_number(disks[i].serial, disks[i].wwn) ||
		    disks[i].size_bytes != node->order->disk_size_bytes)
			continue;
		bu_text_add(ret, ", ", "%s", disks[i].path);
		found++;
	}
	return found;
}

/* The disk that was known by these when it was granted; 1, or 0 = no disk is it now
 * without doubt. */
static int
find_known(const struct bu_work_input *input, const struct bu_node *node,
	   const char *serial, const char *wwn, struct bu_seen_disk *ret)
{
	size_t count;
	bu_autofree struct bu_disk *disks =
		bu_fleet_disks(input->fleet, node, 1, &count);
	const struct bu_disk *disk;

	if (!bu_disk_choose_known(serial, wwn, disks, count, &disk))
		return 0;
	bu_fleet_tell_disk(disk, "", ret);
	return 1;
}

/* Disks that tell a part of what the order knows, and are not it: its kernel name says
 * nothing of which. Where none does, the agent refuses what it finds under the name. */
static int
refuse_twins(const struct bu_work_input *input, const struct bu_node *node,
	     const char *serial, const char *wwn, struct bu_err *err)
{
	size_t count, tell;
	bu_autofree struct bu_disk *disks =
		bu_fleet_disks(input->fleet, node, 0, &count);
	bu_autofree char *paths = bu_disk_tellers(disks, count, serial, wwn, &tell);
	bu_autofree char *words = NULL;

	if (!tell)
		return 0;
	words = bu_disk_number_words(serial, wwn);
	return bu_err_set(
		err, BU_ERR_STATE, 0,
		"the order is for the disk with serial number %s; %s of %s tell%s a "
		"part of that, and none is it without doubt; nothing was written; say "
		"the disk by its world-wide name or its place ([hardware] disk = "
		"wwn:... or path:...), and plan again",
		words, paths, node->name, tell == 1 ? "s" : "");
}

/* What was granted without a number of its own has a size, and the name that it had in
 * another boot: a disk like it may have that name now. seen: NULL = there is none. */
static int
check_alike(const struct bu_work_input *input, const struct bu_node *node,
	    const char *selector, const struct bu_seen_disk *seen, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	bu_autofree char *alike = NULL;

	if (*bu_disk_number(order->disk_serial, order->disk_wwn) ||
	    !order->disk_size_bytes || !bu_class_needs_grant(order->class))
		return 0;
	if (seen && *bu_disk_number(seen->serial, seen->wwn))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "disk %s has serial number %s; the order is for one "
				  "without; nothing was written, plan again",
				  seen->path, bu_disk_number(seen->serial, seen->wwn));
	if (bu_disk_is_named(selector))
		return seen ? 0
			    : bu_err_set(err, BU_ERR_STATE, 0,
					 "%s has no disk %s now, which the order is "
					 "for; nothing was written, plan again",
					 node->name, selector);
	if (find_alike(input, node, &alike) < 2)
		return 0;
	return bu_err_set(
		err, BU_ERR_STATE, 0,
		"the order is for the disk that was %s when it was planned; it has no "
		"serial number, others of its %lld bytes have none either, and a "
		"kernel names disks anew at each boot; nothing was written; give them "
		"serial numbers (<serial> in libvirt), or say the place of this one "
		"([hardware] disk = path:...), and plan again; alike are %s",
		order->disk, (long long)order->disk_size_bytes, alike);
}

/* Which disk, as it was granted, and where its data partitions are. The kernel of this
 * boot may have given the disk another name: its number counts, or the profile's name
 * of it. What was not granted by its number is what the profile means; the agent holds
 * it to what is named here. */
static int
set_disk(struct bu_work_install *work, const struct bu_work_input *input,
	 const struct bu_node *node, const struct bu_target *target,
	 struct bu_seen_disk *seen, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	const char *selector = target->node->hardware->disk;
	int known = *bu_disk_number(order->disk_serial, order->disk_wwn) != '\0';
	const char *wanted =
		order->disk[0] && !bu_disk_is_named(selector) ? order->disk : selector;
	int found = known ? find_known(input, node, order->disk_serial, order->disk_wwn,
				       seen)
			  : bu_fleet_disk(input->fleet, node, wanted, seen) == 0;

	if ((known && !found &&
	     refuse_twins(input, node, order->disk_serial, order->disk_wwn, err) !=
		     0) ||
	    check_alike(input, node, selector, found ? seen : NULL, err) != 0)
		return -1;
	work->disk = found ? seen->path : order->disk[0] ? order->disk : selector;
	work->disk_serial = known || !found ? order->disk_serial : seen->serial;
	work->disk_wwn = known || !found ? order->disk_wwn : seen->wwn;
	work->disk_size_bytes = (int64_t)order->disk_size_bytes;
	work->wipe = order->class == BU_CLASS_WIPE && bu_order_names_disk(order);
	work->keep = order->class == BU_CLASS_REIMAGE && bu_order_names_disk(order);
	work->data_count = bu_config_data(target->desired, target->node, work->data,
					  &work->root_bytes);
	return 0;
}

/* --- the second disk of the system --- */

static int
was_granted_mirror(const struct bu_node *node)
{
	return *bu_disk_number(node->order->mirror_serial, node->order->mirror_wwn) !=
	       '\0';
}

/* {"path","serial","wwn"}: as it was granted, or what the profile means. New reference.
 */
static json_t *
find_mirror(const struct bu_work_input *input, const struct bu_node *node,
	    const struct bu_target *target, const char *wanted)
{
	const struct bu_order *order = node->order;
	struct bu_seen_disk seen;

	if (!was_granted_mirror(node))
		return bu_fleet_mirror(input->fleet, node, target->node->hardware,
				       wanted);
	if (!find_known(input, node, order->mirror_serial, order->mirror_wwn, &seen))
		return NULL;
	return json_pack("{s:s,s:s,s:s}", "path", seen.path, "serial",
			 order->mirror_serial, "wwn", order->mirror_wwn);
}

/* Each install has an array of its own: a disk that was away meanwhile is in none. */
static int
set_mirror(struct bu_work_install *work, const struct bu_work_input *input,
	   const struct bu_node *node, const struct bu_target *target,
	   struct bu_err *err)
{
	const char *wanted = bu_desired_mirror(target->node), *granted;
	bu_autojson json_t *disk = NULL;

	if (!wanted)
		return 0;
	disk = find_mirror(input, node, target, wanted);
	BU_TEXT_COPY(work->mirror, bu_json_str(disk, "path", ""));
	BU_TEXT_COPY(work->mirror_serial, bu_json_str(disk, "serial", ""));
	BU_TEXT_COPY(work->mirror_wwn, bu_json_str(disk, "wwn", ""));
	granted = bu_disk_number(node->order->mirror_serial, node->order->mirror_wwn);
	if (!work->mirror[0] || strcmp(work->mirror, work->disk) == 0 ||
	    strcmp(bu_disk_number(work->mirror_serial, work->mirror_wwn),
		   bu_disk_number(work->disk_serial, work->disk_wwn)) == 0)
		return bu_err_set(
			err, BU_ERR_STATE, 0,
			"[disks] mirror = %s: %s has no such disk now besides "
			"its system's%s%s; plan again",
			wanted, node->name, *granted ? ", and granted was " : "",
			granted);
	work->mirror_granted = *granted != '\0';
	bu_config_uuid(work->mirror_uuid, "mirror/%s", node->step.id);
	return 0;
}

/* --- two roots on the disk --- */

static void
set_roots(struct bu_work_install *work, const struct bu_node *node,
	  const struct bu_target *target)
{
	if (!bu_desired_has_two_roots(target->node))
		return;
	work->roots = 2;
	work->reuse = bu_fallback_reuses(node);
}

/* --- the array of the other disks --- */

static const char *
number_of(const struct bu_work_member *disk)
{
	return bu_disk_number(disk->serial, disk->wwn);
}

static int
by_number(const void *a, const void *b)
{
	return strcmp(number_of(a), number_of(b));
}

/* By its disks, so that it is the same array whatever its node is called, and in
 * whichever order they were found. */
static void
name_array(struct bu_work_install *work)
{
	bu_autofree char *text = bu_xstrdup("");

	qsort(work->scratch, work->scratch_count, sizeof(*work->scratch), by_number);
	for (size_t i = 0; i < work->scratch_count; i++) {
		bu_autofree char *before = text;

		text = bu_xasprintf("%s/%s", before, number_of(&work->scratch[i]));
	}
	bu_config_uuid(work->scratch_uuid, "scratch%s", text);
	for (size_t i = 0; i < work->scratch_count; i++)
		bu_config_uuid(work->scratch[i].guid, "%s/%s", work->scratch_uuid,
			       number_of(&work->scratch[i]));
}

/* The kernel of this boot may have the disk of that number elsewhere; where it is not
 * seen, the agent will not find it as it was granted. */
static void
correct_path(const struct bu_work_input *input, const struct bu_node *node,
	     struct bu_work_member *disk)
{
	struct bu_seen_disk seen;

	if (find_known(input, node, disk->serial, disk->wwn, &seen))
		BU_TEXT_COPY(disk->path, seen.path);
}

static const struct bu_field member_fields[] = {
	BU_FIELD(TEXT, struct bu_work_member, path),
	BU_FIELD(TEXT, struct bu_work_member, serial),
	BU_FIELD(TEXT, struct bu_work_member, wwn, .need = BU_SPARSE),
	BU_FIELD_END,
};

static const struct bu_field scratch_fields[] = {
	BU_FIELD_MANY(LIST, struct bu_work_install, scratch, BU_WORK_SCRATCH_MAX,
		      member_fields),
	BU_FIELD_END,
};

/* Those that were granted, and no other. Where nothing was to be granted they are what
 * the profile says, and the agent takes only empty ones and the array that it knows. */
static int
set_scratch(struct bu_work_install *work, const struct bu_work_input *input,
	    const struct bu_node *node, const struct bu_target *target,
	    struct bu_err *err)
{
	const char *wanted = bu_desired_scratch(target->node);
	const json_t *granted = node->order->scratch, *list;
	bu_autojson json_t *seen = NULL, *order = NULL;

	if (!wanted)
		return 0;
	seen = bu_fleet_scratch(input->fleet, node, target->node->hardware, wanted);
	list = json_array_size(granted) ? granted : seen;
	if (!json_array_size(list) || json_array_size(list) > BU_WORK_SCRATCH_MAX)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "[disks] scratch = %s says %zu disks of %s; allowed "
				  "are 1 to %d",
				  wanted, json_array_size(list), node->name,
				  BU_WORK_SCRATCH_MAX);
	order = json_pack("{s:O}", "scratch", list);
	if (bu_record_from_json(scratch_fields, order, work, err) != 0)
		return bu_err_wrap(err, "the order of %s", node->name);
	for (size_t i = 0; i < work->scratch_count; i++)
		correct_path(input, node, &work->scratch[i]);
	work->scratch_wipe = node->order->class == BU_CLASS_WIPE && list == granted;
	name_array(work);
	return 0;
}

json_t *
bu_work_written_disks(const struct bu_work_install *work)
{
	json_t *list = json_array();

	json_array_append_new(
		list, json_string(bu_disk_number(work->disk_serial, work->disk_wwn)));
	if (work->mirror[0])
		json_array_append_new(list,
				      json_string(bu_disk_number(work->mirror_serial,
								 work->mirror_wwn)));
	for (size_t i = 0; i < work->scratch_count; i++)
		json_array_append_new(list, json_string(number_of(&work->scratch[i])));
	return list;
}

int
bu_work_set_disks(struct bu_work_install *work, const struct bu_work_input *input,
		  const struct bu_node *node, const struct bu_target *target,
		  struct bu_seen_disk *seen, struct bu_err *err)
{
	set_roots(work, node, target);
	return set_disk(work, input, node, target, seen, err) ||
			       set_mirror(work, input, node, target, err) ||
			       set_scratch(work, input, node, target, err)
		       ? -1
		       : 0;
}
