/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by the session after each greeting: at the first boot, when there is a new
 * key, and after a change of the configuration, when there may be another CA.
 * Invariant: the key itself stays where it is, its public half alone is shown.
 */
#include "agent/hostcert.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

#define SSHD "/etc/ssh/sshd_config.d/10-bringup.conf"
#define KEY "/etc/ssh/ssh_host_ed25519_key"

enum { CALL_MS = 20000, FILE_MAX = 16384 };

/* cert "": the site has no CA (any more). */
static int
keep(const char *path, const char *cert, struct bu_err *err)
{
	bu_autofree char *old = bu_file_read(path, FILE_MAX, NULL, NULL);
	bu_autofree char *text = bu_xasprintf("%s\n", cert);

	if (!*cert && unlink(path) != 0)
		return errno == ENOENT ? 0
				       : bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	if (*cert && old && strcmp(old, text) == 0)
		return 0;
	if (*cert && bu_file_write(path, text, strlen(text), 0644, err) != 0)
		return -1;
	bu_info("hostcert", "the certificate of the host key is %s",
		*cert ? "new" : "gone");
	return 1;
}

int
bu_hostcert_fetch(const char *root, struct bu_http *http, struct bu_err *err)
{
	bu_autofree char *sshd = bu_xasprintf("%s" SSHD, root);
	bu_autofree char *key_path = bu_xasprintf("%s" KEY ".pub", root);
	bu_autofree char *path = bu_xasprintf("%s" KEY "-cert.pub", root);
	bu_autofree char *key = bu_file_read(key_path, FILE_MAX, NULL, NULL);
	bu_autojson json_t *body = NULL, *reply = NULL;
	const char *cert;

	if (!key || !bu_file_exists(sshd))
		return 0;
	key[strcspn(key, "\n")] = '\0';
	body = json_pack("{s:s}", "key", key);
	if (bu_http_json(
		    http,
		    &(struct bu_http_call){"POST", "/v1/agent/hostkey", body, CALL_MS},
		    &reply, err) != 0 ||
	    bu_json_get_str(reply, "cert", &cert, err) != 0)
		return bu_err_wrap(err, "certificate of the host key");
	return keep(path, cert, err);
}
