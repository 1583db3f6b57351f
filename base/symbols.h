/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a library that is opened at run time, as a table of them. */
#ifndef BU_BASE_SYMBOLS_H
#define BU_BASE_SYMBOLS_H

#include <stddef.h>

struct bu_symbol {
	const char *name;
	size_t at; /* of its pointer in the struct that holds them */
	int optional;
};

/* library: of dlopen(). Fills the pointers in ret; one that is not there is NULL. NULL,
 * or the name of the first that is missing and not optional. */
const char *bu_symbols_find(void *library, const struct bu_symbol *list, size_t count,
			    void *ret);

#endif
