/* SPDX-License-Identifier: Apache-2.0 */
/* UEFI HTTPS boot, asked by curl, which is nothing of ours. */
#include "provisioner/api/firmware.h"

#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "tests/support/port.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* Exit status of curl, which asks for the certificate of the agents' CA. */
static int
curl(struct site *site, const char *options, const char *address)
{
	bu_autofree char *text = bu_xasprintf(
		"cd %s && rm -f got && exec curl -sf --max-time 20 %s -o got "
		"https://%s/boot/ca.pem",
		site->rig.dir, options, address);
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		rig_pass(&site->rig, 1);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(firmware_of_today_and_of_yesterday_gets_its_files)
{
	static const struct {
		const char *options;
		int works;
	} rows[] = {
		{"--cacert " BU_FIRMWARE_CA, 1},
		{"--cacert " BU_FIRMWARE_CA " --tls-max 1.2", 1},
		{"--cacert " BU_FIRMWARE_CA
		 " --tls-max 1.2 --ciphers ECDHE-RSA-AES256-GCM-SHA384",
		 1},
		/* it knows no curves */
		{"--cacert " BU_FIRMWARE_CA
		 " --tls-max 1.2 --ciphers AES256-GCM-SHA384",
		 1},
		{"--cacert " BU_FIRMWARE_CA
		 " --tls-max 1.2 --ciphers ECDHE-RSA-AES128-GCM-SHA256",
		 0},
		{"--cacert " BU_FIRMWARE_CA
		 " --tls-max 1.1 --ciphers DEFAULT:@SECLEVEL=0",
		 0},
		/* it is enrolled by somebody, or the server is another one */
		{"", 0},
		{"--cacert agents.pem", 0},
	};
	struct site site;
	char address[32];
	struct bu_err err = {0};
	bu_autofree char *ca = NULL, *got = NULL;

	BU_NEEDS("curl");
	site_begin(&site, 1);
	rig_write(&site.rig, "agents.pem", bu_trust_ca(site.rig.trust));
	snprintf(address, sizeof(address), "127.0.0.1:%d", free_port());
	ck_assert_msg(
		bu_firmware_listen(site.api.server, site.rig.dir, address, &err) == 0,
		"%s", err.text);
	ca = rig_read(&site.rig, BU_FIRMWARE_CA);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int status = curl(&site, rows[i].options, address);

		ck_assert_msg((status == 0) == rows[i].works,
			      "row %zu: curl ended with %d", i, status);
		if (status)
			continue;
		free(bu_steal(&got));
		got = rig_read(&site.rig, "got");
		ck_assert_str_eq(got, bu_trust_ca(site.rig.trust));
	}
	site_end(&site);
}
END_TEST

/* A person has enrolled it in each machine. */
START_TEST(its_ca_is_made_once)
{
	struct site site;
	char address[32];
	struct bu_err err = {0};
	bu_autofree char *ca = NULL, *again = NULL, *key = NULL;

	site_begin(&site, 1);
	for (int i = 0; i < 2; i++) {
		snprintf(address, sizeof(address), "127.0.0.1:%d", free_port());
		ck_assert_int_eq(bu_firmware_listen(site.api.server, site.rig.dir,
						    address, &err),
				 0);
		free(bu_steal(&again));
		again = rig_read(&site.rig, BU_FIRMWARE_CA);
		if (!ca)
			ca = bu_xstrdup(again);
	}
	ck_assert_str_eq(ca, again);
	rig_remove(&site.rig, "boot-ca.key");
	ck_assert_int_eq(
		bu_firmware_listen(site.api.server, site.rig.dir, address, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "boot-ca.key"));
	key = bu_xasprintf("%s/boot-ca.key", site.rig.dir);
	ck_assert(!bu_file_exists(key));
	site_end(&site);
}
END_TEST

RIG_UNIT("firmware", firmware_of_today_and_of_yesterday_gets_its_files,
	 its_ca_is_made_once)
