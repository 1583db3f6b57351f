/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup import DIR: writes a profile tree of the machines that the daemon has seen: a
 * hardware class for each kind of machine, a pool for each class, the machines in
 * racks.csv. What no machine can tell (image, addresses, BMC) is said in comments.
 * Invariant: nothing that is there is written over.
 */
#include "cli/commands/import.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "model/disk_own.h"
#include "model/inventory.h"
#include "profiles/language/schema.h"
#include "profiles/nodeset/nodeset.h"

enum { GIB = 1 << 30 };

/* Machines that are alike become one class. */
struct class
{
	char *key; /* what makes them alike; owned */
	char *disk;
	int64_t memory_gib;
	int cpus;
	size_t gpus, nics;
	const char **names; /* of nodes, borrowed */
	size_t count, cap;
};

struct classes {
	struct class *items;
	size_t count, cap;
};

/* The smallest, for data usually lies on the larger ones; of several that are, the
 * first by where it is. */
static const char *
system_disk(const struct bu_inventory *inventory)
{
	int64_t least = INT64_MAX;
	size_t count = 0;

	for (size_t i = 0; i < inventory->disks_count; i++) {
		const struct bu_disk *disk = &inventory->disks[i];

		if (!bu_disk_bears(disk) || disk->size_bytes > least)
			continue;
		count = disk->size_bytes < least ? 1 : count + 1;
		least = disk->size_bytes;
	}
	return count > 1 ? "smallest, first" : "smallest";
}

static struct class *
class_of(struct classes *classes, const struct bu_inventory *inventory)
{
	const char *disk = system_disk(inventory);
	int64_t memory = inventory->memory_bytes / GIB;
	int cpus = inventory->cpu.threads;
	size_t gpus = inventory->gpus_count, nics = inventory->nics_count;
	bu_autofree char *key = bu_xasprintf("%s %lld %d %zu %zu", disk,
					     (long long)memory, cpus, gpus, nics);

	for (size_t i = 0; i < classes->count; i++)
		if (strcmp(classes->items[i].key, key) == 0)
			return &classes->items[i];
	classes->items = bu_xgrow(classes->items, &classes->cap, classes->count + 1,
				  sizeof(*classes->items));
	classes->items[classes->count] = (struct class){.key = bu_steal(&key),
							.disk = bu_xstrdup(disk),
							.memory_gib = memory,
							.cpus = cpus,
							.gpus = gpus,
							.nics = nics};
	return &classes->items[classes->count++];
}

/* A field of the CSV: what the loader would refuse is left empty. */
static void
print_field(const char *key, const char *text, FILE *csv)
{
	int ok = *text &&
		 bu_value_parse(bu_schema_key("node", key), text, NULL, NULL) == 0;
	bu_autofree char *cell = bu_csv_cell(text);

	fprintf(csv, ",%s", ok && !strpbrk(text, ",;\"") ? cell : "");
}

static void
add_node(struct classes *classes, const json_t *node,
	 const struct bu_inventory *inventory, FILE *csv)
{
	const char *name = bu_json_str(node, "name", "");
	struct class *class = class_of(classes, inventory);

	class->names = bu_xgrow(class->names, &class->cap, class->count + 1,
				sizeof(*class->names));
	class->names[class->count++] = name;
	fputs(name, csv);
	print_field("mac", inventory->nics_count ? inventory->nics[0].mac : "", csv);
	print_field("serial",
		    bu_machine_says(inventory->dmi.serial) ? inventory->dmi.serial : "",
		    csv);
	print_field("rack", bu_json_str(node, "rack", ""), csv);
	print_field("slot", bu_json_str(node, "slot", ""), csv);
	fputc('\n', csv);
}

static void
print_class(const struct class *class, size_t number, FILE *ini)
{
	bu_autofree char *nodes = bu_nodeset_fold(class->names, class->count);

	fprintf(ini, "\n[hardware class%zu]\ndisk = %s\n", number, class->disk);
	if (class->memory_gib > 1)
		/* What a kernel sees differs a little from machine to machine. */
		fprintf(ini, "memory_min = %lld GiB\n",
			(long long)(class->memory_gib - class->memory_gib / 32));
	if (class->cpus > 0)
		fprintf(ini, "cpus_min = %d\n", class->cpus);
	if (class->gpus)
		fprintf(ini, "gpus = %zu\n", class->gpus);
	if (class->nics)
		fprintf(ini, "nics = %zu\n", class->nics);
	fprintf(ini,
		"\n[pool class%zu]\nnodes = %s\nhardware = class%zu\nimage = debian12\n"
		"networks = boot\n"
		"# How they are switched on and off, and where their controllers are:\n"
		"# power = redfish\n# bmc = https://bmc-[1-%zu].oob\n",
		number, nodes, number, class->count);
}

static void
print_site(const struct classes *classes, const char *name, FILE *ini)
{
	fprintf(ini,
		"# Written by bringup import from the machines that were seen. "
		"Comments mark what\n"
		"# they cannot report; `bringup check` names what is missing.\n"
		"\n"
		"[site]\n"
		"format = 1\n"
		"name = %s\n"
		"inventory = racks.csv\n"
		"\n"
		"# The network that they start from, an address for each:\n"
		"[network boot]\n"
		"role = boot\n"
		"# cidr = 10.77.0.0/24\n"
		"# addresses = 10.77.0.[11-42]\n"
		"\n"
		"[image debian12]\n",
		name);
	for (size_t i = 0; i < classes->count; i++)
		print_class(&classes->items[i], i + 1, ini);
}

static void
free_classes(struct classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		free(classes->items[i].key);
		free(classes->items[i].disk);
		free(classes->items[i].names);
	}
	free(classes->items);
}

/* -1: a machine tells what cannot be read. */
static int
add_nodes(struct classes *classes, const json_t *nodes, FILE *csv, size_t *ret_count,
	  struct bu_err *err)
{
	size_t i;
	const json_t *node;

	fputs("name,mac,serial,rack,slot\n", csv);
	json_array_foreach (nodes, i, node) {
		const char *name = bu_json_str(node, "name", "");
		const json_t *value = json_object_get(node, "inventory");
		bu_autoinventory struct bu_inventory *inventory = NULL;

		if (!json_is_object(value) || !bu_node_name_ok(name))
			continue;
		inventory = bu_inventory_from_json(value, err);
		if (!inventory)
			return bu_err_wrap(err, "node %s", name);
		add_node(classes, node, inventory, csv);
		++*ret_count;
	}
	if (*ret_count == 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no machine has reported its hardware yet; boot one "
				  "from the network, and try again");
	return 0;
}

int
bu_import_make(const char *name, const json_t *nodes, struct bu_imported *ret,
	       struct bu_err *err)
{
	struct classes classes = {0};
	struct bu_imported made = {0};
	size_t csv_size, ini_size;
	FILE *csv = open_memstream(&made.racks_csv, &csv_size);
	FILE *ini = open_memstream(&made.site_ini, &ini_size);
	int rc;

	if (!csv || !ini)
		abort(); /* only for want of memory */
	rc = add_nodes(&classes, nodes, csv, &made.machines, err);
	if (rc == 0)
		print_site(&classes, bu_node_name_ok(name) ? name : "imported", ini);
	fclose(csv);
	fclose(ini);
	free_classes(&classes);
	if (rc != 0) {
		bu_imported_fini(&made);
		return -1;
	}
	*ret = made;
	return 0;
}

void
bu_imported_fini(struct bu_imported *imported)
{
	free(imported->site_ini);
	free(imported->racks_csv);
	*imported = (struct bu_imported){0};
}

static int
write_tree(const char *dir, const struct bu_imported *imported, struct bu_err *err)
{
	bu_autofree char *site = bu_xasprintf("%s/site.ini", dir);
	bu_autofree char *racks = bu_xasprintf("%s/racks.csv", dir);

	if (bu_file_exists(site) || bu_file_exists(racks))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "%s has a profile tree already; give another folder",
				  dir);
	if (bu_mkdir_p(dir, 0755, err) < 0 ||
	    bu_file_write_text(racks, 0644, err, "%s", imported->racks_csv) < 0 ||
	    bu_file_write_text(site, 0644, err, "%s", imported->site_ini) < 0)
		return -1;
	printf("%s: %zu machine%s; now edit site.ini, then: bringup check %s\n", dir,
	       imported->machines, imported->machines == 1 ? "" : "s", dir);
	return 0;
}

int
bu_cmd_import(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *status = bu_client_get(client, 0, err, "/v1/status");
	bu_autojson json_t *nodes =
		status ? bu_client_whole(client, status, err) : NULL;
	struct bu_imported imported;
	int rc;

	if (!nodes ||
	    bu_import_make(bu_json_str(status, "site", ""), nodes, &imported, err) < 0)
		return -1;
	rc = write_tree(options->args[0], &imported, err);
	bu_imported_fini(&imported);
	return rc;
}
