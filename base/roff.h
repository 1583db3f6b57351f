/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of tables inside manual pages (man(7)). */
#ifndef BU_BASE_ROFF_H
#define BU_BASE_ROFF_H

#include <stdio.h>

/* A text inside a line: roff reads no escape and no request in it. */
void bu_roff_text(FILE *out, const char *text);
/* A line of its own; request: "" or ".B " before it. */
void bu_roff_line(FILE *out, const char *request, const char *text);
/* .TH and the section NAME; name: "bringupd.conf", section: 5, what it is. */
void bu_roff_head(FILE *out, const char *name, int section, const char *what);

#endif
