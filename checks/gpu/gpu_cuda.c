/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver calls, by dlopen. Called by gpu_copy.c. Invariant: a library that lacks
 * one of them is not used at all. */
#include <ctype.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/symbols.h"
#include "checks/gpu/gpu_copy_impl.h"

static const struct bu_symbol functions[] = {
#define X(member, symbol, args) {symbol, offsetof(struct bu_cuda_calls, member), 0},
	BU_CUDA_CALLS(X)
#undef X
};

int
bu_cuda_load(const char *library, struct bu_cuda_calls *cuda, struct bu_err *err)
{
	const char *missing;

	/* The numbers that NVML and the kernel give them, not the fastest first; and
	 * all of them, whatever the environment is meant for. */
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	cuda->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!cuda->handle)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "cannot load CUDA: %s",
				  dlerror());
	missing = bu_symbols_find(cuda->handle, functions, BU_LEN(functions), cuda);
	if (!missing)
		return 0;
	dlclose(cuda->handle);
	cuda->handle = NULL;
	return bu_err_set(err, BU_ERR_VERIFY, 0, "%s is not a usable CUDA: it lacks %s",
			  library, missing);
}

int
bu_cuda_check(const struct bu_cuda_calls *cuda, int code, const char *what,
	      struct bu_err *err)
{
	const char *name = NULL;

	if (code == 0)
		return 0;
	if (cuda->error_name(code, &name) != 0 || !name)
		name = "unknown error";
	return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: %s", what, name);
}

void
bu_cuda_small(char *pci)
{
	for (; *pci; pci++)
		*pci = (char)tolower((unsigned char)*pci);
}
