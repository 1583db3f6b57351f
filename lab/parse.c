/* SPDX-License-Identifier: Apache-2.0 */
/* What the option parsers of the commands share. Invariant: a wrong option is an error
 * that names it, and changes nothing. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/commands.h"

int
bu_lab_fail(const char *command, const struct bu_err *err)
{
	fprintf(stderr, "bringup-lab %s: %s\n", command, err->text);
	return bu_err_exit_code(err->kind);
}

int
bu_lab_parse_dir(const char *command, int argc, char **argv, const char **ret_dir,
		 struct bu_err *err)
{
	static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
						{0}};
	int c;

	*ret_dir = NULL;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'd')
			return bu_err_set(err, BU_ERR_USAGE, 0,
					  "see bringup-lab --help");
		*ret_dir = optarg;
	}
	if (optind < argc)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "unexpected '%s'; see bringup-lab --help",
				  argv[optind]);
	return 0;
}

int
bu_lab_parse_int(const char *what, const char *text, long min, long max, int *ret,
		 struct bu_err *err)
{
	int64_t value;

	if (bu_text_int(text, min, max, &value) < 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "%s '%s': give a whole number from %ld to %ld", what,
				  text, min, max);
	*ret = (int)value;
	return 0;
}

int
bu_lab_parse_list(const char *what, const char *text, long max, unsigned long *ret_mask,
		  struct bu_err *err)
{
	bu_autofree char *copy = bu_xstrdup(text);
	unsigned long mask = 0;
	char *rest = copy, *item;
	int number = 0;

	while ((item = strsep(&rest, ","))) {
		if (bu_lab_parse_int(what, item, 1, max, &number, err) != 0)
			return -1;
		mask |= 1ul << number;
	}
	*ret_mask = mask;
	return 0;
}
