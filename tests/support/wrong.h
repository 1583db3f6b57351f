/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that each change one thing in the good profile and name all findings. */
#ifndef BU_TESTS_SUPPORT_WRONG_H
#define BU_TESTS_SUPPORT_WRONG_H

#include <stdio.h>
#include <string.h>

#include "profiles/load/load.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

/* A pool with two networks of its own, the settings of the second one last. */
#define MORE_POOL(of_node)                                                             \
	"max_unavailable = 50 %\n[hardware big]\ndisk = smallest\n"                    \
	"[node x1]\nserial = X\nbmc = \"qemu:///system#x1\"\n" of_node                 \
	"[pool more]\nnodes = x1\nhardware = big\nimage = debian12\n"                  \
	"power = libvirt\nnetworks = boot, s, t\n"                                     \
	"[network s]\nrole = storage\ncidr = 10.91.0.0/24\naddresses = 10.91.0.2\n"
#define MORE_NETWORK                                                                   \
	"[network t]\nrole = storage\ncidr = 10.92.0.0/24\naddresses = 10.92.0.2\n"

struct wrong {
	const char *from, *to; /* in site.ini, or in racks.csv when it is not there */
	const char *want;
};

static inline void
wrong_check(const struct wrong *rows, size_t count)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct wrong *row = &rows[i];
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, row->from, row->to);
		struct bu_desired *desired;
		bu_autofree char *text =
			bu_testing_check(site, bu_testing_racks, &desired);

		bu_desired_destroy(desired);
		if (strcmp(text, row->want) == 0)
			continue;
		failed++;
		fprintf(stderr, "row %zu '%s':\n-- got\n%s-- want\n%s", i, row->to,
			text, row->want);
	}
	ck_assert_int_eq(failed, 0);
}

#endif
