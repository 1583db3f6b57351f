/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user data for cloud-init of a node whose image bringup did not build: its files,
 * and how it gets its agent.
 */
#include "base/file.h"
#include "provisioner/config/nocloud.h"
#include "provisioner/work/work.h"

enum { FILE_MAX = 1024 * 1024 };

static const struct {
	const char *path, *name;
	int mode;
} house[] = {
	{"/usr/lib/bringup/first-boot", "first-boot", 0755},
	{"/usr/lib/bringup/access", "access", 0755},
	{"/etc/systemd/system/bringup-access.service", "bringup-access.service", 0644},
	{"/etc/systemd/system/bringup-agent.service", "bringup-agent.service", 0644},
	{"/etc/systemd/system/bringup-first-boot.service", "bringup-first-boot.service",
	 0644},
};

static char *
seed_url(const struct bu_work_input *input, const char *step)
{
	char token[BU_DIGEST_SIZE];

	bu_trust_seed_token(input->trust, step, token);
	return bu_xasprintf("%s/nocloud/%s/user-data", input->http_url, token);
}

char *
bu_work_user_data(const struct bu_work_input *input, const struct bu_node *node,
		  const struct bu_target *target, const char *step, struct bu_err *err)
{
	bu_autofree char *agent_url =
		bu_xasprintf("%s/" BU_BUNDLE_DIR, input->http_url);
	bu_autofree char *url = seed_url(input, step);
	struct bu_nocloud_file files[BU_LEN(house)] = {0};
	struct bu_offer offer;
	struct bu_nocloud what = {.node = node->name,
				  .user_url = url,
				  .agent_url = agent_url,
				  .files = files};
	struct bu_config *config = NULL;
	char *text = NULL;

	bu_agent_upgrades_offer(input->upgrades, &offer);
	if (!offer.bundle) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "there is no agent to give; bringup image build ramdisk");
		return NULL;
	}
	what.agent_digest = offer.bundle->digest;
	for (; what.file_count < BU_LEN(house); what.file_count++) {
		const char *name = house[what.file_count].name;
		bu_autofree char *relative =
			bu_xasprintf("images/build/recipes/%s", name);
		bu_autofree char *path = bu_data_path(relative);
		char *content = bu_file_read(path, FILE_MAX, NULL, err);

		files[what.file_count] =
			(struct bu_nocloud_file){house[what.file_count].path,
						 house[what.file_count].mode, content};
		if (!content)
			break;
	}
	if (what.file_count == BU_LEN(house))
		config = bu_work_config(input, node, target, NULL, err);
	if (config)
		text = bu_nocloud_user(&what, bu_config_rows(config), config->count);
	bu_config_destroy(config);
	for (size_t i = 0; i < BU_LEN(files); i++)
		free((char *)(uintptr_t)files[i].content);
	return text;
}
