/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IMEX, through which GPUs of several nodes share memory over NVLink, as far as one
 * node can see it: the device of a channel, without which the driver permits no such
 * sharing, and the service beside it.
 */
#ifndef BU_CHECKS_GPU_IMEX_H
#define BU_CHECKS_GPU_IMEX_H

#include "checks/gpu/nvml.h"
#include "model/check.h"

#define BU_IMEX_TO_DO                                                                  \
	"start nvidia-imex on each node of the NVLink domain and make "                \
	"/dev/nvidia-caps-imex-channels/channel0; none is right where jobs get "       \
	"channels of their own"

struct bu_imex {
	char channel[32]; /* the first that can be opened: "channel0"; "" = none */
	int channels;     /* devices that there are */
	int runs;         /* a process nvidia-imex */
	int nodes;        /* that its configuration names; -1 = there is none */
};
void bu_imex_look(const char *root, struct bu_imex *ret);
/* In words: "channel0, nvidia-imex runs". */
void bu_imex_text(const struct bu_imex *imex, char *ret, size_t size);

/* "UUID.CLIQUE" of the first GPU that is in an NVLink domain; "" = none is. */
enum { BU_DOMAIN_SIZE = 64 };
void bu_imex_domain(const struct bu_nvml_facts *facts, char ret[BU_DOMAIN_SIZE]);

#endif
