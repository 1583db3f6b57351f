/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that no MAC of the profile leads to. They boot the ramdisk without a node
 * and without a token, and tell what they are; nothing is written on them. One that is
 * told by the serial number or the UUID of a node whose boot is ordered is that node's
 * machine from here on: it gets the token, and its MACs are learned when it trades it.
 * All others are listed for whoever enrols them. Called by routes.c and boot.c.
 * Invariant: what is listed is a fact of memory, and is told again by what still is
 * there.
 */
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/hello.h"
#include "provisioner/api/api.h"
#include "provisioner/api/strangers.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/proof.h"

/* FORGET: who has not told again for so long is gone. */
enum { AGAIN_S = 10, FORGET_MS = 15 * 60 * 1000, UNKNOWN_MAX = 1024 };

static int64_t
wall_ms(const struct bu_api *api)
{
	return bu_wall_ms(bu_loop_clock(api->fleet->loop));
}

/* Those that were not heard for long, and the oldest when there are too many. */
static void
forget(const struct bu_api *api)
{
	json_t *unknown = api->fleet->unknown;
	const char *id, *oldest = NULL;
	int64_t oldest_ms = INT64_MAX;
	json_t *one;
	void *next;

	json_object_foreach_safe(unknown, next, id, one)
	{
		int64_t last_ms = bu_json_int(one, "last_ms", 0);

		if (wall_ms(api) - last_ms > FORGET_MS) {
			json_object_del(unknown, id);
		} else if (last_ms < oldest_ms) {
			oldest = id;
			oldest_ms = last_ms;
		}
	}
	if (oldest && json_object_size(unknown) >= UNKNOWN_MAX)
		json_object_del(unknown, oldest);
}

/* One host does not fill the list: it has some places, and its first makes room. */
static int
make_room(const struct bu_api *api, const char *source)
{
	json_t *unknown = api->fleet->unknown, *one;
	int64_t first_ms = INT64_MAX, count = 0;
	const char *id, *first = NULL;

	json_object_foreach (unknown, id, one) {
		if (!*source || strcmp(bu_json_str(one, "source", ""), source) != 0)
			continue;
		count++;
		if (bu_json_int(one, "first_ms", 0) < first_ms) {
			first = id;
			first_ms = bu_json_int(one, "first_ms", 0);
		}
	}
	if (count < bu_limit_info(BU_LIMIT_UNKNOWN)->most)
		return 0;
	bu_server_refused(api->server, BU_LIMIT_UNKNOWN, source);
	json_object_del(unknown, first);
	return 1;
}

static int
asks_all(const struct bu_api *api)
{
	return strcmp(api->fleet->desired->site.discover, "yes") == 0;
}

/* One that has told what it is, and was no node: is it one by now? */
static int
is_wanted(const struct bu_api *api, const char *mac, int *ret_told)
{
	struct bu_machine machine;
	const char *id;
	json_t *one;

	*ret_told = 0;
	json_object_foreach (api->fleet->unknown, id, one) {
		bu_machine_from_json(json_object_get(one, "machine"), &machine);
		if (!bu_machine_has_mac(&machine, mac))
			continue;
		*ret_told = 1;
		return bu_reconcile_claimed(api->rec, &machine, mac, NULL) != NULL;
	}
	return 0;
}

int
bu_api_discovers(const struct bu_api *api, const char *mac)
{
	int told, wanted;

	if (!api->fleet->desired)
		return 0;
	if (asks_all(api))
		return 1;
	forget(api);
	wanted = is_wanted(api, mac, &told);
	if (told)
		return wanted;
	for (size_t i = 0; i < api->fleet->count; i++)
		if (bu_reconcile_lacks_mac(api->rec, api->fleet->nodes[i]))
			return 1;
	return 0;
}

/* "h100, spare": the hardware classes that have what it has; "" when none does. */
static char *
classes_of(const struct bu_api *api, const struct bu_inventory *inventory)
{
	const struct bu_desired *desired = api->fleet->desired;
	struct bu_reason why;
	char *text = NULL;

	for (size_t i = 0; desired && i < desired->hardware_count; i++)
		if (bu_class_fits(&desired->hardware[i], 0, inventory, &why))
			bu_text_add(&text, ", ", "%s", desired->hardware[i].name);
	return text ? text : bu_xstrdup("");
}

/* Who tells of a machine. */
struct source {
	const char *address, *wire; /* wire: its MAC there, else its address */
};

/* What a person needs to write a row of the profile's inventory for it. */
static void
list(const struct bu_api *api, const struct bu_inventory *inventory,
     const struct bu_machine *machine, const struct source *from, const char *why)
{
	json_t *unknown = api->fleet->unknown, *before, *one;
	bu_autofree char *classes = classes_of(api, inventory);
	char id[BU_MACHINE_ID_SIZE];
	int64_t first_ms;

	if (bu_machine_id(machine, id, NULL) != 0)
		return;
	before = json_object_get(unknown, id);
	first_ms = bu_json_int(before, "first_ms", wall_ms(api));
	if (!before) {
		bu_autofree char *words = bu_machine_words(machine);

		forget(api);
		if (!make_room(api, from->wire))
			bu_info("boot", "an unknown machine at %s: %s; %s",
				from->address, words, why);
	}
	one = json_pack(
		"{s:o,s:s,s:s,s:s,s:s,s:s,s:I,s:i,s:i,s:i,s:i,s:I,s:I}", "machine",
		bu_machine_to_json(machine), "address", from->address, "source",
		from->wire, "product", inventory->dmi.product, "classes", classes,
		"why", why, "memory_bytes", (json_int_t)inventory->memory_bytes, "cpus",
		inventory->cpu.threads, "disks", (int)inventory->disks_count, "nics",
		(int)inventory->nics_count, "gpus", (int)inventory->gpus_count,
		"first_ms", (json_int_t)first_ms, "last_ms", (json_int_t)wall_ms(api));
	json_object_set_new(unknown, id, one);
}

static json_t *
claim(const struct bu_api *api, struct bu_node *node)
{
	char token[BU_DIGEST_SIZE];

	bu_trust_token(api->trust, node->step.id, node->step.attempt, token);
	return json_pack("{s:s,s:s}", "node", node->name, "token", token);
}

/* To a host that may be anybody: what stands against it names nodes and serial numbers,
 * and is for the operator alone. */
static json_t *
nothing(const struct bu_api *api)
{
	/* Somebody else's machine is not kept from its own system. */
	return json_pack("{s:i,s:s,s:b}", "again_s", AGAIN_S, "why",
			 "no boot of this machine is ordered; 'bringup node list "
			 "--unknown' says more",
			 "leave", !api->fleet->desired || !asks_all(api));
}

/* It boots its own system. */
static json_t *
leave(void)
{
	return json_pack("{s:i,s:s,s:b}", "again_s", AGAIN_S, "why",
			 "this is a network card, and no node", "leave", 1);
}

/* mac: NULL = it was not seen on a wire with us. */
static struct bu_node *
find_claimed(const struct bu_api *api, const struct bu_machine *cards, const char *mac,
	     const char *address, struct bu_err *err)
{
	struct bu_node *node = bu_reconcile_claimed(api->rec, cards, mac, err);

	if (!node || mac ||
	    !bu_stranger_attached(api, bu_fleet_reach(api->fleet, node)))
		return node;
	bu_err_set(err, BU_ERR_DENIED, 0,
		   "it says that it is the machine of %s, and is not on its wire",
		   node->name);
	bu_proof_claimed(api->rec, node, address, "");
	return NULL;
}

BU_HANDLER(bu_api_agent_discover)
{
	struct bu_api *api = arg;
	bu_autoinventory struct bu_inventory *inventory = NULL;
	char address[BU_ADDRESS_SIZE];
	const char *mac;
	struct bu_seen seen;
	struct bu_machine machine, cards;
	struct bu_node *node;
	struct bu_err why = {0};
	struct source from = {address, address};
	int known;

	if (bu_request_within(request, BU_LIMIT_STRANGERS, err) != 0)
		return BU_ANSWER_ERROR;
	inventory = bu_inventory_from_json(json_object_get(request->body, "inventory"),
					   err);
	if (!inventory)
		return BU_ANSWER_ERROR;
	bu_inventory_machine(inventory, &machine);
	bu_inventory_cards(inventory, &cards);
	bu_request_address(request, address);
	bu_request_seen(request, &seen);
	known = seen.place == BU_WIRE_ON;
	mac = seen.mac;
	from.wire = known ? mac : address;
	/* It speaks for itself alone. */
	if (known && (!bu_machine_has_mac(&cards, mac) ||
		      (*seen.answers && !bu_machine_has_mac(&cards, seen.answers))))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the host at %s has MAC %s, and the machine that it "
				  "tells of has no such card",
				  address, mac);
	/* It shares the host's boot network, and may say what somebody told it. */
	if (bu_machine_is_dpu(inventory->dmi.product)) {
		list(api, inventory, &machine, &from,
		     "it is a network card that is a computer (a DPU), and no node");
		reply->json = leave();
		return BU_ANSWER_NOW;
	}
	node = find_claimed(api, &cards, known ? mac : NULL, address, &why);
	if (node && bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0)
		return BU_ANSWER_ERROR;
	if (node) {
		bu_info("boot", "%s: the machine at %s is told by the profile",
			node->name, address);
		reply->json = claim(api, node);
		return BU_ANSWER_NOW;
	}
	if (known)
		bu_machine_add_mac(&machine, mac);
	list(api, inventory, &machine, &from, why.text);
	reply->json = nothing(api);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_machines)
{
	struct bu_api *api = arg;
	json_t *unknown = json_array(), *one;
	const char *id;

	forget(api);
	json_object_foreach (api->fleet->unknown, id, one)
		json_array_append(unknown, one);
	reply->json = json_pack("{s:o,s:I}", "unknown", unknown, "time_ms",
				(json_int_t)wall_ms(api));
	return BU_ANSWER_NOW;
}
