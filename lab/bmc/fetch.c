/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches what is put into a virtual drive. Called by command.c when it is put in, and
 * by domain.c before the machine starts. It waits for the server: an appliance is
 * another process. Only plain HTTP: this BMC knows nobody's CA.
 */
#include "lab/bmc/fetch.h"

#include <string.h>

#include "base/file.h"
#include "base/http.h"
#include "base/url.h"

/* The volume descriptor is the sixteenth sector, and begins so. */
enum { DESCRIPTOR = 16 * 2048, SECTOR = 2048, LOOK_MS = 5000, IMAGE_MS = 60000 };
enum { IMAGE_MAX = 512 * 1024 * 1024 };
static const char magic[] = "\001CD001";

/* The path in url; NULL and err when that is nothing for us. */
static struct bu_http *
connect_to(const char *url, const char **ret_path, struct bu_err *err)
{
	bu_autofree char *base = NULL;
	struct bu_url parts;

	if (bu_url_parse(url, &parts) != 0 || strcmp(parts.scheme, "http") != 0 ||
	    !parts.host[0] || !parts.path[0]) {
		bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is not an http:// address", url);
		return NULL;
	}
	base = bu_xstrndup(url, (size_t)(parts.path - url));
	*ret_path = parts.path;
	return bu_http_create(&(struct bu_http_opts){.base_url = base});
}

int
bu_lab_fetch_look(const char *url, struct bu_err *err)
{
	char sector[SECTOR];
	const char *path;
	struct bu_http *http = connect_to(url, &path, err);
	int rc;

	if (!http)
		return -1;
	rc = bu_http_range(http, &(struct bu_http_part){path, DESCRIPTOR, SECTOR},
			   sector, LOOK_MS, err);
	bu_http_destroy(http);
	if (rc == 0 && memcmp(sector, magic, sizeof(magic) - 1) != 0)
		rc = bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is not an image of a CD",
				url);
	return rc;
}

int
bu_lab_fetch_image(const char *url, const char *file, struct bu_err *err)
{
	const char *path;
	struct bu_http *http = connect_to(url, &path, err);
	bu_autofree char *image = NULL;
	size_t size = 0;

	if (!http)
		return -1;
	image = bu_http_get(http, path, IMAGE_MAX, IMAGE_MS, &size, err);
	bu_http_destroy(http);
	return image ? bu_file_write(file, image, size, 0644, err) : -1;
}
