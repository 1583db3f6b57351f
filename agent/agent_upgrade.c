/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches the appliance's agent into a slot, or puts this one into a new system; called
 * by jobs.c. Invariant: no byte of a bundle is used before the list that names it was
 * verified: its digest with what the appliance ordered, its signature with the keys of
 * the order, its version with the appliance's own.
 */
#include "agent/agent_upgrade.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/slots.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/record.h"
#include "images/manifest.h"

enum { CALL_MS = 60000, SIG_MAX = 4096 };

static const char installed_dir[] = "/usr/lib/bringup";

static void *
fetch(void *arg, const struct bu_bundle_file *file, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("/%s", file->sha256);
	bu_autofree char *content = NULL;
	size_t size = 0;

	content = bu_http_get(arg, path, (size_t)file->size_bytes + 1, CALL_MS, &size,
			      err);
	if (content && size != (size_t)file->size_bytes) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%zu bytes came, the signed list says %lld", size,
			   (long long)file->size_bytes);
		return NULL;
	}
	return bu_steal(&content);
}

static int
verify(const struct bu_work_agent *work, const char *text, size_t size, const char *sig,
       struct bu_bundle *ret, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(text, size, digest);
	if (strcmp(digest, work->digest) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "its list has SHA-256 %s, ordered was %s", digest,
				  work->digest);
	if (bu_manifest_verify(text, size, sig, work->key, err) != 0 ||
	    bu_bundle_parse(text, size, ret, err) != 0)
		return -1;
	if (strcmp(ret->version, work->version) == 0)
		return 0;
	bu_err_set(err, BU_ERR_VERIFY, 0, "it is agent %s, the appliance is %s",
		   ret->version, work->version);
	bu_bundle_fini(ret);
	return -1;
}

static int
change(const char *dir, const struct bu_work_agent *work, struct bu_http *http,
       struct bu_err *err)
{
	const struct bu_slot_source source = {fetch, http};
	size_t size = 0;
	bu_autofree char *text = bu_http_get(http, "/bundle.json", BU_BUNDLE_LIST_MAX,
					     CALL_MS, &size, err);
	bu_autofree char *sig =
		text ? bu_http_get(http, "/bundle.sig", SIG_MAX, CALL_MS, NULL, err)
		     : NULL;
	struct bu_bundle bundle;
	int rc;

	if (!sig || verify(work, text, size, sig, &bundle, err) != 0)
		return -1;
	rc = bu_slots_fill(dir, &bundle, text, &source, err);
	if (rc == 0)
		rc = bu_slots_switch(dir, &bundle, err);
	bu_bundle_fini(&bundle);
	return rc;
}

int
bu_agent_upgrade_change(const char *dir, const struct bu_work_agent *work,
			struct bu_err *err)
{
	const struct bu_http_opts opts = {.base_url = work->base_url};
	struct bu_http *http = bu_http_create(&opts);
	int rc = change(dir, work, http, err);

	bu_http_destroy(http);
	return rc == 0 ? 0 : bu_err_wrap(err, "agent %s", work->version);
}

int
bu_agent_upgrade_item(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		      struct bu_err *err)
{
	struct bu_work_agent work;
	const char *dir = bu_slots_dir();

	if (!link->identity->installed || !dir)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "this agent came with its image and does not travel; "
				  "the next installation brings one that does");
	if (bu_record_from_json(bu_work_agent_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "agent");
	return bu_agent_upgrade_change(dir, &work, err);
}

/* What started us starts the new one. */
void
bu_agent_upgrade_after(const json_t *item, int failed)
{
	if (failed)
		return;
	bu_info("agent-upgrade", "agent %s takes over",
		bu_json_str(item, "version", "?"));
	exit(0);
}

/* --- a new system --- */

static struct bu_install_file *
add(struct bu_brought *list, char *path, mode_t mode, char *content, size_t size)
{
	struct bu_install_file *file = &list->files[list->count++];

	*file = (struct bu_install_file){path, mode, content, size};
	return file;
}

/* A file of the slot that we run from. */
static int
add_file(struct bu_brought *list, const char *from, const char *name, char *to,
	 mode_t mode, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", from, name);
	size_t size = 0;
	char *content = bu_file_read(path, BU_BUNDLE_FILE_MAX, &size, err);

	add(list, to, mode, content, size);
	return content ? 0 : -1;
}

static int
bring(struct bu_brought *list, const struct bu_bundle *bundle, struct bu_err *err)
{
	const char *slot = getenv("BRINGUP_SLOT"), *dir = installed_dir;
	bu_autofree char *from = bu_xasprintf("%s/%s", bu_slots_dir(), slot);

	for (size_t i = 0; i < bundle->files_count; i++) {
		const struct bu_bundle_file *file = &bundle->files[i];

		if (add_file(list, from, file->path,
			     bu_xasprintf("%s/%s/%s", dir, slot, file->path),
			     (mode_t)file->mode, err) != 0)
			return -1;
	}
	if (add_file(list, from, "bundle.json",
		     bu_xasprintf("%s/%s/bundle.json", dir, slot), 0644, err) != 0 ||
	    add_file(list, from, "agent", bu_xasprintf("%s/agent", dir), 0755, err) !=
		    0)
		return -1;
	add(list, bu_xasprintf("%s/conf", dir), S_IFLNK, bu_xstrdup("current/ibv"), 0);
	add(list, bu_xasprintf("%s/current", dir), S_IFLNK, bu_xstrdup(slot), 0);
	return 0;
}

int
bu_agent_upgrade_bring(struct bu_brought *ret, struct bu_err *err)
{
	struct bu_bundle bundle;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (!bu_slots_dir())
		return 0;
	if (bu_slots_running(&bundle, err) != 0)
		return bu_err_wrap(err, "the agent of this ramdisk");
	ret->files = bu_xcalloc(bundle.files_count + 4, sizeof(*ret->files));
	rc = bring(ret, &bundle, err);
	bu_bundle_fini(&bundle);
	if (rc != 0)
		bu_brought_fini(ret);
	return rc == 0 ? 0 : bu_err_wrap(err, "the agent of this ramdisk");
}

void
bu_brought_fini(struct bu_brought *brought)
{
	for (size_t i = 0; i < brought->count; i++) {
		free((char *)(uintptr_t)brought->files[i].path);
		free((char *)(uintptr_t)brought->files[i].content);
	}
	free(brought->files);
	memset(brought, 0, sizeof(*brought));
}
