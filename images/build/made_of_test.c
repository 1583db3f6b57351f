/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the manifest says of an image's sources: of a recipe, of an archive, of an OCI
 * image in a folder and in a registry. The same sources make the same image anywhere.
 */
#include "images/build/made_of.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "images/build/import.h"
#include "images/store.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

#define MANIFEST "application/vnd.oci.image.manifest.v1+json"

/* Makes the image of a root that has one package. */
static const char script[] =
	"set -eu\n"
	"[ $1 = build ] || exit 0\n"
	"mkdir -p \"$WORK/root/var/lib/dpkg\" \"$WORK/root/etc\"\n"
	"[ -e \"$WORK/root/etc/os-release\" ] || {\n"
	"  echo VERSION_ID=12 >\"$WORK/root/etc/os-release\"\n"
	"  printf 'Package: bash\\nStatus: install ok installed\\nVersion: 1\\n"
	"Architecture: all\\n' >\"$WORK/root/var/lib/dpkg/status\"; }\n"
	"head -c 440 /dev/zero >\"$OUT/boot.bin\"\n"
	"head -c 65536 /dev/zero >\"$OUT/r.raw\"\n"
	"echo '{\"arch\": \"amd64\", \"kernel\": \"6\", \"kargs\": \"quiet\",\n"
	" \"boot_code\": \"boot.bin\", \"parts\": [{\"name\": \"root\", \"label\":\n"
	" \"r\", \"type\": \"4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709\", \"attrs\": 0,\n"
	" \"raw\": \"r.raw\", \"grow\": true}]}' >\"$OUT/image.json\"\n";

static char dir[40];

static char *
in(const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = in(name);

	ck_assert_int_eq(bu_file_write_text(path, 0755, NULL, "%s", text), 0);
}

static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && { %s; }", dir, commands);

	return system(text);
}

static void
setup(void)
{
	bu_autofree char *own = NULL, *site = NULL;

	strcpy(dir, "/tmp/bringup-made-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	own = in("own");
	site = in("site");
	ck_assert_int_eq(bu_mkdir_p(own, 0755, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(site, 0755, NULL), 0);
	put("own/plain.sh", script);
	put("own/import.sh", script);
	put("own/base.ini",
	    "[image]\nversion = 1.4\nscript = plain\nsuite = bookworm\n"
	    "[mirrors]\n"
	    "a = deb [arch=amd64] http://me:secret@mirror:3142/debian bookworm main\n"
	    "b = deb file:/srv/debian bookworm main\n");
	put("site/tools.ini", "[image]\nfrom = base\n[files]\n/etc/motd = motd 0644\n"
			      "[hooks]\n1 = trim\n[dkms_hooks]\n1 = mend\n"
			      "[sources]\ncuda = deb https://cuda/debian ./\n");
	put("site/motd", "hello");
	put("site/trim", "trim");
	put("site/mend", "mend");
}

static void
teardown(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* source NULL = by the recipe "tools". The image as it is in the cache then. */
static void
make(const char *cache_name, const char *source, struct bu_image *ret)
{
	bu_autofree char *cache = in(cache_name), *own = in("own"), *site = in("site");
	bu_autofree char *images = bu_xasprintf("%s/images", cache);
	const struct bu_image_build_opts opts = {.cache_dir = cache,
						 .agent_path = "/bin/sh",
						 .recipes_dir = own,
						 .recipe_dir = site};
	struct bu_err err = {0};
	int rc = source ? bu_image_import("tools", source, NULL, &opts, &err)
			: bu_image_build("tools", &opts, &err);

	ck_assert_msg(!rc, "%s", err.text);
	ck_assert_msg(!bu_image_load(images, "tools", NULL, ret, &err), "%s", err.text);
}

static const struct bu_image_source *
source_of(const struct bu_image *image, enum bu_source_kind kind)
{
	const struct bu_image_origin *origin = &image->manifest->origin;

	for (size_t i = 0; i < origin->source_count; i++)
		if (origin->sources[i].kind == kind)
			return &origin->sources[i];
	ck_abort_msg("no source of kind %s", bu_source_kinds[kind]);
	return NULL;
}

START_TEST(a_recipe_is_named_with_all_that_it_says)
{
	const struct bu_image_source *source;
	struct bu_image image;

	setup();
	make("cache", NULL, &image);
	ck_assert_str_eq(image.manifest->origin.version, "1.4");
	ck_assert_uint_eq(image.manifest->origin.source_count, 4);
	source = source_of(&image, BU_SOURCE_RECIPE);
	ck_assert_str_eq(source->name, "tools");
	source = source_of(&image, BU_SOURCE_MIRROR);
	ck_assert_str_eq(source->name, "http://mirror:3142/debian bookworm main");
	ck_assert_str_eq(source->host, "mirror:3142");
	source = &image.manifest->origin.sources[2];
	ck_assert_str_eq(source->name, "https://cuda/debian ./");
	ck_assert_str_eq(source->host, "cuda");
	source = source_of(&image, BU_SOURCE_PACKAGES);
	ck_assert_str_eq(source->name, "bookworm");
	/* SHA-256 of "bash 1 all\n" */
	ck_assert_str_eq(source->digest, "5cad3df55ac4ba30c5a04f2d0e462bb0"
					 "8ab8358171b67fdf5e43fba525372a32");
	bu_image_fini(&image);
	teardown();
}
END_TEST

START_TEST(two_builds_have_one_digest)
{
	struct bu_image one, two;

	setup();
	make("cache", NULL, &one);
	ck_assert_int_eq(sh("mkdir -p moved && "
			    "mv own site moved && ln -s moved/own own && "
			    "ln -s moved/site site"),
			 0);
	ck_assert_int_eq(setenv("http_proxy", "http://proxy:3128", 1), 0);
	ck_assert_int_eq(setenv("MIRRORS", "deb http://evil/debian sid main", 1), 0);
	ck_assert_int_eq(setenv("TZ", "Asia/Dubai", 1), 0);
	make("other", NULL, &two);
	ck_assert_str_eq(one.digest, two.digest);
	bu_image_fini(&one);
	bu_image_fini(&two);
	teardown();
}
END_TEST

/* The script's key is the same each time: what the recipe says makes it another one. */
START_TEST(each_part_of_a_recipe_makes_another_one)
{
	static const char *const changes[] = {
		"echo ';' >>site/tools.ini",      "echo ';' >>own/base.ini",
		"echo '#' >>own/plain.sh",        "echo more >>site/motd",
		"echo more >>site/trim",          "echo more >>site/mend",
		"sed -i s/1.4/1.5/ own/base.ini",
	};
	char before[BU_DIGEST_SIZE];
	struct bu_image image;

	setup();
	make("cache", NULL, &image);
	for (size_t i = 0; i < BU_LEN(changes); i++) {
		strcpy(before, source_of(&image, BU_SOURCE_RECIPE)->digest);
		bu_image_fini(&image);
		ck_assert_int_eq(sh(changes[i]), 0);
		make("cache", NULL, &image);
		ck_assert_msg(strcmp(before,
				     source_of(&image, BU_SOURCE_RECIPE)->digest) != 0,
			      "%s", changes[i]);
	}
	ck_assert_str_eq(image.manifest->origin.version, "1.5");
	bu_image_fini(&image);
	teardown();
}
END_TEST

/* --- imports --- */

/* A system that passes for one, in an archive and as the one layer of an image. */
static void
make_tree(void)
{
	ck_assert_int_eq(
		sh("mkdir -p t/usr/bin t/usr/sbin t/usr/lib/systemd t/boot t/etc "
		   "t/usr/lib/modules/6.1 oci/blobs/sha256 && cd t && "
		   "ln -s usr/bin bin && ln -s usr/sbin sbin && ln -s usr/lib lib && "
		   "for f in bin/sh bin/systemctl sbin/sshd lib/systemd/systemd; do "
		   "echo x >$f && chmod 755 $f; done && "
		   "ln -s /lib/systemd/systemd sbin/init && echo >boot/vmlinuz-6.1 && "
		   "echo >lib/modules/6.1/modules.dep && touch etc/shadow && "
		   "chmod 640 etc/shadow && mkdir etc/ssh && "
		   "echo 'Include /etc/ssh/sshd_config.d/*.conf' >etc/ssh/sshd_config "
		   "&& echo VERSION_ID=9.4 >etc/os-release && "
		   "tar --owner=0 --group=0 -cf ../system.tar . && cd .. && "
		   "mkdir again && cp system.tar again"),
		0);
}

/* Writes <dir>/oci/blobs/sha256/DIGEST; the digest is owned. */
static char *
store(const char *text, size_t size)
{
	char digest[BU_DIGEST_SIZE];
	bu_autofree char *path = NULL;

	bu_sha256_hex(text, size, digest);
	path = bu_xasprintf("%s/oci/blobs/sha256/%s", dir, digest);
	ck_assert_int_eq(bu_file_write(path, text, size, 0644, NULL), 0);
	return bu_xstrdup(digest);
}

/* label: a member of the configuration, with a comma behind it. The manifest's digest.
 */
static char *
make_oci(const char *label)
{
	bu_autofree char *path = in("system.tar"), *index = in("oci/index.json");
	size_t size;
	bu_autofree char *tar = bu_file_read(path, 0, &size, NULL);
	bu_autofree char *layer = store(tar, size);
	bu_autofree char *config_text = bu_xasprintf(
		"{%s\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":"
		"{\"type\":\"layers\",\"diff_ids\":[\"sha256:%s\"]}}",
		label, layer);
	bu_autofree char *config = store(config_text, strlen(config_text));
	bu_autofree char *text = bu_xasprintf(
		"{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST "\",\"config\":"
		"{\"mediaType\":\"application/vnd.oci.image.config.v1+json\","
		"\"digest\":\"sha256:%s\",\"size\":%zu},\"layers\":[{\"mediaType\":"
		"\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"sha256:%s\","
		"\"size\":%zu}]}",
		config, strlen(config_text), layer, size);
	char *digest = store(text, strlen(text));

	ck_assert_int_eq(
		bu_file_write_text(
			index, 0644, NULL,
			"{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"" MANIFEST
			"\",\"digest\":\"sha256:%s\",\"size\":%zu,\"annotations\":"
			"{\"org.opencontainers.image.ref.name\":\"7\"}}]}",
			digest, strlen(text)),
		0);
	return digest;
}

START_TEST(an_archive_is_named_without_its_folder)
{
	bu_autofree char *tar = NULL, *again = NULL;
	char digest[BU_DIGEST_SIZE];
	const struct bu_image_source *source;
	struct bu_image one, two;

	BU_NEEDS("tar");
	setup();
	make_tree();
	tar = in("system.tar");
	again = in("again/system.tar");
	ck_assert_int_eq(bu_sha256_file(tar, digest, NULL), 0);
	make("cache", tar, &one);
	make("other", again, &two);
	ck_assert_uint_eq(one.manifest->origin.source_count, 1);
	source = source_of(&one, BU_SOURCE_TAR);
	ck_assert_str_eq(source->name, "system.tar");
	ck_assert_str_eq(source->digest, digest);
	ck_assert_str_eq(one.manifest->origin.version, "9.4");
	ck_assert_str_eq(one.digest, two.digest);
	bu_image_fini(&one);
	bu_image_fini(&two);
	teardown();
}
END_TEST

START_TEST(a_folder_of_oci_is_named_by_its_manifest)
{
	static const struct {
		const char *label, *version;
	} rows[] = {
		{"", "7"},
		{"\"config\":{\"Labels\":{\"org.opencontainers.image.version\":"
		 "\"2.0\"}},",
		 "2.0"},
		{"\"config\":{\"Labels\":{\"org.opencontainers.image.version\":"
		 "\"2\\u0007\"}},",
		 "7"},
		{"\"config\":{\"Labels\":null},", "7"},
	};

	BU_NEEDS("tar");
	setup();
	make_tree();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *digest = make_oci(rows[i].label);
		bu_autofree char *source = bu_xasprintf("oci-layout:%s/oci:7", dir);
		struct bu_image image;

		make("cache", source, &image);
		ck_assert_str_eq(image.manifest->origin.version, rows[i].version);
		ck_assert_str_eq(source_of(&image, BU_SOURCE_OCI_LAYOUT)->name, "7");
		ck_assert_str_eq(source_of(&image, BU_SOURCE_OCI_LAYOUT)->digest,
				 digest);
		bu_image_fini(&image);
	}
	teardown();
}
END_TEST

/* Until somebody listens there. */
static void
await(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (int i = 0; i < 2000; i++) {
		bu_autoclose int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
			return;
		usleep(10000);
	}
	ck_abort_msg("no server on port %d", port);
}

/* A registry of files: what GET asks for lies below <dir>/www. */
static pid_t
serve(int port)
{
	bu_autofree char *www = in("www"), *at = bu_xasprintf("127.0.0.1:%d", port);
	pid_t pid = fork();

	if (pid == 0) {
		execlp("busybox", "busybox", "httpd", "-f", "-p", at, "-h", www, NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	await(port);
	return pid;
}

START_TEST(a_registry_is_named_by_its_host)
{
	bu_autofree char *digest = NULL, *tag = NULL, *exact = NULL, *host = NULL;
	const struct bu_image_source *source;
	struct bu_image image;
	int port = free_port();
	pid_t server;

	BU_NEEDS("tar", "busybox");
	setup();
	make_tree();
	digest = make_oci("");
	ck_assert_int_eq(
		sh("mkdir -p www/v2/team/node/manifests www/v2/team/node/blobs && "
		   "for f in oci/blobs/sha256/*; do "
		   "for k in blobs manifests; do "
		   "cp $f www/v2/team/node/$k/sha256:${f##*/}; done; done && "
		   "grep -l '\"layers\":\\[' oci/blobs/sha256/* | "
		   "{ read f && cp $f www/v2/team/node/manifests/3; }"),
		0);
	server = serve(port);
	host = bu_xasprintf("localhost:%d", port);
	tag = bu_xasprintf("oci://%s/team/node:3", host);
	exact = bu_xasprintf("oci://%s/team/node@sha256:%s", host, digest);
	make("cache", tag, &image);
	source = source_of(&image, BU_SOURCE_OCI);
	ck_assert_str_eq(source->name, tag);
	ck_assert_str_eq(source->host, host);
	ck_assert_str_eq(source->digest, digest);
	ck_assert_str_eq(image.manifest->origin.version, "3");
	bu_image_fini(&image);
	make("cache", exact, &image);
	ck_assert_str_eq(source_of(&image, BU_SOURCE_OCI)->name, exact);
	ck_assert_str_eq(image.manifest->origin.version, "9.4");
	bu_image_fini(&image);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	teardown();
}
END_TEST

BU_UNIT("made_of", a_recipe_is_named_with_all_that_it_says, two_builds_have_one_digest,
	each_part_of_a_recipe_makes_another_one, an_archive_is_named_without_its_folder,
	a_folder_of_oci_is_named_by_its_manifest, a_registry_is_named_by_its_host)
