/* SPDX-License-Identifier: Apache-2.0 */
/* What makes changed files hold: commands that only note that they were called. */
#include "agent/apply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/configure.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/unit.h"

static char root[64];

/* In the way of the linker's --wrap: no time passes, and what happens meanwhile does.
 */
static int64_t slept_us;
static void (*meanwhile)(void);

int __wrap_usleep(useconds_t us);
int
__wrap_usleep(useconds_t us)
{
	slept_us += us;
	ck_assert_int_le(slept_us, 60 * 1000000);
	if (meanwhile)
		meanwhile();
	return 0;
}

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, strrchr(full, '/') - full);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0755, NULL), 0);
}

static void
begin(void)
{
	static const char *const commands[] = {
		"chronyc",   "hostname",        "ip", "netplan", "networkctl",
		"systemctl", "systemd-tmpfiles"};
	bu_autofree char *script = NULL, *bin = NULL;

	strcpy(root, "/tmp/bringup-apply-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	/* A VLAN cannot be above what it is on, as with the kernel. */
	script = bu_xasprintf(
		"#!/bin/sh\n"
		"cd %s\n"
		"call=\"${0##*/} $*\"\n"
		"echo \"$call\" >>calls\n"
		"case $call in ip*dev\\ a.7*)\n"
		"read mtu <sys/class/net/bond0/mtu\n"
		"[ $mtu -ge $6 ] || exit 1 ;; esac\n"
		"case $call in ip*) echo $6 >sys/class/net/$4/mtu ;; esac\n"
		"[ \"$call\" != \"$FAIL\" ] || exit 1\n",
		root);
	bin = bu_xasprintf("%s/bin", root);
	for (size_t i = 0; i < BU_LEN(commands); i++) {
		bu_autofree char *path = bu_xasprintf("/bin/%s", commands[i]);

		put(path, script);
	}
	setenv("PATH", bin, 1);
	unsetenv("FAIL");
	slept_us = 0;
	meanwhile = NULL;
}

/* What was called since the last look; owned. */
static char *
calls_now(void)
{
	bu_autofree char *calls = bu_xasprintf("%s/calls", root);
	char *text = bu_file_read(calls, 0, NULL, NULL);

	unlink(calls);
	return text ? text : bu_xstrdup("");
}

/* Applies these groups; what was called. Owned. */
static char *
calls_of(const char **groups, size_t count)
{
	struct bu_note note = {.groups = groups, .groups_count = count};
	struct bu_drops none = {0};
	struct bu_err err;

	ck_assert_msg(bu_apply_groups(root, &note, &none, &err) == 0, "%s", err.text);
	return calls_now();
}

static void
end(void)
{
	setenv("PATH", "/usr/bin:/bin", 1);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

/* Whatever the order of the note: a setting may need its module, a server's name its
 * network. */
START_TEST(groups_are_applied_in_order)
{
	const char *groups[] = {"access",   "hosts",  "hostname", "gpu",    "time",
				"tmpfiles", "sysctl", "network",  "modules"};
	bu_autofree char *want = NULL, *calls = NULL;

	begin();
	put("/usr/bin/chronyc", "");
	put("/etc/systemd/system/bringup-gpu.service", "");
	put("/etc/systemd/system/bringup-access.service", "");
	want = bu_xasprintf("systemctl restart systemd-modules-load.service\n"
			    "networkctl reload\n"
			    "systemctl restart systemd-sysctl.service\n"
			    "systemd-tmpfiles --create --prefix=/sys\n"
			    "chronyc reload sources\n"
			    "systemctl restart bringup-gpu.service\n"
			    "hostname -F %s/etc/hostname\n"
			    "systemctl restart bringup-access.service\n",
			    root);
	calls = calls_of(groups, BU_LEN(groups));
	ck_assert_str_eq(calls, want);
	end();
}
END_TEST

/* Each is of the image: what is not in it is not restarted. */
START_TEST(what_the_image_has_not_is_left_alone)
{
	const char *groups[] = {"time", "gpu", "access"};
	bu_autofree char *calls = NULL;

	begin();
	calls = calls_of(groups, BU_LEN(groups));
	ck_assert_str_eq(calls, "");
	end();
}
END_TEST

/* Whichever brings its network up, and soft-RoCE after it. */
START_TEST(the_network_is_applied_by_what_the_image_has)
{
	static const struct {
		const char *has, *calls;
	} rows[] = {
		{"/usr/sbin/netplan", "netplan apply\n"},
		{"/etc/NetworkManager/system-connections/x",
		 "systemctl restart NetworkManager.service\n"},
		{"/etc/bringup/rxe",
		 "networkctl reload\nsystemctl restart bringup-rxe.service\n"},
	};
	const char *groups[] = {"network"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *calls = NULL;

		begin();
		put(rows[i].has, "");
		calls = calls_of(groups, 1);
		ck_assert_str_eq(calls, rows[i].calls);
		end();
	}
}
END_TEST

/* What cannot be applied ends it, whatever would come after. */
START_TEST(a_command_that_fails_ends_it)
{
#define DELETE "networkctl delete bond0"
#define RELOAD "networkctl reload"
#define TAKE_UP "networkctl reconfigure eth1"
	static const struct {
		const char *group, *fails, *calls;
	} rows[] = {
		{"network", DELETE, DELETE "\n"},
		{"network", RELOAD, DELETE "\n" RELOAD "\n"},
		{"network", TAKE_UP, DELETE "\n" RELOAD "\n" TAKE_UP "\n"},
		{"modules", "systemctl restart systemd-modules-load.service", NULL},
		{"sysctl", "systemctl restart systemd-sysctl.service", NULL},
		{"tmpfiles", "systemd-tmpfiles --create --prefix=/sys", NULL},
		{"time", "chronyc reload sources", NULL},
		{"gpu", "systemctl restart bringup-gpu.service", NULL},
	};
	const char *device = "bond0";
	struct bu_drops drops = {&device, 1};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const char *groups[] = {rows[i].group, "access"};
		struct bu_note note = {.groups = groups, .groups_count = 2};
		bu_autofree char *calls = NULL, *alone = NULL, *says = NULL;
		struct bu_err err = {0};

		begin();
		put("/usr/bin/chronyc", "");
		put("/etc/bringup/rxe", "");
		put("/etc/systemd/system/bringup-gpu.service", "");
		put("/etc/systemd/system/bringup-access.service", "");
		put("/sys/class/net/bond0/lower_eth1/mtu", "");
		put("/sys/class/net/eth1/mtu", "");
		setenv("FAIL", rows[i].fails, 1);
		ck_assert_int_eq(bu_apply_groups(root, &note, &drops, &err), -1);
		says = bu_xasprintf("apply %s: ", rows[i].group);
		ck_assert_msg(strncmp(err.text, says, strlen(says)) == 0, "%s",
			      err.text);
		calls = calls_now();
		alone = bu_xasprintf("%s\n", rows[i].fails);
		ck_assert_str_eq(calls, rows[i].calls ? rows[i].calls : alone);
		end();
	}
}
END_TEST

/* A device that is not there need not go; of those that lay below it, the ones that are
 * there are taken up again, as many as one command takes. */
START_TEST(what_lay_below_a_device_is_taken_up_again)
{
	const char *devices[] = {"gone", "bond0"}, *group = "network";
	struct bu_note note = {.groups = &group, .groups_count = 1};
	struct bu_drops drops = {devices, 2};
	bu_autofree char *calls = NULL;
	const char *last;
	size_t words = 0;

	begin();
	for (int i = 0; i < 40; i++) {
		bu_autofree char *below =
			bu_xasprintf("/sys/class/net/bond0/lower_e%d/mtu", i);
		bu_autofree char *link = bu_xasprintf("/sys/class/net/e%d/mtu", i);

		put(below, "");
		put(link, "");
	}
	put("/sys/class/net/bond0/lower_missing/mtu", "");
	ck_assert_int_eq(bu_apply_groups(root, &note, &drops, NULL), 0);
	calls = calls_now();
	ck_assert_msg(strncmp(calls, DELETE "\n" RELOAD "\n", 40) == 0, "%s", calls);
	ck_assert_ptr_null(strstr(calls, "missing"));
	ck_assert_ptr_null(strstr(calls, "gone"));
	last = strstr(calls, "networkctl reconfigure");
	ck_assert_ptr_nonnull(last);
	for (const char *at = last; (at = strchr(at, ' ')); at++)
		words++;
	ck_assert_uint_eq(words, 1 + 32);
	end();
}
END_TEST

#define LINKS "/run/systemd/netif/links/"

/* As networkd does it, a while after it was told. */
static void
make_link(void)
{
	if (slept_us >= 2000000)
		put(LINKS "3", "ADMIN_STATE=configured\n");
	else if (slept_us >= 1400000)
		put(LINKS "3", "ADMIN_STATE=pending\n");
	else if (slept_us >= 1000000)
		put(LINKS "3", "ADMIN_STATE=configuring\n");
}

/* A link that is being made is waited for; one that nobody makes is not, and neither is
 * what cannot be read, nor for ever. */
START_TEST(a_network_that_is_being_made_is_waited_for)
{
	const char *group = "network";

	begin();
	put(LINKS "2", "ADMIN_STATE=configured\n");
	put(LINKS "3", "ADMIN_STATE=configured\n");
	put(LINKS "4/x", "");
	meanwhile = make_link;
	free(calls_of(&group, 1));
	ck_assert_int_eq(slept_us, 2000000);
	slept_us = 0;
	meanwhile = NULL;
	put(LINKS "2", "ADMIN_STATE=pending\n");
	free(calls_of(&group, 1));
	ck_assert_int_eq(slept_us, 16 * 1000000);
	end();
	/* Where networkd does not make it, nothing tells. */
	begin();
	free(calls_of(&group, 1));
	ck_assert_int_eq(slept_us, 0);
	end();
}
END_TEST

static int
confirm_when_made(const char *id, const void *arg, struct bu_err *err)
{
	ck_assert_int_ge(slept_us, 2000000);
	return 0;
}

/* The first try after a boot is for a network that has come up. */
START_TEST(a_change_is_proven_when_the_network_is_made)
{
	const struct bu_configure configure = {
		.root = root, .boot_id = "b2", .confirm = confirm_when_made};
	bu_autofree char *journal = NULL;

	begin();
	journal = bu_xasprintf("%s/var/lib/bringup/change/change.json", root);
	put("/var/lib/bringup/change/change.json",
	    "{\"v\":1,\"id\":\"n1\",\"attempt\":1,\"boot_id\":\"b1\",\"live\":false,"
	    "\"confirm_ms\":0,\"groups\":[],\"drops\":[],\"files\":[],\"values\":[],"
	    "\"mtus\":[]}");
	put(LINKS "3", "ADMIN_STATE=configured\n");
	meanwhile = make_link;
	bu_configure_recover(&configure);
	ck_assert_int_eq(bu_file_exists(journal), 0);
	end();
}
END_TEST

#define BOND(more) "[NetDev]\nName=bond0\nKind=bond\n" more
#define HUGE "/sys/kernel/mm/transparent_hugepage/"

/* What is there before a change: the machine, and the files that it is to have. */
static void
make_machine(struct bu_change *change)
{
	static const char *const there[][2] = {
		{"/proc/sys/vm/swappiness", "60\n"},
		{"/proc/sys/vm/overcommit", "0\n"},
		{"/proc/sys/kernel/x", "4 4 1 7\n"},
		{"/proc/sys/net/ipv4/conf/eth0.7/rp_filter", "1\n"},
		{HUGE "enabled", "always [madvise] never\n"},
		{HUGE "khugepaged/defrag", "1\n"},
		{HUGE "folder/x", ""},
		{"/sys/class/net/a.7/mtu", "1500\n"},
		{"/sys/class/net/bond0/mtu", "9000\n"},
		{"/n/bond.netdev", BOND("MTUBytes=1500\n\n[Bond]\nMode=1\n")},
		{"/n/same.netdev", "[NetDev]\nName=same\nMTUBytes=1500"},
		{"/n/gone.netdev", "[NetDev]\nName=gone\n"},
		{"/n/nameless.netdev", "[NetDev]\nKind=bond\n"},
		{"/n/eth.network", "[Match]\nName=eth0\n"},
	};
	static const struct bu_change_file files[] = {
		{"/n/bond.netdev", 0644, "network",
		 BOND("MTUBytes=9000\n\n[Bond]\nMode=4\n"), 0},
		{"/n/same.netdev", 0644, "network", "[NetDev]\nName=same\n", 0},
		{"/n/gone.netdev", 0644, "network", NULL, 0},
		{"/n/nameless.netdev", 0644, "network", "[NetDev]\nKind=vlan\n", 0},
		{"/n/new.netdev", 0644, "network", "[NetDev]\nName=new\n", 0},
		{"/n/eth.network", 0644, "network", "[Match]\nName=eth1\n", 0},
		{"/a", 0644, "", "vm.swappiness = 7\n", 0},
		{"/s", 0644, "sysctl",
		 "-vm.swappiness = 1\n"
		 "# kernel.x = 2\n"
		 "vm.overcommit\n"
		 "net/ipv4/conf/eth0.7/rp_filter=2\n"
		 "vm/../kernel/x = 3\n"
		 "no.such = 3\n"
		 "kernel.x\t= 4\n",
		 0},
		{"/t", 0644, "tmpfiles",
		 "# ours\n"
		 "w " HUGE "e* - - - - never\n"
		 "w " HUGE "folder - - - - never\n"
		 "d " HUGE "khugepaged/defrag - - - - 0\n"
		 "w /sys/no/such - - - - 1\n"
		 "w " HUGE "khugepaged/* - - - - 0\n",
		 0},
	};

	for (size_t i = 0; i < BU_LEN(there); i++)
		put(there[i][0], there[i][1]);
	for (size_t i = 0; i < BU_LEN(files); i++) {
		struct bu_change_file file = files[i];

		file.size = file.content ? strlen(file.content) : 0;
		ck_assert_int_eq(bu_change_add(change, &file, NULL), 0);
	}
	ck_assert_uint_eq(change->count, BU_LEN(files));
}

static void
is_json(const json_t *value, const char *want)
{
	bu_autofree char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

	ck_assert_str_eq(text, want);
}

/* Of a bond, its other mode; of a setting, a line that sets it; of a link, its MTU. */
START_TEST(what_no_file_says_is_noted)
{
	struct bu_change change = {.root = root};
	struct bu_note note = {.id = "c1", .boot_id = "b1"};
	struct bu_drops back;
	bu_autojson json_t *json = NULL;

	begin();
	make_machine(&change);
	bu_apply_note(&change, &note);
	json = bu_note_to_json(&note);
	is_json(json_object_get(json, "groups"),
		"[\"network\",\"sysctl\",\"tmpfiles\"]");
	is_json(json_object_get(json, "drops"), "[\"bond0\",\"gone\"]");
	is_json(json_object_get(json, "values"),
		"[{\"path\":\"/proc/sys/vm/swappiness\",\"value\":\"60\"},"
		"{\"path\":\"/proc/sys/net/ipv4/conf/eth0.7/rp_filter\","
		"\"value\":\"1\"},"
		"{\"path\":\"/proc/sys/kernel/x\",\"value\":\"4 4 1 7\"},"
		"{\"path\":\"" HUGE "enabled\",\"value\":\"madvise\"},"
		"{\"path\":\"" HUGE "khugepaged/defrag\",\"value\":\"1\"}]");
	is_json(json_object_get(json, "mtus"), "[{\"mtu\":1500,\"name\":\"a.7\"},"
					       "{\"mtu\":9000,\"name\":\"bond0\"}]");
	/* On the way back, of what is there then. */
	ck_assert_int_eq(bu_change_begin(&change, &note, NULL), 0);
	ck_assert_int_eq(bu_change_write(&change, NULL), 0);
	back = bu_apply_drops_back(&change);
	ck_assert_uint_eq(back.count, 2);
	ck_assert_str_eq(back.list[0], "bond0");
	ck_assert_str_eq(back.list[1], "new");
	free(back.list);
	bu_note_fini(&note);
	bu_change_fini(&change);
	end();
}
END_TEST

static void
has(const char *path, const char *want)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *text = bu_file_read(full, 0, NULL, NULL);

	ck_assert_str_eq(text ? text : "nothing", want);
}

/* The VLAN takes its MTU when what it is on has its own again; a link that is as it was
 * or has gone is let be. */
START_TEST(what_was_noted_is_set_again)
{
	static const char swappiness[] = "/proc/sys/vm/swappiness";
	struct bu_note_value values[] = {
		{"/proc/sys/vm/dirty", "5"}, {swappiness, "60"}, {"/sys/gone/x", "1"}};
	struct bu_note_mtu mtus[] = {
		{"a.7", 9000}, {"bond0", 9000}, {"eth0", 1500}, {"gone", 9000}};
	const struct bu_note note = {.values = values,
				     .values_count = BU_LEN(values),
				     .mtus = mtus,
				     .mtus_count = BU_LEN(mtus)};
	bu_autofree char *calls = NULL;

	begin();
	put("/proc/sys/vm/dirty", "6\n");
	put(swappiness, "1\n");
	for (size_t i = 0; i < 3; i++) {
		bu_autofree char *path =
			bu_xasprintf("/sys/class/net/%s/mtu", mtus[i].name);

		put(path, "1500\n");
	}
	bu_apply_values(root, &note);
	has("/proc/sys/vm/dirty", "5");
	has(swappiness, "60");
	has("/sys/gone/x", "nothing");
	has("/sys/class/net/a.7/mtu", "9000\n");
	has("/sys/class/net/bond0/mtu", "9000\n");
	calls = calls_now();
	ck_assert_str_eq(calls, "ip link set dev a.7 mtu 9000\n"
				"ip link set dev bond0 mtu 9000\n"
				"ip link set dev a.7 mtu 9000\n");
	end();
}
END_TEST

BU_UNIT("apply", groups_are_applied_in_order, what_the_image_has_not_is_left_alone,
	the_network_is_applied_by_what_the_image_has, a_command_that_fails_ends_it,
	what_lay_below_a_device_is_taken_up_again,
	a_network_that_is_being_made_is_waited_for,
	a_change_is_proven_when_the_network_is_made, what_no_file_says_is_noted,
	what_was_noted_is_set_again)
