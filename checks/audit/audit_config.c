/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit that read PCI configuration space: ACS, request size, ordering.
 * Called by audit.c. Invariant: it is read within its size and in bounded steps,
 * whatever its pointers say.
 */
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum {
	CAP_EXPRESS = 0x10,
	EXT_ACS = 0x0d,
	ACS_REQ_REDIRECT = 1 << 2,
	ACS_CMPLT_REDIRECT = 1 << 3,
	DEVCTL_RELAXED = 1 << 4,
	CONFIG_SIZE = 4096,
};

static const char pci_dir[] = "sys/bus/pci/devices";

struct config {
	unsigned char *bytes;
	size_t size;
};

static void
config_fini(struct config *config)
{
	free(config->bytes);
}
#define autoconfig __attribute__((cleanup(config_fini)))

static struct config
read_config(const struct bu_audit *a, const char *address)
{
	struct config config = {0};

	config.bytes = (unsigned char *)bu_sysroot_read(
		a->root, CONFIG_SIZE, &config.size, "%s/%s/config", pci_dir, address);
	return config;
}

static unsigned
word(const struct config *config, size_t at)
{
	return at + 2 <= config->size ? config->bytes[at] | config->bytes[at + 1] << 8
				      : 0;
}

/* Offset of a capability; 0 when it has none. */
static size_t
find_cap(const struct config *config, unsigned id)
{
	size_t at = config->size > 0x34 ? config->bytes[0x34] & 0xfcU : 0;

	for (int steps = 0; at >= 0x40 && at + 2 <= config->size && steps < 48;
	     steps++) {
		if (config->bytes[at] == id)
			return at;
		at = config->bytes[at + 1] & 0xfcU;
	}
	return 0;
}

static size_t
find_ext_cap(const struct config *config, unsigned id)
{
	size_t at = 0x100;

	for (int steps = 0; at >= 0x100 && at + 4 <= config->size && steps < 480;
	     steps++) {
		if (word(config, at) == id)
			return at;
		at = word(config, at + 2) >> 4 & 0xffcU;
	}
	return 0;
}

/* Does this bridge send what should go to its neighbour up to the root first? */
static int
redirects(const struct config *config)
{
	size_t at = find_ext_cap(config, EXT_ACS);

	return at && word(config, at + 6) & (ACS_REQ_REDIRECT | ACS_CMPLT_REDIRECT);
}

/* Hops that two endpoints have in common. */
static int
common_hops(const struct bu_audit_pci *x, const struct bu_audit_pci *y)
{
	int count = 0;

	while (count < x->hop_count && count < y->hop_count &&
	       strcmp(x->hops[count], y->hops[count]) == 0)
		count++;
	return count;
}

/* Bridges of one endpoint below the common switch: was one of them judged before? */
static void
judge_acs_side(struct bu_audit *a, const struct bu_audit_pci *x,
	       const struct bu_audit_pci *y, int common, json_t *done)
{
	for (int hop = common; hop < x->hop_count - 1; hop++) {
		const char *bridge = x->hops[hop];
		struct config config autoconfig = {0};

		if (json_object_get(done, bridge))
			continue;
		json_object_set_new(done, bridge, json_true());
		config = read_config(a, bridge);
		if (config.size <= 0x100)
			bu_audit_unknown(a, bridge,
					 "bridge %s: its configuration space cannot be "
					 "read whole",
					 bridge);
		else if (redirects(&config))
			bu_audit_bad(a, bridge, "redirects", "off",
				     "bridge %s between %s and %s: ACS sends their "
				     "traffic through the root port",
				     bridge, x->label, y->label);
		else
			bu_audit_good(a, bridge, "off");
	}
}

void
bu_audit_pcie_acs(struct bu_audit *a)
{
	bu_autojson json_t *done = json_object();

	for (size_t i = 0; i < a->pci_count; i++) {
		for (size_t k = 0; a->pci[i].is_gpu && k < a->pci_count; k++) {
			int common = common_hops(&a->pci[i], &a->pci[k]);

			/* A root port and the upper port of a switch at least. */
			if (a->pci[k].is_gpu || common < 2)
				continue;
			bu_audit_look_at(a, &a->pci[k]);
			judge_acs_side(a, &a->pci[i], &a->pci[k], common, done);
			judge_acs_side(a, &a->pci[k], &a->pci[i], common, done);
		}
	}
}

static void
each_nic_control(struct bu_audit *a,
		 void (*fn)(struct bu_audit *a, const struct bu_audit_pci *pci,
			    unsigned control))
{
	for (size_t i = 0; i < a->pci_count; i++) {
		struct config config autoconfig = {0};
		size_t at;

		if (a->pci[i].is_gpu)
			continue;
		bu_audit_look_at(a, &a->pci[i]);
		config = read_config(a, a->pci[i].address);
		if (config.size >= 4 &&
		    memcmp(config.bytes, "\xff\xff\xff\xff", 4) == 0) {
			bu_audit_unknown(a, a->pci[i].address,
					 "%s: does not answer on the PCI bus",
					 a->pci[i].label);
			continue;
		}
		at = find_cap(&config, CAP_EXPRESS);
		if (at && at + 10 <= config.size)
			fn(a, &a->pci[i], word(&config, at + 8));
		else if (!at && config.size <= 0x40)
			bu_audit_unknown(a, a->pci[i].address,
					 "%s: its configuration space cannot be read",
					 a->pci[i].label);
	}
}

static void
judge_mrrs(struct bu_audit *a, const struct bu_audit_pci *pci, unsigned control)
{
	int bytes = 128 << (control >> 12 & 7);
	int least = (int)bu_audit_threshold(a, "max_read_request", 512);
	char seen[32], expected[48];

	snprintf(seen, sizeof(seen), "%d bytes", bytes);
	snprintf(expected, sizeof(expected), "at least %d bytes", least);
	bu_audit_judge(a, bytes >= least, pci->address, seen, expected,
		       "%s: MaxReadReq is %s, expected %s", pci->label, seen, expected);
}

void
bu_audit_pcie_mrrs(struct bu_audit *a)
{
	each_nic_control(a, judge_mrrs);
}

static void
judge_ordering(struct bu_audit *a, const struct bu_audit_pci *pci, unsigned control)
{
	if (control & DEVCTL_RELAXED)
		bu_audit_good(a, pci->address, "on");
	else
		bu_audit_bad(a, pci->address, "off", "on",
			     "%s: relaxed ordering is off", pci->label);
}

void
bu_audit_pcie_ro(struct bu_audit *a)
{
	each_nic_control(a, judge_ordering);
}
