/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped data fits what the profiles may name. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "fabric/judge/gpus.h"
#include "profiles/load/gpu.h"
#include "tests/support/unit.h"

START_TEST(each_gpu_model_of_the_profiles_has_a_row)
{
	bu_autofree char *text =
		bu_file_read(BU_SRCDIR "/data/gpus.json", 0, NULL, NULL);
	bu_autojson json_t *gpus = NULL;
	bu_autofree char *models = bu_xstrdup(BU_GPU_MODELS);
	char *rest = models, *model;
	struct bu_rates rates;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(text);
	gpus = bu_json_parse(text, strlen(text), "gpus.json", NULL);
	ck_assert_int_eq(bu_rates_load(BU_SRCDIR "/data/rates.json", &rates, NULL), 0);
	while ((model = strsep(&rest, "|"))) {
		bu_autojson json_t *expect =
			bu_gpus_expect(gpus, &rates, model, 8, &err);

		ck_assert_msg(expect != NULL, "%s", err.text);
		ck_assert(bu_json_bool(expect, "measure", 0) ==
			  (strncmp(model, "mi", 2) != 0));
	}
	bu_rates_fini(&rates);
}
END_TEST

BU_UNIT("data", each_gpu_model_of_the_profiles_has_a_row)
