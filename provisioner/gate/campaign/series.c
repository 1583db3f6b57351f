/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the series of switch ports. Called by prometheus.c and switches_agent.c. Pure.
 * Invariants: a port's growth counts from its first reading on; the sum of a link never
 * falls, because a reset counter begins anew from 0; a value that is not a count is an
 * error, never a zero.
 */
#include "provisioner/gate/campaign/series.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "fabric/judge/flow.h"

static const char *
label(const json_t *metric, const char *name)
{
	return bu_json_str(metric, name, "");
}

/* The series as errors name it: NAME{LABEL="VALUE",...}. */
static void
describe(const struct bu_series_of *of, const json_t *metric, char *ret, size_t size)
{
	const struct bu_series_labels *labels = &of->labels;
	bu_autofree char *text = bu_xasprintf(
		"%s{%s=\"%s\",%s=\"%s\",%s=\"%s\"}", label(metric, "__name__"),
		labels->device, label(metric, labels->device), labels->peer,
		label(metric, labels->peer), labels->port, label(metric, labels->port));

	bu_text_copy(ret, size, text);
}

/* --- links --- */

/* Finds a name as written, without its port, or without port and domain:
 * "leaf01.example.org:9116". An address has no domain. */
static int
find(const struct bu_ids *ids, const char *name)
{
	static const char *const ends[] = {"", ":", ":."};
	size_t ways = isalpha((unsigned char)name[0]) ? BU_LEN(ends) : 2;

	for (size_t i = 0; i < ways; i++) {
		bu_autofree char *head = bu_xstrndup(name, strcspn(name, ends[i]));
		const json_t *place = json_object_get(ids->index, head);

		if (place)
			return (int)json_integer_value(place);
	}
	return -1;
}

/* The series' place in struct bu_link_count[]; -1 = of no link. Up are errors that a
 * leaf sent or a spine received. */
static int
link_of(const struct bu_series_of *of, const json_t *metric)
{
	const struct bu_topology *shape = of->shape;
	const char *device = label(metric, of->labels.device);
	const char *peer = label(metric, of->labels.peer);
	int leaf = find(&shape->leaf_ids, device);
	int spine = find(&shape->spine_ids, peer);
	int is_up = of->sent;

	if (leaf < 0 || spine < 0) {
		leaf = find(&shape->leaf_ids, peer);
		spine = find(&shape->spine_ids, device);
		is_up = !of->sent;
	}
	if (leaf < 0 || spine < 0)
		return -1;
	return 2 * (leaf * shape->spines + spine) + (is_up ? BU_LINK_UP : BU_LINK_DOWN);
}

/* --- values --- */

/* Numbers come as text: "1027", "1.5e+06". Below 0 = not a count. */
static double
value_of(const json_t *sample)
{
	const char *text =
		json_string_value(json_array_get(json_object_get(sample, "value"), 1));
	char *end = NULL;
	double value = text ? strtod(text, &end) : -1;

	return text && end != text && !*end && isfinite(value) ? value : -1;
}

/* The samples of an instant vector, borrowed; NULL = not a vector. */
static const json_t *
vector_of(const json_t *answer, struct bu_err *err)
{
	const json_t *data = json_object_get(answer, "data");
	const json_t *list = json_object_get(data, "result");

	if (strcmp(bu_json_str(answer, "status", ""), "success") != 0 ||
	    strcmp(bu_json_str(data, "resultType", ""), "vector") != 0 ||
	    !json_is_array(list)) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the query gives no vector (%s); it should give one number "
			   "for each switch port",
			   bu_json_str(data, "resultType", "it has no resultType"));
		return NULL;
	}
	return list;
}

static int
refuse(const struct bu_series_of *of, const json_t *metric, const char *why,
       struct bu_err *err)
{
	char text[160];

	describe(of, metric, text, sizeof(text));
	return bu_err_set(err, BU_ERR_INVAL, 0, "series %s %s", text, why);
}

static void
pass_over(struct bu_series *series, const struct bu_series_of *of, const json_t *metric)
{
	if (!series->others++)
		describe(of, metric, series->other, sizeof(series->other));
}

static void
count(json_t *port, double value)
{
	double last = bu_json_real(port, "last", 0);
	double sum = bu_json_real(port, "sum", 0);

	/* A smaller value is a reset: the switch was restarted. */
	json_object_set_new(port, "sum",
			    json_real(sum + (value >= last ? value - last : value)));
	json_object_set_new(port, "last", json_real(value));
}

/* value: below 0 = not a count. */
static int
add_value(struct bu_series *series, const struct bu_series_of *of, const json_t *metric,
	  double value, struct bu_err *err)
{
	int link = link_of(of, metric);
	bu_autofree char *key = NULL;
	json_t *port;

	if (link < 0) {
		pass_over(series, of, metric);
		return 0;
	}
	if (value < 0)
		return refuse(of, metric, "has a value that is not a count", err);
	key = bu_xasprintf("%d\t%s\t%s\t%s", of->sent, label(metric, of->labels.device),
			   label(metric, of->labels.peer),
			   label(metric, of->labels.port));
	port = json_object_get(series->ports, key);
	if (port && bu_json_int(port, "reading", 0) == series->reading)
		return refuse(of, metric,
			      "comes twice; make the query give one, as with sum by",
			      err);
	if (port) {
		count(port, value);
	} else {
		port = json_pack("{s:i,s:f,s:f}", "link", link, "last", value, "sum",
				 0.0);
		json_object_set_new(series->ports, key, port);
	}
	json_object_set_new(port, "reading", json_integer(series->reading));
	return 0;
}

void
bu_series_begin(struct bu_series *series)
{
	if (!series->ports)
		series->ports = json_object();
	series->reading++;
	series->others = 0;
}

int
bu_series_add(struct bu_series *series, const struct bu_series_of *of,
	      const json_t *answer, struct bu_err *err)
{
	const json_t *list = vector_of(answer, err);
	const json_t *sample;
	size_t i;

	if (!list)
		return -1;
	json_array_foreach (list, i, sample)
		if (add_value(series, of, json_object_get(sample, "metric"),
			      value_of(sample), err) != 0)
			return -1;
	return 0;
}

int
bu_series_add_ports(struct bu_series *series, const struct bu_topology *shape,
		    const json_t *ports, struct bu_err *err)
{
	static const char *const fields[] = {"received", "sent"};
	struct bu_series_of of = {
		.shape = shape,
		.labels = {.device = "switch", .peer = "peer", .port = "port"}};
	const json_t *port;
	size_t i;

	json_array_foreach (ports, i, port) {
		for (of.sent = 0; of.sent < 2; of.sent++)
			if (add_value(series, &of, port,
				      bu_json_real(port, fields[of.sent], -1),
				      err) != 0)
				return -1;
	}
	return 0;
}

int
bu_series_check_age(const struct bu_series_of *of, const json_t *answer,
		    struct bu_err *err)
{
	const json_t *list = vector_of(answer, err);
	const json_t *sample;
	size_t i;

	if (!list)
		return -1;
	json_array_foreach (list, i, sample) {
		const json_t *metric = json_object_get(sample, "metric");
		char text[120];

		if (link_of(of, metric) < 0)
			continue;
		describe(of, metric, text, sizeof(text));
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "series %s is older than the load: make switch_delay "
				  "longer than it takes to ask all switches, and "
				  "compare the clocks",
				  text);
	}
	return 0;
}

/* --- the reading --- */

struct sum {
	double errors;
	int there, missing;
};

static struct sum *
add_up(const struct bu_series *series, size_t links)
{
	struct sum *sums = bu_xcalloc(links, sizeof(*sums));
	const char *key;
	json_t *port;

	json_object_foreach (series->ports, key, port) {
		struct sum *sum = &sums[bu_json_int(port, "link", 0)];

		sum->errors += bu_json_real(port, "sum", 0);
		if (bu_json_int(port, "reading", 0) == series->reading)
			sum->there = 1;
		else
			sum->missing = 1;
	}
	return sums;
}

static int
refuse_all(const struct bu_series *series, struct bu_err *err)
{
	if (json_object_size(series->ports))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "all links that were read before are gone; see "
				  "whether their switches are still reached");
	if (series->others)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"none of %zu series names a leaf and a spine, not even %s; "
			"correct switch_device_label, switch_peer_label or spines",
			series->others, series->other);
	return bu_err_set(
		err, BU_ERR_INVAL, 0,
		"there is no series; correct switch_received and switch_sent");
}

json_t *
bu_series_links(const struct bu_series *series, const struct bu_series_of *of,
		struct bu_err *err)
{
	const struct bu_topology *shape = of->shape;
	int links = 2 * shape->leaves * shape->spines;
	bu_autofree struct sum *sums = add_up(series, (size_t)links);
	json_t *list = json_array();

	for (int i = 0; i < links; i++) {
		if (!sums[i].there || sums[i].missing)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:o,s:o,s:s,s:f}", "leaf",
				  bu_ids_get(&shape->leaf_ids, i / 2 / shape->spines),
				  "spine",
				  bu_ids_get(&shape->spine_ids, i / 2 % shape->spines),
				  "dir", i % 2 == BU_LINK_UP ? "up" : "down", "errors",
				  sums[i].errors));
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	bu_ignore(refuse_all(series, err));
	return NULL;
}

void
bu_series_fini(struct bu_series *series)
{
	json_decref(series->ports);
	*series = (struct bu_series){0};
}
