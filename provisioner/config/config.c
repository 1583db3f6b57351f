/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as it grows, and as JSON. Used by render.c and the parts that it
 * calls. Invariant: what was a file's content is wiped with it, for it may be a key.
 */
#include "provisioner/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"

void
bu_config_add_bytes(struct bu_config *config, const char *path, mode_t mode,
		    const char *apply, const void *content, size_t size)
{
	struct bu_config_file *file;

	config->files = bu_xgrow(config->files, &config->cap, config->count + 1,
				 sizeof(*config->files));
	file = &config->files[config->count++];
	file->path = bu_xstrdup(path);
	file->mode = mode;
	file->apply = apply;
	file->content = bu_xmalloc(size + 1);
	memcpy(file->content, content, size);
	file->content[size] = '\0';
	file->size = size;
}

void
bu_config_add(struct bu_config *config, const char *path, mode_t mode,
	      const char *apply, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	bu_config_add_bytes(config, path, mode, apply, text, strlen(text));
}

void
bu_config_uuid(char ret[37], const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	char hex[BU_DIGEST_SIZE];
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	bu_sha256_hex(text, strlen(text), hex);
	/* Version 8 (of our own making), variant 1: RFC 9562. */
	snprintf(ret, 37, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12,
		 hex + 15, hex + 18);
}

json_t *
bu_config_to_json(const struct bu_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];
		json_t *item = json_pack("{ss si}", "path", file->path, "mode",
					 (int)file->mode);
		json_t *text = memchr(file->content, 0, file->size)
				       ? NULL
				       : json_stringn(file->content, file->size);

		if (file->apply[0])
			json_object_set_new(item, "apply", json_string(file->apply));
		if (text) {
			json_object_set_new(item, "content", text);
		} else {
			bu_autofree char *hex = bu_xmalloc(2 * file->size + 1);

			bu_hex_encode(file->content, file->size, hex);
			json_object_set_new(item, "content_hex", json_string(hex));
		}
		json_array_append_new(list, item);
	}
	return list;
}

void
bu_config_destroy(struct bu_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->count; i++) {
		free(config->files[i].path);
		/* It may be a key. */
		explicit_bzero(config->files[i].content, config->files[i].size);
		free(config->files[i].content);
	}
	free(config->files);
	free(config->kargs);
	free(config);
}
