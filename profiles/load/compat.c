/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of versions that fit together. Called by the plan's policy. Invariant: a
 * row that was loaded can be judged: its components are known, its conditions are
 * versions.
 */
#include "profiles/load/compat.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum { CONDITIONS_MAX = 4, ROWS_MAX = 1000 };

enum relation { AT_LEAST, BELOW, EQUAL, SAME_AS };

struct condition {
	enum bu_component component;
	enum relation relation;  /* of what is needed */
	enum bu_component other; /* SAME_AS */
	char *text;              /* of what is needed: the version; else the pattern */
};

struct row {
	struct condition given[CONDITIONS_MAX], needed[CONDITIONS_MAX];
	size_t given_count, needed_count;
	char *source;
};

struct bu_compat {
	struct row *rows;
	size_t count;
};

static const char *const names[] = {
#define X(id, name, help) name,
	BU_COMPONENTS(X)
#undef X
};

const char *
bu_component_name(enum bu_component component)
{
	return names[component];
}

static int
find_component(const char *name)
{
	for (int i = 0; i < BU_COMPONENT_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

int
bu_version_compare(const char *a, const char *b)
{
	while (*a && *b) {
		size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");

		if (x && y) {
			unsigned long long left = strtoull(a, NULL, 10);
			unsigned long long right = strtoull(b, NULL, 10);

			if (left != right)
				return left < right ? -1 : 1;
			a += x;
			b += y;
		} else if (*a != *b) {
			return *a < *b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return (*a != 0) - (*b != 0);
}

static int
version_ok(const char *text)
{
	return isdigit((unsigned char)text[0]) &&
	       strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz.-_+~") ==
		       strlen(text);
}

/* "12" begins 12.4 and 12, not 120. */
static int
pattern_holds(const char *pattern, const char *version)
{
	size_t size = strlen(pattern);

	if (strchr(pattern, '*'))
		return fnmatch(pattern, version, 0) == 0;
	return strncmp(pattern, version, size) == 0 &&
	       (!version[size] || !isalnum((unsigned char)version[size]));
}

static int
read_need(const char *text, struct condition *ret)
{
	static const struct {
		const char *sign;
		enum relation relation;
	} signs[] = {{">= ", AT_LEAST}, {"< ", BELOW}, {"= ", EQUAL}};
	int other;

	for (size_t i = 0; i < BU_LEN(signs); i++) {
		size_t size = strlen(signs[i].sign);

		if (strncmp(text, signs[i].sign, size) != 0)
			continue;
		ret->relation = signs[i].relation;
		other = find_component(text + size);
		if (ret->relation == EQUAL && other >= 0) {
			ret->relation = SAME_AS;
			ret->other = (enum bu_component)other;
		} else if (!version_ok(text + size)) {
			return -1;
		}
		ret->text = bu_xstrdup(text + size);
		return 0;
	}
	return -1;
}

static int
read_conditions(const json_t *list, int needed, struct condition *ret,
		size_t *ret_count, struct bu_err *err)
{
	const char *name;
	json_t *value;

	if (!json_is_object(list) || json_object_size(list) == 0 ||
	    json_object_size(list) > CONDITIONS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 1 to %d components",
				  needed ? "need" : "if", CONDITIONS_MAX);
	json_object_foreach ((json_t *)(uintptr_t)list, name, value) {
		struct condition *condition = &ret[*ret_count];
		const char *text =
			json_is_string(value) ? json_string_value(value) : "";
		int component = find_component(name);

		if (component < 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%.40s' is not a component", name);
		condition->component = (enum bu_component)component;
		if (!needed && *text)
			condition->text = bu_xstrdup(text);
		else if (!needed || read_need(text, condition) != 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s '%.40s': allowed is %s", name, text,
					  needed ? ">= V, < V, = V or = NAME"
						 : "a version, a name or *");
		(*ret_count)++;
	}
	return 0;
}

static int
read_row(const json_t *value, struct row *ret, struct bu_err *err)
{
	const char *source = bu_json_str(value, "source", "");
	const char *date = bu_json_str(value, "date", "");
	int year, month, day, end = 0;

	if (read_conditions(json_object_get(value, "if"), 0, ret->given,
			    &ret->given_count, err) != 0 ||
	    read_conditions(json_object_get(value, "need"), 1, ret->needed,
			    &ret->needed_count, err) != 0)
		return -1;
	if (strlen(source) < 10)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'source': expected where it says so, in "
				  "words or as a URL");
	if (sscanf(date, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 ||
	    end != 10 || date[end] || month < 1 || month > 12 || day < 1 || day > 31)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'date': expected the day it was read, "
				  "YYYY-MM-DD");
	ret->source = bu_xstrdup(source);
	return 0;
}

struct bu_compat *
bu_compat_parse(const json_t *value, struct bu_err *err)
{
	const json_t *rows = json_object_get(value, "rows");
	struct bu_compat *compat;
	json_t *row;
	size_t i;

	if (bu_json_int(value, "format", 0) != 1 || !json_is_array(rows) ||
	    json_array_size(rows) > ROWS_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "format 1 and a list 'rows' of at most %d are needed",
			   ROWS_MAX);
		return NULL;
	}
	compat = bu_xcalloc(1, sizeof(*compat));
	compat->rows = bu_xcalloc(json_array_size(rows), sizeof(*compat->rows));
	json_array_foreach (rows, i, row) {
		compat->count++;
		if (read_row(row, &compat->rows[i], err) != 0) {
			bu_err_wrap(err, "rows[%zu]", i);
			bu_compat_destroy(compat);
			return NULL;
		}
	}
	return compat;
}

struct bu_compat *
bu_compat_load(const char *path, struct bu_err *err)
{
	bu_autojson json_t *value = bu_json_load(path, err);
	struct bu_compat *compat = value ? bu_compat_parse(value, err) : NULL;

	if (value && !compat)
		bu_err_wrap(err, "%s", path);
	return compat;
}

void
bu_compat_destroy(struct bu_compat *compat)
{
	if (!compat)
		return;
	for (size_t i = 0; i < compat->count; i++) {
		for (size_t k = 0; k < CONDITIONS_MAX; k++) {
			free(compat->rows[i].given[k].text);
			free(compat->rows[i].needed[k].text);
		}
		free(compat->rows[i].source);
	}
	free(compat->rows);
	free(compat);
}

static int
is_about(const struct row *row, const struct bu_versions *versions)
{
	for (size_t i = 0; i < row->given_count; i++) {
		const char *version = versions->of[row->given[i].component];

		if (!version || !pattern_holds(row->given[i].text, version))
			return 0;
	}
	return 1;
}

static int
holds(const struct condition *needed, const struct bu_versions *versions)
{
	const char *version = versions->of[needed->component];
	const char *other;

	switch (needed->relation) {
	case AT_LEAST:
		return bu_version_compare(version, needed->text) >= 0;
	case BELOW:
		return bu_version_compare(version, needed->text) < 0;
	case EQUAL:
		return pattern_holds(needed->text, version);
	case SAME_AS:
		other = versions->of[needed->other];
		return !other || strcmp(version, other) == 0;
	}
	return 0;
}

/* "cuda 12.4 and gpu_model h200-141gb" */
static char *
about_text(const struct row *row, const struct bu_versions *versions)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < row->given_count; i++) {
		bu_autofree char *old = text;
		enum bu_component component = row->given[i].component;

		text = bu_xasprintf("%s%s%s %s", old, *old ? " and " : "",
				    names[component], versions->of[component]);
	}
	return text;
}

static void
judge_one(const struct row *row, const struct condition *needed,
	  const struct bu_versions *versions,
	  void (*fn)(const struct bu_misfit *misfit, void *arg), void *arg)
{
	static const char *const signs[] = {">= ", "< ", "", "the same as "};
	struct bu_misfit misfit = {.component = needed->component};
	const char *name = names[needed->component];
	const char *version = versions->of[needed->component];
	bu_autofree char *about = about_text(row, versions);

	if (version && holds(needed, versions))
		return;
	misfit.undeclared = !version;
	if (version)
		snprintf(misfit.text, sizeof(misfit.text),
			 "%s %.40s does not fit %.120s, which needs %s%.60s (%.120s)",
			 name, version, about, signs[needed->relation], needed->text,
			 row->source);
	else
		snprintf(misfit.text, sizeof(misfit.text),
			 "%.120s needs %s %s%.60s, and no %s is declared (%.120s)",
			 about, name, signs[needed->relation], needed->text, name,
			 row->source);
	fn(&misfit, arg);
}

void
bu_compat_judge(const struct bu_compat *compat, const struct bu_versions *versions,
		void (*fn)(const struct bu_misfit *misfit, void *arg), void *arg)
{
	for (size_t i = 0; i < compat->count; i++) {
		const struct row *row = &compat->rows[i];

		if (!is_about(row, versions))
			continue;
		for (size_t k = 0; k < row->needed_count; k++)
			judge_one(row, &row->needed[k], versions, fn, arg);
	}
}

void
bu_versions_of(const struct bu_desired_image *image,
	       const struct bu_desired_hardware *hardware, const char *mig,
	       struct bu_versions *ret)
{
	*ret = (struct bu_versions){{
		[BU_COMPONENT_DRIVER] = image->driver,
		[BU_COMPONENT_CUDA] = image->cuda,
		[BU_COMPONENT_FABRIC_MANAGER] = image->fabric_manager,
		[BU_COMPONENT_KERNEL] = image->kernel,
		[BU_COMPONENT_FIRMWARE] = hardware->firmware,
		[BU_COMPONENT_GPU_MODEL] = hardware->gpu_model,
		[BU_COMPONENT_MIG] = mig,
	}};
}
