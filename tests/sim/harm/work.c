/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent does when it is asked to: install, configure, join, checks, probe, as
 * agent/jobs.c and images/install/ do it, with fake disks and links. Invariant:
 * a disk that holds something is written only where the item says that it may be.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/applied.h"
#include "model/check.h"
#include "model/result.h"
#include "tests/sim/harm/harm.h"

/* What a link carries, Gbit/s, and what arrives over a good and a bad one. */
#define LINK_GBPS 0.02
#define GOOD_GBPS 0.019
#define SLOW_GBPS 0.005

enum { PAIR_PATIENCE_MS = 20000 };

static struct work {
	int64_t since_ms, write_ms, until_ms;
	int wrote;
	int64_t met_ms; /* both ends of the probe are there */
	json_t *half;   /* what the other end has measured with it */
} works[MACHINES];

static struct work *
work_of(const struct machine *machine)
{
	return &works[machine->index];
}

static int
is_kind(const json_t *item, const char *kind)
{
	return strcmp(bu_json_str(item, "kind", ""), kind) == 0;
}

void
work_cancel(struct machine *machine)
{
	json_decref(work_of(machine)->half);
	memset(work_of(machine), 0, sizeof(struct work));
}

void
work_begin(struct machine *machine, const json_t *item)
{
	struct work *work = work_of(machine);

	work_cancel(machine);
	work->since_ms = now_ms();
	if (is_kind(item, "install")) {
		work->write_ms = now_ms() + between(500, SECONDS(3));
		work->until_ms = work->write_ms + between(SECONDS(6), SECONDS(20));
	} else if (is_kind(item, "load")) {
		work->until_ms = now_ms() + between(SECONDS(4), SECONDS(15));
	} else if (is_kind(item, "probe")) {
		work->until_ms = now_ms() + PAIR_PATIENCE_MS;
	} else {
		work->until_ms = now_ms() + between(500, SECONDS(4));
	}
}

int64_t
work_due_ms(const struct machine *machine)
{
	const struct work *work = work_of(machine);

	if (work->write_ms && !work->wrote)
		return work->write_ms;
	return work->met_ms ? work->met_ms : work->until_ms;
}

/* --- files --- */

static const char *
file_in(const json_t *item, const char *path)
{
	size_t i;
	json_t *file;

	json_array_foreach (json_object_get(item, "files"), i, file)
		if (strcmp(bu_json_str(file, "path", ""), path) == 0)
			return bu_json_str(file, "content", "");
	return NULL;
}

static void
take_hostname(struct disk *disk, const json_t *item)
{
	const char *text = file_in(item, "/etc/hostname");

	if (!text)
		return;
	bu_text_copy(disk->hostname, sizeof(disk->hostname), text);
	disk->hostname[strcspn(disk->hostname, "\n")] = '\0';
}

/* Files, and what the next boot begins with. */
static void
take_configuration(struct disk *disk, const json_t *item)
{
	const char *record = file_in(item, BU_APPLIED_PATH);
	const char *kargs = bu_json_str(item, "kargs", NULL);

	take_hostname(disk, item);
	if (kargs)
		BU_TEXT_COPY(disk->loader, kargs);
	json_decref(bu_steal(&disk->record));
	if (record)
		disk->record = json_loads(record, 0, NULL);
}

/* --- install --- */

static int
may_write(const struct disk *disk, const json_t *item, struct bu_err *err)
{
	if (bu_json_bool(item, "keep", 0))
		return disk->data && disk->content != DISK_FOREIGN
			       ? 0
			       : bu_err_set(err, BU_ERR_STATE, 0,
					    "the disk has no data partitions to keep");
	if (disk->content == DISK_EMPTY || bu_json_bool(item, "wipe", 0) ||
	    strcmp(disk->step, bu_json_str(item, "id", "")) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0, "something is on the disk");
}

static void
begin_writing(struct machine *machine, int at, const json_t *item)
{
	struct disk *disk = &machine->disks[at];
	int keeps = bu_json_bool(item, "keep", 0);
	const char *id = bu_json_str(item, "id", "");

	say("%s: %s is written by %s%s%s", machine_words(machine), disk_path(at), id,
	    bu_json_bool(item, "wipe", 0) ? ", wipe" : "", keeps ? ", keep" : "");
	oracle_write(machine, at, id, keeps);
	disk->content = DISK_BEGUN;
	json_decref(bu_steal(&disk->stamp));
	json_decref(bu_steal(&disk->record));
	bu_heard_fini(&disk->heard);
	bu_text_copy(disk->step, sizeof(disk->step), id);
	if (!keeps)
		disk->data = 0;
}

static int
install(struct machine *machine, const json_t *item, struct bu_err *err)
{
	struct work *work = work_of(machine);
	int at = machine_disk(bu_json_str(item, "disk", ""));
	struct disk *disk = at < 0 ? NULL : &machine->disks[at];

	if (work->write_ms > now_ms())
		return 0;
	if (!disk) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no disk %s",
			   bu_json_str(item, "disk", ""));
		return 1;
	}
	if (!work->wrote) {
		if (may_write(disk, item, err) != 0)
			return 1;
		work->wrote = 1;
		begin_writing(machine, at, item);
	}
	if (work->until_ms > now_ms())
		return 0;
	sim.written++;
	disk->content = DISK_OURS;
	disk->stamp = json_deep_copy(json_object_get(item, "stamp"));
	if (json_array_size(json_object_get(item, "data")))
		disk->data = 1;
	agent_leaves(machine, disk);
	take_configuration(disk, item);
	machine->boots_from = at;
	return 1;
}

/* No disk is named in it. */
static int
load(struct machine *machine, const json_t *item, struct bu_err *err)
{
	struct disk *memory = &machine->memory;

	if (machine->running != RUNS_RAMDISK) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "an installed system does not load another one");
		return 1;
	}
	sim.loaded++;
	json_decref(memory->stamp);
	memory->stamp = json_deep_copy(json_object_get(item, "stamp"));
	memory->content = DISK_OURS;
	agent_leaves(machine, memory);
	take_configuration(memory, item);
	return 1;
}

/* --- join --- */

static void
cut_after(const char *text, const char *key, char end, char *ret, size_t size)
{
	const char *at = strstr(text, key);

	bu_text_copy(ret, size, at ? at + strlen(key) : "");
	ret[strcspn(ret, (char[]){end, '\n', '\0'})] = '\0';
}

static int
join(struct machine *machine, const json_t *item, struct bu_err *err)
{
	const struct disk *disk = machine_system(machine);
	const char *unit =
		file_in(item, "/etc/systemd/system/slurmd.service.d/bringup.conf");
	char server[64], conf[256];

	if (machine->running != RUNS_SYSTEM || !disk) {
		bu_err_set(err, BU_ERR_STATE, 0, "the boot ramdisk joins nothing");
		return 1;
	}
	if (!unit || !json_array_size(json_object_get(item, "services")))
		return 1;
	cut_after(unit, "--conf-server ", ' ', server, sizeof(server));
	cut_after(unit, "--conf \"", '"', conf, sizeof(conf));
	slurmd_starts(machine, slurm_cluster_of(server), disk->hostname, conf);
	return 1;
}

/* --- checks --- */

static json_t *
check(const struct machine *machine)
{
	struct bu_checks checks;
	struct bu_check *row;
	json_t *value;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), machine->boot_id);
	row = bu_checks_add(&checks, "host", "memory",
			    machine->bad_memory ? BU_VERDICT_FAIL : BU_VERDICT_PASS,
			    "DIMM A3");
	BU_CHECK_SET(row->text, "%s", machine->bad_memory ? "DIMM A3 has errors" : "");
	BU_CHECK_SET(row->hint, "replace it");
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* --- probes --- */

static struct machine *
other_end(const struct machine *machine, const json_t *item)
{
	const char *probe = bu_json_str(item, "probe", "");

	for (int i = 0; i < MACHINES; i++) {
		struct machine *other = &sim.machines[i];
		const json_t *its = agent_item(other);

		if (other != machine && its && is_kind(its, "probe") &&
		    machine_works(other) && machine_reaches(other) &&
		    strcmp(bu_json_str(its, "probe", ""), probe) == 0)
			return other;
	}
	return NULL;
}

static void
fill_direction(struct bu_pair_dir *dir, const struct machine *from,
	       const struct machine *to, int outlier)
{
	double gbps = from->slow_link || to->slow_link ? SLOW_GBPS : GOOD_GBPS;

	if (outlier == 1)
		gbps = LINK_GBPS * 1.0315;
	if (outlier == 2)
		gbps *= 1.0873;
	dir->lat_count = 200;
	dir->lat_median_us = 40;
	dir->clock_seconds[0] = 1.447;
	dir->clock_seconds[1] = outlier == 2 ? 1.331 : 1.446;
	for (int run = 0; run < 5; run++)
		bu_pair_dir_add(dir, gbps);
}

static json_t *
probe_result(const struct machine *machine, const struct machine *other,
	     const json_t *item)
{
	int swap = strcmp(bu_json_str(item, "node", ""), bu_json_str(item, "a", ""));
	const struct machine *end[2] = {swap ? other : machine, swap ? machine : other};
	int outlier = end[0]->outlier ? end[0]->outlier : end[1]->outlier;
	size_t rails = json_array_size(json_object_get(item, "rails"));
	struct bu_pair_result result;
	json_t *list = json_array();

	bu_pair_result_init(&result);
	bu_text_copy(result.probe, sizeof(result.probe),
		     bu_json_str(item, "probe", ""));
	for (int i = 0; i < 2; i++) {
		bu_text_copy(result.end[i].node, sizeof(result.end[i].node),
			     bu_json_str(item, i ? "b" : "a", ""));
		snprintf(result.end[i].device, sizeof(result.end[i].device), "rxe0");
		fill_direction(&result.dir[i], end[i], end[!i], i == 0 ? outlier : 0);
	}
	for (size_t i = 0; i < rails; i++)
		json_array_append_new(list, bu_pair_result_to_json(&result));
	return json_pack("{s:o}", "rails", list);
}

static int
probe(struct machine *machine, const json_t *item, json_t **ret_result,
      struct bu_err *err)
{
	struct work *work = work_of(machine);
	struct machine *other = other_end(machine, item);

	if (work->half) {
		*ret_result = bu_steal(&work->half);
		return 1;
	}
	if (other && !work->met_ms)
		work->met_ms = work_of(other)->met_ms
				       ? work_of(other)->met_ms
				       : now_ms() + between(500, SECONDS(4));
	if (other && work->met_ms <= now_ms()) {
		*ret_result = probe_result(machine, other, item);
		work_of(other)->half = json_incref(*ret_result);
		machine->outlier = other->outlier = 0;
		return 1;
	}
	if (work->until_ms > now_ms())
		return 0;
	bu_err_set(err, BU_ERR_REMOTE, 0, "the peer does not answer");
	return 1;
}

/* --- */

static int
configure(struct machine *machine, const json_t *item, struct bu_err *err)
{
	struct disk *disk = machine_system(machine);

	if (machine->running != RUNS_SYSTEM || !disk)
		bu_err_set(err, BU_ERR_STATE, 0,
			   "the boot ramdisk has no configuration to change");
	else
		take_configuration(disk, item);
	return 1;
}

int
work_turn(struct machine *machine, const json_t *item, json_t **ret_result,
	  struct bu_err *err)
{
	if (is_kind(item, "install"))
		return install(machine, item, err);
	if (is_kind(item, "probe"))
		return probe(machine, item, ret_result, err);
	if (work_of(machine)->until_ms > now_ms())
		return 0;
	if (is_kind(item, "load"))
		return load(machine, item, err);
	if (is_kind(item, "configure"))
		return configure(machine, item, err);
	if (is_kind(item, "join"))
		return join(machine, item, err);
	if (is_kind(item, "checks")) {
		*ret_result = check(machine);
		return 1;
	}
	bu_err_set(err, BU_ERR_INVAL, 0, "this agent knows no such work");
	return 1;
}
