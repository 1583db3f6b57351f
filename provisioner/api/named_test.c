/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile names on the appliance never shows what is not meant for nodes. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/networks.h"
#include "base/text.h"
#include "profiles/load/named.h"
#include "tests/support/desk.h"

static struct desk desk;

/* A path below the site's folder. */
static char *
at(const char *rest)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", desk.site.rig.dir, rest);
	return path;
}

static void
put(const char *rest, const char *text, mode_t mode)
{
	ck_assert_int_eq(bu_file_write_text(at(rest), mode, NULL, "%s", text), 0);
}

/* st/ is the state directory; secrets/ and others/ may be named. */
static void
setup(void)
{
	char secrets[128], images[256], state[128];
	struct bu_err err = {0};

	begin(&desk);
	ck_assert_int_eq(bu_mkdir_p(at("st/keys"), 0700, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(at("secrets"), 0700, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(at("others"), 0700, NULL), 0);
	put("st/keys/ca.key", desk.private_pem, 0600);
	put("secrets/ca.pem", bu_trust_ca(desk.site.rig.trust), 0600);
	put("secrets/key.pem", desk.private_pem, 0600);
	put("secrets/ldap", "hunter2\n", 0600);
	snprintf(secrets, sizeof(secrets), "%s", at("secrets"));
	snprintf(images, sizeof(images), "%s,%s", desk.site.images, at("others"));
	snprintf(state, sizeof(state), "%s", at("st"));
	ck_assert_msg(
		bu_confine_begin(&(struct bu_confine_opts){secrets, images, state},
				 &err) == 0,
		"%s", err.text);
}

static void
teardown(void)
{
	bu_confine_end();
	end(&desk);
}

/* A plan with the path between these lines, before the rest of [image debian12]. */
static void
refused(const char *before, const char *path, const char *after, const char *key,
	const char *words)
{
	bu_autofree char *to = bu_xasprintf("%s%s%s", before, path, after);
	bu_autojson json_t *answer = plan(&desk, "[image debian12]\n", to, NULL, 400);

	says(answer, "site.ini:");
	says(answer, key);
	says(answer, path);
	says(answer, words);
}

#define IMAGE "[image debian12]\n"
#define ACCESS "[access]\ndirectory = ldaps://a\ndirectory_base = dc=a\n"
#define NO_IMAGES "is not beneath image_dirs of bringupd.conf ("
#define NO_SECRET "is not beneath secrets_dir of bringupd.conf ("
#define NO_PUBLIC "is not beneath secrets_dir or image_dirs of bringupd.conf ("

START_TEST(what_lies_elsewhere_is_refused_before_it_is_applied)
{
	bu_autofree char *key = NULL;
	const char *dir = IMAGE "path = ";

	setup();
	key = bu_xstrdup(at("st/keys/ca.key"));
	refused(dir, at("st"), "\n", "[image debian12] path: ", NO_IMAGES);
	refused(dir, at("st/keys"), "\n", "[image debian12] path: ", NO_IMAGES);
	refused(IMAGE "key = file:", key, "\n", "[image debian12] key: ", NO_PUBLIC);
	refused("[policy]\nimage_keys = file:", key, "\n" IMAGE,
		"[policy] image_keys: ", NO_PUBLIC);
	ck_assert_int_eq(symlink("../st/keys/ca.key", at("secrets/link")), 0);
	ck_assert_int_eq(symlink("../st", at("others/st")), 0);
	refused(IMAGE "key = file:", at("secrets/link"), "\n",
		"[image debian12] key: ", "levels of symbolic links");
	refused(dir, at("others/st"), "\n", "[image debian12] path: ", "by a link");
	refused(ACCESS "directory_ca = file:", key, "\n" IMAGE,
		"[access] directory_ca: ", NO_PUBLIC);
	refused(ACCESS "directory_ca = file:", at("secrets/key.pem"), "\n" IMAGE,
		"[access] directory_ca: ", "PRIVATE KEY'; only certificates may be");
	teardown();
}
END_TEST

START_TEST(a_secret_or_a_program_lies_where_secrets_do)
{
	bu_autofree char *before = NULL, *to = NULL;
	bu_autojson json_t *good = NULL;

	setup();
	before = bu_xasprintf(ACCESS "directory_ca = file:%s\ndirectory_user = cn=n\n"
				     "directory_key = ",
			      at("secrets/ca.pem"));
	for (int exec = 0; exec < 2; exec++) {
		bu_autofree char *head =
			bu_xasprintf("%s%s:", before, exec ? "exec" : "file");

		refused(head, at("st/keys/ca.key"), "\n" IMAGE,
			"[access] directory_key: ", NO_SECRET);
		refused(head, "/bin/true", "\n" IMAGE,
			"[access] directory_key: ", NO_SECRET);
		refused(head, at("others/helper"), "\n" IMAGE,
			"[access] directory_key: ", NO_SECRET);
	}
	refused("[policy]\nscanner = exec:", "/bin/true", "\n" IMAGE,
		"[policy] scanner: ", NO_SECRET);
	/* and what may be named is planned */
	paint(&desk, at("others"), "2026-03-03T00:00:00Z");
	put("secrets/image.pub", desk.public_pem, 0600);
	to = bu_xasprintf("%sfile:%s\n" IMAGE "path = %s\nkey = file:%s\n", before,
			  at("secrets/ldap"), at("others"), at("secrets/image.pub"));
	good = plan(&desk, IMAGE, to, NULL, 200);
	ck_assert_ptr_nonnull(steps_of(good));
	teardown();
}
END_TEST

static void
nobody_gets(const char *path)
{
	json_decref(site_call(&desk.site, desk.site.boot, "GET", path, "", 404));
}

/* Whatever the applied profile says: it may be of before a folder was taken out. */
START_TEST(only_what_a_verified_manifest_lists_is_served)
{
	bu_autofree char *to = NULL, *one = NULL, *digests = NULL;
	char digest[BU_DIGEST_SIZE];

	setup();
	/* the state directory, applied */
	to = bu_xasprintf("[image debian12]\npath = %s\n", at("st"));
	ck_assert_int_eq(paper_image(at("st"), "debian12", "2026-03-03T00:00:00Z",
				     desk.private_pem, digest, NULL),
			 0);
	put("st/debian12/ca.key", "the CA's", 0644);
	rig_revise(&desk.site.rig, 3, "[image debian12]\n", to);
	nobody_gets("/images/debian12/ca.key");
	nobody_gets("/images/debian12/manifest.json");
	digests = bu_xasprintf("/digests/%s/images/debian12/manifest.json", digest);
	nobody_gets(digests);
	/* an image in its place: its own files and no others */
	rig_revise(&desk.site.rig, 3, NULL, NULL);
	put("images/debian12/ca.key", "x", 0644);
	put("images/debian12/root.frames.tmp", "x", 0644);
	put("images/debian12/.root.frames", "x", 0644);
	one = site_text(&desk.site, desk.site.boot, "/images/debian12/manifest.json",
			200);
	free(site_text(&desk.site, desk.site.boot, "/images/debian12/root.frames",
		       200));
	nobody_gets("/images/debian12/ca.key");
	nobody_gets("/images/debian12/root.frames.tmp");
	nobody_gets("/images/debian12/.root.frames");
	nobody_gets("/images/debian12/");
	nobody_gets("/images/debian12");
	nobody_gets("/images/");
	/* a listed file that is a link */
	ck_assert_int_eq(unlink(at("images/debian12/root.frames")), 0);
	ck_assert_int_eq(
		symlink("../../st/keys/ca.key", at("images/debian12/root.frames")), 0);
	nobody_gets("/images/debian12/root.frames");
	ck_assert_int_eq(unlink(at("images/debian12/root.frames")), 0);
	ck_assert_int_eq(link(at("st/keys/ca.key"), at("images/debian12/root.frames")),
			 0);
	nobody_gets("/images/debian12/root.frames");
	/* a manifest that nobody who counts has signed */
	one[strcspn(one, "q")] = 'Q';
	put("images/debian12/manifest.json", one, 0644);
	nobody_gets("/images/debian12/manifest.json");
	teardown();
}
END_TEST

/* A key of the profile must not carry another key to the nodes. */
START_TEST(no_private_key_goes_where_public_ones_are_meant)
{
	struct bu_desired_image image = {.name = (char *)"debian12"};
	bu_autofree char *keys = NULL, *both = NULL;
	struct bu_err err = {0};

	setup();
	both = bu_xasprintf("%s%s", desk.public_pem, desk.private_pem);
	put("secrets/both.pem", both, 0600);
	image.key_path = at("secrets/both.pem");
	keys = bu_work_image_keys(&desk.site.api.work, &image, NULL, &err);
	ck_assert_ptr_null(keys);
	ck_assert_ptr_nonnull(strstr(err.text, "something else than public keys"));
	teardown();
}
END_TEST

#define POOL                                                                           \
	"[pool train]\nnodes = node[001-003]\nhardware = vm\nimage = debian12\n"       \
	"power = "

/* A name is looked at when it is resolved; another driver has no password. */
START_TEST(a_bmc_outside_of_the_networks_is_refused_before_it_is_applied)
{
	static const struct {
		const char *bmc;
		int refused;
	} rows[] = {
		{"https://203.0.113.5", 1},
		{"https://203.0.113.5:8443/redfish/v1/Systems/1", 1},
		{"https://[2001:db8::5]", 1},
		{"https://127.0.0.1", 1},
		{"https://10.76.0.5", 0},
		{"https://bmc2.oob", 0},
	};

	setup();
	ck_assert_int_eq(bu_networks_begin(BU_BMC_NETWORKS_DEFAULT, NULL), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *to = bu_xasprintf(
			"[node node002]\nbmc = %s\n" POOL "redfish\n", rows[i].bmc);
		bu_autojson json_t *answer = plan(&desk, POOL "libvirt\n", to, NULL,
						  rows[i].refused ? 400 : 200);

		if (!rows[i].refused)
			continue;
		says(answer, "node002: bmc ");
		says(answer, rows[i].bmc);
		says(answer, "is in no network of bmc_networks in bringupd.conf");
	}
	bu_networks_end();
	teardown();
}
END_TEST

static void
note_kind(const struct bu_named *named, void *arg)
{
	bu_text_add(arg, "\n", "%s.%s %d %s", named->key->section, named->key->key,
		    (int)named->kind, named->path);
}

/* Each key that names a file of the appliance is one of these. */
START_TEST(every_key_that_names_a_file_is_judged)
{
	static const char *const own[] = {"image.path", "cluster.slurm_conf"};
	static const char *const nodes[] = {"user.home", "user.shell",
					    "disks.scratch_mount", "mount.path",
					    "mount.write"};
	struct bu_desired desired = {0};
	struct bu_desired_pool pool = {.name = (char *)"p",
				       .bmc_credentials = (char *)"file:/s/bmc",
				       .bmc_credentials_before = (char *)"env:X"};
	bu_autofree char *text = NULL;
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		bu_autofree char *name =
			bu_xasprintf("%s.%s", keys[i].section, keys[i].key);
		int known = keys[i].type != BU_KEY_PATH;

		for (size_t k = 0; k < BU_LEN(own); k++)
			known |= strcmp(own[k], name) == 0;
		for (size_t k = 0; k < BU_LEN(nodes); k++)
			known |= strcmp(nodes[k], name) == 0;
		ck_assert_msg(known, "%s: is it a path of the appliance?", name);
	}
	pool.origins = bu_xcalloc(count, sizeof(*pool.origins));
	for (size_t i = 0; i < count; i++)
		pool.origins[i].line = 1;
	desired.pools = &pool;
	desired.pools_count = 1;
	bu_named_each(&desired, note_kind, &text);
	ck_assert_str_eq(text, "pool.bmc_credentials 0 /s/bmc");
	free(pool.origins);
}
END_TEST

RIG_UNIT("named", what_lies_elsewhere_is_refused_before_it_is_applied,
	 a_secret_or_a_program_lies_where_secrets_do,
	 only_what_a_verified_manifest_lists_is_served,
	 no_private_key_goes_where_public_ones_are_meant,
	 a_bmc_outside_of_the_networks_is_refused_before_it_is_applied,
	 every_key_that_names_a_file_is_judged)
