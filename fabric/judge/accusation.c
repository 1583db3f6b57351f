/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text and JSON of accusations. Called by the gate for evidence and by a rehearsal.
 * Pure. Invariant: each statement of the sentence is also in the codes and figures.
 */
#include "fabric/judge/accusation.h"

#include <stdarg.h>
#include <stdio.h>

#include "fabric/judge/expect.h"
#include "fabric/judge/flow.h"

static const struct {
	const char *name, *words, *hint;
} symptoms[] = {
#define X(id, name, words, hint) [BU_SYMPTOM_##id] = {name, words, hint},
	BU_SYMPTOMS(X)
#undef X
};

static const struct {
	int bit;
	const char *name, *words;
} doubts[] = {
	{BU_DOUBT_LIMIT, "limit", "rate above the framing limit"},
	{BU_DOUBT_CLOCK, "clock", "clocks of both ends differ"},
	{BU_DOUBT_BYTES, "bytes", "bytes and time do not give the rate"},
	{BU_DOUBT_OTHER, "result", "as its results say"},
};

static const struct {
	const char *name, *words;
} alikes[] = {
	[BU_ALIKE_TWINS] = {"twins", NULL},
	[BU_ALIKE_NO_GOOD_PORT] = {"no-good-port", "the leaf has no port that is good"},
	[BU_ALIKE_SPRAYED] = {"sprayed",
			      "flows are sprayed over all links of the leaf"},
};

static const char *
symptom_name(enum bu_symptom symptom)
{
	return (size_t)symptom < BU_LEN(symptoms) ? symptoms[symptom].name : "?";
}

int
bu_accusation_has(const struct bu_accusation *accusation, enum bu_symptom symptom)
{
	for (int i = 0; i < accusation->sign_count; i++)
		if (accusation->signs[i].symptom == symptom)
			return 1;
	return 0;
}

const char *
bu_accusation_hint(const struct bu_accusation *accusation)
{
	for (int s = BU_SYMPTOMS_COUNT - 1; s >= 0; s--)
		if (bu_accusation_has(accusation, (enum bu_symptom)s))
			return symptoms[s].hint;
	return "look at the NIC, its cable and its switch port";
}

/* --- the sentence --- */

static void
add_best(FILE *out, const struct bu_sign *sign)
{
	char text[32];

	bu_rate_text(sign->best_gbps, text, sizeof(text));
	fprintf(out, ", at best %s", text);
	if (sign->median_gbps <= 0) /* no median was learned */
		return;
	bu_rate_text(sign->median_gbps, text, sizeof(text));
	fprintf(out, " of %s", text);
}

static void
add_sign(FILE *out, const struct bu_topology *t, const struct bu_sign *sign)
{
	char leaf[80], planned[80];

	if (sign->by_lldp) {
		bu_ids_text(&t->leaf_ids, sign->leaf, leaf, sizeof(leaf));
		bu_ids_text(&t->leaf_ids, sign->planned, planned, sizeof(planned));
		fprintf(out, "cabled to leaf %s, planned is %s", leaf, planned);
		return;
	}
	fprintf(out, "%s: %d of %d %s",
		sign->by_switch ? "slow or lossy"
		: sign->nothing ? "nothing arrives"
				: symptoms[sign->symptom].words,
		sign->bad, sign->tests,
		sign->by_switch ? "readings of its switch" : "tests again");
	if (sign->best_gbps > 0)
		add_best(out, sign);
}

static void
add_number(FILE *out, const struct bu_accusation *one)
{
	if (one->tested)
		fprintf(out, "; %d of its %d %s are accused, so the %s is",
			one->accused, one->tested, one->by_links ? "links" : "ports",
			one->what == BU_WHAT_LEAF ? "leaf" : "spine");
}

static void
add_witness(FILE *out, const struct bu_topology *t, const struct bu_accusation *one)
{
	char name[80];

	if (!one->witness)
		return;
	bu_ids_text(&t->node_ids, one->witness - 1, name, sizeof(name));
	fprintf(out, "; only %s could test it, so the fault may be that one's", name);
}

static void
add_doubts(FILE *out, const struct bu_accusation *one)
{
	const char *comma = ": ";

	fputs("instrument in doubt with every partner", out);
	for (size_t i = 0; i < BU_LEN(doubts); i++) {
		if (!(one->doubt & doubts[i].bit))
			continue;
		fprintf(out, "%s%s", comma, doubts[i].words);
		comma = ", ";
	}
}

char *
bu_accusation_text(const struct bu_topology *t, const struct bu_accusation *one)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out != NULL);
	if (one->what == BU_WHAT_ANY)
		fputs("no test can tell these apart: ", out);
	if (one->what == BU_WHAT_ANY && alikes[one->alike].words)
		fputs(alikes[one->alike].words, out);
	if (one->what == BU_WHAT_INCONCLUSIVE)
		add_doubts(out, one);
	for (int i = 0; i < one->sign_count; i++) {
		fputs(i ? "; " : "", out);
		add_sign(out, t, &one->signs[i]);
	}
	add_number(out, one);
	add_witness(out, t, one);
	fclose(out);
	return text;
}

/* --- for programs --- */

static json_t *
sign_json(const struct bu_topology *t, const struct bu_sign *sign)
{
	json_t *ret = json_pack("{s:s}", "symptom", symptom_name(sign->symptom));

	if (sign->by_lldp) {
		json_object_set_new(ret, "by", json_string("lldp"));
		json_object_set_new(ret, "leaf", bu_ids_get(&t->leaf_ids, sign->leaf));
		json_object_set_new(ret, "planned",
				    bu_ids_get(&t->leaf_ids, sign->planned));
		return ret;
	}
	if (sign->by_switch)
		json_object_set_new(ret, "by", json_string("switch"));
	json_object_set_new(ret, "bad", json_integer(sign->bad));
	json_object_set_new(ret, "tests", json_integer(sign->tests));
	if (sign->nothing)
		json_object_set_new(ret, "nothing", json_true());
	if (sign->best_gbps > 0) {
		json_object_set_new(ret, "best_gbps", json_real(sign->best_gbps));
		json_object_set_new(ret, "median_gbps", json_real(sign->median_gbps));
	}
	return ret;
}

static void
set_part(json_t *ret, const struct bu_topology *t, const struct bu_accusation *one)
{
	static const char *const port_dirs[] = {"both", "tx", "rx", "both"};
	static const char *const link_dirs[] = {"both", "up", "down", "both"};

	if (one->what == BU_WHAT_ENDPOINT) {
		json_object_set_new(ret, "node",
				    bu_ids_get(&t->node_ids, one->port / t->rails));
		json_object_set_new(ret, "rail", json_integer(one->port % t->rails));
		json_object_set_new(ret, "dir", json_string(port_dirs[one->dir & 3]));
		if (one->witness)
			json_object_set_new(ret, "witness",
					    bu_ids_get(&t->node_ids, one->witness - 1));
	} else if (one->what == BU_WHAT_INCONCLUSIVE) {
		json_object_set_new(ret, "node", bu_ids_get(&t->node_ids, one->node));
	}
	if (one->what == BU_WHAT_LEAF || one->what == BU_WHAT_LINK)
		json_object_set_new(ret, "leaf", bu_ids_get(&t->leaf_ids, one->leaf));
	if (one->what == BU_WHAT_SPINE || one->what == BU_WHAT_LINK)
		json_object_set_new(ret, "spine",
				    bu_ids_get(&t->spine_ids, one->spine));
	if (one->what == BU_WHAT_LINK)
		json_object_set_new(ret, "dir", json_string(link_dirs[one->dir & 3]));
}

static void
set_any(json_t *ret, const struct bu_topology *t, const struct bu_accusation *one)
{
	json_t *of = json_array();

	for (int i = 0; i < one->of_count; i++)
		json_array_append_new(of, bu_accusation_to_json(t, &one->of[i]));
	json_object_set_new(ret, "of", of);
	json_object_set_new(ret, "alike", json_string(alikes[one->alike].name));
}

static void
set_doubts(json_t *ret, const struct bu_accusation *one)
{
	json_t *names = json_array();

	for (size_t i = 0; i < BU_LEN(doubts); i++)
		if (one->doubt & doubts[i].bit)
			json_array_append_new(names, json_string(doubts[i].name));
	json_object_set_new(ret, "doubts", names);
}

json_t *
bu_accusation_to_json(const struct bu_topology *t, const struct bu_accusation *one)
{
	static const char *const whats[] = {"endpoint", "leaf",         "spine",
					    "link",     "inconclusive", "any"};
	bu_autofree char *text = bu_accusation_text(t, one);
	json_t *ret = json_pack("{s:s}", "what", whats[one->what]);
	json_t *signs = json_array();

	set_part(ret, t, one);
	if (one->what == BU_WHAT_ANY)
		set_any(ret, t, one);
	if (one->what == BU_WHAT_INCONCLUSIVE)
		set_doubts(ret, one);
	for (int i = 0; i < one->sign_count; i++)
		json_array_append_new(signs, sign_json(t, &one->signs[i]));
	json_object_set_new(ret, "symptoms", signs);
	if (one->tested) {
		json_object_set_new(ret, "accused", json_integer(one->accused));
		json_object_set_new(ret, "tested", json_integer(one->tested));
	}
	json_object_set_new(ret, "cause", json_string(text));
	if (one->confidence > 0)
		json_object_set_new(ret, "confidence", json_real(one->confidence));
	return ret;
}
