/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of partitions, by mdadm: the scratch array and the mirrored root. */
#ifndef BU_IMAGES_INSTALL_ARRAY_H
#define BU_IMAGES_INSTALL_ARRAY_H

#include "images/install/disk.h"

/* What an array is called while an install has it. */
#define BU_ARRAY_DEVICE "/dev/md127"

struct bu_array {
	const char *level; /* "raid0", as mdadm says it */
	const char *uuid;  /* text form */
	size_t count;      /* of its disks, at most BU_INSTALL_SCRATCH_MAX */
};

/* The part with this number, from 0 on; of a disk that is a file, the file. Owned. */
char *bu_array_part(const char *disk, size_t which);
/* Makes it of these and brings it up; more: further words for mdadm, NULL at the end.
 * The disks must not be open exclusively. */
bu_must int bu_array_create(const struct bu_install_opts *opts,
			    const struct bu_array *array, char *const *parts,
			    const char *const *more, struct bu_err *err);
bu_must int bu_array_stop(const struct bu_install_opts *opts, struct bu_err *err);
/* 1 when the part says that it is of this array. */
int bu_array_has(const struct bu_install_opts *opts, const struct bu_array *array,
		 const char *part);

#endif
