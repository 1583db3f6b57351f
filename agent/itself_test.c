/* SPDX-License-Identifier: Apache-2.0 */
/* An agent tells of its system; a folder stands for that. */
#include "agent/itself.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/configure.h"
#include "base/file.h"
#include "base/json.h"
#include "model/applied.h"
#include "tests/support/unit.h"

static char root[64];
static const char *loader; /* what the boot loader has; NULL = cannot be read */

static const struct bu_work_file files[] = {
	{.path = "/etc/hostname", .mode = 0644, .content = "node001\n"},
	{.path = "/etc/resolv.conf",
	 .mode = 0644,
	 .content = "# Written by bringup; changes are lost.\nnameserver 10.0.0.1\n"},
	{.path = "/etc/sysctl.d/90-bringup.conf", .mode = 0644, .content = "a=1\n"},
};

static void
put(const char *path, mode_t mode, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir =
		bu_xasprintf("%.*s", (int)(strrchr(full, '/') - full), full);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(full, mode, NULL, "%s", text), 0);
}

static void
put_record(const char *kargs)
{
	const struct bu_applied applied = {
		.node = "node001",
		.step = "s1",
		.facets = "f1",
		.kargs = kargs,
		.patterns = {"/etc/sysctl.d/90-bringup.conf",
			     "/etc/systemd/network/10-bringup-*.network"},
		.patterns_count = 2};
	bu_autofree char *text = bu_applied_text(&applied, files, BU_LEN(files));

	put(BU_APPLIED_PATH, 0600, text);
}

static void
begin(const char *kargs, const char *cmdline)
{
	strcpy(root, "/tmp/bringup-itself-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	loader = NULL;
	put("/proc/cmdline", 0444, cmdline);
	put("/proc/sys/kernel/osrelease", 0444, "6.1.0-28-amd64\n");
	for (size_t i = 0; i < BU_LEN(files); i++)
		put(files[i].path, (mode_t)files[i].mode, files[i].content);
	put_record(kargs);
}

static void
finish(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

static int
read_loader(const char *kargs, char **ret_old, struct bu_err *err)
{
	ck_assert_ptr_null(kargs); /* nothing is written */
	if (!loader)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no partition");
	*ret_old = bu_xstrdup(loader);
	return 0;
}

/* "/etc/hostname changed, ..."; "" = all is as it was written. Owned. */
static char *
differs(json_t **ret_told)
{
	struct bu_itself itself = {.root = root, .bootargs = read_loader};
	json_t *told;
	struct bu_runs runs;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_itself_look(&itself);
	told = bu_itself_tell(&itself);
	bu_itself_fini(&itself);
	ck_assert_int_eq(bu_record_from_json(bu_runs_fields, told, &runs, NULL), 0);
	ck_assert_str_eq(runs.kernel, "6.1.0-28-amd64");
	for (size_t i = 0; i < runs.differs_count; i++)
		fprintf(out, "%s%s %s", i ? ", " : "", runs.differs[i].path,
			bu_differs_names[runs.differs[i].how]);
	if (runs.more)
		fprintf(out, " and %d", (int)runs.more);
	fclose(out);
	if (ret_told)
		*ret_told = told;
	else
		json_decref(told);
	return text;
}

static void
differs_is(const char *want)
{
	bu_autofree char *text = differs(NULL);

	ck_assert_str_eq(text, want);
}

static void
kargs_are(const char *booted, const char *of_loader)
{
	bu_autojson json_t *told = NULL;
	bu_autofree char *text = differs(&told);

	ck_assert_str_eq(text, "");
	ck_assert_str_eq(bu_json_str(told, "booted", "-"), booted);
	ck_assert_str_eq(bu_json_str(told, "loader", "-"), of_loader);
}

START_TEST(what_is_as_it_was_written_is_told_by_its_record)
{
	bu_autojson json_t *told = NULL;
	bu_autofree char *text = NULL;

	begin("quiet", "BOOT_IMAGE=/vmlinuz root=/dev/vda2 quiet bringup.slot=a\n");
	text = differs(&told);
	ck_assert_str_eq(text, "");
	ck_assert_str_eq(bu_json_str(told, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(told, "step", ""), "s1");
	ck_assert_str_eq(bu_json_str(told, "facets", ""), "f1");
	ck_assert_str_eq(bu_json_str(told, "kargs", ""), "quiet");
	ck_assert_str_eq(bu_json_str(told, "booted", ""), "quiet");
	ck_assert_str_eq(bu_json_str(told, "cmdline", ""),
			 "BOOT_IMAGE=/vmlinuz root=/dev/vda2 quiet");
	finish();
}
END_TEST

START_TEST(a_file_that_was_edited_removed_or_added_is_told)
{
	begin("", "ro\n");
	put("/etc/sysctl.d/90-bringup.conf", 0644, "a=2\n");
	differs_is("/etc/sysctl.d/90-bringup.conf changed");
	put("/etc/sysctl.d/90-bringup.conf", 0644, "a=1\n");
	differs_is("");
	put("/etc/hostname", 0666, "node001\n");
	differs_is("/etc/hostname changed");
	put("/etc/hostname", 0644, "node001\n");
	put("/etc/systemd/network/10-bringup-x.network", 0644, "");
	differs_is("/etc/systemd/network/10-bringup-x.network added");
	finish();
	begin("", "ro\n");
	{
		bu_autofree char *path = bu_xasprintf("%s/etc/hostname", root);

		ck_assert_int_eq(unlink(path), 0);
		differs_is("/etc/hostname missing");
		ck_assert_int_eq(symlink("/etc/hosts", path), 0);
		differs_is("/etc/hostname changed");
	}
	finish();
}
END_TEST

static int
cut_off(const char *kargs, char **ret_old, struct bu_err *err)
{
	(void)err;
	if (kargs)
		kill(getpid(), SIGKILL);
	*ret_old = bu_xstrdup("");
	return 0;
}

static int
refuse(const char *id, const void *arg, struct bu_err *err)
{
	(void)id;
	(void)arg;
	return bu_err_set(err, BU_ERR_TIMEOUT, 0, "no answer");
}

/* The next configuration, by an order s2. */
static int
configure(int (*bootargs)(const char *, char **, struct bu_err *), int live,
	  json_t **ret_result)
{
	const struct bu_work_file next[] = {
		{.path = "/etc/hostname", .mode = 0644, .content = "node002\n"}};
	const struct bu_applied applied = {
		.node = "node002", .step = "s2", .facets = "f2", .kargs = "quiet"};
	bu_autofree char *record = bu_applied_text(&applied, next, 1);
	const struct bu_change_file list[] = {
		{"/etc/hostname", 0644, "", "node002\n", 8},
		{BU_APPLIED_PATH, 0600, "", record, strlen(record)},
	};
	const struct bu_configure opts = {.root = root,
					  .boot_id = "b1",
					  .pause_ms = 1,
					  .confirm = refuse,
					  .bootargs = bootargs};
	const struct bu_work_configure work = {.work = {"configure", "s2", 1},
					       .live = live,
					       .confirm_ms = 1,
					       .kargs = bootargs ? "quiet" : NULL};
	struct bu_err err = {0};

	return bu_configure_run(&opts, &work, list, BU_LEN(list), ret_result, &err);
}

/* The agent dies when its files are written and its boot loader is not: what lies there
 * is neither the old nor the new. */
START_TEST(half_a_configuration_is_told)
{
	bu_autojson json_t *told = NULL;
	bu_autofree char *text = NULL;
	int status;
	pid_t pid;

	begin("", "ro\n");
	pid = fork();
	if (pid == 0)
		_exit(configure(cut_off, 0, NULL));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	text = differs(&told);
	ck_assert_str_eq(text, "/etc/hostname changed");
	ck_assert_str_eq(bu_json_str(told, "facets", ""), "f1");
	finish();
}
END_TEST

START_TEST(a_whole_one_is_told_by_its_own_record_and_one_taken_back_by_the_old)
{
	bu_autojson json_t *result = NULL, *told = NULL, *again = NULL;
	bu_autofree char *text = NULL, *other = NULL;

	begin("", "ro\n");
	/* not proven: all of it goes back */
	ck_assert_int_eq(configure(NULL, 1, &result), -1);
	text = differs(&told);
	ck_assert_str_eq(text, "");
	ck_assert_str_eq(bu_json_str(told, "facets", ""), "f1");
	ck_assert_int_eq(configure(NULL, 0, &result), 0);
	/* its files alone are told as changed */
	ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")), 1);
	other = differs(&again);
	ck_assert_str_eq(other, "");
	ck_assert_str_eq(bu_json_str(again, "facets", ""), "f2");
	ck_assert_str_eq(bu_json_str(again, "node", ""), "node002");
	finish();
}
END_TEST

START_TEST(a_resolver_that_dhcp_wrote_is_no_difference)
{
	begin("", "ro\n");
	put("/etc/resolv.conf", 0644, "nameserver 192.168.0.1\n");
	differs_is("");
	/* a person's line in our file is one */
	put("/etc/resolv.conf", 0644,
	    "# Written by bringup; changes are lost.\nnameserver 8.8.8.8\n");
	differs_is("/etc/resolv.conf changed");
	finish();
}
END_TEST

START_TEST(more_than_can_be_told_is_counted)
{
	begin("", "ro\n");
	for (int i = 0; i < 20; i++) {
		bu_autofree char *path =
			bu_xasprintf("/etc/systemd/network/10-bringup-%02d.network", i);

		put(path, 0644, "");
	}
	{
		bu_autofree char *text = differs(NULL);

		ck_assert_ptr_nonnull(strstr(text, "15.network added and 4"));
	}
	finish();
}
END_TEST

START_TEST(a_system_without_a_record_tells_its_kernel_alone)
{
	bu_autojson json_t *told = NULL;
	bu_autofree char *text = NULL, *path = NULL;

	begin("quiet", "ro quiet\n");
	path = bu_xasprintf("%s" BU_APPLIED_PATH, root);
	ck_assert_int_eq(unlink(path), 0);
	text = differs(&told);
	ck_assert_ptr_null(json_object_get(told, "facets"));
	ck_assert_ptr_null(json_object_get(told, "booted"));
	/* nor does one that is cut */
	put(BU_APPLIED_PATH, 0600, "{\"v\":1,\"node\":");
	json_decref(told);
	free(text);
	text = differs(&told);
	ck_assert_ptr_null(json_object_get(told, "facets"));
	finish();
}
END_TEST

START_TEST(arguments_of_this_boot_are_those_that_it_began_with)
{
	begin("iommu=pt", "BOOT_IMAGE=/vmlinuz ro iommu=pt\n");
	loader = "iommu=pt";
	kargs_are("iommu=pt", "iommu=pt");
	/* written for the next boot: this one goes on with what it has */
	put_record("");
	loader = "";
	kargs_are("iommu=pt", "");
	finish();
}
END_TEST

START_TEST(arguments_that_did_not_reach_the_kernel_are_told)
{
	begin("iommu=pt quiet", "BOOT_IMAGE=/vmlinuz ro quiet\n");
	loader = "iommu=pt quiet";
	kargs_are("quiet", "iommu=pt quiet");
	finish();
	/* somebody edited the loader's file, before this boot */
	begin("iommu=pt", "BOOT_IMAGE=/vmlinuz ro iommu=pt nosmt\n");
	loader = "iommu=pt nosmt";
	kargs_are("iommu=pt nosmt", "iommu=pt nosmt");
	finish();
}
END_TEST

BU_UNIT("itself", what_is_as_it_was_written_is_told_by_its_record,
	a_file_that_was_edited_removed_or_added_is_told, half_a_configuration_is_told,
	a_whole_one_is_told_by_its_own_record_and_one_taken_back_by_the_old,
	a_resolver_that_dhcp_wrote_is_no_difference, more_than_can_be_told_is_counted,
	a_system_without_a_record_tells_its_kernel_alone,
	arguments_of_this_boot_are_those_that_it_began_with,
	arguments_that_did_not_reach_the_kernel_are_told)
