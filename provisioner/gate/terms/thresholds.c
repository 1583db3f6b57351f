/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expectations: of a pair by the profile and the table of rates, of a machine by its
 * profile. Called by probe.c, campaign_state.c and checks.c. Invariant: the profile
 * goes before the table; a figure that neither gives is not judged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fabric/judge/gpus.h"
#include "model/mtu.h"
#include "model/sentence.h"
#include "profiles/language/schema.h"
#include "profiles/load/gpu.h"
#include "provisioner/config/links.h"
#include "provisioner/gate/terms/terms.h"

/* Deadline of a probe: SETUP_MS to connect, measure the latency and report, and SLOW
 * times the duration of its runs at the least rate that passes. */
enum { SETUP_MS = 10000, SLOW = 2, SLOW_DEPTH = 2 };

static int
is_given(const struct bu_desired_validation *validation, const char *key)
{
	size_t count;
	ptrdiff_t place = bu_schema_key("validation", key) - bu_schema_keys(&count);

	return validation->origins && validation->origins[place].line > 0;
}

/* "ndr-ib": by the rate of four lanes; "" = not known. */
static void
infiniband_sku(double link_gbps, char *ret, size_t size)
{
	static const struct {
		double gbps;
		const char *name;
	} speeds[] = {{100, "edr"}, {200, "hdr"}, {400, "ndr"}, {800, "xdr"}};

	*ret = '\0';
	for (size_t i = 0; i < BU_LEN(speeds); i++)
		if (fabs(link_gbps - speeds[i].gbps) < 0.5)
			snprintf(ret, size, "%s-ib", speeds[i].name);
}

int
bu_gate_path_mtu(const struct bu_desired_network *fabric)
{
	static const enum bu_mtu_headers headers[] = {
		[BU_RDMA_RXE] = BU_MTU_SOFT_ROCE,
		[BU_RDMA_HARDWARE] = BU_MTU_ROCE,
		[BU_RDMA_INFINIBAND] = BU_MTU_IPOIB,
	};

	return fabric->mtu && fabric->rdma != BU_RDMA_NONE
		       ? bu_path_mtu(fabric->mtu, headers[fabric->rdma])
		       : 0;
}

/* The row of "400g-roce" or "ndr-ib" at this MTU; NULL = the table lacks the rate, or
 * the network has no hardware RDMA. */
static const struct bu_rate *
rate_at(const struct bu_gate *gate, const struct bu_desired_network *fabric, int mtu)
{
	int infiniband = fabric->rdma == BU_RDMA_INFINIBAND;
	int usual = infiniband ? 4096 : 1024; /* if the profile gives no MTU */
	char sku[48];

	if (fabric->rdma < BU_RDMA_HARDWARE)
		return NULL;
	if (infiniband)
		infiniband_sku(fabric->link_gbps, sku, sizeof(sku));
	else
		snprintf(sku, sizeof(sku), "%.0fg-roce", fabric->link_gbps);
	return bu_rates_find(&gate->rates, "link", sku, mtu ? mtu : usual);
}

static double
percent_of(const struct bu_rate *rate, const struct bu_desired_network *fabric)
{
	return rate ? 100 * rate->reject / fabric->link_gbps : 0;
}

struct bu_expect
bu_gate_expect_at(const struct bu_gate *gate,
		  const struct bu_desired_validation *validation,
		  const struct bu_desired_network *fabric, int mtu)
{
	const struct bu_rate *rate = rate_at(gate, fabric, mtu);
	struct bu_expect expect = {
		.link_gbps = fabric->link_gbps,
		.percent = validation->bw_min_percent,
		.lat_max_us = validation->lat_max_us,
		.mtu = mtu,
	};

	if (!rate || is_given(validation, "bw_min"))
		return expect;
	expect.percent = percent_of(rate, fabric);
	for (size_t i = 0; mtu == 0 && i < BU_EXPECT_MTUS_COUNT; i++)
		expect.percent_at[i] =
			percent_of(rate_at(gate, fabric, bu_expect_mtus[i]), fabric);
	return expect;
}

struct bu_expect
bu_gate_expect(const struct bu_gate *gate,
	       const struct bu_desired_validation *validation,
	       const struct bu_desired_network *fabric)
{
	return bu_gate_expect_at(gate, validation, fabric, bu_gate_path_mtu(fabric));
}

struct bu_sizes
bu_gate_sizes(const struct bu_desired_validation *validation,
	      const struct bu_desired_network *rail, int qps)
{
	struct bu_sizes sizes = bu_sizes_of(rail->link_gbps, validation->runs);

	/* A slow link (depth 0) has the profile's defaults. */
	if (is_given(validation, "run_size") || sizes.depth == 0) {
		sizes.bytes = validation->run_bytes;
		sizes.warm_bytes = 0;
	}
	if (is_given(validation, "message_size") || sizes.depth == 0 ||
	    sizes.message_bytes > sizes.bytes)
		sizes.message_bytes = (uint32_t)validation->message_bytes;
	if (qps <= sizes.qps)
		return sizes;
	/* On a slow link all queue pairs together have one message of the profile under
	 * way, in SLOW_DEPTH parts each. The timer of soft-RoCE fires too early for a
	 * queue that was empty, and before the turn of the last queue pair with more
	 * under way. */
	if (sizes.depth == 0) {
		sizes.message_bytes /= (uint32_t)(SLOW_DEPTH * qps);
		sizes.message_bytes &= ~UINT32_C(7);
		sizes.depth = SLOW_DEPTH;
	}
	sizes.qps = qps;
	return sizes;
}

int64_t
bu_gate_deadline_ms(const struct bu_gate *gate,
		    const struct bu_desired_validation *validation,
		    const struct bu_desired_network *rail)
{
	struct bu_expect expect = bu_gate_expect(gate, validation, rail);
	struct bu_sizes sizes = bu_gate_sizes(validation, rail, 0);
	double run_ms = (double)(sizes.bytes + sizes.warm_bytes) * 8 /
			(bu_expect_min_gbps(&expect, 0) * 1e6);
	int64_t longest_ms = SETUP_MS + (int64_t)(2 * run_ms * validation->runs * SLOW);

	return is_given(validation, "deadline") || longest_ms > validation->deadline_ms
		       ? validation->deadline_ms
		       : longest_ms;
}

json_t *
bu_gate_bw_warning(const struct bu_gate *gate,
		   const struct bu_desired_validation *validation,
		   const struct bu_desired_network *fabric)
{
	char section[BU_NAME_MAX + 16], percent[32], least[32], reject[32];
	const struct bu_rate *rate = rate_at(gate, fabric, bu_gate_path_mtu(fabric));
	double least_gbps = validation->bw_min_percent * fabric->link_gbps / 100;

	if (!rate || !is_given(validation, "bw_min") || validation->bw_reason ||
	    least_gbps >= rate->reject - 1e-6)
		return NULL;
	snprintf(section, sizeof(section), "[validation %s]", validation->name);
	snprintf(percent, sizeof(percent), "%g", validation->bw_min_percent);
	snprintf(least, sizeof(least), "%.1f", least_gbps);
	snprintf(reject, sizeof(reject), "%.1f", rate->reject);
	return BU_SAID(BW_MIN_LOW, BU_ARG("section", section),
		       BU_ARG("percent", percent), BU_ARG("least", least),
		       BU_ARG("network", fabric->name), BU_ARG("reject", reject));
}

/* Adds the network's interface by the machine's configuration. */
static void
add_interface(json_t *network, const struct bu_links *links,
	      const struct bu_desired_network *of)
{
	for (size_t i = 0; i < links->count; i++) {
		const struct bu_uplink *link = &links->list[i];

		if (link->network != of)
			continue;
		if (link->kind == BU_LINK_NIC)
			json_object_set_new(network, "mac", json_string(link->mac));
		else
			json_object_set_new(network, "netdev", json_string(link->name));
	}
}

/* "a,b" as ["a","b"]; NULL stays NULL. */
static json_t *
words(const char *text)
{
	json_t *list = text ? json_array() : NULL;
	char *word;

	while (text && (word = bu_value_next_word(&text))) {
		json_array_append_new(list, json_string(word));
		free(word);
	}
	return list;
}

/* "3,4" as [3,4], "none" as []. */
static json_t *
priorities(const char *text)
{
	json_t *list = json_array();

	for (const char *at = text; *at; at++)
		if (*at >= '0' && *at <= '7')
			json_array_append_new(list, json_integer(*at - '0'));
	return list;
}

static void
add_switch(json_t *object, const char *name, const char *word)
{
	if (word)
		json_object_set_new(object, name, json_boolean(!strcmp(word, "on")));
}

/* Adds the wanted setup of the port, whether bringup makes it or not. */
static void
add_port(json_t *network, const struct bu_desired_network *of,
	 const struct bu_desired_hardware *class)
{
	if (of->pfc)
		json_object_set_new(network, "pfc", priorities(of->pfc));
	add_switch(network, "ecn", of->ecn);
	if (of->dscp >= 0)
		json_object_set_new(network, "dscp", json_integer(of->dscp));
	if (of->gid_family)
		json_object_set_new(network, "gid_family", json_string(of->gid_family));
	if (of->gid_index >= 0)
		json_object_set_new(network, "gid_index", json_integer(of->gid_index));
	if (of->pkeys)
		json_object_set_new(network, "pkeys", words(of->pkeys));
	if (of->rdma >= BU_RDMA_HARDWARE && class->nic_firmware)
		json_object_set_new(network, "firmware", words(class->nic_firmware));
}

static json_t *
network_json(const struct bu_desired_node *want, const struct bu_desired_network *of,
	     const struct bu_links *links)
{
	char address[INET_ADDRSTRLEN];
	json_t *network = json_pack("{s:s,s:s,s:b}", "name", of->name, "role",
				    bu_network_role_name(of->role), "rdma",
				    of->rdma != BU_RDMA_NONE);

	if (of->mtu)
		json_object_set_new(network, "mtu", json_integer(of->mtu));
	/* The rate of a shaped or virtual link is not the port's. */
	if (of->link_gbps >= 1)
		json_object_set_new(network, "link_gbps", json_real(of->link_gbps));
	if (of->rail >= 0)
		json_object_set_new(network, "rail", json_integer(of->rail));
	if (of->port)
		json_object_set_new(network, "port", json_string(of->port));
	if (of->rdma == BU_RDMA_INFINIBAND)
		json_object_set_new(network, "infiniband", json_true());
	if (of->pci)
		json_object_set_new(network, "pci", json_string(of->pci));
	if (bu_desired_node_address(want, of, address) == 0)
		json_object_set_new(network, "address", json_string(address));
	add_interface(network, links, of);
	add_port(network, of, want->hardware);
	return network;
}

static json_t *
networks_json(struct bu_gate *gate, const struct bu_node *node,
	      const struct bu_target *target)
{
	const struct bu_desired_node *want = target->node;
	bu_autojson json_t *value = bu_fleet_inventory(gate->fleet, node);
	bu_autoinventory struct bu_inventory *inventory =
		value ? bu_inventory_from_json(value, NULL) : NULL;
	bu_autofree struct bu_links *links = bu_xcalloc(1, sizeof(*links));
	struct bu_config_input input = {.desired = target->desired,
					.node = want,
					.nics = inventory ? inventory->nics : NULL,
					.nic_count =
						inventory ? inventory->nics_count : 0,
					.appliance = ""};
	json_t *list = json_array();

	if (bu_links_make(&input, links, NULL) != 0)
		links->count = 0;
	for (size_t i = 0; i < want->pool->networks_count; i++)
		json_array_append_new(
			list, network_json(want, want->pool->networks[i], links));
	return list;
}

static json_t *
hardware_json(const struct bu_desired_hardware *class)
{
	json_t *hardware = json_object();

	if (class->cpus_min)
		json_object_set_new(hardware, "cpus", json_integer(class->cpus_min));
	if (class->memory_min_bytes)
		json_object_set_new(hardware, "memory_bytes",
				    json_integer((json_int_t) class->memory_min_bytes));
	if (class->gpus)
		json_object_set_new(hardware, "gpus", json_integer(class->gpus));
	if (class->gpu_model)
		json_object_set_new(hardware, "gpu_model",
				    json_string(class->gpu_model));
	if (class->nics)
		json_object_set_new(hardware, "nics", json_integer(class->nics));
	return hardware;
}

/* "1GiB*64,2MiB*1024" as {"1048576kB":64,"2048kB":1024}: sysfs' names. */
static json_t *
pages_json(const char *text)
{
	json_t *pages = json_object();
	char *word;

	while ((word = bu_value_next_word(&text))) {
		bu_autofree char *item = word;
		const char *count = strchr(item, '*');
		char name[32];
		long size;

		if (!count)
			continue;
		size = strtol(item, NULL, 10) * (strstr(item, "GiB") ? 1 << 20 : 1024);
		snprintf(name, sizeof(name), "%ldkB", size);
		json_object_set_new(pages, name,
				    json_integer(strtoll(count + 1, NULL, 10)));
	}
	return pages;
}

static json_t *
host_json(const struct bu_desired_node *want)
{
	const struct bu_desired_hardware *class = want->hardware;
	json_t *host = json_object();

	if (want->hugepages)
		json_object_set_new(host, "hugepages", pages_json(want->hugepages));
	if (want->governor)
		json_object_set_new(host, "governor", json_string(want->governor));
	add_switch(host, "smt", class->smt);
	add_switch(host, "turbo", class->turbo);
	if (class->numa_nodes)
		json_object_set_new(host, "numa_nodes",
				    json_integer(class->numa_nodes));
	if (class->cstate_us)
		json_object_set_new(host, "cstate_us", json_integer(class->cstate_us));
	return host;
}

/* File systems of servers; NULL = none. */
static json_t *
mounts_json(const struct bu_desired_node *want)
{
	json_t *list = want->pool->mounts_count ? json_array() : NULL;

	for (size_t i = 0; i < want->pool->mounts_count; i++) {
		const struct bu_desired_mount *mount = want->pool->mounts[i];
		json_t *one =
			json_pack("{s:s,s:s,s:s,s:s}", "name", mount->name, "source",
				  mount->source, "path", mount->path, "fs", mount->fs);

		if (mount->write)
			json_object_set_new(one, "write", json_string(mount->write));
		json_array_append_new(list, one);
	}
	return list;
}

/* NULL = nothing is expected. A MIG layout that leaves some GPUs whole is not judged,
 * because `mig` holds for all GPUs. */
static json_t *
gpu_json(const struct bu_gate *gate, const struct bu_desired_node *want)
{
	const struct bu_desired_hardware *class = want->hardware;
	json_t *gpu = NULL;
	double share = 0;
	int instances;

	if (class->gpus)
		gpu = bu_gpus_expect(gate->gpus, &gate->rates,
				     gate->gpus ? class->gpu_model : NULL, class->gpus,
				     NULL);
	if (gpu && want->image->driver)
		json_object_set_new(gpu, "driver", json_string(want->image->driver));
	if (gpu && class->gpu_compute_partition)
		json_object_set_new(gpu, "compute_partition",
				    json_string(class->gpu_compute_partition));
	if (gpu && class->gpu_memory_partition)
		json_object_set_new(gpu, "memory_partition",
				    json_string(class->gpu_memory_partition));
	if (gpu && want->mig) {
		instances = bu_gpu_mig_alike(want->mig, class->gpu_model, &share);
		bu_gpus_divide(gpu, instances, share);
		if (bu_gpu_mig_is_whole(want->mig, class->gpus))
			json_object_set_new(gpu, "mig", json_true());
	}
	return gpu;
}

json_t *
bu_gate_settings(const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text);
	json_t *ports = json_object();
	char *at = copy, *rest;

	for (char *one = strtok_r(at, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(one, '=');

		one += strspn(one, " ");
		if (!value)
			continue;
		*value++ = '\0';
		json_object_set_new(ports, one, json_string(value));
	}
	return ports;
}

/* "memory_gbs=200,clock_offset_us=1000" as numbers. */
static json_t *
thresholds(const char *text)
{
	json_t *words = bu_gate_settings(text), *numbers = json_object(), *word;
	const char *name;

	json_object_foreach (words, name, word) {
		const char *text_of = json_string_value(word);

		json_object_set_new(numbers, name,
				    strpbrk(text_of, ".eE")
					    ? json_real(strtod(text_of, NULL))
					    : json_integer(strtoll(text_of, NULL, 10)));
	}
	json_decref(words);
	return numbers;
}

json_t *
bu_gate_checks_expect(struct bu_gate *gate, const struct bu_node *node,
		      const struct bu_target *target)
{
	const struct bu_desired_node *want = target->node;
	const struct bu_desired_node *reach = bu_fleet_reach(gate->fleet, node);
	json_t *expect = json_pack(
		"{s:o,s:o,s:o}", "networks", networks_json(gate, node, target),
		"hardware", hardware_json(want->hardware), "host", host_json(want));
	json_t *gpu = gpu_json(gate, want), *mounts = mounts_json(want);

	if (mounts)
		json_object_set_new(expect, "mounts", mounts);
	if (gpu)
		json_object_set_new(expect, "gpu", gpu);
	if (gate->events)
		json_object_set(expect, "events", gate->events);
	if (want->validation && want->validation->thresholds)
		json_object_set_new(expect, "thresholds",
				    thresholds(want->validation->thresholds));
	if (want->validation && want->validation->severity)
		json_object_set_new(expect, "severity",
				    bu_gate_settings(want->validation->severity));
	if (reach && reach->switch_ports && reach->switch_ports[0])
		json_object_set_new(expect, "lldp",
				    bu_gate_settings(reach->switch_ports));
	return expect;
}
