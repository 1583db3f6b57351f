/* SPDX-License-Identifier: Apache-2.0 */
/* Puts files on servers that are not ours, as the other half of download.h. Blocking.
 */
#ifndef BU_BASE_UPLOAD_H
#define BU_BASE_UPLOAD_H

#include "base/err.h"

/* PUT of the file to the URL, over https with the CAs of this system, or over http: the
 * file is no secret, or sealed. 0 for an answer of 200, 201 or 204. Redirects are not
 * followed. BU_ERR_DENIED (401, 403), BU_ERR_VERIFY, BU_ERR_TIMEOUT, BU_ERR_REMOTE. */
bu_must int bu_upload(const char *url, const char *path, struct bu_err *err);

#endif
