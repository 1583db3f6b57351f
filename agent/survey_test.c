/* SPDX-License-Identifier: Apache-2.0 */
/* A driver of a network card that hangs costs its facts alone: the inventory comes
 * without them, and what the links are is not known. */
#include "agent/survey.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inventory.h"
#include "agent/links.h"
#include "base/clock.h"
#include "base/json.h"
#include "tests/support/unit.h"

/* Of the child: what its driver does. */
static enum { ANSWERS, HANGS, CRASHES, FAILS } mood;

struct bu_inventory *__real_bu_inventory_collect(const char *root, struct bu_err *err);
struct bu_inventory *__wrap_bu_inventory_collect(const char *root, struct bu_err *err);
void __real_bu_links_collect(const char *root, struct bu_inventory *inventory);
void __wrap_bu_links_collect(const char *root, struct bu_inventory *inventory);

static void
ask_driver(void)
{
	if (mood == HANGS)
		sleep(100);
	if (mood == CRASHES)
		abort();
}

struct bu_inventory *
__wrap_bu_inventory_collect(const char *root, struct bu_err *err)
{
	ask_driver();
	if (mood != FAILS)
		return __real_bu_inventory_collect(root, err);
	bu_err_set(err, BU_ERR_NOTFOUND, 0, "no sysfs");
	return NULL;
}

void
__wrap_bu_links_collect(const char *root, struct bu_inventory *inventory)
{
	ask_driver();
	__real_bu_links_collect(root, inventory);
}

START_TEST(the_inventory_is_told)
{
	bu_autojson json_t *whole = NULL, *quiet = NULL, *links = NULL;
	struct bu_err err = {0};
	int64_t since_ms;

	mood = ANSWERS;
	whole = bu_survey_inventory(60000, &err);
	links = bu_survey_links(60000, &err);
	ck_assert_ptr_nonnull(whole);
	ck_assert(json_is_array(links));
	ck_assert_ptr_nonnull(json_object_get(whole, "boot_id"));
	ck_assert(json_is_array(json_object_get(whole, "links")));
	mood = HANGS;
	since_ms = bu_mono_ms(bu_clock_system());
	quiet = bu_survey_inventory(1000, &err);
	ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - since_ms, 60000);
	ck_assert_ptr_nonnull(quiet);
	ck_assert_str_eq(bu_json_str(quiet, "boot_id", "?"),
			 bu_json_str(whole, "boot_id", ""));
	ck_assert(json_equal(json_object_get(quiet, "disks"),
			     json_object_get(whole, "disks")));
	ck_assert_uint_eq(json_array_size(json_object_get(quiet, "links")), 0);
}
END_TEST

START_TEST(what_it_cannot_tell_is_an_error)
{
	struct bu_err err = {0};

	mood = HANGS;
	ck_assert_ptr_null(bu_survey_links(300, &err));
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	mood = CRASHES;
	err = (struct bu_err){0};
	ck_assert_ptr_null(bu_survey_links(60000, &err));
	ck_assert_str_eq(err.text, "its process died");
	err = (struct bu_err){0};
	ck_assert_ptr_null(bu_survey_inventory(60000, &err));
	ck_assert_str_eq(err.text, "its process died");
	mood = FAILS;
	err = (struct bu_err){0};
	ck_assert_ptr_null(bu_survey_inventory(60000, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_str_eq(err.text, "no sysfs");
}
END_TEST

BU_UNIT("survey", the_inventory_is_told, what_it_cannot_tell_is_an_error)
