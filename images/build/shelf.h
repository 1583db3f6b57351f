/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing half of the store (images/store.h): puts images in, says what is there,
 * changes which one has a name, frees what nobody needs. After a stop at any point each
 * name has its old image or its new one, whole; what is left over is freed by gc.
 */
#ifndef BU_IMAGES_BUILD_SHELF_H
#define BU_IMAGES_BUILD_SHELF_H

#include "base/err.h"
#include "images/store.h"

/* Puts the finished folder into the store by its manifest's digest and gives it the
 * name. `out` is on the same file system; afterwards it is gone, or holds what can be
 * removed. Nothing has changed when it fails. */
bu_must int bu_shelf_put(const char *images_dir, const char *name, const char *out,
			 struct bu_err *err);
/* Gives the name to a stored image again; digest is in full. */
bu_must int bu_shelf_use(const char *images_dir, const struct bu_image_id *id,
			 struct bu_err *err);

/* Why it stays; NONE: gc frees it. */
enum bu_shelf_need {
	BU_NEED_NONE,
	BU_NEED_BEFORE, /* what a rollback of its name goes to */
	BU_NEED_NODES,  /* a node has it, or was ordered to get it */
	BU_NEED_NAME,   /* it has its name now */
};

struct bu_shelf_item {
	char name[BU_IMAGE_NAME_SIZE];
	char digest[BU_DIGEST_SIZE];
	int64_t stored_ms;       /* when it was put there last */
	uint64_t bytes;          /* on this disk */
	int named;               /* has its name now */
	enum bu_shelf_need need; /* by bu_shelf_judge() */
};
/* All that is stored, by name, the newest of a name first; *ret_items is owned. */
bu_must int bu_shelf_list(const char *images_dir, struct bu_shelf_item **ret_items,
			  size_t *ret_count, struct bu_err *err);
/* The one stored image of this name whose digest begins so; NULL = the newest that was
 * stored before the one that has the name now. */
bu_must int bu_shelf_find(const char *images_dir, const char *name, const char *digest,
			  struct bu_shelf_item *ret, struct bu_err *err);
/* Fills in need, of a whole list; digests are those that nodes use. */
void bu_shelf_judge(struct bu_shelf_item *items, size_t count,
		    const char *const *digests, size_t digest_count);
/* What builds that were cut off left: in the store, and the folders of tmp_dir. Only
 * under the cache's lock. A plain folder that was put aside goes into the store.
 * *ret_bytes is what they take; with `yes` they are gone. */
bu_must int bu_shelf_sweep(const char *images_dir, const char *tmp_dir, int yes,
			   uint64_t *ret_bytes, struct bu_err *err);
/* Removes one from the store; BU_ERR_STATE when it has its name. */
bu_must int bu_shelf_remove(const char *images_dir, const struct bu_shelf_item *item,
			    struct bu_err *err);

#endif
