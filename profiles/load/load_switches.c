/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of a network: their spines, and where to learn what they count. Called
 * by load_fabrics.c. Invariant: what passes can be asked without another look at the
 * profile; a password is only sent to a server that proves who it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/topology.h"
#include "profiles/load/load_internal.h"

#define FIELD(field) offsetof(struct bu_desired_network, field)

/* What the networks of one switch fabric have in common, texts all. */
static const size_t common[] = {
	FIELD(spines),
	FIELD(switch_counters),
	FIELD(switch_received),
	FIELD(switch_sent),
	FIELD(switch_device_label),
	FIELD(switch_peer_label),
	FIELD(switch_port_label),
	FIELD(switch_credentials),
};

/* Keys of a Prometheus alone; 1: a label. */
static const struct {
	const char *key;
	size_t field;
	int is_label;
} of_prometheus[] = {
	{"switch_received", FIELD(switch_received), 0},
	{"switch_sent", FIELD(switch_sent), 0},
	{"switch_device_label", FIELD(switch_device_label), 1},
	{"switch_peer_label", FIELD(switch_peer_label), 1},
	{"switch_port_label", FIELD(switch_port_label), 1},
	{"switch_delay", FIELD(switch_delay_ms), 0},
	{"switch_credentials", FIELD(switch_credentials), 0},
};

static const char *
text_of(const struct bu_desired_network *network, size_t field)
{
	return *(char *const *)((const char *)network + field);
}

int
bu_load_same_switches(const struct bu_desired_network *a,
		      const struct bu_desired_network *b)
{
	for (size_t i = 0; i < BU_LEN(common); i++)
		if (!bu_text_same(text_of(a, common[i]), text_of(b, common[i])))
			return 0;
	return a->switch_delay_ms == b->switch_delay_ms;
}

/* Readings name a leaf and a spine, and say more than the tests themselves only where
 * each flow takes all spines. */
static void
check_counters(struct bu_loader *ld, const struct bu_desired_network *one,
	       const struct bu_ini_section *section)
{
	int sprayed = one->routing && strcmp(one->routing, "sprayed") == 0;

	if (!sprayed && !one->spines && !one->switch_counters)
		return;
	if (one->role != BU_ROLE_FABRIC || one->rdma == BU_RDMA_NONE)
		bu_load_wrong(ld, section,
			      one->switch_counters ? "switch_counters"
			      : one->spines        ? "spines"
						   : "routing",
			      "is for role = fabric with RDMA; other networks are not "
			      "measured");
	if (bu_desired_counters(one) == BU_COUNTERS_INFINIBAND &&
	    one->rdma != BU_RDMA_INFINIBAND)
		bu_load_wrong(ld, section, "switch_counters",
			      "infiniband is for rdma = infiniband; give the URL of a "
			      "Prometheus");
	if (one->switch_counters && !sprayed)
		bu_load_wrong(ld, section, "switch_counters",
			      "is for routing = sprayed; give that, or take it out");
	if (one->switch_counters && !one->spines)
		bu_load_wrong(ld, section, "switch_counters",
			      "needs spines, the names that it tells");
	if (one->spines && !one->switch_counters)
		bu_load_wrong(ld, section, "spines",
			      "is for switch_counters, which is missing");
}

static void
check_spines(struct bu_loader *ld, const struct bu_desired_network *one,
	     const struct bu_ini_section *section)
{
	const char *rest = one->spines;
	int count = 0;
	char *name;

	while (rest && (name = bu_value_next_word(&rest))) {
		count++;
		free(name);
	}
	if (count > BU_TOPOLOGY_SPINES_MAX)
		bu_load_wrong(ld, section, "spines", "names %d spines; allowed are %d",
			      count, BU_TOPOLOGY_SPINES_MAX);
}

/* The names that a Prometheus itself allows. */
static int
is_label(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return text[strspn(text, letters)] == '\0' && !strchr("0123456789", text[0]);
}

static void
check_prometheus(struct bu_loader *ld, const struct bu_desired_network *one,
		 const struct bu_ini_section *section)
{
	int is_one = bu_desired_counters(one) == BU_COUNTERS_PROMETHEUS;

	for (size_t i = 0; i < BU_LEN(of_prometheus); i++) {
		const char *key = of_prometheus[i].key;

		if (!bu_ini_entry(section, key))
			continue;
		if (!is_one)
			bu_load_wrong(ld, section, key,
				      "is for switch_counters = URL of a Prometheus; "
				      "give that, or take it out");
		else if (of_prometheus[i].is_label &&
			 !is_label(text_of(one, of_prometheus[i].field)))
			bu_load_wrong(ld, section, key,
				      "is wrong; allowed is the name of a label, of "
				      "letters, digits and _, a digit not first");
	}
	if (is_one && one->switch_credentials &&
	    strncmp(one->switch_counters, "https:", 6) != 0)
		bu_load_wrong(ld, section, "switch_credentials",
			      "would cross the network in the clear; give "
			      "switch_counters an https URL");
}

void
bu_load_check_switches(struct bu_loader *ld, const struct bu_desired_network *one,
		       const struct bu_ini_section *section)
{
	check_counters(ld, one, section);
	check_spines(ld, one, section);
	check_prometheus(ld, one, section);
}
