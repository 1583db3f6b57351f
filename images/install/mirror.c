/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The array of the two roots; called by target.c. The array knows of itself at the end
 * of each partition (metadata 1.0), so that the image's frames lie where they always
 * do, and a power cut costs no more than what its bitmap names. Invariant: all that is
 * written to the root after the frames goes through the array, to both.
 */
#include "images/install/mirror.h"

#include <stdlib.h>

#include "images/install/array.h"

static struct bu_array
array_of(const struct bu_install_opts *opts)
{
	return (struct bu_array){"raid1", opts->mirror_uuid, 2};
}

int
bu_mirror_begin(const struct bu_install_opts *opts, size_t which, struct bu_err *err)
{
	static const char *const more[] = {"--metadata=1.0", "--bitmap=internal",
					   "--assume-clean", "--name=root", NULL};
	bu_autofree char *first = bu_array_part(opts->disk, which);
	bu_autofree char *second = bu_array_part(opts->mirror, which);
	struct bu_array array = array_of(opts);

	if (bu_array_create(opts, &array, (char *const[]){first, second}, more, err)) {
		bu_ignore(bu_array_stop(opts, NULL));
		return bu_err_wrap(err, "mirror of %s and %s", opts->disk,
				   opts->mirror);
	}
	return 0;
}

int
bu_mirror_end(const struct bu_install_opts *opts, size_t which, struct bu_err *err)
{
	const char *const disks[] = {opts->disk, opts->mirror};
	struct bu_array array = array_of(opts);

	if (bu_array_stop(opts, err))
		return bu_err_wrap(err, "mirror of %s and %s", opts->disk,
				   opts->mirror);
	for (size_t i = 0; i < BU_LEN(disks); i++) {
		bu_autofree char *part = bu_array_part(disks[i], which);

		if (!bu_array_has(opts, &array, part))
			return bu_err_set(err, BU_ERR_IO, 0,
					  "mirror: disk %s is not in the array after "
					  "it was made",
					  disks[i]);
	}
	return 0;
}
