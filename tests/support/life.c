/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One life of a node with eight GPUs, as bringupd logs it. Used by make-lives.c.
 * Invariant: bodies are made by the code that makes them in bringupd, from reports and
 * results as agents send them; names and numbers are a function of the node's index.
 */
#include "tests/support/life.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fabric/judge/fabcert.h"
#include "model/check.h"
#include "model/inventory.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/row.h"

enum {
	GPUS = 8,
	ROWS = 519, /* of a report */
	DISKS = 10,
	PCI = 48,
	LEAF_NODES = 32,
	RUNS = 5,
	QPS = 4,
};

void
life_must(int ok, const char *what, const struct bu_err *err)
{
	if (ok)
		return;
	fprintf(stderr, "lives: %s: %s\n", what, err->text);
	exit(1);
}

/* Takes the event. */
static void
take(struct life *life, const struct bu_event *event)
{
	life->events = bu_xgrow(life->events, &life->cap, life->count + 1,
				sizeof(*life->events));
	life->events[life->count++] = *event;
}

void
life_note(struct life *life, enum bu_event_kind kind, const char *node, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, node, body);
	take(life, &event);
}

void
life_put_text(struct life *life, char *text, char ret_digest[BU_DIGEST_SIZE])
{
	bu_sha256_hex(text, strlen(text), ret_digest);
	life->blobs = bu_xgrow(life->blobs, &life->blobs_cap, life->blobs_count + 1,
			       sizeof(*life->blobs));
	life->blobs[life->blobs_count++] = text;
}

void
life_put(struct life *life, const json_t *value, char ret_digest[BU_DIGEST_SIZE])
{
	life_put_text(life, bu_json_canonical(value), ret_digest);
}

void
life_machine(const struct life *life, size_t index, char ret[BU_DIGEST_SIZE])
{
	const char *name = life->desired->nodes[index].name;

	bu_sha256_hex(name, strlen(name), ret);
	ret[16] = '\0';
}

void
life_boot(size_t index, int installed, char ret[LIFE_BOOT_SIZE])
{
	snprintf(ret, LIFE_BOOT_SIZE, "%08zx-4a1c-4d2e-9b3f-%012x", index, installed);
}

/* --- the machine --- */

static void
add_cards(struct bu_inventory *ret, size_t index)
{
	ret->nics_count = ret->rdma_count = GPUS + 1;
	ret->nics = bu_xcalloc(ret->nics_count, sizeof(*ret->nics));
	ret->rdma = bu_xcalloc(ret->rdma_count, sizeof(*ret->rdma));
	for (size_t i = 0; i < ret->nics_count; i++) {
		const size_t number = index + 1; /* make-site counts from 1 */
		struct bu_nic *nic = &ret->nics[i];
		struct bu_rdma *rdma = &ret->rdma[i];

		snprintf(nic->name, sizeof(nic->name), "eth%zu", i);
		snprintf(nic->mac, sizeof(nic->mac), "52:54:%02zx:%02zx:%02zx:%02zx", i,
			 number >> 16 & 255, number >> 8 & 255, number & 255);
		snprintf(nic->pci, sizeof(nic->pci), "0000:%02zx:00.0", 16 + 8 * i);
		snprintf(nic->driver, sizeof(nic->driver), "mlx5_core");
		snprintf(nic->operstate, sizeof(nic->operstate), "up");
		nic->speed_mbps = 400000;
		snprintf(rdma->name, sizeof(rdma->name), "mlx5_%zu", i);
		snprintf(rdma->node_guid, sizeof(rdma->node_guid),
			 "b83f:d203:%04zx:%04zx", index & 0xffff, i);
		rdma->ports_count = 1;
		rdma->ports[0] = (struct bu_rdma_port){.port = 1};
		snprintf(rdma->ports[0].state, sizeof(rdma->ports[0].state), "ACTIVE");
		snprintf(rdma->ports[0].rate, sizeof(rdma->ports[0].rate),
			 "400 Gb/sec (4X NDR)");
		snprintf(rdma->ports[0].link_layer, sizeof(rdma->ports[0].link_layer),
			 "Ethernet");
		snprintf(rdma->ports[0].netdev, sizeof(rdma->ports[0].netdev), "eth%zu",
			 i);
	}
}

static void
add_disks(struct bu_inventory *ret, size_t index)
{
	ret->disks_count = DISKS;
	ret->disks = bu_xcalloc(DISKS, sizeof(*ret->disks));
	for (size_t i = 0; i < DISKS; i++) {
		struct bu_disk *disk = &ret->disks[i];

		snprintf(disk->name, sizeof(disk->name), "nvme%zun1", i);
		snprintf(disk->path, sizeof(disk->path), "/dev/nvme%zun1", i);
		snprintf(disk->serial, sizeof(disk->serial), "S64GNE0%06zu%02zu", index,
			 i);
		snprintf(disk->wwn, sizeof(disk->wwn), "eui.0025384c%06zx%02zx", index,
			 i);
		snprintf(disk->model, sizeof(disk->model),
			 "SAMSUNG MZQL23T8HCLS-00A07");
		snprintf(disk->by_path, sizeof(disk->by_path),
			 "pci-0000:%02zx:00.0-nvme-1", 128 + i);
		disk->sector_bytes = 512;
		disk->size_bytes = i ? INT64_C(3840755982336) : INT64_C(960197124096);
		disk->signature = BU_SIGNATURE_PRESENT;
	}
}

static void
add_pci(struct bu_inventory *ret)
{
	ret->gpus_count = GPUS;
	ret->gpus = bu_xcalloc(GPUS, sizeof(*ret->gpus));
	for (size_t i = 0; i < GPUS; i++) {
		snprintf(ret->gpus[i].pci, sizeof(ret->gpus[i].pci), "0000:%02zx:00.0",
			 17 + 8 * i);
		snprintf(ret->gpus[i].device, sizeof(ret->gpus[i].device), "2330");
		snprintf(ret->gpus[i].driver, sizeof(ret->gpus[i].driver), "nvidia");
	}
	ret->pci_count = PCI;
	ret->pci = bu_xcalloc(PCI, sizeof(*ret->pci));
	for (size_t i = 0; i < PCI; i++) {
		struct bu_pci *pci = &ret->pci[i];

		snprintf(pci->address, sizeof(pci->address), "0000:%02zx:00.0", i);
		snprintf(pci->class, sizeof(pci->class), "020000");
		snprintf(pci->vendor, sizeof(pci->vendor), "15b3");
		snprintf(pci->device, sizeof(pci->device), "1021");
		snprintf(pci->driver, sizeof(pci->driver), "mlx5_core");
	}
}

static void
add_links(struct bu_inventory *ret, size_t index)
{
	ret->links_count = GPUS + 1;
	ret->links = bu_xcalloc(ret->links_count, sizeof(*ret->links));
	for (size_t i = 0; i < ret->links_count; i++) {
		struct bu_net_link *link = &ret->links[i];

		snprintf(link->name, sizeof(link->name), "eth%zu", i);
		snprintf(link->kind, sizeof(link->kind), "ethernet");
		memcpy(link->mac, ret->nics[i].mac, sizeof(link->mac));
		snprintf(link->operstate, sizeof(link->operstate), "up");
		link->mtu = i ? 9000 : 1500;
		link->addresses_count = 1;
		snprintf(link->addresses[0], sizeof(link->addresses[0]),
			 "10.%zu.%zu.%zu/16", i, 1 + index / 250, 1 + index % 250);
	}
}

static struct bu_inventory *
make_inventory(size_t index, int installed)
{
	struct bu_inventory *inventory = bu_inventory_create();

	life_boot(index, installed, inventory->boot_id);
	snprintf(inventory->kernel, sizeof(inventory->kernel), "6.1.0-28-amd64");
	inventory->firmware = BU_FIRMWARE_UEFI;
	inventory->tpm = 2;
	inventory->memory_bytes = INT64_C(1) << 41;
	snprintf(inventory->cpu.model, sizeof(inventory->cpu.model),
		 "Intel(R) Xeon(R) Platinum 8480C");
	inventory->cpu.sockets = 2;
	inventory->cpu.cores = 112;
	inventory->cpu.threads = 224;
	snprintf(inventory->dmi.vendor, sizeof(inventory->dmi.vendor), "Supermicro");
	snprintf(inventory->dmi.product, sizeof(inventory->dmi.product),
		 "SYS-821GE-TNHR");
	snprintf(inventory->dmi.serial, sizeof(inventory->dmi.serial), "S%05zu",
		 index + 1);
	snprintf(inventory->dmi.uuid, sizeof(inventory->dmi.uuid),
		 "11111111-2222-3333-4444-%012zx", index);
	add_cards(inventory, index);
	add_disks(inventory, index);
	add_pci(inventory);
	add_links(inventory, index);
	return inventory;
}

json_t *
life_told(size_t index)
{
	bu_autoinventory struct bu_inventory *inventory = make_inventory(index, 0);
	struct bu_machine machine;

	bu_inventory_machine(inventory, &machine);
	return bu_machine_to_json(&machine);
}

void
life_hello(struct life *life, size_t index, int installed)
{
	bu_autoinventory struct bu_inventory *inventory =
		make_inventory(index, installed);
	bu_autojson json_t *value = bu_inventory_to_json(inventory);
	bu_autojson json_t *told = life_told(index);
	const struct bu_disk *disk = &inventory->disks[0];
	char machine[BU_DIGEST_SIZE];
	struct bu_event event;

	life_machine(life, index, machine);
	BU_EVENT_MAKE(&event, BU_EVENT_BOUND, life->desired->nodes[index].name, bound,
		      .machine = machine, .told = told, .firmware = "uefi",
		      .disk = {.path = disk->path,
			       .serial = disk->serial,
			       .wwn = disk->wwn,
			       .size_bytes = disk->size_bytes,
			       .holds = "",
			       .wanted = "smallest",
			       .written = 1});
	bu_event_attach(&event, "inventory", bu_json_canonical(value));
	take(life, &event);
}

/* --- the report --- */

static struct bu_check *
add(struct bu_checks *report, const char *group, const char *id, const char *of,
    int number)
{
	bu_autofree char *subject =
		number < 0 ? bu_xstrdup(of) : bu_xasprintf("%s%d", of, number);
	struct bu_check *row =
		bu_checks_add(report, group, id, BU_VERDICT_PASS, subject);

	BU_CHECK_SET(row->text, "%s of %s is as it should be, and was read in time", id,
		     *subject ? subject : "the machine");
	row->took_ms = 3;
	return row;
}

/* Checks with values that are compared between machines. */
static void
add_compared(struct bu_checks *report, size_t index)
{
	static const char *const rates[] = {"gpu-h2d", "gpu-d2h", "gpu-hbm",
					    "gpu-p2p-all"};

	BU_CHECK_SET(add(report, "audit", "identity", "", -1)->seen, "n%05zu", index);
	for (int i = 0; i < GPUS; i++) {
		BU_CHECK_SET(add(report, "audit", "guid", "mlx5_", i)->seen,
			     "b83f:d203:%04zx:%04x", index & 0xffff, i);
		BU_CHECK_SET(add(report, "audit", "gid", "mlx5_", i)->seen,
			     "::ffff:10.%d.%zu.%zu", 1 + i, 1 + index / 250,
			     1 + index % 250);
		BU_CHECK_SET(add(report, "audit", "nic-firmware", "mlx5_", i)->seen,
			     "28.39.2048");
		BU_CHECK_SET(add(report, "audit", BU_CHECK_LLDP, "eth", 1 + i)->seen,
			     "leaf%02zu-%d:swp%zu", index / LEAF_NODES, i,
			     index % LEAF_NODES);
		BU_CHECK_SET(
			add(report, "audit", BU_CHECK_NIC_MISSING, "rail", i)->seen,
			"eth%d", 1 + i);
		BU_CHECK_SET(add(report, "gpu", "gpu-driver", "GPU ", i)->seen,
			     "550.127.08");
		BU_CHECK_SET(add(report, "gpu", "gpu-vbios", "GPU ", i)->seen,
			     "96.00.A5.00.01");
		BU_CHECK_SET(add(report, "gpu", "gpu-model", "GPU ", i)->seen,
			     "NVIDIA H100 80GB HBM3");
		for (size_t k = 0; k < BU_LEN(rates); k++) {
			struct bu_check *row = add(report, "gpu", rates[k], "GPU ", i);

			BU_CHECK_SET(row->seen, "%.1f",
				     53.0 + (double)((index + k + (size_t)i) % 17) /
						     10);
			BU_CHECK_SET(row->expected, "at least 50.0 GB/s");
		}
	}
	/* Each GPU copies to each other one. */
	for (int i = 0; i < GPUS * (GPUS - 1); i++) {
		struct bu_check *row = add(report, "gpu", "gpu-p2p", "GPU pair ", i);

		BU_CHECK_SET(row->seen, "%.1f",
			     390.0 + (double)((index + (size_t)i) % 29) / 10);
		BU_CHECK_SET(row->expected, "at least 360.0 GB/s");
	}
}

static void
make_report(size_t index, struct bu_checks *ret)
{
	static const char *const others[] = {"pcie-width", "pcie-speed", "nic-mtu",
					     "ecc",        "dimm",       "cpu-governor",
					     "hugepages",  "thermal",    "xid"};

	bu_checks_init(ret);
	life_boot(index, 1, ret->boot_id);
	ret->at_ms = INT64_C(1700000000000);
	add_compared(ret, index);
	while (ret->count < ROWS) {
		struct bu_check *row = add(ret, "host", others[ret->count % 9], "unit ",
					   (int)ret->count);

		BU_CHECK_SET(row->seen, "%zu of 16", ret->count % 16);
		BU_CHECK_SET(row->expected, "16");
	}
	ret->list[ROWS - 1].verdict = BU_VERDICT_WARN;
}

void
life_report(struct life *life, size_t index)
{
	struct bu_checks report;
	bu_autojson json_t *clean = NULL, *facts = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_event event;

	make_report(index, &report);
	clean = bu_checks_to_json(&report);
	facts = bu_gate_facts(&report);
	life_put(life, clean, digest);
	bu_event_init(&event, BU_EVENT_CHECKS, life->desired->nodes[index].name,
		      bu_report_body(&report, digest, BU_UNSAID_INT, NULL));
	bu_event_attach(&event, "facts", bu_json_canonical(facts));
	take(life, &event);
	bu_checks_fini(&report);
}

/* --- pairs and certificates --- */

static void
fill_end(const struct life *life, size_t index, size_t rail, struct bu_pair_end *ret)
{
	snprintf(ret->node, sizeof(ret->node), "%s", life->desired->nodes[index].name);
	snprintf(ret->device, sizeof(ret->device), "mlx5_%zu", rail);
	snprintf(ret->gid, sizeof(ret->gid), "::ffff:10.%zu.%zu.%zu", 1 + rail,
		 1 + index / 250, 1 + index % 250);
	snprintf(ret->address, sizeof(ret->address), "10.%zu.%zu.%zu", 1 + rail,
		 1 + index / 250, 1 + index % 250);
	ret->gid_index = 3;
	ret->port = 1;
	ret->mtu = 4096;
	ret->gid_type = BU_GID_ROCE_V2;
	ret->rate_gbps = 400;
	ret->numa = rail < GPUS / 2 ? 0 : 1;
	ret->cpu = 4;
	ret->memory = ret->memory_found = BU_MEMORY_DMABUF;
	ret->window_bytes = INT64_C(64) << 20;
	ret->traffic_class = 104;
}

static void
fill_dir(size_t seed, struct bu_pair_dir *ret)
{
	double samples[8];

	for (int i = 0; i < RUNS; i++)
		bu_pair_dir_add(ret, 388 + (double)((seed + (size_t)i) % 31) / 10);
	for (size_t i = 0; i < BU_LEN(samples); i++)
		samples[i] = 2.1 + (double)((seed + i) % 7) / 10;
	bu_pair_dir_latency(ret, samples, BU_LEN(samples));
	ret->seconds = 1.2;
	ret->setup_seconds = 0.1;
	ret->clock_seconds[0] = ret->clock_seconds[1] = 1.1;
	ret->sent_bytes = UINT64_C(50) << 30;
	ret->qps = QPS;
	for (int i = 0; i < QPS; i++) {
		ret->sport[i] = (uint16_t)(49152 + i);
		ret->flow_label[i] = (uint32_t)(1 + i);
	}
}

static void
make_result(const struct life *life, size_t index, size_t other, size_t rail,
	    const struct bu_expect *expect, struct bu_pair_result *ret)
{
	bu_pair_result_init(ret);
	snprintf(ret->probe, sizeof(ret->probe), "p-%zu-%zu", index, other);
	ret->at_ms = INT64_C(1700000000000);
	fill_end(life, index, rail, &ret->end[0]);
	fill_end(life, other, rail, &ret->end[1]);
	ret->message_bytes = 1 << 20;
	ret->bytes = UINT64_C(10) << 30;
	ret->mtu = 4096;
	ret->seconds = 2.5;
	ret->qps = QPS;
	fill_dir(index + rail, &ret->dir[0]);
	fill_dir(other + rail, &ret->dir[1]);
	ret->verdict = bu_expect_judge_pair(expect, ret);
}

static const struct bu_expect expect = {.link_gbps = 400, .percent = 90};

void
life_pair(struct life *life, size_t index, size_t other)
{
	const struct bu_desired_pool *pool = life->desired->nodes[index].pool;
	struct bu_node *ends[2];
	struct bu_probe probe = {.traces = 0};
	struct bu_event event;
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));

	for (int i = 0; i < 2; i++) {
		size_t of = i ? other : index;
		char boot_id[40];

		ends[i] = bu_node_create(life->desired->nodes[of].name);
		life_boot(of, 1, boot_id);
		bu_node_set_boot_id(ends[i], boot_id);
	}
	snprintf(probe.task.id, sizeof(probe.task.id), "p-%zu-%zu", index, other);
	for (size_t rail = 0; rail < pool->rails_count; rail++) {
		make_result(life, index, other, rail, &expect, result);
		event = bu_probe_event(NULL, &probe, pool->rails[rail]->name,
				       (const struct bu_node *const *)ends, &expect,
				       result);
		take(life, &event);
	}
	for (int i = 0; i < 2; i++)
		bu_node_destroy(ends[i]);
}

/* The order of the nodes at the leaf, as a certificate keeps it. */
static json_t *
schedule_of(const struct life *life, size_t index)
{
	json_t *order = json_array();
	size_t first = index - index % LEAF_NODES;

	for (size_t i = first; i < first + LEAF_NODES && i < life->desired->nodes_count;
	     i++)
		json_array_append_new(order, json_string(life->desired->nodes[i].name));
	return json_pack("{s:i,s:o}", "group", (int)(index / LEAF_NODES), "order",
			 order);
}

static json_t *
hardware_of(const char *machine, size_t index)
{
	json_t *hardware = json_pack("{s:s}", "machine", machine);

	for (size_t i = 0; i <= GPUS; i++) {
		bu_autofree char *device = bu_xasprintf("mlx5_%zu", i);
		bu_autofree char *guid =
			bu_xasprintf("b83f:d203:%04zx:%04zx", index & 0xffff, i);

		json_object_set_new(hardware, device, json_string(guid));
	}
	return hardware;
}

static void
certify(struct life *life, struct bu_fabcert *cert, enum bu_fabcert_kind kind)
{
	struct bu_err err = {0};
	struct bu_event event;
	char *text;

	cert->kind = kind;
	text = bu_fabcert_sign(cert, bu_trust_sign_key(life->trust), &err);
	life_must(text != NULL, "certificate", &err);
	BU_EVENT_MAKE(&event, BU_EVENT_CERTIFICATE, cert->node, certificate,
		      .kind = kind == BU_FABCERT_FULL ? BU_CERTIFICATE_FULL
						      : BU_CERTIFICATE_BOOT);
	bu_event_attach(&event, "digest", text);
	take(life, &event);
}

enum { RESULTS = 2 }; /* of a rail, in a full certificate */

void
life_certificates(struct life *life, size_t index)
{
	const struct bu_desired_pool *pool = life->desired->nodes[index].pool;
	size_t rails = pool->rails_count, count = life->desired->nodes_count;
	bu_autofree struct bu_pair_result *results =
		bu_xcalloc(rails * RESULTS, sizeof(*results));
	bu_autofree const struct bu_pair_result **refs =
		bu_xcalloc(rails * RESULTS, sizeof(*refs));
	bu_autofree struct bu_fabcert_rail *list = bu_xcalloc(rails, sizeof(*list));
	bu_autojson json_t *hardware = NULL, *schedule = schedule_of(life, index);
	char machine[BU_DIGEST_SIZE], boot[LIFE_BOOT_SIZE];
	struct bu_fabcert cert = {.node = life->desired->nodes[index].name,
				  .machine = machine,
				  .boot_id = boot,
				  .epoch = 1,
				  .issued_ms = INT64_C(1700000000000),
				  .seed = 1,
				  .rails = list,
				  .rail_count = (int)rails};

	life_machine(life, index, machine);
	life_boot(index, 1, boot);
	cert.hardware = hardware = hardware_of(machine, index);
	for (size_t i = 0; i < rails * RESULTS; i++) {
		make_result(life, index, (index + 1 + i % RESULTS) % count, i / RESULTS,
			    &expect, &results[i]);
		refs[i] = &results[i];
	}
	for (size_t i = 0; i < rails; i++)
		list[i] = (struct bu_fabcert_rail){pool->rails[i]->name,
						   &refs[i * RESULTS],
						   RESULTS,
						   expect,
						   schedule,
						   BU_VERDICT_PASS};
	certify(life, &cert, BU_FABCERT_FULL);
	for (size_t i = 0; i < rails; i++)
		list[i].result_count = 1;
	certify(life, &cert, BU_FABCERT_BOOT);
}
