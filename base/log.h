/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines to standard error: "<time> <level> <part>: <text>", or with a "<n>" prefix
 * and no time when standard error is the systemd journal (JOURNAL_STREAM is set).
 */
#ifndef BU_BASE_LOG_H
#define BU_BASE_LOG_H

enum bu_log_level {
	BU_LOG_ERROR = 3,
	BU_LOG_WARN = 4,
	BU_LOG_INFO = 6,
	BU_LOG_DEBUG = 7
};

/* Name of the program as it appears in each line; level: what is shown (INFO at start).
 */
void bu_log_init(const char *program, enum bu_log_level level);
void bu_log(enum bu_log_level level, const char *part, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define bu_error(part, ...) bu_log(BU_LOG_ERROR, part, __VA_ARGS__)
#define bu_warn(part, ...) bu_log(BU_LOG_WARN, part, __VA_ARGS__)
#define bu_info(part, ...) bu_log(BU_LOG_INFO, part, __VA_ARGS__)
#define bu_debug(part, ...) bu_log(BU_LOG_DEBUG, part, __VA_ARGS__)

#endif
