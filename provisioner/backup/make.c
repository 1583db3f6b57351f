/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a backup of a running appliance; bringupd starts it as a child. Invariant: the
 * log in the backup has the row of its anchor, and work is left behind in one folder of
 * the state directory alone, which the next one clears.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "provisioner/backup/backup.h"
#include "provisioner/store/store.h"

static int
add_keys(struct bu_pack *pack, const char *dir, struct bu_err *err)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	if (!folder)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", dir);
	while ((entry = readdir(folder))) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, entry->d_name);
		bu_autofree char *name = bu_xasprintf("keys/%s", entry->d_name);
		struct stat st;

		if (bu_path_is_name(entry->d_name) && lstat(path, &st) == 0 &&
		    S_ISREG(st.st_mode))
			bu_pack_add(pack, name, path);
	}
	closedir(folder);
	return 0;
}

/* The copy has no writer, and may be opened as a log is. */
static int
check_copy(const char *path, const json_t *anchor, struct bu_err *err)
{
	bu_autofree char *lock = bu_xasprintf("%s.lock", path);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, err);
	const char *text = bu_json_str(anchor, "text", "");
	bu_autojson json_t *body = bu_json_parse(text, strlen(text), "anchor", err);
	struct bu_chain at = {0};
	int64_t seq = bu_json_int(body, "seq", 0);
	int rc = store && body ? bu_store_verify(store, &at, (size_t)seq, err) : -1;

	if (rc == 0 && (!seq || at.seq != seq ||
			strcmp(at.hash, bu_json_str(body, "hash", "")) != 0))
		rc = bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"the copy of the log does not have the row of its "
			"anchor; look at the disk, and ask bringup audit verify");
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	unlink(lock);
	return rc;
}

static int
collect(const struct bu_backup_ask *ask, const char *work, struct bu_pack *pack,
	struct bu_err *err)
{
	bu_autofree char *log = bu_xasprintf("%s/journal.db", ask->state);
	bu_autofree char *copy = bu_xasprintf("%s/journal.db", work);
	bu_autofree char *anchor = bu_xasprintf("%s/anchor.json", work);
	bu_autofree char *keys = bu_xasprintf("%s/keys", ask->state);
	bu_autofree char *text = json_dumps(ask->anchor, JSON_COMPACT | JSON_SORT_KEYS);

	if (bu_file_write(anchor, text, strlen(text), 0600, err) != 0 ||
	    bu_store_snapshot(log, copy, err) != 0 ||
	    check_copy(copy, ask->anchor, err) != 0)
		return -1;
	bu_pack_add(pack, "anchor.json", anchor);
	if (bu_file_exists(ask->conf))
		bu_pack_add(pack, "bringupd.conf", ask->conf);
	if (ask->with_keys && add_keys(pack, keys, err) != 0)
		return -1;
	bu_pack_add(pack, "journal.db", copy);
	return 0;
}

static int
make_in(const struct bu_backup_ask *ask, const char *work, struct bu_backup_made *ret,
	struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/backup", work);
	bu_autoclose int fd =
		open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct bu_pack pack = {0};
	int rc;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
	rc = collect(ask, work, &pack, err);
	if (rc == 0)
		rc = bu_pack_write(&pack, ask->recipient, fd, ret, err);
	bu_pack_fini(&pack);
	return rc == 0 ? bu_deliver(ask, path, ret, err) : -1;
}

int
bu_backup_make(const struct bu_backup_ask *ask, struct bu_backup_made *ret,
	       struct bu_err *err)
{
	bu_autofree char *work = bu_xasprintf("%s/backup", ask->state);
	int rc;

	/* What one before left that was killed. */
	if (bu_remove_tree(work, err) != 0 || bu_mkdir_p(work, 0700, err) != 0)
		return -1;
	rc = make_in(ask, work, ret, err);
	bu_ignore(bu_remove_tree(work, NULL));
	return rc;
}
