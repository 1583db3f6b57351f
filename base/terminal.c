/* SPDX-License-Identifier: Apache-2.0 */
/* A machine's console on a person's terminal: a function of bytes. Invariant: what is
 * printed is line ends, tabs and printable ASCII. */
#include "base/terminal.h"

enum {
	PLAIN,
	RETURNED, /* '\r' was read */
	ESCAPE,   /* ESC */
	CONTROL,  /* ESC [ */
	STRING,   /* ESC ] and others, up to BEL or ESC \ */
	STRING_ESCAPE,
};

enum { ESC = 0x1b, BEL = 0x07, DEL = 0x7f };

static int
plain(unsigned char byte, FILE *out)
{
	if (byte == ESC)
		return ESCAPE;
	if (byte == '\r')
		return RETURNED;
	/* The rest of a UTF-8 sequence, whose first byte is a '?'. */
	if ((byte & 0xc0) == 0x80)
		return PLAIN;
	if (byte == '\n' || byte == '\t' || (byte >= ' ' && byte < DEL))
		fputc(byte, out);
	else
		fputc('?', out);
	return PLAIN;
}

static int
next(int state, unsigned char byte, FILE *out)
{
	switch (state) {
	case RETURNED:
		/* "\r\n" and "\r\r\n" are one line end; a line that is written anew
		 * stands below. */
		if (byte == '\r')
			return RETURNED;
		if (byte != '\n')
			fputc('\n', out);
		return plain(byte, out);
	case ESCAPE:
		if (byte == '[')
			return CONTROL;
		if (byte == ']' || byte == 'P' || byte == '_' || byte == '^')
			return STRING;
		/* ESC ( B: one more */
		return byte >= ' ' && byte < '0' ? ESCAPE : PLAIN;
	case CONTROL:
		return byte >= '@' && byte < DEL ? PLAIN : CONTROL;
	case STRING:
		return byte == BEL || byte == '\n' ? PLAIN
		       : byte == ESC               ? STRING_ESCAPE
						   : STRING;
	case STRING_ESCAPE:
		return PLAIN;
	default:
		return plain(byte, out);
	}
}

void
bu_terminal_plain(struct bu_terminal_text *text, const char *bytes, size_t size,
		  FILE *out)
{
	for (size_t i = 0; i < size; i++)
		text->state = next(text->state, (unsigned char)bytes[i], out);
}
