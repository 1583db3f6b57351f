/* SPDX-License-Identifier: Apache-2.0 */
/* What each row of the log changes of a node, and that it changes nothing else. */
#include "tests/support/rows_way.h"
#include "tests/support/unit.h"

/* A second root beside it, which does not come up; its first one goes on. */
static const struct row reimage[] = {
	{N, BU_EVENT_RENEWED, "{'fingerprint':'p1b','until_ms':950}", " cert2=p1b/950"},
	{"", BU_EVENT_APPLIED, "{'rollout':'r-2','revision':'REV','commit':'c2'}",
	 " applied=c2 r-2=r-2/done/0:0:0:0/37-37/0/"},
	{N, BU_EVENT_ORDER,
	 "{'rollout':'r-2','class':'reimage','image':'deb2','digest':'d2',"
	 "'facets':'f2','commit':'c2','reset':false}",
	 " r-2=r-2/running/1:0:0:0/37-0/0/ stages= order=38/38/r-2"
	 " to=reimage/deb2/d2/f2 revision=kept/c2 disk= scratch= batch="
	 " open=1 begun= may_reset=1 written= installed="},
	{N, BU_EVENT_STATE,
	 "{'to':'draining','on':'rebuild','next':{'state':'inspecting'}}",
	 " state=draining/rebuild/39/39 next=inspecting//0/0/ begun=1/39"
	 " served=1 error= late= clock=39/39/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'l1','action':'leave'}",
	 " step=l1/leave/1/open/40 clock=40/40/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'l1','result':'failed','detail':'jobs'}",
	 " step=l1/leave/1/failed/40 error=jobs asked= effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'l1','result':'done'}",
	 " step=l1/leave/1/done/40 error= joined= serves= asked= effect="},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'left'}",
	 " state=inspecting/left/43/43 next= stages=1/draining/4000 step="
	 " error= late= clock=43/43/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'s4','action':'boot-network'}",
	 " boot=/0/23 step=s4/boot-network/1/open/44 clock=44/44/0 effect="},
	{N, BU_EVENT_ADMITTED,
	 "{'step':'s4','machine':'m1','request':'q2','fingerprint':'p2',"
	 "'told':{'serial':'X1','uuid':'','macs':['52:54:00:00:00:01']},"
	 "'until_ms':1900}",
	 " admitted=s4/q2/45 cert=p2/1900 cert2= kept0=p1/900/p1b/950/i1"
	 " known=m1/X1//52:54:00:00:00:01/0 refusal="},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b3','where':'ramdisk'}",
	 " boot=b3/0/46 checks_errors= slow="},
	{N, BU_EVENT_STATE, "{'to':'imaging','on':'inspected'}",
	 " state=imaging/inspected/47/47 stages=2/inspecting/4000 step="
	 " error= late= clock=47/47/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'i2','action':'install'}",
	 " written=1 step=i2/install/1/open/48 clock=48/48/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'i2','result':'done'}",
	 " step=i2/install/1/done/48 error= effect="},
	{N, BU_EVENT_INSTALLED,
	 "{'step':'i2','image':'deb2','digest':'d2','slot':'b','tried':true}",
	 " installed=1 raw= system=deb2/d2/i2 slot=b/0"
	 " other=a/deb/d1/i1/f1/1 facets=f2"
	 " known=m1/X1//52:54:00:00:00:01/1"},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'imaged'}",
	 " state=booting/imaged/51/51 stages=3/imaging/4000 step= error="
	 " late= clock=51/51/0" ANEW},
	{N, BU_EVENT_FELLBACK, "{'step':'i0'}", ""},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b4','where':'installed'}",
	 " boot=b4/1/53 slot=b/1 checks_errors= slow="},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " state=validating/booted/54/54 stages=4/booting/3000 error= late="
	 " clock=54/54/0" ANEW},
	{N, BU_EVENT_FELLBACK, "{'step':'i1','image':'deb','digest':'d1','slot':'a'}",
	 " written= installed= system=deb/d1/i1 slot=a/1 other= facets=f1"},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b5','where':'installed'}",
	 " cert=p1/900 cert2=p1b/950 kept0= boot=b5/1/56 checks_errors="
	 " slow="},
	{N, BU_EVENT_STATE, "{'to':'failed','on':'fault','reason':'it fell back'}",
	 " r-2=r-2/done/1:0:1:0/37-57/0/ state=failed/fault/57/57 reason=it"
	 " fell back stages=5/validating/3000 open= failed=1 fault=57"
	 " because=it fell back ours= error= late=7/0 clock=57/57/0" ANEW},
	{N, BU_EVENT_REVOKED, "{'fingerprint':'zz'}", ""},
	{N, BU_EVENT_REVOKED, "{'fingerprint':'p1'}", " cert=p1b/950 cert2="},
	{N, BU_EVENT_REVOKED, "{'fingerprint':'p1b'}", " cert=/950 revoked=1"},
	{N, BU_EVENT_ADMITTED,
	 "{'step':'s5','machine':'m1','fingerprint':'p4',"
	 "'told':{'serial':'X1','uuid':'','macs':['52:54:00:00:00:01']}}",
	 " admitted=s5//61 cert=p4/0 revoked="
	 " known=m1/X1//52:54:00:00:00:01/0 refusal="},
	{N, BU_EVENT_RENEWED, "{'fingerprint':'p5','until_ms':9}", " cert2=p5/9"},
	{N, BU_EVENT_REVOKED, "{'all':true}", " cert=/9 cert2= revoked=1"},
	{N, BU_EVENT_INSTALLED,
	 "{'step':'i3','image':'deb3','digest':'d3','slot':'b','tried':true}",
	 " installed=1 system=deb3/d3/i3 slot=b/0 other=a/deb/d1/i1/f1/1"
	 " facets=f2"
	 " known=m1/X1//52:54:00:00:00:01/1"},
	{N, BU_EVENT_INSTALLED,
	 "{'step':'i4','image':'deb4','digest':'d4','slot':'b','tried':true}",
	 " system=deb4/d4/i4"},
	{N, BU_EVENT_ORDER, "{'rollout':'r-2','class':'wipe'}",
	 " r-2=r-2/running/2:0:1:0/37-0/0/ stages= order=66/66/r-2"
	 " to=wipe/// revision=kept/ open=1 begun= served= failed="
	 " installed= fault= because="},
	{N, BU_EVENT_INTENT, "{'step':'i5','action':'install'}",
	 " written=1 writing=1 other= step=i5/install/1/open/67"
	 " clock=67/67/0 effect="},
	{N, BU_EVENT_INSTALLED, "{'step':'i5','image':'deb5','digest':'d5','ram':true}",
	 " writing= ram=1 system=deb5/d5/i5 slot="},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'start'}",
	 " state=inspecting/start/69/69 reason= begun=1/69 step= error="
	 " late= clock=69/69/0" ANEW},
	{N, BU_EVENT_INSTALLED, "{'step':'i6','image':'deb6','digest':'d6','ram':true}",
	 " installed=1 system=deb6/d6/i6 loaded_by=kept facets="},
	{N, BU_EVENT_INSTALLED, "{'step':'i7','image':'deb7','digest':'d7'}",
	 " ram= system=deb7/d7/i7 loaded_by="},
};

/* What changes no state. */
static const struct row facts[] = {
	{N, BU_EVENT_BOOTED, "{'boot_id':'b2','where':'installed'}",
	 " boot=b2/1/36 checks_errors="},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'outdated'}",
	 " state=joining/outdated/37/37 repeats=0/0/1 error= late="
	 " clock=37/37/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'j2','action':'join'}",
	 " step=j2/join/1/open/38 entering=1 clock=38/38/0 effect= started="},
	{N, BU_EVENT_OUTCOME, "{'step':'j2','result':'failed','detail':'no'}",
	 " step=j2/join/1/failed/38 error=no asked= effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'j2','result':'done'}",
	 " step=j2/join/1/done/38 error="
	 " joined=hpc/slurm//etc/slurm/slurm.conf/node001 entering= asked="
	 " effect="},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " state=ready/joined/41/41 stages=8/joining/4000 step= error= late="
	 " clock=41/41/0" ANEW},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b9','where':'installed'}",
	 " repeats= boot=b9/1/42 serves= checks_errors= slow="},
	{N, BU_EVENT_HELD, "{'owner':'bringup','reason':'late'}",
	 " held=1/bringup/late"},
	{N, BU_EVENT_WAITS, "{'on':true}", " clock=7/7/1"},
	{N, BU_EVENT_WAITS, "{'on':false}", " clock=45/45/0"},
	{N, BU_EVENT_RELEASED, "{'by':'ann'}",
	 " held= late=0/1 clock=46/46/0 checks_errors= retry="},
	{N, BU_EVENT_ORDER, "{'rollout':'r-1','class':'reconfigure'}",
	 " r-1=r-1/running/2:1:0:0/2-0/0/ stages= order=47/47/r-1"
	 " to=reconfigure/// revision=kept/ disk= scratch= batch= open=1"
	 " begun= written= installed="},
	{N, BU_EVENT_HELD, "{'owner':'bringup','reason':'late'}",
	 " held=1/bringup/late"},
	{N, BU_EVENT_INTENT, "{'step':'g1','action':'configure'}",
	 " begun=1/49 served=1 step=g1/configure/1/open/49 clock=49/49/0"
	 " effect="},
	{N, BU_EVENT_HELD, "{'owner':'ann','reason':'a look'}", " held=3/ann/a look"},
	{N, BU_EVENT_OUTCOME, "{'step':'g0','result':'failed'}", ""},
	{N, BU_EVENT_HELD,
	 "{'owner':'bringup','code':'foreign-machine','args':{'error':'E'}}",
	 " fault=52 ours= held=1/bringup/E; nothing was switched; correct what the profile "
	 "says of its bmc, serial, uuid or mac and apply it, or put its machine back and "
	 "run bringup node release ; if this is its new machine, run bringup node replace "
	 "; if its BMC is wrong about itself, set bmc_identity = ignore in its pool"},
	{N, BU_EVENT_RELEASED, "{'by':'ann'}",
	 " fault= held= late=0/1 clock=53/53/0 checks_errors= retry="},
	{N, BU_EVENT_OUTCOME, "{'step':'g1','result':'failed'}",
	 " r-1=r-1/done/2:1:1:0/2-54/0/ open= failed=1 fault=54 because=a"
	 " step failed step=g1/configure/1/failed/49 error= effect="},
	{N, BU_EVENT_RELEASED, "{'by':'ann'}",
	 " step=g1/configure/1//49 late=0/1 clock=55/55/0 checks_errors="
	 " retry="},
	{N, BU_EVENT_ORDER, "{'retry':true}",
	 " r-1=r-1/running/2:1:0:0/2-0/0/ order=56/47/r-1 open=1 begun=0/49"
	 " failed= fault= because= step="},
	{N, BU_EVENT_ORDER, "{'rollout':'r-1','class':'restart'}",
	 " r-1=r-1/running/3:1:0:1/2-0/0/ order=57/57/r-1 to=restart///"
	 " begun= served="},
	{N, BU_EVENT_POWER, "{'op':'on','by':'ann','result':'asked'}",
	 " power=on/ann/asked///58/58"},
	{N, BU_EVENT_POWER, "{'result':'failed','power':'off','detail':'no answer'}",
	 " power=on/ann/failed/off/no answer/58/59"},
	{N, BU_EVENT_POWER, "{'op':'off','by':'bob','result':'asked'}",
	 " boot=/0/42 power=off/bob/asked///60/60"},
	{N, BU_EVENT_LEASE, "{'probe':'x','for':'node002'}", " lent=node002/61"},
	{N, BU_EVENT_EVIDENCE, "{'digest':'e1'}", " evidence=e1/1"},
	{N, BU_EVENT_STATE, "{'to':'failed','on':'fault'}",
	 " r-1=r-1/done/3:1:1:1/2-63/0/ state=failed/fault/63/63 open="
	 " failed=1 fault=63 because=failed error= late=7/0 clock=63/63/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'quarantined','on':'accused'}",
	 " state=quarantined/accused/64/64 error= late= clock=64/64/0" ANEW},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'validate'}",
	 " state=validating/validate/65/65 error= evidence=e1/0 late="
	 " clock=65/65/0" ANEW},
	{N, BU_EVENT_CRASH, "{'digest':'e2','kind':'panic','at_ms':5,'boot_id':'b9'}",
	 " crash=e2/panic/b9/5/66"},
	{N, BU_EVENT_AGENT,
	 "{'version':'2','digest':'a2','result':'silent','detail':'no word'}",
	 " agent=2/a2/2/no word/67"},
	{N, BU_EVENT_AGENT, "{'version':'2','digest':'a2','result':'changed'}",
	 " agent="},
	{N, BU_EVENT_AGENT, "{'version':'3','digest':'a3','result':'ended'}",
	 " agent=3/a3/1//69"},
	{N, BU_EVENT_AGENT, "{'result':'released'}", " agent=//4//0"},
	{N, BU_EVENT_VERDICT, "{'source':'dcgm','verdict':'fail','text':'hot'}",
	 " verdicts=1/hot"},
	{N, BU_EVENT_VERDICT, "{'source':'ufm','verdict':'fail','text':'dark'}",
	 " verdicts=2/hot"},
	{N, BU_EVENT_VERDICT, "{'source':'ufm','verdict':'fail','text':'dim'}", ""},
	{N, BU_EVENT_VERDICT, "{'source':'dcgm','verdict':'pass'}", " verdicts=1/dim"},
	{N, BU_EVENT_VERDICT, "{'source':'dcgm','verdict':'pass'}", ""},
	{N, BU_EVENT_CHECKS, "{'boot_id':'b2'}",
	 " checks={'boot_id':'b2','counts':{},'digest':'','ports':{},"
	 "'rows':[],'verdict':'inconclusive'}"},
	{N, BU_EVENT_AGAIN, "{'by':'ann'}",
	 " checks= boot_cert= again=1 clock=77/77/0 checks_errors= rails="
	 " says="},
	{N, BU_EVENT_CONDITION, "{'name':'cluster-silent','on':true,'detail':'x'}",
	 " cluster-silent=1/x/78"},
	{N, BU_EVENT_CONDITION, "{'name':'cluster-silent','on':true,'detail':'y'}",
	 " cluster-silent=1/y/78"},
	{N, BU_EVENT_CONDITION, "{'name':'cluster-silent','on':false,'detail':'z'}",
	 " cluster-silent=0//78"},
	{N, BU_EVENT_CONDITION, "{'name':'unreachable','on':true,'since_ms':77}",
	 " unreachable=1//77"},
	{N, BU_EVENT_CONDITION, "{'name':'of-another-version','on':true}", ""},
	{"", BU_EVENT_CONDITION, "{'name':'disk-full','on':true,'detail':'/'}",
	 " site.disk-full=1///83"},
	{"", BU_EVENT_BRAKE, "{'scope':'rack r1','on':true,'late':5}",
	 " brakes={'rack r1':{'late':5,'of':0,'on':true,'scope':'rack"
	 " r1','since_ms':1700084000}}"},
	{"", BU_EVENT_BRAKE, "{'scope':'site','on':true,'late':6}",
	 " brakes={'rack r1':{'late':5,'of':0,'on':true,'scope':'rack"
	 " r1','since_ms':1700084000},'site':{'late':6,'of':0,'on':true,'scope':'site','since_ms':1700085000}}"},
	{"", BU_EVENT_BRAKE, "{'scope':'rack r1','on':false}",
	 ""
	 " brakes={'site':{'late':6,'of':0,'on':true,'scope':'site','since_ms':1700085000}}"},
	{N, BU_EVENT_NVLINK,
	 "{'boot_id':'b2','peer':'node002','with':{'node002':'warn'}}",
	 " nvlink={'boot_id':'b2','error':'','peer':'node002','probe':'','test':1,'verdict':'inconclusive','with':{'node002':'warn'}}"},
	{N, BU_EVENT_RENAMED, "{'to':'gpu001'}", " name=gpu001 called=node001"},
	{"", BU_EVENT_DELIVERED, "{'webhook':'ops','seq':7}", " delivered={'ops':7}"},
	{"", BU_EVENT_DELIVERED, "{'webhook':'ops','seq':9}", " delivered={'ops':9}"},
};

START_TEST(a_first_way_into_service)
{
	read_all("install", install, BU_LEN(install), 0);
}
END_TEST

START_TEST(a_second_root_that_does_not_come_up)
{
	read_all("reimage", reimage, BU_LEN(reimage), 1);
}
END_TEST

START_TEST(what_changes_no_state)
{
	read_all("facts", facts, BU_LEN(facts), 1);
}
END_TEST

RIG_UNIT("rows", a_first_way_into_service, a_second_root_that_does_not_come_up,
	 what_changes_no_state)
