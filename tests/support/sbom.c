/* SPDX-License-Identifier: Apache-2.0 */
/* The SBOM of a tree, for tests/system/sbom: sbom ROOT WORK. */
#include <stdio.h>

#include "base/json.h"
#include "images/build/sbom.h"

int
main(int argc, char **argv)
{
	struct bu_packages packages;
	struct bu_err err = {0};
	bu_autojson json_t *sbom = NULL;
	bu_autofree char *text = NULL;

	if (argc != 3 || bu_packages_read(argv[1], argv[2], &packages, &err)) {
		fprintf(stderr, "sbom: %s\n", argc == 3 ? err.text : "ROOT WORK");
		return 1;
	}
	sbom = bu_sbom_make(&packages, "small", "2023-11-14T22:13:20Z");
	text = bu_json_canonical(sbom);
	puts(text);
	bu_packages_fini(&packages);
	return 0;
}
