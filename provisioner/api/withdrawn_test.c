/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on a node and runs there against what the profile says: through the real
 * routes, with what the real agent reads. Orders that were withdrawn leave their files.
 */
#include <string.h>

#include "provisioner/node/drifted.h"
#include "provisioner/node/verbs.h"
#include "tests/support/desk.h"
#include "tests/support/lies.h"

/* What of the pool is replaced. */
static const char lines[] = "features = rxe, lab\ngres = rdma:rxe:1\n";
static const char with_kargs[] =
	"features = rxe, lab\ngres = rdma:rxe:1\nkargs = iommu=pt\n";
static const char with_sysctl[] =
	"features = rxe, lab\ngres = rdma:rxe:1\nsysctl = vm.swappiness=10\n";

static const char *from = lines;
static struct desk desk;
static struct rig *rig;
static struct bu_node *node;

static json_t *
work(void)
{
	struct bu_err err = {0};
	json_t *item;

	item = bu_work_make_step(&desk.site.api.work, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	return item;
}

static void
settle(void)
{
	for (int i = 0; i < 100; i++)
		rig_pass(rig, 1);
	rig_pass(rig, 1000);
	rig_pass(rig, 1000);
	ck_assert_int_eq(node->live.appending, 0);
}

/* Its agent says hello in this boot. */
static void
greet(const char *boot_id, const json_t *told)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	bu_autojson json_t *stamp = rig_stamp(rig, node);
	struct bu_err err = {0};

	ck_assert_msg(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp,
					 inventory, &err) == 0,
		      "%s", err.text);
	node->live.last_seen_ms = bu_wall_ms(&rig->clock);
	bu_reconcile_heard(rig->rec, node);
	bu_drifted_tell(rig->rec, node, told);
	settle();
}

static void
greet_as_is(const char *boot_id)
{
	bu_autojson json_t *told = lies_told();

	greet(boot_id, told);
}

static void
comes_into_service(void)
{
	rig_until(rig, node, BU_STATE_VALIDATING);
	rig_join(rig, 1);
	settle();
}

static void
order(const char *to)
{
	bu_autojson json_t *planned = plan(&desk, to ? from : NULL, to, NULL, 200);

	json_decref(apply(&desk, planned, 200));
	for (int i = 0; i < 100 && strcmp(rig->fleet->revision,
					  bu_json_str(json_object_get(planned, "plan"),
						      "revision", "")) != 0;
	     i++)
		rig_pass(rig, 1);
}

static void
start(void)
{
	bu_autojson json_t *item = NULL;

	begin(&desk);
	rig = &desk.site.rig;
	lies_begin();
	order(NULL);
	node = rig_node(rig, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	item = work();
	lies_write(item, -1);
	rig_install(rig, 1);
	lies_boot();
	greet_as_is("boot-1");
	comes_into_service();
}

static void
finish(void)
{
	lies_end();
	end(&desk);
}

/* Its order begins; until its files are to be written. */
static json_t *
until_written(const char *to)
{
	struct bu_err err = {0};

	order(to);
	ck_assert_int_eq(node->order->open, 1);
	if (node->order->class > BU_CLASS_RECONFIGURE)
		rig_write(rig, "sinfo", "");
	ck_assert_msg(bu_reconcile_begin(rig->rec, node, &err) == 0, "%s", err.text);
	for (int i = 0; i < 400 && (node->step.action != BU_ACTION_CONFIGURE ||
				    node->step.status != BU_STEP_OPEN);
	     i++)
		rig_pass(rig, 500);
	rig_until_step(rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	return work();
}

static void
until_done(void)
{
	for (int i = 0; i < 100 && node->order->open; i++)
		rig_pass(rig, 500);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(node->order->failed, 0);
}

static void
verb(enum bu_verb verb)
{
	const struct bu_verb_ask ask = {.verb = verb, .by = "ann", .reason = "fan"};
	struct bu_err err = {0};
	bu_autofree char *does = bu_verb_run(rig->rec, node, &ask, &err);

	ck_assert_msg(does != NULL, "%s", err.text);
	settle();
}

/* "CLASS FACET OLD -> NEW, ..." of what a plan would do to it, "" = nothing. */
static char *
planned(const char *to)
{
	bu_autojson json_t *answer = plan(&desk, to ? from : NULL, to, NULL, 200);
	const json_t *steps = steps_of(answer);
	char *text = bu_xstrdup("");
	json_t *step, *change;
	size_t i, j;

	json_array_foreach ((json_t *)(uintptr_t)steps, i, step) {
		if (strcmp(bu_json_str(step, "node", ""), "node001") != 0)
			continue;
		free(text);
		text = bu_xstrdup(bu_json_str(step, "class", ""));
		json_array_foreach (json_object_get(step, "changes"), j, change) {
			bu_autofree char *old = text;

			text = bu_xasprintf("%s, %s %s: %s -> %s", old,
					    bu_json_str(change, "class", ""),
					    bu_json_str(change, "facet", ""),
					    bu_json_str(change, "old", ""),
					    bu_json_str(change, "new", ""));
		}
	}
	return text;
}

static void
plans(const char *to, const char *want)
{
	bu_autofree char *text = planned(to);

	ck_assert_str_eq(text, want);
}

/* What `node show` has as drift; "" = none. */
static void
shows(const char *want)
{
	bu_autojson json_t *shown = site_call(&desk.site, desk.site.local, "GET",
					      "/v1/nodes/node001", "", 200);
	const json_t *drift = json_object_get(shown, "drift");
	bu_autofree char *said =
		bu_said_text(json_object_get(json_array_get(drift, 0), "said"));

	ck_assert_str_eq(said, want);
	ck_assert_uint_eq(json_array_size(drift), *want != '\0');
	ck_assert_int_eq(node->conditions[BU_CONDITION_DRIFTED].on, *want != '\0');
	if (*want)
		ck_assert_str_eq(
			rig_sentence(node->conditions[BU_CONDITION_DRIFTED].detail),
			want);
}

/* A reboot with other kernel arguments, drained while the machine boots. */
static void
drain_in_the_middle(void)
{
	bu_autojson json_t *item = until_written(with_kargs);

	lies_write(item, -1);
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_BOOTING);
	rig_until_step(rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	verb(BU_VERB_DRAIN);
	ck_assert_int_eq(node->order->withdrawn, 1);
}

START_TEST(files_of_an_order_that_was_withdrawn_are_drift_until_apply_puts_them_right)
{
	bu_autojson json_t *item = NULL;

	start();
	plans(NULL, "");
	shows("");
	drain_in_the_middle();
	lies_boot();
	greet_as_is("boot-2");
	verb(BU_VERB_RESUME);
	comes_into_service();
	ck_assert_int_eq(node->state, BU_STATE_READY);

	/* the revision that is applied is the one with them */
	shows("");
	plans(with_kargs, "");
	plans(NULL, "reboot, reboot kargs: iommu=pt -> ");
	/* it is applied to the others alone: now it is not as the profile says */
	{
		bu_autojson json_t *others = plan(&desk, NULL, NULL, "node002", 200);
		json_t *applied = apply(&desk, others, 200);

		json_decref(applied);
		settle();
	}
	shows("kargs on it is iommu=pt, the profile says (none)");
	plans(NULL, "reboot, reboot kargs: iommu=pt -> ");

	/* another process knows the same */
	site_restart(&desk.site);
	rig = &desk.site.rig;
	node = rig_node(rig, 1);
	plans(NULL, "reboot, reboot kargs: iommu=pt -> ");

	item = until_written(NULL);
	ck_assert_str_eq(bu_json_str(item, "kargs", "-"), "");
	lies_write(item, -1);
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_BOOTING);
	rig_until_step(rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	lies_boot();
	greet_as_is("boot-3");
	comes_into_service();
	ck_assert_int_eq(node->order->open, 0);
	plans(NULL, "");
	shows("");
	finish();
}
END_TEST

/* The reboot never came: the kernel runs as it should, and only the next boot would
 * not. */
START_TEST(what_was_written_and_never_booted_is_written_back_without_a_reboot)
{
	bu_autojson json_t *item = NULL;

	start();
	item = until_written(with_kargs);
	lies_write(item, -1);
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_BOOTING);
	rig_until_step(rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	verb(BU_VERB_DRAIN);
	greet_as_is("boot-2");
	plans(NULL, "");
	verb(BU_VERB_RESUME);
	comes_into_service();
	plans(NULL, "reconfigure, reconfigure kargs: iommu=pt -> ");
	/* nor is it what that revision wants */
	plans(with_kargs, "reboot, reboot kernel arguments:  -> iommu=pt");
	shows("kernel arguments are (none), and iommu=pt was written");
	finish();
}
END_TEST

START_TEST(an_edited_file_is_drift_until_it_is_written_again)
{
	static const char path[] = "/etc/sysctl.d/90-bringup.conf";
	bu_autojson json_t *item = NULL;

	start();
	item = until_written(with_sysctl);
	lies_write(item, -1);
	rig_answer(rig, node, NULL);
	until_done();
	greet_as_is("boot-1");
	plans(with_sysctl, "");
	shows("");
	lies_edit(path, "vm.swappiness=60\n");
	greet_as_is("boot-1");
	shows("/etc/sysctl.d/90-bringup.conf is changed on it; bringup wrote it "
	      "otherwise");
	plans(with_sysctl, "reconfigure, reconfigure files: "
			   "/etc/sysctl.d/90-bringup.conf changed -> as the profile "
			   "says");
	json_decref(item);
	item = until_written(with_sysctl);
	settle();
	shows("");
	lies_write(item, -1);
	rig_answer(rig, node, NULL);
	until_done();
	greet_as_is("boot-1");
	plans(with_sysctl, "");
	shows("");
	finish();
}
END_TEST

/* All of it is written, and its answer comes too late: the log has it as failed. */
START_TEST(files_of_an_order_that_failed_are_drift_whatever_they_set)
{
	static const struct {
		const char *from, *to, *plan;
	} rows[] = {
		{"rdma = rxe\n", "rdma = rxe\nmtu = 4000\n",
		 "reconfigure, reconfigure network.fabric.mtu: 4000 -> "},
		{lines, with_sysctl,
		 "reconfigure, reconfigure sysctl: vm.swappiness=10 -> "},
		{"zone = z1\n", "zone = z1\ndomain = x.example\n",
		 "reconfigure, reconfigure site.domain: x.example -> "},
	};
	const struct bu_err late = {.kind = BU_ERR_TIMEOUT, .text = "no answer"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = NULL;

		from = rows[i].from;
		start();
		item = until_written(rows[i].to);
		lies_write(item, -1);
		rig_answer(rig, node, &late);
		settle();
		ck_assert_int_eq(node->order->failed, 1);
		greet_as_is("boot-1");
		plans(NULL, rows[i].plan);
		plans(rows[i].to, "");
		finish();
	}
	from = lines;
}
END_TEST

/* Neither the old nor the new: what is there is of no order. */
START_TEST(half_a_configuration_is_drift)
{
	bu_autojson json_t *item = NULL;
	bu_autofree char *text = NULL;

	start();
	item = until_written(with_sysctl);
	/* all but its record */
	lies_write(item, (int)json_array_size(json_object_get(item, "files")) - 1);
	{
		const struct bu_err failure = {.kind = BU_ERR_TIMEOUT,
					       .text = "no answer"};

		rig_answer(rig, node, &failure);
	}
	settle();
	greet_as_is("boot-1");
	text = planned(NULL);
	ck_assert_str_eq(text, "reconfigure, reconfigure files: "
			       "/etc/sysctl.d/90-bringup.conf added -> as the profile "
			       "says");
	finish();
}
END_TEST

/* The work of the orders is the best that is known. */
START_TEST(of_an_agent_that_tells_nothing_the_orders_count)
{
	start();
	plans(with_sysctl, "reconfigure, reconfigure sysctl:  -> vm.swappiness=10");
	lies_edit("/etc/hostname", "other\n");
	greet_as_is("boot-1");
	shows("/etc/hostname is changed on it; bringup wrote it otherwise");
	greet("boot-1", NULL);
	shows("");
	plans(NULL, "");
	plans(with_sysctl, "reconfigure, reconfigure sysctl:  -> vm.swappiness=10");
	finish();
}
END_TEST

/* Words of the loader and of the firmware, features that no file has, a resolver that
 * DHCP wrote. */
START_TEST(what_is_nobodys_doing_is_no_drift)
{
	static const char features[] = "features = rxe\ngres = rdma:rxe:1\n";

	start();
	lies_edit("/proc/cmdline", "BOOT_IMAGE=(hd0,gpt2)/vmlinuz root=/dev/md0 ro "
				   "crashkernel=256M efi=runtime initrd=\\a\n");
	lies_edit("/etc/resolv.conf", "nameserver 192.168.1.1\n");
	greet_as_is("boot-1");
	shows("");
	plans(NULL, "");
	order(features);
	ck_assert_int_eq(node->order->class, BU_CLASS_RELABEL);
	ck_assert_int_eq(bu_reconcile_begin(rig->rec, node, NULL), 0);
	until_done();
	/* the files are of before, and so is their record */
	greet_as_is("boot-1");
	plans(features, "");
	shows("");
	finish();
}
END_TEST

RIG_UNIT("withdrawn",
	 what_was_written_and_never_booted_is_written_back_without_a_reboot,
	 an_edited_file_is_drift_until_it_is_written_again,
	 half_a_configuration_is_drift,
	 files_of_an_order_that_failed_are_drift_whatever_they_set,
	 of_an_agent_that_tells_nothing_the_orders_count,
	 what_is_nobodys_doing_is_no_drift,
	 files_of_an_order_that_was_withdrawn_are_drift_until_apply_puts_them_right)
