/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of sections and keys, and how to find one's way in it. Called by the
 * loader; documentation loops over it. Invariant: each default passes its own key's
 * check (a unit test holds it).
 */
#include "profiles/schema.h"

#include <string.h>

#include "profiles/desired.h"

static const struct bu_section_kind kinds[] = {
	{"site", NULL, "the tree as a whole; stands in site.ini"},
	{"network", "a network", "an IP network that nodes have a NIC in"},
	{"image", "an image", "what a node runs"},
	{"hardware", "a hardware class", "what a machine must have"},
	{"cluster", "a cluster", "the training cluster that nodes join"},
	{"validation", "a validation", "what a node must prove before it joins"},
	{"pool", "a pool", "nodes that share hardware class, image and cluster"},
	{"node", "a node", "what differs for one node of a pool"},
};

#define FIELD(kind, field) offsetof(struct bu_desired_##kind, field)
#define NONE BU_KEY_NO_FIELD
#define GIB (1024.0 * 1024 * 1024)
#define DAY_MS (24.0 * 3600 * 1000)
#define POWER_DRIVERS "libvirt|redfish|ipmi"

/* clang-format off */
static const struct bu_key keys[] = {
{"site", "format", BU_KEY_INT, NULL, 1, 1, "required", NONE,
	"version of this language"},
{"site", "name", BU_KEY_NAME, NULL, 0, 0, "required", FIELD(site, name),
	"name of the site"},
{"site", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(site, zone),
	"where it is; nodes without a zone of their own get it"},
{"site", "include", BU_KEY_WORDS, NULL, 0, 0, NULL, NONE,
	"further files; '*' and '?' do not match '/'"},
{"site", "inventory", BU_KEY_FILE, NULL, 0, 0, NULL, NONE,
	"CSV file: name, mac, serial, bmc, rack, slot, zone"},

{"network", "role", BU_KEY_ENUM, "boot|fabric", 0, 0, "required", FIELD(network, role),
	"boot: nodes start and are managed over it; fabric: jobs use it"},
{"network", "cidr", BU_KEY_CIDR, NULL, 8, 30, "required", FIELD(network, cidr),
	"the network"},
{"network", "addresses", BU_KEY_ADDRESSES, NULL, 0, 0, "required", NONE,
	"handed out by position to the nodes of the pools that name the network"},
{"network", "link_gbps", BU_KEY_REAL, NULL, 0.001, 10000, NULL, FIELD(network, link_gbps),
	"rate of a node's link, 10^9 bit/s"},
{"network", "rdma", BU_KEY_ENUM, "none|rxe|hardware", 0, 0, "none", FIELD(network, rdma),
	"rxe: RDMA in software over any Ethernet NIC"},
{"network", "nic", BU_KEY_INT, NULL, 0, 63, "0", FIELD(network, nic),
	"which NIC of a node, counted from 0 in PCI order"},
{"network", "mtu", BU_KEY_INT, NULL, 576, 9216, NULL, FIELD(network, mtu),
	"bytes"},

{"image", "path", BU_KEY_PATH, NULL, 0, 0, NULL, FIELD(image, path),
	"its folder; without it, the appliance's image folder"},
{"image", "key", BU_KEY_SECRET, NULL, 0, 0, NULL, FIELD(image, key_path),
	"public key that it must be signed with; without it, the appliance's"},

{"hardware", "disk", BU_KEY_PATH, NULL, 0, 0, "required", FIELD(hardware, disk),
	"the only disk that is ever written"},
{"hardware", "memory_min", BU_KEY_SIZE, NULL, 1, 65536 * GIB, NULL,
	FIELD(hardware, memory_min_bytes), "least memory"},
{"hardware", "cpus_min", BU_KEY_INT, NULL, 1, 65536, NULL, FIELD(hardware, cpus_min),
	"least number of logical CPUs"},
{"hardware", "gpus", BU_KEY_INT, NULL, 1, 64, NULL, FIELD(hardware, gpus),
	"number of GPUs"},
{"hardware", "nics", BU_KEY_INT, NULL, 1, 64, NULL, FIELD(hardware, nics),
	"number of NICs"},

{"cluster", "driver", BU_KEY_CHOICE, "slurm", 0, 0, "required", FIELD(cluster, driver),
	"kind of cluster"},
{"cluster", "controller", BU_KEY_HOSTPORT, NULL, 0, 0, "required",
	FIELD(cluster, controller), "where its controller listens"},
{"cluster", "munge_key", BU_KEY_SECRET, NULL, 0, 0, "file:/etc/munge/munge.key",
	FIELD(cluster, munge_key_path), "key of munge, on the appliance"},
{"cluster", "slurm_conf", BU_KEY_PATH, NULL, 0, 0, "/etc/slurm/slurm.conf",
	FIELD(cluster, slurm_conf_path), "slurm.conf, on the appliance"},

{"validation", "fabric", BU_KEY_REF, "network", 0, 0, "required",
	FIELD(validation, fabric), "network that is measured"},
{"validation", "bw_min", BU_KEY_PERCENT, NULL, 1, 100, "80 %",
	FIELD(validation, bw_min_percent), "least bandwidth, of the network's link_gbps"},
{"validation", "runs", BU_KEY_INT, NULL, 1, 99, "5", FIELD(validation, runs),
	"runs in each direction; their median counts"},
{"validation", "message_size", BU_KEY_SIZE, NULL, 1, GIB, "64 KiB",
	FIELD(validation, message_bytes), "bytes of one RDMA write"},
{"validation", "run_size", BU_KEY_SIZE, NULL, 1, 1024 * GIB, "2 MiB",
	FIELD(validation, run_bytes), "bytes written in one run"},
{"validation", "lat_max_us", BU_KEY_REAL, NULL, 0.1, 1e9, NULL,
	FIELD(validation, lat_max_us), "greatest latency; without it, only reported"},
{"validation", "deadline", BU_KEY_DURATION, NULL, 1000, DAY_MS, "120 s",
	FIELD(validation, deadline_ms), "time for the probe of one pair"},

{"pool", "nodes", BU_KEY_NODESET, NULL, 0, 0, "required", NONE,
	"its nodes; a node is in one pool"},
{"pool", "hardware", BU_KEY_REF, "hardware", 0, 0, "required", FIELD(pool, hardware),
	"hardware class of its machines"},
{"pool", "image", BU_KEY_REF, "image", 0, 0, "required", FIELD(pool, image),
	"what its nodes run"},
{"pool", "power", BU_KEY_CHOICE, POWER_DRIVERS, 0, 0, "required", FIELD(pool, power),
	"how its machines are switched on and off"},
{"pool", "cluster", BU_KEY_REF, "cluster", 0, 0, NULL, FIELD(pool, cluster),
	"cluster that its nodes join; without it, none"},
{"pool", "networks", BU_KEY_REFS, "network", 0, 0, "required", NONE,
	"its networks, exactly one with role = boot among them"},
{"pool", "validation", BU_KEY_REF, "validation", 0, 0, NULL, FIELD(pool, validation),
	"what must be proven before joining; required with a cluster"},
{"pool", "features", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(pool, features),
	"features of the nodes in the cluster"},
{"pool", "gres", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(pool, gres),
	"generic resources in the cluster, like rdma:rxe:1"},
{"pool", "max_unavailable", BU_KEY_LIMIT, NULL, 0, 0, "1", NONE,
	"nodes that may be out of the cluster at once"},
{"pool", "kargs", BU_KEY_TEXT, NULL, 0, 0, NULL, FIELD(pool, kargs),
	"added to the kernel's command line"},

{"node", "image", BU_KEY_REF, "image", 0, 0, NULL, FIELD(node, image),
	"instead of the pool's"},
{"node", "power", BU_KEY_CHOICE, POWER_DRIVERS, 0, 0, NULL, FIELD(node, power),
	"instead of the pool's"},
{"node", "kargs", BU_KEY_TEXT, NULL, 0, 0, NULL, FIELD(node, kargs),
	"instead of the pool's"},
{"node", "mac", BU_KEY_MAC, NULL, 0, 0, NULL, FIELD(node, mac),
	"of the boot NIC; instead of the inventory's, as all that follow"},
{"node", "serial", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, serial),
	"serial number of the machine"},
{"node", "bmc", BU_KEY_URL, NULL, 0, 0, NULL, FIELD(node, bmc),
	"what the power driver talks to"},
{"node", "rack", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, rack), "rack"},
{"node", "slot", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, slot), "slot in the rack"},
{"node", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, zone), "zone"},
};
/* clang-format on */

const struct bu_section_kind *
bu_schema_kinds(size_t *ret_count)
{
	*ret_count = BU_LEN(kinds);
	return kinds;
}

const struct bu_key *
bu_schema_keys(size_t *ret_count)
{
	*ret_count = BU_LEN(keys);
	return keys;
}

const struct bu_section_kind *
bu_schema_kind(const char *kind)
{
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return &kinds[i];
	return NULL;
}

const struct bu_key *
bu_schema_key(const char *kind, const char *key)
{
	for (size_t i = 0; i < BU_LEN(keys); i++)
		if (strcmp(keys[i].section, kind) == 0 && strcmp(keys[i].key, key) == 0)
			return &keys[i];
	return NULL;
}

int
bu_key_required(const struct bu_key *key)
{
	return key->need && strcmp(key->need, "required") == 0;
}

const char *
bu_key_default(const struct bu_key *key)
{
	return bu_key_required(key) ? NULL : key->need;
}

enum { WORD_MAX = 40 };

/* Levenshtein; longer words are cut, for a suggestion that does. */
static size_t
distance(const char *a, const char *b)
{
	size_t m = strnlen(a, WORD_MAX), n = strnlen(b, WORD_MAX);
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

char *
bu_did_you_mean(const char *word, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t least = strlen(word) > 5 ? 3 : 2;

	for (size_t i = 0; i < count; i++) {
		size_t d = candidates[i] ? distance(word, candidates[i]) : least + 1;

		if (d <= least && (!best || d < least)) {
			best = candidates[i];
			least = d;
		}
	}
	return best ? bu_xasprintf(" (did you mean '%s'?)", best) : bu_xstrdup("");
}

char *
bu_schema_suggest(const char *kind, const char *key)
{
	const char *candidates[BU_LEN(keys) + BU_LEN(kinds)];
	size_t count = 0;

	for (size_t i = 0; !key && i < BU_LEN(kinds); i++)
		candidates[count++] = kinds[i].kind;
	for (size_t i = 0; key && i < BU_LEN(keys); i++)
		if (strcmp(keys[i].section, kind) == 0)
			candidates[count++] = keys[i].key;
	return bu_did_you_mean(key ? key : kind, candidates, count);
}
