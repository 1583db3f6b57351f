/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile trees for tests. Used by *_test.c alone. Invariant: a tree from here has gone
 * through the same checks as one from a directory.
 */
#include "tests/support/profiles.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

const char bu_testing_site[] = "[site]\n"                            /* 1 */
			       "format = 1\n"                        /* 2 */
			       "name = lab\n"                        /* 3 */
			       "zone = z1\n"                         /* 4 */
			       "inventory = racks.csv\n"             /* 5 */
			       "[network boot]\n"                    /* 6 */
			       "role = boot\n"                       /* 7 */
			       "cidr = 10.77.0.0/24\n"               /* 8 */
			       "addresses = 10.77.0.[11-14]\n"       /* 9 */
			       "[network fabric]\n"                  /* 10 */
			       "role = fabric\n"                     /* 11 */
			       "cidr = 10.78.0.0/24\n"               /* 12 */
			       "addresses = 10.78.0.11,10.78.0.12\n" /* 13 */
			       "nic = 1\n"                           /* 14 */
			       "rdma = rxe\n"                        /* 15 */
			       "link_gbps = 0.02\n"                  /* 16 */
			       "[image debian12]\n"                  /* 17 */
			       "[hardware vm]\n"                     /* 18 */
			       "disk = smallest\n"                   /* 19 */
			       "nics = 2\n"                          /* 20 */
			       "[cluster hpc]\n"                     /* 21 */
			       "driver = slurm\n"                    /* 22 */
			       "controller = 10.77.0.1:6817\n"       /* 23 */
			       "[validation pairs]\n"                /* 24 */
			       "fabric = fabric\n"                   /* 25 */
			       "[pool train]\n"                      /* 26 */
			       "nodes = node[001-002]\n"             /* 27 */
			       "hardware = vm\n"                     /* 28 */
			       "image = debian12\n"                  /* 29 */
			       "power = libvirt\n"                   /* 30 */
			       "networks = boot, fabric\n"           /* 31 */
			       "cluster = hpc\n"                     /* 32 */
			       "validation = pairs\n"                /* 33 */
			       "features = rxe, lab\n"               /* 34 */
			       "gres = rdma:rxe:1\n"                 /* 35 */
			       "max_unavailable = 50 %\n";           /* 36 */

const char bu_testing_racks[] =
	"name,mac,serial,bmc\n"
	"node001,52:54:00:77:00:01,LAB-001,qemu:///system#node001\n"
	"node002,52:54:00:77:00:02,LAB-002,qemu:///system#node002\n";

struct bu_tree *
bu_testing_tree(const char *path, ...)
{
	bu_autojson json_t *files = json_object(), *value = NULL;
	struct bu_tree *tree;
	struct bu_err err;
	va_list args;

	va_start(args, path);
	for (; path; path = va_arg(args, const char *))
		json_object_set_new(files, path,
				    json_string(va_arg(args, const char *)));
	va_end(args);
	value = json_pack("{sO}", "files", files);
	tree = bu_tree_from_json(value, &err);
	if (!tree) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return tree;
}

char *
bu_testing_replace(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	if (!at) {
		fprintf(stderr, "'%s' is not in the good profile\n", from);
		abort();
	}
	return bu_xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

char *
bu_testing_findings(const struct bu_findings *findings)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_findings_print(findings, out);
	fclose(out);
	return text;
}

char *
bu_testing_load(struct bu_tree *tree, struct bu_desired **ret)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);
	char *text = bu_testing_findings(&findings);

	ck_assert_int_eq(desired == NULL, findings.errors > 0);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	*ret = desired;
	return text;
}

char *
bu_testing_check(const char *site, const char *racks, struct bu_desired **ret)
{
	return bu_testing_load(
		bu_testing_tree("site.ini", site, "racks.csv", racks, NULL), ret);
}
