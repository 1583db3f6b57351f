/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rack.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/enter.h"
#include "lab/prepare.h"
#include "tests/support/unit.h"

START_TEST(stat_start_survives_odd_names)
{
	const char *rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
	char text[200];

	snprintf(text, sizeof(text), "77 (bringup-rack) %s", rest);
	ck_assert_uint_eq(bu_rack_stat_start(text), 4242);
	snprintf(text, sizeof(text), "77 (a) b) (c) %s", rest);
	ck_assert_uint_eq(bu_rack_stat_start(text), 4242);
	snprintf(text, sizeof(text), "77 (gone) Z%s", rest + 1);
	ck_assert_uint_eq(bu_rack_stat_start(text), 0);
	ck_assert_uint_eq(bu_rack_stat_start("77 (cut) S 1 2"), 0);
	ck_assert_uint_eq(bu_rack_stat_start(""), 0);
}
END_TEST

START_TEST(keeper_needs_pid_and_start_time)
{
	struct bu_rack rack = {.keeper_pid = getpid()};

	rack.keeper_start = bu_rack_pid_start(getpid());
	ck_assert_uint_ne(rack.keeper_start, 0);
	ck_assert(bu_rack_keeper_alive(&rack));
	rack.keeper_start++;
	ck_assert(!bu_rack_keeper_alive(&rack));
	rack.keeper_pid = 0;
	rack.keeper_start = 0;
	ck_assert(!bu_rack_keeper_alive(&rack));
}
END_TEST

START_TEST(names_and_addresses_follow_the_number)
{
	struct bu_rack rack = {.dir = "/x/rack"};
	struct bu_rack other = {.dir = "/y/rack"};
	char uuid[37];

	bu_rack_fill(&rack, 32, 1ul << 17);
	ck_assert_str_eq(rack.nodes[16].name, "node017");
	ck_assert_str_eq(rack.nodes[16].boot_mac, "52:54:00:77:00:11");
	ck_assert_str_eq(rack.nodes[16].fabric_mac, "52:54:00:78:00:11");
	ck_assert_str_eq(rack.nodes[16].serial, "LAB-017");
	ck_assert(rack.nodes[16].uefi);
	ck_assert(!rack.nodes[15].uefi);
	ck_assert_ptr_eq(bu_rack_find(&rack, "node017"), &rack.nodes[16]);
	ck_assert_ptr_null(bu_rack_find(&rack, "node033"));
	strcpy(uuid, rack.nodes[16].uuid);
	bu_rack_fill(&rack, 20, 0);
	ck_assert_str_eq(rack.nodes[16].uuid, uuid);
	bu_rack_fill(&other, 20, 0);
	ck_assert_str_ne(other.nodes[16].uuid, uuid);
	ck_assert_uint_eq(strlen(uuid), 36);
}
END_TEST

START_TEST(json_gives_back_what_it_got)
{
	struct bu_rack rack = {.dir = "/x/rack",
			       .keeper_pid = 4711,
			       .keeper_start = 123456789012ull,
			       .slurm = 1,
			       .memory_mib = 384,
			       .fabric_rate_mbit = 7,
			       .nics = 4,
			       .cables = {{{1, 2}}, {{3, 1}}},
			       .cable_count = 2,
			       .accel_reason = "told so",
			       .cache = "/c"};
	struct bu_rack back;
	struct bu_err err = {0};
	json_t *json;

	bu_rack_fill(&rack, 3, 1ul << 2);
	json = bu_rack_to_json(&rack);
	ck_assert_int_eq(bu_rack_from_json(json, &back, &err), 0);
	ck_assert_int_eq(back.keeper_pid, 4711);
	ck_assert_uint_eq(back.keeper_start, 123456789012ull);
	ck_assert_int_eq(back.memory_mib, 384);
	ck_assert_int_eq(back.fabric_rate_mbit, 7);
	ck_assert_int_eq(back.slurm, 1);
	ck_assert_int_eq(back.nics, 4);
	ck_assert_uint_eq(back.cable_count, 2);
	ck_assert_mem_eq(back.cables, rack.cables, sizeof(rack.cables));
	ck_assert_uint_eq(back.node_count, 3);
	ck_assert(back.nodes[1].uefi && !back.nodes[0].uefi && !back.nodes[2].uefi);
	ck_assert_mem_eq(back.nodes, rack.nodes, sizeof(rack.nodes));
	json_object_set_new(json, "version", json_integer(2));
	ck_assert_int_eq(bu_rack_from_json(json, &back, &err), -1);
	json_decref(json);
}
END_TEST

START_TEST(directories_that_cannot_work_are_refused)
{
	static const char *const bad[] = {"/run/rack", "/etc", "/tmp/a b", "/tmp/a&b",
					  "/no/such/parent/rack"};
	char text[BU_RACK_DIR_SIZE + 10] = "/tmp/";
	struct bu_rack rack = {0};
	struct bu_err err = {0};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		err.kind = BU_ERR_NONE;
		ck_assert_int_eq(bu_rack_locate(&rack, bad[i], &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	memset(text + 5, 'x', sizeof(text) - 6);
	ck_assert_int_eq(bu_rack_locate(&rack, text, &err), -1);
	ck_assert_int_eq(bu_rack_locate(&rack, "/tmp/rack//", &err), 0);
	ck_assert_str_eq(rack.dir, "/tmp/rack");
	setenv("BRINGUP_RACK", "/tmp/named", 1);
	ck_assert_int_eq(bu_rack_locate(&rack, NULL, &err), 0);
	ck_assert_str_eq(rack.dir, "/tmp/named");
}
END_TEST

START_TEST(only_a_marked_directory_is_a_rack)
{
	char dir[] = "/tmp/rack-test-XXXXXX";
	struct bu_rack rack = {0};
	struct bu_err err = {0};
	bu_autofree char *file = NULL;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(bu_rack_locate(&rack, dir, &err), 0);
	ck_assert(bu_rack_is_ours(&rack)); /* empty */
	file = bu_rack_path(&rack, "somebody's");
	ck_assert_int_eq(bu_file_write(file, "x", 1, 0600, &err), 0);
	ck_assert(!bu_rack_is_ours(&rack));
	ck_assert_int_eq(bu_rack_create_dir(&rack, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
	ck_assert_int_eq(bu_rack_create_dir(&rack, &err), 0);
	ck_assert_int_eq(bu_file_write(file, "x", 1, 0600, &err), 0);
	ck_assert(bu_rack_is_ours(&rack));
	ck_assert_int_eq(stat(dir, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(bu_rack_load(&rack, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
}
END_TEST

/* A rack of another release may be up as well as one of this one. */
START_TEST(a_keeper_that_may_live_is_known_in_any_version)
{
	static const struct {
		const char *text;
		int rc, pid;
	} cases[] = {
		{"{\"version\": 9, \"keeper\": {\"pid\": 7, \"start\": 8}}", 0, 7},
		{"{\"version\": 1}", -1, 0},
		{"{\"version\": 1, \"keeper\": {\"pid\": 0}}", -1, 0},
		{"{\"version\": 1, \"keep", -1, 0},
		{"", -1, 0},
	};
	char dir[] = "/tmp/rack-test-XXXXXX";
	struct bu_rack rack = {0};
	bu_autofree char *file = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(bu_rack_locate(&rack, dir, NULL), 0);
	file = bu_rack_path(&rack, "rack.json");
	ck_assert_int_eq(bu_rack_load_keeper(&rack, NULL), 0);
	ck_assert_int_eq(rack.keeper_pid, 0);
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_err err = {0};

		ck_assert_int_eq(
			bu_file_write_text(file, 0644, NULL, "%s", cases[i].text), 0);
		ck_assert_int_eq(bu_rack_load_keeper(&rack, &err), cases[i].rc);
		if (cases[i].rc == 0)
			ck_assert_int_eq(rack.keeper_pid, cases[i].pid);
		else
			ck_assert_int_eq(err.kind, BU_ERR_STATE);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(private_folders_follow_no_link)
{
	char dir[] = "/tmp/rack-test-XXXXXX";
	bu_autofree char *victim = NULL, *inside = NULL, *link = NULL, *plain = NULL;
	bu_autofree char *old = NULL;
	struct bu_err err = {0};
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	victim = bu_xasprintf("%s/victim", dir);
	inside = bu_xasprintf("%s/key", victim);
	link = bu_xasprintf("%s/munge", dir);
	plain = bu_xasprintf("%s/slurm", dir);
	old = bu_xasprintf("%s/slurm/old", dir);
	ck_assert_int_eq(mkdir(victim, 0700), 0);
	ck_assert_int_eq(bu_file_write_text(inside, 0600, &err, "host's"), 0);
	ck_assert_int_eq(symlink(victim, link), 0);
	ck_assert_int_eq(bu_prepare_fresh_dir(link, &err), 0);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert(bu_file_exists(inside));
	ck_assert_int_eq(stat(victim, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(mkdir(plain, 0700), 0);
	ck_assert_int_eq(bu_file_write_text(old, 0600, &err, "old"), 0);
	ck_assert_int_eq(bu_prepare_fresh_dir(plain, &err), 0);
	ck_assert(!bu_file_exists(old));
	ck_assert_int_eq(stat(plain, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
}
END_TEST

START_TEST(no_other_cluster_is_named_in_a_rack)
{
	static const char *const gone[] = {"SLURM_CONF", "SLURM_JOB_ID",
					   "MUNGE_SOCKET"};
	static const char *const kept[] = {"PATH", "SLURMX", "XSLURM_CONF"};

	for (size_t i = 0; i < BU_LEN(gone); i++)
		setenv(gone[i], "x", 1);
	for (size_t i = 0; i < BU_LEN(kept); i++)
		setenv(kept[i], "x", 1);
	bu_enter_clean_environment();
	for (size_t i = 0; i < BU_LEN(gone); i++)
		ck_assert_ptr_null(getenv(gone[i]));
	for (size_t i = 0; i < BU_LEN(kept); i++)
		ck_assert_pstr_eq(getenv(kept[i]), "x");
}
END_TEST

START_TEST(listens_on_loopback_alone)
{
	static const char *const bad[] = {
		"0.0.0.0:0",  "10.0.0.1:80",     "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:8x"};
	struct bu_err err = {0};
	char address[64];
	int fd;

	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_int_eq(
			bu_enter_listen(bad[i], address, sizeof(address), &err), -1);
	fd = bu_enter_listen("127.0.0.1:0", address, sizeof(address), &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(strncmp(address, "127.0.0.1:", 10), 0);
	ck_assert_int_gt(atoi(address + 10), 0);
	close(fd);
}
END_TEST

START_TEST(missing_programs_are_named_with_their_package)
{
	struct bu_rack rack = {.dir = "/tmp/rack", .slurm = 1};
	struct bu_err err = {0};

	setenv("PATH", "/nonexistent", 1);
	bu_rack_fill(&rack, 1, 0);
	ck_assert_int_eq(bu_prepare_check(&rack, &err), -1);
	if (geteuid() != 0)
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	BU_NEEDS("root");
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(err.text, "libvirtd: libvirt-daemon;"));
	ck_assert_ptr_nonnull(strstr(err.text, "slurmctld: slurmctld"));
	rack.slurm = 0;
	bu_ignore(bu_prepare_check(&rack, &err));
	ck_assert_ptr_null(strstr(err.text, "slurmctld"));
}
END_TEST

START_TEST(errors_gain_the_end_of_a_log)
{
	char dir[] = "/tmp/rack-test-XXXXXX";
	struct bu_rack rack = {0};
	struct bu_err err = {0};
	bu_autofree char *log_dir = NULL, *log = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(bu_rack_locate(&rack, dir, &err), 0);
	log_dir = bu_rack_path(&rack, "log");
	log = bu_rack_path(&rack, "log/x.log");
	ck_assert_int_eq(bu_mkdir_p(log_dir, 0755, &err), 0);
	ck_assert_int_eq(bu_file_write(log, "one\ntwo\n\n", 9, 0600, &err), 0);
	bu_err_set(&err, BU_ERR_IO, 0, "x ended");
	ck_assert_int_eq(bu_rack_add_log_tail(&rack, "x", &err), -1);
	ck_assert_str_eq(err.text, "x ended; its log ends with: two");
	ck_assert_int_eq(bu_rack_add_log_tail(&rack, "none", &err), -1);
	ck_assert_str_eq(err.text, "x ended; its log ends with: two");
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
}
END_TEST

START_TEST(how_a_process_ended_is_as_a_shell_has_it)
{
	char dir[] = "/tmp/rack-test-XXXXXX";
	struct bu_rack rack = {0};
	struct bu_err err = {0};
	bu_autofree char *log_dir = NULL, *path = NULL, *text = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(bu_rack_locate(&rack, dir, &err), 0);
	ck_assert_int_eq(bu_rack_add_ended(&rack, 7, 0, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "log/ended"));
	log_dir = bu_rack_path(&rack, "log");
	path = bu_rack_path(&rack, "log/ended");
	ck_assert_int_eq(bu_mkdir_p(log_dir, 0755, &err), 0);
	ck_assert_int_eq(bu_rack_add_ended(&rack, 7, 0, &err), 0);
	ck_assert_int_eq(bu_rack_add_ended(&rack, 8, 3 << 8, &err), 0);
	ck_assert_int_eq(bu_rack_add_ended(&rack, 9, SIGKILL, &err), 0);
	text = bu_file_read(path, 0, NULL, &err);
	ck_assert_str_eq(text, "7 0\n8 3\n9 137\n");
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
}
END_TEST

BU_UNIT("lab rack", stat_start_survives_odd_names, keeper_needs_pid_and_start_time,
	names_and_addresses_follow_the_number, json_gives_back_what_it_got,
	directories_that_cannot_work_are_refused, only_a_marked_directory_is_a_rack,
	a_keeper_that_may_live_is_known_in_any_version, private_folders_follow_no_link,
	no_other_cluster_is_named_in_a_rack, listens_on_loopback_alone,
	how_a_process_ended_is_as_a_shell_has_it,
	missing_programs_are_named_with_their_package, errors_gain_the_end_of_a_log)
