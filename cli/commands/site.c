/* SPDX-License-Identifier: Apache-2.0 */
/* bringup site take-over: a person's word that this appliance leads the site. */
#include <stdio.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"

int
bu_cmd_site_take_over(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *body = json_pack("{s:s}", "reason", options->reason);
	bu_autojson json_t *reply =
		bu_client_post(client, "/v1/site/take-over", body, err);

	if (!reply)
		return -1;
	printf("this appliance leads, with epoch %lld; agents refuse work of any "
	       "other one\n",
	       (long long)bu_json_int(reply, "epoch", 0));
	return 0;
}
