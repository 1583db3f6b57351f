/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations of nodes that leave for long, made and ended. */
#include <string.h>

#include "tests/support/slurm_desk.h"
#include "tests/support/unit.h"

#define DRAIN "update nodename=node001 state=drain reason=bringup: leaves the cluster\n"

#define RESERVE                                                                        \
	"create reservation reservationname=bringup-node001 nodes=node001 "            \
	"starttime=now duration=UNLIMITED flags=maint,ignore_jobs users=root\n"

/* Slurm deletes no node that is in a reservation. */
START_TEST(a_long_drain_is_maintenance)
{
	struct desk desk;
	struct ended ended;
	bu_autofree char *log = NULL;

	begin(&desk, "mixed\n");
	rig_write(&desk.rig, "sinfo.next", "draining\n");
	rig_write(&desk.rig, "squeue", "node001|17 (bob)\n");
	begin_op(desk.cluster, LEAVE, "node001", &ended);
	pass(&desk, 590000);
	ck_assert_told(&desk, DRAIN);
	pass(&desk, 60000);
	rig_write(&desk.rig, "sinfo", "MIXED+DRAIN+MAINTENANCE+RESERVED bringup: x\n");
	pass(&desk, 900000);
	ck_assert_told(&desk, DRAIN RESERVE);
	rig_write(&desk.rig, "squeue", "");
	rig_write(&desk.rig, "sinfo", "IDLE+DRAIN+MAINTENANCE+RESERVED bringup: x\n");
	pass(&desk, 20000);
	rig_write(&desk.rig, "sinfo", "");
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	log = told(&desk);
	rig_text_has(log, DRAIN RESERVE "delete reservationname=bringup-node001\n"
					"delete nodename=node001\n");
	end(&desk);
}
END_TEST

#define UNRESERVE "delete reservationname=bringup-node001\n"
#define RESUME "update nodename=node001 state=resume\n"

static void
refuse(const struct desk *desk, const char *text)
{
	rig_write(&desk->rig, "scontrol.log", "");
	rig_write(&desk->rig, "slurm.refuse", text);
}

/* The consequence of an error of slurmctld: no job would get to a node that takes part
 * with its reservation. */
START_TEST(only_a_reservation_that_is_gone_lets_its_node_go_on)
{
	static const struct {
		enum verb verb;
		const char *then; /* what is told when there is none any more */
	} rows[] = {{ADMIT, RESUME}, {LEAVE, "delete nodename=node001\n"}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;
		struct ended ended;
		bu_autofree char *failed = NULL, *gone = NULL;

		begin(&desk, "IDLE+DRAIN+MAINTENANCE bringup: x\n");
		refuse(&desk, "slurm_update error: Unable to contact slurm "
			      "controller\n");
		begin_op(desk.cluster, rows[i].verb, "node001", &ended);
		pass(&desk, 6000);
		failed = told(&desk);
		rig_text_has(failed, UNRESERVE UNRESERVE);
		ck_assert_ptr_null(strstr(failed, rows[i].then));
		rig_text_has(ended.words, "Unable to contact slurm controller");
		refuse(&desk, "delete_reservation reservationname=bringup-node001: "
			      "Requested reservation is invalid\n");
		pass(&desk, 8000);
		gone = told(&desk);
		rig_text_has(gone, rows[i].then);
		ck_assert_int_eq(ended.times, 0);
		rig_remove(&desk.rig, "slurm.refuse");
		rig_write(&desk.rig, "sinfo",
			  rows[i].verb == ADMIT ? "IDLE+MAINTENANCE\n" : "");
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		end(&desk);
	}
}
END_TEST

RIG_UNIT("slurm_reservation", a_long_drain_is_maintenance,
	 only_a_reservation_that_is_gone_lets_its_node_go_on)
