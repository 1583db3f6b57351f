/* SPDX-License-Identifier: Apache-2.0 */
/* Each file of webui/ is served, as what it is, and nothing else is. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* The content type of a file of the page; NULL = it is none. */
static const char *
type_of(const char *name)
{
	static const char *const types[][2] = {{".html", "text/html"},
					       {".js", "text/javascript"},
					       {".css", "text/css"},
					       {".svg", "image/svg+xml"}};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && !strstr(name, "_test.") && i < BU_LEN(types); i++)
		if (strcmp(end, types[i][0]) == 0)
			return types[i][1];
	return NULL;
}

static void
is_served(struct site *site, const char *name, const char *type)
{
	bu_autofree char *file = bu_xasprintf(BU_SRCDIR "/webui/%s", name);
	bu_autofree char *want = bu_file_read(file, 0, NULL, NULL);
	bu_autofree char *path = bu_xasprintf("/%s", name);
	bu_autofree char *field = bu_xasprintf("Content-Type: %s", type);
	struct talk talk;

	site_ask(&talk, site->page, "GET", path, "");
	site_until_ended(site, &talk);
	ck_assert_msg(talk.status == (type ? 200 : 404), "%s: %d", path, talk.status);
	ck_assert_msg(!type || strcmp(talk.body, want) == 0, "%s", path);
	ck_assert_msg(!type || strstr(talk.text, field), "%s is no %s", path, type);
	talk_end(&talk);
}

START_TEST(each_file_of_the_page_is_served_and_no_other)
{
	DIR *dir = opendir(BU_SRCDIR "/webui");
	struct dirent *entry;
	struct site site;
	int files = 0;

	ck_assert_ptr_nonnull(dir);
	site_begin(&site, 1);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		is_served(&site, entry->d_name, type_of(entry->d_name));
		files += type_of(entry->d_name) != NULL;
	}
	ck_assert_int_ge(files, 5);
	site_end(&site);
	closedir(dir);
}
END_TEST

RIG_UNIT("web", each_file_of_the_page_is_served_and_no_other)
