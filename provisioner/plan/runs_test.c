/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent found on its node, against what orders should have made of it. */
#include "base/text.h"
#include "model/sentence.h"
#include "tests/support/plan.h"

static const char none[] = "features = rxe, lab\n";
static const char kargs[] = "features = rxe, lab\nkargs = iommu=pt\n";

/* The agent of node001 finds there what this profile says. */
static void
finds(struct site *site, const char *to)
{
	struct bu_desired *other = load(none, to);
	bu_autojson json_t *facets =
		bu_facets_json(other, bu_desired_node(other, "node001"));
	struct bu_node *node = site->nodes[0];

	bu_json_digest(facets, bu_node_found(node)->facets);
	strcpy(bu_node_found(node)->row, "t1");
	json_object_set(site->blobs, node->found->facets, facets);
	bu_desired_destroy(other);
}

static void
set(char **slot, const char *text)
{
	free(*slot);
	*slot = text ? bu_xstrdup(text) : NULL;
}

static void
runs_with(struct site *site, const char *written, const char *loader,
	  const char *booted)
{
	set(&bu_node_found(site->nodes[0])->kargs, written);
	set(&bu_node_found(site->nodes[0])->loader, loader);
	set(&bu_node_found(site->nodes[0])->booted, booted);
}

/* "CLASS: FACET OLD -> NEW, ..." of node001, "" = nothing. */
static void
plans(struct site *site, const char *want)
{
	bu_autojson json_t *made = make(site);
	const json_t *first = step_of(made, 0);
	const json_t *step =
		strcmp(bu_json_str(first, "node", ""), "node001") == 0 ? first : NULL;
	bu_autofree char *text = bu_xstrdup("");
	const char *before = ": ";
	json_t *change;
	size_t i;

	bu_text_add(&text, "", "%s", bu_json_str(step, "class", ""));
	json_array_foreach (json_object_get(step, "changes"), i, change) {
		bu_text_add(&text, "", "%s%s %s -> %s", before,
			    bu_json_str(change, "facet", ""),
			    bu_json_str(change, "old", ""),
			    bu_json_str(change, "new", ""));
		before = ", ";
		ck_assert_int_gt((int)bu_json_int(change, "line", 0), 0);
	}
	ck_assert_str_eq(text, want);
}

START_TEST(what_lies_there_counts_and_not_what_was_ordered)
{
	struct site site;

	/* ordered: without; there: with */
	begin(&site, NULL, NULL, NULL, NULL);
	plans(&site, "");
	finds(&site, kargs);
	plans(&site, "reboot: kargs iommu=pt -> ");
	end(&site);
	/* ordered: with; there: without */
	begin(&site, none, kargs, none, kargs);
	plans(&site, "");
	finds(&site, none);
	plans(&site, "reboot: kargs  -> iommu=pt");
	end(&site);
	/* ordered: without; wanted, and there: with */
	begin(&site, NULL, NULL, none, kargs);
	plans(&site, "reboot: kargs  -> iommu=pt");
	finds(&site, kargs);
	plans(&site, "");
	end(&site);
}
END_TEST

START_TEST(any_facet_of_a_file_is_told_by_its_name)
{
	static const struct {
		const char *to, *plan;
	} rows[] = {
		{"features = rxe, lab\nsysctl = a.b=1\n",
		 "reconfigure: sysctl a.b=1 -> "},
		{"features = rxe, lab\ngovernor = performance\n",
		 "reconfigure: governor performance -> "},
		{"features = rxe, lab\nmodules = nbd\n", "reboot: modules nbd -> "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;

		begin(&site, NULL, NULL, NULL, NULL);
		finds(&site, rows[i].to);
		plans(&site, rows[i].plan);
		end(&site);
	}
}
END_TEST

/* The log alone knows those of the cluster: no file on the node has them. */
START_TEST(features_are_what_the_log_says)
{
	struct site site;

	begin(&site, NULL, NULL, NULL, NULL);
	finds(&site, "features = rxe\n");
	plans(&site, "");
	end(&site);
}
END_TEST

START_TEST(what_no_order_of_the_log_wrote_is_written_once_more)
{
	struct site site;

	begin(&site, NULL, NULL, NULL, NULL);
	strcpy(bu_node_found(site.nodes[0])->row, "t1");
	strcpy(bu_node_found(site.nodes[0])->facets, "of-nobody");
	plans(&site, "reconfigure: settings unknown -> as the profile says");
	end(&site);
}
END_TEST

START_TEST(files_that_were_changed_are_written_again)
{
	struct site site;

	begin(&site, NULL, NULL, NULL, NULL);
	finds(&site, none);
	bu_node_found(site.nodes[0])->differs =
		json_pack("[{s:s,s:s}]", "path", "/etc/hosts", "how", "missing");
	plans(&site, "reconfigure: files /etc/hosts missing -> as the profile says");
	bu_node_found(site.nodes[0])->more = 3;
	plans(&site, "reconfigure: files /etc/hosts missing and 3 more -> as the "
		     "profile says");
	end(&site);
}
END_TEST

START_TEST(a_kernel_that_runs_with_other_arguments_is_rebooted)
{
	struct site site;

	begin(&site, none, kargs, none, kargs);
	finds(&site, kargs);
	runs_with(&site, "iommu=pt", "iommu=pt", "iommu=pt");
	plans(&site, "");
	runs_with(&site, "iommu=pt", "iommu=pt", "");
	plans(&site, "reboot: kernel arguments  -> iommu=pt");
	/* somebody edited the loader's file, and it was not booted since */
	runs_with(&site, "iommu=pt", "iommu=pt nosmt", "iommu=pt");
	plans(&site, "reconfigure: kernel arguments of the next boot iommu=pt nosmt "
		     "-> iommu=pt");
	/* what cannot be read is no difference */
	runs_with(&site, "iommu=pt", NULL, NULL);
	plans(&site, "");
	/* this boot is over: what it ran with counts no more */
	runs_with(&site, "iommu=pt", "iommu=pt", "");
	bu_node_over(site.nodes[0])->seq = 7;
	plans(&site, "");
	end(&site);
}
END_TEST

START_TEST(a_kernel_that_runs_as_it_should_is_not_rebooted)
{
	struct site site;

	/* written for a boot that never came */
	begin(&site, NULL, NULL, NULL, NULL);
	finds(&site, kargs);
	runs_with(&site, "iommu=pt", "iommu=pt", "");
	plans(&site, "reconfigure: kargs iommu=pt -> ");
	runs_with(&site, "iommu=pt", "iommu=pt", "iommu=pt");
	plans(&site, "reboot: kargs iommu=pt -> ");
	end(&site);
}
END_TEST

/* Their kernels get them from elsewhere. */
START_TEST(arguments_that_are_not_ours_are_left_alone)
{
	struct site site;

	begin(&site, NULL, NULL, NULL, NULL);
	finds(&site, none);
	runs_with(&site, "quiet", "", "");
	site.nodes[0]->raw = 1;
	plans(&site, "");
	site.nodes[0]->raw = 0;
	runs_with(&site, NULL, NULL, NULL);
	plans(&site, "");
	end(&site);
}
END_TEST

START_TEST(a_plan_ends_with_what_was_found)
{
	struct site site;
	bu_autojson json_t *first = NULL, *second = NULL;

	begin(&site, none, kargs, NULL, NULL);
	first = make(&site);
	strcpy(bu_node_found(site.nodes[0])->row, "t2");
	second = make(&site);
	ck_assert_str_ne(bu_json_str(first, "observed", ""),
			 bu_json_str(second, "observed", ""));
	end(&site);
}
END_TEST

/* A system in memory is loaded by the applied revision, without an order. */
START_TEST(a_revision_at_hand_needs_no_order)
{
	struct site site;
	bu_autojson json_t *was = NULL;

	begin(&site, none, kargs, NULL, NULL);
	was = bu_facets_json(site.applied, bu_desired_node(site.applied, "node001"));
	bu_json_digest(was, bu_node_found(site.nodes[0])->facets);
	json_object_del(site.blobs, site.nodes[0]->found->facets);
	strcpy(bu_node_found(site.nodes[0])->row, "t1");
	json_object_set(site.blobs, "of-before", was);
	bu_node_set_facets(site.nodes[0], "of-before");
	plans(&site, "reboot: kargs iommu=pt -> ");
	end(&site);
}
END_TEST

/* Owned. */
static char *
drift_of(const json_t *plan)
{
	const json_t *first = json_array_get(json_object_get(plan, "drift"), 0);

	return bu_said_text(json_object_get(first, "said"));
}

START_TEST(another_kernel_than_the_images_is_told_and_nothing_is_done)
{
	static const struct {
		const char *runs, *has;
		int ram, raw, is_told;
	} rows[] = {
		{"6.5.0", "6.1.0", 0, 0, 1}, {"6.1.0", "6.1.0", 0, 0, 0},
		{"", "6.1.0", 0, 0, 0},      {"6.5.0", "", 0, 0, 0},
		{"6.5.0", "6.1.0", 1, 0, 0}, {"6.5.0", "6.1.0", 0, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		bu_autojson json_t *made = NULL;
		bu_autofree char *told = NULL;

		begin(&site, NULL, NULL, NULL, NULL);
		strcpy(bu_node_found(site.nodes[0])->kernel, rows[i].runs);
		strcpy(site.image.kernel, rows[i].has);
		site.nodes[0]->ram = rows[i].ram;
		site.nodes[0]->raw = rows[i].raw;
		made = make(&site);
		told = drift_of(made);
		ck_assert_str_eq(told, rows[i].is_told
					       ? "kernel 6.5.0 runs, that of image "
						 "debian12 is 6.1.0"
					       : "");
		ck_assert_uint_eq(json_array_size(json_object_get(made, "steps")), 0);
		end(&site);
	}
}
END_TEST

BU_UNIT("runs", what_lies_there_counts_and_not_what_was_ordered,
	any_facet_of_a_file_is_told_by_its_name, features_are_what_the_log_says,
	what_no_order_of_the_log_wrote_is_written_once_more,
	files_that_were_changed_are_written_again,
	a_kernel_that_runs_with_other_arguments_is_rebooted,
	a_kernel_that_runs_as_it_should_is_not_rebooted,
	arguments_that_are_not_ours_are_left_alone, a_plan_ends_with_what_was_found,
	a_revision_at_hand_needs_no_order,
	another_kernel_than_the_images_is_told_and_nothing_is_done)
