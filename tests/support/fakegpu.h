/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of the stand-in for NVIDIA's libraries: fakegpu_nvml.c,
 * fakegpu_cuda.c and fakegpu_fabric.c, which are one shared library. It plays a board
 * (FAKEBOARD, a name of the table; default h100-hgx-8), good or with one fault on GPU 3
 * (FAKEGPU); time is counted, not measured, so that rates are exact.
 */
#ifndef BU_TESTS_SUPPORT_FAKEGPU_H
#define BU_TESTS_SUPPORT_FAKEGPU_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	BAD = 3, /* the GPU with the fault */
	NOT_SUPPORTED = 3,
	LOST = 15,
	RESET_REQUIRED = 16,
	NO_DRIVER = 9,
	CUDA_INVALID = 1,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NO_DEVICE = 100,
	CUDA_BAD_PTX = 222,
	CUDA_PEER_ALREADY_ENABLED = 704,
	CUDA_TOO_MANY_PEERS = 711,
	CUDA_LAUNCH_FAILED = 719,
	CUDA_NOT_PERMITTED = 800,
	CUDA_NOT_SUPPORTED = 801,
};

/* How NVML answers about the fabric: "N/A" (the call is not supported), or a state. */
enum { FABRIC_NA = -1, FABRIC_NONE = 0, FABRIC_DONE = 3 };

struct board {
	const char *board, *name;
	int gpus, gib, links, fabric;
	int pcie_gen;
	double host_gbs;   /* to and from the host */
	double inside_gbs; /* of a copy: what is read and written is twice this */
	double peer_gbs;   /* one way, one pair; 0 = no peer access */
	int switched;      /* a GPU's pairs share peer_gbs; else each has its own */
	int instances;     /* MIG, of each GPU; 0 = off */
	int unbridged;     /* all its links answer that they are down */
};

const struct board *board(void);

static inline int
fault(const char *name)
{
	const char *asked = getenv("FAKEGPU");

	return asked && strcmp(asked, name) == 0;
}

/* Handles are the index plus one. */
static inline int
index_of(const void *gpu)
{
	return (int)(intptr_t)gpu - 1;
}

static inline int
bad(void *gpu, const char *name)
{
	return index_of(gpu) == BAD && fault(name);
}

/* A tray of a rack whose GPUs are one NVLink domain. */
static inline int
is_of_rack(void)
{
	return strstr(board()->name, "GB200") || strstr(board()->name, "GB300");
}

/* What the host's slots can do, at most what the board can: FAKESLOT, "4x16"; default
 * "5x16" or better. */
void slot(unsigned int *ret_gen, unsigned int *ret_width);
/* Copies of this GPU are under way. */
int is_busy(int gpu);
/* Of the current context. */
int current_gpu(void);
/* CUDA's part: contexts that are held, and copies of GPU 3 since the start. */
int contexts(void);
int copies_of_bad(void);
/* Called when a client goes: without one the driver forgets errors. */
void forget(void);
/* Copies into memory of another node, and tells how fast, in GB/s; 0 = it is none. */
double copy_far(uint64_t to, uint64_t from, size_t size);

/* "hang:nvmlDeviceGetName": this call never comes back when it is about GPU 3 (or about
 * none: gpu -1); "crash:..." takes the process along. 0 otherwise. */
int trap(const char *name, int gpu);
#define TRAP(gpu) trap(__func__, gpu)

#endif
