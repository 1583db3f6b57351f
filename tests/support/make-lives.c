/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the log of a bringupd whose nodes all lived one whole life, from the order to
 * their cluster, each with a report of 519 checks, pairs on all of its rails, and
 * signed certificates:
 *
 *	tests/support/make-lives TREE STATE-DIR IMAGES-DIR
 *
 * For tests/bench/start. Large bodies are made by bringupd's own code (life.c), and the
 * rows go through its store, so a log of this program is as large as a real one.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "profiles/export/facets.h"
#include "profiles/load/load.h"
#include "tests/support/image.h"
#include "tests/support/life.h"

enum {
	START_MS = 1700000000,
	NODES_AT_ONCE = 20, /* in one commit */
	PARTNERS = 3,       /* of each node, on each rail */
};

static void
on_written(const struct bu_decided *decided, void *arg)
{
	life_must(decided->err == NULL, "append", decided->err);
}

static void
flush(struct life *life)
{
	struct bu_err err = {0};

	life_must(bu_store_put_blobs(life->store, (const char *const *)life->blobs,
				     life->blobs_count, &err) == 0,
		  "blobs", &err);
	bu_store_append(life->store, life->events, life->count, 1, on_written, NULL);
	bu_loop_step(life->loop, 0);
	for (size_t i = 0; i < life->blobs_count; i++)
		free(life->blobs[i]);
	life->blobs_count = life->count = 0;
}

static void
write_images(struct life *life, const char *images)
{
	bu_autofree char *keys = bu_xasprintf("%s/../keys", images), *path = NULL;
	bu_autofree char *private_pem = NULL, *public_pem = NULL;
	struct bu_err err = {0};

	life_must(bu_mkdir_p(images, 0755, &err) == 0, images, &err);
	life_must(bu_mkdir_p(keys, 0755, &err) == 0, keys, &err);
	life_must(bu_sign_key_create(&private_pem, &public_pem, &err) == 0, "key",
		  &err);
	path = bu_xasprintf("%s/image.pub", keys);
	life_must(bu_file_write(path, public_pem, strlen(public_pem), 0644, &err) == 0,
		  path, &err);
	for (size_t i = 0; i < life->desired->images_count; i++)
		life_must(paper_image(images, life->desired->images[i].name,
				      "2026-01-01T00:00:00Z", private_pem,
				      life->image_digest, &err) == 0,
			  images, &err);
}

static void
write_site(struct life *life, const struct bu_tree *tree)
{
	bu_autojson json_t *value = bu_tree_to_json(tree);
	char digest[BU_DIGEST_SIZE];

	life_put(life, value, digest);
	life_note(life, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 1));
	life_note(life, BU_EVENT_REVISION, "",
		  json_pack("{s:s,s:s}", "digest", digest, "commit", ""));
	life_note(life, BU_EVENT_APPLIED, "",
		  json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:[],s:s}", "rollout", "r-1",
			    "plan", digest, "revision", digest, "commit", "", "limit",
			    "", "nodes", (int)life->desired->nodes_count, "grants",
			    "by", "bench"));
	flush(life);
}

static void
move(struct life *life, const char *node, const char *from, const char *to,
     const char *on)
{
	bu_clock_advance(&life->clock, INT64_C(30) * 1000);
	life_note(life, BU_EVENT_STATE, node,
		  json_pack("{s:s,s:s,s:s,s:s}", "from", from, "to", to, "on", on,
			    "reason", ""));
}

static void
step(struct life *life, const char *node, const char *action, int number)
{
	bu_autofree char *id = bu_xasprintf("%s.%d.%s", node, number, action);

	life_note(life, BU_EVENT_INTENT, node,
		  json_pack("{s:s,s:i,s:i,s:s}", "step", id, "attempt", 1, "epoch", 1,
			    "action", action));
	life_note(life, BU_EVENT_OUTCOME, node,
		  json_pack("{s:s,s:i,s:s,s:s}", "step", id, "attempt", 1, "result",
			    "done", "detail", ""));
}

static void
write_order(struct life *life, const struct bu_desired_node *node)
{
	bu_autojson json_t *facets = bu_facets_json(life->desired, node);
	char digest[BU_DIGEST_SIZE];

	life_put(life, facets, digest);
	life_note(life, BU_EVENT_ORDER, node->name,
		  json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i}", "rollout", "r-1", "class",
			    "install", "image", node->image->name, "digest",
			    life->image_digest, "facets", digest, "commit", "", "batch",
			    -1));
}

/* A boot: the hello of its agent, and the inventory that came with it. */
static void
write_boot(struct life *life, size_t index, int installed)
{
	const char *name = life->desired->nodes[index].name;
	char machine[BU_DIGEST_SIZE], boot[LIFE_BOOT_SIZE];

	life_machine(life, index, machine);
	life_boot(index, installed, boot);
	if (!installed)
		life_note(life, BU_EVENT_ADMITTED, name,
			  json_pack("{s:s,s:s,s:s,s:s,s:i,s:o}", "step", "s", "machine",
				    machine, "request", life->image_digest,
				    "fingerprint", life->image_digest, "until_ms", 0,
				    "told", life_told(index)));
	life_hello(life, index, installed);
	life_note(life, BU_EVENT_BOOTED, name,
		  json_pack("{s:s,s:s}", "boot_id", boot, "where",
			    installed ? "installed" : "ramdisk"));
}

/* Its pairs with those that come after it, and its certificates. */
static void
write_proof(struct life *life, size_t index)
{
	size_t count = life->desired->nodes_count;

	life_report(life, index);
	for (size_t k = 1; k <= PARTNERS && k < count; k++)
		life_pair(life, index, (index + k) % count);
	life_certificates(life, index);
}

static void
write_node(struct life *life, size_t index)
{
	const struct bu_desired_node *node = &life->desired->nodes[index];
	const char *name = node->name;

	write_order(life, node);
	move(life, name, "enrolled", "inspecting", "start");
	step(life, name, "boot-network", 1);
	write_boot(life, index, 0);
	move(life, name, "inspecting", "imaging", "inspected");
	step(life, name, "install", 2);
	life_note(life, BU_EVENT_INSTALLED, name,
		  json_pack("{s:s,s:s,s:s}", "step", "s", "image", node->image->name,
			    "digest", life->image_digest));
	move(life, name, "imaging", "booting", "imaged");
	step(life, name, "boot-disk", 3);
	write_boot(life, index, 1);
	move(life, name, "booting", "validating", "booted");
	write_proof(life, index);
	move(life, name, "validating", "joining", "proven");
	step(life, name, "join", 4);
	move(life, name, "joining", "ready", "joined");
	if (index % NODES_AT_ONCE == NODES_AT_ONCE - 1)
		flush(life);
}

static void
open_life(struct life *life, const char *state)
{
	static const char *const names[] = {"DNS:bringup", "IP:127.0.0.1", NULL};
	bu_autofree char *log = bu_xasprintf("%s/journal.db", state);
	bu_autofree char *keys = bu_xasprintf("%s/keys", state);
	struct bu_err err = {0};

	life_must(bu_mkdir_p(state, 0700, &err) == 0, state, &err);
	bu_clock_fake(&life->clock, (int64_t)START_MS * 1000);
	life->loop = bu_loop_create(&life->clock);
	life->trust = bu_trust_open(keys, names, &err);
	life_must(life->trust != NULL, keys, &err);
	life->store = bu_store_open_sqlite(life->loop, log, &err);
	life_must(life->store != NULL, log, &err);
}

int
main(int argc, char **argv)
{
	struct life life = {0};
	struct bu_findings findings = {0};
	struct bu_desired *desired;
	struct bu_tree *tree;
	struct bu_err err = {0};

	if (argc != 4) {
		fputs("usage: tests/support/make-lives TREE STATE-DIR IMAGES-DIR\n",
		      stderr);
		return 1;
	}
	tree = bu_tree_load(argv[1], &err);
	life_must(tree != NULL, argv[1], &err);
	life.desired = desired = bu_profiles_load(tree, &findings);
	life_must(desired != NULL || bu_findings_err(&findings, &err) == 0, argv[1],
		  &err);
	open_life(&life, argv[2]);
	write_images(&life, argv[3]);
	write_site(&life, tree);
	for (size_t i = 0; i < desired->nodes_count; i++)
		write_node(&life, i);
	flush(&life);
	printf("log of %zu lives\n", desired->nodes_count);
	free(life.events);
	free(life.blobs);
	bu_store_destroy(life.store);
	bu_trust_destroy(life.trust);
	bu_loop_destroy(life.loop);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return 0;
}
