/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines: power, firmware, boot order, disks, and what they come to run. Called by
 * bmc.c (people and the daemon reach them through it), by script.c and by time.
 * Invariant: a machine does what its firmware and its disk say, whoever wishes what.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tests/sim/harm/harm.h"

enum phase { PHASE_POST, PHASE_FETCH, PHASE_RAMDISK, PHASE_DISK, PHASE_UP };

static const char *const paths[DISKS] = {"/dev/sda", "/dev/sdb"};

const char *
disk_path(int disk)
{
	return paths[disk];
}

int
machine_disk(const char *path)
{
	for (int i = 0; i < DISKS; i++)
		if (strcmp(paths[i], path) == 0)
			return i;
	return -1;
}

struct machine *
machine_in(int bay)
{
	return bay < 0 || bay >= BAYS || sim.bays[bay] < 0
		       ? NULL
		       : &sim.machines[sim.bays[bay]];
}

static void
disk_clear(struct disk *disk, enum content content)
{
	json_decref(disk->stamp);
	json_decref(disk->record);
	bu_heard_fini(&disk->heard);
	memset(disk, 0, sizeof(*disk));
	disk->content = content;
}

void
machine_new(struct machine *machine, int bay, enum content content)
{
	int index = (int)(machine - sim.machines);

	for (int i = 0; i < DISKS; i++)
		disk_clear(&machine->disks[i], DISK_EMPTY);
	disk_clear(&machine->memory, DISK_EMPTY);
	memset(machine, 0, sizeof(*machine));
	machine->index = index;
	machine->bay = bay;
	machine->boots_from = -1;
	snprintf(machine->serial, sizeof(machine->serial), "SN-%03d", index);
	snprintf(machine->uuid, sizeof(machine->uuid),
		 "11111111-2222-3333-4444-5555555555%02x", (unsigned)index);
	for (int i = 0; i < 2; i++)
		snprintf(machine->mac[i], sizeof(machine->mac[i]),
			 "52:54:00:7%d:00:%02x", 7 + i, (unsigned)index);
	machine->disks[0].content = content;
	machine->disks[0].data = content == DISK_FOREIGN;
	if (bay >= 0)
		sim.bays[bay] = index;
}

void
machines_begin(void)
{
	for (int i = 0; i < BAYS; i++)
		sim.bays[i] = -1;
	for (int i = 0; i < MACHINES; i++)
		machine_new(&sim.machines[i], i < sim.script.bays ? i : -1, DISK_EMPTY);
}

struct disk *
machine_boot_disk(struct machine *machine)
{
	if (machine->boots_from >= 0 &&
	    machine->disks[machine->boots_from].content == DISK_OURS)
		return &machine->disks[machine->boots_from];
	for (int i = 0; i < DISKS; i++)
		if (machine->disks[i].content == DISK_OURS ||
		    machine->disks[i].content == DISK_FOREIGN)
			return &machine->disks[i];
	return NULL;
}

struct disk *
machine_system(struct machine *machine)
{
	return machine->in_memory ? &machine->memory : machine_boot_disk(machine);
}

static void
stop_running(struct machine *machine)
{
	disk_clear(&machine->memory, DISK_EMPTY);
	machine->in_memory = machine->told_to_wait = 0;
	agent_ends(machine);
	slurmd_ends(machine);
	machine->running = RUNS_NOTHING;
	machine->hung = 0;
	machine->next_ms = 0;
	machine->changed_ms = now_ms();
}

void
machine_power(struct machine *machine, int on)
{
	if (machine->on == on)
		return;
	stop_running(machine);
	machine->on = on;
	machine->between_ms = 0;
	if (!on)
		return;
	machine->running = RUNS_FIRMWARE;
	machine->phase = PHASE_POST;
	machine->tries = 0;
	machine->next_ms = now_ms() + between(SECONDS(3), SECONDS(12));
}

void
machine_reboot(struct machine *machine)
{
	if (!machine->on)
		return;
	machine_power(machine, 0);
	machine_power(machine, 1);
}

static void
cut_word(const char *script, const char *name, char *ret, size_t size)
{
	const char *at = strstr(script, name);

	bu_text_copy(ret, size, at ? at + strlen(name) : "");
	ret[strcspn(ret, " \n")] = '\0';
}

static void
load(struct machine *machine, enum phase phase, int64_t least_ms, int64_t most_ms)
{
	machine->phase = phase;
	machine->next_ms = now_ms() + between(least_ms, most_ms);
}

/* As the iPXE scripts do it: a minute's patience, then the disk. */
static void
fetch(struct machine *machine)
{
	bu_autofree char *script =
		machine_reaches(machine) ? wire_boot_script(machine->mac[0]) : NULL;

	machine->token[0] = '\0';
	if (script)
		machine->told_to_wait = strstr(script, "boot/script/") != NULL;
	if (machine->told_to_wait || (!script && machine->tries++ < 12)) {
		load(machine, PHASE_FETCH, 5000, 5000);
		return;
	}
	if (script)
		cut_word(script, "bringup.token=", machine->token,
			 sizeof(machine->token));
	if (!machine->token[0]) {
		if (script)
			oracle_to_disk(machine);
		load(machine, PHASE_DISK, SECONDS(4), SECONDS(15));
		return;
	}
	cut_word(script, "bringup.node=", machine->boot_node,
		 sizeof(machine->boot_node));
	load(machine, PHASE_RAMDISK, SECONDS(5), SECONDS(15));
}

static void
come_up(struct machine *machine, enum running running)
{
	if (running != RUNS_FOREIGN)
		machine->begun_ms = 0;
	machine->running = running;
	machine->phase = PHASE_UP;
	machine->next_ms = 0;
	machine->changed_ms = now_ms();
	machine->boots++;
	snprintf(machine->boot_id, sizeof(machine->boot_id), "%08x-%d-%d",
		 (unsigned)machine->index + 0xb0070000u, machine->index,
		 machine->boots);
	if (running != RUNS_FOREIGN)
		agent_starts(machine);
}

void
machine_goes(struct machine *machine)
{
	agent_ends(machine);
	machine->in_memory = 1;
	machine->running = RUNS_SYSTEM;
	machine->changed_ms = now_ms();
	agent_starts(machine);
}

static void
boot_disk(struct machine *machine)
{
	const struct disk *disk = machine_boot_disk(machine);

	if (!disk) {
		machine->next_ms = 0; /* no bootable device: it stays so */
		return;
	}
	BU_TEXT_COPY(machine->booted, disk->loader);
	come_up(machine, disk->content == DISK_OURS ? RUNS_SYSTEM : RUNS_FOREIGN);
}

void
machine_turn(struct machine *machine)
{
	if (machine->on && machine->next_ms && machine->next_ms <= now_ms()) {
		switch ((enum phase)machine->phase) {
		case PHASE_POST:
			if (machine->boots_network)
				fetch(machine);
			else
				load(machine, PHASE_DISK, SECONDS(4), SECONDS(15));
			break;
		case PHASE_FETCH:
			fetch(machine);
			break;
		case PHASE_RAMDISK:
			come_up(machine, RUNS_RAMDISK);
			break;
		case PHASE_DISK:
			boot_disk(machine);
			break;
		case PHASE_UP:
			machine->next_ms = 0;
		}
	}
	if (machine->on && !machine->hung)
		agent_turn(machine);
}

int
machine_reaches(const struct machine *machine)
{
	return machine->on && !machine->hung && machine->cut_ms <= now_ms();
}

int
machine_works(const struct machine *machine)
{
	return machine->on && !machine->hung && machine->running == RUNS_SYSTEM;
}

const char *
machine_words(const struct machine *machine)
{
	static const char *const words[] = {"nothing", "firmware", "ramdisk", "system",
					    "another OS"};
	static char text[160];
	int jobs = slurm_jobs_on(machine);

	snprintf(text, sizeof(text), "%s in bay %d (%s%s%s%s%s%s%d%s)", machine->serial,
		 machine->bay, machine->on ? "on, " : "off, ", words[machine->running],
		 machine->hung ? ", hung" : "", machine->slurmd ? ", slurmd of " : "",
		 machine->slurmd ? machine->slurmd_name : "", jobs ? ", jobs " : ", ",
		 jobs, jobs ? "" : " jobs");
	return text;
}

static void
add_disks(struct bu_inventory *inventory, const struct machine *machine)
{
	inventory->disks = bu_xcalloc(DISKS, sizeof(*inventory->disks));
	inventory->disks_count = DISKS;
	for (int i = 0; i < DISKS; i++) {
		struct bu_disk *disk = &inventory->disks[i];

		snprintf(disk->name, sizeof(disk->name), "%s", paths[i] + 5);
		snprintf(disk->path, sizeof(disk->path), "%s", paths[i]);
		snprintf(disk->by_path, sizeof(disk->by_path), "bay-%d", i);
		snprintf(disk->serial, sizeof(disk->serial), "D%d-%03d", i,
			 machine->index);
		disk->size_bytes = INT64_C(4) << 30;
		disk->signature = machine->disks[i].content == DISK_EMPTY
					  ? BU_SIGNATURE_NONE
					  : BU_SIGNATURE_PRESENT;
	}
}

struct bu_inventory *
machine_inventory(const struct machine *machine)
{
	struct bu_inventory *inventory = bu_inventory_create();

	snprintf(inventory->boot_id, sizeof(inventory->boot_id), "%s",
		 machine->boot_id);
	snprintf(inventory->kernel, sizeof(inventory->kernel), "6.1.0");
	inventory->memory_bytes = INT64_C(512) << 20;
	inventory->cpu.sockets = inventory->cpu.cores = inventory->cpu.threads = 1;
	snprintf(inventory->dmi.serial, sizeof(inventory->dmi.serial), "%s",
		 machine->serial);
	snprintf(inventory->dmi.uuid, sizeof(inventory->dmi.uuid), "%s", machine->uuid);
	add_disks(inventory, machine);
	inventory->nics = bu_xcalloc(2, sizeof(*inventory->nics));
	inventory->nics_count = 2;
	for (int i = 0; i < 2; i++) {
		struct bu_nic *nic = &inventory->nics[i];

		snprintf(nic->name, sizeof(nic->name), "eth%d", i);
		snprintf(nic->pci, sizeof(nic->pci), "0000:0%d:00.0", i + 1);
		snprintf(nic->mac, sizeof(nic->mac), "%s", machine->mac[i]);
	}
	return inventory;
}

void
machine_id(const struct machine *machine, char ret_id[BU_MACHINE_ID_SIZE])
{
	/* The rules ask it at each step. What it is made of never changes. */
	static char known[MACHINES][BU_MACHINE_ID_SIZE];
	char *id = known[machine->index];
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_machine seen;

	if (!*id) {
		inventory = machine_inventory(machine);
		bu_inventory_machine(inventory, &seen);
		bu_assert(bu_machine_id(&seen, id, NULL) == 0);
	}
	memcpy(ret_id, id, BU_MACHINE_ID_SIZE);
}
