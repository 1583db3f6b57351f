/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner: finds sections and keys with their lines and refuses what iniparser 4.1
 * would misread; the values themselves come from iniparser, which gets each section
 * alone (as a whole it would be quadratic). Called by the loader only. Invariant: an
 * entry is kept only when scanner and iniparser agree on it.
 */
#include "profiles/language/scan.h"

#include <ctype.h>
#include <errno.h>
#include <iniparser.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-_."

struct scanner {
	struct bu_ini *ini;
	struct bu_findings *findings;
	const char *file;
	int line;
	int drop_in;
	int fd;                         /* memfd; one for all sections of the file */
	struct bu_ini_section *section; /* NULL before the first and in a bad one */
	const char *start;              /* of the section's text */
	size_t errors;                  /* of the findings, when the section began */
};

static void wrong(struct scanner *sc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
wrong(struct scanner *sc, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	if (sc->section)
		bu_findings_add(sc->findings, BU_FINDING_ERROR, sc->file, sc->line,
				"[%s%s%s] %s", sc->section->kind,
				sc->section->name[0] ? " " : "", sc->section->name,
				text);
	else
		bu_findings_add(sc->findings, BU_FINDING_ERROR, sc->file, sc->line,
				"%s", text);
}

static int
quiet(const char *fmt, ...)
{
	(void)fmt; /* iniparser would print; what it refuses is a finding already */
	return 0;
}

/* Gives the section's text to iniparser: an entry counts as it reads it, or is an
 * error. */
static void
compare_values(struct scanner *sc, const char *text, size_t size)
{
	struct bu_ini_section *section = sc->section;
	char path[40], name[BU_INI_LINE_MAX + 2];
	dictionary *dict = NULL;
	int bad;

	snprintf(name, sizeof(name), "%s%s%s", section->kind,
		 section->name[0] ? " " : "", section->name);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sc->fd);
	iniparser_set_error_callback(quiet);
	if (ftruncate(sc->fd, 0) == 0 && lseek(sc->fd, 0, SEEK_SET) == 0 &&
	    bu_write_all(sc->fd, text, size, NULL) == 0)
		dict = iniparser_load(path);
	bad = !dict || iniparser_getnsec(dict) != 1 ||
	      strcmp(iniparser_getsecname(dict, 0), name) != 0 ||
	      iniparser_getsecnkeys(dict, name) != (int)section->count;
	for (size_t i = 0; !bad && i < section->count; i++) {
		struct bu_ini_entry *entry = &section->entries[i];
		bu_autofree char *path_key = bu_xasprintf("%s:%s", name, entry->key);
		const char *value = iniparser_getstring(dict, path_key, NULL);

		bad = !value || strcmp(value, entry->value) != 0;
		if (bad)
			sc->line = entry->line;
	}
	if (!dict)
		wrong(sc, "is refused by iniparser, which needs /proc and a free file "
			  "descriptor");
	else if (bad)
		wrong(sc,
		      "is read differently by iniparser; put the value in quotes or "
		      "write it more plainly");
	if (dict)
		iniparser_freedict(dict);
}

static void
end_section(struct scanner *sc, const char *end)
{
	int line = sc->line;

	/* Known errors would only make iniparser disagree as well. */
	if (sc->section && sc->section->count && sc->findings->errors == sc->errors)
		compare_values(sc, sc->start, (size_t)(end - sc->start));
	sc->section = NULL;
	sc->line = line;
}

/* text: the line without blanks at its ends, starts with '['. */
static void
begin_section(struct scanner *sc, char *text, const char *start)
{
	size_t len = strlen(text), kind, blanks, name;

	sc->errors = sc->findings->errors;
	if (sc->ini->count >= BU_INI_SECTIONS_MAX) {
		wrong(sc, "too many sections; at most %d", BU_INI_SECTIONS_MAX);
		return;
	}
	if (len < 2 || strchr(text, ']') != text + len - 1) {
		wrong(sc,
		      "'%.80s' is not a section; a line '[kind name]' holds one ']', "
		      "at "
		      "its "
		      "end, and no comment",
		      text);
		return;
	}
	text[len - 1] = '\0';
	text++;
	kind = strspn(text, NAME_CHARS);
	blanks = strspn(text + kind, " ");
	name = strspn(text + kind + blanks, NAME_CHARS);
	if (kind == 0 || blanks > 1 || blanks != (name > 0) ||
	    text[kind + blanks + name]) {
		wrong(sc,
		      "[%.80s]: is not a section name; allowed is '[kind]' or '[kind "
		      "name]' "
		      "of lower-case letters, digits, '-', '_' and '.'",
		      text);
		return;
	}
	sc->ini->sections = bu_xgrow(sc->ini->sections, &sc->ini->cap,
				     sc->ini->count + 1, sizeof(*sc->ini->sections));
	sc->section = &sc->ini->sections[sc->ini->count++];
	*sc->section = (struct bu_ini_section){
		.kind = bu_xstrndup(text, kind),
		.name = bu_xstrdup(text + kind + blanks),
		.file = sc->file,
		.line = sc->line,
		.drop_in = sc->drop_in,
	};
	sc->start = start;
}

/* Cuts a comment after the value and takes quotes away; NULL with a finding. */
static char *
clean_value(struct scanner *sc, const char *key, char *value)
{
	char *end;

	if (*value == '"' || *value == '\'') {
		end = strchr(value + 1, *value);
		if (!end ||
		    (end[1] && (!isblank((unsigned char)end[1]) ||
				!strchr("#;", end[1 + strspn(end + 1, " \t")])))) {
			wrong(sc,
			      "%s: has a wrong quote; a quoted value ends with the "
			      "same "
			      "quote, and only a comment may follow",
			      key);
			return NULL;
		}
		*end = '\0';
		value++;
	} else if (*value == '#' || *value == ';') {
		*value = '\0';
	} else {
		end = value + strcspn(value, "#;");
		if (*end && end > value && !isblank((unsigned char)end[-1])) {
			wrong(sc,
			      "%s: '%c' inside a value; put the value in quotes, or a "
			      "blank before the comment",
			      key, *end);
			return NULL;
		}
		while (end > value && isblank((unsigned char)end[-1]))
			end--;
		*end = '\0';
	}
	if (*value)
		return value;
	wrong(sc, "%s: has no value; give one or leave the line out", key);
	return NULL;
}

/* A line as an error may show it: what looks like a value may be a secret; owned. */
static char *
without_value(const char *text)
{
	size_t len = strcspn(text, "=");

	return text[len] ? bu_xasprintf("%.*s= ...", (int)len, text) : bu_xstrdup(text);
}

static void
add_entry(struct scanner *sc, char *text)
{
	struct bu_ini_section *section = sc->section;
	char *equals = strchr(text, '='), *value;
	size_t len = equals ? (size_t)(equals - text) : 0;
	const struct bu_ini_entry *old;

	while (len > 0 && isblank((unsigned char)text[len - 1]))
		len--;
	if (!equals || len == 0 || strspn(text, NAME_CHARS) != len) {
		bu_autofree char *shown = without_value(text);

		wrong(sc,
		      "'%.80s' is not an entry; allowed is 'key = value', the key of "
		      "lower-case letters, digits, '-', '_' and '.'",
		      shown);
		return;
	}
	text[len] = '\0';
	if (!section) /* the bad section itself was a finding */
		return;
	old = bu_ini_entry(section, text);
	if (old || section->count >= BU_INI_KEYS_MAX) {
		if (old)
			wrong(sc, "%s: was given in line %d already; give it once",
			      text, old->line);
		else
			wrong(sc, "%s: too many keys; a section has at most %d", text,
			      BU_INI_KEYS_MAX);
		return;
	}
	value = clean_value(sc, text, equals + 1 + strspn(equals + 1, " \t"));
	if (!value)
		return;
	section->entries = bu_xgrow(section->entries, &section->cap, section->count + 1,
				    sizeof(*section->entries));
	section->entries[section->count++] = (struct bu_ini_entry){
		bu_xstrdup(text), bu_xstrdup(value), sc->file, sc->line};
}

/* One line of `size` bytes without its end. */
static void
scan_line(struct scanner *sc, const char *start, size_t size, int *seen_section)
{
	char line[BU_INI_LINE_MAX + 1], *text = line;

	if (size && start[size - 1] == '\r')
		size--;
	if (size > BU_INI_LINE_MAX) {
		wrong(sc, "the line is longer than %d bytes; split it",
		      BU_INI_LINE_MAX);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)start[i];

		line[i] = (char)c;
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			wrong(sc,
			      "holds the control character 0x%02x; profiles are "
			      "plain text",
			      c);
			return;
		}
	}
	while (size && isblank((unsigned char)line[size - 1]))
		size--;
	line[size] = '\0';
	text += strspn(text, " \t");
	if (size && line[size - 1] == '\\')
		wrong(sc, "ends with '\\'; an entry is one line, there is no "
			  "continuation");
	else if (*text == '[') {
		end_section(sc, start);
		begin_section(sc, text, start);
		*seen_section = 1;
	} else if (*text && *text != '#' && *text != ';') {
		if (*seen_section) {
			add_entry(sc, text);
		} else {
			bu_autofree char *shown = without_value(text);

			wrong(sc,
			      "'%.80s' stands before the first section; start with "
			      "'[kind name]'",
			      shown);
		}
	}
}

void
bu_ini_scan(struct bu_ini *ini, const struct bu_tree_file *file, int drop_in,
	    struct bu_findings *findings)
{
	bu_autoclose int fd = memfd_create("bringup-section", MFD_CLOEXEC);
	struct scanner sc = {
		.ini = ini,
		.findings = findings,
		.file = file->path,
		.drop_in = drop_in,
		.fd = fd,
	};
	const char *p = file->text, *end = p + file->size;
	int seen_section = 0;

	if (fd < 0) {
		wrong(&sc, "cannot be read: memfd_create: %s", strerror(errno));
		return;
	}
	if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3; /* a byte order mark, as some editors leave it */
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		sc.line++;
		scan_line(&sc, p, (size_t)(stop - p), &seen_section);
		p = stop < end ? stop + 1 : end;
	}
	end_section(&sc, end);
}
