/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first boot of a whole disk: its installer's work, the token, and cloud-init's own
 * reader.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "model/hello.h"
#include "tests/support/profiles.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000001"
#define FILE_OF(path)                                                                  \
	"{\"path\":\"" path "\",\"mode\":493,\"size_bytes\":1,\"sha256\":\"" ZEROS "\"}"

static const char bundle[] = "{\"v\":1,\"kind\":\"agent\",\"version\":\"" BU_VERSION
			     "\",\"files\":[" FILE_OF("agent") "," FILE_OF(
				     "bringup-agent") "," FILE_OF("ld-linux-x86-64.so"
								  ".2") "]}";
static char *private_pem, *public_pem;
static char key_path[96], url[64], token[BU_DIGEST_SIZE];
static struct bu_node *node;
static json_t *item;

/* An appliance with an agent to give, and a node of this address in imaging. */
static void
begin(struct site *site, const char *network, const char *root)
{
	/* As the rig has it for one node. */
	bu_autofree char *some = bu_testing_replace(bu_testing_site, "10.77.0.[11-14]",
						    "10.77.0.[11-18]");
	bu_autofree char *good =
		bu_testing_replace(some, "10.78.0.11,10.78.0.12", "10.78.0.[11-18]");
	const char *from = strstr(good, "cidr = 10.77.0.0/24");
	const char *end = strstr(from, "[pool train]\n") + strlen("[pool train]\n");
	const char *middle = strstr(from, "[network fabric]");
	bu_autofree char *before = bu_xstrndup(from, (size_t)(end - from));
	bu_autofree char *after = bu_xasprintf("%s%.*sroot = %s\n", network,
					       (int)(end - middle), middle, root);
	char sig[BU_SIG_HEX_SIZE];
	struct bu_err err = {0};

	site_begin(site, 0);
	ck_assert_int_eq(bu_mkdir_p(site->bundle, 0755, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	ck_assert_int_eq(bu_sign(private_pem, bundle, strlen(bundle), sig, NULL), 0);
	rig_write(&site->rig, "ramdisk/bundle/bundle.json", bundle);
	rig_write(&site->rig, "ramdisk/bundle/bundle.sig", sig);
	rig_write(&site->rig, "ramdisk/bundle/" ZEROS, "x");
	rig_write(&site->rig, "image.pub", public_pem);
	snprintf(key_path, sizeof(key_path), "%s/image.pub", site->rig.dir);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", site->boot);
	site->api.work.image_key = key_path;
	site->api.work.http_url = url;
	bu_agent_upgrades_destroy(site->api.work.upgrades);
	site->api.work.upgrades = bu_agent_upgrades_create(
		&(struct bu_agent_upgrades_opts){site->rig.fleet, site->rig.rec,
						 site->bundle, key_path, BU_VERSION});
	rig_apply(&site->rig, 1, BU_CLASS_INSTALL, "d1", before, after);
	node = rig_node(&site->rig, 1);
	rig_start(&site->rig, 1);
	rig_inspect(&site->rig, 1);
	item = bu_work_make_step(&site->api.work, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	bu_trust_seed_token(site->rig.trust, node->step.id, token);
}

static void
end(struct site *site)
{
	json_decref(item);
	site_end(site);
	free(private_pem);
	free(public_pem);
}

#define LOOPBACK "cidr = 127.0.0.0/24\naddresses = 127.0.0.[1-4]\n"
#define OTHER "cidr = 127.0.0.0/24\naddresses = 127.0.0.[2-5]\n"

static char *
ask(struct site *site, const char *its, const char *name, int status)
{
	bu_autofree char *path = bu_xasprintf("/nocloud/%s/%s", its, name);

	return site_text(site, site->boot, path, status);
}

static int
rows(struct site *site)
{
	bu_autojson json_t *events =
		site_call(site, site->local, "GET", "/v1/events?limit=1000", "", 200);
	int count = 0;
	size_t i;
	json_t *event;

	json_array_foreach (json_object_get(events, "events"), i, event)
		count += strcmp(bu_json_str(event, "kind", ""), "seeded") == 0;
	return count;
}

START_TEST(the_installer_gets_what_is_for_cloud_init)
{
	struct site site;
	bu_autofree char *want = NULL, *rest = NULL;
	const json_t *files;

	begin(&site, LOOPBACK, "raw");
	files = json_object_get(item, "files");
	ck_assert_int_eq(bu_json_bool(item, "raw", 0), 1);
	ck_assert_int_eq(bu_json_bool(item, "kexec", 0), 0);
	ck_assert_uint_eq(json_array_size(files), 3);
	ck_assert_str_eq(bu_json_str(json_array_get(files, 0), "path", ""),
			 "/meta-data");
	want = bu_xasprintf("{\"instance-id\":\"%s\",\"local-hostname\":\"node001\"}",
			    node->step.id);
	ck_assert_str_eq(bu_json_str(json_array_get(files, 0), "content", ""), want);
	/* All of it: it is the document that is served, too. */
	rig_install(&site.rig, 1);
	/* An appliance that may not lead gives it to nobody. */
	site.rig.fleet->conditions[BU_CONDITION_EPOCH_UNCHECKED].on = 1;
	free(ask(&site, token, "user-data", 503));
	site.rig.fleet->conditions[BU_CONDITION_EPOCH_UNCHECKED].on = 0;
	rest = ask(&site, token, "user-data", 200);
	ck_assert_str_eq(bu_json_str(json_array_get(files, 1), "content", "?"), rest);
	ck_assert(strncmp(rest, "#cloud-config\n{", 15) == 0);
	ck_assert_ptr_nonnull(strstr(
		bu_json_str(json_array_get(files, 2), "content", ""), "version: 2\n"));
	end(&site);
}
END_TEST

START_TEST(an_image_of_ours_gets_its_files)
{
	struct site site;

	begin(&site, LOOPBACK, "disk");
	ck_assert_ptr_null(json_object_get(item, "raw"));
	ck_assert_uint_gt(json_array_size(json_object_get(item, "files")), 3);
	end(&site);
}
END_TEST

/* Also by a log that is read again. */
START_TEST(it_is_shown_where_a_system_is)
{
	static const char *const roots[] = {"disk", "raw"};

	for (size_t i = 0; i < BU_LEN(roots); i++) {
		struct site site;
		bu_autojson json_t *none = NULL, *shown = NULL;

		begin(&site, LOOPBACK, roots[i]);
		none = bu_node_to_json(node);
		ck_assert_str_eq(bu_json_str(none, "root", "?"), "");
		rig_install(&site.rig, 1);
		site_restart(&site);
		shown = site_call(&site, site.local, "GET", "/v1/nodes/node001", "",
				  200);
		ck_assert_str_eq(bu_json_str(shown, "root", "?"), roots[i]);
		node = rig_node(&site.rig, 1);
		end(&site);
	}
}
END_TEST

/* One first boot for each install; what broke off is asked for again in the next two
 * minutes, and a restart of the appliance does not forget. */
START_TEST(a_token_is_for_one_first_boot)
{
	struct site site;

	begin(&site, LOOPBACK, "raw");
	free(ask(&site, token, "user-data", 404)); /* it is not installed yet */
	rig_install(&site.rig, 1);
	free(ask(&site, token, "user-data", 200));
	ck_assert_int_eq(rows(&site), 1);
	rig_pass(&site.rig, 100 * 1000);
	free(ask(&site, token, "user-data", 200));
	ck_assert_int_eq(rows(&site), 1);
	rig_pass(&site.rig, 30 * 1000);
	free(ask(&site, token, "user-data", 404));
	site_restart(&site);
	node = rig_node(&site.rig, 1);
	ck_assert_str_eq(node->seeded_step, node->installed_step);
	free(ask(&site, token, "user-data", 404));
	end(&site);
}
END_TEST

START_TEST(who_has_no_right_gets_nothing)
{
	struct site site;
	char other[BU_DIGEST_SIZE];

	begin(&site, LOOPBACK, "raw");
	rig_install(&site.rig, 1);
	free(ask(&site, ZEROS, "user-data", 404));
	free(ask(&site, "x", "user-data", 404));
	/* That of a boot is another one. */
	bu_trust_token(site.rig.trust, node->installed_step, 1, other);
	ck_assert_str_ne(other, token);
	free(ask(&site, other, "user-data", 404));
	free(ask(&site, token, "key.pem", 404));
	ck_assert_int_eq(rows(&site), 0);
	rig_come_up(&site.rig, 1, "boot-7");
	free(ask(&site, token, "user-data", 404)); /* its agent has it all */
	end(&site);
	/* From an address that is not the node's. */
	begin(&site, OTHER, "raw");
	rig_install(&site.rig, 1);
	free(ask(&site, token, "user-data", 403));
	ck_assert_int_eq(rows(&site), 0);
	end(&site);
}
END_TEST

/* --- cloud-init's own reader --- */

static const char reader[] =
	"import json, sys\n"
	"from cloudinit import helpers\n"
	"from cloudinit.sources import DataSourceNoCloud as source\n"
	"from cloudinit.net import network_state\n"
	"paths = helpers.Paths({'cloud_dir': sys.argv[1], 'run_dir': sys.argv[1]})\n"
	"ds = source.DataSourceNoCloud({}, None, paths)\n"
	"ds._get_devices = lambda label: []\n"
	"assert ds._get_data(), 'not found before there is a network'\n"
	"assert ds.dsmode == 'net', ds.dsmode\n"
	"assert ds.metadata['local-hostname'] == 'node001', ds.metadata\n"
	"state = network_state.parse_net_config_data(ds.network_config)\n"
	"macs = sorted(i.get('mac_address') or '' for i in state.iter_interfaces())\n"
	"assert macs == ['52:54:00:77:00:01', '52:54:00:78:00:01'], macs\n"
	"parts = [p.get_payload(decode=True) for p in ds.get_userdata().walk()\n"
	"         if p.get_content_type() == 'text/cloud-config']\n"
	"assert len(parts) == 1, parts\n"
	"open(sys.argv[1] + '/user-data', 'wb').write(parts[0])\n"
	"open(sys.argv[1] + '/id', 'w').write(ds.get_instance_id())\n"
	"import base64, json\n"
	"files = json.loads(parts[0].split(b'\\n', 1)[1])['write_files']\n"
	"first = [f for f in files if f['path'] == '/usr/lib/bringup/first-boot.json']\n"
	"print(json.loads(base64.b64decode(first[0]['content']))['url'])\n";

/* What lies on the disk is its seed. */
static void
put_seed(struct site *site)
{
	bu_autofree char *folder = bu_xasprintf("%s/ci/seed/nocloud", site->rig.dir);
	size_t i;
	json_t *file;

	ck_assert_int_eq(bu_mkdir_p(folder, 0700, NULL), 0);
	json_array_foreach (json_object_get(item, "files"), i, file) {
		bu_autofree char *path = bu_xasprintf("ci/seed/nocloud%s",
						      bu_json_str(file, "path", ""));

		rig_write(&site->rig, path, bu_json_str(file, "content", ""));
	}
}

/* The appliance answers nobody meanwhile: cloud-init would keep what it did not get for
 * as long as the machine lives. */
START_TEST(cloud_init_reads_it_and_asks_nobody)
{
	struct site site;
	bu_autofree char *folder = NULL, *user = NULL, *instance = NULL, *got = NULL;
	bu_autofree char *says = NULL, *want = NULL, *valid = NULL;
	const char *argv[] = {"/usr/bin/python3", "-c", reader, NULL, NULL};
	const char *schema[] = {"cloud-init", "schema", "--config-file", NULL, NULL};
	struct bu_err err = {0};

	BU_NEEDS("cloud-init");
	begin(&site, LOOPBACK, "raw");
	rig_install(&site.rig, 1);
	put_seed(&site);
	argv[3] = folder = bu_xasprintf("%s/ci", site.rig.dir);
	schema[3] = user = bu_xasprintf("%s/user-data", folder);
	ck_assert_msg(bu_job_run(&(struct bu_job_opts){.argv = argv}, &says, &err) == 0,
		      "%s", err.text);
	want = bu_xasprintf("%s/nocloud/%s/user-data\n", url, token);
	ck_assert_str_eq(says, want);
	instance = rig_read(&site.rig, "ci/id");
	ck_assert_str_eq(instance, node->installed_step);
	got = rig_read(&site.rig, "ci/user-data");
	ck_assert_ptr_nonnull(strstr(got, "/usr/lib/bringup/first-boot"));
	ck_assert_msg(bu_job_run(&(struct bu_job_opts){.argv = schema}, &valid, &err) ==
			      0,
		      "%s", err.text);
	ck_assert_int_eq(rows(&site), 0);
	end(&site);
}
END_TEST

RIG_UNIT("api_nocloud", the_installer_gets_what_is_for_cloud_init,
	 an_image_of_ours_gets_its_files, it_is_shown_where_a_system_is,
	 a_token_is_for_one_first_boot, who_has_no_right_gets_nothing,
	 cloud_init_reads_it_and_asks_nobody)
