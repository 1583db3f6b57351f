/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections [webhook NAME] of bringupd.conf: which events a webhook is told of, and how
 * they are signed. The form is that of Standard Webhooks 1.0
 * (https://www.standardwebhooks.com): {"type","timestamp","data"} with the headers
 * webhook-id, webhook-timestamp and webhook-signature.
 */
#ifndef BU_API_WEBHOOK_FORM_H
#define BU_API_WEBHOOK_FORM_H

#include <jansson.h>

#include "base/err.h"
#include "model/event.h"

/* key, help: of [webhook NAME] in bringupd.conf */
#define BU_WEBHOOK_KEYS(X)                                                             \
	X(url, "where events are posted, https:// or http://")                         \
	X(secret,                                                                      \
	  "what signs them: file:PATH beneath secrets_dir, credential:NAME or "        \
	  "exec:PROGRAM")                                                              \
	X(events, "kinds of events, with commas (bringup events shows them); empty = " \
		  "all")                                                               \
	X(nodes, "only events of these nodes, a hostlist such as gpu[001-016]")        \
	X(pools, "only events of nodes of these pools, with commas")                   \
	X(ca, "file with the CAs of an https receiver, PEM; empty = the system's")

enum { BU_WEBHOOKS_MAX = 16 };

/* Of one section; texts are "" where nothing is said. */
struct bu_webhook_opts {
	char *name;
#define X(key, help) char *key;
	BU_WEBHOOK_KEYS(X)
#undef X
};

/* The rows that are told. */
struct bu_webhook_filter {
	uint64_t kinds;        /* bits by enum bu_event_kind */
	json_t *nodes, *pools; /* names as keys; NULL = any */
};
/* BU_ERR_INVAL: err names the section and the key. */
bu_must int bu_webhook_filter_read(const struct bu_webhook_opts *opts,
				   struct bu_webhook_filter *ret, struct bu_err *err);
void bu_webhook_filter_fini(struct bu_webhook_filter *filter);
/* pool: of the event's node, by the applied profile. Events of the site are told where
 * neither nodes nor pools are given; `delivered` never is. */
int bu_webhook_wants(const struct bu_webhook_filter *filter,
		     const struct bu_event *event, const char *pool);
/* "v1,<base64>" of id.timestamp.body; owned. A secret that begins with "whsec_" is
 * base64 of the key, any other is the key. BU_ERR_INVAL: it is shorter than 24 bytes.
 */
char *bu_webhook_sign(const char *secret, size_t size, const char *signed_text,
		      struct bu_err *err);

/* BU_ERR_INVAL as of the filter, also for a URL or a reference that is none. */
bu_must int bu_webhook_check(const struct bu_webhook_opts *opts, struct bu_err *err);

#endif
