/* SPDX-License-Identifier: Apache-2.0 */
/* One of a site's own checks, run as a node's agent does, for tests/system/samples:
 * site-check FILE ROOT. Prints "VERDICT TEXT". */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks/checks.h"

int
main(int argc, char **argv)
{
	bu_autofree char *content = NULL;
	bu_autojson json_t *site = NULL, *groups = json_pack("[s]", "site");
	struct bu_checks checks;
	struct bu_checks_ctx ctx = {.root = argc == 3 ? argv[2] : NULL};
	struct bu_err err = {0};

	if (argc != 3 || !strchr(argv[1], '/')) {
		fputs("site-check: FOLDER/FILE ROOT\n", stderr);
		return 1;
	}
	content = bu_file_read(argv[1], 65536, NULL, &err);
	site = content ? json_pack("[{s:s,s:s,s:i}]", "name", strrchr(argv[1], '/') + 1,
				   "content", content, "timeout_ms", 60000)
		       : NULL;
	ctx.site = site;
	if (!site || bu_checks_run(&ctx, groups, &checks, &err) != 0) {
		fprintf(stderr, "site-check: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < checks.count; i++)
		printf("%s %s%s\n", bu_verdict_names[checks.list[i].verdict],
		       checks.list[i].text, checks.list[i].seen);
	bu_checks_fini(&checks);
	return 0;
}
