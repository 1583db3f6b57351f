/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the table in schema_keys.c: what a machine is measured by before it joins. */
#ifndef BU_PROFILES_LANGUAGE_SCHEMA_VALIDATION_H
#define BU_PROFILES_LANGUAGE_SCHEMA_VALIDATION_H

/* clang-format off */
#define BU_VALIDATION_KEYS                                                             \
{"validation", "fabric", BU_KEY_REFS, "network", 0, 0, NULL, NONE, CONTENT(NONE),      \
	"networks that are measured, the rails; without it, all of the pool with "     \
	"role = fabric and RDMA"},                                                     \
{"validation", "bw_min", BU_KEY_PERCENT, NULL, 1, 100, "80 %",                         \
	FIELD(validation, bw_min_percent),                                             \
	CONTENT(NONE), "least bandwidth, of the network's link_gbps"},                 \
{"validation", "runs", BU_KEY_INT, NULL, 1, 99, "5", FIELD(validation, runs),          \
	CONTENT(NONE), "runs in each direction; their median counts"},                 \
{"validation", "message_size", BU_KEY_SIZE, NULL, 1, GIB, "64 KiB",                    \
	FIELD(validation, message_bytes), CONTENT(NONE), "bytes of one RDMA "          \
	"write; without it, from 1 Gbit/s on what fills the link"},                    \
{"validation", "run_size", BU_KEY_SIZE, NULL, 1, 1024 * GIB, "2 MiB",                  \
	FIELD(validation, run_bytes), CONTENT(NONE), "bytes written in one "           \
	"run; without it, from 1 Gbit/s on as many as all runs "                       \
	"of a direction carry in 0.5 to 2 s"},                                         \
{"validation", "lat_max_us", BU_KEY_REAL, NULL, 0.1, 1e9, NULL,                        \
	FIELD(validation, lat_max_us),                                                 \
	CONTENT(NONE), "greatest latency; without it, only reported"},                 \
{"validation", "deadline", BU_KEY_DURATION, NULL, 1000, DAY_MS, "120 s",               \
	FIELD(validation, deadline_ms),                                                \
	CONTENT(NONE), "time for the probe of one pair; without it, twice what "       \
	"its runs take at "                                                            \
	"the least rate, and 10 s, but no longer than this"},                          \
{"validation", "checks", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(validation, checks),    \
	CONTENT(NONE), "which of the site's own checks (checks.d) a node must "        \
	"pass; "                                                                       \
	"without it, all of them"},                                                    \
{"validation", "check_timeout", BU_KEY_DURATION, NULL, 1000, DAY_MS, "60 s",           \
	FIELD(validation, check_timeout_ms), CONTENT(NONE), "time for each of "        \
	"them"},                                                                       \
{"validation", "soak", BU_KEY_DURATION, NULL, 60000, 30 * DAY_MS, NULL,                \
	FIELD(validation, soak_ms), CONTENT(NONE),                                     \
	"time under load for new and repaired machines; without it, none"},            \
{"validation", "acceptance", BU_KEY_TEXT, NULL, 0, 0, NULL,                            \
	FIELD(validation, acceptance), CONTENT(NONE),                                  \
	"command for sh that is run as a job of the cluster on nodes that "            \
	"join, before other jobs; without it, none"},                                  \
TEXTS(validation, WORD, acceptance_image, NONE,                                        \
	"container image for it (kubernetes), with sh and tail")                       \
{"validation", "acceptance_min", BU_KEY_REAL, NULL, 0, 1e12, "0",                      \
	FIELD(validation, acceptance_min), CONTENT(NONE),                              \
	"least that the last number which it prints may be; 0: its exit status "       \
	"alone counts"},                                                               \
{"validation", "acceptance_timeout", BU_KEY_DURATION, NULL, 10000, DAY_MS, "10 m",     \
	FIELD(validation, acceptance_timeout_ms), CONTENT(NONE), "time for it"},       \
{"validation", "incast", BU_KEY_INT, NULL, 2, 8, NULL,                                 \
	FIELD(validation, incast), CONTENT(NONE),                                      \
	"idle nodes that send to one node at once, over all rails, once in "           \
	"each boot of it after its certification; without it, none"},                  \
{"validation", "blast_limit", BU_KEY_PERCENT, NULL, 1, 100, "50 %",                    \
	FIELD(validation, blast_percent), CONTENT(NONE),                               \
	"share of a leaf's nodes; when more are accused, it is the leaf"},             \
{"validation", "bw_reason", BU_KEY_TEXT, NULL, 0, 0, NULL,                             \
	FIELD(validation, bw_reason), CONTENT(NONE),                                   \
	"why bw_min is not what the table of rates expects"},                          \
{"validation", "thresholds", BU_KEY_SETTINGS, NULL, 0, 0, NULL,                        \
	FIELD(validation, thresholds), CONTENT(NONE),                                  \
	"limits of the checks of a machine, like memory_gbs=200; "                     \
	"docs/checks.md has them"},                                                    \
{"validation", "severity", BU_KEY_SETTINGS, NULL, 0, 0, NULL,                          \
	FIELD(validation, severity), CONTENT(NONE),                                    \
	"severity of a check, instead of the table's: fail, warn or off"},
/* clang-format on */

#endif
