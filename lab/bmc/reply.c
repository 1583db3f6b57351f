/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers and the messages in them. Every refusal is made here, so each error body has
 * "error" with "code", "message" and "@Message.ExtendedInfo", as DSP0266 wants it.
 */
#include "lab/bmc/reply.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const struct message {
	const char *name;
	int status;
	const char *severity, *text, *todo;
} messages[] = {
#define X(id, name, status, severity, text, todo) {name, status, severity, text, todo},
	BU_BMC_MESSAGES(X)
#undef X
};

void
bu_bmc_header(struct bu_bmc_reply *reply, const char *name, const char *fmt, ...)
{
	bu_autofree char *value = NULL;
	va_list args;

	va_start(args, fmt);
	value = bu_xvasprintf(fmt, args);
	va_end(args);
	if (!reply->headers)
		reply->headers = json_object();
	bu_text_clean(value);
	json_object_set_new(reply->headers, name, json_string(value));
}

/* The text with %1 to %3 replaced; owned. */
static char *
fill(const char *text, const char *const args[3])
{
	char *made = NULL;

	for (; *text; text++)
		if (text[0] == '%' && text[1] >= '1' && text[1] <= '3') {
			const char *arg = args[*++text - '1'];

			bu_text_add(&made, "", "%s", arg ? arg : "");
		} else
			bu_text_add(&made, "", "%c", *text);
	bu_text_clean(made);
	return made;
}

json_t *
bu_bmc_message(enum bu_bmc_message id, const char *property, const char *const args[3])
{
	const struct message *message = &messages[id];
	bu_autofree char *text = fill(message->text, args);
	json_t *list = json_array();
	json_t *made = json_pack("{s:s,s:s,s:s,s:o,s:s,s:s,s:s}", "@odata.type",
				 "#Message.v1_1_1.Message", "MessageId", message->name,
				 "Message", text, "MessageArgs", list, "Severity",
				 message->severity, "MessageSeverity",
				 message->severity, "Resolution", message->todo);

	for (int i = 0; i < 3 && args[i]; i++) {
		bu_autofree char *arg = bu_xstrdup(args[i]);

		bu_text_clean(arg);
		json_array_append_new(list, json_string(arg));
	}
	if (property)
		json_object_set_new(made, "RelatedProperties",
				    json_pack("[o]", json_sprintf("#%s", property)));
	return made;
}

void
bu_bmc_refuse_at(struct bu_bmc_reply *reply, enum bu_bmc_message id,
		 const char *property, const char *const args[3])
{
	json_t *message = bu_bmc_message(id, property, args);
	json_t *error = json_object_get(reply->body, "error");

	if (!error) {
		json_decref(reply->body);
		reply->text = NULL;
		reply->status = messages[id].status;
		reply->body = json_pack("{s:{s:s,s:O,s:[]}}", "error", "code",
					messages[id].name, "message",
					json_object_get(message, "Message"),
					"@Message.ExtendedInfo");
		error = json_object_get(reply->body, "error");
	}
	json_array_append_new(json_object_get(error, "@Message.ExtendedInfo"), message);
}

void
bu_bmc_reply_free(struct bu_bmc_reply *reply)
{
	json_decref(reply->body);
	json_decref(reply->headers);
	memset(reply, 0, sizeof(*reply));
}
