/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's way on the fake site: what its agent and its gate say, up to each state.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/node/over.h"
#include "tests/support/paper.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"

enum { PATIENCE = 2000 }; /* turns */

static void
copy_text(char *ret, size_t size, const char *fmt, int number)
{
	bu_autofree char *text = bu_xasprintf("%s%02x", fmt, (unsigned)number);

	snprintf(ret, size, "%s", text);
}

struct bu_inventory *
rig_inventory(int number, const char *boot_id)
{
	struct bu_inventory *inventory = bu_inventory_create();

	snprintf(inventory->boot_id, sizeof(inventory->boot_id), "%s", boot_id);
	strcpy(inventory->kernel, "6.1.0");
	inventory->memory_bytes = INT64_C(512) << 20;
	inventory->cpu.sockets = inventory->cpu.cores = inventory->cpu.threads = 1;
	strcpy(inventory->cpu.model, "paper");
	copy_text(inventory->dmi.uuid, sizeof(inventory->dmi.uuid),
		  "11111111-2222-3333-4444-5555555555", number);
	snprintf(inventory->dmi.serial, sizeof(inventory->dmi.serial), "LAB-%03d",
		 number);
	inventory->disks = bu_xcalloc(2, sizeof(*inventory->disks));
	inventory->disks_count = 2;
	for (int i = 0; i < 2; i++) {
		struct bu_disk *disk = &inventory->disks[i];

		snprintf(disk->name, sizeof(disk->name), "vd%c", 'a' + i);
		snprintf(disk->path, sizeof(disk->path), "/dev/%s", disk->name);
		copy_text(disk->serial, sizeof(disk->serial), i ? "SECOND-" : "FIRST-",
			  number);
		disk->size_bytes = INT64_C(4) << (30 + i);
	}
	inventory->nics = bu_xcalloc(2, sizeof(*inventory->nics));
	inventory->nics_count = 2;
	for (int i = 0; i < 2; i++) {
		struct bu_nic *nic = &inventory->nics[i];

		snprintf(nic->name, sizeof(nic->name), "eth%d", i);
		snprintf(nic->pci, sizeof(nic->pci), "0000:0%d:00.0", i + 1);
		snprintf(nic->mac, sizeof(nic->mac), "52:54:00:%d:%02x:%02x", 77 + i,
			 (unsigned)number >> 8, (unsigned)number & 0xff);
	}
	return inventory;
}

void
rig_swap_log(struct rig *rig, const char *keep, const char *put)
{
	static const char *const parts[] = {"-wal", "-shm"};
	bu_autofree char *log = bu_xasprintf("%s/log.db", rig->dir);
	bu_autofree char *kept = keep ? bu_xasprintf("%s/%s", rig->dir, keep) : NULL;
	bu_autofree char *other = put ? bu_xasprintf("%s/%s", rig->dir, put) : NULL;

	rig_halt(rig);
	if (kept)
		ck_assert_int_eq(rename(log, kept), 0);
	else
		ck_assert_int_eq(unlink(log), 0);
	for (size_t i = 0; i < BU_LEN(parts); i++) {
		bu_autofree char *part = bu_xasprintf("%s%s", log, parts[i]);

		unlink(part);
	}
	if (other) {
		size_t size;
		bu_autofree char *all = bu_file_read(other, INT32_MAX, &size, NULL);

		ck_assert_ptr_nonnull(all);
		ck_assert_int_eq(bu_file_write(log, all, size, 0600, NULL), 0);
	}
	rig_go(rig);
}

void
rig_epoch(struct rig *rig, int64_t epoch, int unchecked)
{
	struct bu_event events[2];

	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch,
		      .ends = unchecked);
	BU_EVENT_MAKE(&events[1], BU_EVENT_CONDITION, "", condition,
		      .name = "epoch-unchecked", .on = unchecked);
	bu_reconcile_note(rig->rec, events, BU_LEN(events));
	rig_pass(rig, 1);
}

json_t *
rig_stamp(const struct rig *rig, const struct bu_node *node)
{
	bu_autojson json_t *body =
		json_pack("{s:s,s:s,s:s}", "kind", "stamp", "step",
			  node->installed_step, "machine", node->machine);

	return bu_trust_sign(rig->trust, body, NULL);
}

void
rig_start(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);

	ck_assert_int_eq(
		bu_reconcile_fire(rig->rec, node, BU_TRIGGER_START, NULL, NULL), 0);
	rig_until(rig, node, BU_STATE_INSPECTING);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
}

const char *
rig_request(int number)
{
	static char *requests[2]; /* for all tests of the process */
	bu_autofree char *key = NULL;

	ck_assert_int_lt(number, (int)BU_LEN(requests));
	if (!requests[number]) {
		ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
		ck_assert_int_eq(bu_csr_create(key, "x", &requests[number], NULL), 0);
	}
	return requests[number];
}

int
rig_admit(struct rig *rig, struct bu_node *node, const char *request,
	  const struct bu_inventory *inventory, struct bu_err *err)
{
	char token[BU_DIGEST_SIZE];
	struct bu_enrolment enrolment = {
		.token = token, .csr = request, .inventory = inventory};
	bu_autofree char *cert = NULL;

	/* Its first card is on one wire with us. */
	enrolment.address = "10.77.0.99";
	if (inventory->nics_count)
		enrolment.mac = inventory->nics[0].mac;
	bu_trust_token(rig->trust, node->step.id, node->step.attempt, token);
	cert = bu_reconcile_admit(rig->rec, node, &enrolment, err);
	return cert ? 0 : -1;
}

void
rig_inspect(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	/* Each boot has an id of its own. */
	int again = bu_over_ended(node, "boot-ramdisk");
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(number, again ? "boot-ramdisk-2" : "boot-ramdisk");
	struct bu_err err = {0};

	ck_assert_msg(rig_admit(rig, node, rig_request(0), inventory, &err) == 0, "%s",
		      err.text);
	rig_pass(rig, 1);
	ck_assert_msg(bu_reconcile_hello(rig->rec, node, BU_WHERE_RAMDISK, NULL,
					 inventory, &err) == 0,
		      "%s", err.text);
	rig_until(rig, node, BU_STATE_IMAGING);
	rig_until_step(rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
}

void
rig_install(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);

	bu_reconcile_result(rig->rec, node, node->step.id, node->step.attempt, NULL);
	rig_until(rig, node, BU_STATE_BOOTING);
	rig_until_step(rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
}

void
rig_come_up(struct rig *rig, int number, const char *boot_id)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(number, boot_id);
	bu_autojson json_t *stamp = rig_stamp(rig, node);
	struct bu_err err = {0};

	ck_assert_msg(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp,
					 inventory, &err) == 0,
		      "%s", err.text);
	rig_pass(rig, 1);
	rig_until(rig, node, BU_STATE_VALIDATING);
	ck_assert_str_eq(node->boot_id, boot_id);
}

void
rig_to_validating(struct rig *rig, int number)
{
	bu_autofree char *boot_id = bu_xasprintf("boot-%d", number);

	rig_start(rig, number);
	rig_inspect(rig, number);
	rig_install(rig, number);
	rig_come_up(rig, number, boot_id);
}

static void
certificate_event(const struct rig *rig, const struct bu_node *node,
		  enum bu_fabcert_kind kind, struct bu_event *ret)
{
	bu_autojson json_t *hardware = bu_fleet_hardware(rig->fleet, node);
	struct bu_pair_result result;
	const struct bu_pair_result *results[] = {&result};
	struct bu_fabcert_rail rail = {.name = "fabric",
				       .results = results,
				       .result_count = 1,
				       .expect = {.link_gbps = 0.02, .percent = 80},
				       .verdict = BU_VERDICT_PASS};
	struct bu_fabcert cert = {.kind = kind,
				  .node = node->name,
				  .machine = node->machine,
				  .hardware = hardware,
				  .boot_id = node->boot_id,
				  .rails = &rail,
				  .rail_count = 1};
	char *text;

	bu_pair_result_init(&result);
	strcpy(result.probe, "p");
	strcpy(result.end[0].node, node->name);
	strcpy(result.end[1].node, "partner");
	text = bu_fabcert_sign(&cert, bu_trust_sign_key(rig->trust), NULL);
	ck_assert_ptr_nonnull(text);
	row_init(ret, BU_EVENT_CERTIFICATE, node->name,
		 json_pack("{s:s}", "kind", kind == BU_FABCERT_FULL ? "full" : "boot"));
	bu_event_attach(ret, "digest", text);
}

void
rig_check(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	struct bu_event event;

	row_init(&event, BU_EVENT_CHECKS, node->name,
		 json_pack("{s:s,s:s,s:s,s:{s:i},s:[]}", "boot_id", node->boot_id,
			   "digest", "", "verdict", "pass", "counts", "pass", 1,
			   "rows"));
	bu_reconcile_note(rig->rec, &event, 1);
	for (int i = 0; i < PATIENCE && !node->checks.body; i++)
		rig_pass(rig, 1);
	ck_assert_ptr_nonnull(node->checks.body);
}

void
rig_certify(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	struct bu_event events[2];
	struct bu_err err = {0};

	certificate_event(rig, node, BU_FABCERT_FULL, &events[0]);
	certificate_event(rig, node, BU_FABCERT_BOOT, &events[1]);
	bu_reconcile_note(rig->rec, events, 2);
	rig_pass(rig, 1);
	ck_assert_msg(bu_fleet_certified(rig->fleet, node, &err) == 0, "%s", err.text);
}

void
rig_join(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);

	rig_certify(rig, number);
	rig_write(rig, "sinfo", "idle\n");
	ck_assert_int_eq(
		bu_reconcile_fire(rig->rec, node, BU_TRIGGER_PROVEN, NULL, NULL), 0);
	rig_until(rig, node, BU_STATE_JOINING);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	bu_reconcile_result(rig->rec, node, node->step.id, node->step.attempt, NULL);
	rig_until(rig, node, BU_STATE_READY);
}

void
rig_fire(struct rig *rig, struct bu_node *node, enum bu_trigger trigger)
{
	ck_assert_int_eq(bu_reconcile_fire(rig->rec, node, trigger, NULL, NULL), 0);
}

struct bu_node *
rig_up_to(struct rig *rig, enum rig_stage stage)
{
	rig_begin(rig, 1);
	if (stage >= RIG_STARTED)
		rig_start(rig, 1);
	if (stage >= RIG_IMAGING)
		rig_inspect(rig, 1);
	if (stage >= RIG_BOOTING)
		rig_install(rig, 1);
	if (stage >= RIG_VALIDATING)
		rig_come_up(rig, 1, "boot-1");
	if (stage >= RIG_JOINING)
		rig_certify(rig, 1);
	if (stage == RIG_JOINING) {
		rig_fire(rig, rig_node(rig, 1), BU_TRIGGER_PROVEN);
		rig_until_step(rig, rig_node(rig, 1), BU_ACTION_JOIN, BU_STEP_OPEN);
	} else if (stage == RIG_READY) {
		rig_join(rig, 1);
	}
	return rig_node(rig, 1);
}

void
rig_answer(struct rig *rig, struct bu_node *node, const struct bu_err *failure)
{
	bu_reconcile_result(rig->rec, node, node->step.id, node->step.attempt, failure);
}

void
rig_joins(struct rig *rig, struct bu_node *node)
{
	rig_write(rig, "sinfo", "idle\n");
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_READY);
}

int
rig_paper(int argc, char **argv)
{
	return argc == 3 && strcmp(argv[1], "power") == 0 ? paper_power(argv[2]) : -1;
}
