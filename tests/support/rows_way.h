/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a node's first way into service, of 35 seconds, and more after them. */
#ifndef BU_TESTS_SUPPORT_ROWS_WAY_H
#define BU_TESTS_SUPPORT_ROWS_WAY_H

#include "tests/support/rows.h"

#define N "node001"

/* A node's first way into service, from its order to its cluster. */
static const struct row install[] = {
	{"", BU_EVENT_EPOCH, "{'epoch':12}", " epoch=12"},
	{"", BU_EVENT_APPLIED, "{'rollout':'r-1','revision':'REV','commit':'c1'}",
	 " applied=c1 r-1=r-1/done/0:0:0:0/2-2/0/"},
	{N, BU_EVENT_ORDER,
	 "{'rollout':'r-1','class':'install','image':'deb','digest':'d1','facets':'f1',"
	 "'commit':'c1','batch':2,'disk':{'path':'/dev/vda','serial':'S1',"
	 "'size_bytes':512},'mirror':{'path':'/dev/vdb','serial':'S2'},"
	 "'scratch':[{'path':'/dev/vdc'}]}",
	 " r-1=r-1/running/1:0:0:0/2-0/0/ order=3/3/r-1 to=install/deb/d1/f1"
	 " revision=kept/c1 disk=/dev/vda/S1/512/S2"
	 " scratch=[{'path':'/dev/vdc'}] batch=2 open=1"},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'start','reset':true}",
	 " state=inspecting/start/4/4 reset=1 begun=1/4 error= late="
	 " clock=4/4/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'s1','attempt':3,'action':'boot-network'}",
	 " step=s1/boot-network/3/open/5 clock=5/5/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'s0','result':'done'}", ""},
	{N, BU_EVENT_OUTCOME, "{'step':'s1','result':'failed','detail':'no power'}",
	 " step=s1/boot-network/3/failed/5 error=no power effect="},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'repeat','reason':'late'}",
	 " state=inspecting/repeat/8/8 reason=late repeats=1/1/0"
	 " stages=1/inspecting/4000 step= error= late=7/0 clock=8/8/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'s2','attempt':1,'action':'boot-network'}",
	 " step=s2/boot-network/1/open/9 clock=9/9/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'s2','result':'done','detail':'on'}",
	 " ours=1 step=s2/boot-network/1/done/9 error= effect="},
	{N, BU_EVENT_STATE, "{'to':'inspecting','on':'repeat'}",
	 " state=inspecting/repeat/11/11 reason= repeats=2/0/0"
	 " stages=2/inspecting/3000 step= error= late=7/0 clock=11/11/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'s3','attempt':1,'action':'boot-network'}",
	 " step=s3/boot-network/1/open/12 clock=12/12/0 effect="},
	{N, BU_EVENT_ADMITTED,
	 "{'step':'s3','machine':'m1','request':'q1','fingerprint':'p1',"
	 "'until_ms':900,'told':{'serial':'X1','uuid':'',"
	 "'macs':['52:54:00:00:00:01']}}",
	 " admitted=s3/q1/13 cert=p1/900 machine=m1/X1//52:54:00:00:00:01"
	 " known=m1/X1//52:54:00:00:00:01/0 refusal="},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b1','where':'ramdisk'}",
	 " boot=b1/0/14 checks_errors= slow="},
	{N, BU_EVENT_OUTCOME, "{'step':'s3','result':'done'}",
	 " step=s3/boot-network/1/done/12 error= effect="},
	{N, BU_EVENT_STATE, "{'to':'imaging','on':'inspected'}",
	 " state=imaging/inspected/16/16 reset= stages=3/inspecting/5000"
	 " step= error= late= clock=16/16/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'i1','attempt':1,'action':'install'}",
	 " written=1 touched=1 writing=1 step=i1/install/1/open/17"
	 " clock=17/17/0 effect="},
	{N, BU_EVENT_OUTCOME, "{'step':'i1','result':'done'}",
	 " step=i1/install/1/done/17 error= effect="},
	{N, BU_EVENT_INSTALLED,
	 "{'step':'i1','image':'deb','digest':'d1','kexec':true,'raw':true,'slot':'a'}",
	 " installed=1 writing= kexecs=1 raw=1 system=deb/d1/i1 slot=a/0"
	 " facets=f1 known=m1/X1//52:54:00:00:00:01/1"},
	{N, BU_EVENT_STATE, "{'to':'booting','on':'imaged'}",
	 " state=booting/imaged/20/20 stages=4/imaging/4000 step= error="
	 " late= clock=20/20/0" ANEW},
	{N, BU_EVENT_INTENT, "{'step':'k1','action':'boot-disk'}",
	 " step=k1/boot-disk/1/open/21 clock=21/21/0 effect="},
	{N, BU_EVENT_SEEDED, "{'step':'i1','address':'10.0.0.9'}", " seeded=i1/22"},
	{N, BU_EVENT_BOOTED, "{'boot_id':'b2','where':'installed'}",
	 " boot=b2/1/23 slot=a/1 checks_errors= slow="},
	{N, BU_EVENT_STATE, "{'to':'validating','on':'booted'}",
	 " state=validating/booted/24/24 stages=5/booting/4000 kexecs= step="
	 " error= late= clock=24/24/0" ANEW},
	{N, BU_EVENT_CHECKS, "{'boot_id':'b2','verdict':'pass'}",
	 " checks={'boot_id':'b2','digest':'','verdict':'pass'}"},
	{N, BU_EVENT_INCAST, "{'probe':'x','boot_id':'b2','verdict':'pass'}",
	 " incast={'boot_id':'b2','error':'','probe':'x','test':1,'verdict':'pass'}"},
	{N, BU_EVENT_CERTIFICATE, "{'kind':'full','digest':'F'}", " full_cert=F"},
	{N, BU_EVENT_AGAIN, "{'by':'ann'}",
	 " checks= again=1 clock=28/28/0 checks_errors= rails= says="},
	{N, BU_EVENT_CERTIFICATE, "{'kind':'boot','digest':'B'}",
	 " boot_cert=B again="},
	{N, BU_EVENT_STATE, "{'to':'joining','on':'proven'}",
	 " state=joining/proven/30/30 stages=6/validating/6000 error= late="
	 " clock=30/30/0" ANEW},
	{N, BU_EVENT_DRAINED, "{'cluster':'lab','reason':'DIMM'}",
	 " drained={'lab':'DIMM'}"},
	{N, BU_EVENT_DRAINED, "{'cluster':'old','reason':'fan'}",
	 " drained={'lab':'DIMM','old':'fan'}"},
	{N, BU_EVENT_INTENT, "{'step':'j1','action':'join'}",
	 " step=j1/join/1/open/33 serves=1 entering=1 clock=33/33/0 effect="
	 " started="},
	{N, BU_EVENT_OUTCOME,
	 "{'step':'j1','result':'done','joined':{'cluster':'lab','driver':'slurm',"
	 "'handle':'/c','node':'n1'}}",
	 " step=j1/join/1/done/33 error= joined=lab/slurm//c/n1"
	 " drained={'old':'fan'} entering= asked= effect="},
	{N, BU_EVENT_STATE, "{'to':'ready','on':'joined'}",
	 " runs=1/31000 r-1=r-1/done/1:1:0:0/2-35/0/"
	 " state=ready/joined/35/35 repeats= stages=7/joining/5000 open="
	 " commit=c1 step= error= late= clock=35/35/0" ANEW},
};

/* After those of the first way into service, where they go on from there. */
static inline void
read_all(const char *what, const struct row *list, size_t count, int on)
{
	struct rows rows;

	rows_begin(&rows, 2);
	for (size_t i = 0; on && i < BU_LEN(install); i++)
		free(rows_read(&rows, &install[i]));
	rows_read_all(&rows, what, list, count);
	rows_end(&rows);
}

#endif
