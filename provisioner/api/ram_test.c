/* SPDX-License-Identifier: Apache-2.0 */
/* A node that runs from memory, through the real routes: its boot script and its work.
 */
#include <string.h>

#include "base/crypto.h"
#include "tests/support/desk.h"

static const char was[] = "power = libvirt\n", is[] = "power = libvirt\nroot = ram\n"
						      "hugepages = 2MiB*64\n"
						      "kargs = a=b\n";
static const char script[] = "/boot/script/52-54-00-77-00-01";

static struct desk desk;
static struct rig *rig;
static struct bu_node *node;

static void
admit(const char *step, int attempt)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "any");
	char token[BU_DIGEST_SIZE];
	struct bu_enrolment enrolment = {.token = token,
					 .csr = rig_request(0),
					 .inventory = inventory,
					 .address = "10.77.0.99",
					 .mac = inventory->nics[0].mac};
	bu_autofree char *cert = NULL;
	struct bu_err err = {0};

	bu_trust_token(rig->trust, step, attempt, token);
	cert = bu_reconcile_admit(rig->rec, node, &enrolment, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	rig_pass(rig, 1);
}

/* It is planned, applied without any grant, and in its ramdisk. */
static void
begin_in_ramdisk(void)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autojson json_t *planned = NULL;

	begin(&desk);
	rig = &desk.site.rig;
	planned = plan(&desk, was, is, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	for (int i = 0; i < 100 && !rig->fleet->count; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	node = rig_node(rig, 1);
	admit(node->step.id, node->step.attempt);
	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(rig, node, BU_STATE_BOOTING);
}

static json_t *
load_work(struct bu_err *err)
{
	struct bu_ram_image image;

	ck_assert(bu_ram_loads(rig->rec, node, &image));
	return bu_work_make_load(&desk.site.api.work, node, &image, err);
}

START_TEST(its_work_names_no_disk_and_is_of_this_boot)
{
	bu_autojson json_t *item = NULL, *body = NULL;
	struct bu_work_load work;
	struct bu_err err = {0};
	int has_name = 0;

	begin_in_ramdisk();
	item = load_work(&err);
	ck_assert_msg(item != NULL, "%s", err.text);
	ck_assert_msg(bu_record_from_json(bu_work_load_fields, item, &work, &err) == 0,
		      "%s", err.text);
	ck_assert_str_eq(work.work.id, node->admitted_step);
	ck_assert_str_eq(work.digest, node->order->image_digest);
	ck_assert_ptr_nonnull(strstr(work.base_url, work.digest));
	ck_assert_ptr_nonnull(strstr(work.image_key, "BEGIN PUBLIC KEY"));
	ck_assert_ptr_null(json_object_get(item, "disk"));
	ck_assert_ptr_null(json_object_get(item, "mark"));
	for (size_t i = 0; i < work.files_count; i++)
		has_name |= strcmp(work.files[i].path, "/etc/hostname") == 0;
	ck_assert(has_name);
	body = bu_trust_open_signed(rig->trust, json_object_get(item, "stamp"), &err);
	ck_assert_msg(body != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(body, "kind", ""), "stamp");
	ck_assert_str_eq(bu_json_str(body, "step", ""), node->admitted_step);
	ck_assert_str_eq(bu_json_str(body, "digest", ""), work.digest);
	bu_record_fini(bu_work_load_fields, &work);
	end(&desk);
}
END_TEST

/* Whatever it asks for, its disk is not what it gets. */
START_TEST(its_script_is_the_ramdisk_or_a_wait)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autofree char *again = NULL, *heard = NULL, *silent = NULL;
	bu_autojson json_t *item = NULL;
	char step[BU_RAM_STEP_SIZE], token[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	begin_in_ramdisk();
	bu_ram_step(node, step);
	bu_trust_token(rig->trust, step, 1, token);
	again = site_text(&desk.site, desk.site.boot, script, 200);
	ck_assert_ptr_nonnull(strstr(again, token));
	/* There is no other boot in which the kernel could be told; "quiet" alone is
	 * the image's. */
	ck_assert_ptr_nonnull(strstr(again, " bringup.token="));
	ck_assert_ptr_nonnull(strstr(strstr(again, " bringup.token="),
				     " quiet a=b hugepagesz=2M hugepages=64 && "));
	item = load_work(&err);
	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED,
					    json_object_get(item, "stamp"), inventory,
					    &err),
			 0);
	rig_until(rig, node, BU_STATE_VALIDATING);
	node->live.last_seen_ms = rig->clock.fake_wall_ms;
	heard = site_text(&desk.site, desk.site.boot, script, 200);
	ck_assert_ptr_null(strstr(heard, token));
	ck_assert_ptr_null(strstr(heard, "sanboot"));
	ck_assert_ptr_nonnull(strstr(
		heard, "sleep 5\nchain --replace http://10.77.0.1:8080/boot/script/"));
	rig->silent = 1 << 1;
	rig_pass(rig, 20 * 1000);
	silent = site_text(&desk.site, desk.site.boot, script, 200);
	ck_assert_ptr_nonnull(strstr(silent, token));
	ck_assert_ptr_null(strstr(silent, "sanboot"));
	end(&desk);
}
END_TEST

/* By the digest that its next boot loads, whatever has the name now. */
START_TEST(the_image_says_what_its_kernel_is_told)
{
	bu_autofree char *first = NULL, *gone = NULL, *path = NULL;

	begin_in_ramdisk();
	write_image_anew(&desk, "2026-02-02T00:00:00Z");
	first = site_text(&desk.site, desk.site.boot, script, 200);
	ck_assert_ptr_nonnull(strstr(first, " quiet a=b hugepagesz=2M hugepages=64 "));
	path = bu_xasprintf("%s/.store/%s", desk.site.images,
			    node->order->image_digest);
	ck_assert_int_eq(bu_remove_tree(path, NULL), 0);
	gone = site_text(&desk.site, desk.site.boot, script, 200);
	ck_assert_ptr_nonnull(strstr(gone, " a=b hugepagesz=2M hugepages=64 "));
	ck_assert_ptr_null(strstr(gone, " quiet a=b"));
	end(&desk);
}
END_TEST

/* The agent would refuse it when the machine has left its cluster for it. */
START_TEST(a_ramdisk_with_another_kernel_is_said_by_the_plan)
{
	static const char release[] = "6.1.0-29-amd64 (x@y) #1";
	char vmlinuz[0x400] = {0};
	bu_autofree char *path = NULL;
	bu_autojson json_t *made = NULL;
	const json_t *refused;

	begin(&desk);
	memcpy(vmlinuz + 0x202, "HdrS", 4);
	vmlinuz[0x20f] = 1;
	memcpy(vmlinuz + 0x300, release, sizeof(release));
	path = bu_xasprintf("%s/vmlinuz", desk.site.ramdisk);
	ck_assert_int_eq(bu_file_write(path, vmlinuz, sizeof(vmlinuz), 0644, NULL), 0);
	made = plan(&desk, was, is, NULL, 200);
	refused = json_object_get(json_object_get(made, "plan"), "refused");
	ck_assert_uint_eq(json_array_size(refused), 1);
	ck_assert_str_eq(
		rig_sentence(json_object_get(json_array_get(refused, 0), "why")),
		"[image debian12] has kernel 6.1.0-28-amd64, and the boot "
		"ramdisk 6.1.0-29-amd64, under which the nodes of [pool train] "
		"run (root = ram); build both anew: bringup image build "
		"ramdisk debian12");
	end(&desk);
}
END_TEST

/* As its agent. New reference. */
static json_t *
ask(bu_handler_fn fn, json_t *body)
{
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = node->machine,
				     .peer_cert = node->agent_cert};
	enum bu_answer answer = fn(&desk.site.api, &request, &reply, &err);

	json_decref(body);
	ck_assert_msg(answer == BU_ANSWER_NOW, "%d: %s", answer, err.text);
	rig_pass(rig, 1);
	return reply.json;
}

/* Its way is shown, what is not its load any more is ended, and what failed is given
 * another time. */
START_TEST(the_ramdisk_tells_of_its_load)
{
	static const struct {
		const char *id; /* NULL = of this boot */
		int cancelled;
	} rows[] = {{NULL, 0}, {"another", 1}};
	struct bu_ram_image image;

	begin_in_ramdisk();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const char *id = rows[i].id ? rows[i].id : node->admitted_step;
		bu_autojson json_t *told =
			ask(bu_api_agent_progress,
			    json_pack("{s:s,s:s,s:i,s:i}", "id", id, "stage", "system",
				      "done_bytes", 5 + (int)i, "total_bytes", 7));

		ck_assert_int_eq(bu_json_bool(told, "cancel", -1), rows[i].cancelled);
		ck_assert_uint_eq(node->live.progress_done_bytes, 5);
		ck_assert_str_eq(node->live.progress_stage, "system");
	}
	json_decref(ask(bu_api_agent_result,
			json_pack("{s:s,s:s,s:i}", "kind", "load", "id",
				  node->admitted_step, "attempt", 1)));
	ck_assert_int_eq(node->live.load->attempt, 0);
	json_decref(ask(bu_api_agent_result,
			json_pack("{s:s,s:s,s:i,s:{s:s,s:s}}", "kind", "load", "id",
				  node->admitted_step, "attempt", 1, "error", "kind",
				  "io", "text", "no route")));
	ck_assert_int_eq(node->live.load->attempt, 1);
	ck_assert(!bu_ram_loads(rig->rec, node, &image));
	rig_pass(rig, 60 * 1000);
	ck_assert(bu_ram_loads(rig->rec, node, &image));
	end(&desk);
}
END_TEST

/* The item could not be made: that is a failure of the load, told at once, and tried
 * again later, not at each poll. */
START_TEST(what_cannot_be_given_fails_the_load)
{
	struct bu_ram_image image;
	int attempt;

	begin_in_ramdisk();
	attempt = node->live.load->attempt;
	desk.site.api.work.image_key = "/no/such/key";
	for (int poll = 0; poll < 3; poll++) {
		bu_autojson json_t *told = ask(
			bu_api_agent_work, json_pack("{s:i,s:i}", "wait_ms", 0,
						     "protocol", BU_AGENT_PROTOCOL));

		ck_assert(json_is_null(json_object_get(told, "work")));
		ck_assert_int_eq(node->live.load->attempt, attempt + 1);
		ck_assert(!bu_ram_loads(rig->rec, node, &image));
	}
	end(&desk);
}
END_TEST

RIG_UNIT("api/ram", the_image_says_what_its_kernel_is_told,
	 a_ramdisk_with_another_kernel_is_said_by_the_plan,
	 its_work_names_no_disk_and_is_of_this_boot,
	 its_script_is_the_ramdisk_or_a_wait, what_cannot_be_given_fails_the_load,
	 the_ramdisk_tells_of_its_load)
