/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "checks/audit/audit_impl.h"
#include "tests/support/audit_machine.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

#define ETC "etc/systemd/system/slurmd.service.d/"
#define USR "usr/lib/systemd/system/slurmd.service"

static const char *root;

/* The rows of memlock, "verdict subject seen" each. */
static void
memlock(char *ret, size_t size)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks_ctx ctx = {.root = root, .expect = expect};
	struct bu_checks checks;
	size_t used = 0;

	bu_checks_init(&checks);
	ck_assert_int_eq(
		bu_audit_run_with(&ctx, &bu_audit_machine_probes, &checks, NULL), 0);
	*ret = '\0';
	for (size_t i = 0; i < checks.count; i++) {
		const struct bu_check *row = &checks.list[i];

		if (strcmp(row->id, "memlock") == 0)
			used += (size_t)snprintf(
				ret + used, size - used, "%s%s %s %s", used ? "; " : "",
				bu_verdict_name(row->verdict), row->subject, row->seen);
		ck_assert_uint_lt(used, size);
	}
	bu_checks_fini(&checks);
}

#define TRIED "; pass mlx5_0 1024 MiB"
#define GOOD(limit) "pass slurmd " limit TRIED
#define BAD(limit) "fail slurmd " limit TRIED

static const struct {
	const char *path[3], *content[3];
	const char *said;
} machines[] = {
	{{NULL}, {NULL}, GOOD("infinity")},
	{{USR}, {NULL}, ""},
	{{USR}, {"[Service]\nLimitNOFILE=131072\n"}, BAD("not set")},
	{{USR}, {"[Service]\n LimitMEMLOCK=infinity\r\n"}, GOOD("infinity")},
	{{USR}, {"[Install]\nLimitMEMLOCK=infinity\n"}, BAD("not set")},
	{{USR}, {"[Service]\nLimitMEMLOCK=8M:infinity\n"}, BAD("8M:infinity")},
	{{USR}, {"[Service]\nLimitMEMLOCK=infinity:64G\n"}, BAD("infinity:64G")},
	{{USR},
	 {"[Service]\nLimitMEMLOCK=infinity:infinity\n"},
	 GOOD("infinity:infinity")},
	{{USR}, {"[Service]\nLimitMEMLOCK=65536\n"}, BAD("65536")},
	{{USR}, {"[Service]\nLimitMEMLOCK=unlimited\n"}, BAD("not set")},
	{{ETC "limits.conf"},
	 {"[Service]\nLimitMEMLOCK=unlimited\n"},
	 GOOD("infinity")},
	{{ETC "limits.conf"}, {"[Service]\nLimitMEMLOCK=\n"}, BAD("not set")},
	{{ETC "limits"}, {"[Service]\nLimitMEMLOCK=8M\n"}, GOOD("infinity")},
	/* The last name counts, not the strongest folder. */
	{{ETC "10-site.conf", USR ".d/50-package.conf"},
	 {"[Service]\nLimitMEMLOCK=8M\n", "[Service]\nLimitMEMLOCK=infinity\n"},
	 GOOD("infinity")},
	{{ETC "50-site.conf", USR ".d/10-package.conf"},
	 {"[Service]\nLimitMEMLOCK=8M\n", "[Service]\nLimitMEMLOCK=infinity\n"},
	 BAD("8M")},
	/* Of one name the strongest folder's is read alone. */
	{{ETC "50.conf", "run/systemd/system/slurmd.service.d/50.conf",
	  USR ".d/50.conf"},
	 {"[Service]\n", "[Service]\nLimitMEMLOCK=1M\n",
	  "[Service]\nLimitMEMLOCK=2M\n"},
	 GOOD("infinity")},
	/* One for all services is weaker than one for this. */
	{{"etc/systemd/system/service.d/z.conf", ETC "a.conf"},
	 {"[Service]\nLimitMEMLOCK=8M\n", "[Service]\nLimitMEMLOCK=infinity\n"},
	 GOOD("infinity")},
	{{"etc/systemd/system/service.d/z.conf"},
	 {"[Service]\nLimitMEMLOCK=8M\n"},
	 BAD("8M")},
	/* What systemd gives whom nobody gives anything. */
	{{USR, "etc/systemd/system.conf"},
	 {"[Service]\n", "[Manager]\n#DefaultLimitMEMLOCK=8M\n"},
	 BAD("not set")},
	{{USR, "etc/systemd/system.conf", "usr/lib/systemd/system.conf.d/10.conf"},
	 {"[Service]\n", "[Manager]\nDefaultLimitMEMLOCK=8M\n",
	  "[Manager]\nDefaultLimitMEMLOCK=infinity\n"},
	 GOOD("infinity")},
	/* The limit is right and it does not work all the same. */
	{{"test/lock/mlx5_0"},
	 {"register 1024 MiB: Cannot allocate memory"},
	 "pass slurmd infinity; fail mlx5_0 register 1024 MiB: Cannot allocate memory"},
	{{"test/lock/mlx5_0"}, {NULL}, "pass slurmd infinity; inconclusive mlx5_0 "},
};

START_TEST(the_limit_is_the_one_that_slurmd_gets)
{
	root = bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(machines); i++) {
		char said[256];

		for (size_t k = 0; k < 3 && machines[i].path[k]; k++)
			bu_audit_machine_change(machines[i].path[k],
						machines[i].content[k]);
		memlock(said, sizeof(said));
		ck_assert_msg(strcmp(said, machines[i].said) == 0,
			      "machine %zu: \"%s\", not \"%s\"", i, said,
			      machines[i].said);
		bu_audit_machine_restore();
	}
	bu_audit_machine_remove();
}
END_TEST

/* lock's answer with this limit. */
static int
lock(const char *device, size_t mib, rlim_t limit_mib, char *ret_said, size_t size)
{
	struct rlimit limit = {limit_mib << 20, limit_mib << 20};

	return bu_audit_lock_bytes(device, mib << 20, &limit, ret_said, size);
}

/* No larger limits: a machine for tests may not raise its own. */
START_TEST(nobody_registers_with_a_limit)
{
	char said[128];

	fakeverbs_set(0, &(struct fakeverbs_faults){.locks = 1});
	if (geteuid() != 0) {
		ck_assert_int_eq(lock("fake0", 1, 2, said, sizeof(said)), -1);
		ck_assert_str_eq(said, "become nobody: Operation not permitted");
	}
	BU_NEEDS("root");
	ck_assert_msg(lock("fake0", 1, 2, said, sizeof(said)) == 0, "%s", said);
	ck_assert_str_eq(said, "1 MiB");
	ck_assert_int_eq(lock("fake0", 3, 2, said, sizeof(said)), 1);
	ck_assert_str_eq(said, "register 3 MiB: Cannot allocate memory");
	ck_assert_int_eq(lock("nope", 1, 2, said, sizeof(said)), 1);
	ck_assert_str_eq(said, "open it: No such device");
	/* Nothing of it is left here. */
	ck_assert_uint_eq(geteuid(), 0);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

START_TEST(another_root_is_not_tried)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	char said[128];

	ck_assert_int_eq(bu_audit_lock("/nowhere", "fake0", &limit, said, sizeof(said)),
			 -1);
	ck_assert_str_eq(said, "this is not the running system");
}
END_TEST

BU_UNIT("audit_jobs", the_limit_is_the_one_that_slurmd_gets,
	nobody_registers_with_a_limit, another_root_is_not_tried)
