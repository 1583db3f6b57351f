/* SPDX-License-Identifier: Apache-2.0 */
/* The orders of versions, judged by dpkg and rpm themselves over pairs that people and
 * chance made. */
#include "images/build/versions.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

enum { RANDOM = 150 };

static const char *const words[] = {
	"1",
	"1.0",
	"1.0-1",
	"1.0-1+b1",
	"1:0.9-1",
	"0:1.0-1",
	"1.0~rc1-1",
	"1.0~rc1~git-1",
	"1.0~~",
	"1.0~",
	"1.0a",
	"1.0+",
	"1.0.a",
	"1.0.",
	"01.00-01",
	"10.0-1",
	"9.9-9",
	"2.36-9+deb12u4",
	"2.36-9+deb12u10",
	"2.36-9",
	"1.0-1ubuntu0.22.04.3",
	"1.0-2-1",
	"1.0-2.1",
	"1.2.3",
	"99999999999999999999999999999999999-1",
	"2:1-0",
	"1.0-0",
	"5.1.8-6.el9_1",
	"5.1.8-6.el9",
	"1.0^git1-1",
	"1.0^-1",
	"1.0^~-1",
	"1.0A-1",
	"1.0Z-1",
	"1a1-1",
	"1aa1-1",
};

struct pairs {
	char *list; /* "a b" a line */
	const char **a, **b;
	size_t count;
	char *made[2 * RANDOM];
};

/* Any text of these is a version, once a digit is in front. */
static char *
any(unsigned int *seed, const char *bytes)
{
	char text[16] = "";
	size_t size = 2 + (*seed = *seed * 1103515245 + 12345) / 65536 % 8;

	text[0] = (char)('0' + *seed / 65536 % 3);
	for (size_t i = 1; i < size; i++) {
		*seed = *seed * 1103515245 + 12345;
		text[i] = bytes[*seed / 65536 % strlen(bytes)];
	}
	if (text[size - 1] == '-') /* dpkg takes no empty revision */
		text[size - 1] = '0';
	return bu_xstrdup(text);
}

static void
add_pair(struct pairs *pairs, const char *a, const char *b)
{
	pairs->a[pairs->count] = a;
	pairs->b[pairs->count++] = b;
}

static void
make_pairs(struct pairs *pairs, const char *bytes)
{
	bu_autofree char *with_epochs = bu_xasprintf("%s:", bytes);
	size_t all = BU_LEN(words) * BU_LEN(words) + RANDOM, size = all * 100;
	unsigned int seed = 7;
	FILE *file;

	memset(pairs, 0, sizeof(*pairs));
	pairs->a = bu_xcalloc(all, sizeof(*pairs->a));
	pairs->b = bu_xcalloc(all, sizeof(*pairs->b));
	for (size_t i = 0; i < BU_LEN(words); i++)
		for (size_t k = i; k < BU_LEN(words); k++)
			if (strspn(words[i], with_epochs) == strlen(words[i]) &&
			    strspn(words[k], with_epochs) == strlen(words[k]))
				add_pair(pairs, words[i], words[k]);
	for (size_t i = 0; i < 2 * RANDOM; i += 2) {
		pairs->made[i] = any(&seed, bytes);
		pairs->made[i + 1] = any(&seed, bytes);
		add_pair(pairs, pairs->made[i], pairs->made[i + 1]);
	}
	pairs->list = bu_xmalloc(size);
	file = fmemopen(pairs->list, size, "w");
	for (size_t i = 0; i < pairs->count; i++)
		fprintf(file, "%s %s\n", pairs->a[i], pairs->b[i]);
	fputc('\0', file);
	fclose(file);
}

static void
free_pairs(struct pairs *pairs)
{
	for (size_t i = 0; i < 2 * RANDOM; i++)
		free(pairs->made[i]);
	free(pairs->list);
	free(pairs->a);
	free(pairs->b);
}

/* The command prints '<', '=' or '>' for each line. */
static void
judge(const char *bytes, const char *command,
      int (*compare)(const char *, const char *))
{
	char dir[] = "/tmp/bringup-versions-XXXXXX";
	struct pairs pairs;
	bu_autofree char *path = NULL, *said = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_pairs(&pairs, bytes);
	path = bu_xasprintf("%s/pairs", dir);
	ck_assert_int_eq(
		bu_file_write(path, pairs.list, strlen(pairs.list), 0644, NULL), 0);
	said = shell_told(dir, command);
	ck_assert_uint_eq(strlen(said), pairs.count);
	ck_assert_uint_gt(pairs.count, 600);
	for (size_t i = 0; i < pairs.count; i++) {
		int order = compare(pairs.a[i], pairs.b[i]);

		ck_assert_msg("<=>"[order + 1] == said[i], "%s %c %s by the judge",
			      pairs.a[i], said[i], pairs.b[i]);
		ck_assert_int_eq(compare(pairs.b[i], pairs.a[i]), -order);
	}
	free_pairs(&pairs);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(debs_are_as_dpkg_says)
{
	BU_NEEDS("dpkg");
	judge("0123456789abcdeglntuwxyzAZ.+~-",
	      "while read -r a b; do if dpkg --compare-versions \"$a\" lt \"$b\"; then "
	      "printf '<'; elif dpkg --compare-versions \"$a\" eq \"$b\"; then printf "
	      "'='; else printf '>'; fi; done <pairs 2>/dev/null",
	      bu_deb_compare);
}
END_TEST

START_TEST(rpms_are_as_rpm_says)
{
	BU_NEEDS("rpm");
	judge("0123456789abdelgitAZ._+~^-",
	      "rpm --eval '%{lua: for line in io.lines(\"pairs\") do local a, b = "
	      "line:match(\"(%S+) (%S+)\"); local r = rpm.vercmp(a, b); "
	      "io.write(r < 0 and \"<\" or r > 0 and \">\" or \"=\") end }' | tr -d "
	      "'\\n'",
	      bu_rpm_compare);
}
END_TEST

/* Longer than any that a package has: compared as far as there is room, each text on
 * its own. */
START_TEST(a_version_of_any_length_has_its_place)
{
	for (size_t size = 250; size < 260; size++) {
		bu_autofree char *a = bu_xcalloc(1, size + 3);
		bu_autofree char *b = bu_xcalloc(1, size + 3);

		memset(a, '1', size);
		memset(b, '1', size);
		memcpy(a + size, "-1", 2);
		memcpy(b + size, "-2", 2);
		ck_assert_int_eq(bu_rpm_compare(a, b), -1);
		ck_assert_int_eq(bu_rpm_compare(b, a), 1);
		b[0] = '2';
		ck_assert_int_eq(bu_rpm_compare(a, b), -1);
		ck_assert_int_eq(bu_rpm_compare(b, a), 1);
		ck_assert_int_eq(bu_rpm_compare(b, "9-1"), 1);
	}
}
END_TEST

BU_UNIT("versions", a_version_of_any_length_has_its_place, debs_are_as_dpkg_says,
	rpms_are_as_rpm_says)
