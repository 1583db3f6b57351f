/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A boot medium in a virtual drive of the BMC; called by driver.c. Drives hang under
 * the system or under its managers; some take an action, some a PATCH, and some list
 * themselves and take neither. Invariant: success was read: the drive shows the image
 * that was asked for, or no image of ours.
 */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "base/url.h"
#include "provisioner/power/redfish/redfish.h"

enum { DRIVES_MAX = 8, READS = 10, BUSY_MAX = 3, BODIES = 4 };

struct drive {
	char path[RF_PATH_SIZE];
	char insert[RF_PATH_SIZE], eject[RF_PATH_SIZE]; /* "" = by PATCH */
	int full, ours; /* something is in it; it is from this appliance */
};

struct drives {
	const char *url; /* of the image, or where all of ours are */
	struct drive list[DRIVES_MAX];
	size_t count;
	int seen; /* with those that are no CD */
};

/* The path behind the host: some BMCs show no more of it. */
static const char *
path_of(const char *url)
{
	struct bu_url parts;

	return bu_url_parse(url, &parts) == 0 && parts.scheme[0] && parts.path[0] == '/'
		       ? parts.path
		       : url;
}

static int
is_ours(const char *image, const char *url)
{
	const char *ours = path_of(url), *shown = path_of(image);

	return *image && strncmp(shown, ours, strlen(ours)) == 0;
}

/* --- which drive --- */

static int
is_cd(const json_t *member)
{
	const json_t *types = json_object_get(member, "MediaTypes"), *type;
	size_t i;

	json_array_foreach (types, i, type)
		if (json_is_string(type) && (!strcmp(json_string_value(type), "CD") ||
					     !strcmp(json_string_value(type), "DVD")))
			return 1;
	return 0;
}

static void
read_action(const struct rf_op *op, const json_t *member, const char *name,
	    char ret[RF_PATH_SIZE])
{
	const json_t *action =
		json_object_get(json_object_get(member, "Actions"), name);

	if (rf_path(op->bmc, bu_json_str(action, "target", ""), ret) != 0)
		ret[0] = '\0';
}

/* Lenovo's RDOC drives hold what was uploaded to the BMC, and take no address. */
static int
on_drive(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	struct drives *drives = arg;
	struct drive *drive = &drives->list[drives->count];
	const char *image = bu_json_str(member, "Image", "");

	drives->seen++;
	if (!is_cd(member) || drives->count == DRIVES_MAX ||
	    strncasecmp(bu_json_str(member, "Id", ""), "RDOC", 4) == 0)
		return 0;
	drives->count++;
	strcpy(drive->path, path);
	read_action(op, member, "#VirtualMedia.InsertMedia", drive->insert);
	read_action(op, member, "#VirtualMedia.EjectMedia", drive->eject);
	drive->full = bu_json_bool(member, "Inserted", 0) || *image;
	drive->ours = is_ours(image, drives->url);
	return 0;
}

static int
visit(struct rf_op *op, const json_t *object, struct drives *drives, struct bu_err *err)
{
	char link[RF_PATH_SIZE];

	rf_link(op, object, "VirtualMedia", link);
	return link[0] ? rf_members(op, link, on_drive, drives, err) : 0;
}

static int
visit_manager(struct rf_op *op, const json_t *link, struct drives *drives,
	      struct bu_err *err)
{
	bu_autojson json_t *manager = NULL;
	char path[RF_PATH_SIZE];

	if (rf_path(op->bmc, bu_json_str(link, "@odata.id", ""), path) != 0)
		return 0;
	manager = rf_get(op, path, NULL, err);
	return manager ? visit(op, manager, drives, err) : -1;
}

/* A manager that does not answer is no matter where another has drives. */
static int
find(struct rf_op *op, struct drives *drives, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	const json_t *managers =
		json_object_get(json_object_get(system, "Links"), "ManagedBy");
	bu_autojson json_t *first = NULL;
	struct bu_err why = {0};
	const json_t *one;
	size_t i;

	if (!system || visit(op, system, drives, err) != 0)
		return -1;
	json_array_foreach (managers, i, one)
		if (visit_manager(op, one, drives, &why) != 0 && rf_go_on(op, err) != 0)
			return -1;
	if (i == 0 && drives->count == 0 && (first = rf_manager(op, system, NULL)) &&
	    visit(op, first, drives, &why) != 0 && rf_go_on(op, err) != 0)
		return -1;
	if (drives->count > 0 || !why.kind)
		return rf_go_on(op, err);
	*err = why;
	return -1;
}

/* --- what is in it --- */

/* An empty drive of Dell goes on saying Inserted: the image counts. Some keep its name
 * and no address. */
static int
shows(struct rf_op *op, const struct drive *drive, const char *url, int in)
{
	bu_autojson json_t *now = rf_get(op, drive->path, NULL, NULL);
	const char *image = bu_json_str(now, "Image", "");
	const char *name = bu_json_str(now, "ImageName", ""),
		   *slash = strrchr(url, '/');
	int inserted = bu_json_bool(now, "Inserted", *image != '\0');

	if (!now)
		return 0;
	if (in)
		return inserted &&
		       (is_ours(image, url) || (slash && strcmp(name, slash + 1) == 0));
	return !inserted || !*image;
}

static int
comes_to_show(struct rf_op *op, const struct drive *drive, const char *url, int in)
{
	for (int i = 0; i < READS; i++) {
		if (shows(op, drive, url, in))
			return 1;
		if (rf_pause(op, op->driver->times.settle_ms, NULL) != 0)
			return 0;
	}
	return 0;
}

/* --- changes --- */

static int
act(struct rf_op *op, const char *action, const json_t *body, struct bu_err *err)
{
	for (int i = 0;; i++) {
		int rc = rf_action(op, action, body, err);

		if (rc == 0 || err->kind != BU_ERR_BUSY)
			return rc;
		err->kind = BU_ERR_REMOTE;
		if (i == BUSY_MAX ||
		    rf_pause(op, op->driver->times.again_ms << i, NULL) != 0)
			return -1;
	}
}

static int
eject(struct rf_op *op, const struct drive *drive, struct bu_err *err)
{
	bu_autojson json_t *none = json_object();
	bu_autojson json_t *out = json_pack("{s:n}", "Image");
	struct bu_err why = {0};
	int rc;

	rc = drive->eject[0]
		     ? act(op, drive->eject, none, &why)
		     : (rf_patch(op, drive->path, out, &why) == RF_TAKEN ? 0 : -1);
	/* Another may have been faster. */
	if (comes_to_show(op, drive, "", 0))
		return 0;
	if (rc == 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "%s: the BMC took the ejection from %s, and shows an "
				  "image there",
				  op->bmc->origin, drive->path);
	*err = why;
	return -1;
}

/* The ways to say it: BMCs want more, or refuse what they do not know. */
static json_t *
body_of(const char *url, int way)
{
	const char *protocol = strncmp(url, "https:", 6) == 0 ? "HTTPS" : "HTTP";

	switch (way) {
	case 0:
		return json_pack("{s:s,s:b,s:b}", "Image", url, "Inserted", 1,
				 "WriteProtected", 1);
	case 1:
		return json_pack("{s:s}", "Image", url);
	case 2:
		return json_pack("{s:s,s:s,s:s}", "Image", url, "TransferProtocolType",
				 protocol, "TransferMethod", "Stream");
	default:
		return json_pack("{s:s,s:s,s:s,s:s}", "Image", url,
				 "TransferProtocolType", protocol, "UserName", "none",
				 "Password", "none");
	}
}

static void
append(struct bu_err *err, const struct bu_err *why)
{
	bu_autofree char *first = bu_xstrdup(err->text);

	bu_err_set(err, err->kind, 0, "%s; said otherwise: %s", first, why->text);
}

/* 0 when it shows it. A BMC that took it and does not show it is asked no further. */
static int
insert(struct rf_op *op, const struct drive *drive, const char *url, struct bu_err *err)
{
	for (int way = 0; way < BODIES; way++) {
		bu_autojson json_t *body = body_of(url, way);
		struct bu_err why = {0};
		int rc = drive->insert[0]
				 ? act(op, drive->insert, body, &why)
				 : (rf_patch(op, drive->path, body, &why) == RF_TAKEN
					    ? 0
					    : -1);

		if (rc == 0 && comes_to_show(op, drive, url, 1))
			return 0;
		if (rc == 0)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "%s: the BMC took the image into %s, and "
					  "does not show it there",
					  op->bmc->origin, drive->path);
		/* Of the standard's way, and of the last one. */
		if (way == 0)
			*err = why;
		else if (way == BODIES - 1)
			append(err, &why);
		if (rf_go_on(op, err) != 0)
			return -1;
	}
	return -1;
}

static int
fail_none(const struct rf_op *op, const struct drives *drives, struct bu_err *err)
{
	return bu_err_set(
		err, BU_ERR_REMOTE, 0,
		"%s: the BMC has %d virtual drives, and no CD among them that "
		"takes an address; this class cannot have boot = media",
		op->bmc->origin, drives->seen);
}

/* Into an empty drive where there is one; those with an action first. */
static int
rank(const struct drive *drive)
{
	return (drive->ours ? 4 : 0) + (drive->full ? 0 : 2) + (drive->insert[0] != 0);
}

static struct drive *
best(struct drives *drives)
{
	struct drive *best = NULL;

	for (size_t i = 0; i < drives->count; i++)
		if (drives->list[i].path[0] &&
		    (!best || rank(&drives->list[i]) > rank(best)))
			best = &drives->list[i];
	return best;
}

int
rf_media_insert(struct rf_op *op, struct bu_err *err)
{
	struct drives drives = {.url = op->media};
	struct bu_err swallowed = {0};
	struct drive *drive;

	if (find(op, &drives, err) != 0)
		return -1;
	if (drives.count == 0)
		return fail_none(op, &drives, err);
	while ((drive = best(&drives))) {
		if (drive->ours && shows(op, drive, op->media, 1))
			return 0;
		if ((!drive->full || eject(op, drive, err) == 0) &&
		    insert(op, drive, op->media, err) == 0)
			return 0;
		if (rf_go_on(op, err) != 0)
			return -1;
		/* What another one refuses afterwards says less. */
		if (err->kind == BU_ERR_VERIFY && !swallowed.kind)
			swallowed = *err;
		drive->path[0] = '\0'; /* some take neither, and another does */
	}
	if (swallowed.kind)
		*err = swallowed;
	return -1;
}

int
rf_media_eject(struct rf_op *op, struct bu_err *err)
{
	struct drives drives = {.url = op->media};

	if (find(op, &drives, err) != 0)
		return -1;
	for (size_t i = 0; i < drives.count; i++)
		if (drives.list[i].ours && eject(op, &drives.list[i], err) != 0)
			return -1;
	return 0;
}
