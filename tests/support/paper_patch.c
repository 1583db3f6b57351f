/* SPDX-License-Identifier: Apache-2.0 */
/* The patches that an API server of paper knows. */
#include "tests/support/paper_patch.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* The object that holds the path's last key, which is unescaped into key; NULL. */
static json_t *
holder_of(json_t *object, const char *path, char key[128])
{
	while (object && *path == '/') {
		size_t size = strcspn(++path, "/"), at = 0;

		for (size_t i = 0; i < size && at < 127; i++) {
			key[at++] = path[i];
			if (path[i] == '~')
				key[at - 1] = path[++i] == '1' ? '/' : '~';
		}
		key[at] = '\0';
		path += size;
		if (!*path)
			return object;
		object = json_object_get(object, key);
	}
	return NULL;
}

static int
patch_one(json_t *object, const json_t *step)
{
	const char *op = bu_json_str(step, "op", "");
	json_t *value = json_object_get(step, "value");
	char key[128];
	json_t *in = holder_of(object, bu_json_str(step, "path", ""), key);
	json_t *now = json_object_get(in, key);

	if (!json_is_object(in))
		return -1;
	if (strcmp(op, "test") == 0)
		return now && json_equal(now, value) ? 0 : -1;
	if (strcmp(op, "add") == 0)
		return json_object_set(in, key, value);
	if (!now)
		return -1;
	return strcmp(op, "replace") == 0 ? json_object_set(in, key, value)
					  : json_object_del(in, key);
}

int
paper_patch(json_t *object, const json_t *patch)
{
	const json_t *step;
	size_t i;

	json_array_foreach (patch, i, step)
		if (patch_one(object, step) != 0)
			return -1;
	return 0;
}

static void
apply_map(json_t *object, const json_t *body, const char *what, const char *owned)
{
	json_t *meta = json_object_get(object, "metadata");
	json_t *now = json_object_get(meta, what);
	json_t *want = json_object_get(json_object_get(body, "metadata"), what);
	json_t *before = json_object_get(object, owned), *value;
	const char *key;

	if (!now)
		json_object_set_new(meta, what, now = json_object());
	json_object_foreach (before, key, value)
		json_object_del(now, key);
	json_object_update(now, want);
	json_object_set(object, owned, want);
}

int
paper_apply(json_t *object, const json_t *body)
{
	apply_map(object, body, "labels", "paperLabels");
	apply_map(object, body, "annotations", "paperNotes");
	return 0;
}

int
paper_merge(json_t *object, const json_t *body)
{
	json_t *now = json_object_get(json_object_get(object, "status"), "conditions");
	json_t *one = json_array_get(
		json_object_get(json_object_get(body, "status"), "conditions"), 0);

	for (size_t i = json_array_size(now); i-- > 0;)
		if (strcmp(bu_json_str(json_array_get(now, i), "type", ""),
			   bu_json_str(one, "type", "")) == 0)
			json_array_remove(now, i);
	return json_array_append(now, one);
}
