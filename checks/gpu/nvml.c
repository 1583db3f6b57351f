/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads NVML, asks everything, unloads it. Called by the GPU checks. Invariant: what a
 * GPU does not tell stays BU_NVML_UNKNOWN; no answer is made up.
 */
#include "checks/gpu/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/symbols.h"
#include "base/text.h"
#include "checks/gpu/nvml_impl.h"

enum {
	NVML_SUCCESS = 0,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_UNKNOWN = 999,
	ECC_CORRECTED = 0,
	ECC_UNCORRECTED = 1,
	ECC_VOLATILE = 0,
	RECOVERY_ACTION = 230, /* NVML_FI_DEV_GET_GPU_RECOVERY_ACTION */
	LINK_COUNTERS = 4,     /* replay, recovery, CRC of flits, CRC of data */
};

static const struct bu_symbol functions[] = {
#define X(member, symbol, args, required)                                              \
	{symbol, offsetof(struct bu_nvml, member), !(required)},
	FUNCTIONS(X)
#undef X
};

static int
load(const char *library, struct bu_nvml *nvml, struct bu_err *err)
{
	const char *missing;

	nvml->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!nvml->handle)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "cannot load NVML: %s",
				  dlerror());
	missing = bu_symbols_find(nvml->handle, functions, BU_LEN(functions), nvml);
	if (missing) {
		dlclose(nvml->handle);
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "%s is not a usable NVML: it lacks %s", library,
				  missing);
	}
	*(void **)&nvml->error_text = dlsym(nvml->handle, "nvmlErrorString");
	return 0;
}

static const char *
words(const struct bu_nvml *nvml, int code)
{
	const char *text = nvml->error_text ? nvml->error_text(code) : NULL;

	return text ? text : "unknown error";
}

/* One question that answers with an unsigned number; unknown when it is not told. */
static int
ask(int (*fn)(GPU, unsigned int *), GPU gpu)
{
	unsigned int value;

	return fn && fn(gpu, &value) == NVML_SUCCESS ? (int)value : BU_NVML_UNKNOWN;
}

static int64_t
ask_ecc(const struct bu_nvml *nvml, GPU gpu, int type)
{
	unsigned long long value;

	return nvml->ecc_total && nvml->ecc_total(gpu, type, ECC_VOLATILE, &value) ==
					  NVML_SUCCESS
		       ? (int64_t)value
		       : BU_NVML_UNKNOWN;
}

static void
read_memory(const struct bu_nvml *nvml, GPU gpu, struct bu_gpu_facts *facts)
{
	unsigned int corrected, uncorrected, pending, failed;
	struct memory_info memory;
	int now, next;

	facts->memory_bytes = nvml->memory(gpu, &memory) == NVML_SUCCESS
				      ? (int64_t)memory.total
				      : BU_NVML_UNKNOWN;
	facts->ecc = nvml->ecc_mode && nvml->ecc_mode(gpu, &now, &next) == NVML_SUCCESS
			     ? now
			     : BU_NVML_UNKNOWN;
	facts->ecc_corrected = ask_ecc(nvml, gpu, ECC_CORRECTED);
	facts->ecc_uncorrected = ask_ecc(nvml, gpu, ECC_UNCORRECTED);
	facts->ecc_deferred = BU_NVML_UNKNOWN;
	facts->remap_corrected = facts->remap_uncorrected = BU_NVML_UNKNOWN;
	facts->remap_pending = facts->remap_failed = BU_NVML_UNKNOWN;
	if (!nvml->remapped || nvml->remapped(gpu, &corrected, &uncorrected, &pending,
					      &failed) != NVML_SUCCESS)
		return;
	facts->remap_corrected = corrected;
	facts->remap_uncorrected = uncorrected;
	facts->remap_pending = pending != 0;
	facts->remap_failed = failed != 0;
}

static void
read_links(const struct bu_nvml *nvml, GPU gpu, struct bu_gpu_facts *facts)
{
	unsigned long long errors;
	int active;

	facts->link_errors = BU_NVML_UNKNOWN;
	facts->xgmi = BU_NVML_UNKNOWN;
	for (unsigned int link = 0; nvml->link_state && link < BU_NVLINKS_MAX; link++) {
		if (nvml->link_state(gpu, link, &active) != NVML_SUCCESS)
			continue;
		facts->links++;
		if (!active)
			facts->links_down |= UINT64_C(1) << link;
		for (int counter = 0; nvml->link_errors && counter < LINK_COUNTERS;
		     counter++) {
			if (nvml->link_errors(gpu, link, counter, &errors) !=
			    NVML_SUCCESS)
				continue;
			if (facts->link_errors == BU_NVML_UNKNOWN)
				facts->link_errors = 0;
			facts->link_errors += (int64_t)errors;
		}
	}
}

/* A board with NVSwitches of its own reaches no other node: its cluster is all zeros.
 */
static int
is_of_cluster(const unsigned char uuid[16])
{
	static const unsigned char none[16];

	return memcmp(uuid, none, sizeof(none)) != 0;
}

static void
read_fabric(const struct bu_nvml *nvml, GPU gpu, struct bu_gpu_facts *facts)
{
	struct fabric_info info = {.status = 0};
	const unsigned char *u = info.cluster_uuid;

	facts->fabric = BU_NVML_UNKNOWN;
	if (!nvml->fabric || nvml->fabric(gpu, &info) != NVML_SUCCESS)
		return;
	facts->fabric = (int)info.state;
	facts->fabric_status = info.status;
	facts->fabric_clique = info.clique;
	if (info.state == BU_GPU_FABRIC_COMPLETED && is_of_cluster(u))
		snprintf(facts->fabric_uuid, sizeof(facts->fabric_uuid),
			 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x",
			 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9],
			 u[10], u[11], u[12], u[13], u[14], u[15]);
}

/* Of the newest version that the library has. */
static void
read_health(const struct bu_nvml *nvml, GPU gpu, struct bu_gpu_facts *facts)
{
	static const unsigned int versions[] = {0x03000028, 0x02000024};
	struct field action = {.id = RECOVERY_ACTION};
	struct sram_status sram = {.version = 1u << 24 | sizeof(sram)};

	for (size_t i = 0; nvml->fabric_health && i < BU_LEN(versions); i++) {
		struct fabric_health info = {.version = versions[i]};

		if (nvml->fabric_health(gpu, &info) != NVML_SUCCESS)
			continue;
		facts->fabric_mask = info.mask;
		facts->fabric_summary = info.summary;
		break;
	}
	facts->recovery =
		nvml->fields && nvml->fields(gpu, 1, &action) == NVML_SUCCESS &&
				action.rc == NVML_SUCCESS
			? (int)action.value.number
			: BU_NVML_UNKNOWN;
	facts->sram_exceeded = nvml->sram && nvml->sram(gpu, &sram) == NVML_SUCCESS
				       ? sram.exceeded != 0
				       : BU_NVML_UNKNOWN;
	facts->persistence = ask(nvml->persistence, gpu);
}

static int
count_instances(const struct bu_nvml *nvml, GPU gpu)
{
	int most = ask(nvml->instances, gpu), count = 0;
	GPU one;

	if (most == BU_NVML_UNKNOWN || !nvml->instance)
		return BU_NVML_UNKNOWN;
	for (int i = 0; i < most; i++)
		count += nvml->instance(gpu, (unsigned int)i, &one) == NVML_SUCCESS;
	return count;
}

static void
read_state(const struct bu_nvml *nvml, GPU gpu, struct bu_gpu_facts *facts)
{
	unsigned long long reasons;
	unsigned int value, next;

	facts->slowdown =
		nvml->slowdown && nvml->slowdown(gpu, &reasons) == NVML_SUCCESS
			? reasons
			: BU_GPU_SLOWDOWN_UNKNOWN;
	facts->temperature_c =
		nvml->temperature && nvml->temperature(gpu, 0, &value) == NVML_SUCCESS
			? (int)value
			: BU_NVML_UNKNOWN;
	facts->power_limit_mw = ask(nvml->power_limit, gpu);
	facts->power_default_mw = ask(nvml->power_default, gpu);
	facts->pcie_gen = ask(nvml->pcie_gen, gpu);
	facts->pcie_gen_max = ask(nvml->pcie_gen_max, gpu);
	facts->pcie_gen_busy = BU_NVML_UNKNOWN;
	facts->pcie_width = ask(nvml->pcie_width, gpu);
	facts->pcie_width_max = ask(nvml->pcie_width_max, gpu);
	facts->pcie_replays = ask(nvml->replays, gpu);
	facts->mig = nvml->mig && nvml->mig(gpu, &value, &next) == NVML_SUCCESS
			     ? (int)value
			     : BU_NVML_UNKNOWN;
	facts->instances =
		facts->mig == 1 ? count_instances(nvml, gpu) : BU_NVML_UNKNOWN;
}

static void
read_text(int (*fn)(GPU, char *, unsigned int), GPU gpu, char *ret, size_t size)
{
	if (!fn || fn(gpu, ret, (unsigned int)size) != NVML_SUCCESS)
		ret[0] = '\0';
	ret[size - 1] = '\0';
}

/* "00000000:1B:00.0", as the kernel writes it: "0000:1b:00.0". */
static void
copy_address(char *ret, size_t size, const char *bus_id)
{
	unsigned int domain, bus, device, function;

	if (sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
		snprintf(ret, size, "%04x:%02x:%02x.%x", domain, bus, device, function);
	else
		bu_text_copy(ret, size, bus_id);
}

static void
in_trouble(const struct bu_nvml *nvml, int rc, struct bu_gpu_facts *facts)
{
	facts->needs_reset = rc == NVML_RESET_REQUIRED;
	snprintf(facts->trouble, sizeof(facts->trouble), "%s: %s",
		 rc == NVML_GPU_IS_LOST ? "lost" : "does not answer", words(nvml, rc));
}

static void
read_gpu(const struct bu_nvml *nvml, unsigned int index, struct bu_gpu_facts *facts)
{
	struct pci_info pci = {.domain = 0};
	struct memory_info memory;
	GPU gpu = NULL;
	int rc = nvml->by_index(index, &gpu);

	if (rc == NVML_SUCCESS)
		rc = nvml->pci(gpu, &pci);
	if (rc != NVML_SUCCESS) {
		in_trouble(nvml, rc, facts);
		return;
	}
	copy_address(facts->pci, sizeof(facts->pci), pci.bus_id);
	read_text(nvml->name, gpu, facts->name, sizeof(facts->name));
	read_text(nvml->serial, gpu, facts->serial, sizeof(facts->serial));
	read_text(nvml->uuid, gpu, facts->uuid, sizeof(facts->uuid));
	read_text(nvml->vbios, gpu, facts->vbios, sizeof(facts->vbios));
	read_memory(nvml, gpu, facts);
	read_links(nvml, gpu, facts);
	read_fabric(nvml, gpu, facts);
	read_health(nvml, gpu, facts);
	read_state(nvml, gpu, facts);
	/* The driver knows handle and address of a GPU that is gone: what it did not
	 * tell above is not unknown then. */
	rc = nvml->memory(gpu, &memory);
	if (rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED || rc == NVML_UNKNOWN)
		in_trouble(nvml, rc, facts);
}

static void
ask_about(const struct bu_gpu_asking *asking, int gpu)
{
	if (asking)
		asking->fn(gpu, asking->arg);
}

static int
read_all(const struct bu_nvml *nvml, const struct bu_gpu_asking *asking,
	 struct bu_nvml_facts *ret, struct bu_err *err)
{
	unsigned int count = 0;
	int rc = nvml->driver(ret->driver, sizeof(ret->driver));

	if (rc == NVML_SUCCESS)
		rc = nvml->count(&count);
	if (rc != NVML_SUCCESS)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "NVML: %s", words(nvml, rc));
	if (count > BU_GPUS_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "NVML reports %u GPUs; at most %d are supported",
				  count, BU_GPUS_MAX);
	ret->driver[sizeof(ret->driver) - 1] = '\0';
	if (!nvml->cuda || nvml->cuda(&ret->cuda) != NVML_SUCCESS)
		ret->cuda = BU_NVML_UNKNOWN;
	ret->gpus = bu_xcalloc(count ? count : 1, sizeof(*ret->gpus));
	ret->count = count;
	for (unsigned int i = 0; i < count; i++) {
		ask_about(asking, (int)i);
		read_gpu(nvml, i, &ret->gpus[i]);
	}
	ask_about(asking, -1);
	return 0;
}

struct bu_nvml *
bu_nvml_open(const char *library, struct bu_err *err)
{
	struct bu_nvml *nvml = bu_xcalloc(1, sizeof(*nvml));
	int rc;

	if (load(library ? library : "libnvidia-ml.so.1", nvml, err) != 0) {
		free(nvml);
		return NULL;
	}
	rc = nvml->init();
	if (rc == NVML_SUCCESS)
		return nvml;
	bu_err_set(err, BU_ERR_REMOTE, 0, "NVML: %s", words(nvml, rc));
	dlclose(nvml->handle);
	free(nvml);
	return NULL;
}

void
bu_nvml_close(struct bu_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->shutdown();
	dlclose(nvml->handle);
	free(nvml);
}

void
bu_nvml_link(const struct bu_nvml *nvml, const char *pci, struct bu_gpu_link *ret)
{
	GPU gpu = NULL;

	ret->gen = ret->gen_max = ret->width = ret->width_max = BU_NVML_UNKNOWN;
	if (!nvml->by_pci || nvml->by_pci(pci, &gpu) != NVML_SUCCESS)
		return;
	ret->gen = ask(nvml->pcie_gen, gpu);
	ret->gen_max = ask(nvml->pcie_gen_max, gpu);
	ret->width = ask(nvml->pcie_width, gpu);
	ret->width_max = ask(nvml->pcie_width_max, gpu);
}

size_t
bu_nvml_registering(const struct bu_nvml *nvml, const struct bu_gpu_asking *asking)
{
	unsigned int count = 0;
	size_t found = 0;

	if (!nvml->fabric || nvml->count(&count) != NVML_SUCCESS)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		struct fabric_info info = {.status = 0};
		GPU gpu = NULL;

		ask_about(asking, (int)i);
		if (nvml->by_index(i, &gpu) == NVML_SUCCESS &&
		    nvml->fabric(gpu, &info) == NVML_SUCCESS)
			found += info.state == BU_GPU_FABRIC_NOT_STARTED ||
				 info.state == BU_GPU_FABRIC_IN_PROGRESS;
	}
	ask_about(asking, -1);
	return found;
}

int
bu_nvml_read(const char *library, const struct bu_gpu_asking *asking,
	     struct bu_nvml_facts *ret, struct bu_err *err)
{
	struct bu_nvml *nvml;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ask_about(asking, -1);
	nvml = bu_nvml_open(library, err);
	if (!nvml)
		return -1;
	rc = read_all(nvml, asking, ret, err);
	bu_nvml_close(nvml);
	return rc;
}

void
bu_nvml_facts_fini(struct bu_nvml_facts *facts)
{
	free(facts->gpus);
	memset(facts, 0, sizeof(*facts));
}
