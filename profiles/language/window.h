/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows: "sat-sun 00:00-24:00, mon 22:00-02:00", days and times in UTC. A
 * window that ends before it starts goes on into the next day.
 */
#ifndef BU_PROFILES_LANGUAGE_WINDOW_H
#define BU_PROFILES_LANGUAGE_WINDOW_H

#include <stdint.h>

/* 1 when the text has the form. */
int bu_window_form_ok(const char *text);
/* 1 when it is open at this Unix time; NULL is always open. */
int bu_window_open(const char *text, int64_t unix_s);

#endif
