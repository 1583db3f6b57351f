/* SPDX-License-Identifier: Apache-2.0 */
/* What a certificate is made of: which results of a node, of which rails, and what it
 * says besides; and what is kept of a quarantine. */
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/between.h"
#include "tests/support/row.h"

enum { NODES = 16 };

/* One probe of the log with all that was measured: nodes a and b, in this order. */
struct pair {
	int a, b;
	const char *rail;
	double gbps; /* both ways; 0 = it says nothing */
	const char *boot[2];
	int doubt;
};

static void
log_pair(struct between *b, const struct pair *pair)
{
	const struct bu_expect expect = {.link_gbps = 1, .percent = 50};
	struct bu_node ends[2] = {*rig_node(&b->rig, pair->a),
				  *rig_node(&b->rig, pair->b)};
	struct bu_pair_result result;
	struct bu_probe probe = {.task.id = "p-1"};
	struct bu_event event;

	bu_pair_result_init(&result);
	strcpy(result.probe, "p-1");
	result.mtu = 1024;
	for (int end = 0; end < 2; end++) {
		bu_node_parts_copy(&ends[end]);
		if (pair->boot[end])
			bu_node_set_boot_id(&ends[end], pair->boot[end]);
		BU_TEXT_COPY(result.end[end].node, ends[end].name);
		strcpy(result.end[end].device, "rxe0");
		result.dir[end].lat_count = 200;
		for (int run = 0; run < 5 && pair->gbps > 0; run++)
			bu_pair_dir_add(&result.dir[end], pair->gbps);
		/* Its clocks disagree by much. */
		if (pair->doubt)
			result.dir[end].clock_seconds[0] = 1;
		if (pair->doubt)
			result.dir[end].clock_seconds[1] = 2;
	}
	result.verdict = bu_expect_judge_pair(&expect, &result);
	event = bu_probe_event(b->gate, &probe, pair->rail,
			       (const struct bu_node *const[]){&ends[0], &ends[1]},
			       &expect, &result);
	for (int end = 0; end < 2; end++)
		bu_node_parts_fini(&ends[end]);
	bu_reconcile_note(b->rig.rec, &event, 1);
	rig_pass(&b->rig, 1);
}

static struct bu_node *
begin(struct between *b, int rails, int each)
{
	struct bu_node *node;

	between_begin(b, NODES, rails, each, NULL);
	bu_gate_roles_drop(b->gate);
	((struct bu_desired_validation *)(uintptr_t)b->rig.fleet->desired->nodes[0]
		 .validation)
		->bw_min_percent = 50;
	node = rig_node(&b->rig, 1);
	node->checks.body = json_object();
	node->checks.is = (struct bu_body_checks){
		.boot_id = node->boot_id, .digest = "d1", .verdict = BU_VERDICT_WARN};
	node->checks.is.counts = node->checks.body;
	bu_node_set_machine(node, "machine-1");
	return node;
}

/* The two certificates; NULL = there is none. New references. */
static void
certify(struct between *b, const struct bu_node *node, json_t *ret[2])
{
	struct bu_event events[2];
	struct bu_err err;

	ret[0] = ret[1] = NULL;
	if (bu_gate_certify(b->gate, node, events, &err) != 0)
		return;
	for (int i = 0; i < 2; i++) {
		const char *text = events[i].blob.text;

		ck_assert_str_eq(events[i].node, node->name);
		ck_assert_str_eq(bu_json_str(events[i].body, "kind", ""),
				 i ? "boot" : "full");
		ret[i] = bu_fabcert_verify(text, strlen(text), b->rig.fleet->public_pem,
					   &err);
		ck_assert_msg(ret[i] != NULL, "%s", err.text);
		ck_assert_str_eq(bu_json_str(ret[i], "kind", ""), i ? "boot" : "full");
		bu_event_fini(&events[i]);
	}
}

/* "node003 node002 ": partners in the order of its results; owned. */
static char *
partners_of(const json_t *cert)
{
	char *text = bu_xstrdup("");
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(cert, "results"), i, one) {
		bu_autofree char *before = text;
		const char *a = bu_json_str(json_object_get(one, "a"), "node", "");
		const char *b = bu_json_str(json_object_get(one, "b"), "node", "");

		text = bu_xasprintf("%s%s ", before, strcmp(a, "node001") == 0 ? b : a);
	}
	return text;
}

/* The last one with each partner, of the boots of now and without a doubt if there is
 * one; those that pass first. */
START_TEST(the_last_result_with_each_partner_is_in_it)
{
	static const struct {
		struct pair pairs[4];
		const char *full; /* NULL = there is no certificate */
	} rows[] = {
		{{{.rail = NULL}}, NULL},
		{{{1, 2, "fabric", .gbps = 0.875}}, "node002 "},
		{{{1, 2, "fabric", .gbps = 0.25}}, NULL},
		{{{1, 2, "fabric", .gbps = 0.875}, {1, 3, "fabric", .gbps = 0.875}},
		 "node002 node003 "},
		{{{1, 2, "fabric", .gbps = 0.25},
		  {1, 3, "fabric", .gbps = 0.875},
		  {1, 4, "fabric", .gbps = 0.875}},
		 "node003 node004 node002 "},
		{{{1, 2, "fabric", .gbps = 0.25}, {1, 2, "fabric", .gbps = 0.875}},
		 "node002 "},
		{{{1, 2, "fabric", .gbps = 0.875},
		  {1, 2, "fabric", .gbps = 0.25, .doubt = 1}},
		 "node002 "},
		{{{1, 2, "fabric", .gbps = 0.875},
		  {1, 3, "fabric", .gbps = 0.875, .boot = {"old"}}},
		 "node002 "},
		{{{1, 2, "fabric", .gbps = 0.875},
		  {1, 3, "fabric", .gbps = 0},
		  {2, 3, "fabric", .gbps = 0.875},
		  {1, 4, "rail1", .gbps = 0.875}},
		 "node002 "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *full = NULL, *boot = NULL;
		struct bu_node *node;
		json_t *certs[2];
		struct between b;

		node = begin(&b, 1, NODES);
		for (int k = 0; k < 4 && rows[i].pairs[k].rail; k++)
			log_pair(&b, &rows[i].pairs[k]);
		certify(&b, node, certs);
		ck_assert_msg((certs[0] != NULL) == (rows[i].full != NULL), "row %zu",
			      i);
		if (rows[i].full) {
			full = partners_of(certs[0]);
			boot = partners_of(certs[1]);
			ck_assert_msg(strcmp(full, rows[i].full) == 0, "row %zu: %s", i,
				      full);
			/* A boot is proven by the first one. */
			ck_assert_uint_eq(strlen(boot), strlen("node002 "));
			ck_assert_int_eq(strncmp(full, boot, strlen(boot)), 0);
		}
		for (int k = 0; k < 2; k++)
			json_decref(certs[k]);
		between_end(&b);
	}
}
END_TEST

/* Twelve of all rails, and of many rails two of each. */
START_TEST(many_rails_have_fewer_results_each)
{
	static const struct {
		int rails, partners, each;
	} rows[] = {{1, 13, 12}, {1, 12, 12}, {2, 8, 6}, {7, 3, 2}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *node;
		json_t *certs[2];
		struct between b;

		node = begin(&b, rows[i].rails, NODES);
		for (int rail = 0; rail < rows[i].rails; rail++) {
			bu_autofree char *name = rail ? bu_xasprintf("rail%d", rail)
						      : bu_xstrdup("fabric");

			for (int k = 0; k < rows[i].partners; k++)
				log_pair(&b,
					 &(struct pair){1, k + 2, name, .gbps = 0.875});
		}
		certify(&b, node, certs);
		ck_assert_uint_eq(json_array_size(json_object_get(certs[0], "results")),
				  (size_t)(rows[i].each * rows[i].rails));
		ck_assert_uint_eq(json_array_size(json_object_get(certs[1], "results")),
				  (size_t)rows[i].rails);
		ck_assert_uint_eq(json_array_size(json_object_get(certs[0], "rails")),
				  (size_t)rows[i].rails);
		for (int k = 0; k < 2; k++)
			json_decref(certs[k]);
		between_end(&b);
	}
}
END_TEST

/* Whose machine, boot and checks it is of, and the places of its leaf. */
START_TEST(a_certificate_says_of_whom_it_is)
{
	static const struct pair one = {1, 2, "fabric", .gbps = 0.875};

	for (int looked = 0; looked < 2; looked++) {
		const json_t *rail, *schedule, *order;
		struct bu_node *node;
		json_t *certs[2];
		struct between b;

		node = begin(&b, 1, 3);
		if (looked) {
			bu_gate_roles(b.gate);
			bu_ignore(between_open(&b, "fabric"));
			bu_gate_keep_shape(b.gate, between_network(&b, "fabric"),
					   &b.campaign.topology);
			between_close(&b);
			bu_gate_roles_drop(b.gate);
		}
		log_pair(&b, &one);
		certify(&b, node, certs);
		ck_assert_ptr_nonnull(certs[0]);
		ck_assert_str_eq(bu_json_str(certs[0], "node", ""), "node001");
		ck_assert_str_eq(bu_json_str(certs[0], "machine", ""), "machine-1");
		ck_assert_str_eq(bu_json_str(certs[0], "boot_id", ""), "boot-1");
		ck_assert_str_eq(
			bu_json_str(json_object_get(certs[0], "checks"), "digest", ""),
			"d1");
		ck_assert_str_eq(
			bu_json_str(json_object_get(certs[0], "checks"), "verdict", ""),
			"warn");
		rail = json_array_get(json_object_get(certs[0], "rails"), 0);
		ck_assert_str_eq(bu_json_str(rail, "rail", ""), "fabric");
		schedule = json_object_get(rail, "schedule");
		ck_assert_int_eq(schedule != NULL, looked);
		order = json_object_get(schedule, "order");
		ck_assert_uint_eq(json_array_size(order), looked ? 3 : 0);
		for (size_t k = 0; k < json_array_size(order); k++)
			ck_assert_str_eq(json_string_value(json_array_get(order, k)),
					 rig_node(&b.rig, (int)k + 1)->name);
		for (int k = 0; k < 2; k++)
			json_decref(certs[k]);
		between_end(&b);
	}
}
END_TEST

/* All results of this boot that can be read, whichever rail, with its last events. */
START_TEST(what_is_shown_of_a_node_is_of_its_boot)
{
	static const struct pair pairs[] = {
		{1, 2, "fabric", .gbps = 0.875},
		{1, 2, "fabric", .gbps = 0.25},
		{1, 3, "rail1", .gbps = 0.875},
		{1, 4, "fabric", .gbps = 0.875, .boot = {"old"}},
		{2, 3, "fabric", .gbps = 0.875},
	};
	bu_autojson json_t *shown = NULL, *other = NULL;
	const json_t *results;
	struct bu_node *node;
	struct between b;

	node = begin(&b, 2, NODES);
	for (size_t i = 0; i < BU_LEN(pairs); i++)
		log_pair(&b, &pairs[i]);
	shown = bu_gate_show(b.gate, node, NULL);
	results = json_object_get(shown, "results");
	ck_assert_uint_eq(json_array_size(results), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(bu_json_str(json_array_get(results, i), "rail", ""),
				 i == 2 ? "rail1" : "fabric");
	ck_assert_str_eq(bu_json_str(shown, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(shown, "boot_id", ""), "boot-1");
	ck_assert(json_is_null(json_object_get(shown, "nvlink")));
	other = bu_gate_show(b.gate, rig_node(&b.rig, 3), NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(other, "results")), 2);
	between_end(&b);
}
END_TEST

RIG_UNIT("cert", the_last_result_with_each_partner_is_in_it,
	 many_rails_have_fewer_results_each, a_certificate_says_of_whom_it_is,
	 what_is_shown_of_a_node_is_of_its_boot)
