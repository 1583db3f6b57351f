/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that are no node: what each is, above a row for the CSV of the profile's
 * inventory. Called by commands/node.c. Invariant: what a machine says of itself stays
 * in its line and in its field.
 */
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

static void
print_field(const char *text, FILE *out)
{
	bu_autofree char *cell = bu_csv_cell(text);

	fprintf(out, ",%s", cell);
}

static void
print_one(const json_t *one, FILE *out)
{
	const json_t *machine = json_object_get(one, "machine");
	const json_t *macs = json_object_get(machine, "macs");
	const char *mac = json_string_value(json_array_get(macs, 0));
	bu_autofree char *address = bu_out_clean(bu_json_str(one, "address", ""), 0);
	bu_autofree char *product = bu_out_clean(bu_json_str(one, "product", ""), 0);
	bu_autofree char *classes = bu_out_clean(bu_json_str(one, "classes", ""), 0);
	bu_autofree char *why = bu_out_clean(bu_json_str(one, "why", ""), 0);

	fprintf(out,
		"# %s at %s: %lld CPUs, %lld MiB, %lld GPUs, %lld NICs, %lld disks; "
		"%s%s%s%s\nNAME",
		*product ? product : "a machine", address,
		(long long)bu_json_int(one, "cpus", 0),
		(long long)(bu_json_int(one, "memory_bytes", 0) >> 20),
		(long long)bu_json_int(one, "gpus", 0),
		(long long)bu_json_int(one, "nics", 0),
		(long long)bu_json_int(one, "disks", 0),
		*classes ? "fits hardware class " : "", classes, *classes ? "; " : "",
		why);
	print_field(mac ? mac : "", out);
	print_field(bu_json_str(machine, "serial", ""), out);
	print_field(bu_json_str(machine, "uuid", ""), out);
	fputc('\n', out);
}

void
bu_render_unknown(const json_t *unknown, FILE *out)
{
	json_t *one;
	size_t i;

	if (json_array_size(unknown))
		fputs("name,mac,serial,uuid\n", out);
	json_array_foreach (unknown, i, one)
		print_one(one, out);
}
