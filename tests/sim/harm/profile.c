/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile as people keep it: rows of the inventory, pools, hardware classes, and
 * the edits that they make, typing errors among them. Invariant: the text is a function
 * of the struct, and goes through the daemon's own loader.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/harm/harm.h"
#include "tests/support/profiles.h"

static const char *const clusters[CLUSTERS] = {"hpc", "ai"};

void
profile_begin(void)
{
	struct profile *profile = &sim.profile;

	memset(profile, 0, sizeof(*profile));
	profile->address_from = 11;
	for (int i = 0; i < POOLS; i++) {
		profile->pool_cluster[i] = i % sim.script.clusters;
		profile->pool_hardware[i] = i % 2;
		profile->unavailable[i] = 1 + (int)dice(3);
		profile->budget[i] = 1 + (int)dice(3);
		profile->data[i] = dice(3) == 0;
		/* Not drawn: without it each seed is what it was. */
		profile->ram[i] = (sim.script.seed / 3 + (unsigned)i) % 4 == 0;
	}
	for (int i = 0; i < sim.script.nodes; i++)
		profile->rows[i] = (struct row){.present = 1,
						.serial = i,
						.mac = i,
						.bmc = i,
						.pool = i % sim.script.pools};
	for (int i = 0; i < sim.script.nodes; i++)
		snprintf(profile->rows[i].name, NAME_SIZE, "n%02d", i + 1);
}

/* --- the text --- */

static void
print_pool(const struct profile *profile, int pool, FILE *out)
{
	static const char *const features[] = {"a", "a,b", "gold"};
	static const char *const partners[] = {"any", "idle"};
	const char *comma = "";

	fprintf(out, "[pool p%d]\nnodes = ", pool);
	for (int i = 0; i < ROWS; i++) {
		if (!profile->rows[i].present || profile->rows[i].pool != pool)
			continue;
		fprintf(out, "%s%s", comma, profile->rows[i].name);
		comma = ",";
	}
	if (profile->pool_cluster[pool] >= 0)
		fprintf(out, "\ncluster = %s", clusters[profile->pool_cluster[pool]]);
	fprintf(out,
		"\nhardware = h%d\nimage = debian1%d\npower = libvirt\n"
		"networks = boot, fabric\nvalidation = pairs\nfeatures = %s\n"
		"gres = rdma:rxe:%d\nmax_unavailable = %d\nfailure_budget = %d\n"
		"partners = %s\n",
		profile->pool_hardware[pool], 2 + profile->pool_image[pool],
		features[profile->features[pool] % 3], 1 + profile->gres[pool] % 2,
		profile->unavailable[pool], profile->budget[pool],
		partners[profile->partners[pool] % 2]);
	if (profile->sysctl[pool])
		fprintf(out, "sysctl = vm.swappiness=%d\n", profile->sysctl[pool]);
	if (profile->kargs[pool])
		fprintf(out, "kargs = tick=%d\n", profile->kargs[pool]);
	if (profile->ram[pool])
		fprintf(out, "root = ram\n");
	else if (profile->data[pool])
		fprintf(out, "data = scratch:1GiB:ext4:/scratch\n");
	fputc('\n', out);
}

static int
pool_is_used(const struct profile *profile, int pool)
{
	for (int i = 0; i < ROWS; i++)
		if (profile->rows[i].present && profile->rows[i].pool == pool)
			return 1;
	return 0;
}

static char *
site_text(const struct profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "[site]\nformat = 1\nname = harm\nzone = z1\n"
		     "inventory = racks.csv\n");
	if (profile->domain)
		fprintf(out, "domain = d%d.example\n", profile->domain);
	fprintf(out,
		"\n[network boot]\nrole = boot\ncidr = 10.77.0.0/24\n"
		"addresses = 10.77.0.[%d-%d]\n\n[network fabric]\nrole = fabric\n"
		"cidr = 10.78.0.0/24\naddresses = 10.78.0.[%d-%d]\nnic = 1\n"
		"rdma = rxe\nlink_gbps = 0.02\n\n[image debian12]\n\n"
		"[image debian13]\n\n",
		profile->address_from, profile->address_from + ROWS,
		profile->address_from, profile->address_from + ROWS);
	for (int i = 0; i < 2; i++)
		fprintf(out, "[hardware h%d]\ndisk = path:bay-%d\nnics = 2\n\n", i,
			profile->disk[i]);
	for (int i = 0; i < CLUSTERS; i++)
		fprintf(out,
			"[cluster %s]\ndriver = slurm\ncontroller = 10.77.0.1:681%d\n"
			"munge_key = env:HARM_MUNGE\nslurm_conf = /harm/%s.conf\n\n",
			clusters[i], 7 + i, clusters[i]);
	fprintf(out, "[validation pairs]\nfabric = fabric\ndeadline = 30 s\n\n");
	for (int i = 0; i < POOLS; i++)
		if (pool_is_used(profile, i))
			print_pool(profile, i, out);
	fclose(out);
	return text;
}

static char *
racks_text(const struct profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "name,mac,serial,bmc\n");
	for (int i = 0; i < ROWS; i++) {
		const struct row *row = &profile->rows[i];

		if (!row->present)
			continue;
		fprintf(out, "%s,52:54:00:7%d:00:%02x,", row->name,
			row->mac < 0 ? 9 : 7, row->mac < 0 ? i : row->mac);
		fprintf(out, row->serial < 0 ? "TYPO-%d," : "SN-%03d,",
			row->serial < 0 ? i : row->serial);
		if (sim.script.seed % 3)
			fprintf(out, "qemu:///system#bay%d\n", row->bmc);
		else
			fprintf(out, "qemu:///h%d#bay%d\n", row->bmc, row->bmc);
	}
	fclose(out);
	return text;
}

struct bu_tree *
profile_tree(const struct profile *profile)
{
	bu_autofree char *site = site_text(profile), *racks = racks_text(profile);

	return bu_testing_tree("site.ini", site, "racks.csv", racks, NULL);
}

/* --- rows --- */

int
row_machine(const struct row *row)
{
	const struct machine *machine = machine_in(row->bmc);

	return machine && machine->index == row->serial && machine->index == row->mac
		       ? machine->index
		       : -1;
}

int
row_means(const struct row *row)
{
	const struct machine *machine = machine_in(row->bmc);
	int index = machine ? machine->index : -1;

	/* The serial number says it; a MAC is a hint for a row without one. */
	return (row->serial >= 0 ? row->serial : row->mac) == index ? index : -1;
}

int
row_names(const struct row *row)
{
	return row->serial == row->mac ? row->serial : row_means(row);
}

const struct row *
profile_row(const struct profile *profile, const char *name)
{
	for (int i = 0; i < ROWS; i++)
		if (profile->rows[i].present &&
		    strcmp(profile->rows[i].name, name) == 0)
			return &profile->rows[i];
	return NULL;
}

static struct row *
some_row(unsigned int which, int present)
{
	int count = 0;

	for (int i = 0; i < ROWS; i++)
		count += sim.profile.rows[i].present == present;
	if (!count)
		return NULL;
	which %= (unsigned)count;
	for (int i = 0; i < ROWS; i++)
		if (sim.profile.rows[i].present == present && which-- == 0)
			return &sim.profile.rows[i];
	return NULL;
}

static int
bay_of_node(const char *name)
{
	for (int i = 0; i < BAYS; i++) {
		const struct machine *machine = machine_in(i);
		const struct bu_node *node = machine ? daemon_node_of(machine) : NULL;

		if (node && strcmp(node->name, name) == 0)
			return i;
	}
	return -1;
}

/* Whose machine is at work, or out, keeps its name until that is over. */
static void
name_back(struct row *row)
{
	const struct machine *machine = machine_in(row->bmc);
	const struct bu_node *node = machine ? daemon_node_of(machine) : NULL;

	if (row->present && node && node->state != BU_STATE_READY &&
	    !profile_row(&sim.profile, node->name))
		memcpy(row->name, node->name, sizeof(row->name));
}

/* The data partitions of a machine are found by the name that they were made under. */
static void
keep_name_of_data(struct row *row)
{
	int machine = row_names(row);
	char name[NAME_SIZE];

	if (!row->present || machine < 0 || !sim.profile.data[row->pool])
		return;
	for (int i = 0; i < ROWS; i++) {
		const struct row *was = &sim.applied.rows[i];
		struct row *other = (struct row *)profile_row(&sim.profile, was->name);

		if (!was->present || row_names(was) != machine || other == row)
			continue;
		memcpy(name, row->name, sizeof(name));
		memcpy(row->name, was->name, sizeof(row->name));
		if (other)
			memcpy(other->name, name, sizeof(name));
		return;
	}
}

/* Who has a machine keeps it; nobody else has a row with its bay. */
void
profile_set_known(void)
{
	for (int i = 0; i < ROWS; i++)
		name_back(&sim.profile.rows[i]);
	for (int i = 0; i < ROWS; i++)
		keep_name_of_data(&sim.profile.rows[i]);
	for (int i = 0; i < ROWS; i++) {
		int bay = bay_of_node(sim.profile.rows[i].name);

		for (int k = 0; bay >= 0 && k < ROWS; k++)
			if (k != i && sim.profile.rows[k].bmc == bay &&
			    bay_of_node(sim.profile.rows[k].name) < 0)
				sim.profile.rows[k].present = 0;
		if (bay >= 0 && sim.profile.rows[i].present)
			sim.profile.rows[i].bmc = bay;
	}
	profile_set_right();
}

/* Each row says what is true of the bay that it names; of two that name one bay the
 * second is no row any more. */
void
profile_set_right(void)
{
	for (int i = 0; i < ROWS; i++) {
		struct row *row = &sim.profile.rows[i];
		const struct machine *machine = machine_in(row->bmc);

		if (!row->present)
			continue;
		for (int k = 0; k < i; k++)
			if (sim.profile.rows[k].present &&
			    sim.profile.rows[k].bmc == row->bmc)
				row->present = 0;
		if (machine)
			row->serial = row->mac = machine->index;
		else
			row->present = 0;
	}
}

/* --- edits --- */

static void
swap(int *a, int *b)
{
	int kept = *a;

	*a = *b;
	*b = kept;
}

static void
new_name(struct row *row, unsigned int which)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%c%02u", "nmxz"[which % 4], 1 + which / 4 % 16);
	if (!profile_row(&sim.profile, name))
		memcpy(row->name, name, sizeof(name));
}

static void
edit_two(enum verb verb, struct row *one, struct row *two)
{
	char name[NAME_SIZE];

	if (verb == VERB_SWAP_MACS) {
		swap(&one->mac, &two->mac);
	} else if (verb == VERB_SWAP_SERIALS) {
		swap(&one->serial, &two->serial);
	} else if (verb == VERB_SWAP_BMCS) {
		swap(&one->bmc, &two->bmc);
	} else {
		memcpy(name, one->name, sizeof(name));
		memcpy(one->name, two->name, sizeof(name));
		memcpy(two->name, name, sizeof(name));
	}
}

static void
add_row(const struct step *step)
{
	struct row *row = some_row(0, 0);
	int bay = (int)(step->b % (unsigned)sim.script.bays);

	if (!row)
		return;
	for (int i = 0; i < ROWS; i++)
		if (sim.profile.rows[i].present && sim.profile.rows[i].bmc == bay)
			return;
	*row = (struct row){.bmc = bay, .pool = (int)(step->c % (unsigned)POOLS)};
	row->serial = row->mac = sim.bays[bay];
	new_name(row, step->a);
	row->present = row->name[0] != '\0' && sim.bays[bay] >= 0;
}

static void
edit_pool(const struct step *step, int pool)
{
	struct profile *p = &sim.profile;

	switch (step->verb) {
	case VERB_CLUSTER:
		p->pool_cluster[pool] = (int)(step->b % (CLUSTERS + 1)) - 1;
		break;
	case VERB_IMAGE:
		p->pool_image[pool] ^= 1;
		break;
	case VERB_FEATURES:
		p->features[pool]++;
		break;
	case VERB_SYSCTL:
		p->sysctl[pool] = 1 + (int)(step->b % 50);
		break;
	case VERB_KARGS:
		p->kargs[pool] = 1 + (int)(step->b % 50);
		break;
	case VERB_NO_KARGS:
		p->kargs[pool] = 0;
		break;
	case VERB_GRES:
		p->gres[pool]++;
		break;
	case VERB_DATA:
		if (step->c % 2)
			p->ram[pool] ^= 1;
		else
			p->data[pool] ^= 1;
		break;
	default: /* LIMITS */
		p->unavailable[pool] = 1 + (int)(step->b % 4);
		p->budget[pool] = 1 + (int)(step->c % 4);
		p->partners[pool] = (int)(step->c / 4 % 2);
	}
}

static void
edit_row(const struct step *step, struct row *row)
{
	switch (step->verb) {
	case VERB_RENAME:
		new_name(row, step->b);
		break;
	case VERB_POOL:
		row->pool = (int)(step->b % (unsigned)POOLS);
		break;
	case VERB_REMOVE:
		row->present = 0;
		break;
	case VERB_TYPO_MAC:
		row->mac = -1;
		break;
	default: /* TYPO_SERIAL */
		row->serial = -1;
	}
}

int
profile_edit(const struct step *step, char *words, size_t size)
{
	struct row *one = some_row(step->a, 1), *two = some_row(step->b, 1);
	int pool = (int)(step->a % (unsigned)sim.script.pools);
	int hardware = (int)(step->a % 2);

	snprintf(words, size, "%s of %s, %s, pool p%d", verb_name(step->verb),
		 one ? one->name : "nothing", two ? two->name : "nothing", pool);
	switch (step->verb) {
	case VERB_RENAME:
	case VERB_POOL:
	case VERB_REMOVE:
	case VERB_TYPO_MAC:
	case VERB_TYPO_SERIAL:
		if (one)
			edit_row(step, one);
		return 1;
	case VERB_SWAP_NAMES:
	case VERB_SWAP_MACS:
	case VERB_SWAP_SERIALS:
	case VERB_SWAP_BMCS:
		if (one && two && one != two)
			edit_two(step->verb, one, two);
		return 1;
	case VERB_DISK:
		sim.profile.disk[hardware] ^= 1;
		return 1;
	case VERB_ADDRESS:
		sim.profile.address_from = 11 + (int)(step->a % 20);
		return 1;
	case VERB_ADD:
		add_row(step);
		return 1;
	case VERB_RIGHT:
		profile_set_right();
		return 1;
	case VERB_CLUSTER:
	case VERB_IMAGE:
	case VERB_FEATURES:
	case VERB_SYSCTL:
	case VERB_KARGS:
	case VERB_NO_KARGS:
	case VERB_GRES:
	case VERB_DATA:
	case VERB_LIMITS:
		edit_pool(step, pool);
		return 1;
	default:
		return 0;
	}
}
