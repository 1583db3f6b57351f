/* SPDX-License-Identifier: Apache-2.0 */
/* The one loop over such a table. Called by what speaks to drivers of GPUs. */
#include "base/symbols.h"

#include <dlfcn.h>
#include <string.h>

const char *
bu_symbols_find(void *library, const struct bu_symbol *list, size_t count, void *ret)
{
	for (size_t i = 0; i < count; i++) {
		void *symbol = dlsym(library, list[i].name);

		if (!symbol && !list[i].optional)
			return list[i].name;
		memcpy((char *)ret + list[i].at, &symbol, sizeof(symbol));
	}
	return NULL;
}
