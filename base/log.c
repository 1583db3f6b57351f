/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines, one write each, so that lines of several processes do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain.h"

static const char *program_name = "bringup";
static enum bu_log_level shown = BU_LOG_INFO;
static int to_journal = -1;

void
bu_log_init(const char *program, enum bu_log_level level)
{
	program_name = program;
	shown = level;
}

static const char *
level_name(enum bu_log_level level)
{
	switch (level) {
	case BU_LOG_ERROR:
		return "error";
	case BU_LOG_WARN:
		return "warn";
	case BU_LOG_INFO:
		return "info";
	case BU_LOG_DEBUG:
		return "debug";
	}
	return "?";
}

void
bu_log(enum bu_log_level level, const char *part, const char *fmt, ...)
{
	char line[2048], plain[2 * sizeof(line)];
	size_t used;
	va_list args;
	ssize_t ignored;

	if (level > shown)
		return;
	if (to_journal < 0)
		to_journal = getenv("JOURNAL_STREAM") != NULL;
	if (to_journal) {
		used = (size_t)snprintf(line, sizeof(line), "<%d>%s: ", (int)level,
					part);
	} else {
		char when[24];

		bu_time_iso(bu_wall_ms(bu_clock_system()), when);
		used = (size_t)snprintf(line, sizeof(line), "%s %s %s %s: ", when,
					program_name, level_name(level), part);
	}
	va_start(args, fmt);
	vsnprintf(line + used, sizeof(line) - used - 1, fmt, args);
	va_end(args);
	/* Texts come from machines, too: none may make a line of its own. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	bu_plain_copy(plain, sizeof(plain) - 1, line, SIZE_MAX, 0);
	used = strlen(plain);
	plain[used++] = '\n';
	ignored = write(STDERR_FILENO, plain, used);
	(void)ignored;
}
