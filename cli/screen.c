/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws over its own lines, called by `apply --wait` on a terminal. Invariant: no line
 * is wider than the terminal and all of them are on it, so that going up as many lines
 * as were drawn finds the first.
 */
#include "cli/screen.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/node_text.h"
#include "cli/output.h"

void
bu_screen_size(FILE *out, int *ret_width, int *ret_height)
{
	struct winsize size = {0};

	*ret_width = 80;
	*ret_height = 24;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
		return;
	if (size.ws_col > 0)
		*ret_width = size.ws_col;
	if (size.ws_row > 0)
		*ret_height = size.ws_row;
}

void
bu_screen_clear(struct bu_screen *screen)
{
	if (screen->lines)
		fprintf(screen->out, "\033[%dA\r\033[J", screen->lines);
	screen->lines = 0;
	fflush(screen->out);
}

static void
add_line(struct bu_screen *screen, const char *line)
{
	fprintf(screen->out, "%s\033[K\n", line);
	screen->lines++;
}

/* Goes to the first line; what is left below the new ones is cleared at the end. */
static void
begin(struct bu_screen *screen)
{
	if (screen->lines)
		fprintf(screen->out, "\033[%dA\r", screen->lines);
	screen->lines = 0;
}

static void
end(struct bu_screen *screen)
{
	fputs("\033[J", screen->out);
	fflush(screen->out);
}

static int
name_width(const json_t *nodes)
{
	size_t width = 0, i;
	json_t *node;

	json_array_foreach (nodes, i, node) {
		size_t size = strlen(bu_json_str(node, "name", "?"));

		width = size > width ? size : width;
	}
	return (int)width;
}

void
bu_screen_nodes(struct bu_screen *screen, const json_t *nodes, int64_t now_ms)
{
	int width, height, pad = name_width(nodes);
	size_t count = json_array_size(nodes), room, i;
	json_t *node;

	bu_screen_size(screen->out, &width, &height);
	room = height > 4 ? (size_t)height - 3 : 1;
	begin(screen);
	/* When there are too many, what is settled is what one can do without. */
	json_array_foreach (nodes, i, node) {
		bu_autofree char *line = NULL;

		if (count > room && bu_json_bool(node, "settled", 0))
			continue;
		if ((size_t)screen->lines == room)
			break;
		line = bu_node_line(node, now_ms, pad, width - 1);
		add_line(screen, line);
	}
	if (count > (size_t)screen->lines) {
		bu_autofree char *rest =
			bu_xasprintf("and %zu more", count - (size_t)screen->lines);

		add_line(screen, rest);
	}
	end(screen);
}

void
bu_screen_text(struct bu_screen *screen, const char *text)
{
	begin(screen);
	add_line(screen, text);
	end(screen);
}
