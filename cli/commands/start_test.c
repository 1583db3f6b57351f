/* SPDX-License-Identifier: Apache-2.0 */
/* What bringup start shows before it asks. */
#include "base/json.h"
#include "cli/commands/commands.h"
#include "tests/support/cli.h"
#include "tests/support/unit.h"

START_TEST(the_order_and_who_is_left_alone)
{
	bu_autojson json_t *plan = quoted(
		"{'running':null,'per_rack':2,'pools':["
		"{'tier':10,'pool':'control','nodes':['c1'],'up':[]},"
		"{'tier':50,'pool':'train','nodes':['n1','n2','n4'],'up':['n2']}],"
		"'left':[{'nodes':['n3','n6'],'why':{'code':'start-left','args':{'by':'ann',"
		"'state':'','manual':0,'unadopted':0}}},"
		"{'nodes':['n\\u001b5'],'why':{'code':'start-left','args':{'by':'',"
		"'state':'','manual':1,'unadopted':0}}}]}");
	bu_autofree char *text = WRITTEN(bu_start_print(plan, out));

	ck_assert_str_eq(
		text,
		"start = 10: pool control, 1 node (c1), 0 of them up\n"
		"start = 50: pool train, 3 nodes (n[1-2,4]), 1 of them up\n"
		"left alone: n[3,6]: held by ann\n"
		"left alone: n?5: its pool has power = manual: switch it on by hand\n"
		"machines that are off are switched on, in this order and at most 2 of "
		"a rack at a time; none is switched off or reset\n");
}
END_TEST

BU_UNIT("start", the_order_and_who_is_left_alone)
