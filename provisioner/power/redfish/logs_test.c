/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs in trees that are made for it: what is told of an entry, and how much of a
 * log is read for it.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define MANAGER "/redfish/v1/Managers/1"
#define AT_MS 1795399384000 /* 2026-11-23T02:03:04Z */

#define LOGS "/redfish/v1/Logs"
#define SEL LOGS "/Sel"
#define ENTRIES SEL "/Entries"

static void
one_log(struct rig *rig, const char *service)
{
	rig_link(rig, SYSTEM, "LogServices", LOGS);
	hostile_put(rig->bmc, LOGS, "{'Members':[{'@odata.id':'" SEL "'}]}");
	hostile_put(rig->bmc, SEL, service);
}

#define SERVICE(more) "{'Id':'Sel','Entries':{'@odata.id':'" ENTRIES "'}" more "}"
#define ENTRY(second, more) "{'Created':'2026-11-23T02:03:" second "Z'" more "}"

/* A text of its own, or what comes next to one; of no time, and of no words. */
START_TEST(an_entry_is_told_by_its_first_words)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	one_log(&rig, SERVICE(""));
	hostile_put(rig.bmc, ENTRIES,
		    "{'Members':[{'Created':'2026-11-23T02:03:04Z','Message':'m',"
		    "'Description':'d','Severity':'Critical'},"
		    "{'Created':'2026-11-23T02:03:05Z','Message':'',"
		    "'Description':'d','MessageId':'i'},"
		    "{'Created':'2026-11-23T02:03:06Z','MessageId':'i','Name':'n'},"
		    "{'Created':'2026-11-23T02:03:07Z','Name':'n'},"
		    "{'Created':'2026-11-23T02:03:08Z'},"
		    "{'Created':'1970-01-01T00:00:00Z','Message':'early'}]}");
	rig_report(
		&rig, BU_POWER_EVENTS,
		"{'events':["
		"{'at_ms':0,'severity':'','log':'Sel','text':'early'},"
		"{'at_ms':1795399384000,'severity':'critical','log':'Sel','text':'m'},"
		"{'at_ms':1795399385000,'severity':'','log':'Sel','text':'d'},"
		"{'at_ms':1795399386000,'severity':'','log':'Sel','text':'i'},"
		"{'at_ms':1795399387000,'severity':'','log':'Sel','text':'n'},"
		"{'at_ms':1795399388000,'severity':'','log':'Sel','text':''}],"
		"'more':false,'full':false}");
	rig_end(&rig);
}
END_TEST

/* Which logs are read: by name, by whether they are on and have entries. Those of the
 * machine and of its BMC. */
START_TEST(logs_of_the_bmcs_own_software_are_passed_over)
{
	static const char *const names[] = {
		"Journal", "bmc-PostCodes", "DumpLog", "Debug",     "HostLogger",
		"console", "AuditLog",      "Lclog",   "Crashdump", "FaultLog"};
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_link(&rig, SYSTEM, "LogServices", LOGS);
	rig_link(&rig, MANAGER, "LogServices", "/redfish/v1/Others");
	hostile_put(rig.bmc, LOGS,
		    "{'Members':[{'@odata.id':'/l/off'},{'@odata.id':'/l/none'},"
		    "{'@odata.id':'/l/on'}]}");
	hostile_put(rig.bmc, "/redfish/v1/Others",
		    "{'Members':[{'@odata.id':'/l/bmc'},{'@odata.id':'/l/named'}]}");
	hostile_put(rig.bmc, "/e", "{'Members':[" ENTRY("04", ",'Message':'m'") "]}");
	hostile_put(rig.bmc, "/l/off",
		    "{'Id':'off','ServiceEnabled':false,'Entries':{'@odata.id':'/e'}}");
	hostile_put(rig.bmc, "/l/none", "{'Id':'none'}");
	hostile_put(rig.bmc, "/l/on",
		    "{'Id':'on','ServiceEnabled':true,'Entries':{'@odata.id':'/e'}}");
	hostile_put(rig.bmc, "/l/bmc", "{'Entries':{'@odata.id':'/e'}}");
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *named = bu_xasprintf(
			"{'Id':'%s','Entries':{'@odata.id':'/e'}}", names[i]);

		hostile_put(rig.bmc, "/l/named", named);
		rig_report(&rig, BU_POWER_EVENTS,
			   "{'events':[{'at_ms':1795399384000,'severity':'','log':'on',"
			   "'text':'m'},{'at_ms':1795399384000,'severity':'',"
			   "'log':'/l/bmc','text':'m'}],'more':false,'full':false}");
	}
	rig_end(&rig);
}
END_TEST

/* policy | has | can have | full */
START_TEST(a_log_is_full_when_it_keeps_what_it_has)
{
	static const struct {
		const char *policy;
		int count, most, full;
	} rows[] = {
		{"NeverOverWrites", 10, 10, 1}, {"NeverOverWrites", 11, 10, 1},
		{"NeverOverWrites", 9, 10, 0},  {"NeverOverWrites", 0, 0, 0},
		{"WrapsWhenFull", 10, 10, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *service = bu_xasprintf(
			SERVICE(",'OverWritePolicy':'%s','MaxNumberOfRecords':%d"),
			rows[i].policy, rows[i].most);
		bu_autofree char *page = bu_xasprintf(
			"{'Members':[],'Members@odata.count':%d}", rows[i].count);
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		one_log(&rig, service);
		hostile_put(rig.bmc, ENTRIES, page);
		rig_ok(&rig, BU_POWER_EVENTS);
		ck_assert_msg(bu_json_bool(rig.report, "full", -1) == rows[i].full,
			      "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* Each page links the next. */
static void
put_pages(struct rig *rig, const char *const *pages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *path =
			i ? bu_xasprintf("%s/%zu", ENTRIES, i) : bu_xstrdup(ENTRIES);
		bu_autofree char *page = bu_xasprintf(
			"{'Members':[%s]%s%s%s}", pages[i],
			i + 1 < count ? ",'Members@odata.nextLink':'" ENTRIES "/" : "",
			"", "");
		bu_autofree char *linked =
			i + 1 < count ? bu_xasprintf("%.*s%zu'}", (int)strlen(page) - 1,
						     page, i + 1)
				      : bu_xstrdup(page);

		hostile_put(rig->bmc, path, linked);
	}
}

/* since, most | pages that are read, texts that are told, more */
START_TEST(pages_are_read_until_they_are_too_old_or_too_many)
{
	static const char *const newest[] = {
		ENTRY("09", ",'Message':'9'") "," ENTRY("08", ",'Message':'8'"),
		ENTRY("07", ",'Message':'7'") "," ENTRY("06", ",'Message':'6'"),
		ENTRY("05", ",'Message':'5'") "," ENTRY("04", ",'Message':'4'")};
	static const char *const oldest[] = {
		ENTRY("04", ",'Message':'4'") "," ENTRY("05", ",'Message':'5'"),
		ENTRY("06", ",'Message':'6'") "," ENTRY("07", ",'Message':'7'"),
		ENTRY("08", ",'Message':'8'") "," ENTRY("09", ",'Message':'9'")};
	static const struct {
		const char *const *pages;
		int64_t since_ms;
		size_t most;
		int read;
		const char *told;
		int more;
	} rows[] = {
		{newest, 0, 0, 3, "456789", 0},
		{newest, 0, 4, 2, "6789", 0},
		{newest, 0, 3, 2, "789", 1},
		{newest, 0, 2, 1, "89", 0},
		{newest, AT_MS + 3000, 0, 2, "789", 0},
		{newest, AT_MS + 2000, 0, 3, "6789", 0},
		{newest, AT_MS + 9000, 0, 1, "", 0},
		{oldest, 0, 0, 3, "456789", 0},
		{oldest, 0, 2, 3, "89", 1},
		{oldest, AT_MS + 3000, 0, 3, "789", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const json_t *event;
		char told[16] = "";
		struct rig rig;
		size_t k;

		rig_begin(&rig, "dell", 0);
		one_log(&rig, SERVICE(""));
		put_pages(&rig, rows[i].pages, 3);
		rig.request.since_ms = rows[i].since_ms;
		rig.request.most = rows[i].most;
		rig_ok(&rig, BU_POWER_EVENTS);
		json_array_foreach (json_object_get(rig.report, "events"), k, event)
			strcat(told, bu_json_str(event, "text", ""));
		ck_assert_msg(strcmp(told, rows[i].told) == 0, "row %zu: %s", i, told);
		ck_assert_int_eq(bu_json_bool(rig.report, "more", -1), rows[i].more);
		ck_assert_msg(hostile_count(rig.bmc, "GET", ENTRIES) +
					      hostile_count(rig.bmc, "GET", "/1") +
					      hostile_count(rig.bmc, "GET", "/2") -
					      hostile_count(rig.bmc, "GET", MANAGER) ==
				      rows[i].read,
			      "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* A page that links itself ends some time, and that is said. */
START_TEST(pages_without_an_end_are_left)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	one_log(&rig, SERVICE(""));
	hostile_put(
		rig.bmc, ENTRIES,
		"{'Members':[" ENTRY(
			"04", ",'Message':'m'") "],'Members@odata.nextLink':'" ENTRIES
						"'}");
	rig_ok(&rig, BU_POWER_EVENTS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", ENTRIES), 401);
	ck_assert_int_eq(bu_json_bool(rig.report, "more", 0), 1);
	rig_end(&rig);
}
END_TEST

/* the second page | so many entries, wanted | the page that is read instead of it; a
 * link without a number, or behind what is wanted, is followed as it is */
START_TEST(the_last_entries_are_gone_to)
{
	static const struct {
		const char *next;
		int count;
		size_t most;
		const char *read;
	} rows[] = {
		{"?$skip=2", 100, 10, "?$skip=90"},
		{"?skip=2", 13, 10, "?skip=3"},
		{"?skip=2", 12, 10, "?skip=2"},
		{"?skip=2", 5, 10, "?skip=2"},
		{"?skip=x", 100, 10, "?skip=x"},
		{"?skip=0", 100, 10, "?skip=0"},
		{"?page=2", 100, 10, "?page=2"},
		{"?skip=2", 500, 0, "?skip=400"},
		{"?skip=2", 5000, 1001, "?skip=4000"},
		{"?skip=2", 5000, 1000, "?skip=4000"},
		{"?skip=2", 5000, 999, "?skip=4001"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *page = bu_xasprintf(
			"{'Members@odata.count':%d,'Members':[" ENTRY(
				"04", ",'Message':'m'") "],'Members@odata.nextLink':"
							"'" ENTRIES "%s'}",
			rows[i].count, rows[i].next);
		bu_autofree char *query = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		one_log(&rig, SERVICE(""));
		hostile_answer(rig.bmc, "GET", ENTRIES,
			       &(struct hostile_answer){200, page, NULL}, 1);
		hostile_put(rig.bmc, ENTRIES, "{'Members':[]}");
		rig.request.most = rows[i].most;
		rig_ok(&rig, BU_POWER_EVENTS);
		query = hostile_queries(rig.bmc, ENTRIES);
		ck_assert_msg(strcmp(query, rows[i].read) == 0, "row %zu: %s", i,
			      query);
		rig_end(&rig);
	}
}
END_TEST

static void
put_linked(struct rig *rig, int count, int newest_first)
{
	json_t *members = json_array();
	bu_autojson json_t *page = json_pack("{s:O}", "Members", members);
	bu_autofree char *text = NULL;

	for (int i = 0; i < count; i++) {
		int number = newest_first ? count - i : i + 1;
		bu_autofree char *path = bu_xasprintf("/en/%d/", number);
		bu_autofree char *entry = bu_xasprintf(
			"{'Created':'2026-11-23T02:%02d:04Z','Message':'%d'}", number,
			number);

		json_array_append_new(members, json_pack("{s:s}", "@odata.id", path));
		hostile_put(rig->bmc, path, entry);
	}
	json_decref(members);
	text = bu_json_canonical(page);
	hostile_put(rig->bmc, ENTRIES, text);
}

/* in the page | first | since the minute, most | first and last that are told, more |
 * read */
START_TEST(the_newest_links_are_followed)
{
	static const struct {
		int count, newest_first, since, most, first, last, more, read;
	} rows[] = {
		{40, 1, 0, 0, 1, 40, 0, 40},  {41, 1, 0, 0, 2, 41, 1, 40},
		{41, 0, 0, 0, 2, 41, 1, 40},  {12, 0, 0, 0, 1, 12, 0, 12},
		{12, 1, 8, 0, 8, 12, 0, 6},   {12, 0, 8, 0, 8, 12, 0, 6},
		{12, 0, 12, 0, 12, 12, 0, 2}, {1, 0, 0, 0, 1, 1, 0, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const json_t *events;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		one_log(&rig, SERVICE(""));
		put_linked(&rig, rows[i].count, rows[i].newest_first);
		if (rows[i].since)
			rig.request.since_ms =
				AT_MS + (int64_t)(rows[i].since - 3) * 60000;
		rig_ok(&rig, BU_POWER_EVENTS);
		events = json_object_get(rig.report, "events");
		ck_assert_msg((int)json_array_size(events) ==
				      rows[i].last - rows[i].first + 1,
			      "row %zu: %zu", i, json_array_size(events));
		ck_assert_int_eq(
			atoi(bu_json_str(json_array_get(events, 0), "text", "")),
			rows[i].first);
		ck_assert_int_eq(bu_json_bool(rig.report, "more", -1), rows[i].more);
		ck_assert_msg(hostile_under(rig.bmc, "GET /en/") == rows[i].read,
			      "row %zu: %d", i, hostile_under(rig.bmc, "GET /en/"));
		rig_end(&rig);
	}
}
END_TEST

/* What is no link of this BMC, or is gone, is passed over. */
START_TEST(a_broken_link_costs_no_other)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	one_log(&rig, SERVICE(""));
	hostile_put(rig.bmc, ENTRIES,
		    "{'Members':[{'@odata.id':'http://127.0.0.2/9'},"
		    "{'@odata.id':'/en/gone8'},{'@odata.id':'/en/1'}]}");
	hostile_put(rig.bmc, "/en/1", ENTRY("04", ",'Message':'m'"));
	rig_report(&rig, BU_POWER_EVENTS,
		   "{'events':[{'at_ms':1795399384000,'severity':'','log':'Sel',"
		   "'text':'m'}],'more':false,'full':false}");
	rig_end(&rig);
}
END_TEST

/* Two logs: one that fails is said where another was read, and is the error where none
 * was; without any log there is nothing to fail. */
START_TEST(a_log_that_cannot_be_read_is_said)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_fails(&rig, BU_POWER_EVENTS, BU_ERR_INVAL, "the BMC shows no event log");
	rig_link(&rig, SYSTEM, "LogServices", LOGS);
	hostile_put(rig.bmc, LOGS,
		    "{'Members':[{'@odata.id':'/l/1'},{'@odata.id':'/l/2'}]}");
	hostile_put(rig.bmc, "/l/1", "{'Id':'one','Entries':{'@odata.id':'/e1'}}");
	hostile_put(rig.bmc, "/l/2", "{'Id':'two','Entries':{'@odata.id':'/e2'}}");
	rig_fails(&rig, BU_POWER_EVENTS, BU_ERR_REMOTE, "status 404");
	/* one is empty: that is read, and no event at all */
	hostile_put(rig.bmc, "/e2", "{'Members':[]}");
	rig_report(&rig, BU_POWER_EVENTS, "{'events':[],'more':false,'full':false}");
	/* of one the second page fails: what there is is told, and that it lacks some
	 */
	hostile_put(
		rig.bmc, "/e1",
		"{'Members':[" ENTRY(
			"04", ",'Message':'m'") "],'Members@odata.nextLink':'/gone'}");
	hostile_put(rig.bmc, "/l/2", "{'Id':'two'}");
	rig_report(&rig, BU_POWER_EVENTS,
		   "{'events':[{'at_ms':1795399384000,'severity':'','log':'one',"
		   "'text':'m'}],'more':true,'full':false}");
	/* and the log behind it does not make that up */
	hostile_put(rig.bmc, "/l/2", "{'Id':'two','Entries':{'@odata.id':'/e2'}}");
	rig_report(&rig, BU_POWER_EVENTS,
		   "{'events':[{'at_ms':1795399384000,'severity':'','log':'one',"
		   "'text':'m'}],'more':true,'full':false}");
	rig_end(&rig);
}
END_TEST

/* By pages, and by links: what was read until then is told, and that there is more. */
START_TEST(a_log_that_takes_too_long_is_told_in_part)
{
	for (int linked = 0; linked < 2; linked++) {
		struct rf_times times = short_times;
		struct rig rig;
		size_t told;

		times.gap_ms = 1000;
		times.op_ms = 20000;
		times.hush_ms = times.logout_ms = times.tree_ms = 1000000;
		rig_made(&rig, "dell", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		one_log(&rig, SERVICE(""));
		if (linked)
			put_linked(&rig, 40, 1);
		else
			hostile_put(
				rig.bmc, ENTRIES,
				"{'Members':[" ENTRY(
					"04",
					",'Message':'m'") "],"
							  "'Members@odata.nextLink':'" ENTRIES
							  "'}");
		rig_ok(&rig, BU_POWER_EVENTS);
		told = json_array_size(json_object_get(rig.report, "events"));
		ck_assert_uint_gt(told, 0);
		ck_assert_uint_lt(told, 20);
		ck_assert_int_eq(bu_json_bool(rig.report, "more", 0), 1);
		rig_end(&rig);
	}
}
END_TEST

/* Each log by its own clock. */
START_TEST(a_logs_clock_is_set_right)
{
	int64_t now_ms = bu_wall_ms(bu_clock_system()), at_ms;
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	one_log(&rig, SERVICE(",'DateTime':'2040-01-01T00:10:00Z'"));
	hostile_put(rig.bmc, ENTRIES,
		    "{'Members':[{'Created':'2040-01-01T00:00:00Z','Message':'m'}]}");
	rig_ok(&rig, BU_POWER_EVENTS);
	at_ms = bu_json_int(json_array_get(json_object_get(rig.report, "events"), 0),
			    "at_ms", 0);
	ck_assert_int_ge(at_ms, now_ms - 600000 - 1000);
	ck_assert_int_le(at_ms, now_ms - 600000 + 60000);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish logs", a_log_that_takes_too_long_is_told_in_part,
	an_entry_is_told_by_its_first_words,
	logs_of_the_bmcs_own_software_are_passed_over,
	a_log_is_full_when_it_keeps_what_it_has,
	pages_are_read_until_they_are_too_old_or_too_many,
	pages_without_an_end_are_left, the_last_entries_are_gone_to,
	the_newest_links_are_followed, a_broken_link_costs_no_other,
	a_log_that_cannot_be_read_is_said, a_logs_clock_is_set_right)
