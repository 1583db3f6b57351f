/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws over its own lines, called by `apply --wait` on a terminal. Invariant: no line
 * is wider than the terminal and all of them are on it, so that going up as many lines
 * as were drawn finds the first.
 */
#include "cli/render/screen.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/err.h"
#include "cli/render/columns.h"
#include "cli/render/node_text.h"

/* Width and height of the terminal behind out; 80 and 24 when it does not say. */
static void
size_of(FILE *out, int *ret_width, int *ret_height)
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

enum { ROWS_MAX = 8 };

enum rank { FIRST, SECOND, LAST, RANKS };

/* Who must be seen when not all have room: who needs a look, who is on his way. */
static enum rank
rank_of(const struct bu_shown_node *node)
{
	if (bu_node_needs_a_look(node))
		return FIRST;
	return node->settled ? LAST : SECOND;
}

static void
add_node(struct bu_screen *screen, const struct bu_shown_node *node, int64_t now_ms,
	 const struct bu_node_widths *widths, int rows)
{
	bu_autofree char *lines = bu_node_lines(node, now_ms, widths, rows);
	char *rest = lines, *line;

	while ((line = strsep(&rest, "\n")))
		add_line(screen, line);
}

/* In the order of their names; where not all have room, by rank. On the heap. */
static const struct bu_shown_node **
in_order(const struct bu_shown_nodes *nodes, size_t room)
{
	size_t count = nodes->nodes_count, used = 0;
	const struct bu_shown_node **ordered =
		bu_xcalloc(count, sizeof(struct bu_shown_node *));

	for (enum rank rank = FIRST; rank < RANKS; rank++)
		for (size_t i = 0; i < count; i++)
			if (count <= room ? rank == FIRST
					  : rank_of(&nodes->nodes[i]) == rank)
				ordered[used++] = &nodes->nodes[i];
	return ordered;
}

void
bu_screen_nodes(struct bu_screen *screen, const struct bu_shown_nodes *nodes)
{
	size_t count = nodes->nodes_count, room;
	bu_autofree char *summary = bu_node_summary(nodes), *last = NULL;
	bu_autofree const struct bu_shown_node **ordered = NULL;
	struct bu_node_widths widths;
	int width, height, rows;

	size_of(screen->out, &width, &height);
	widths = bu_node_widths(nodes, width - 1);
	room = height > 5 ? (size_t)height - 4 : 1;
	ordered = in_order(nodes, room);
	rows = count && room / count > 1 ? (int)(room / count) : 1;
	begin(screen);
	for (size_t i = 0; i < count && i < room; i++)
		add_node(screen, ordered[i], nodes->time_ms, &widths,
			 rows < ROWS_MAX ? rows : ROWS_MAX);
	last = count > room ? bu_xasprintf("%s; and %zu more", summary, count - room)
			    : bu_steal(&summary);
	bu_columns_cut(last, width - 1);
	add_line(screen, last);
	end(screen);
}
