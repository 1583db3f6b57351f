/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the log, byte for byte. */
#include "model/event_body.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

struct row {
	enum bu_event_kind kind;
	const char *row;
	const char *again; /* as it is written today; NULL = the same */
};

static const struct row today[] = {
	{BU_EVENT_EPOCH, "{'epoch':1771027200}", NULL},
	{BU_EVENT_EPOCH, "{'ends':true,'epoch':1771027200}", NULL},
	{BU_EVENT_STARTED, "{'lasted_ms':5,'why':'room'}", NULL},
	{BU_EVENT_REVISION, "{'commit':'c0ffee','digest':'946a'}", NULL},
	{BU_EVENT_PLAN, "{'digest':'0008','revision':'946a'}", NULL},
	{BU_EVENT_APPLIED,
	 "{'by':'me','commit':'c0ffee','grants':[{'class':'wipe','nodes':['node001']}],"
	 "'limit':'','nodes':1,'plan':'1111','revision':'946a','rollout':'r-1'}",
	 NULL},
	{BU_EVENT_ADOPTED,
	 "{'boot_id':'b','facets':'f','stamp':{'node':'node001'},'told':{'serial':'S'}}",
	 NULL},
	{BU_EVENT_LEARNED,
	 "{'by':'node001','epoch':7,'revoked':{'m1':'node002'},'seq':41}", NULL},
	{BU_EVENT_ROTATED, "{'by':'ann','to':'told'}", NULL},
	{BU_EVENT_ORDER,
	 "{'batch':0,'class':'reboot','commit':'c0ffee','digest':'d2','facets':'f2',"
	 "'image':'debian12','replace':false,'reset':true,'revision':'946a',"
	 "'rollout':'r-1'}",
	 NULL},
	{BU_EVENT_ORDER,
	 "{'batch':1,'class':'wipe','commit':'','digest':'d2','disk':{'holds':'ext4',"
	 "'path':'/dev/vda','serial':'S1','size_bytes':4096,'wanted':'any'},"
	 "'facets':'f2','image':'debian12','replace':true,'reset':false,"
	 "'revision':'946a','rollout':'r-1'}",
	 NULL},
	{BU_EVENT_ORDER,
	 "{'batch':1,'class':'wipe','commit':'','digest':'d2','disk':{'path':'/dev/vda'},"
	 "'facets':'f2','image':'debian12','replace':false,'reset':false,"
	 "'revision':'946a','rollout':'r-1','scratch':[{'path':'/dev/vdb',"
	 "'serial':'S2'}]}",
	 NULL},
	{BU_EVENT_ORDER,
	 "{'batch':1,'class':'wipe','commit':'','digest':'d2','disk':{'path':'',"
	 "'wanted':'any'},'facets':'f2','image':'debian12','replace':false,"
	 "'reset':false,'revision':'946a','rollout':'r-1'}",
	 NULL},
	/* at once */
	{BU_EVENT_ORDER, "{'batch':-1,'class':'relabel','rollout':'r-1'}", NULL},
	{BU_EVENT_ORDER,
	 "{'begun':false,'by':'ann','class':'install','retry':true,'rollout':'r-1'}",
	 NULL},
	{BU_EVENT_ROLLOUT,
	 "{'args':{'who':'ann'},'by':'ann','code':'rollout-by',"
	 "'rollout':'r-1','to':'aborted'}",
	 NULL},
	{BU_EVENT_START, "{'by':'ann','reason':'power is back','tier':10,'to':'begun'}",
	 NULL},
	{BU_EVENT_BRAKE, "{'late':3,'of':9,'on':true,'scope':'rack r1'}", NULL},
	{BU_EVENT_BOUND, "{'inventory':'cbd5','machine':'e7c2'}", NULL},
	{BU_EVENT_BOUND,
	 "{'disk':{'path':'/dev/vda','serial':'S1','size_bytes':512,'wanted':'any',"
	 "'written':true},'firmware':'uefi','inventory':'cbd5','machine':'e7c2',"
	 "'told':{}}",
	 NULL},
	{BU_EVENT_RENAMED, "{'to':'node002'}", NULL},
	{BU_EVENT_STATE, "{'from':'joining','on':'joined','to':'ready'}", NULL},
	{BU_EVENT_STATE,
	 "{'args':{'verb':'reboot','who':'ann','words':''},'by':'ann','code':'verb',"
	 "'from':'validating','on':'boot','reset':true,"
	 "'to':'booting'}",
	 NULL},
	{BU_EVENT_STATE,
	 "{'args':{'verb':'drain','who':'ann','words':''},'by':'ann','code':'verb',"
	 "'from':'ready','next':{'again':false,'args':{'verb':'drain','who':'ann',"
	 "'words':''},'by':'ann','code':'verb','reset':true,"
	 "'state':'parked'},'on':'drain','to':'draining'}",
	 NULL},
	{BU_EVENT_INTENT,
	 "{'action':'join','attempt':2,'epoch':7,'step':'node001.43.join'}", NULL},
	{BU_EVENT_OUTCOME,
	 "{'action':'leave','attempt':1,'detail':'no slurmctld','kind':'timeout',"
	 "'result':'failed','step':'node001.27.leave'}",
	 NULL},
	{BU_EVENT_OUTCOME,
	 "{'action':'join','attempt':1,'detail':'','joined':{'cluster':'','handle':'',"
	 "'driver':'','node':''},'kind':'none','result':'done','step':'s'}",
	 NULL},
	{BU_EVENT_ADMITTED,
	 "{'fingerprint':'cee3','machine':'e7c2','request':'3b97','step':'s',"
	 "'told':{'macs':['52:54:00:78:00:01'],'serial':'LAB-001','uuid':'1111'},"
	 "'until_ms':1803176926000}",
	 NULL},
	{BU_EVENT_RENEWED, "{'fingerprint':'42a6','until_ms':1803176931000}", NULL},
	{BU_EVENT_REVOKED, "{'all':true,'fingerprint':'','reason':'rebuilt'}", NULL},
	{BU_EVENT_AGENT, "{'detail':'','digest':'d','result':'changed','version':'1'}",
	 NULL},
	{BU_EVENT_BOOTED, "{'boot_id':'boot-1','where':'installed'}", NULL},
	{BU_EVENT_RUNS,
	 "{'kernel':'6.1','cmdline':'ro','called':'node001','step':'s','facets':'f',"
	 "'kargs':'quiet','loader':'quiet','booted':'','differs':[{'path':'/x','how':"
	 "'added'}],'more':2}",
	 NULL},
	{BU_EVENT_RUNS, "{}", NULL},
	{BU_EVENT_SEEDED, "{'address':'10.77.0.11','step':'s'}", NULL},
	{BU_EVENT_INSTALLED, "{'digest':'d1','image':'debian12','step':'s'}", NULL},
	{BU_EVENT_INSTALLED,
	 "{'digest':'d1','image':'debian12','kexec':true,'step':'s'}", NULL},
	{BU_EVENT_INSTALLED, "{'digest':'d1','image':'debian12','raw':true,'step':'s'}",
	 NULL},
	{BU_EVENT_INSTALLED,
	 "{'digest':'d1','image':'debian12','reused':true,'slot':'b','step':'s',"
	 "'tried':true}",
	 NULL},
	{BU_EVENT_FELLBACK, "{'digest':'d1','image':'debian12','slot':'a','step':'s'}",
	 NULL},
	{BU_EVENT_PAIR,
	 "{'a':'node001','ab_gbps':0.019,'b':'node002','ba_gbps':0.0,'boot_a':'boot-1',"
	 "'boot_b':'boot-2','error':'','expect_gbps':0.016,'flows':[{'doubt':2,"
	 "'lat99_us':0.5,'lat_min_us':0.25,'lat_us':0.1,'lost':3.0,'rate_gbps':0.019},"
	 "{'doubt':0,'lat99_us':0.0,'lat_min_us':0.0,'lat_us':0.0,'lost':0.0,"
	 "'rate_gbps':0.019}],'lat_us':0.1,'mtu':4096,'probe':'p-2dc2',"
	 "'rail':'fabric','result':'2dc2','verdict':'pass','paths':{}}",
	 NULL},
	{BU_EVENT_PAIR,
	 "{'a':'node001','ab_gbps':0.0,'b':'node002','ba_gbps':0.0,'boot_a':'boot-1',"
	 "'boot_b':'boot-2','error':'no device','errors':1,'expect_gbps':0.016,"
	 "'lat_us':0.0,'mtu':0,'probe':'p-3dbf','rail':'fabric',"
	 "'result':'3dbf','verdict':'inconclusive'}",
	 NULL},
	{BU_EVENT_LEASE, "{'for':'node002','probe':'p-f4c4'}", NULL},
	{BU_EVENT_CHECKS,
	 "{'boot_id':'boot-1','counts':{'fail':0},'digest':'4aef','facts':'5b1c',"
	 "'marks':'0123456789abcdef','miscabled':true,"
	 "'ports':{'fabric':'leaf01:swp3'},'rows':[],'verdict':'warn'}",
	 NULL},
	{BU_EVENT_VERDICT,
	 "{'source':'dcgm','text':'xid 79','until_ms':0,'verdict':'fail'}", NULL},
	{BU_EVENT_SOAK,
	 "{'boot_id':'boot-1','counts':{},'digest':'4aef','domain':'8c3c.1',"
	 "'ms':60000,'ports':{},'rows':[],'soak_ms':60000,'verdict':'pass'}",
	 NULL},
	{BU_EVENT_INCAST,
	 "{'boot_id':'boot-1','error':'','probe':'i-1','rails':[],'senders':['node002'],"
	 "'test':2,'verdict':'warn'}",
	 NULL},
	{BU_EVENT_NVLINK,
	 "{'boot_id':'boot-1','error':'','peer':'node002','probe':'n-1','rows':[],"
	 "'test':2,'verdict':'warn','with':{'node002':'warn'}}",
	 NULL},
	{BU_EVENT_EVIDENCE, "{'digest':'e2e0','hint':'swap the cable first'}", NULL},
	{BU_EVENT_CRASH,
	 "{'at_ms':1700000000000,'boot_id':'boot-2','digest':'e2e0','kind':'Panic'}",
	 NULL},
	{BU_EVENT_AGAIN, "{'by':'ann'}", NULL},
	{BU_EVENT_CERTIFICATE, "{'digest':'7c00','kind':'full'}", NULL},
	{BU_EVENT_DRAINED, "{'cluster':'hpc','reason':'DIMM A3'}", NULL},
	{BU_EVENT_WAITS, "{'on':true}", NULL},
	{BU_EVENT_CONDITION, "{'detail':'','name':'unreachable','on':true}", NULL},
	{BU_EVENT_CONDITION,
	 "{'detail':'','name':'disk-full','on':false,'since_ms':1700000000051}", NULL},
	{BU_EVENT_POWER,
	 "{'by':'ann','force':false,'op':'cycle','reason':'','result':'asked'}", NULL},
	{BU_EVENT_POWER, "{'detail':'','op':'on','power':'on','result':'done'}", NULL},
	{BU_EVENT_OFF, "{'asked':'power status'}", NULL},
	{BU_EVENT_BACKUP,
	 "{'to':'/srv/b','digest':'d','bytes':7,'keys':true,'by':'root'}", NULL},
	{BU_EVENT_TOKEN,
	 "{'by':'root','hash':'e3b0','name':'ci','role':'viewer','until_ms':"
	 "1700000000000}",
	 NULL},
	{BU_EVENT_TOKEN_REVOKED, "{'by':'root','name':'ci'}", NULL},
	{BU_EVENT_SCALE,
	 "{'by':'ann','count':3,'of':0,'pool':'train','reason':'night'}", NULL},
	{BU_EVENT_CONSENTED,
	 "{'by':'token ann','maker':'root','nodes':12,'plan':'aa','wipes':'bb'}", NULL},
	{BU_EVENT_DELIVERED, "{'seq':17,'webhook':'ops'}", NULL},
	{BU_EVENT_HELD,
	 "{'args':{'words':'mine'},'code':'person','kind':'person','owner':'ann'}",
	 NULL},
	{BU_EVENT_RELEASED, "{'by':'ann'}", NULL},
};

/* Words of another version. */
static const struct row strange[] = {
	{BU_EVENT_OUTCOME,
	 "{'action':'','attempt':0,'detail':'','kind':'','result':'maybe','step':'s'}",
	 "{'action':'','attempt':0,'detail':'','kind':'','result':'failed','step':'s'}"},
	{BU_EVENT_AGENT, "{'detail':'','digest':'','result':'paused','version':''}",
	 "{'detail':'','digest':'','result':'changed','version':''}"},
	{BU_EVENT_BOOTED, "{'boot_id':'b','where':'cloud'}",
	 "{'boot_id':'b','where':'ramdisk'}"},
	{BU_EVENT_VERDICT, "{'source':'','text':'','until_ms':0,'verdict':'perhaps'}",
	 "{'source':'','text':'','until_ms':0,'verdict':'inconclusive'}"},
	{BU_EVENT_CERTIFICATE, "{'digest':'','kind':'half'}",
	 "{'digest':'','kind':'boot'}"},
	{BU_EVENT_POWER, "{'op':'hibernate','result':'perhaps'}",
	 "{'op':'','result':'unknown'}"},
};

static void
check_row(const struct row *row)
{
	bu_autojson json_t *want = quoted(row->again ? row->again : row->row);
	bu_autofree char *text = bu_json_canonical(want), *written = NULL;
	struct bu_event event, again;
	struct bu_err err = {0};
	union bu_body body;

	bu_event_init(&event, row->kind, "", quoted(row->row));
	memset(&body, 0x5a, sizeof(body));
	ck_assert_msg(bu_event_read(&event, &body, &err) == 0, "%s: %s", row->row,
		      err.text);
	bu_event_make(&again, row->kind, "", &body);
	written = bu_json_canonical(again.body);
	ck_assert_str_eq(written, text);
	bu_event_fini(&event);
	bu_event_fini(&again);
}

START_TEST(each_row_of_today_is_written_as_it_was_read)
{
	int seen[BU_EVENT_COUNT] = {0};

	for (size_t i = 0; i < BU_LEN(today); i++) {
		check_row(&today[i]);
		seen[today[i].kind]++;
	}
	for (int kind = 0; kind < BU_EVENT_COUNT; kind++)
		ck_assert_msg(seen[kind], "%s",
			      bu_event_name((enum bu_event_kind)kind));
}
END_TEST

START_TEST(words_of_another_version_are_read)
{
	for (size_t i = 0; i < BU_LEN(strange); i++)
		check_row(&strange[i]);
}
END_TEST

/* What is always written: a row without it is damaged. */
START_TEST(what_a_row_lacks_is_named)
{
	for (size_t i = 0; i < BU_LEN(today); i++) {
		const struct bu_field *field = bu_body_fields(today[i].kind);

		for (; field->key; field++) {
			struct bu_event event;
			struct bu_err err = {0};
			union bu_body body;

			if (field->need != BU_REQUIRED || field->kind == BU_FIELD_PARTS)
				continue;
			bu_event_init(&event, today[i].kind, "", quoted(today[i].row));
			ck_assert_int_eq(json_object_del(event.body, field->key), 0);
			ck_assert_int_eq(bu_event_read(&event, &body, &err), -1);
			ck_assert_msg(strstr(err.text, ": missing; expected"),
				      "%s of %s: %s", field->key, today[i].row,
				      err.text);
			bu_event_fini(&event);
		}
	}
}
END_TEST

START_TEST(a_maker_says_what_it_says)
{
	bu_autofree char *text = NULL;
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_BOOTED, "node001", booted, .boot_id = "b",
		      .where = BU_WHERE_INSTALLED);
	text = bu_json_canonical(event.body);
	ck_assert_str_eq(text, "{\"boot_id\":\"b\",\"where\":\"installed\"}");
	ck_assert_str_eq(event.node, "node001");
	ck_assert_int_eq(event.kind, BU_EVENT_BOOTED);
	bu_event_fini(&event);
}
END_TEST

/* Any value is good for these: others look into them. */
static int
is_any(enum bu_event_kind kind, const char *key)
{
	static const char *const any[] = {
		"grants", "told",    "senders", "rails",   "paths", "counts", "rows",
		"ports",  "scratch", "with",    "differs", "stamp", "revoked"};

	for (size_t i = 0; i < BU_LEN(any); i++)
		if (strcmp(any[i], key) == 0)
			return 1;
	return kind == BU_EVENT_CONDITION && strcmp(key, "detail") == 0;
}

/* Each field of each row, once of another type. */
static void
spoil(const struct row *row, const char *key)
{
	struct bu_event event;
	struct bu_err err = {0};
	union bu_body body;
	json_t *old;

	bu_event_init(&event, row->kind, "", quoted(row->row));
	old = json_object_get(event.body, key);
	json_object_set_new(event.body, key,
			    json_is_string(old) ? json_integer(7) : json_string("7"));
	ck_assert_int_eq(bu_event_read(&event, &body, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_msg(strncmp(err.text, key, strlen(key)) == 0 &&
			      strncmp(err.text + strlen(key), ": expected ", 11) == 0,
		      "%s of %s: %s", key, row->row, err.text);
	bu_event_fini(&event);
}

START_TEST(a_field_of_another_type_is_named)
{
	for (size_t i = 0; i < BU_LEN(today); i++) {
		bu_autojson json_t *body = quoted(today[i].row);
		const char *key;
		json_t *value;

		json_object_foreach (body, key, value)
			if (!is_any(today[i].kind, key) ||
			    (today[i].kind == BU_EVENT_OUTCOME ||
			     today[i].kind == BU_EVENT_POWER))
				spoil(&today[i], key);
	}
}
END_TEST

START_TEST(what_is_wrong_inside_is_named_by_its_path)
{
	static const struct {
		enum bu_event_kind kind;
		const char *row, *says;
	} rows[] = {
		{BU_EVENT_ORDER, "{'disk':{'path':'/dev/vda','size_bytes':'4k'}}",
		 "disk.size_bytes: expected a whole number"},
		{BU_EVENT_STATE, "{'next':{'state':'parked','reset':1}}",
		 "next.reset: expected true or false"},
		{BU_EVENT_STATE,
		 "{'next':{'state':'parked','code':'verb','args':{'who':3}}}",
		 "next.args.who: expected a text"},
		{BU_EVENT_OUTCOME, "{'joined':{'driver':7}}",
		 "joined.driver: expected a text"},
		{BU_EVENT_PAIR, "{'flows':[{'rate_gbps':1},{'rate_gbps':'2'}]}",
		 "flows[1].rate_gbps: expected a number"},
		{BU_EVENT_PAIR, "{'flows':[{},{},{}]}",
		 "flows: has 3 members; at most 2 are allowed"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_event event;
		struct bu_err err = {0};
		union bu_body body;

		row_init(&event, rows[i].kind, "", quoted(rows[i].row));
		ck_assert_int_eq(bu_event_read(&event, &body, &err), -1);
		ck_assert_str_eq(err.text, rows[i].says);
		bu_event_fini(&event);
	}
}
END_TEST

BU_UNIT("event_body", each_row_of_today_is_written_as_it_was_read,
	words_of_another_version_are_read, what_a_row_lacks_is_named,
	a_maker_says_what_it_says, a_field_of_another_type_is_named,
	what_is_wrong_inside_is_named_by_its_path)
