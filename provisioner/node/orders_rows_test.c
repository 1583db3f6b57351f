/* SPDX-License-Identifier: Apache-2.0 */
/* What each row of the log changes of an order and its rollout, and nothing else. */
#include "tests/support/rows_way.h"
#include "tests/support/unit.h"

/* What becomes of orders in service, and of their rollout. */
static const struct row orders[] = {
	{"", BU_EVENT_APPLIED, "{'rollout':'r-2','revision':'REV','commit':'c2'}",
	 " applied=c2 r-2=r-2/done/0:0:0:0/36-36/0/"},
	{N, BU_EVENT_ORDER,
	 "{'rollout':'r-2','class':'reconfigure','facets':'f2','commit':'c2'}",
	 " r-2=r-2/running/1:0:0:0/36-0/0/ stages= order=37/37/r-2"
	 " to=reconfigure///f2 revision=kept/c2 disk= scratch= batch= open=1"
	 " begun= written= installed="},
	{N, BU_EVENT_INTENT, "{'step':'g1','action':'configure'}",
	 " begun=1/38 served=1 step=g1/configure/1/open/38 clock=38/38/0"
	 " effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'g1','result':'failed','detail':'no NIC'}",
	 " r-2=r-2/done/1:0:1:0/36-39/0/ open= failed=1 fault=39 because=no"
	 " NIC step=g1/configure/1/failed/38 error=no NIC effect="},
	{N, BU_EVENT_INTENT, "{'step':'g2','action':'configure'}", ""},
	{N, BU_EVENT_ORDER, "{'retry':true}",
	 " r-2=r-2/running/1:0:0:0/36-0/0/ order=41/37/r-2 open=1 begun=0/38"
	 " failed= fault= because= step="},
	{N, BU_EVENT_ORDER, "{'retry':true}", ""},
	{N, BU_EVENT_INTENT, "{'step':'g3','action':'configure'}",
	 " begun=1/43 step=g3/configure/1/open/43 clock=43/43/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'g3','result':'done'}",
	 " step=g3/configure/1/done/43 error= effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'g3','result':'failed'}",
	 " r-2=r-2/done/1:0:1:0/36-45/0/ open= failed=1 fault=45 because=a"
	 " step failed step=g3/configure/1/failed/43 error= effect="},
	{N, BU_EVENT_ORDER, "{'retry':true,'begun':true}",
	 " r-2=r-2/running/1:0:0:0/36-0/0/ order=46/37/r-2 open=1 begun=1/46"
	 " failed= fault= because= step="},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " r-2=r-2/done/1:0:1:0/36-47/0/ state=validating/booted/47/47 open="
	 " failed=1 fault=47 because=it restarted while it was reconfigured"
	 " error= late= clock=47/47/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'proven'}",
	 " state=joining/proven/48/48 stages=1/validating/1000 error= late="
	 " clock=48/48/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " state=ready/joined/49/49 stages=2/joining/1000 error= late="
	 " clock=49/49/0" ANEW},
	{N, BU_EVENT_ORDER, "{'rollout':'r-2','class':'relabel','facets':'f3'}",
	 " r-2=r-2/running/2:0:1:0/36-0/0/ stages= order=50/50/r-2"
	 " to=relabel///f3 revision=kept/ open=1 begun= served= failed="
	 " fault= because="},
	{N, BU_EVENT_INTENT, "{'step':'g4','action':'relabel'}",
	 " begun=1/51 served=1 step=g4/relabel/1/open/51 clock=51/51/0"
	 " effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'g4','result':'done'}",
	 " runs=2/1000 r-2=r-2/done/2:1:1:0/36-52/0/ open= facets=f3 commit="
	 " step=g4/relabel/1/done/51 error= effect="},
	{N, BU_EVENT_ORDER, "{'retry':true}", " step="},
	/* one that came back by itself before its turn */
	{N, BU_EVENT_ORDER, "{'rollout':'r-2','class':'reboot','reset':true}",
	 " r-2=r-2/running/3:1:1:0/36-0/0/ order=54/54/r-2 to=reboot///"
	 " open=1 begun= served= may_reset=1"},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'lost'}",
	 " state=joining/lost/55/55 error= late= clock=55/55/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " state=ready/joined/56/56 stages=1/joining/1000 error= late="
	 " clock=56/56/0" ANEW},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-2','to':'paused','by':'ann'}",
	 " r-2=r-2/paused/3:1:1:0/36-0/0/"},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-2','to':'running','by':'ann'}",
	 " r-2=r-2/running/3:1:1:0/36-0/0/"},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-2','to':'stopped','reason':'budget'}",
	 " r-2=r-2/stopped/3:1:1:0/36-0/0/budget"},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-2','to':'running'}",
	 " r-2=r-2/running/3:1:1:0/36-0/60/"},
	/* the end of what has begun */
	{N, BU_EVENT_STATE,
	 "{'to':'draining','on':'rebuild','next':{'state':'booting'}}",
	 " state=draining/rebuild/61/61 next=booting//0/0/ begun=1/61"
	 " served=1 error= late= clock=61/61/0" ANEW},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-2','to':'aborted','by':'ann'}",
	 " r-2=r-2/aborted/3:1:1:0/36-0/60/"},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'left-reboot'}",
	 " state=booting/left-reboot/63/63 next= stages=2/draining/2000"
	 " error= late= clock=63/63/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " state=validating/booted/64/64 stages=3/booting/1000 error= late="
	 " clock=64/64/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'quarantined','on':'accused'}",
	 " r-2=r-2/aborted/3:1:2:0/36-65/60/ state=quarantined/accused/65/65"
	 " stages=4/validating/1000 open= failed=1 fault=65"
	 " because=quarantined ours= error= late= clock=65/65/0" ANEW},
	{"", BU_EVENT_APPLIED, "{'rollout':'r-3','revision':'REV'}",
	 " applied= r-3=r-3/done/0:0:0:0/66-66/0/"},
	{N, BU_EVENT_ORDER, "{'rollout':'r-3','class':'wipe','replace':true}",
	 " r-3=r-3/running/1:0:0:0/66-0/0/ stages= order=67/67/r-3"
	 " to=wipe/// open=1 begun= served= failed= replace=1 fault="
	 " because="},
	{N, BU_EVENT_ORDER, "{'rollout':'r-3','class':'wipe','replace':true}",
	 " r-3=r-3/running/2:0:0:1/66-0/0/ order=68/68/r-3"},
	{"node002", BU_EVENT_ORDER, "{'rollout':'r-3','class':'none'}",
	 " r-3=r-3/running/3:1:0:1/66-0/0/ order=69/69/r-3 to=none///"
	 " revision=kept/"},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'start'}",
	 " state=inspecting/start/70/70 begun=1/70 replace= admitted=//13"
	 " cert=/900 touched= raw= boot=/0/23 system= slot= facets= machine="
	 " known=/X1//52:54:00:00:00:01/1 error= serves= full_cert="
	 " boot_cert= late= clock=70/70/0" ANEW},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-3','to':'aborted','by':'ann'}",
	 " r-3=r-3/aborted/3:1:0:1/66-0/0/"},
	{"", BU_EVENT_ROLLOUT, "{'rollout':'r-3','to':'running','by':'ann'}", ""},
	{N, BU_EVENT_STATE, "{'to':'failed','on':'late','reason':'silent'}",
	 " r-3=r-3/aborted/3:1:1:1/66-73/0/ state=failed/late/73/73"
	 " reason=silent stages=1/inspecting/3000 open= failed=1 fault=73"
	 " because=silent error= late=7/0 clock=73/73/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'start'}", ""},
	{N, BU_EVENT_ORDER, "{'rollout':'r-9','class':'install'}",
	 " stages= order=75/75/r-9 to=install/// open=1 begun= failed="
	 " may_reset= fault= because="},
	{N, BU_EVENT_STATE, "{'to':'retired','on':'retire','reason':'sold'}",
	 " state=retired/retire/76/76 reason=sold open= withdrawn=1"
	 " because=sold error= late= clock=76/76/0" ANEW},
};

/* A person's drain of one that waits for its turn, and of one that has begun. */
static const struct row drains[] = {
	{N, BU_EVENT_AGAIN, "{'by':'ann'}", " again=1 clock=36/36/0"},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'lost'}",
	 " state=joining/lost/37/37 error= late= clock=37/37/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " state=validating/booted/38/38 stages=8/joining/1000 error="
	 " boot_cert= late= clock=38/38/0 checks_errors= rails=" ANEW},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " state=ready/joined/39/39 stages=9/validating/1000 error= late="
	 " clock=39/39/0" ANEW},
	{N, BU_EVENT_ORDER, "{'rollout':'r-1','class':'reboot'}",
	 " r-1=r-1/running/2:1:0:0/2-0/0/ stages= order=40/40/r-1"
	 " to=reboot/// revision=kept/ disk= scratch= batch= open=1 begun="
	 " written= installed="},
	{N, BU_EVENT_STATE,
	 "{'to':'draining','on':'drain','reason':'drain by ann','next':"
	 "{'state':'booting','by':'ann','again':true,'reset':true,'reason':'fan'}}",
	 " state=draining/drain/41/41 reason=drain by ann"
	 " next=booting/ann/1/1/fan error= late= clock=41/41/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'draining','on':'booted'}",
	 " state=draining/booted/42/42 reason= stages=1/draining/1000 error="
	 " late= clock=42/42/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'left-reboot','reset':true}",
	 " state=booting/left-reboot/43/43 next= reset=1"
	 " stages=2/draining/1000 error= late= clock=43/43/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'repeat'}",
	 " state=booting/repeat/44/44 repeats=1/0/0 stages=3/booting/1000"
	 " error= late=7/0 clock=44/44/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " state=validating/booted/45/45 reset= stages=4/booting/1000 error="
	 " late= clock=45/45/0 checks_errors= rails=" ANEW},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'loads'}",
	 " state=booting/loads/46/46 stages=5/validating/1000 kexecs=1"
	 " error= late= clock=46/46/0" ANEW},
	{N, BU_EVENT_STATE,
	 "{'to':'draining','on':'outdated','next':{'state':'booting'}}",
	 " state=draining/outdated/47/47 next=booting//0/0/ repeats=1/0/1"
	 " stages=6/booting/1000 kexecs= error= late= clock=47/47/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'abort'}",
	 " r-1=r-1/done/2:1:0:1/2-48/0/ state=joining/abort/48/48 next="
	 " stages=7/draining/1000 open= withdrawn=1 error= late="
	 " clock=48/48/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " state=ready/joined/49/49 repeats=0/0/1 stages=8/joining/1000"
	 " error= late= clock=49/49/0" ANEW},
	{N, BU_EVENT_ORDER, "{'rollout':'r-1','class':'reconfigure'}",
	 " r-1=r-1/running/3:1:0:1/2-0/0/ stages= order=50/50/r-1"
	 " to=reconfigure/// open=1 withdrawn="},
	{N, BU_EVENT_INTENT, "{'step':'g1','action':'configure'}",
	 " begun=1/51 served=1 step=g1/configure/1/open/51 clock=51/51/0"
	 " effect="},
	{N, BU_EVENT_STATE,
	 "{'to':'draining','on':'drain','reason':'drain by ann','next':{'state':'ready'}}",
	 " r-1=r-1/done/3:1:0:2/2-52/0/ state=draining/drain/52/52"
	 " reason=drain by ann next=ready//0/0/ open= withdrawn=1"
	 " because=drain by ann step= error= late= clock=52/52/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'parked','on':'park'}",
	 " state=parked/park/53/53 reason= next= stages=1/draining/1000"
	 " ours= error= late= clock=53/53/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'start'}", ""},
};

START_TEST(orders_and_their_rollout)
{
	read_all("orders", orders, BU_LEN(orders), 1);
}
END_TEST

START_TEST(drains_of_a_person)
{
	read_all("drains", drains, BU_LEN(drains), 1);
}
END_TEST

/* Another revision comes, with more nodes or with less. */
static const struct row left[] = {
	{"", BU_EVENT_APPLIED, "{'rollout':'r-1','revision':'REV','commit':'c1'}",
	 " applied=c1 r-1=r-1/done/0:0:0:0/1-1/0/"},
	{"node002", BU_EVENT_ORDER, "{'rollout':'r-1','class':'install'}",
	 " r-1=r-1/running/1:0:0:0/1-0/0/ order=2/2/r-1 to=install///"
	 " revision=kept/ open=1"},
	{"", BU_EVENT_APPLIED, "{'revision':'NEXT','nodes':0}",
	 " applied= r-1=r-1/done/1:0:0:1/1-3/0/ open= withdrawn=1 because=it"
	 " is no longer in the profile not-in-profile=1//3 profile=0/train"},
	{"", BU_EVENT_APPLIED, "{'revision':'NEXT','nodes':0}", ""},
	{"node002", BU_EVENT_STATE, "{'to':'retired','on':'retire'}",
	 " state=retired/retire/5/5 error= late= clock=5/5/0" ANEW},
	{"", BU_EVENT_APPLIED, "{'revision':'REV','commit':'c3','nodes':0}",
	 " applied=c3 not-in-profile=0//3 profile=1/train"},
};
static const struct row came[] = {
	{"", BU_EVENT_APPLIED, "{'revision':'NEXT','nodes':0}",
	 " name=node003 state=enrolled//0/1 profile=1/train clock=1/1/0"},
	{"node003", BU_EVENT_ORDER, "{'class':'install'}",
	 " order=2/2/ to=install/// revision=kept/ open=1"},
	{"node003", BU_EVENT_STATE, "{'to':'inspecting','on':'start'}",
	 " state=inspecting/start/3/3 begun=1/3 error= late= clock=3/3/0" ANEW},
	{"", BU_EVENT_APPLIED, "{'revision':'REV','commit':'c3','nodes':0}",
	 " applied=c3 not-in-profile=1//4 profile=0/train"},
};

static void
read_of(const char *what, const char *name, int next_nodes, const struct row *list,
	size_t count)
{
	struct rows rows;

	rows_begin(&rows, 2);
	rows_next(&rows, next_nodes);
	rows.of = name;
	rows_read_all(&rows, what, list, count);
	rows_end(&rows);
}

START_TEST(nodes_come_and_leave_with_the_profile)
{
	read_of("left", "node002", 1, left, BU_LEN(left));
	read_of("came", "node003", 3, came, BU_LEN(came));
}
END_TEST

/* A rollout of each node: the oldest that has ended goes, else the oldest. */
START_TEST(old_rollouts_make_room)
{
	static const struct row one_more = {"", BU_EVENT_APPLIED,
					    "{'rollout':'r-new','revision':'REV'}", ""};

	for (int ended = 0; ended <= 1; ended++) {
		struct rows rows;

		rows_begin(&rows, BU_ROLLOUTS_MAX);
		for (int i = 1; i <= BU_ROLLOUTS_MAX; i++) {
			bu_autofree char *name = bu_xasprintf("node%03d", i);
			bu_autofree char *applied =
				bu_xasprintf("{'rollout':'r-%d','revision':'REV'}", i);
			bu_autofree char *ordered =
				bu_xasprintf("{'rollout':'r-%d','class':'reboot'}", i);
			const struct row both[] = {
				{"", BU_EVENT_APPLIED, applied, ""},
				{name, BU_EVENT_ORDER, ordered, ""},
			};

			free(rows_read(&rows, &both[0]));
			free(rows_read(&rows, &both[1]));
		}
		if (ended)
			free(rows_read(&rows, &(struct row){"node003", BU_EVENT_ORDER,
							    "{'class':'reboot'}", ""}));
		free(rows_read(&rows, &one_more));
		ck_assert_uint_eq(rows.fleet->rollouts_count, BU_ROLLOUTS_MAX);
		for (int i = 1; i <= BU_ROLLOUTS_MAX; i++) {
			bu_autofree char *name = bu_xasprintf("node%03d", i);
			bu_autofree char *id = bu_xasprintf("r-%d", i);
			const struct bu_order *order =
				bu_fleet_node(rows.fleet, name)->order;

			ck_assert_int_eq(!bu_fleet_rollout(rows.fleet, id),
					 i == (ended ? 3 : 1));
			ck_assert_int_eq(order->open, ended || i != 1);
			ck_assert_int_eq(order->reason.code,
					 ended || i != 1 ? BU_REASON_NONE
							 : BU_REASON_TOO_MANY_ROLLOUTS);
		}
		ck_assert_ptr_nonnull(bu_fleet_rollout(rows.fleet, "r-new"));
		rows_end(&rows);
	}
}
END_TEST

/* What orders took, in minutes: the middle one of those that are alike. */
START_TEST(what_orders_of_a_class_took)
{
	static const struct {
		const char *pool;
		enum bu_class class;
		int minutes;
	} past[] = {
		{"train", BU_CLASS_REBOOT, 9},  {"train", BU_CLASS_WIPE, 8},
		{"train", BU_CLASS_REBOOT, 3},  {"login", BU_CLASS_REBOOT, 40},
		{"train", BU_CLASS_INSTALL, 6}, {"train", BU_CLASS_REBOOT, 4},
		{"train", BU_CLASS_REIMAGE, 7},
	};
	struct rows rows;
	struct bu_fleet *fleet;

	rows_begin(&rows, 1);
	fleet = rows.fleet;
	ck_assert_double_eq(bu_fleet_minutes(fleet, "train", BU_CLASS_REBOOT), -1);
	for (size_t i = 0; i < BU_LEN(past); i++) {
		struct bu_run *run = &fleet->runs[fleet->runs_count++];

		strcpy(run->pool, past[i].pool);
		run->class = past[i].class;
		run->took_ms = past[i].minutes * 60000;
	}
	ck_assert_double_eq(bu_fleet_minutes(fleet, "train", BU_CLASS_REBOOT), 4);
	ck_assert_double_eq(bu_fleet_minutes(fleet, "login", BU_CLASS_REBOOT), 40);
	ck_assert_double_eq(bu_fleet_minutes(fleet, "train", BU_CLASS_WIPE), 7);
	ck_assert_double_eq(bu_fleet_minutes(fleet, "train", BU_CLASS_RELABEL), -1);
	ck_assert_double_eq(bu_fleet_minutes(fleet, "login", BU_CLASS_INSTALL), -1);
	/* all that there is room for */
	for (int i = 0; i < BU_PAST_MAX; i++)
		fleet->runs[i] = (struct bu_run){
			.pool = "train", .class = BU_CLASS_RELABEL, .took_ms = 60000};
	fleet->runs_count = 3 * BU_PAST_MAX;
	ck_assert_double_eq(bu_fleet_minutes(fleet, "train", BU_CLASS_RELABEL), 1);
	rows_end(&rows);
}
END_TEST

RIG_UNIT("orders_rows", what_orders_of_a_class_took, old_rollouts_make_room,
	 nodes_come_and_leave_with_the_profile, orders_and_their_rollout,
	 drains_of_a_person)
