/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner: finds sections and keys with their lines and refuses what iniparser 4.1
 * would misread. The lines that pass go to iniparser, which gives the values: section
 * by section, as all of a file at once would take it quadratic time. Called by the
 * loader only. Invariant: an entry is kept only when iniparser gives it a value that is
 * as long as the text that the scanner saw.
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
#include "model/sshkey.h"
#include "profiles/language/schema.h"

#define KEYS_FILE                                                                      \
	"put the keys into a file of the tree, a line each, and say "                  \
	"%s = file:" BU_TREE_KEYS "NAME"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-_."

struct scanner {
	struct bu_ini *ini;
	struct bu_findings *findings;
	const char *file;
	int line;
	int drop_in;
	FILE *passed; /* a memfd: the lines of the section that passed, for iniparser */
	struct bu_ini_section *section; /* NULL before the first and in a bad one */
	int seen_section;
	size_t sizes[BU_INI_KEYS_MAX]; /* bytes of the values of its entries */
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

/* What iniparser makes of the lines that passed; NULL when it cannot read them. */
static dictionary *
parse_passed(struct scanner *sc)
{
	char path[40];

	if (fflush(sc->passed) != 0 ||
	    ftruncate(fileno(sc->passed), ftello(sc->passed)) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(sc->passed));
	iniparser_set_error_callback(quiet);
	return iniparser_load(path);
}

/* Takes over what iniparser reads; an entry that it does not read, or not to the end of
 * what the scanner saw, goes. */
static void
take_values(struct scanner *sc, const dictionary *dict)
{
	struct bu_ini_section *section = sc->section;
	size_t kept = 0;
	int line = sc->line;

	for (size_t i = 0; i < section->count; i++) {
		struct bu_ini_entry *entry = &section->entries[i];
		bu_autofree char *key = bu_xasprintf("%s%s%s:%s", section->kind,
						     section->name[0] ? " " : "",
						     section->name, entry->key);
		const char *value = dict ? iniparser_getstring(dict, key, NULL) : NULL;

		if (value && strlen(value) == sc->sizes[i]) {
			entry->value = bu_xstrdup(value);
			section->entries[kept++] = *entry;
			continue;
		}
		sc->line = entry->line;
		if (dict)
			wrong(sc,
			      "%.80s: is read differently by iniparser; put the value "
			      "in quotes or write it more plainly",
			      entry->key);
		free(entry->key);
	}
	section->count = kept;
	sc->line = line;
}

static void
end_section(struct scanner *sc)
{
	dictionary *dict;

	if (sc->section && sc->section->count) {
		dict = parse_passed(sc);
		if (!dict)
			wrong(sc, "is refused by iniparser, which needs /proc and a "
				  "free file descriptor");
		take_values(sc, dict);
		if (dict)
			iniparser_freedict(dict);
	}
	sc->section = NULL;
}

/* text: the line without blanks at its ends, starts with '['. */
static void
begin_section(struct scanner *sc, char *text)
{
	size_t len = strlen(text), kind, blanks, name;

	if (sc->ini->count >= BU_INI_SECTIONS_MAX) {
		wrong(sc, "too many sections; at most %d", BU_INI_SECTIONS_MAX);
		return;
	}
	if (len < 2 || strchr(text, ']') != text + len - 1) {
		wrong(sc,
		      "'%.80s' is not a section; a line '[kind name]' has one ']', at "
		      "its end, and no comment",
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
		      "name]' of lower-case letters, digits, '-', '_' and '.'",
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
	rewind(sc->passed);
	fprintf(sc->passed, "[%s]\n", text);
}

/* How long the value is without its quotes and a comment after it; 0 with a finding. */
static size_t
value_size(struct scanner *sc, const char *key, const char *value)
{
	size_t size = strcspn(value, "#;");

	if (*value == '"' || *value == '\'') {
		const char *end = strchr(value + 1, *value);
		const char *rest = end ? end + 1 + strspn(end + 1, " \t") : NULL;

		if (!end || (*rest && (rest == end + 1 || !strchr("#;", *rest)))) {
			wrong(sc,
			      "%s: has a wrong quote; a quoted value ends with the "
			      "same quote, and only a comment may follow",
			      key);
			return 0;
		}
		size = (size_t)(end - value) - 1;
	} else if (value[size] && size && !isblank((unsigned char)value[size - 1])) {
		wrong(sc,
		      "%s: '%c' inside a value; put the value in quotes, or a blank "
		      "before the comment",
		      key, value[size]);
		return 0;
	} else {
		while (size && isblank((unsigned char)value[size - 1]))
			size--;
	}
	if (size == 0)
		wrong(sc, "%s: has no value; give one or leave the line out", key);
	return size;
}

/* A line as an error may show it: what looks like a value may be a secret; owned. */
static char *
without_value(const char *text)
{
	size_t len = strcspn(text, "=");

	if (bu_sshkey_is_private(text))
		return bu_xstrdup("(a line of a key?)");
	return text[len] ? bu_xasprintf("%.*s= ...", (int)len, text) : bu_xstrdup(text);
}

/* The name of the line's key when its value are public keys, which may need more room
 * than a line has; owned. NULL for other keys. */
static char *
key_of_keys(const struct scanner *sc, const char *start)
{
	const char *name = start + strspn(start, " \t");
	bu_autofree char *text = bu_xstrndup(name, strspn(name, NAME_CHARS));
	const struct bu_key *key =
		sc->section ? bu_schema_key(sc->section->kind, text) : NULL;

	return key && key->type == BU_KEY_SSHKEYS ? bu_steal(&text) : NULL;
}

static void
given_twice(struct scanner *sc, const struct bu_ini_entry *old)
{
	bu_autofree char *keys = key_of_keys(sc, old->key);

	if (keys)
		wrong(sc,
		      "%s: was given in line %d already; put a comma between keys, "
		      "or " KEYS_FILE,
		      keys, old->line, keys);
	else
		wrong(sc, "%s: was given in line %d already; give it once", old->key,
		      old->line);
}

static void
add_entry(struct scanner *sc, const char *text)
{
	struct bu_ini_section *section = sc->section;
	size_t len = strspn(text, NAME_CHARS), size;
	const char *equals = text + len + strspn(text + len, " \t");
	bu_autofree char *key = bu_xstrndup(text, len);
	const struct bu_ini_entry *old;

	if (len == 0 || *equals != '=') {
		bu_autofree char *shown = without_value(text);

		wrong(sc,
		      "'%.80s' is not an entry; allowed is 'key = value', the key of "
		      "lower-case letters, digits, '-', '_' and '.'",
		      shown);
		return;
	}
	if (!section) /* the bad section itself was a finding */
		return;
	old = bu_ini_entry(section, key);
	if (old || section->count >= BU_INI_KEYS_MAX) {
		if (old)
			given_twice(sc, old);
		else
			wrong(sc, "%s: too many keys; a section has at most %d", key,
			      BU_INI_KEYS_MAX);
		return;
	}
	size = value_size(sc, key, equals + 1 + strspn(equals + 1, " \t"));
	if (size == 0)
		return;
	sc->sizes[section->count] = size;
	section->entries = bu_xgrow(section->entries, &section->cap, section->count + 1,
				    sizeof(*section->entries));
	section->entries[section->count++] = (struct bu_ini_entry){
		.key = bu_steal(&key), .file = sc->file, .line = sc->line};
	fprintf(sc->passed, "%s\n", text);
}

static void
too_long(struct scanner *sc, const char *start)
{
	bu_autofree char *key = key_of_keys(sc, start);

	if (key)
		wrong(sc, "%s: the line is longer than %d bytes; " KEYS_FILE, key,
		      BU_INI_LINE_MAX, key);
	else
		wrong(sc,
		      "the line is longer than %d bytes; shorten it, an entry is one "
		      "line",
		      BU_INI_LINE_MAX);
}

static void
continued(struct scanner *sc, const char *text)
{
	bu_autofree char *key = key_of_keys(sc, text);

	if (key)
		wrong(sc,
		      "%s: ends with '\\'; an entry is one line, there is no "
		      "continuation; " KEYS_FILE,
		      key, key);
	else
		wrong(sc, "ends with '\\'; an entry is one line, there is no "
			  "continuation");
}

/* One line of `size` bytes without its end. */
static void
scan_line(struct scanner *sc, const char *start, size_t size)
{
	char line[BU_INI_LINE_MAX + 1], *text = line;

	if (size && start[size - 1] == '\r')
		size--;
	if (size > BU_INI_LINE_MAX) {
		too_long(sc, start);
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
		continued(sc, text);
	else if (*text == '[') {
		end_section(sc);
		begin_section(sc, text);
		sc->seen_section = 1;
	} else if (*text && *text != '#' && *text != ';') {
		if (sc->seen_section) {
			add_entry(sc, text);
		} else {
			bu_autofree char *shown = without_value(text);

			wrong(sc,
			      "'%.80s' is before the first section; start with '[kind "
			      "name]'",
			      shown);
		}
	}
}

void
bu_ini_scan(struct bu_ini *ini, const struct bu_tree_file *file, int drop_in,
	    struct bu_findings *findings)
{
	int fd = memfd_create("bringup-section", MFD_CLOEXEC);
	struct scanner sc = {
		.ini = ini,
		.findings = findings,
		.file = file->path,
		.drop_in = drop_in,
	};
	const char *p = file->text, *end = p + file->size;

	if (fd < 0) {
		wrong(&sc, "cannot be read: memfd_create: %s", strerror(errno));
		return;
	}
	sc.passed = fdopen(fd, "w");
	bu_assert(sc.passed != NULL);
	if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3; /* a byte order mark, as some editors leave it */
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		sc.line++;
		scan_line(&sc, p, (size_t)(stop - p));
		p = stop < end ? stop + 1 : end;
	}
	end_section(&sc);
	fclose(sc.passed);
}
