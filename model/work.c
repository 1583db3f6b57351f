/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of work items. The daemon writes items by them (api/work.c, gate), the
 * agent reads them (jobs.c, fabric/probe). Invariant: what an agent takes was said in
 * full; nothing of what it does to a machine is a default that was not ordered.
 */
#include "model/work.h"

#include <string.h>

#include "base/path.h"

static int
is_secret(const char *text)
{
	return !*text || strlen(text) >= 16;
}

static const struct bu_form secret_form = {is_secret, "a secret of 16 characters"};
static const struct bu_form path_form = {bu_path_is_file,
					 "the absolute path of a file"};
static const char *const install_kind[] = {"install", NULL};
static const char *const load_kind[] = {"load", NULL};
static const char *const configure_kind[] = {"configure", NULL};
static const char *const join_kind[] = {"join", NULL};
static const char *const agent_kind[] = {"agent", NULL};
static const char *const switches_kind[] = {"switches", NULL};
static const char *const probe_kind[] = {"probe", NULL};
static const char *const roles[] = {"connect", "listen", "loopback", NULL};

/* clang-format off */
#define HEAD(type, its_kind)                                                           \
	{.key = "kind", .kind = BU_FIELD_IS, .words = its_kind},                       \
	BU_FIELD_AS("id", STRING, type, work.id, .max = 127),                          \
	BU_FIELD_AS("attempt", INT, type, work.attempt)
/* clang-format on */

const struct bu_field bu_work_fields[] = {
	BU_FIELD(STRING, struct bu_work, kind, .max = 31),
	BU_FIELD(STRING, struct bu_work, id, .max = 127),
	BU_FIELD(INT, struct bu_work, attempt),
	BU_FIELD_END,
};

static const struct bu_field error_fields[] = {
	BU_FIELD_AS("kind", STRING, struct bu_work_result, error.kind),
	BU_FIELD_AS("text", STRING, struct bu_work_result, error.text),
	BU_FIELD_END,
};

const struct bu_field bu_work_result_fields[] = {
	BU_FIELD_AS("kind", STRING, struct bu_work_result, work.kind, .max = 31),
	BU_FIELD_AS("id", STRING, struct bu_work_result, work.id, .max = 127),
	BU_FIELD_AS("attempt", INT, struct bu_work_result, work.attempt),
	/* Its fields are members of the result. */
	{.key = "error",
	 .kind = BU_FIELD_RECORD,
	 .need = BU_SPARSE,
	 .fields = error_fields},
	BU_FIELD(JSON, struct bu_work_result, result, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_work_file_fields[] = {
	BU_FIELD(STRING, struct bu_work_file, path, .form = &path_form),
	BU_FIELD(INT, struct bu_work_file, mode, .max = 0777),
	BU_FIELD(STRING, struct bu_work_file, apply, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_work_file, owner, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_work_file, content, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_work_file, content_hex, .need = BU_SPARSE),
	BU_FIELD_END,
};

int
bu_work_is_text(const void *content, size_t size)
{
	json_t *text = memchr(content, 0, size) ? NULL : json_stringn(content, size);
	int is = text != NULL;

	json_decref(text);
	return is;
}

const struct bu_field bu_work_note_fields[] = {
	BU_FIELD(STRING, struct bu_work_note, text),
	BU_FIELD(STRING, struct bu_work_note, sig),
	BU_FIELD_END,
};

static const struct bu_field cert_fields[] = {
	BU_FIELD(STRING, struct bu_work_cert, kind),
	BU_FIELD(STRING, struct bu_work_cert, text),
	BU_FIELD_END,
};

static const struct bu_field data_fields[] = {
	BU_FIELD(TEXT, struct bu_work_data, name),
	BU_FIELD(TEXT, struct bu_work_data, guid),
	BU_FIELD(INT, struct bu_work_data, size_bytes),
	BU_FIELD_END,
};

static const struct bu_field member_fields[] = {
	BU_FIELD(TEXT, struct bu_work_member, path),
	BU_FIELD(TEXT, struct bu_work_member, serial),
	BU_FIELD(TEXT, struct bu_work_member, wwn, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_member, guid),
	BU_FIELD_END,
};

static const struct bu_field word_field[] = {BU_FIELD_ONE(STRING, sizeof(char *))};

const struct bu_field bu_work_install_fields[] = {
	HEAD(struct bu_work_install, install_kind),
	BU_FIELD(STRING, struct bu_work_install, base_url),
	BU_FIELD(STRING, struct bu_work_install, image),
	BU_FIELD(STRING, struct bu_work_install, digest),
	BU_FIELD(STRING, struct bu_work_install, image_key),
	BU_FIELD(STRING, struct bu_work_install, appliance_key),
	BU_FIELD(FLAG, struct bu_work_install, wipe),
	BU_FIELD(FLAG, struct bu_work_install, keep),
	BU_FIELD(FLAG, struct bu_work_install, kexec, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_install, raw, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_work_install, kargs),
	BU_FIELD(RECORD, struct bu_work_install, mark, .fields = bu_work_note_fields),
	BU_FIELD(RECORD, struct bu_work_install, stamp, .fields = bu_work_note_fields),
	BU_FIELD(STRING, struct bu_work_install, disk),
	BU_FIELD(STRING, struct bu_work_install, disk_serial),
	BU_FIELD(STRING, struct bu_work_install, disk_wwn, .need = BU_SPARSE,
		 .unsaid = ""),
	BU_FIELD(INT, struct bu_work_install, disk_size_bytes),
	BU_FIELD_MANY(LIST, struct bu_work_install, data, BU_WORK_DATA_MAX,
		      data_fields),
	BU_FIELD(INT, struct bu_work_install, root_bytes),
	BU_FIELD(TEXT, struct bu_work_install, mirror, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_install, mirror_serial, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_install, mirror_wwn, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_install, mirror_uuid, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_install, mirror_granted, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_install, roots, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_install, reuse, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_work_install, scratch, BU_WORK_SCRATCH_MAX,
		      member_fields, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_install, scratch_uuid, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_install, scratch_wipe, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_work_install, files, BU_WORK_FILES_MAX,
		      bu_work_file_fields),
	BU_FIELD_END,
};

const struct bu_field bu_work_installed_fields[] = {
	BU_FIELD(FLAG, struct bu_work_installed, kexec, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_work_installed, slot, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_installed, tried, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_installed, reused, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_work_load_fields[] = {
	HEAD(struct bu_work_load, load_kind),
	BU_FIELD(STRING, struct bu_work_load, base_url),
	BU_FIELD(STRING, struct bu_work_load, image),
	BU_FIELD(STRING, struct bu_work_load, digest),
	BU_FIELD(STRING, struct bu_work_load, image_key),
	BU_FIELD(RECORD, struct bu_work_load, stamp, .fields = bu_work_note_fields),
	BU_FIELD_MANY(LIST, struct bu_work_load, files, BU_WORK_FILES_MAX,
		      bu_work_file_fields),
	BU_FIELD_END,
};

const struct bu_field bu_work_configure_fields[] = {
	HEAD(struct bu_work_configure, configure_kind),
	BU_FIELD(FLAG, struct bu_work_configure, live),
	BU_FIELD(STRING, struct bu_work_configure, then),
	BU_FIELD(INT, struct bu_work_configure, confirm_ms),
	BU_FIELD(STRING, struct bu_work_configure, kargs, .need = BU_SPARSE),
	BU_FIELD_MANY(ARRAY, struct bu_work_configure, patterns, BU_WORK_WORDS_MAX,
		      word_field),
	BU_FIELD_MANY(LIST, struct bu_work_configure, files, BU_WORK_FILES_MAX,
		      bu_work_file_fields),
	BU_FIELD_END,
};

const struct bu_field bu_work_join_fields[] = {
	HEAD(struct bu_work_join, join_kind),
	BU_FIELD(RECORD, struct bu_work_join, full, .fields = cert_fields),
	BU_FIELD(RECORD, struct bu_work_join, boot, .fields = cert_fields),
	BU_FIELD_MANY(ARRAY, struct bu_work_join, services, BU_WORK_WORDS_MAX,
		      word_field),
	BU_FIELD_MANY(LIST, struct bu_work_join, files, BU_WORK_FILES_MAX,
		      bu_work_file_fields),
	BU_FIELD_END,
};

const struct bu_field bu_work_agent_fields[] = {
	HEAD(struct bu_work_agent, agent_kind),
	BU_FIELD(STRING, struct bu_work_agent, base_url),
	BU_FIELD(STRING, struct bu_work_agent, version, .max = 39),
	BU_FIELD(STRING, struct bu_work_agent, digest, .max = 64),
	BU_FIELD(STRING, struct bu_work_agent, key),
	BU_FIELD(INT, struct bu_work_agent, deadline_ms),
	BU_FIELD_END,
};

const struct bu_field bu_work_rail_fields[] = {
	BU_FIELD(TEXT, struct bu_work_rail, rail, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_rail, port, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_rail, address, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, gid_index, .min = -1, .max = UINT8_MAX,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, gid_family, .max = 6, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, pkey, .min = -1, .max = UINT16_MAX,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, sl, .max = 15, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, traffic_class, .max = UINT8_MAX,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, flow_label, .min = -1, .max = 0xfffff,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, mtu, .max = 4096, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_rail, grh, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_rail, gpu, .min = -1, .max = 63, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD(REAL, struct bu_work_rail, min_gbps, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_work_switches_fields[] = {
	HEAD(struct bu_work_switches, switches_kind),
	BU_FIELD(RECORD, struct bu_work_switches, rail, .fields = bu_work_rail_fields),
	BU_FIELD(JSON, struct bu_work_switches, names),
	BU_FIELD(INT, struct bu_work_switches, deadline_ms, .max = 600000),
	BU_FIELD_END,
};

const struct bu_field bu_work_probe_fields[] = {
	HEAD(struct bu_work_probe, probe_kind),
	BU_FIELD(TEXT, struct bu_work_probe, probe, .form = &bu_pair_name_form),
	BU_FIELD(WORD, struct bu_work_probe, role, .words = roles),
	BU_FIELD_AS("a", TEXT, struct bu_work_probe, node[BU_END_A],
		    .form = &bu_pair_name_form),
	/* A loopback has none of these. */
	BU_FIELD_AS("b", TEXT, struct bu_work_probe, node[BU_END_B],
		    .form = &bu_pair_name_form, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_probe, addr, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, port, .min = 1, .max = UINT16_MAX,
		 .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_probe, secret, .form = &secret_form,
		 .need = BU_SPARSE),
	BU_FIELD_AS("node", TEXT, struct bu_work_probe, self, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_probe, peer, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_probe, local_ip, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_work_probe, device, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, message_bytes, .min = 64,
		 .max = BU_PAIR_MESSAGE_MAX, .otherwise = BU_PAIR_MESSAGE_BYTES,
		 .need = BU_OPTIONAL),
	BU_FIELD(INT, struct bu_work_probe, bytes, .min = 1, .max = INT64_C(1) << 50,
		 .otherwise = BU_PAIR_BYTES, .need = BU_OPTIONAL),
	BU_FIELD(INT, struct bu_work_probe, runs, .min = 1, .max = BU_RUNS_MAX,
		 .otherwise = BU_PAIR_RUNS, .need = BU_OPTIONAL),
	BU_FIELD(INT, struct bu_work_probe, deadline_ms, .min = 1000, .max = 3600000,
		 .otherwise = BU_PAIR_DEADLINE_MS, .need = BU_OPTIONAL),
	BU_FIELD(WORD, struct bu_work_probe, op, .words = bu_op_names,
		 .need = BU_SPARSE),
	BU_FIELD(WORD, struct bu_work_probe, lat_op, .words = bu_op_names,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, qps, .min = 1, .max = BU_QPS_MAX,
		 .otherwise = 1, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_probe, duplex, .need = BU_SPARSE),
	BU_FIELD(REAL, struct bu_work_probe, min_gbps, .need = BU_OPTIONAL),
	BU_FIELD(INT, struct bu_work_probe, pings, .max = BU_PAIR_PINGS_MAX,
		 .otherwise = BU_PAIR_PINGS, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, sport, .max = UINT16_MAX,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, gid_index, .min = -1, .max = UINT8_MAX,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, window_bytes, .max = INT64_C(1) << 36,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, gpu, .min = -1, .max = 63, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, depth, .max = BU_PAIR_DEPTH_MAX,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_work_probe, warm_bytes, .max = INT64_C(1) << 50,
		 .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_work_probe, trace, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_work_probe, rails, BU_RAILS_MAX,
		      bu_work_rail_fields, .need = BU_SPARSE),
	BU_FIELD_END,
};

static int
is_path_mtu(int bytes)
{
	return bytes == 0 || (bytes >= 256 && (bytes & (bytes - 1)) == 0);
}

static const char *
wrong_with_rails(const struct bu_work_probe *work)
{
	if (!work->local_ip[0] && !work->device[0] && !work->rails_count)
		return "local_ip, device or rails: missing; expected one of them";
	if (work->port + (int)work->rails_count > UINT16_MAX)
		return "port: each rail needs one more, up to 65535";
	for (size_t i = 0; i < work->rails_count; i++) {
		const struct bu_work_rail *rail = &work->rails[i];

		if (!rail->port[0] && !rail->address[0])
			return "rails: port or address: missing in one of them";
		if (!is_path_mtu(rail->mtu))
			return "rails: mtu: expected 256, 512, 1024, 2048 or 4096";
	}
	return NULL;
}

/* What is wrong with a probe's item as a whole; NULL = nothing. */
static const char *
wrong_with(const struct bu_work_probe *work)
{
	const char *a = work->node[BU_END_A], *b = work->node[BU_END_B];

	if (work->role != BU_PROBE_LOOPBACK && (!*b || !work->addr[0] || !work->port))
		return "b, addr and port: missing; without them ends do not meet";
	if (work->role != BU_PROBE_LOOPBACK && !work->secret[0])
		return "secret: missing; expected a text";
	if (strcmp(a, b) == 0 && work->role != BU_PROBE_LOOPBACK)
		return "a and b: are the same";
	if (work->self[0] && strcmp(work->self, a) != 0 && strcmp(work->self, b) != 0)
		return "node: is neither a nor b";
	if (work->message_bytes % 8)
		return "message_bytes: expected a multiple of 8";
	if (work->lat_op == BU_OP_READ)
		return "lat_op: expected 'write', 'send'";
	if (work->sport && work->sport < 0xc000)
		return "sport: 49152 to 65535 are allowed";
	return wrong_with_rails(work);
}

int
bu_work_probe_from_json(const json_t *item, struct bu_work_probe *ret,
			struct bu_err *err)
{
	const char *why;

	if (bu_record_from_json(bu_work_probe_fields, item, ret, err) != 0)
		return bu_err_wrap(err, "probe");
	why = wrong_with(ret);
	return why ? bu_err_set(err, BU_ERR_INVAL, 0, "probe: %s", why) : 0;
}
