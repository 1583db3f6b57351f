/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual drives in trees that are made for it: which one is taken, in which words, and
 * what it must show. (media_test.c is against a BMC that really fetches the image.)
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define DIR "http://ctl/boot/media/"
#define IMAGE DIR "n1/a.iso"

#define CD "'MediaTypes':['CD','USBStick']"
#define ACTIONS(drive)                                                                 \
	"'Actions':{'#VirtualMedia.InsertMedia':{'target':'" drive                     \
	"/in'},'#VirtualMedia.EjectMedia':{'target':'" drive "/out'}}"

static void
rig_drives(struct rig *rig, const char *const *drives, size_t count)
{
	json_t *list = json_array();

	rig_begin(rig, "dell", 0);
	rig_link(rig, SYSTEM, "VirtualMedia", "/vm");
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *path = bu_xasprintf("/vm/%zu", i + 1);

		json_array_append_new(list, json_pack("{s:s}", "@odata.id", path));
		hostile_put(rig->bmc, path, drives[i]);
	}
	hostile_put(rig->bmc, "/vm", "{}");
	hostile_set(rig->bmc, "/vm", "Members", list);
	rig->request.media = IMAGE;
}

static void
rig_drive(struct rig *rig, const char *drive)
{
	rig_drives(rig, &drive, 1);
}

static void
expect_changes(struct rig *rig, const char *wanted)
{
	bu_autofree char *changes = hostile_changes(rig->bmc);

	ck_assert_str_eq(changes, wanted);
}

/* --- which one --- */

/* One of ours first, then an empty one, then one with an action; in the order of the
 * tree where they are alike. */
START_TEST(the_best_drive_is_taken_first)
{
	static const char *const drives[] = {
		"{" CD "}",
		"{" CD ",'Image':'http://x/other.iso'," ACTIONS("/vm/2") "}",
		"{" CD "," ACTIONS("/vm/3") "}",
		"{" CD ",'Image':'http://x/more.iso'}",
		"{" CD ",'Inserted':false,'Image':'" IMAGE "'}",
		"{" CD ",'Inserted':true}",
		"{" CD "," ACTIONS("/vm/7") "}",
	};
	struct rig rig;

	rig_drives(&rig, drives, BU_LEN(drives));
	hostile_plan(rig.bmc, "POST", "", 400, NULL, 99);
	hostile_plan(rig.bmc, "PATCH", "", 400, NULL, 99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_MEDIA_INSERT), BU_ERR_REMOTE);
	/* an image is taken out first; one that stays is not written over */
	expect_changes(
		&rig,
		"PATCH /vm/5, PATCH /vm/5, PATCH /vm/5, PATCH /vm/5, PATCH /vm/5, "
		"POST /vm/3/in, POST /vm/3/in, POST /vm/3/in, POST /vm/3/in, "
		"POST /vm/7/in, POST /vm/7/in, POST /vm/7/in, POST /vm/7/in, "
		"PATCH /vm/1, PATCH /vm/1, PATCH /vm/1, PATCH /vm/1, "
		"POST /vm/2/out, "
		"PATCH /vm/4, "
		"PATCH /vm/6, PATCH /vm/6, PATCH /vm/6, PATCH /vm/6, PATCH /vm/6");
	rig_end(&rig);
}
END_TEST

START_TEST(a_drive_is_one_for_a_cd_that_takes_an_address)
{
	static const struct {
		const char *drive;
		int is;
	} rows[] = {
		{"{'MediaTypes':['CD']}", 1},
		{"{'MediaTypes':['Floppy','DVD']}", 1},
		{"{'MediaTypes':['Floppy','USBStick']}", 0},
		{"{'MediaTypes':[7]}", 0},
		{"{}", 0},
		{"{'MediaTypes':['CD'],'Id':'RDOC1'}", 0},
		{"{'MediaTypes':['CD'],'Id':'rdoc2'}", 0},
		{"{'MediaTypes':['CD'],'Id':'EXT1'}", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_drive(&rig, rows[i].drive);
		hostile_plan(rig.bmc, "PATCH", "/vm/1", 400, NULL, 99);
		rig_fails(&rig, BU_POWER_MEDIA_INSERT, BU_ERR_REMOTE,
			  rows[i].is ? "status 400"
				     : "has 1 virtual drives, and no CD among them");
		rig_end(&rig);
	}
}
END_TEST

START_TEST(eight_drives_are_looked_at)
{
	const char *drives[10];
	struct rig rig;

	for (size_t i = 0; i < BU_LEN(drives); i++)
		drives[i] = "{'MediaTypes':['CD']}";
	rig_drives(&rig, drives, BU_LEN(drives));
	hostile_plan(rig.bmc, "PATCH", "", 400, NULL, 99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_MEDIA_INSERT), BU_ERR_REMOTE);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 8 * 4);
	rig_end(&rig);
}
END_TEST

/* --- in which words --- */

START_TEST(an_image_is_said_in_four_ways)
{
	static const struct {
		const char *media, *protocol;
	} rows[] = {{IMAGE, "HTTP"}, {"https://ctl/boot/media/n1/a.iso", "HTTPS"}};

	for (size_t i = 0; i < BU_LEN(rows) * 2; i++) {
		const char *media = rows[i / 2].media, *protocol = rows[i / 2].protocol;
		int by_patch = i % 2;
		bu_autofree char *
			bodies = NULL,
		       *want = bu_xasprintf(
			       "{\"Image\":\"%s\",\"Inserted\":true,\"WriteProtected\":true}\n"
			       "{\"Image\":\"%s\"}\n"
			       "{\"Image\":\"%s\",\"TransferMethod\":\"Stream\","
			       "\"TransferProtocolType\":\"%s\"}\n"
			       "{\"Image\":\"%s\",\"Password\":\"none\","
			       "\"TransferProtocolType\":\"%s\",\"UserName\":\"none\"}\n",
			       media, media, media, protocol, media, protocol);
		struct rig rig;

		rig_drive(&rig,
			  by_patch ? "{" CD "}" : "{" CD "," ACTIONS("/vm/1") "}");
		rig.request.media = media;
		for (int k = 0; k < 4; k++)
			hostile_plan(rig.bmc, by_patch ? "PATCH" : "POST",
				     by_patch ? "/vm/1" : "/in", 400,
				     k == 0   ? "First"
				     : k == 3 ? "Last"
					      : "Between",
				     1);
		rig_fails(&rig, BU_POWER_MEDIA_INSERT, BU_ERR_REMOTE,
			  "status 400: it is First; said otherwise: ");
		ck_assert_ptr_nonnull(strstr(rig.err.text, "status 400: it is Last"));
		ck_assert_ptr_null(strstr(rig.err.text, "Between"));
		bodies = hostile_bodies(rig.bmc, by_patch ? "PATCH" : "POST",
					by_patch ? "/vm/1" : "/in");
		ck_assert_str_eq(bodies, want);
		rig_end(&rig);
	}
}
END_TEST

/* --- what it shows --- */

/* what the drive shows from the beginning | what is done | what comes of it */
START_TEST(an_image_is_known_by_what_is_shown)
{
	static const struct {
		const char *shows, *changes;
		enum bu_err_kind kind;
	} rows[] = {
		{"'Inserted':true,'Image':'" IMAGE "'", "", BU_ERR_NONE},
		{"'Image':'" IMAGE "'", "", BU_ERR_NONE},
		{"'Image':'/boot/media/n1/a.iso'", "", BU_ERR_NONE},
		{"'Image':'https://10.0.0.1:8443/boot/media/n1/a.iso'", "",
		 BU_ERR_NONE},
		/* it is not in */
		{"'Inserted':false,'Image':'" IMAGE "'",
		 "POST /vm/1/out, POST /vm/1/in", BU_ERR_VERIFY},
		{"'Inserted':true,'ImageName':'a.iso'", "POST /vm/1/out, POST /vm/1/in",
		 BU_ERR_NONE},
		{"'Inserted':false,'ImageName':'a.iso'", "POST /vm/1/in",
		 BU_ERR_VERIFY},
		{"'Inserted':true,'ImageName':'b.iso'", "POST /vm/1/out, POST /vm/1/in",
		 BU_ERR_VERIFY},
		/* another one that does not go out */
		{"'Inserted':true,'Image':'http://x/o.iso'", "POST /vm/1/out",
		 BU_ERR_VERIFY},
		{"'Inserted':false,'Image':'http://x/o.iso'",
		 "POST /vm/1/out, POST /vm/1/in", BU_ERR_VERIFY},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *drive =
			bu_xasprintf("{" CD ",%s," ACTIONS("/vm/1") "}", rows[i].shows);
		struct rig rig;

		rig_drive(&rig, drive);
		hostile_plan(rig.bmc, "POST", "", 204, NULL, 99);
		ck_assert_msg(rig_do(&rig, BU_POWER_MEDIA_INSERT) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		expect_changes(&rig, rows[i].changes);
		rig_end(&rig);
	}
}
END_TEST

#define EMPTY "{" CD "," ACTIONS("/vm/1") "}"
#define FULL "{" CD ",'Image':'" IMAGE "'," ACTIONS("/vm/1") "}"

/* At the tenth look it is in; one later it was not. */
START_TEST(an_image_may_show_late)
{
	for (int late = 9; late <= 10; late++) {
		struct hostile_answer empty = {200, EMPTY, NULL};
		struct rig rig;

		rig_drive(&rig, FULL);
		hostile_answer(rig.bmc, "GET", "/vm/1", &empty, 1 + late);
		hostile_plan(rig.bmc, "POST", "/in", 204, NULL, 1);
		ck_assert_int_eq(rig_do(&rig, BU_POWER_MEDIA_INSERT),
				 late == 9 ? BU_ERR_NONE : BU_ERR_VERIFY);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/vm/1"), 1 + 10);
		rig_end(&rig);
	}
}
END_TEST

/* One takes the image and does not show it, the next refuses it: the first is what a
 * person must know. */
START_TEST(an_image_that_is_swallowed_is_said_before_one_that_is_refused)
{
	static const char *const drives[] = {"{" CD "," ACTIONS("/vm/1") "}",
					     "{" CD "," ACTIONS("/vm/2") "}"};
	struct rig rig;

	rig_drives(&rig, drives, BU_LEN(drives));
	hostile_plan(rig.bmc, "POST", "/vm/1/in", 204, NULL, 1);
	hostile_plan(rig.bmc, "POST", "/vm/2/in", 400, NULL, 9);
	rig_fails(&rig, BU_POWER_MEDIA_INSERT, BU_ERR_VERIFY,
		  "took the image into /vm/1, and does not show it there");
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/vm/2/in"), 4);
	rig_end(&rig);
}
END_TEST

/* --- out of it --- */

/* the action's status; 0: by PATCH | shows nothing then | what comes of it */
START_TEST(an_image_is_out_when_none_is_shown)
{
	static const struct {
		int status, empties;
		enum bu_err_kind kind;
		const char *why;
	} rows[] = {
		{204, 1, BU_ERR_NONE, NULL},
		{204, 0, BU_ERR_VERIFY,
		 "took the ejection from /vm/1, and shows an "
		 "image there"},
		/* another was faster */
		{400, 1, BU_ERR_NONE, NULL},
		{400, 0, BU_ERR_REMOTE, "status 400"},
	};

	for (size_t i = 0; i < BU_LEN(rows) * 2; i++) {
		int by_patch = i % 2, status = rows[i / 2].status;
		bu_autofree char *bodies = NULL;
		struct rig rig;

		rig_drive(&rig, rows[i / 2].empties ? EMPTY : FULL);
		hostile_answer(rig.bmc, "GET", "/vm/1",
			       &(struct hostile_answer){
				       200,
				       by_patch ? "{" CD ",'Image':'" IMAGE "'}" : FULL,
				       NULL},
			       1);
		hostile_plan(rig.bmc, by_patch ? "PATCH" : "POST",
			     by_patch ? "/vm/1" : "/out", status, NULL, 1);
		rig.request.media = DIR;
		if (rows[i / 2].why)
			rig_fails(&rig, BU_POWER_MEDIA_EJECT, rows[i / 2].kind,
				  rows[i / 2].why);
		else
			rig_ok(&rig, BU_POWER_MEDIA_EJECT);
		expect_changes(&rig, by_patch ? "PATCH /vm/1" : "POST /vm/1/out");
		bodies = hostile_bodies(rig.bmc, by_patch ? "PATCH" : "POST",
					by_patch ? "/vm/1" : "/out");
		ck_assert_str_eq(bodies, by_patch ? "{\"Image\":null}\n" : "{}\n");
		rig_end(&rig);
	}
}
END_TEST

/* Each of ours, and nothing else. */
START_TEST(all_of_ours_go_out)
{
	static const char *const drives[] = {
		"{" CD ",'Image':'" DIR "n1/a.iso'," ACTIONS("/vm/1") "}",
		"{" CD ",'Image':'http://ctl/isos/a.iso'," ACTIONS("/vm/2") "}",
		"{" CD ",'Image':'" DIR "n2/b.iso'," ACTIONS("/vm/3") "}",
		"{" CD "," ACTIONS("/vm/4") "}",
	};
	struct rig rig;

	rig_drives(&rig, drives, BU_LEN(drives));
	rig.request.media = DIR;
	/* the first one is found so, and empty then */
	hostile_answer(rig.bmc, "GET", "/vm/1",
		       &(struct hostile_answer){200, drives[0], NULL}, 1);
	hostile_answer(rig.bmc, "GET", "/vm/3",
		       &(struct hostile_answer){200, drives[2], NULL}, 1);
	hostile_put(rig.bmc, "/vm/1", "{}");
	hostile_put(rig.bmc, "/vm/3", "{}");
	hostile_plan(rig.bmc, "POST", "", 204, NULL, 9);
	rig_ok(&rig, BU_POWER_MEDIA_EJECT);
	expect_changes(&rig, "POST /vm/1/out, POST /vm/3/out");
	/* of those that stay the first is the last that is tried */
	hostile_put(rig.bmc, "/vm/1", drives[0]);
	hostile_put(rig.bmc, "/vm/3", drives[2]);
	rig_fails(&rig, BU_POWER_MEDIA_EJECT, BU_ERR_VERIFY, "/vm/1");
	expect_changes(&rig, "POST /vm/1/out, POST /vm/3/out, POST /vm/1/out");
	rig_end(&rig);
}
END_TEST

/* Four tries of one, longer apart each time. */
START_TEST(a_drive_that_is_busy_is_asked_again)
{
	for (int times = 3; times <= 4; times++) {
		struct rf_times patient = short_times;
		struct rig rig;
		int64_t before_ms;

		rig_drive(&rig, FULL);
		rig_ok(&rig, BU_POWER_STATUS);
		bu_power_redfish.close(rig.driver);
		bu_loop_destroy(rig.loop);
		patient.again_ms = 1000;
		patient.op_ms = patient.hush_ms = patient.logout_ms = 10000000;
		rig.made = 1;
		bu_clock_fake(&rig.clock, 0);
		rig.loop = bu_loop_create(&rig.clock);
		rig.driver = rf_open(rig.loop, &patient);
		hostile_plan(rig.bmc, "POST", "/out", 503, NULL, times);
		hostile_plan(rig.bmc, "POST", "/out", 204, NULL, 9);
		hostile_answer(rig.bmc, "GET", "/vm/1",
			       &(struct hostile_answer){200, FULL, NULL}, 1);
		if (times == 3)
			hostile_put(rig.bmc, "/vm/1", EMPTY);
		rig.request.media = DIR;
		before_ms = bu_loop_now_ms(rig.loop);
		ck_assert_int_eq(rig_do(&rig, BU_POWER_MEDIA_EJECT),
				 times == 3 ? BU_ERR_NONE : BU_ERR_REMOTE);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/out"), 4);
		ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, 7000);
		rig_end(&rig);
	}
}
END_TEST

/* --- where they hang --- */

/* Under the system, under its managers, or under the first of all; a manager that says
 * nothing is an error where there is no drive elsewhere. */
START_TEST(drives_hang_under_the_system_or_its_managers)
{
	static const struct {
		const char *links, *drives_of;
		enum bu_err_kind kind;
	} rows[] = {
		{"{'ManagedBy':[{'@odata.id':'/m/1'},{'@odata.id':'/m/2'}]}", "/m/2",
		 BU_ERR_NONE},
		{"{'ManagedBy':[{'@odata.id':'/gone'},{'@odata.id':'/m/2'}]}", "/m/2",
		 BU_ERR_NONE},
		{"{'ManagedBy':[{'@odata.id':'/m/2'},{'@odata.id':'/gone'}]}", "/m/2",
		 BU_ERR_NONE},
		{"{'ManagedBy':[{'@odata.id':'/gone'}]}", "/m/2", BU_ERR_REMOTE},
		{"{'ManagedBy':[{'@odata.id':'http://127.0.0.2/m'}]}", "/m/2",
		 BU_ERR_REMOTE},
		{"{}", "/m/1", BU_ERR_NONE},
		{"{}", "/m/2", BU_ERR_REMOTE},
		{"{}", SYSTEM, BU_ERR_NONE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_drive(&rig, FULL);
		hostile_set(rig.bmc, SYSTEM, "VirtualMedia", json_null());
		hostile_set(rig.bmc, SYSTEM, "Links", quoted(rows[i].links));
		hostile_put(rig.bmc, "/redfish/v1/Managers",
			    "{'Members':[{'@odata.id':'/m/1'},{'@odata.id':'/m/2'}]}");
		hostile_put(rig.bmc, "/m/1", "{}");
		hostile_put(rig.bmc, "/m/2", "{}");
		rig_link(&rig, rows[i].drives_of, "VirtualMedia", "/vm");
		ck_assert_msg(rig_do(&rig, BU_POWER_MEDIA_INSERT) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		rig_end(&rig);
	}
}
END_TEST

BU_UNIT("redfish drives", the_best_drive_is_taken_first,
	a_drive_is_one_for_a_cd_that_takes_an_address, eight_drives_are_looked_at,
	an_image_is_said_in_four_ways, an_image_is_known_by_what_is_shown,
	an_image_may_show_late,
	an_image_that_is_swallowed_is_said_before_one_that_is_refused,
	an_image_is_out_when_none_is_shown, all_of_ours_go_out,
	a_drive_that_is_busy_is_asked_again,
	drives_hang_under_the_system_or_its_managers)
