/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a probe's work item; called by the soak and the loopback check. Invariant: a
 * rail that fails costs no other rail its result.
 */
#include "fabric/probe/rails.h"

#include <pthread.h>
#include <string.h>

struct rail {
	struct bu_pair_opts opts;
	struct bu_pair_result result;
	struct bu_err err;
	pthread_t thread;
	int runs, rc;
};

void
bu_rails_drop(struct bu_rails_kept *kept)
{
	for (int i = 0; i < BU_RAILS_MAX; i++)
		bu_pair_drop(&kept->rail[i]);
}

static void *
run_rail(void *arg)
{
	struct rail *rail = arg;

	rail->rc = bu_pair_run(&rail->opts, &rail->result, &rail->err);
	return NULL;
}

json_t *
bu_rails_failed(const struct bu_pair_opts *opts, const struct bu_err *err)
{
	struct bu_pair_result result;

	bu_pair_result_init(&result);
	memcpy(result.probe, opts->probe, sizeof(result.probe));
	for (int i = 0; i < 2; i++)
		memcpy(result.end[i].node, opts->node[i], sizeof(result.end[i].node));
	memcpy(result.end[opts->self].rail, opts->rail.rail,
	       sizeof(result.end[opts->self].rail));
	bu_pair_error_set(&result.error, opts->self, err);
	return bu_pair_result_to_json(&result);
}

static void
start_rail(struct rail *rail)
{
	int rc = pthread_create(&rail->thread, NULL, run_rail, rail);

	rail->runs = rc == 0;
	if (rc)
		rail->rc = bu_err_set(&rail->err, BU_ERR_IO, rc, "a thread for rail %s",
				      rail->opts.rail.rail);
}

static json_t *
run_all(const struct bu_work_probe *work, struct bu_rails_kept *kept)
{
	bu_autofree struct rail *rails = bu_xcalloc(work->rails_count, sizeof(*rails));
	json_t *results = json_array();

	for (size_t i = 0; i < work->rails_count; i++) {
		bu_pair_opts_of(work, i, &rails[i].opts);
		rails[i].opts.kept = &kept->rail[i];
		rails[i].opts.cancelled = kept->cancelled;
		rails[i].opts.arg = kept->arg;
		rails[i].opts.root = kept->root;
		start_rail(&rails[i]);
	}
	for (size_t i = 0; i < work->rails_count; i++) {
		if (rails[i].runs)
			pthread_join(rails[i].thread, NULL);
		json_array_append_new(
			results,
			rails[i].rc == 0
				? bu_pair_result_to_json(&rails[i].result)
				: bu_rails_failed(&rails[i].opts, &rails[i].err));
	}
	return json_pack("{s:o}", "rails", results);
}

int
bu_rails_run(const struct bu_work_probe *work, struct bu_rails_kept *kept, json_t **ret,
	     struct bu_err *err)
{
	if (!work->rails_count)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'rails': the item names no rail");
	*ret = run_all(work, kept);
	return 0;
}
