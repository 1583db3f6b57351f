/* SPDX-License-Identifier: Apache-2.0 */
/* What a person is answered who asks something of a node, and the rows that are written
 * for it. */
#include "tests/support/asked.h"

#define NOT_HELD "node node001 is not held"

static const struct asked cases[] = {
	{changing, ASK(DRAIN), "node node001 is changing right now; ask again", NULL,
	 NULL},
	{parked, ASK(HOLD), "held", NULL,
	 "held {'kind':'person','owner':'ann','reason':'fan'}"},
	{parked, BU_VERB_HOLD, "", 0, "", "field 'reason': say why; node why shows it",
	 NULL, NULL},
	{held_by_bringup, ASK(HOLD), "node node001 is held by bringup: fan", NULL,
	 NULL},
	{held_by_a_person, ASK(RELEASE), "released", NULL, "released {'by':'ann'}"},
	{frozen, ASK(RELEASE), "released", NULL, "released {'by':'ann'}"},
	{servicing, ASK(RELEASE), "servicing -> validating", NULL,
	 "state {'by':'ann','on':'validate','reason':'release by ann: fan',"
	 "'to':'validating'}"},
	{ready, ASK(RELEASE), NOT_HELD, NULL, NULL},
	{ready_with_a_failed_agent, ASK(RELEASE), "agent 2 may be tried again", NULL,
	 "agent {'detail':'ann','digest':'d2','result':'released','version':'2'}"},
	{ready, ASK(DRAIN), "ready -> draining, then parked", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'drain by "
	 "ann: fan','reset':false,'state':'parked'},'on':'drain','reason':'drain by "
	 "ann: fan','to':'draining'}"},
	{ready, ASK(SERVICE), "ready -> draining, then servicing", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'service by "
	 "ann: fan','reset':false,'state':'servicing'},'on':'drain',"
	 "'reason':'service by ann: fan','to':'draining'}"},
	{ready, ASK(VALIDATE), "ready -> draining, then validating", NULL,
	 "state {'by':'ann','next':{'again':true,'by':'ann','reason':'validate by "
	 "ann: fan','reset':false,'state':'validating'},'on':'drain',"
	 "'reason':'validate by ann: fan','to':'draining'}"},
	{ready, ASK(REBOOT), "ready -> draining, then booting", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'reboot by "
	 "ann: fan','reset':true,'state':'booting'},'on':'drain','reason':'reboot "
	 "by ann: fan','to':'draining'}"},
	{ready, ASK(REPLACE), "ready -> draining, then enrolled", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'replace by "
	 "ann: fan','reset':false,'state':'enrolled'},'on':'drain',"
	 "'reason':'replace by ann: fan','to':'draining'}"},
	{parked, ASK(RESUME), "parked -> validating", NULL,
	 "state {'by':'ann','on':'validate','reason':'resume by ann: fan',"
	 "'to':'validating'}"},
	{parked_and_silent, ASK(RESUME), "parked -> booting", NULL,
	 "state {'by':'ann','on':'boot','reason':'resume by ann: fan',"
	 "'to':'booting'}"},
	{parked_in_the_ramdisk, ASK(RESUME), "parked -> booting", NULL,
	 "state {'by':'ann','on':'boot','reason':'resume by ann: fan',"
	 "'to':'booting'}"},
	{parked_and_never_heard, ASK(RESUME), "parked -> booting", NULL,
	 "state {'by':'ann','on':'boot','reason':'resume by ann: fan',"
	 "'to':'booting'}"},
	{validating_and_silent, ASK(VALIDATE), "validating -> validating", NULL,
	 "again {'by':'ann'}\n"
	 "state {'by':'ann','on':'validate','reason':'validate by ann: fan',"
	 "'to':'validating'}"},
	{parked, ASK(VALIDATE), "parked -> validating", NULL,
	 "again {'by':'ann'}\n"
	 "state {'by':'ann','on':'validate','reason':'validate by ann: fan',"
	 "'to':'validating'}"},
	{parked, ASK(REBOOT), "parked -> booting", NULL,
	 "state {'by':'ann','on':'boot','reason':'reboot by ann: fan','reset':true,"
	 "'to':'booting'}"},
	{held_by_bringup, ASK(VALIDATE), "parked -> validating; released", NULL,
	 "released {'by':'ann'}\n"
	 "again {'by':'ann'}\n"
	 "state {'by':'ann','on':'validate','reason':'validate by ann: fan',"
	 "'to':'validating'}"},
	{held_by_a_person, ASK(VALIDATE),
	 "node node001 is held by bob: fan; bringup node release node001 ends the hold",
	 NULL, NULL},
	{imaging, ASK(RETIRE), "imaging -> retired", NULL,
	 "state {'by':'ann','on':'retire','reason':'retire by ann: fan',"
	 "'to':'retired'}"},
	{gone, ASK(RESUME),
	 "node node001 is not in the applied profile, so nothing is done to it; bringup "
	 "node retire node001 forgets it",
	 NULL, NULL},
	{gone, ASK(RETIRE), "parked -> retired", NULL,
	 "state {'by':'ann','on':'retire','reason':'retire by ann: fan',"
	 "'to':'retired'}"},
	{drains_for_an_order, ASK(DRAIN),
	 "node node001 is draining for an order (reboot, of rollout r-1); bringup "
	 "rollout abort r-1 cancels it",
	 NULL, NULL},
	{drains_for_an_order, ASK(RETIRE),
	 "node node001 is draining for an order (reboot, of rollout r-1); bringup "
	 "rollout abort r-1 cancels it",
	 NULL, NULL},
	{drains_before_its_order, ASK(DRAIN), "draining -> draining, then parked", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'drain by "
	 "ann: fan','reset':false,'state':'parked'},'on':'drain','reason':'drain by "
	 "ann: fan','to':'draining'}"},
	{writes_its_files, ASK(DRAIN),
	 "node node001 has left its cluster for an order (reboot, of rollout r-1), and "
	 "its files are being written; it takes: replace, retire",
	 NULL, NULL},
	{writes_its_files, ASK(REPLACE), "draining -> enrolled", NULL,
	 "state {'by':'ann','on':'replace','reason':'replace by ann: fan',"
	 "'to':'enrolled'}"},
	{writes_its_files, ASK(RETIRE), "draining -> retired", NULL,
	 "state {'by':'ann','on':'retire','reason':'retire by ann: fan',"
	 "'to':'retired'}"},
	{cannot_write_its_files, ASK(DRAIN),
	 "node node001 is draining for an order (reboot, of rollout r-1); bringup "
	 "rollout abort r-1 cancels it",
	 NULL, NULL},
	{left_and_gone, ASK(RETIRE), "draining -> retired", NULL,
	 "state {'by':'ann','on':'retire','reason':'retire by ann: fan',"
	 "'to':'retired'}"},
	{leaves_and_gone, ASK(RETIRE), "draining -> draining, then retired", NULL,
	 "state {'by':'ann','next':{'again':false,'by':'ann','reason':'retire by "
	 "ann: fan','reset':false,'state':'retired'},'on':'drain','reason':'retire "
	 "by ann: fan','to':'draining'}"},
	/* a failed order once more */
	{failed_reboot, ASK(RETRY), "failed -> validating, nothing is written", NULL,
	 "order {'begun':true,'by':'ann','class':'reboot','retry':true,"
	 "'rollout':'r-1'}\n"
	 "state {'by':'ann','on':'validate','reason':'retry by ann: fan',"
	 "'to':'validating'}"},
	{failed_reboot_and_silent, ASK(RETRY), "failed -> booting, nothing is written",
	 NULL,
	 "order {'begun':true,'by':'ann','class':'reboot','retry':true,"
	 "'rollout':'r-1'}\n"
	 "state {'by':'ann','on':'boot','reason':'retry by ann: fan','to':'booting'}"},
	{failed_reboot_granted, ASK(RETRY), "failed -> validating, nothing is written",
	 NULL,
	 "order {'begun':true,'by':'ann','class':'reboot','retry':true,"
	 "'rollout':'r-1'}\n"
	 "state {'by':'ann','on':'validate','reason':'retry by ann: fan',"
	 "'reset':true,'to':'validating'}"},
	{failed_install, ASK(RETRY),
	 "its order (install, of rollout r-1) is opened again", NULL,
	 "order {'begun':false,'by':'ann','class':'install','retry':true,"
	 "'rollout':'r-1'}"},
	{failed_after_its_install, ASK(RETRY),
	 "failed -> validating, nothing is written", NULL,
	 "order {'begun':true,'by':'ann','class':'install','retry':true,"
	 "'rollout':'r-1'}\n"
	 "state {'by':'ann','on':'validate','reason':'retry by ann: fan',"
	 "'to':'validating'}"},
	{failed_while_it_was_written, ASK(RETRY),
	 "its order (install, of rollout r-1) is opened again", NULL,
	 "order {'begun':false,'by':'ann','class':'install','retry':true,"
	 "'rollout':'r-1'}"},
	{failed_reconfigure, ASK(RETRY),
	 "its order (reconfigure, of rollout r-1) is opened again", NULL,
	 "order {'begun':false,'by':'ann','class':'reconfigure','retry':true,"
	 "'rollout':'r-1'}"},
	{failed_without_an_order, ASK(RETRY),
	 "failed -> validating, nothing is written", NULL,
	 "state {'by':'ann','on':'validate','reason':'retry by ann: fan',"
	 "'to':'validating'}"},
	{ready, ASK(RETRY), "node node001: its last order has not failed", NULL, NULL},
	{held_by_bringup, ASK(RETRY), "released", NULL, "released {'by':'ann'}"},
	{failed_of_a_forgotten_rollout, ASK(RETRY),
	 "node node001: rollout r-0 is no longer known; bringup apply orders it again",
	 NULL, NULL},
	{stopped, ASK(RETRY),
	 "its order (install, of rollout r-1) is opened again; bringup rollout resume "
	 "lets it begin",
	 NULL,
	 "order {'begun':false,'by':'ann','class':'install','retry':true,"
	 "'rollout':'r-1'}"},
	{aborted, ASK(RETRY),
	 "node node001: rollout r-1 was aborted; bringup apply orders it again", NULL,
	 NULL},
	{enrolled, ASK(DRAIN),
	 "node node001 is enrolled; drain has no effect there; it takes: hold, rebuild, "
	 "power, bmc-reset, retire",
	 NULL, NULL},
};

START_TEST(what_is_answered_and_written)
{
	are_as_told(cases, BU_LEN(cases));
}
END_TEST

RIG_UNIT("asks", what_is_answered_and_written)
