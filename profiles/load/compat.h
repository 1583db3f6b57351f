/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions that fit together, as data (data/compat.json), and the linter that refuses
 * rows without a source. Pure; the file is the caller's to find.
 *
 * {"format":1,"rows":[{"if":{"cuda":"12"},"need":{"driver":">= 525"},"source","date"}]}
 * if: what a row is about; all must hold. A version there is a beginning of whole
 * numbers ("12" holds for 12.4, not for 120), a name may end in '*' ("h200*"), "*" is
 * anything that is declared. need: ">= V", "< V", "= V", or "= NAME": the same version
 * as that component's.
 */
#ifndef BU_PROFILES_LOAD_COMPAT_H
#define BU_PROFILES_LOAD_COMPAT_H

#include <jansson.h>

#include "base/err.h"
#include "profiles/desired.h"

/* id, name in the table, help */
#define BU_COMPONENTS(X)                                                               \
	X(DRIVER, "driver", "NVIDIA's kernel driver")                                  \
	X(CUDA, "cuda", "CUDA's libraries")                                            \
	X(FABRIC_MANAGER, "fabric_manager", "NVIDIA's fabric manager")                 \
	X(KERNEL, "kernel", "the kernel")                                              \
	X(FIRMWARE, "firmware", "firmware of the machine")                             \
	X(GPU_MODEL, "gpu_model", "GPUs of the machine")                               \
	X(MIG, "mig", "how they are divided")

enum bu_component {
#define X(id, name, help) BU_COMPONENT_##id,
	BU_COMPONENTS(X)
#undef X
		BU_COMPONENT_COUNT
};
const char *bu_component_name(enum bu_component component);

/* What runs on a node; NULL = not declared. */
struct bu_versions {
	const char *of[BU_COMPONENT_COUNT];
};

struct bu_compat;

/* BU_ERR_INVAL names the row: an unknown component, a version that is none, no source,
 * no date, a row that asks for nothing. */
struct bu_compat *bu_compat_load(const char *path, struct bu_err *err);
struct bu_compat *bu_compat_parse(const json_t *value, struct bu_err *err);
void bu_compat_destroy(struct bu_compat *compat);

struct bu_misfit {
	enum bu_component
		component; /* whose version does not fit, or is not declared */
	int undeclared;
	char text[400]; /* "driver 525.60 is too old for cuda 13.0: it needs >= 580
			   (...)" */
};
/* Calls fn for each row that is about these versions and does not hold. */
void bu_compat_judge(const struct bu_compat *compat, const struct bu_versions *versions,
		     void (*fn)(const struct bu_misfit *misfit, void *arg), void *arg);
/* What the profile declares for nodes with this image and hardware. */
void bu_versions_of(const struct bu_desired_image *image,
		    const struct bu_desired_hardware *hardware, const char *mig,
		    struct bu_versions *ret);
/* As strcmp(), by the numbers in them: "6.1.9" < "6.1.10". */
int bu_version_compare(const char *a, const char *b);

#endif
