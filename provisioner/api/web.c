/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files. Invariant: nothing else of the folder is ever read. */
#include <string.h>

#include "base/file.h"
#include "provisioner/api/api.h"

#define BU_SCRIPT "text/javascript; charset=utf-8"

static const struct {
	const char *name;
	const char *type;
} web_files[] = {
	{"index.html", "text/html; charset=utf-8"},
	{"app.js", BU_SCRIPT},
	{"acts.js", BU_SCRIPT},
	{"login.js", BU_SCRIPT},
	{"words.js", BU_SCRIPT},
	{"live.js", BU_SCRIPT},
	{"dom.js", BU_SCRIPT},
	{"grid.js", BU_SCRIPT},
	{"view_overview.js", BU_SCRIPT},
	{"view_node.js", BU_SCRIPT},
	{"view_fabric.js", BU_SCRIPT},
	{"view_rollouts.js", BU_SCRIPT},
	{"view_events.js", BU_SCRIPT},
	{"view_images.js", BU_SCRIPT},
	{"view_site.js", BU_SCRIPT},
	{"style.css", "text/css; charset=utf-8"},
	{"icon.svg", "image/svg+xml"},
};

BU_HANDLER(bu_api_web)
{
	struct bu_api *api = arg;
	const char *name = request->path[1] ? request->path + 1 : "index.html";
	bu_autofree char *path = NULL;

	for (size_t i = 0; i < BU_LEN(web_files); i++) {
		if (strcmp(web_files[i].name, name) != 0)
			continue;
		path = bu_xasprintf("%s/%s", api->web_dir, name);
		reply->text = bu_file_read(path, 0, NULL, err);
		reply->content_type = web_files[i].type;
		return reply->text ? BU_ANSWER_NOW : BU_ANSWER_ERROR;
	}
	return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no page '%s'", request->path);
}
