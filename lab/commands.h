/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of bringup-lab; main.c has the table. Each returns the exit status. */
#ifndef BU_LAB_COMMANDS_H
#define BU_LAB_COMMANDS_H

#include "base/err.h"

int bu_lab_up(int argc, char **argv);
int bu_lab_run(int argc, char **argv);
int bu_lab_down(int argc, char **argv);
int bu_lab_exec(int argc, char **argv);
int bu_lab_status(int argc, char **argv);
int bu_lab_reset(int argc, char **argv);
int bu_lab_link(int argc, char **argv);
int bu_lab_slurm(int argc, char **argv);
int bu_lab_bmc(int argc, char **argv);     /* bmc/command.c */
int bu_lab_ipmi(int argc, char **argv);    /* bmc/ipmi.c */
int bu_lab_chassis(int argc, char **argv); /* bmc/chassis.c */

/* parse.c. Prints the error; returns its exit code. */
int bu_lab_fail(const char *command, const struct bu_err *err);
/* A command without arguments besides --dir; *ret_dir is NULL when it is not given. */
bu_must int bu_lab_parse_dir(const char *command, int argc, char **argv,
			     const char **ret_dir, struct bu_err *err);
/* Parses a whole number between the limits. */
bu_must int bu_lab_parse_int(const char *what, const char *text, long min, long max,
			     int *ret, struct bu_err *err);
/* "2" or "2,3" into a mask of bits 2, 3. */
bu_must int bu_lab_parse_list(const char *what, const char *text, long max,
			      unsigned long *ret_mask, struct bu_err *err);

#endif
