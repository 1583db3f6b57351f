/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the program of [policy] scanner on the SBOMs of images; called before a plan is
 * made, and by planning.c for the answer. Invariant: an image is accepted by an exit
 * status of 0 and by nothing else; whatever goes wrong keeps the image out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/worker.h"
#include "images/store.h"
#include "provisioner/api/api.h"

/* DEADLINE_MS is less than a command waits for its answer. A refusal holds longer than
 * that, so that the answers of all images are there together. */
enum {
	DEADLINE_MS = 45 * 1000,
	ACCEPTED_MS = 3600 * 1000,
	KEPT_OUT_MS = 60 * 1000,
	OUTPUT_MAX = 64 * 1024,
	SAYS_MAX = 300,
};

struct bu_scan {
	struct bu_scan *next;
	const struct bu_api *api;
	char *scanner;
	char digest[BU_DIGEST_SIZE]; /* of the image */
	char *dir;                   /* has the copy of the SBOM while the job runs */
	struct bu_job *job;          /* NULL = answered */
	char *kept_out;              /* NULL = accepted */
	int64_t answered_ms;
};

/* The digest of the image whose manifest is this file, as long as the file is the same.
 */
struct bu_scan_manifest {
	struct bu_scan_manifest *next;
	char *path;
	struct stat file;
	char digest[BU_DIGEST_SIZE];
};

static int64_t
now_ms(const struct bu_api *api)
{
	return bu_loop_now_ms(api->fleet->loop);
}

static void
scan_end(struct bu_scan *scan)
{
	scan->job = NULL;
	scan->answered_ms = now_ms(scan->api);
	if (scan->dir)
		bu_ignore(bu_remove_tree(scan->dir, NULL));
	free(scan->dir);
	scan->dir = NULL;
}

static void
scan_destroy(struct bu_scan *scan)
{
	if (scan->job)
		bu_job_cancel(scan->job);
	scan_end(scan);
	free(scan->scanner);
	free(scan->kept_out);
	free(scan);
}

static void
not_judged(struct bu_scan *scan, const char *why)
{
	scan->kept_out = bu_xasprintf("could not be judged by the scanner: %s", why);
}

/* The lines that a program printed, in one; owned. */
static char *
one_line(const char *printed)
{
	bu_autofree char *copy = bu_xstrdup(printed);
	char *next = copy, *line, *all = NULL;

	while ((line = strsep(&next, "\n")) && (!all || strlen(all) < SAYS_MAX)) {
		bu_text_clean(line);
		line += strspn(line, " ");
		if (*line)
			bu_text_add(&all, "; ", "%s", line);
	}
	return all ? all : bu_xstrdup("it did not say why");
}

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_scan *scan = arg;
	bu_autofree char *says = NULL;

	if (err && result->exit_code == 1 && err->kind != BU_ERR_TIMEOUT) {
		says = one_line(*result->out ? result->out : result->errs);
		scan->kept_out = bu_xasprintf("is refused by the scanner: %s", says);
	} else if (err) {
		not_judged(scan, err->text);
	}
	scan_end(scan);
	if (scan->api->server)
		bu_server_wake(scan->api->server);
}

/* Scanners tell the kind of a list by the name of its file. Owned. */
static char *
write_sbom(struct bu_scan *scan, const struct bu_image *image, struct bu_err *err)
{
	bu_autofree char *text = bu_image_sbom(image, err);
	bu_autofree char *path = NULL;
	char dir[] = "/tmp/bringup-scan-XXXXXX";

	if (!text)
		return NULL;
	if (!mkdtemp(dir)) {
		bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
		return NULL;
	}
	scan->dir = bu_xstrdup(dir);
	path = bu_xasprintf("%s/%s.spdx.json", dir, image->manifest->name);
	if (bu_file_write(path, text, strlen(text), 0600, err) != 0)
		return NULL;
	return bu_steal(&path);
}

static int
scan_start(struct bu_scan *scan, const struct bu_image *image, struct bu_err *err)
{
	bu_autofree char *program = bu_secret_program(scan->scanner, err);
	bu_autofree char *sbom = program ? write_sbom(scan, image, err) : NULL;
	const char *const argv[] = {program, sbom, NULL};

	if (!sbom)
		return -1;
	scan->job = bu_job_start(scan->api->fleet->loop,
				 &(struct bu_job_opts){.argv = argv,
						       .cwd = scan->dir,
						       .deadline_ms = DEADLINE_MS,
						       .output_max = OUTPUT_MAX},
				 on_ended, scan, err);
	return scan->job ? 0 : -1;
}

static struct bu_scan *
scan_find(const struct bu_api *api, const char *scanner, const char *digest)
{
	struct bu_scan *scan = api->scans;

	while (scan && (strcmp(scan->scanner, scanner) != 0 ||
			strcmp(scan->digest, digest) != 0))
		scan = scan->next;
	return scan;
}

static struct bu_scan *
scan_add(struct bu_api *api, const char *scanner, const struct bu_image *image)
{
	struct bu_scan *scan = bu_xcalloc(1, sizeof(*scan));
	struct bu_err err = {0};

	scan->api = api;
	scan->scanner = bu_xstrdup(scanner);
	memcpy(scan->digest, image->digest, sizeof(scan->digest));
	scan->next = api->scans;
	api->scans = scan;
	if (scan_start(scan, image, &err) != 0) {
		not_judged(scan, err.text);
		scan_end(scan);
	}
	return scan;
}

/* Advisories change, and so do the causes that keep a scanner from judging. */
static void
forget_old(struct bu_api *api)
{
	struct bu_scan **at = &api->scans;

	while (*at) {
		struct bu_scan *scan = *at;
		int64_t holds_ms = scan->kept_out ? KEPT_OUT_MS : ACCEPTED_MS;

		if (scan->job || now_ms(api) - scan->answered_ms < holds_ms) {
			at = &scan->next;
		} else {
			*at = scan->next;
			scan_destroy(scan);
		}
	}
}

static int
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Of the file at this path, which need not exist; digest "" = to be loaded. */
static struct bu_scan_manifest *
manifest_of(struct bu_api *api, const char *path)
{
	struct bu_scan_manifest *seen = api->scan_manifests;
	struct stat file = {0};

	while (seen && strcmp(seen->path, path) != 0)
		seen = seen->next;
	if (!seen) {
		seen = bu_xcalloc(1, sizeof(*seen));
		seen->path = bu_xstrdup(path);
		seen->next = api->scan_manifests;
		api->scan_manifests = seen;
	}
	if (stat(path, &file) != 0 || !is_same(&file, &seen->file))
		seen->digest[0] = '\0';
	seen->file = file;
	return seen;
}

/* An image that cannot be loaded is the plan's to name. Whoever waits asks at each
 * change of the site; the image is read once for each change of its manifest. */
static int
is_out(struct bu_api *api, const struct bu_desired_image *image)
{
	const char *images = image->path ? image->path : api->work.images_dir;
	bu_autofree char *dir = bu_image_dir(images, image->name, NULL);
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	struct bu_scan_manifest *seen = manifest_of(api, path);
	struct bu_scan *scan =
		*seen->digest ? scan_find(api, image->scanner, seen->digest) : NULL;
	struct bu_image loaded;

	if (scan)
		return scan->job != NULL;
	if (bu_work_load_image(&api->work, image, &loaded, NULL) != 0)
		return 0;
	memcpy(seen->digest, loaded.digest, sizeof(seen->digest));
	scan = scan_find(api, image->scanner, loaded.digest);
	if (!scan)
		scan = scan_add(api, image->scanner, &loaded);
	bu_image_fini(&loaded);
	return scan->job != NULL;
}

int
bu_api_scan(struct bu_api *api, const struct bu_desired *desired)
{
	int out = 0;

	forget_old(api);
	for (size_t i = 0; i < desired->images_count; i++)
		if (desired->images[i].scanner)
			out |= is_out(api, &desired->images[i]);
	return out;
}

void
bu_api_scanned(const struct bu_api *api, const struct bu_desired_image *image,
	       const char *digest, char *ret, size_t size)
{
	const struct bu_scan *scan =
		image->scanner ? scan_find(api, image->scanner, digest) : NULL;
	const char *why = "";

	if (image->scanner && (!scan || scan->job))
		why = "was not judged by the scanner; ask again";
	else if (scan && scan->kept_out)
		why = scan->kept_out;
	bu_text_copy(ret, size, why);
}

void
bu_api_forget_scans(struct bu_api *api)
{
	while (api->scans) {
		struct bu_scan *scan = api->scans;

		api->scans = scan->next;
		scan_destroy(scan);
	}
	while (api->scan_manifests) {
		struct bu_scan_manifest *seen = api->scan_manifests;

		api->scan_manifests = seen->next;
		free(seen->path);
		free(seen);
	}
}
