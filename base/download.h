/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches files from servers that are not ours (registries): over https with the CAs of
 * this system, over plain http from this machine alone. Blocking.
 */
#ifndef BU_BASE_DOWNLOAD_H
#define BU_BASE_DOWNLOAD_H

#include <stdint.h>

#include "base/err.h"

struct bu_download {
	const char *url; /* https://... or http://localhost:... */
	const char *
		authorization; /* "Bearer ..." or "Basic ..."; NULL = none. Sent to
				  the server of the URL alone, not where it redirects */
	const char *accept;    /* media types; NULL = any */
	uint64_t max_bytes;
};
struct bu_downloaded {
	long status;
	char *challenge; /* WWW-Authenticate of a 401 of the URL's own server, and of
			    none that it redirects to; NULL = none; owned */
};

/* GET into the file, which goes on where it ends: an interrupted transfer is resumed,
 * as long as one of three tries brings more than came before. BU_ERR_DENIED for a 401
 * (*ret->challenge says what the server wants), BU_ERR_NOTFOUND for a 404,
 * BU_ERR_REMOTE and BU_ERR_TIMEOUT for what else a server does, BU_ERR_VERIFY when it
 * is not who it says. */
bu_must int bu_download(const struct bu_download *what, int fd,
			struct bu_downloaded *ret, struct bu_err *err);
void bu_downloaded_fini(struct bu_downloaded *answer);

#endif
