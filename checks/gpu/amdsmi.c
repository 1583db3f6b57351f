/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads AMD SMI, asks everything, unloads it. Called by the GPU checks and by soak.
 * Invariants: what a GPU does not tell stays BU_NVML_UNKNOWN; no struct is handed to a
 * library whose version was not looked at.
 */
#include "checks/gpu/amdsmi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/symbols.h"
#include "base/text.h"

enum {
	SUCCESS = 0,
	INIT_GPUS = 1 << 1,
	MEMORY_VRAM = 0,
	BLOCK_UMC = 1, /* the controllers of its memory */
	LINK_DOWN = 0,
	LINK_UP = 1, /* 2 = disabled: there is none, as that to itself */
	LINKS_MAX = 8,
	SOCKETS_MAX = 512, /* some releases may have one for each part */
	PARTS_MAX = 64,
	TEXT = 256,
	FIRST_YEAR = 25, /* ROCm 6.4: the version begins with the year */
	FIRST_MAJOR = 26,
};

/* amdsmi_version_t: of 25 {year, major, minor, release}, of 26 {major, minor, release}
 * and a gap. */
struct version {
	uint32_t number[4];
	const char *build;
};

struct asic_info { /* amdsmi_asic_info_t */
	char market_name[TEXT];
	uint32_t vendor_id;
	char vendor_name[TEXT];
	uint32_t subvendor_id;
	uint64_t device_id;
	uint32_t rev_id;
	char asic_serial[TEXT];
	uint32_t oam_id, compute_units;
	uint64_t target_graphics_version;
	uint64_t more[11];
};

/* amdsmi_vbios_info_t: the date before the version has grown. */
union vbios_info {
	struct {
		char name[TEXT], build_date[32], part_number[TEXT], version[TEXT];
		uint64_t more[32];
	} of25;
	struct {
		char name[TEXT], build_date[TEXT], part_number[TEXT], version[TEXT];
		uint64_t more[68];
	} of26;
};

struct driver_info { /* amdsmi_driver_info_t */
	char version[TEXT], date[TEXT], name[TEXT];
};

struct error_count { /* amdsmi_error_count_t; the library adds to it */
	uint64_t correctable, uncorrectable, deferred, more[5];
};

struct link_status { /* amdsmi_xgmi_link_status_t */
	uint32_t total, status[LINKS_MAX];
	uint64_t more[7];
};

_Static_assert(sizeof(struct version) == 24, "amdsmi_version_t");
_Static_assert(sizeof(struct asic_info) == 896, "amdsmi_asic_info_t");
_Static_assert(sizeof(((union vbios_info *)0)->of25) == 1056, "amdsmi_vbios_info_t");
_Static_assert(sizeof(union vbios_info) == 1568, "amdsmi_vbios_info_t");
_Static_assert(sizeof(struct driver_info) == 768, "amdsmi_driver_info_t");
_Static_assert(sizeof(struct error_count) == 64, "amdsmi_error_count_t");
_Static_assert(sizeof(struct link_status) == 96, "amdsmi_xgmi_link_status_t");

/* The library's functions: member, symbol, signature, whether every version has it. */
#define GPU void *
#define FUNCTIONS(X)                                                                   \
	X(lib_version, "amdsmi_get_lib_version", (struct version *), 1)                \
	X(init, "amdsmi_init", (uint64_t), 1)                                          \
	X(shut_down, "amdsmi_shut_down", (void), 1)                                    \
	X(words, "amdsmi_status_code_to_string", (int, const char **), 0)              \
	X(sockets, "amdsmi_get_socket_handles", (uint32_t *, void **), 1)              \
	X(processors, "amdsmi_get_processor_handles", (void *, uint32_t *, GPU *), 1)  \
	X(bdf, "amdsmi_get_gpu_device_bdf", (GPU, uint64_t *), 1)                      \
	X(asic, "amdsmi_get_gpu_asic_info", (GPU, struct asic_info *), 1)              \
	X(vbios, "amdsmi_get_gpu_vbios_info", (GPU, union vbios_info *), 0)            \
	X(driver, "amdsmi_get_gpu_driver_info", (GPU, struct driver_info *), 0)        \
	X(memory, "amdsmi_get_gpu_memory_total", (GPU, int, uint64_t *), 1)            \
	X(ecc_blocks, "amdsmi_get_gpu_ecc_enabled", (GPU, uint64_t *), 0)              \
	X(ecc_total, "amdsmi_get_gpu_total_ecc_count", (GPU, struct error_count *), 0) \
	X(links, "amdsmi_get_gpu_xgmi_link_status", (GPU, struct link_status *), 0)

struct amdsmi {
	void *handle;
	int release; /* 25 or 26: which structs it has */
#define X(member, symbol, args, required) int(*member) args;
	FUNCTIONS(X)
#undef X
};

static const struct bu_symbol functions[] = {
#define X(member, symbol, args, required)                                              \
	{symbol, offsetof(struct amdsmi, member), !(required)},
	FUNCTIONS(X)
#undef X
};

/* The last two have no version in their name: theirs is looked at below. */
static const char *const usual[] = {"libamd_smi.so.26", "libamd_smi.so.25",
				    "libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"};

static void *
open_library(const char *library, struct bu_err *err)
{
	void *handle = NULL;

	if (library)
		handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && !handle && i < BU_LEN(usual); i++)
		handle = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "cannot load AMD SMI: %s",
			   dlerror());
	return handle;
}

static int
look_at_version(struct amdsmi *amdsmi, struct bu_err *err)
{
	struct version version = {.number = {0}};
	const uint32_t *n = version.number;
	int rc = amdsmi->lib_version(&version);

	if (rc != SUCCESS)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "AMD SMI does not tell its version: status %d", rc);
	if (n[0] != FIRST_YEAR && n[0] != FIRST_MAJOR)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "AMD SMI %u.%u.%u is not known here; %d and %d are, "
				  "of ROCm 6.4 and 7",
				  n[0], n[1], n[2], FIRST_YEAR, FIRST_MAJOR);
	amdsmi->release = (int)n[0];
	return 0;
}

static int
load(const char *library, struct amdsmi *amdsmi, struct bu_err *err)
{
	const char *missing;

	memset(amdsmi, 0, sizeof(*amdsmi));
	amdsmi->handle = open_library(library, err);
	if (!amdsmi->handle)
		return -1;
	missing = bu_symbols_find(amdsmi->handle, functions, BU_LEN(functions), amdsmi);
	if (missing)
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%s is not a usable AMD SMI: it lacks %s",
			   library ? library : "libamd_smi.so", missing);
	else if (look_at_version(amdsmi, err) == 0)
		return 0;
	dlclose(amdsmi->handle);
	return -1;
}

static const char *
words(const struct amdsmi *amdsmi, int code)
{
	const char *text = NULL;

	if (!amdsmi->words || amdsmi->words(code, &text) != SUCCESS || !text)
		return "unknown error";
	return text;
}

static void
copy_text(char *ret, size_t size, char text[TEXT])
{
	text[TEXT - 1] = '\0';
	bu_text_copy(ret, size, text);
}

static void
nothing_told(struct bu_gpu_facts *facts)
{
	facts->memory_bytes = BU_NVML_UNKNOWN;
	facts->ecc = BU_NVML_UNKNOWN;
	facts->ecc_corrected = facts->ecc_uncorrected = BU_NVML_UNKNOWN;
	facts->ecc_deferred = BU_NVML_UNKNOWN;
	facts->remap_corrected = facts->remap_uncorrected = BU_NVML_UNKNOWN;
	facts->remap_pending = facts->remap_failed = BU_NVML_UNKNOWN;
	facts->link_errors = BU_NVML_UNKNOWN;
	facts->xgmi = BU_NVML_UNKNOWN;
	facts->fabric = BU_NVML_UNKNOWN;
	facts->slowdown = BU_GPU_SLOWDOWN_UNKNOWN;
	facts->temperature_c = BU_NVML_UNKNOWN;
	facts->power_limit_mw = facts->power_default_mw = BU_NVML_UNKNOWN;
	facts->pcie_gen = facts->pcie_gen_max = BU_NVML_UNKNOWN;
	facts->pcie_width = facts->pcie_width_max = BU_NVML_UNKNOWN;
	facts->pcie_gen_busy = BU_NVML_UNKNOWN;
	facts->pcie_replays = BU_NVML_UNKNOWN;
	facts->mig = facts->instances = BU_NVML_UNKNOWN;
	facts->recovery = facts->sram_exceeded = BU_NVML_UNKNOWN;
	facts->persistence = BU_NVML_UNKNOWN;
}

static void
read_vbios(const struct amdsmi *amdsmi, GPU gpu, struct bu_gpu_facts *facts)
{
	union vbios_info vbios;

	memset(&vbios, 0, sizeof(vbios));
	if (amdsmi->vbios && amdsmi->vbios(gpu, &vbios) == SUCCESS)
		copy_text(facts->vbios, sizeof(facts->vbios),
			  amdsmi->release == FIRST_YEAR ? vbios.of25.version
							: vbios.of26.version);
}

static void
read_memory(const struct amdsmi *amdsmi, GPU gpu, struct bu_gpu_facts *facts)
{
	struct error_count count = {.correctable = 0};
	uint64_t value = 0;

	if (amdsmi->memory(gpu, MEMORY_VRAM, &value) == SUCCESS)
		facts->memory_bytes = (int64_t)value;
	if (amdsmi->ecc_blocks && amdsmi->ecc_blocks(gpu, &value) == SUCCESS)
		facts->ecc = (value & BLOCK_UMC) != 0;
	if (!amdsmi->ecc_total || amdsmi->ecc_total(gpu, &count) != SUCCESS)
		return;
	facts->ecc_corrected = (int64_t)count.correctable;
	facts->ecc_uncorrected = (int64_t)count.uncorrectable;
	facts->ecc_deferred = (int64_t)count.deferred;
}

static void
read_links(const struct amdsmi *amdsmi, GPU gpu, struct bu_gpu_facts *facts)
{
	struct link_status links = {.total = 0};

	if (!amdsmi->links || amdsmi->links(gpu, &links) != SUCCESS)
		return;
	facts->xgmi = 0;
	for (uint32_t i = 0; i < links.total && i < LINKS_MAX; i++) {
		facts->xgmi += links.status[i] == LINK_UP;
		if (links.status[i] == LINK_DOWN)
			facts->xgmi_down |= UINT64_C(1) << i;
	}
}

static void
read_gpu(const struct amdsmi *amdsmi, GPU gpu, struct bu_gpu_facts *facts)
{
	struct asic_info asic;
	uint64_t bdf = 0;
	int rc = amdsmi->bdf(gpu, &bdf);

	nothing_told(facts);
	memset(&asic, 0, sizeof(asic));
	if (rc == SUCCESS) /* function:3, device:5, bus:8, domain:48 */
		snprintf(facts->pci, sizeof(facts->pci), "%04x:%02x:%02x.%x",
			 (unsigned int)(bdf >> 16), (unsigned int)(bdf >> 8 & 0xff),
			 (unsigned int)(bdf >> 3 & 0x1f), (unsigned int)(bdf & 7));
	if (rc == SUCCESS)
		rc = amdsmi->asic(gpu, &asic);
	if (rc != SUCCESS) {
		snprintf(facts->trouble, sizeof(facts->trouble), "does not answer: %s",
			 words(amdsmi, rc));
		return;
	}
	copy_text(facts->name, sizeof(facts->name), asic.market_name);
	copy_text(facts->serial, sizeof(facts->serial), asic.asic_serial);
	read_vbios(amdsmi, gpu, facts);
	read_memory(amdsmi, gpu, facts);
	read_links(amdsmi, gpu, facts);
}

static void
ask_about(const struct bu_gpu_asking *asking, int gpu)
{
	if (asking)
		asking->fn(gpu, asking->arg);
}

/* A GPU, and how many devices the driver makes of it. */
struct whole {
	GPU gpu; /* the first of them, whose numbers are those of the whole */
	int told;
	uint64_t bdf;
	int parts;
};

struct wholes {
	struct whole list[BU_GPUS_MAX];
	size_t count;
};

/* The parts of a GPU (SPX, DPX, ... CPX) have its address; some releases tell the
 * number of the part as the function. One that does not tell its address is of its
 * socket's GPU, or it is that. */
static struct whole *
whole_of(struct wholes *wholes, size_t first, int told, uint64_t bdf)
{
	if (!told)
		return wholes->count > first ? &wholes->list[first] : NULL;
	for (size_t i = 0; i < wholes->count; i++)
		if (wholes->list[i].told && wholes->list[i].bdf >> 3 == bdf >> 3)
			return &wholes->list[i];
	return NULL;
}

static void
add_part(struct wholes *wholes, size_t first, int told, uint64_t bdf, GPU gpu)
{
	struct whole *whole = whole_of(wholes, first, told, bdf);

	if (!whole && wholes->count < BU_GPUS_MAX) {
		whole = &wholes->list[wholes->count++];
		*whole = (struct whole){gpu, told, bdf, 0};
	}
	if (!whole)
		return;
	whole->parts++;
	if (told && bdf < whole->bdf) {
		whole->gpu = gpu;
		whole->bdf = bdf;
	}
}

/* All GPUs of all sockets; a socket of AMD SMI is one GPU, or the parts of one. */
static int
find_gpus(const struct amdsmi *amdsmi, struct wholes *ret)
{
	void *sockets[SOCKETS_MAX];
	uint32_t count = SOCKETS_MAX;
	int rc = amdsmi->sockets(&count, sockets);

	ret->count = 0;
	for (uint32_t i = 0; rc == SUCCESS && i < count; i++) {
		GPU parts[PARTS_MAX];
		uint32_t room = PARTS_MAX;
		size_t first = ret->count;

		rc = amdsmi->processors(sockets[i], &room, parts);
		for (uint32_t k = 0; rc == SUCCESS && k < room; k++) {
			uint64_t bdf = 0;
			int told = amdsmi->bdf(parts[k], &bdf) == SUCCESS;

			add_part(ret, first, told, bdf, parts[k]);
		}
	}
	return rc;
}

static int
read_all(const struct amdsmi *amdsmi, const struct bu_gpu_asking *asking,
	 struct bu_nvml_facts *ret, struct bu_err *err)
{
	bu_autofree struct wholes *wholes = bu_xcalloc(1, sizeof(*wholes));
	struct driver_info driver;
	int rc = find_gpus(amdsmi, wholes);

	ret->count = wholes->count;
	ret->cuda = BU_NVML_UNKNOWN;
	if (rc != SUCCESS)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "AMD SMI: %s",
				  words(amdsmi, rc));
	memset(&driver, 0, sizeof(driver));
	if (ret->count && amdsmi->driver &&
	    amdsmi->driver(wholes->list[0].gpu, &driver) == SUCCESS)
		copy_text(ret->driver, sizeof(ret->driver), driver.version);
	ret->gpus = bu_xcalloc(ret->count ? ret->count : 1, sizeof(*ret->gpus));
	for (size_t i = 0; i < ret->count; i++) {
		ask_about(asking, (int)i);
		read_gpu(amdsmi, wholes->list[i].gpu, &ret->gpus[i]);
		ret->gpus[i].parts = wholes->list[i].parts;
	}
	ask_about(asking, -1);
	return 0;
}

int
bu_amdsmi_read(const char *library, const struct bu_gpu_asking *asking,
	       struct bu_nvml_facts *ret, struct bu_err *err)
{
	struct amdsmi amdsmi;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ask_about(asking, -1);
	if (load(library, &amdsmi, err) != 0)
		return -1;
	rc = amdsmi.init(INIT_GPUS);
	if (rc != SUCCESS) {
		bu_err_set(err, BU_ERR_REMOTE, 0, "AMD SMI: %s", words(&amdsmi, rc));
		dlclose(amdsmi.handle);
		return -1;
	}
	rc = read_all(&amdsmi, asking, ret, err);
	amdsmi.shut_down();
	dlclose(amdsmi.handle);
	return rc;
}
