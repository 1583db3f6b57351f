/* SPDX-License-Identifier: Apache-2.0 */
/* What a program reads of an accusation, and the sentence that is made of it. */
#include "fabric/judge/accusation.h"

#include <string.h>

#include "base/json.h"
#include "fabric/judge/flow.h"
#include "tests/support/unit.h"

static const char plan[] =
	"{\"nodes\":[\"node001\",\"slow2\"],\"rails\":1,\"leaves\":[\"late1\","
	"\"leaf2\"],"
	"\"leaf_of\":[\"late1\",\"leaf2\"],\"spines\":1,\"limit_gbps\":100,\"routing\":"
	"\"static\"}";

static struct bu_topology
topology(void)
{
	struct bu_topology t;
	struct bu_err err = {0};
	bu_autojson json_t *value = bu_json_parse(plan, strlen(plan), "plan", &err);

	ck_assert_msg(value && bu_topology_from_json(value, &t, &err) == 0, "%s",
		      err.text);
	return t;
}

#define SIGN(id)                                                                       \
	{                                                                              \
		.symptom = BU_SYMPTOM_##id, .bad = 3, .tests = 4                       \
	}
#define RATE                                                                           \
	{                                                                              \
		.symptom = BU_SYMPTOM_RATE, .bad = 3, .tests = 3, .best_gbps = 40,     \
		.median_gbps = 392                                                     \
	}

static const struct {
	struct bu_accusation one;
	const char *text, *hint, *symptoms; /* "rate,loss" */
} rows[] = {
	{{.signs = {RATE}, .sign_count = 1},
	 "slow: 3 of 3 tests again, at best 40.00 Gbit/s of 392.00 Gbit/s",
	 "swap the cable first",
	 "rate"},
	{{.signs = {SIGN(LATENCY)}, .sign_count = 1},
	 "late: 3 of 4 tests again",
	 "look at the NIC's slot",
	 "latency"},
	{{.signs = {RATE, SIGN(LOSS)}, .sign_count = 2},
	 "slow: 3 of 3 tests again, at best 40.00 Gbit/s of 392.00 Gbit/s; loses "
	 "packets: 3 "
	 "of 4 tests again",
	 "clean or swap the cable",
	 "rate,loss"},
	{{.signs = {SIGN(MTU)}, .sign_count = 1},
	 "smaller MTU than the others: 3 of 4 tests again",
	 "set the MTU",
	 "mtu"},
	/* The names of leaves and nodes mean nothing. */
	{{.signs = {{.symptom = BU_SYMPTOM_CABLING, .by_lldp = 1, .planned = 1}},
	  .sign_count = 1},
	 "cabled to leaf late1, planned is leaf2",
	 "re-plug the cable",
	 "cabling"},
	/* However long the sentence is, the last symptom has the word. */
	{{.signs = {RATE, SIGN(LATENCY), SIGN(LOSS), SIGN(MTU), SIGN(CABLING)},
	  .sign_count = 5},
	 "slow: 3 of 3 tests again, at best 40.00 Gbit/s of 392.00 Gbit/s; late: 3 of "
	 "4 "
	 "tests again; loses packets: 3 of 4 tests again; smaller MTU than the others: "
	 "3 of 4 tests again; cabled to another leaf than planned: 3 of 4 tests again",
	 "re-plug the cable",
	 "rate,latency,loss,mtu,cabling"},
	{{.what = BU_WHAT_LINK,
	  .signs = {{.symptom = BU_SYMPTOM_LOSS, .by_switch = 1, .bad = 2, .tests = 2}},
	  .sign_count = 1},
	 "slow or lossy: 2 of 2 readings of its switch",
	 "clean or swap the cable",
	 "loss"},
	{{.what = BU_WHAT_LEAF,
	  .signs = {SIGN(RATE)},
	  .sign_count = 1,
	  .accused = 5,
	  .tested = 8},
	 "slow: 3 of 4 tests again; 5 of its 8 ports are accused, so the leaf is",
	 "swap the cable first",
	 "rate"},
	{{.what = BU_WHAT_SPINE,
	  .signs = {SIGN(RATE)},
	  .sign_count = 1,
	  .accused = 3,
	  .tested = 4,
	  .by_links = 1},
	 "slow: 3 of 4 tests again; 3 of its 4 links are accused, so the spine is",
	 "swap the cable first",
	 "rate"},
	{{.what = BU_WHAT_INCONCLUSIVE, .doubt = BU_DOUBT_LIMIT | BU_DOUBT_CLOCK},
	 "instrument in doubt with every partner: rate above the framing limit, clocks "
	 "of both ends differ",
	 "look at the NIC, its cable",
	 ""},
	{{.what = BU_WHAT_ANY, .alike = BU_ALIKE_SPRAYED},
	 "no test can tell these apart: flows are sprayed over all links of the leaf",
	 "look at the NIC, its cable",
	 ""},
	{{.what = BU_WHAT_ANY, .signs = {SIGN(LOSS)}, .sign_count = 1},
	 "no test can tell these apart: loses packets: 3 of 4 tests again",
	 "clean or swap the cable",
	 "loss"},
	{{.signs =
		  {{.symptom = BU_SYMPTOM_RATE, .bad = 3, .tests = 3, .best_gbps = 40}},
	  .sign_count = 1},
	 "slow: 3 of 3 tests again, at best 40.00 Gbit/s",
	 "swap the cable first",
	 "rate"},
};

START_TEST(the_sentence_and_the_hint_come_from_the_codes)
{
	struct bu_topology t = topology();

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_accusation_text(&t, &rows[i].one);

		ck_assert_str_eq(text, rows[i].text);
		ck_assert_msg(strncmp(bu_accusation_hint(&rows[i].one), rows[i].hint,
				      strlen(rows[i].hint)) == 0,
			      "%zu: %s", i, bu_accusation_hint(&rows[i].one));
	}
	bu_topology_fini(&t);
}
END_TEST

START_TEST(a_program_needs_no_sentence)
{
	struct bu_topology t = topology();

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *value = bu_accusation_to_json(&t, &rows[i].one);
		const json_t *list = json_object_get(value, "symptoms");
		char names[80] = "";
		json_t *sign;
		size_t k;

		json_array_foreach (list, k, sign) {
			size_t used = strlen(names);

			snprintf(names + used, sizeof(names) - used, "%s%s",
				 used ? "," : "", bu_json_str(sign, "symptom", "?"));
		}
		ck_assert_str_eq(names, rows[i].symptoms);
		ck_assert_str_eq(bu_json_str(value, "cause", ""), rows[i].text);
		ck_assert_int_eq(bu_json_int(value, "tested", 0), rows[i].one.tested);
	}
	bu_topology_fini(&t);
}
END_TEST

static void
is_json(const struct bu_accusation *one, const char *want)
{
	struct bu_topology t = topology();
	bu_autojson json_t *value = bu_accusation_to_json(&t, one);
	bu_autofree char *text = NULL;

	json_object_del(value, "cause");
	text = bu_json_canonical(value);
	ck_assert_str_eq(text, want);
	bu_topology_fini(&t);
}

/* Other people's models read this. */
START_TEST(the_codes_on_the_wire)
{
	struct bu_accusation doubt = {.what = BU_WHAT_INCONCLUSIVE,
				      .node = 1,
				      .doubt = BU_DOUBT_BYTES | BU_DOUBT_OTHER};
	struct bu_accusation link = {.what = BU_WHAT_LINK,
				     .leaf = 1,
				     .dir = BU_DIR_IN,
				     .signs = {{.symptom = BU_SYMPTOM_LOSS,
						.by_switch = 1,
						.bad = 2,
						.tests = 2}},
				     .sign_count = 1};
	struct bu_accusation any = {.what = BU_WHAT_ANY,
				    .alike = BU_ALIKE_NO_GOOD_PORT,
				    .of = &link,
				    .of_count = 1};
	struct bu_accusation port = rows[4].one;

	port.dir = BU_DIR_OUT | BU_DIR_IN;
	is_json(&doubt, "{\"doubts\":[\"bytes\",\"result\"],\"node\":\"slow2\","
			"\"symptoms\":[],\"what\":\"inconclusive\"}");
	is_json(&link, "{\"dir\":\"down\",\"leaf\":\"leaf2\",\"spine\":0,\"symptoms\":"
		       "[{\"bad\":2,\"by\":\"switch\",\"symptom\":\"loss\",\"tests\":2}"
		       "],\"what\":\"link\"}");
	is_json(&port,
		"{\"dir\":\"both\",\"node\":\"node001\",\"rail\":0,\"symptoms\":["
		"{\"by\":\"lldp\",\"leaf\":\"late1\",\"planned\":\"leaf2\","
		"\"symptom\":\"cabling\"}],\"what\":\"endpoint\"}");
	is_json(&any,
		"{\"alike\":\"no-good-port\",\"of\":[{\"cause\":\"slow or lossy: 2 of "
		"2 "
		"readings of its switch\",\"dir\":\"down\",\"leaf\":\"leaf2\","
		"\"spine\":0,\"symptoms\":[{\"bad\":2,\"by\":\"switch\",\"symptom\":"
		"\"loss\",\"tests\":2}],\"what\":\"link\"}],\"symptoms\":[],"
		"\"what\":\"any\"}");
}
END_TEST

BU_UNIT("accusation", the_sentence_and_the_hint_come_from_the_codes,
	a_program_needs_no_sentence, the_codes_on_the_wire)
