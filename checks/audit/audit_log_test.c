/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the kernel's log as operators met them, and what the audit makes of each. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/audit_machine.h"
#include "tests/support/unit.h"

#define FAIL BU_VERDICT_FAIL
#define WARN BU_VERDICT_WARN
#define PASS BU_VERDICT_PASS

struct said {
	const char *line;
	enum bu_verdict verdict;
	const char *hint; /* of a finding: it begins so */
};

/* The worst row of this check; PASS with none. */
static const struct bu_check *
worst(const struct bu_checks *checks, const char *id)
{
	const struct bu_check *found = NULL;

	for (size_t i = 0; i < checks->count; i++) {
		const struct bu_check *row = &checks->list[i];

		if (strcmp(row->id, id) == 0 && row->verdict != PASS &&
		    (!found || row->verdict == FAIL))
			found = row;
	}
	return found;
}

static void
judge(const char *id, const struct said *said)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	const struct bu_check *row;
	struct bu_checks checks;

	bu_audit_machine_change("dev/kmsg", said->line);
	bu_audit_machine_audit(expect, &checks);
	row = worst(&checks, id);
	ck_assert_msg((row ? row->verdict : PASS) == said->verdict, "%s: %s",
		      said->line, row ? row->text : "nothing was found");
	if (said->hint)
		ck_assert_msg(strncmp(row->hint, said->hint, strlen(said->hint)) == 0,
			      "%s: hint '%s'", said->line, row->hint);
	bu_checks_fini(&checks);
	bu_audit_machine_restore();
}

static void
judge_all(const char *id, const struct said *said, size_t count)
{
	bu_audit_machine_build(0);
	for (size_t i = 0; i < count; i++)
		judge(id, &said[i]);
	bu_audit_machine_remove();
}

#define XID "4,2,9,-;NVRM: Xid (PCI:0000:13:00): "

START_TEST(the_severity_in_an_xid_line_decides)
{
	static const struct said said[] = {
		{XID "145, RLW_RXPIPE Nonfatal XC0 i0 Link 00 (0x6 0x1 0x0 0x0)", WARN,
		 "nothing at once"},
		{XID "145, RLW_SRC_TRACK Fatal XC0 i0 Link 00 (0x7 0x1 0x0 0x0)", FAIL,
		 "reset the GPU"},
		{XID "149, pid=7, name=Fatal, NETIR_LINK_EVT  Nonfatal XC0 i0", WARN,
		 NULL},
		{XID "149, pid=7, name=Nonfatal, NETIR_LINK_EVT Fatal XC0 i0", FAIL,
		 NULL},
		{XID "144, SAW_MVB", FAIL, "reset the GPU"},
		{"4,2,9,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, "
		 "Link 32 egress non-posted PRIV error (First)",
		 WARN, NULL},
		{"4,2,9,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link "
		 "30 LTSSM Fault Up",
		 FAIL, "reset the GPUs and the NVSwitches"},
		/* an application's name is no severity */
		{XID "31, pid=77, name=Fatal, Ch 00000008", PASS, NULL},
	};

	judge_all("gpu-xid", said, BU_LEN(said));
}
END_TEST

START_TEST(xids_have_the_action_of_the_catalogue)
{
	static const int reset[] = {46, 109, 110, 136, 155, 156, 158, 48,  62,
				    64, 74,  95,  119, 120, 140, 143, 144, 150};
	static const int none[] = {69, 80, 92, 13, 31, 43, 45, 63, 94, 157};
	static const struct said others[] = {
		{XID "79, pid=1, GPU has fallen off the bus.", FAIL,
		 "restart the machine; when it comes back, reseat"},
		{XID "154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
		     "Reboot Required)",
		 FAIL, "restart the machine"},
		{XID
		 "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
		 "Required)",
		 FAIL, "reset the GPU"},
		{XID "154, GPU recovery action changed from 0x2 (Node Reboot Required) "
		     "to 0x0 (None)",
		 PASS, NULL},
		/* nobody knows it: told, and condemns nobody */
		{XID "999, something new", WARN, "see the maker's catalogue"},
		{XID "56, CMDre 00000000", WARN, NULL},
		{"4,2,9,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 99999, new", WARN,
		 NULL},
		{XID "48, pid=1, Double bit\n" XID "999, new", FAIL, "reset the GPU"},
	};
	char line[120];

	judge_all("gpu-xid", others, BU_LEN(others));
	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(reset); i++) {
		snprintf(line, sizeof(line), XID "%d, pid=7, name=x", reset[i]);
		judge("gpu-xid", &(struct said){line, FAIL, "reset the GPU"});
	}
	for (size_t i = 0; i < BU_LEN(none); i++) {
		snprintf(line, sizeof(line), XID "%d, pid=7, name=x", none[i]);
		judge("gpu-xid", &(struct said){line, PASS, NULL});
	}
	bu_audit_machine_remove();
}
END_TEST

START_TEST(words_of_amds_driver_are_read)
{
	static const struct said said[] = {
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: ring sdma0 timeout, signaled "
		 "seq=3, emitted seq=5",
		 FAIL, "reset the GPU"},
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: Fatal error during GPU init",
		 FAIL, "restart the machine"},
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: GPU reset(2) failed", FAIL,
		 "restart the machine"},
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: GPU reset(2) succeeded!", PASS,
		 NULL},
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: 3 correctable hardware errors "
		 "detected in umc block",
		 PASS, NULL},
		{"3,2,9,-;amdgpu 0000:13:00.0: amdgpu: [gfxhub0] page fault", PASS,
		 NULL},
	};

	judge_all("gpu-error", said, BU_LEN(said));
}
END_TEST

#define MLX "3,2,9,-;mlx5_core 0000:14:00.0: "

START_TEST(words_of_nics_drivers_are_read)
{
	static const struct said said[] = {
		{MLX "poll_health:852:(pid 0): device's health compromised - reached "
		     "miss count",
		 FAIL, "reload the NIC's driver"},
		{MLX "health poll failed", FAIL, "reload"},
		{MLX
		 "Port module event[error]: module 0, Cable error, High Temperature",
		 FAIL, "look at the cooling"},
		{MLX "Port module event[error]: module 0, Cable error, Bad or shorted "
		     "cable/module",
		 FAIL, "reseat the module"},
		{MLX
		 "temp_warn:196:(pid 0): High temperature on sensors with bit set 0",
		 FAIL, "look at the cooling"},
		{MLX "Port module event: module 0, Cable plugged", PASS, NULL},
		{"4,2,9,-;NETDEV WATCHDOG: eth1 (mlx5_core): transmit queue 3 timed out",
		 FAIL, "reload"},
		{"4,2,9,-;ice 0000:14:00.0 eth1: NETDEV WATCHDOG: CPU: 38: transmit "
		 "queue 14 timed out 8069 ms",
		 FAIL, "reload"},
		{"4,2,9,-;ice 0000:14:00.0 eth1: tx_timeout: VSI_num: 6, Q 14", FAIL,
		 "reload"},
		{"4,2,9,-;bnxt_en 0000:14:00.0 eth1: TX timeout detected, starting reset "
		 "task!",
		 FAIL, "reload"},
		{"4,2,9,-;irdma 0000:14:00.0: CQP timed out", FAIL, "reload"},
		{"4,2,9,-;irdma 0000:14:00.0: abnormal ae_id = 0x502 bool qp=1", PASS,
		 NULL},
		/* in no network of the profile: told, and condemns nobody */
		{"3,2,9,-;mlx5_core 0000:55:00.0: Fatal error 3 detected", WARN,
		 "reload"},
		{"4,2,9,-;NETDEV WATCHDOG: usb0 (cdc_ether): transmit queue 0 timed out",
		 WARN, "reload"},
	};

	judge_all("nic-error", said, BU_LEN(said));
}
END_TEST

START_TEST(errors_of_memory_are_judged_by_severity_whoever_tells_them)
{
	static const struct said lost[] = {
		{"2,2,9,-;{1}[Hardware Error]: event severity: recoverable", FAIL,
		 "see"},
		{"2,2,9,-;{1}[Hardware Error]: event severity: fatal", FAIL, NULL},
		{"2,2,9,-;[Hardware Error]: Uncorrected, software containable error.",
		 FAIL, NULL},
		{"2,2,9,-;[Hardware Error]: Deferred error, no action required.", FAIL,
		 NULL},
		{"0,2,9,-;mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank "
		 "1: bd80000000100134",
		 FAIL, NULL},
		{"0,2,9,-;mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: "
		 "bc00000000010090",
		 FAIL, NULL},
		{"0,2,9,-;mce: Uncorrected hardware memory error in user-access at "
		 "12f3000",
		 FAIL, NULL},
		{"0,2,9,-;Memory failure: 0x12f3: recovery action for dirty LRU page: "
		 "Recovered",
		 FAIL, NULL},
	};
	static const struct said corrected[] = {
		{"2,2,9,-;{1}[Hardware Error]: event severity: corrected\n"
		 "2,3,9,-;{1}[Hardware Error]:  Error 0, type: corrected",
		 PASS, NULL},
		{"2,2,9,-;[Hardware Error]: Corrected error, no action required.", PASS,
		 NULL},
		{"0,2,9,-;mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: "
		 "8c00004000010090\n0,3,9,-;mce: [Hardware Error]: TSC 0 ADDR 12\n"
		 "6,4,9,-;EDAC MC0: Giving out device to module",
		 PASS, NULL},
	};

	judge_all("hardware-error", lost, BU_LEN(lost));
	judge_all("hardware-error", corrected, BU_LEN(corrected));
	judge_all("hardware-corrected", corrected, BU_LEN(corrected));
}
END_TEST

/* The same number within a day, and over two weeks. */
START_TEST(corrected_errors_are_judged_by_their_rate)
{
	char log[4096];

	for (int weeks = 0; weeks < 2; weeks++) {
		size_t used = 0;

		for (unsigned long long i = 0; i < 12; i++)
			used += (size_t)snprintf(
				log + used, sizeof(log) - used,
				"2,%llu,%llu,-;{%llu}[Hardware Error]: event severity: "
				"corrected\n",
				i, i * (weeks ? 86400u : 600u) * 1000000u, i);
		bu_audit_machine_build(0);
		judge("hardware-corrected",
		      &(struct said){log, weeks ? PASS : WARN, NULL});
		bu_audit_machine_remove();
	}
}
END_TEST

BU_UNIT("audit-log", the_severity_in_an_xid_line_decides,
	xids_have_the_action_of_the_catalogue, words_of_amds_driver_are_read,
	words_of_nics_drivers_are_read,
	errors_of_memory_are_judged_by_severity_whoever_tells_them,
	corrected_errors_are_judged_by_their_rate)
