/* SPDX-License-Identifier: Apache-2.0 */
/* The page has no list of its own: no name of a row of the model's tables is in its
 * sources. GET /v1/meta tells them. */
#include <string.h>

#include "base/file.h"
#include "model/condition.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/verb.h"
#include "tests/support/unit.h"

static const char *const files[] = {
	"index.html",       "acts.js",        "app.js",       "dom.js",
	"grid.js",          "live.js",        "login.js",     "view_images.js",
	"view_events.js",   "view_fabric.js", "view_node.js", "view_overview.js",
	"view_rollouts.js", "view_site.js",   "words.js"};
static char *page[BU_LEN(files)];

/* Comments may say what they are about. */
static void
drop_comments(char *text)
{
	for (char *at = text; (at = strstr(at, "//"));)
		for (; *at && *at != '\n'; at++)
			*at = ' ';
}

static void
is_nowhere(const char *name)
{
	bu_autofree char *quoted = bu_xasprintf("\"%s\"", name);
	bu_autofree char *key = bu_xasprintf("\t%s:", name);

	for (size_t i = 0; i < BU_LEN(page); i++) {
		ck_assert_msg(!strstr(page[i], quoted), "the page names %s", quoted);
		ck_assert_msg(!strstr(page[i], key), "the page has a row for %s", key);
	}
}

/* Words that the page needs for something else: what failed of a rollout is
 * counted. */
static int
is_meant(const char *name)
{
	static const char *const meant[] = {"failed"};

	for (size_t i = 0; i < BU_LEN(meant); i++)
		if (strcmp(meant[i], name) == 0)
			return 1;
	return 0;
}

START_TEST(no_name_of_a_table_is_in_the_page)
{
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf(BU_SRCDIR "/webui/%s", files[i]);

		page[i] = bu_file_read(path, 0, NULL, NULL);
		ck_assert_ptr_nonnull(page[i]);
		drop_comments(page[i]);
	}
	for (int state = 0; state < BU_STATE_COUNT; state++)
		if (!is_meant(bu_state_name((enum bu_state)state)))
			is_nowhere(bu_state_name((enum bu_state)state));
	for (int verb = 0; verb < BU_VERB_COUNT; verb++)
		is_nowhere(bu_verb_info((enum bu_verb)verb)->name);
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		is_nowhere(bu_condition_info((enum bu_condition_id)id)->name);
	/* Those of one word are also words of the language. */
	for (int code = 1; code < BU_REASON_COUNT; code++)
		if (strchr(bu_reason_info((enum bu_reason_code)code)->name, '-'))
			is_nowhere(bu_reason_info((enum bu_reason_code)code)->name);
	for (size_t i = 0; i < BU_LEN(files); i++)
		free(page[i]);
}
END_TEST

BU_UNIT("names", no_name_of_a_table_is_in_the_page)
