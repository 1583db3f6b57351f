/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's client as it grows. Called by the drivers. Invariant: what was a file's
 * content is wiped with it, for it may be a key.
 */
#include <string.h>

#include "base/crypto.h"
#include "provisioner/cluster/cluster.h"

void
bu_cluster_client_add(struct bu_cluster_client *client, const char *path, int mode,
		      const char *owner, const void *content, size_t size)
{
	struct bu_work_file *file = &client->files[client->files_count++];

	bu_assert(client->files_count <= BU_CLUSTER_FILES_MAX);
	*file = (struct bu_work_file){.path = bu_xstrdup(path), .mode = mode};
	file->owner = owner ? bu_xstrdup(owner) : NULL;
	if (bu_work_is_text(content, size)) {
		file->content = bu_xstrndup(content, size);
	} else {
		char *hex = bu_xmalloc(2 * size + 1);

		bu_hex_encode(content, size, hex);
		file->content_hex = hex;
	}
}

static void
wipe(const char *text)
{
	char *own = (char *)(uintptr_t)text;

	if (own)
		explicit_bzero(own, strlen(own));
	free(own);
}

void
bu_cluster_client_fini(struct bu_cluster_client *client)
{
	for (size_t i = 0; i < client->files_count; i++) {
		const struct bu_work_file *file = &client->files[i];

		wipe(file->path);
		wipe(file->owner);
		wipe(file->content);
		wipe(file->content_hex);
	}
	*client = (struct bu_cluster_client){.files_count = 0};
}
