/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders NoCloud's files; called when a whole disk is installed, and when its first
 * boot asks. Invariant: nothing secret is in them, because they travel over plain
 * HTTP: the agent's key is on the node's own disk alone.
 */
#include "provisioner/config/nocloud.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/config/links.h"

#define FIRST_BOOT_UNIT "bringup-first-boot.service"

char *
bu_nocloud_meta(const struct bu_nocloud *what)
{
	bu_autojson json_t *value =
		json_pack("{s:s, s:s}", "instance-id", what->instance, "local-hostname",
			  what->node);

	return bu_json_canonical(value);
}

/* A file as its module write_files takes it. */
static json_t *
file_row(const char *path, int mode, const void *content, size_t size)
{
	bu_autofree char *text = bu_base64_encode(content, size);
	char permissions[8];

	snprintf(permissions, sizeof(permissions), "%04o", (unsigned)mode & 07777);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "path", path, "permissions",
			 permissions, "owner", "root:root", "encoding", "b64",
			 "content", text);
}

static void
add_row(json_t *list, const struct bu_work_file *row)
{
	size_t size =
		row->content ? strlen(row->content) : strlen(row->content_hex) / 2;
	bu_autofree char *bytes = bu_xmalloc(size + 1);

	if (row->content)
		memcpy(bytes, row->content, size);
	else
		bu_assert(bu_hex_decode(row->content_hex, bytes, size) == 0);
	json_array_append_new(list, file_row(row->path, row->mode, bytes, size));
}

char *
bu_nocloud_user(const struct bu_nocloud *what, const struct bu_work_file *rows,
		size_t count)
{
	bu_autojson json_t *first =
		json_pack("{s:s, s:s, s:s}", "url", what->user_url, "agent_url",
			  what->agent_url, "agent_digest", what->agent_digest);
	bu_autofree char *its = bu_json_canonical(first), *text = NULL;
	json_t *files = json_array();
	bu_autojson json_t *value = NULL;

	for (size_t i = 0; i < count; i++)
		add_row(files, &rows[i]);
	for (size_t i = 0; i < what->file_count; i++)
		json_array_append_new(files,
				      file_row(what->files[i].path, what->files[i].mode,
					       what->files[i].content,
					       strlen(what->files[i].content)));
	json_array_append_new(files, file_row("/usr/lib/bringup/first-boot.json", 0600,
					      its, strlen(its)));
	/* No account but those of the profile (its schema takes no empty list), and new
	 * host keys. What it runs it runs once, whatever came of it: a unit. */
	value = json_pack(
		"{s:{}, s:b, s:b, s:b, s:b, s:o, s:[[s,s], [s,s,s], [s,s,s,s]]}",
		"users", "ssh_pwauth", 0, "disable_root", 1, "ssh_deletekeys", 1,
		"manage_etc_hosts", 0, "write_files", files, "runcmd", "systemctl",
		"daemon-reload", "systemctl", "enable", FIRST_BOOT_UNIT, "systemctl",
		"start", "--no-block", FIRST_BOOT_UNIT);
	text = bu_json_canonical(value);
	return bu_xasprintf("#cloud-config\n%s\n", text);
}

/* The backend writes a file of netplan, where all of it is below "network:". */
static char *
lift(const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);

	bu_assert(to); /* only for want of memory */
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (length > 2 && text[0] == ' ' && text[1] == ' ')
			fprintf(to, "%.*s\n", (int)length - 2, text + 2);
		text += length + (text[length] == '\n');
	}
	fclose(to);
	return out;
}

char *
bu_nocloud_network(const struct bu_config_input *input, struct bu_err *err)
{
	struct bu_config *config;
	struct bu_links links;
	char *text;

	if (bu_links_make(input, &links, err) < 0)
		return NULL;
	config = bu_xcalloc(1, sizeof(*config));
	config->kargs = bu_xstrdup("");
	bu_links_netplan(&links, config);
	text = lift(config->files[0].content);
	bu_config_destroy(config);
	return text;
}
