/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wirings as structs and as JSON. Made by the gate from reports of checks and by the
 * command line from profiles; read by whatever renders a topology. Invariant: what came
 * out of bu_wiring_from_json() is sorted and has only printable texts.
 */
#include "model/wiring.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

void
bu_wiring_fini(struct bu_wiring *wiring)
{
	free(wiring->wires);
	free(wiring->domains);
	free(wiring->uplinks);
	free(wiring->racks);
	memset(wiring, 0, sizeof(*wiring));
}

void
bu_wiring_add(struct bu_wiring *wiring, const char *node, const char *network, int rail,
	      const char *sw, const char *port)
{
	struct bu_wire *wire;

	wiring->wires = bu_xgrow(wiring->wires, &wiring->wire_cap,
				 wiring->wire_count + 1, sizeof(*wiring->wires));
	wire = &wiring->wires[wiring->wire_count++];
	memset(wire, 0, sizeof(*wire));
	bu_text_copy(wire->node, sizeof(wire->node), node);
	bu_text_copy(wire->network, sizeof(wire->network), network);
	bu_text_copy(wire->sw, sizeof(wire->sw), sw);
	bu_text_copy(wire->port, sizeof(wire->port), port);
	wire->rail = rail;
}

void
bu_wiring_add_text(struct bu_wiring *wiring, const char *node, const char *network,
		   int rail, const char *switch_port)
{
	const char *colon = strrchr(switch_port, ':');
	bu_autofree char *sw =
		bu_xstrndup(switch_port, colon ? (size_t)(colon - switch_port)
					       : strlen(switch_port));

	bu_wiring_add(wiring, node, network, rail, sw, colon ? colon + 1 : "");
}

static void
add_pair(struct bu_wiring_pair **list, size_t *count, size_t *cap, const char *name,
	 const char *of)
{
	struct bu_wiring_pair *pair;

	*list = bu_xgrow(*list, cap, *count + 1, sizeof(**list));
	pair = &(*list)[(*count)++];
	memset(pair, 0, sizeof(*pair));
	bu_text_copy(pair->name, sizeof(pair->name), name);
	bu_text_copy(pair->of, sizeof(pair->of), of);
}

void
bu_wiring_add_domain(struct bu_wiring *wiring, const char *node, const char *domain)
{
	add_pair(&wiring->domains, &wiring->domain_count, &wiring->domain_cap, node,
		 domain);
}

void
bu_wiring_add_uplink(struct bu_wiring *wiring, const char *sw, const char *above)
{
	add_pair(&wiring->uplinks, &wiring->uplink_count, &wiring->uplink_cap, sw,
		 above);
}

void
bu_wiring_add_rack(struct bu_wiring *wiring, const char *node, const char *rack)
{
	add_pair(&wiring->racks, &wiring->rack_count, &wiring->rack_cap, node, rack);
}

static int
compare_wires(const void *a, const void *b)
{
	const struct bu_wire *x = a, *y = b;
	int order = strverscmp(x->node, y->node);

	/* A wire without a rail comes after those that have one. */
	if (order == 0)
		order = (x->rail < 0) - (y->rail < 0);
	if (order == 0)
		order = (x->rail > y->rail) - (x->rail < y->rail);
	return order ? order : strverscmp(x->network, y->network);
}

static int
compare_pairs(const void *a, const void *b)
{
	const struct bu_wiring_pair *x = a, *y = b;
	int order = strverscmp(x->name, y->name);

	return order ? order : strverscmp(x->of, y->of);
}

void
bu_wiring_sort(struct bu_wiring *wiring)
{
	if (wiring->wire_count > 0)
		qsort(wiring->wires, wiring->wire_count, sizeof(*wiring->wires),
		      compare_wires);
	if (wiring->domain_count > 0)
		qsort(wiring->domains, wiring->domain_count, sizeof(*wiring->domains),
		      compare_pairs);
	if (wiring->uplink_count > 0)
		qsort(wiring->uplinks, wiring->uplink_count, sizeof(*wiring->uplinks),
		      compare_pairs);
	if (wiring->rack_count > 0)
		qsort(wiring->racks, wiring->rack_count, sizeof(*wiring->racks),
		      compare_pairs);
}

static json_t *
pairs_to_json(const struct bu_wiring_pair *list, size_t count, const char *name,
	      const char *of)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{s:s,s:s}", name, list[i].name,
						       of, list[i].of));
	return array;
}

json_t *
bu_wiring_to_json(const struct bu_wiring *wiring)
{
	json_t *wires = json_array();

	for (size_t i = 0; i < wiring->wire_count; i++) {
		const struct bu_wire *wire = &wiring->wires[i];

		json_array_append_new(
			wires, json_pack("{s:s,s:s,s:i,s:s,s:s}", "node", wire->node,
					 "network", wire->network, "rail", wire->rail,
					 "switch", wire->sw, "port", wire->port));
	}
	return json_pack(
		"{s:i,s:o,s:o,s:o,s:o}", "v", 1, "wires", wires, "domains",
		pairs_to_json(wiring->domains, wiring->domain_count, "node", "domain"),
		"uplinks",
		pairs_to_json(wiring->uplinks, wiring->uplink_count, "switch", "above"),
		"racks",
		pairs_to_json(wiring->racks, wiring->rack_count, "node", "rack"));
}

static int
get_text(const json_t *object, const char *key, int may_be_empty, const char **ret,
	 struct bu_err *err)
{
	if (bu_json_get_str(object, key, ret, err))
		return -1;
	if (strlen(*ret) >= BU_WIRE_TEXT || (!may_be_empty && !**ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': expected 1 to %d bytes", key,
				  BU_WIRE_TEXT - 1);
	if (!bu_text_is_ascii(*ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': expected printable ASCII", key);
	return 0;
}

static int
read_wire(const json_t *value, struct bu_wiring *wiring, struct bu_err *err)
{
	const char *node, *network, *sw, *port;
	int64_t rail;

	if (get_text(value, "node", 0, &node, err) ||
	    get_text(value, "network", 0, &network, err) ||
	    get_text(value, "switch", 0, &sw, err) ||
	    get_text(value, "port", 1, &port, err) ||
	    bu_json_get_int(value, "rail", &rail, err))
		return -1;
	if (rail < -1 || rail > 63)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'rail': expected -1 to 63");
	bu_wiring_add(wiring, node, network, (int)rail, sw, port);
	return 0;
}

static int
read_domain(const json_t *value, struct bu_wiring *wiring, struct bu_err *err)
{
	const char *node, *domain;

	if (get_text(value, "node", 0, &node, err) ||
	    get_text(value, "domain", 0, &domain, err))
		return -1;
	bu_wiring_add_domain(wiring, node, domain);
	return 0;
}

static int
read_uplink(const json_t *value, struct bu_wiring *wiring, struct bu_err *err)
{
	const char *sw, *above;

	if (get_text(value, "switch", 0, &sw, err) ||
	    get_text(value, "above", 0, &above, err))
		return -1;
	bu_wiring_add_uplink(wiring, sw, above);
	return 0;
}

static int
read_rack(const json_t *value, struct bu_wiring *wiring, struct bu_err *err)
{
	const char *node, *rack;

	if (get_text(value, "node", 0, &node, err) ||
	    get_text(value, "rack", 0, &rack, err))
		return -1;
	bu_wiring_add_rack(wiring, node, rack);
	return 0;
}

static int
read_list(const json_t *value, const char *key,
	  int (*fn)(const json_t *value, struct bu_wiring *wiring, struct bu_err *err),
	  struct bu_wiring *wiring, struct bu_err *err)
{
	const json_t *list = json_object_get(value, key);
	size_t i;
	json_t *row;

	if ((list && !json_is_array(list)) || json_array_size(list) > BU_WIRES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': expected an array of at most %d", key,
				  BU_WIRES_MAX);
	json_array_foreach (list, i, row)
		if (fn(row, wiring, err))
			return bu_err_wrap(err, "%s[%zu]", key, i);
	return 0;
}

int
bu_wiring_from_json(const json_t *value, struct bu_wiring *ret, struct bu_err *err)
{
	struct bu_wiring wiring = {0};

	if (bu_json_int(value, "v", 0) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0, "wiring: expected version 1");
	if (read_list(value, "wires", read_wire, &wiring, err) ||
	    read_list(value, "domains", read_domain, &wiring, err) ||
	    read_list(value, "uplinks", read_uplink, &wiring, err) ||
	    read_list(value, "racks", read_rack, &wiring, err)) {
		bu_wiring_fini(&wiring);
		return bu_err_wrap(err, "wiring");
	}
	bu_wiring_sort(&wiring);
	*ret = wiring;
	return 0;
}
