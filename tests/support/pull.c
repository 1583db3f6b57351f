/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pull SOURCE DIR WORK: the image of a registry ("oci://...") into a folder, as
 * `bringup image import` does it before it looks at what it got.
 */
#include <stdio.h>

#include "images/build/registry.h"

int
main(int argc, char **argv)
{
	struct bu_oci_image image;
	struct bu_err err = {0};

	if (argc != 4) {
		fputs("usage: pull SOURCE DIR WORK\n", stderr);
		return 1;
	}
	if (bu_registry_unpack(argv[1], &(struct bu_oci_want){.arch = "amd64"},
			       &(struct bu_oci_room){argv[2], argv[3]}, &image, &err)) {
		fprintf(stderr, "pull: %s\n", err.text);
		return bu_err_exit_code(err.kind);
	}
	puts(image.digest);
	return 0;
}
