/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what a bringupd knows after it has installed every node of a profile: journal
 * with all that happened to each node, inventories and facets as blobs, and a signed
 * image of nothing for the profile's images:
 *
 *	tests/support/make-journal TREE STATE-DIR IMAGES-DIR [PAIRS [SLOW]]
 *
 * PAIRS: nodes with which each node was measured; SLOW: one whose pairs are all slow.
 *
 * For benches of scale; what is written goes through the same store as bringupd's.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "profiles/export/facets.h"
#include "profiles/load/load.h"
#include "provisioner/store/store.h"
#include "tests/support/image.h"
#include "tests/support/row.h"

enum {
	START_MS = 1700000000,
	EVENTS_PER_NODE = 24,
	BLOBS_PER_NODE = 2,
	NODES_AT_ONCE = 200, /* in one commit */
};

struct writing {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_clock clock;
	const struct bu_desired *desired;
	struct bu_event *events;
	size_t count;
	char **blobs;
	size_t blobs_count;
	const char *slow; /* "" = none is */
	char image_digest[65];
};

static void
must(int ok, const char *what, const struct bu_err *err)
{
	if (ok)
		return;
	fprintf(stderr, "journal: %s: %s\n", what, err->text);
	exit(1);
}

static void
note(struct writing *w, enum bu_event_kind kind, const char *node, json_t *body)
{
	row_init(&w->events[w->count++], kind, node, body);
}

static void
on_written(const struct bu_decided *decided, void *arg)
{
	must(decided->err == NULL, "append", decided->err);
}

static void
flush(struct writing *w)
{
	struct bu_err err = {0};

	must(bu_store_put_blobs(w->store, (const char *const *)w->blobs, w->blobs_count,
				&err) == 0,
	     "blobs", &err);
	bu_store_append(w->store, w->events, w->count, 1, on_written, NULL);
	bu_loop_step(w->loop, 0);
	for (size_t i = 0; i < w->blobs_count; i++)
		free(w->blobs[i]);
	w->blobs_count = w->count = 0;
}

static void
write_file(const char *dir, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	struct bu_err err = {0};

	must(bu_file_write(path, text, strlen(text), 0644, &err) == 0, path, &err);
}

static void
write_images(struct writing *w, const char *images)
{
	bu_autofree char *keys = bu_xasprintf("%s/../keys", images);
	bu_autofree char *private_pem = NULL, *public_pem = NULL;
	struct bu_err err = {0};

	must(bu_mkdir_p(images, 0755, &err) == 0, images, &err);
	must(bu_mkdir_p(keys, 0755, &err) == 0, keys, &err);
	must(bu_sign_key_create(&private_pem, &public_pem, &err) == 0, "key", &err);
	write_file(keys, "image.pub", public_pem);
	for (size_t i = 0; i < w->desired->images_count; i++)
		must(paper_image(images, w->desired->images[i].name,
				 "2026-01-01T00:00:00Z", private_pem, w->image_digest,
				 &err) == 0,
		     images, &err);
}

static void
put(struct writing *w, const json_t *value, char ret_digest[BU_DIGEST_SIZE])
{
	char *text = bu_json_canonical(value);

	bu_sha256_hex(text, strlen(text), ret_digest);
	w->blobs[w->blobs_count++] = text;
}

static void
write_site(struct writing *w, const struct bu_tree *tree)
{
	bu_autojson json_t *value = bu_tree_to_json(tree);
	char digest[BU_DIGEST_SIZE];

	put(w, value, digest);
	note(w, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 1));
	note(w, BU_EVENT_REVISION, "",
	     json_pack("{s:s,s:s}", "digest", digest, "commit", ""));
	note(w, BU_EVENT_APPLIED, "",
	     json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:[],s:s}", "rollout", "r-1", "plan",
		       digest, "revision", digest, "commit", "", "limit", "", "nodes",
		       (int)w->desired->nodes_count, "grants", "by", "bench"));
	flush(w);
}

static void
move(struct writing *w, const char *node, const char *from, const char *to,
     const char *on)
{
	bu_clock_advance(&w->clock, 30 * 1000);
	note(w, BU_EVENT_STATE, node,
	     json_pack("{s:s,s:s,s:s,s:s}", "from", from, "to", to, "on", on, "reason",
		       ""));
}

static void
step(struct writing *w, const char *node, const char *action, int number)
{
	bu_autofree char *id = bu_xasprintf("%s.%d.%s", node, number, action);

	note(w, BU_EVENT_INTENT, node,
	     json_pack("{s:s,s:i,s:i,s:s}", "step", id, "attempt", 1, "epoch", 1,
		       "action", action));
	note(w, BU_EVENT_OUTCOME, node,
	     json_pack("{s:s,s:i,s:s,s:s}", "step", id, "attempt", 1, "result", "done",
		       "detail", ""));
}

static json_t *
inventory_of(const struct bu_desired_node *node)
{
	return json_pack("{s:i,s:s,s:s,s:s,s:I,s:[{s:s,s:s,s:s,s:I,s:b,s:b,s:s}]}", "v",
			 1, "boot_id", "0", "kernel", "6.1.0-28-amd64", "firmware",
			 "uefi", "memory_bytes", (json_int_t)1 << 41, "disks", "name",
			 "nvme0n1", "path", "/dev/nvme0n1", "serial",
			 node->serial ? node->serial : "", "size_bytes",
			 (json_int_t)1 << 42, "rotational", 0, "removable", 0,
			 "signature", "present");
}

static void
write_order(struct writing *w, const struct bu_desired_node *node)
{
	bu_autojson json_t *facets = bu_facets_json(w->desired, node);
	char digest[BU_DIGEST_SIZE];

	put(w, facets, digest);
	note(w, BU_EVENT_ORDER, node->name,
	     json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i}", "rollout", "r-1", "class",
		       "install", "image", node->image->name, "digest", w->image_digest,
		       "facets", digest, "commit", "", "batch", -1));
}

/* All that the log keeps of one node's way from enrolled to ready. */
static void
write_node(struct writing *w, const struct bu_desired_node *node)
{
	static const char certificate[] = "{\"kind\":\"full\",\"text\":\"a certificate "
					  "has about this length, with "
					  "figures for each of eight rails and what "
					  "they were measured against\"}";
	bu_autojson json_t *inventory = inventory_of(node);
	char machine[BU_DIGEST_SIZE], digest[BU_DIGEST_SIZE];
	const char *name = node->name;

	put(w, inventory, digest);
	bu_sha256_hex(name, strlen(name), machine);
	machine[16] = '\0';
	write_order(w, node);
	move(w, name, "enrolled", "inspecting", "start");
	step(w, name, "boot-network", 1);
	note(w, BU_EVENT_ADMITTED, name,
	     json_pack("{s:s,s:s,s:s}", "step", "s", "machine", machine, "request",
		       digest));
	note(w, BU_EVENT_BOUND, name,
	     json_pack("{s:s,s:s,s:{s:s,s:s},s:s,s:{s:s,s:s,s:I,s:s,s:b}}", "machine",
		       machine, "inventory", digest, "told", "serial",
		       node->serial ? node->serial : "", "uuid", "", "firmware", "uefi",
		       "disk", "path", "/dev/nvme0n1", "serial",
		       node->serial ? node->serial : "", "size_bytes",
		       (json_int_t)1 << 42, "wanted", "smallest", "written", 1));
	move(w, name, "inspecting", "imaging", "inspected");
	step(w, name, "install", 2);
	note(w, BU_EVENT_INSTALLED, name,
	     json_pack("{s:s,s:s,s:s}", "step", "s", "image", node->image->name,
		       "digest", w->image_digest));
	move(w, name, "imaging", "booting", "imaged");
	step(w, name, "boot-disk", 3);
	note(w, BU_EVENT_BOOTED, name,
	     json_pack("{s:s,s:s}", "boot_id", "0", "where", "installed"));
	move(w, name, "booting", "validating", "booted");
	for (int i = 0; i < 2; i++)
		note(w, BU_EVENT_CERTIFICATE, name,
		     json_pack("{s:s,s:s}", "kind", i ? "boot" : "full", "text",
			       certificate));
	move(w, name, "validating", "joining", "proven");
	step(w, name, "join", 4);
	move(w, name, "joining", "ready", "joined");
	if (w->blobs_count == (size_t)NODES_AT_ONCE * BLOBS_PER_NODE)
		flush(w);
}

static void
write_pair(struct writing *w, const char *a, const char *b)
{
	double gbps =
		strcmp(a, w->slow) == 0 || strcmp(b, w->slow) == 0 ? 87.5 : 391.25;

	note(w, BU_EVENT_PAIR, "",
	     json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:s,s:s,s:i}", "probe",
		       "p-1", "rail", "fabric", "a", a, "b", b, "boot_a", "0", "boot_b",
		       "0", "ab_gbps", gbps, "ba_gbps", gbps - 0.75, "expect_gbps",
		       360.0, "lat_us", 2.25, "verdict", "pass", "error", "", "mtu",
		       4096));
	if (w->count == (size_t)NODES_AT_ONCE * EVENTS_PER_NODE)
		flush(w);
}

/* Each node with those that come after it. */
static void
write_pairs(struct writing *w, size_t pairs)
{
	size_t count = w->desired->nodes_count;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 1; k <= pairs && k < count; k++)
			write_pair(w, w->desired->nodes[i].name,
				   w->desired->nodes[(i + k) % count].name);
	flush(w);
}

int
main(int argc, char **argv)
{
	struct writing w = {0};
	struct bu_findings findings = {0};
	bu_autofree char *path = NULL;
	struct bu_desired *desired;
	struct bu_tree *tree;
	struct bu_err err = {0};

	if (argc < 4 || argc > 6) {
		fputs("usage: tests/support/make-journal TREE STATE-DIR IMAGES-DIR "
		      "[PAIRS [SLOW]]\n",
		      stderr);
		return 1;
	}
	w.slow = argc == 6 ? argv[5] : "";
	tree = bu_tree_load(argv[1], &err);
	must(tree != NULL, argv[1], &err);
	w.desired = desired = bu_profiles_load(tree, &findings);
	must(desired != NULL || bu_findings_err(&findings, &err) == 0, argv[1], &err);
	must(bu_mkdir_p(argv[2], 0700, &err) == 0, argv[2], &err);
	path = bu_xasprintf("%s/journal.db", argv[2]);
	bu_clock_fake(&w.clock, (int64_t)START_MS * 1000);
	w.loop = bu_loop_create(&w.clock);
	w.store = bu_store_open_sqlite(w.loop, path, &err);
	must(w.store != NULL, path, &err);
	w.events =
		bu_xcalloc((size_t)NODES_AT_ONCE * EVENTS_PER_NODE, sizeof(*w.events));
	w.blobs = bu_xcalloc((size_t)NODES_AT_ONCE * BLOBS_PER_NODE, sizeof(char *));
	write_images(&w, argv[3]);
	write_site(&w, tree);
	for (size_t i = 0; i < desired->nodes_count; i++)
		write_node(&w, &desired->nodes[i]);
	flush(&w);
	write_pairs(&w, argc > 4 ? (size_t)strtoul(argv[4], NULL, 10) : 0);
	printf("journal of %zu nodes\n", desired->nodes_count);
	free(w.events);
	free(w.blobs);
	bu_store_destroy(w.store);
	bu_loop_destroy(w.loop);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return 0;
}
