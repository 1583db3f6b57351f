/* SPDX-License-Identifier: Apache-2.0 */
/* Small things that every listing prints. What is returned is owned by the caller. */
#ifndef BU_CLI_RENDER_OUTPUT_H
#define BU_CLI_RENDER_OUTPUT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "cli/options.h"

/* How the rest of this program prints; once, at its start. */
void bu_out_begin(enum bu_style style);
/* 1 = tables are not cut, and have more columns. */
int bu_out_is_wide(void);
/* Each line cut at the width of the terminal behind out, where there is one. */
void bu_out_table(const struct bu_table *table, FILE *out);
/* "node[001-128]", or the names, a line each. */
void bu_out_names(const char *hostlist, FILE *out);
/* yaml.c */
void bu_out_yaml(const json_t *value, FILE *out);
/* Indented, for people and jq, or as YAML. */
void bu_out_json(const json_t *value, FILE *out);
/* One line, for streams; as YAML a document of several. */
void bu_out_json_line(const json_t *value, FILE *out);
/* "8.4 s", "75 s", "12m 05s", "3h 20m", "4d 06h". */
char *bu_out_duration(int64_t ms);
/* The first digits of a commit id, and "-dirty" when it is. */
char *bu_out_commit(const char *commit);
/* Control characters become '?': no text of a node may drive the terminal. Line ends
 * stay when keep_lines. */
char *bu_out_clean(const char *text, int keep_lines);
/* The sentence of a reason, clean; NULL = "". */
char *bu_out_said(const json_t *reason);
/* "node[001-128]" of an array of strings. */
char *bu_out_fold(const json_t *names);
/* The member `key` of each object in the array; a new array. */
json_t *bu_out_pick(const json_t *objects, const char *key);

#endif
