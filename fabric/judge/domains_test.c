/* SPDX-License-Identifier: Apache-2.0 */
/* Trays of an NVL72 rack whose GPUs tell their domains. */
#include "fabric/judge/domains.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

enum { NODES = 5, GPUS = 4 };

struct story {
	struct bu_checks checks[NODES];
	struct bu_cohort_node nodes[NODES];
	char names[NODES][16];
	char told[4096];
};

/* All of them in clique 1 of one domain, in one rack. */
static void
begin(struct story *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < NODES; i++) {
		snprintf(s->names[i], sizeof(s->names[i]), "node%d", i + 1);
		s->nodes[i] = (struct bu_cohort_node){s->names[i], &s->checks[i], "r1"};
		bu_checks_init(&s->checks[i]);
		for (int gpu = 0; gpu < GPUS; gpu++) {
			char subject[16];
			struct bu_check *row;

			snprintf(subject, sizeof(subject), "GPU %d", gpu);
			row = bu_checks_add(&s->checks[i], "gpu", BU_CHECK_GPU_FABRIC,
					    BU_VERDICT_PASS, subject);
			BU_CHECK_SET(row->seen, "completed, status 0, domain abcd.1");
			BU_CHECK_SET(row->value, "abcd.1");
			ck_assert_int_eq(bu_domain_is_told(row), 1);
		}
	}
}

/* Of one GPU, or with -1 of all that the node has. */
static void
set(struct story *s, int node, int gpu, const char *value)
{
	for (int i = 0; i < GPUS; i++)
		if (gpu < 0 || gpu == i)
			BU_CHECK_SET(s->checks[node].list[i].value, "%s", value);
}

static void
on_found(const char *node, const struct bu_check *row, void *arg)
{
	struct story *s = arg;
	size_t used = strlen(s->told);

	ck_assert(bu_check_id_is_valid(row->id) && strstr(row->hint, "on purpose"));
	snprintf(s->told + used, sizeof(s->told) - used,
		 "%s: %s %s %s\nseen %s, expected %s\n", node, row->id,
		 bu_verdict_name(row->verdict), row->text, row->seen, row->expected);
}

static const char *
judge(struct story *s)
{
	for (int i = 0; i < NODES; i++)
		bu_domains_judge(s->nodes, NODES, s->names[i], on_found, s);
	return s->told;
}

static void
end(struct story *s)
{
	for (int i = 0; i < NODES; i++)
		bu_checks_fini(&s->checks[i]);
}

static struct story s;

START_TEST(one_domain_has_no_finding)
{
	begin(&s);
	ck_assert_str_eq(judge(&s), "");
	end(&s);
}
END_TEST

START_TEST(another_domain_is_named)
{
	begin(&s);
	set(&s, 3, 2, "ef01.1");
	ck_assert_str_eq(judge(&s),
			 "node4: cohort-odd warn GPU 2 of node4 is in NVLink domain "
			 "ef01, 19 of 20 GPUs of rack r1 in abcd\n"
			 "seen ef01, expected abcd\n");
	end(&s);
}
END_TEST

START_TEST(without_a_name_each_node_is_judged)
{
	char each[sizeof(s.told)];

	begin(&s);
	set(&s, 3, 2, "ef01.1");
	snprintf(each, sizeof(each), "%s", judge(&s));
	s.told[0] = '\0';
	bu_domains_judge(s.nodes, NODES, NULL, on_found, &s);
	ck_assert_str_eq(s.told, each);
	ck_assert_str_ne(each, "");
	end(&s);
}
END_TEST

START_TEST(another_clique_is_named)
{
	begin(&s);
	set(&s, 1, 0, "abcd.7");
	ck_assert_str_eq(judge(&s),
			 "node2: cohort-odd warn GPU 0 of node2 is in NVLink clique "
			 "abcd.7, 19 of 20 GPUs of rack r1 in abcd.1\n"
			 "seen abcd.7, expected abcd.1\n");
	end(&s);
}
END_TEST

/* Another rack has another domain; a board without one (all zeros) tells none; in half
 * and half, among two machines and without a rack there is no majority to trust. */
START_TEST(what_is_no_fault_is_not_told)
{
	begin(&s);
	set(&s, 4, -1, "ef01.1");
	s.nodes[4].rack = "r2";
	ck_assert_str_eq(judge(&s), "");
	s.nodes[4].rack = "r1";
	s.nodes[0].rack = s.nodes[1].rack = s.nodes[2].rack = "r3";
	ck_assert_str_eq(judge(&s), "");
	for (int i = 0; i < NODES; i++)
		s.nodes[i].rack = "";
	ck_assert_str_eq(judge(&s), "");
	end(&s);

	begin(&s);
	set(&s, 0, -1, "ef01.1");
	set(&s, 1, -1, "ef01.1");
	for (int gpu = 0; gpu < 2; gpu++)
		set(&s, 2, gpu, "ef01.1");
	ck_assert_str_eq(judge(&s), "");
	end(&s);

	begin(&s);
	for (int i = 0; i < NODES; i++)
		set(&s, i, -1, "");
	ck_assert_int_eq(bu_domain_is_told(&s.checks[0].list[0]), 0);
	ck_assert_str_eq(judge(&s), "");
	end(&s);
}
END_TEST

BU_UNIT("domains", one_domain_has_no_finding, another_domain_is_named,
	without_a_name_each_node_is_judged, another_clique_is_named,
	what_is_no_fault_is_not_told)
