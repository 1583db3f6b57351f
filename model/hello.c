/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of what agents say. Used by agent/ (writes) and provisioner/api/agents.c
 * (reads). Invariant: whatever is missing or of another type is an error with its path;
 * an agent that says less than it must is not taken for one that said "".
 */
#include "model/hello.h"

#include "base/json.h"

const char *const bu_where_names[] = {"ramdisk", "installed", NULL};

#define PROTOCOL                                                                       \
	{                                                                              \
		.key = "protocol", .kind = BU_FIELD_VERSION, .min = BU_AGENT_PROTOCOL, \
		.max = BU_AGENT_PROTOCOL                                               \
	}

const struct bu_field bu_enroll_fields[] = {
	BU_FIELD(STRING, struct bu_enroll, node),
	BU_FIELD(STRING, struct bu_enroll, token),
	BU_FIELD(STRING, struct bu_enroll, csr),
	BU_FIELD(JSON, struct bu_enroll, inventory),
	BU_FIELD_END,
};

const struct bu_field bu_hello_fields[] = {
	PROTOCOL,
	BU_FIELD(WORD, struct bu_hello, where, .words = bu_where_names),
	BU_FIELD(JSON, struct bu_hello, stamp),
	BU_FIELD(JSON, struct bu_hello, inventory),
	BU_FIELD(JSON, struct bu_hello, agent, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_hello, crash, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_hello, anchor, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_hello, runs, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_hello, settled, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_crash_said_fields[] = {
	BU_FIELD(STRING, struct bu_crash_said, kind, .max = BU_CRASH_KIND_SIZE - 1),
	BU_FIELD(INT, struct bu_crash_said, at_ms),
	BU_FIELD(JSON, struct bu_crash_said, lines),
	BU_FIELD_END,
};

const char *const bu_agent_change_names[] = {"changed", "ended",    "silent",
					     "refused", "released", NULL};

const struct bu_field bu_agent_said_fields[] = {
	BU_FIELD(STRING, struct bu_agent_said, version, .max = 39),
	BU_FIELD(STRING, struct bu_agent_said, digest, .max = 64),
	BU_FIELD(FLAG, struct bu_agent_said, trial, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_agent_said, failed, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_agent_failed_fields[] = {
	BU_FIELD(STRING, struct bu_agent_failed, version, .max = 39),
	BU_FIELD(STRING, struct bu_agent_failed, digest, .max = 64),
	BU_FIELD(WORD, struct bu_agent_failed, why, .words = bu_agent_change_names,
		 .min = 1),
	BU_FIELD_END,
};

const struct bu_field bu_ask_work_fields[] = {
	BU_FIELD(INT, struct bu_ask_work, wait_ms, .need = BU_OPTIONAL),
	PROTOCOL,
	BU_FIELD(STRING, struct bu_ask_work, boot_id, .need = BU_SPARSE, .unsaid = "",
		 .max = 39),
	BU_FIELD(STRING, struct bu_ask_work, revoked, .need = BU_SPARSE, .max = 64),
	BU_FIELD(STRING, struct bu_ask_work, settled, .need = BU_SPARSE, .max = 64),
	BU_FIELD(STRING, struct bu_ask_work, ca, .need = BU_SPARSE, .max = 64),
	BU_FIELD_END,
};

const struct bu_field bu_progress_fields[] = {
	BU_FIELD(STRING, struct bu_progress, id, .max = 127),
	BU_FIELD(STRING, struct bu_progress, stage, .max = 63),
	BU_FIELD(INT, struct bu_progress, done_bytes),
	BU_FIELD(INT, struct bu_progress, total_bytes),
	BU_FIELD_END,
};

int
bu_hello_check_protocol(const json_t *body, const char *node, struct bu_err *err)
{
	int64_t told = bu_json_int(body, "protocol", 0);

	if (told == BU_AGENT_PROTOCOL)
		return 0;
	return bu_err_set(
		err, BU_ERR_STATE, 0,
		"the agent of %s speaks protocol %lld, and bringupd %d: make a new "
		"ramdisk with `bringup image build ramdisk`, and install the node "
		"again with `bringup node rebuild %s`",
		node, (long long)told, BU_AGENT_PROTOCOL, node);
}
