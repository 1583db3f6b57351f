/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake site (rig.h) with the real server and all of its routes before it. Plain
 * requests are spoken by talk.h while the loop is turned.
 */
#ifndef BU_TESTS_SUPPORT_SITE_H
#define BU_TESTS_SUPPORT_SITE_H

#include "provisioner/api/api.h"
#include "tests/support/rig.h"
#include "tests/support/talk.h"

struct site {
	struct rig rig;
	struct bu_api api;
	int page, local, boot, agent, people; /* ports */
	char images[80], ramdisk[80], bundle[88];
	json_t *shown;  /* of each node, as it was at the last look */
	int64_t looked; /* version of that */
	int pokes;      /* the test changes nodes by itself: they need no mark */
};

/* nodes: as rig_begin(). */
void site_begin(struct site *site, int nodes);
void site_end(struct site *site);
/* Another process, which has what is in the log alone; its ports are others. */
void site_restart(struct site *site);
/* Another listener of this kind, without TLS; its port. */
int site_listen_plain(struct site *site, enum bu_listener kind);
/* Sends a request; the answer is there after site_until_ended(). */
void site_ask(struct talk *talk, int port, const char *method, const char *path,
	      const char *body);
void site_until_ended(struct site *site, struct talk *talk);
/* The answer as JSON, new reference; its status must be this. */
json_t *site_call(struct site *site, int port, const char *method, const char *path,
		  const char *body, int status);
/* The answer as text; owned. */
char *site_text(struct site *site, int port, const char *path, int status);

#endif
