/* SPDX-License-Identifier: Apache-2.0 */
/* What cloud-init is told, as JSON has it; cloud-init itself is the judge in
 * provisioner/api/nocloud_test.c. */
#include "provisioner/config/nocloud.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static const struct bu_nocloud_file house[] = {
	{"/usr/lib/bringup/first-boot", 0755, "#!/usr/bin/python3\n"}};
static const struct bu_nocloud what = {
	.node = "node001",
	.instance = "node001.7.install",
	.user_url = "http://10.77.0.1:8080/nocloud/t/user-data",
	.agent_url = "http://10.77.0.1:8080/bundle",
	.agent_digest = "d1",
	.files = house,
	.file_count = 1,
};

START_TEST(who_it_is)
{
	bu_autofree char *meta = bu_nocloud_meta(&what);

	ck_assert_str_eq(meta, "{\"instance-id\":\"node001.7.install\","
			       "\"local-hostname\":\"node001\"}");
}
END_TEST

static void
check_file(const json_t *list, size_t which, const char *path, const char *mode,
	   const char *content)
{
	const json_t *file = json_array_get(list, which);
	char bytes[256] = "";
	size_t size = 0;

	ck_assert_str_eq(bu_json_str(file, "path", ""), path);
	ck_assert_str_eq(bu_json_str(file, "permissions", ""), mode);
	ck_assert_str_eq(bu_json_str(file, "owner", ""), "root:root");
	ck_assert_str_eq(bu_json_str(file, "encoding", ""), "b64");
	ck_assert_int_eq(bu_base64_decode(bu_json_str(file, "content", ""), bytes,
					  sizeof(bytes) - 1, &size),
			 0);
	ck_assert_uint_eq(size, strlen(content));
	ck_assert_str_eq(bytes, content);
}

static void
runs(const json_t *list, size_t which, const char *want)
{
	char got[128] = "";
	size_t i;
	json_t *word;

	json_array_foreach (json_array_get(list, which), i, word) {
		strcat(got, json_string_value(word));
		strcat(got, " ");
	}
	ck_assert_str_eq(got, want);
}

START_TEST(its_files_and_its_agent)
{
	static const struct bu_work_file rows[] = {
		{.path = "/etc/hosts", .mode = 0644, .content = "a: \"b\"\n\\ #\n"},
		{.path = "/etc/bringup/odd", .mode = 0400, .content_hex = "68c3a4"},
	};
	bu_autofree char *text = bu_nocloud_user(&what, rows, BU_LEN(rows));
	static const char head[] = "#cloud-config\n";
	bu_autojson json_t *value = NULL;
	const json_t *files, *run;

	ck_assert(strncmp(text, head, strlen(head)) == 0);
	value = json_loads(text + strlen(head), 0, NULL);
	files = json_object_get(value, "write_files");
	ck_assert_uint_eq(json_array_size(files), 4);
	check_file(files, 0, "/etc/hosts", "0644", "a: \"b\"\n\\ #\n");
	check_file(files, 1, "/etc/bringup/odd", "0400", "h\xc3\xa4");
	check_file(files, 2, "/usr/lib/bringup/first-boot", "0755",
		   "#!/usr/bin/python3\n");
	check_file(files, 3, "/usr/lib/bringup/first-boot.json", "0600",
		   "{\"agent_digest\":\"d1\",\"agent_url\":\"http://10.77.0.1:8080/"
		   "bundle\",\"url\":\"http://10.77.0.1:8080/nocloud/t/user-data\"}");
	/* Once, whatever comes of it: what takes longer is a unit's. */
	run = json_object_get(value, "runcmd");
	ck_assert_uint_eq(json_array_size(run), 3);
	runs(run, 0, "systemctl daemon-reload ");
	runs(run, 1, "systemctl enable bringup-first-boot.service ");
	runs(run, 2, "systemctl start --no-block bringup-first-boot.service ");
	/* Accounts that images of clouds make by themselves are not wanted. */
	ck_assert(json_is_object(json_object_get(value, "users")));
	ck_assert_uint_eq(json_object_size(json_object_get(value, "users")), 0);
	ck_assert(json_is_false(json_object_get(value, "ssh_pwauth")));
	ck_assert(json_is_true(json_object_get(value, "ssh_deletekeys")));
}
END_TEST

START_TEST(its_network)
{
	struct bu_desired *desired;
	bu_autofree char *found =
		bu_testing_check(bu_testing_site, bu_testing_racks, &desired);
	struct bu_nic nics[2];
	struct bu_config_input input = {
		.nics = nics, .nic_count = 2, .appliance = "10.77.0.1"};
	struct bu_err err = {0};
	bu_autofree char *text = NULL, *none = NULL;

	ck_assert_msg(desired != NULL, "%s", found);
	input.desired = desired;
	input.node = &desired->nodes[0];
	memset(nics, 0, sizeof(nics));
	strcpy(nics[0].mac, "52:54:00:77:00:01");
	strcpy(nics[1].mac, "52:54:00:78:00:01");
	text = bu_nocloud_network(&input, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	ck_assert_msg(strstr(text, "network:") == NULL, "%s", text);
	ck_assert_msg(strncmp(text, "version: 2\n", 11) == 0, "%s", text);
	ck_assert_msg(strstr(text, "\nethernets:\n  boot:\n    match: {macaddress: "
				   "\"52:54:00:77:00:01\"}\n") != NULL,
		      "%s", text);
	ck_assert_msg(strstr(text, "\n    addresses: [10.77.0.11/24]\n") != NULL, "%s",
		      text);
	input.nic_count = 1;
	none = bu_nocloud_network(&input, &err);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("config_nocloud", who_it_is, its_files_and_its_agent, its_network)
