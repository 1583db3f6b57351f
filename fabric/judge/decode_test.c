// SPDX-License-Identifier: Apache-2.0
#include "fabric/judge/decode.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

enum { N_MAX = 4, PAIRS_MAX = 6 };

static const struct bu_expect demo = {.link_gbps = 0.02, .percent = 80};

/*
 * A pair is "AB<a to b><b to a>": + passes, - is slow, x is lost, ? is an instrument
 * error. Nodes are A to D, in `certified` those that were before. Expected, per node:
 * C certified, P proven, S accused of sending, R of receiving, B of both, W waiting,
 * I inconclusive.
 */
static const struct {
	const char *what;
	int n;
	const char *certified;
	const char *pairs;
	const char *expected;
} rows[] = {
	{"nothing yet", 2, "", "", "WW"},
	{"two good ones prove each other", 2, "", "AB++", "PP"},
	{"a slow pair alone", 2, "", "AB-+", "WW"},
	{"slow both ways alone", 2, "", "AB--", "WW"},
	{"instrument error alone", 2, "", "AB??", "II"},
	{"one way good, one way broken instrument", 2, "", "AB+?", "II"},
	{"candidate slow to a certified one", 2, "B", "AB-+", "SC"},
	{"candidate slow from a certified one", 2, "B", "AB+-", "RC"},
	{"candidate lost", 2, "A", "ABxx", "CB"},
	{"candidate's instrument", 2, "A", "AB??", "CI"},
	{"candidate passes", 2, "A", "AB++", "CP"},
	{"two certified ones are not judged", 2, "AB", "AB--", "CC"},
	{"one sends slowly", 3, "", "AB++ AC+- BC+-", "PPS"},
	{"one receives slowly", 3, "", "AB++ AC-+ BC-+", "PPR"},
	{"one is slow both ways", 3, "", "AB++ AC-- BC--", "PPB"},
	{"the link of one is down", 3, "", "AB++ ACxx BCxx", "PPB"},
	{"only one pair was probed", 3, "", "AC--", "WWW"},
	{"the third is not probed yet", 3, "", "AB++ AC--", "PPB"},
	{"two slow ones of three", 3, "", "AB-- AC-- BC--", "WWW"},
	{"two slow ones and a certified one", 3, "C", "AB-- AC-- BC--", "BBC"},
	{"one slow sender and one slow receiver", 3, "", "AB-+ AC-+ BC-+", "SPR"},
	{"slow with one partner, good with another", 3, "", "AB-- AC++", "PBP"},
	{"error with one, good with another", 3, "", "AB?? AC++", "PIP"},
	{"error with one, slow with a proven one", 3, "", "AB?? AC++ BC-+", "PSP"},
	{"one slow of four", 4, "", "AB++ CD+- AC++ BD+- AD+- BC++", "PPPS"},
	{"two slow of four", 4, "", "AB++ CD-- AC-- BD-- AD-- BC--", "PPBB"},
	{"two slow of four, one pair each", 4, "", "AB-+ CD++", "WWPP"},
	{"one sends, one receives slowly, of four", 4, "",
	 "AB++ CD+- AC-+ BC-+ AD+- BD+-", "PPRS"},
	{"all slow", 4, "", "AB-- CD-- AC-- BD-- AD-- BC--", "WWWW"},
	{"the second try passes", 2, "", "AB?? AB++", "PP"},
};

static void
make_dir(struct bu_pair_dir *dir, char code)
{
	if (code == 'x' || code == '?') {
		dir->error.kind = code == 'x' ? BU_ERR_REMOTE : BU_ERR_IO;
		strcpy(dir->error.text, code == 'x' ? "lost" : "no buffer");
		return;
	}
	bu_pair_dir_add(dir, code == '+' ? 0.019 : 0.0047);
	dir->lat_count = 200;
}

static int
make_results(const char *pairs, struct bu_pair_result *results)
{
	int count = 0;

	for (const char *at = pairs; *at; at += at[4] ? 5 : 4) {
		struct bu_pair_result *r = &results[count++];

		bu_pair_result_init(r);
		snprintf(r->probe, sizeof(r->probe), "p%d", count);
		for (int i = 0; i < 2; i++) {
			r->end[i].node[0] = at[i];
			make_dir(&r->dir[i], at[2 + i]);
		}
	}
	return count;
}

static char
letter_of(const struct bu_finding *finding)
{
	if (finding->kind != BU_FINDING_ACCUSED)
		return "CP.WI"[finding->kind];
	return finding->sends_slow && finding->receives_slow ? 'B'
	       : finding->sends_slow                         ? 'S'
							     : 'R';
}

static void
decode(int n, const char *certified, const char *pairs, struct bu_finding *ret)
{
	static const char *const names[N_MAX] = {"A", "B", "C", "D"};
	struct bu_decode_node nodes[N_MAX];
	struct bu_pair_result results[PAIRS_MAX];
	const struct bu_pair_result *list[PAIRS_MAX];
	int count = make_results(pairs, results);

	for (int i = 0; i < count; i++)
		list[i] = &results[i];
	for (int i = 0; i < n; i++)
		nodes[i] = (struct bu_decode_node){
			names[i], strchr(certified, *names[i]) != NULL};
	bu_decode(nodes, n, list, count, &demo, ret);
}

START_TEST(decodes_the_table)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_finding findings[N_MAX];
		char got[N_MAX + 1] = "";

		decode(rows[i].n, rows[i].certified, rows[i].pairs, findings);
		for (int n = 0; n < rows[i].n; n++) {
			got[n] = letter_of(&findings[n]);
			ck_assert_str_ne(findings[n].text, "");
			if (findings[n].kind == BU_FINDING_ACCUSED)
				ck_assert_int_ge(findings[n].peer_count, 1);
			if (findings[n].kind == BU_FINDING_PROVEN)
				ck_assert_int_ge(findings[n].partner, 0);
		}
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "%s: %s, not %s",
			      rows[i].what, got, rows[i].expected);
	}
}
END_TEST

START_TEST(the_evidence_is_named)
{
	struct bu_finding f[N_MAX];

	decode(3, "", "AB++ AC+- BC+-", f);
	ck_assert_double_eq_tol(f[2].figure_gbps, 0.0047, 1e-9);
	ck_assert_double_eq_tol(f[2].wanted_gbps, 0.016, 1e-9);
	ck_assert_int_eq(f[2].peer_count, 2);
	ck_assert_int_eq(f[2].peers[0] + f[2].peers[1], 1);
	ck_assert_str_eq(f[2].text,
			 "sending (C to A): median 4.70 Mbit/s, at least 16.00 Mbit/s "
			 "wanted; 1 of 1 runs under it (seen by proven A, B)");
	decode(2, "", "AB-+", f);
	ck_assert_ptr_nonnull(strstr(f[0].text, "slow pair with B"));
	ck_assert_ptr_nonnull(strstr(
		f[0].text, "no third machine or certified partner can tell which"));
	decode(3, "C", "AB++ AC++ BC++", f);
	ck_assert_int_eq(f[0].partner, 2);
	decode(2, "A", "ABx+", f);
	ck_assert_double_eq(f[1].figure_gbps, 0);
	decode(2, "", "AB??", f);
	ck_assert_ptr_nonnull(strstr(f[1].text, "no buffer"));
}
END_TEST

START_TEST(strangers_are_passed_over)
{
	static const struct bu_decode_node nodes[] = {{"X", 0}, {"A", 0}};
	struct bu_pair_result results[PAIRS_MAX];
	const struct bu_pair_result *list[] = {&results[0]};
	struct bu_finding f[2];

	make_results("AB++", results);
	bu_decode(nodes, 2, list, 1, &demo, f);
	ck_assert_int_eq(f[0].kind, BU_FINDING_WAITING);
	ck_assert_int_eq(f[1].kind, BU_FINDING_WAITING);
}
END_TEST

BU_UNIT("decode", decodes_the_table, the_evidence_is_named, strangers_are_passed_over)
