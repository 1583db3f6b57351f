/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of CSV, for the profiles' inventory and for spreadsheets. A spreadsheet takes a
 * cell that begins with '=', '+', '-' or '@' for a formula, which may run programs:
 * such a cell gets an apostrophe before it, unless it is a number. Who reads a cell
 * takes that away again.
 */
#ifndef BU_BASE_CSV_H
#define BU_BASE_CSV_H

/* Plain (base/plain.h), in one line, in quotes where it needs them; owned. */
char *bu_csv_cell(const char *text);
/* The text that a cell stands for, without the quotes and the apostrophe of a writer.
 */
const char *bu_csv_value(const char *cell);
/* Cuts the line into its cells, in place, without their quotes and the blanks at their
 * ends. The number of cells, max at most; *ret_problem is NULL, or what is wrong with
 * the cell behind them. */
int bu_csv_split(char *line, char separator, char **cells, int max,
		 const char **ret_problem);

#endif
