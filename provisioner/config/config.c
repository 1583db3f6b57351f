/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as it grows, and as a work item tells it. Used by render.c and the
 * parts that it calls. Invariant: what was a file's content is wiped with it, for it
 * may be a key.
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

struct bu_work_file *
bu_config_rows(struct bu_config *config)
{
	if (config->rows)
		return config->rows;
	config->rows = bu_xcalloc(config->count + 1, sizeof(*config->rows));
	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];
		struct bu_work_file *row = &config->rows[i];

		row->path = file->path;
		row->mode = (int)file->mode;
		row->apply = file->apply[0] ? file->apply : NULL;
		if (bu_work_is_text(file->content, file->size)) {
			row->content = file->content;
		} else {
			char *hex = bu_xmalloc(2 * file->size + 1);

			bu_hex_encode(file->content, file->size, hex);
			row->content_hex = hex;
		}
	}
	return config->rows;
}

static void
wipe(char *text, size_t size)
{
	if (text)
		explicit_bzero(text, size);
	free(text);
}

void
bu_config_destroy(struct bu_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->count; i++) {
		free(config->files[i].path);
		wipe(config->files[i].content, config->files[i].size);
		if (config->rows)
			wipe((char *)(uintptr_t)config->rows[i].content_hex,
			     2 * config->files[i].size);
	}
	free(config->rows);
	free(config->files);
	free(config->kargs);
	free(config);
}
