/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of the host key against an appliance that answers what it is told. */
#include "agent/hostcert.h"

#include <microhttpd.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-hostcert-XXXXXX";
static const char *cert; /* what the appliance says; NULL = it knows no such request */
static int asked;
static char shown[256];

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	bu_autojson json_t *reply = NULL;
	bu_autofree char *text = NULL;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!*state) {
		*state = shown;
		shown[0] = '\0';
		return MHD_YES;
	}
	if (*upload_size) {
		strncat(shown, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	ck_assert_str_eq(url, "/v1/agent/hostkey");
	asked++;
	reply = json_pack("{s:s?}", "cert", cert);
	text = bu_json_canonical(reply);
	response = MHD_create_response_from_buffer(strlen(text), text,
						   MHD_RESPMEM_MUST_COPY);
	rc = MHD_queue_response(connection, cert ? 200 : 404, response);
	MHD_destroy_response(response);
	return rc;
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/etc/ssh/%s", root, name);

	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", text), 0);
}

static char *
kept(void)
{
	bu_autofree char *path =
		bu_xasprintf("%s/etc/ssh/ssh_host_ed25519_key-cert.pub", root);

	return bu_file_read(path, 4096, NULL, NULL);
}

START_TEST(keeps_what_the_appliance_certifies)
{
	struct MHD_Daemon *daemon =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
				 on_request, NULL, MHD_OPTION_END);
	const union MHD_DaemonInfo *info;
	bu_autofree char *base = NULL, *folder = NULL;
	struct bu_http_opts opts = {0};
	struct bu_http *http;
	struct bu_err err = {0};
	char *text;

	ck_assert_ptr_nonnull(daemon);
	ck_assert_ptr_nonnull(mkdtemp(root));
	folder = bu_xasprintf("%s/etc/ssh/sshd_config.d", root);
	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	base = bu_xasprintf("http://127.0.0.1:%d", info->port);
	opts.base_url = base;
	http = bu_http_create(&opts);

	cert = "ssh-ed25519-cert-v01@openssh.com AAAA node001";
	/* A key alone is that of an image which runs its own sshd: none of ours. */
	put("ssh_host_ed25519_key.pub", "ssh-ed25519 AAAAkey root@node001\n");
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), 0);
	ck_assert_int_eq(asked, 0);
	put("sshd_config.d/10-bringup.conf", "");
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), 1);
	ck_assert_str_eq(shown, "{\"key\":\"ssh-ed25519 AAAAkey root@node001\"}");
	text = kept();
	ck_assert_str_eq(text, "ssh-ed25519-cert-v01@openssh.com AAAA node001\n");
	free(text);
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), 0); /* it has it */
	cert = NULL; /* an appliance of before */
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), -1);
	text = kept();
	ck_assert_ptr_nonnull(text);
	free(text);
	cert = ""; /* the site has no CA any more */
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), 1);
	ck_assert_ptr_null(kept());
	ck_assert_int_eq(bu_hostcert_fetch(root, http, &err), 0);
	bu_http_destroy(http);
	MHD_stop_daemon(daemon);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("hostcert", keeps_what_the_appliance_certifies)
