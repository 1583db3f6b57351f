/* SPDX-License-Identifier: Apache-2.0 */
/* Trees from directories and from JSON are the same trees, and strange ones are
 * refused. */
#include "profiles/load/tree.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-tree-XXXXXX";

static void
make_dir(void)
{
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static char *
below(const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static void
write_file(const char *name, const char *text, size_t size)
{
	bu_autofree char *path = below(name);

	ck_assert_int_eq(bu_file_write(path, text, size, 0644, NULL), 0);
}

static void
make_subdir(const char *name)
{
	bu_autofree char *path = below(name);

	ck_assert_int_eq(bu_mkdir_p(path, 0755, NULL), 0);
}

START_TEST(directory_and_json_give_the_same_digest)
{
	struct bu_err err;
	struct bu_tree *tree, *copy;
	bu_autojson json_t *value = NULL;
	char digest[65];

	make_dir();
	make_subdir("pools");
	make_subdir(".git");
	write_file("site.ini", "[site]\n", 7);
	write_file("pools/b.ini", "b", 1);
	write_file("pools/a.ini", "a", 1);
	write_file("racks.csv", "", 0);
	write_file("README.md", "text", 4);
	write_file(".git/config.ini", "x", 1);
	write_file(".hidden.ini", "x", 1);
	tree = bu_tree_load(dir, &err);
	ck_assert_msg(tree != NULL, "%s", tree ? "" : err.text);
	ck_assert_uint_eq(tree->count, 4);
	ck_assert_str_eq(tree->files[0].path, "pools/a.ini");
	ck_assert_str_eq(tree->files[3].path, "site.ini");
	ck_assert_str_eq(bu_tree_find(tree, "site.ini")->text, "[site]\n");
	ck_assert_ptr_null(bu_tree_find(tree, "README.md"));
	value = bu_tree_to_json(tree);
	copy = bu_tree_from_json(value, &err);
	ck_assert_msg(copy != NULL, "%s", copy ? "" : err.text);
	ck_assert_str_eq(copy->digest, tree->digest);
	ck_assert_uint_eq(strlen(copy->digest), 64);
	memcpy(digest, tree->digest, sizeof(digest));
	bu_tree_destroy(copy);
	bu_tree_destroy(tree);
	write_file("pools/a.ini", "A", 1);
	copy = bu_tree_load(dir, &err);
	ck_assert_ptr_nonnull(copy);
	ck_assert_str_ne(copy->digest, digest);
	bu_tree_destroy(copy);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(digest_changes_with_path_and_text)
{
	static const char *const trees[] = {
		"{\"files\":{\"a.ini\":\"x\"}}", "{\"files\":{\"a.ini\":\"y\"}}",
		"{\"files\":{\"b.ini\":\"x\"}}",
		"{\"files\":{\"a.ini\":\"x\",\"b.ini\":\"\"}}"};
	char digests[BU_LEN(trees)][65];

	for (size_t i = 0; i < BU_LEN(trees); i++) {
		bu_autojson json_t *value =
			bu_json_parse(trees[i], strlen(trees[i]), "tree", NULL);
		struct bu_tree *tree = bu_tree_from_json(value, NULL);

		memcpy(digests[i], tree->digest, 65);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(digests[i], digests[j]);
		bu_tree_destroy(tree);
	}
}
END_TEST

/* A tree without the folder is what it was before there was one. */
START_TEST(files_of_keys_count_in_their_folder_alone)
{
	static const struct {
		const char *path;
		int counts, is_keys;
	} rows[] = {
		{"keys.d/alice", 1, 1},    {"keys.d/alice.pub", 1, 1},
		{"keys.d/a.ini", 1, 0},    {"keys.d/.alice", 0, 0},
		{"keys.d/x/alice", 0, 0},  {"keys.d/", 0, 0},
		{"alice.pub", 0, 0},       {"x/keys.d/alice", 0, 0},
		{"authorized_keys", 0, 0}, {"keys.d/../alice", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(!bu_tree_counts(rows[i].path) == !rows[i].counts, "%s",
			      rows[i].path);
		ck_assert_msg(!bu_tree_is_keys(rows[i].path) == !rows[i].is_keys, "%s",
			      rows[i].path);
	}
}
END_TEST

static void
refused(const char *want)
{
	struct bu_err err = {.text = ""};
	struct bu_tree *tree = bu_tree_load(dir, &err);

	ck_assert_msg(tree == NULL, "accepted, but: %s", want);
	ck_assert_msg(strstr(err.text, want) != NULL, "'%s' is not in '%s'", want,
		      err.text);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(strange_directories_are_refused)
{
	bu_autofree char *path = NULL, *pipe_path = NULL,
			 *big = bu_xmalloc(BU_TREE_FILE_MAX + 1);
	char deep[64] = "";
	struct bu_err err;

	make_dir();
	refused("holds no *.ini file");
	make_dir();
	path = below("link.ini");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	refused("link.ini: is a link");
	make_dir();
	free(path);
	path = below("pools");
	ck_assert_int_eq(symlink("/etc", path), 0);
	refused("pools: is a link");
	make_dir();
	pipe_path = below("pipe.ini");
	ck_assert_int_eq(mkfifo(pipe_path, 0644), 0);
	refused("pipe.ini: is not a plain file");
	make_dir();
	write_file("a.ini", "a\0b", 3);
	refused("a.ini: holds a NUL byte");
	make_dir();
	write_file("a.ini", "\xe4", 1);
	refused("a.ini: is not UTF-8");
	make_dir();
	memset(big, 'a', BU_TREE_FILE_MAX + 1);
	write_file("a.ini", big, BU_TREE_FILE_MAX + 1);
	refused("a.ini: the file is larger than 8 MiB");
	make_dir();
	for (int i = 0; i <= BU_TREE_DEPTH_MAX; i++)
		strcat(deep, i ? "/d" : "d");
	make_subdir(deep);
	refused("too deep");
	ck_assert_ptr_null(bu_tree_load("/nonexistent/profiles", &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
}
END_TEST

START_TEST(strange_json_is_refused)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"{}", "field 'files': must be an object"},
		{"[]", "field 'files': must be an object"},
		{"{\"files\":[]}", "field 'files': must be an object"},
		{"{\"files\":{}}", "holds no *.ini file"},
		{"{\"files\":{\"a.ini\":1}}", "a.ini: must be text"},
		{"{\"files\":{\"../a.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"/a.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"a//b.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"a/./b.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"a/../b.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\".a.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"a.sh\":\"\"}}", "not clean"},
		{"{\"files\":{\"a\\nb.ini\":\"\"}}", "not clean"},
		{"{\"files\":{\"a/b/c/d/e/f/g/h/i/j.ini\":\"\"}}", "too deep"},
		{"{\"files\":{\"\":\"\"}}", "not clean"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *value =
			bu_json_parse(rows[i].text, strlen(rows[i].text), "tree", NULL);
		struct bu_err err = {.text = ""};
		struct bu_tree *tree = bu_tree_from_json(value, &err);

		ck_assert_msg(tree == NULL, "%s", rows[i].text);
		ck_assert_msg(strstr(err.text, rows[i].want) != NULL,
			      "'%s' is not in '%s'", rows[i].want, err.text);
	}
}
END_TEST

START_TEST(too_many_files_are_refused)
{
	bu_autojson json_t *files = json_object(), *value = NULL;
	struct bu_err err;

	for (int i = 0; i <= BU_TREE_FILES_MAX; i++) {
		bu_autofree char *path = bu_xasprintf("%d.ini", i);

		json_object_set_new(files, path, json_string(""));
	}
	value = json_pack("{sO}", "files", files);
	ck_assert_ptr_null(bu_tree_from_json(value, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "too many files"));
}
END_TEST

BU_UNIT("tree", directory_and_json_give_the_same_digest,
	digest_changes_with_path_and_text, files_of_keys_count_in_their_folder_alone,
	strange_directories_are_refused, strange_json_is_refused,
	too_many_files_are_refused)
