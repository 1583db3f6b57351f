/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads recipes for recipe.c, which gives them to a script as environment. Invariant: a
 * recipe that was loaded has a script, known keys alone, each once, and no loop of
 * froms.
 */
#include "images/build/recipe_ini.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

enum { DEPTH_MAX = 8 };

static const struct {
	const char *key, *variable;
	int list;
	size_t offset;
} keys[] = {
#define X(key, variable, list, help)                                                   \
	{#key, variable, list, offsetof(struct bu_recipe_ini, key)},
	BU_RECIPE_KEYS(X)
#undef X
};

static char **
field(struct bu_recipe_ini *ini, size_t i)
{
	return (char **)((char *)ini + keys[i].offset);
}

void
bu_recipe_ini_fini(struct bu_recipe_ini *ini)
{
	char *const owned[] = {ini->dir,     ini->files,   ini->hooks, ini->dkms_hooks,
			       ini->mirrors, ini->sources, ini->keys,  ini->layers};

	for (size_t i = 0; i < BU_LEN(keys); i++)
		free(*field(ini, i));
	for (size_t i = 0; i < BU_LEN(owned); i++)
		free(owned[i]);
	memset(ini, 0, sizeof(*ini));
}

/* --- one file --- */

struct reader {
	const char *path;
	struct bu_recipe_ini *ini; /* of this file alone */
	char section[16];
	char *key, *value; /* read and not yet taken */
	char *seen;        /* " section/key ..." */
	int line, key_line;
};

static int
wrong(const struct reader *reader, int line, struct bu_err *err, const char *what)
{
	return bu_err_set(err, BU_ERR_INVAL, 0, "%s:%d: [%s] %s: %s", reader->path,
			  line, reader->section, reader->key ? reader->key : "", what);
}

static int
take_image(struct reader *reader, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(keys); i++)
		if (!strcmp(keys[i].key, reader->key)) {
			*field(reader->ini, i) = bu_steal(&reader->value);
			return 0;
		}
	return wrong(reader, reader->key_line, err, "unknown key");
}

/* A file beside the recipe; owned. */
static char *
beside(const struct reader *reader, const char *name, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", reader->ini->dir, name);
	struct stat st;

	if (bu_path_is_relative(name) && !stat(path, &st) && S_ISREG(st.st_mode) &&
	    !strpbrk(path, " \t\n"))
		return bu_steal(&path);
	wrong(reader, reader->key_line, err, "there is no such file beside the recipe");
	return NULL;
}

static int
take_file(struct reader *reader, struct bu_err *err)
{
	char *mode = strpbrk(reader->value, " \t");
	bu_autofree char *source = NULL;

	if (!bu_path_is_file(reader->key) || strpbrk(reader->key, " \t"))
		return wrong(reader, reader->key_line, err,
			     "an absolute path without '..' and blanks is needed");
	if (mode) {
		*mode++ = '\0';
		mode += strspn(mode, " \t");
	}
	if (!mode || strlen(mode) != 4 || strspn(mode, "01234567") != 4)
		return wrong(reader, reader->key_line, err,
			     "a file and its mode are needed: motd.txt 0644");
	source = beside(reader, reader->value, err);
	if (!source)
		return -1;
	bu_text_add(&reader->ini->files, "\n", "%s %s %s", source, mode, reader->key);
	return 0;
}

static int
take_program(struct reader *reader, char **programs, struct bu_err *err)
{
	bu_autofree char *path = beside(reader, reader->value, err);

	if (path)
		bu_text_add(programs, "\n", "%s", path);
	return path ? 0 : -1;
}

static int
take_hook(struct reader *reader, struct bu_err *err)
{
	return take_program(reader, &reader->ini->hooks, err);
}

static int
take_dkms_hook(struct reader *reader, struct bu_err *err)
{
	return take_program(reader, &reader->ini->dkms_hooks, err);
}

static int
take_line(struct reader *reader, char **lines, struct bu_err *err)
{
	static const char kind[] = "deb ";

	if (strncmp(reader->value, kind, strlen(kind)) != 0)
		return wrong(reader, reader->key_line, err,
			     "a line of sources.list(5) is needed: deb URL suite main");
	bu_text_add(lines, "\n", "%s", reader->value);
	return 0;
}

static int
take_source(struct reader *reader, struct bu_err *err)
{
	return take_line(reader, &reader->ini->sources, err);
}

static int
take_mirror(struct reader *reader, struct bu_err *err)
{
	return take_line(reader, &reader->ini->mirrors, err);
}

static int
take_key(struct reader *reader, struct bu_err *err)
{
	if (!bu_path_is_file(reader->key) || strpbrk(reader->key, " \t"))
		return wrong(reader, reader->key_line, err,
			     "an absolute path without '..' and blanks is needed");
	if (strlen(reader->value) != 40 ||
	    strspn(reader->value, "0123456789ABCDEF") != 40)
		return wrong(reader, reader->key_line, err,
			     "the key's fingerprint is needed: 40 digits of 0-9 A-F");
	bu_text_add(&reader->ini->keys, "\n", "%s %s", reader->key, reader->value);
	return 0;
}

static const struct {
	const char *section;
	int (*take)(struct reader *reader, struct bu_err *err);
} sections[] = {
	{"image", take_image},          {"files", take_file},     {"hooks", take_hook},
	{"mirrors", take_mirror},       {"sources", take_source}, {"keys", take_key},
	{"dkms_hooks", take_dkms_hook},
};

/* The value is whole. */
static int
take(struct reader *reader, struct bu_err *err)
{
	bu_autofree char *mark = NULL;
	int rc = 0;

	if (!reader->key)
		return 0;
	mark = bu_xasprintf("\n%s/%s\n", reader->section, reader->key);
	if (reader->seen && strstr(reader->seen, mark))
		return wrong(reader, reader->key_line, err, "it is there twice");
	bu_text_add(&reader->seen, "", "%s", mark);
	if (!reader->value[0])
		return wrong(reader, reader->key_line, err, "it has no value");
	for (size_t i = 0; i < BU_LEN(sections); i++)
		if (!strcmp(sections[i].section, reader->section))
			rc = sections[i].take(reader, err);
	free(reader->key);
	free(reader->value);
	reader->key = reader->value = NULL;
	return rc;
}

static int
enter(struct reader *reader, char *text, struct bu_err *err)
{
	char *end = strchr(text, ']');

	if (take(reader, err))
		return -1;
	if (!end || end[1])
		return wrong(reader, reader->line, err, "a section's line ends with ]");
	*end = '\0';
	for (size_t i = 0; i < BU_LEN(sections); i++)
		if (!strcmp(sections[i].section, text + 1)) {
			bu_text_copy(reader->section, sizeof(reader->section),
				     text + 1);
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s:%d: unknown section '%.40s'; there are image, files, "
			  "hooks, dkms_hooks, mirrors, sources and keys",
			  reader->path, reader->line, text + 1);
}

static int
read_line(struct reader *reader, char *line, struct bu_err *err)
{
	int goes_on = isblank((unsigned char)*line);
	char *text = bu_text_trim(line), *equals;

	if (!*text || *text == ';' || *text == '#')
		return 0;
	if (goes_on && reader->key) {
		bu_text_add(&reader->value, *reader->value ? " " : "", "%s", text);
		return 0;
	}
	if (*text == '[')
		return enter(reader, text, err);
	if (take(reader, err))
		return -1;
	equals = strchr(text, '=');
	if (!equals || !reader->section[0])
		return wrong(reader, reader->line, err,
			     "'key = value' below a [section] is needed");
	*equals = '\0';
	reader->key = bu_xstrdup(bu_text_trim(text));
	reader->value = bu_xstrdup(bu_text_trim(equals + 1));
	reader->key_line = reader->line;
	return 0;
}

static int
read_file(const char *path, struct bu_recipe_ini *ret, struct bu_err *err)
{
	struct reader reader = {.path = path, .ini = ret};
	size_t size = 0;
	bu_autofree char *text = bu_file_read(path, 1024 * 1024, &size, err);
	char *at = text, *line, digest[BU_DIGEST_SIZE];
	int rc = text ? 0 : -1;

	if (text) {
		bu_sha256_hex(text, size, digest);
		bu_text_add(&ret->layers, "\n", "%s %s", digest, bu_path_name(path));
	}
	while (!rc && (line = strsep(&at, "\n"))) {
		reader.line++;
		rc = read_line(&reader, line, err);
	}
	if (!rc)
		rc = take(&reader, err);
	free(reader.key);
	free(reader.value);
	free(reader.seen);
	return rc;
}

/* --- one on the other --- */

static void
join(char **below, char **above, const char *separator)
{
	if (!*below)
		*below = bu_steal(above);
	else if (*above)
		bu_text_add(below, separator, "%s", *above);
}

/* The recipe's own over those of the one that it is from. */
static void
lay_over(struct bu_recipe_ini *below, struct bu_recipe_ini *above)
{
	for (size_t i = 0; i < BU_LEN(keys); i++) {
		char **low = field(below, i), **high = field(above, i);

		if (keys[i].list) {
			join(low, high, " ");
		} else if (*high) {
			free(*low);
			*low = bu_steal(high);
		}
	}
	join(&below->layers, &above->layers, "\n");
	join(&below->files, &above->files, "\n");
	join(&below->hooks, &above->hooks, "\n");
	join(&below->dkms_hooks, &above->dkms_hooks, "\n");
	if (above->mirrors) { /* a site's, where the public ones may be out of reach */
		free(below->mirrors);
		below->mirrors = bu_steal(&above->mirrors);
	}
	join(&below->sources, &above->sources, "\n");
	join(&below->keys, &above->keys, "\n");
	free(below->dir);
	below->dir = bu_steal(&above->dir);
}

static int
load(const char *dir, const char *name, const char *own_dir, int depth,
     struct bu_recipe_ini *ret, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s.ini", dir, name);
	bu_autofree char *beside_it = NULL;
	struct bu_recipe_ini above = {.dir = bu_xstrdup(dir)}, below = {0};
	int rc = read_file(path, &above, err);

	if (!rc && above.from && depth == DEPTH_MAX)
		rc = bu_err_set(err, BU_ERR_INVAL, 0,
				"%s: from = %s: more than %d recipes on each other",
				path, above.from, DEPTH_MAX);
	if (!rc && above.from) {
		beside_it = bu_xasprintf("%s/%s.ini", dir, above.from);
		rc = load(bu_file_exists(beside_it) ? dir : own_dir, above.from,
			  own_dir, depth + 1, &below, err);
		if (rc && !depth)
			bu_err_wrap(err, "%s: from = %s", path, above.from);
	}
	if (!rc) {
		lay_over(&below, &above);
		*ret = below;
		memset(&below, 0, sizeof(below));
	}
	bu_recipe_ini_fini(&above);
	bu_recipe_ini_fini(&below);
	return rc;
}

int
bu_recipe_ini_load(const char *dir, const char *name, const char *own_dir,
		   struct bu_recipe_ini *ret, struct bu_err *err)
{
	struct bu_recipe_ini ini;

	if (load(dir, name, own_dir, 0, &ini, err))
		return -1;
	if (!ini.script || !bu_path_is_name(ini.script)) {
		bu_recipe_ini_fini(&ini);
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s/%s.ini: [image] script: the name of a program "
				  "beside the recipes is needed, here or in 'from'",
				  dir, name);
	}
	*ret = ini;
	return 0;
}

char **
bu_recipe_ini_env(const struct bu_recipe_ini *ini)
{
	struct bu_recipe_ini copy = *ini;
	char **env = bu_xcalloc(BU_LEN(keys) + 7, sizeof(*env));
	size_t count = 0;

	for (size_t i = 0; i < BU_LEN(keys); i++) {
		const char *value = *field(&copy, i);

		env[count++] =
			bu_xasprintf("%s=%s", keys[i].variable, value ? value : "");
	}
	env[count++] = bu_xasprintf("FILES=%s", ini->files ? ini->files : "");
	env[count++] = bu_xasprintf("HOOKS=%s", ini->hooks ? ini->hooks : "");
	env[count++] =
		bu_xasprintf("DKMS_HOOKS=%s", ini->dkms_hooks ? ini->dkms_hooks : "");
	env[count++] = bu_xasprintf("MIRRORS=%s", ini->mirrors ? ini->mirrors : "");
	env[count++] = bu_xasprintf("SOURCES=%s", ini->sources ? ini->sources : "");
	env[count] = bu_xasprintf("KEYS=%s", ini->keys ? ini->keys : "");
	return env;
}
