/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes: one on the other, and each mistake with its line. */
#include "images/build/recipe_ini.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

#define PRINT "0123456789ABCDEF0123456789ABCDEF01234567"

static char dir[40], own[64];

static void
write_in(const char *folder, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", folder, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-ini-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(own, sizeof(own), "%s/own", dir);
	ck_assert_int_eq(bu_mkdir_p(own, 0755, NULL), 0);
	write_in(own, "base.ini",
		 "; what all have\n[image]\nscript = debian\nsuite = bookworm\n"
		 "packages =\n\tone two\n\tthree\n; between\nroot_mib = 100\n"
		 "[hooks]\na = base.sh\n[dkms_hooks]\na = base.sh\n"
		 "[mirrors]\nmain = deb http://below/ base main\n");
	write_in(own, "base.sh", "");
	write_in(dir, "motd.txt", "hello");
	write_in(dir, "trim.sh", "");
}

static int
load(const char *text, struct bu_recipe_ini *ret, struct bu_err *err)
{
	memset(err, 0, sizeof(*err));
	write_in(dir, "site.ini", text);
	return bu_recipe_ini_load(dir, "site", own, ret, err);
}

START_TEST(a_recipe_lies_over_another)
{
	struct bu_recipe_ini ini;
	struct bu_err err;
	bu_autofree char *files = NULL, *hooks = NULL;
	char **env;
	int packages = 0, dkms_hooks = 0;

	setup();
	ck_assert_msg(!load("[image]\nfrom = base\npackages = four\n five\n"
			    "root_mib = 200\n"
			    "[files]\n/etc/motd = motd.txt 0640\n[hooks]\n9 = trim.sh\n"
			    "[dkms_hooks]\n9 = trim.sh\n"
			    "[mirrors]\nmain = deb http://mirror/\n site main\n"
			    "[sources]\ncuda = deb https://mirror/ ./\n"
			    "[keys]\n/usr/share/keyrings/cuda.gpg = " PRINT "\n",
			    &ini, &err),
		      "%s", err.text);
	ck_assert_str_eq(ini.packages, "one two three four five");
	ck_assert_str_eq(ini.script, "debian");
	ck_assert_str_eq(ini.suite, "bookworm");
	ck_assert_str_eq(ini.root_mib, "200");
	files = bu_xasprintf("%s/motd.txt 0640 /etc/motd", dir);
	ck_assert_str_eq(ini.files, files);
	hooks = bu_xasprintf("%s/base.sh\n%s/trim.sh", own, dir);
	ck_assert_str_eq(ini.hooks, hooks);
	ck_assert_str_eq(ini.dkms_hooks, hooks);
	ck_assert_str_eq(ini.sources, "deb https://mirror/ ./");
	ck_assert_str_eq(ini.mirrors, "deb http://mirror/ site main");
	ck_assert_str_eq(ini.keys, "/usr/share/keyrings/cuda.gpg " PRINT);
	env = bu_recipe_ini_env(&ini);
	for (char **each = env; *each; each++) {
		packages += !strcmp(*each, "PACKAGES=one two three four five");
		dkms_hooks += !strncmp(*each, "DKMS_HOOKS=/", 12);
		free(*each);
	}
	free(env);
	ck_assert_int_eq(packages, 1);
	ck_assert_int_eq(dkms_hooks, 1);
	bu_recipe_ini_fini(&ini);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(mistakes_have_their_line)
{
	static const char *const rows[][2] = {
		{"[image]\nfrom = base\npackage = x\n", "site.ini:3: [image] package"},
		{"[image]\nfrom = base\nsuite = a\nsuite = b\n", "twice"},
		{"[image]\nsuite =\nfrom = base\n",
		 "site.ini:2: [image] suite: it has no"},
		{"suite = a\n", "site.ini:1"},
		{"[image]\nsuite\n", "site.ini:2"},
		{"[image\n", "ends with ]"},
		{"[disk]\n", "unknown section 'disk'"},
		{"[image]\nfrom = nothing\n", "nothing.ini"},
		{"[image]\nfrom = site\n", "more than 8 recipes"},
		{"[image]\nsuite = a\n", "[image] script"},
		{"[image]\nscript = ../../bin/x\n", "[image] script"},
		{"[files]\netc/motd = motd.txt 0644\n", "absolute path"},
		{"[files]\n/etc/../motd = motd.txt 0644\n", "absolute path"},
		{"[files]\n/etc/motd = motd.txt\n", "its mode"},
		{"[files]\n/etc/motd = motd.txt 0999\n", "its mode"},
		{"[files]\n/etc/motd = missing.txt 0644\n", "no such file"},
		{"[files]\n/etc/motd = ../../etc/passwd 0644\n", "no such file"},
		{"[hooks]\na = missing.sh\n",
		 "site.ini:2: [hooks] a: there is no such"},
		{"[sources]\na = https://mirror/\n", "sources.list(5)"},
		{"[mirrors]\na = https://mirror/\n", "sources.list(5)"},
		{"[keys]\na.gpg = " PRINT "\n",
		 "site.ini:2: [keys] a.gpg: an absolute"},
		{"[keys]\n/a b.gpg = " PRINT "\n", "an absolute"},
		{"[keys]\n/a.gpg = 0123456789ABCDEF\n", "fingerprint"},
		{"[keys]\n/a.gpg = " PRINT "0\n", "fingerprint"},
		{"[keys]\n/a.gpg = x123456789ABCDEF0123456789ABCDEF01234567\n",
		 "fingerprint"},
	};

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_recipe_ini ini;
		struct bu_err err;

		ck_assert_msg(load(rows[i][0], &ini, &err) == -1, "%s", rows[i][0]);
		ck_assert_msg(strstr(err.text, rows[i][1]) != NULL, "%s: %s",
			      rows[i][1], err.text);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* What comes with bringup is read: each has a release, a kernel, the cluster's client
 * and RDMA, and can be built on a machine whose apt has nothing of the release. */
START_TEST(our_own_recipes_are_right)
{
	static const char *const names[][2] = {
		{"debian12", "bookworm"},     {"debian13", "trixie"},
		{"ubuntu2204", "jammy"},      {"ubuntu2404", "noble"},
		{"debian12-gpu", "bookworm"}, {"debian13-gpu", "trixie"},
		{"ubuntu2204-gpu", "jammy"},  {"ubuntu2404-gpu", "noble"},
	};
	static const char *const parts[] = {"linux-image-", " slurmd ",
					    "openssh-server", "ibverbs-providers",
					    "systemd-sysv"};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		struct bu_recipe_ini ini;
		struct bu_err err = {0};
		bu_autofree char *mirror =
			bu_xasprintf(" %s-security main", names[i][1]);

		ck_assert_msg(!bu_recipe_ini_load(BU_SRCDIR "/images/build/recipes",
						  names[i][0], "/nowhere", &ini, &err),
			      "%s", err.text);
		ck_assert_str_eq(ini.suite, names[i][1]);
		for (size_t k = 0; k < BU_LEN(parts); k++)
			ck_assert_msg(strstr(ini.packages, parts[k]) != NULL, "%s: %s",
				      names[i][0], parts[k]);
		ck_assert_msg(strstr(ini.mirrors, mirror) != NULL, "%s", names[i][0]);
		bu_recipe_ini_fini(&ini);
	}
}
END_TEST

BU_UNIT("recipe_ini", a_recipe_lies_over_another, mistakes_have_their_line,
	our_own_recipes_are_right)
