/* SPDX-License-Identifier: Apache-2.0 */
/* bringup audit verify: whether the log is as it was written, a part a request. */
#include <stdio.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"

int
bu_cmd_audit_verify(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *reply = json_object();

	do {
		bu_autojson json_t *last = reply;

		reply = bu_client_get(client, 0, err, "/v1/audit?after=%lld&hash=%s",
				      (long long)bu_json_int(last, "after", 0),
				      bu_json_str(last, "hash", ""));
		if (!reply)
			return -1;
	} while (bu_json_bool(reply, "more", 0));
	json_object_del(reply, "more");
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(reply, stdout);
	else
		printf("the log is whole: %lld rows, the last has the hash %s\n",
		       (long long)bu_json_int(reply, "after", 0),
		       bu_json_str(reply, "hash", ""));
	return 0;
}
