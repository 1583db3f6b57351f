/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of one machine: static audit, GPU, host and site checks, soak, and verdicts of
 * outside systems. The agent makes the report, the gate judges and keeps it, pages and
 * `node why` show it. Reports cross the network: bu_checks_from_json() trusts nothing.
 *
 * {"v":1,"boot_id","at_ms","checks":[CHECK]}
 * CHECK {"id","group","verdict","subject","seen","value"?,"expected","hint","text",
 *        "took_ms"}
 *
 * A check that does not apply to the machine (no such hardware, nothing expected) has
 * no row. A value that should be readable and is not makes a row `inconclusive`.
 */
#ifndef BU_MODEL_CHECK_H
#define BU_MODEL_CHECK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "model/result.h"

enum { BU_CHECKS_MAX = 2000, BU_CHECK_ID_SIZE = 48 };

#define BU_CHECK_GROUPS                                                                \
	"audit", "gpu", "host", "fabric", "site", "soak", "nvlink", "external"

struct bu_check {
	char id[BU_CHECK_ID_SIZE]; /* "pcie-width", "nic-mtu", "site:nhc" */
	char group[16];            /* one of BU_CHECK_GROUPS */
	enum bu_verdict verdict;
	char subject[64]; /* "mlx5_0", "GPU 3"; "" = the machine */
	char seen[160];
	char value[96]; /* the bare value, where `seen` says more; "" = seen */
	char expected[160];
	char hint[200]; /* first step of a repair */
	char text[240]; /* the finding, one line; shown in `node why` */
	int64_t took_ms;
};

struct bu_checks {
	char boot_id[40]; /* of the checked boot */
	int64_t at_ms;    /* wall clock at the start */
	struct bu_check *list;
	size_t count;
	size_t cap;
	struct bu_check spare;
};

/* Checks whose ids other code uses. */
#define BU_CHECK_LLDP "lldp"
#define BU_CHECK_CABLING "cabling"
#define BU_CHECK_NIC_MISSING "nic-missing"
#define BU_CHECK_GPU_FABRIC "gpu-fabric"
#define BU_CHECK_SOAK_TIME "soak-time"
#define BU_CHECK_GID "gid"
/* `seen` of a row that was not judged this time and may be the next time: the group was
 * broken off, late or dead, or a file system is being checked. */
#define BU_CHECK_UNDONE "not done"
/* Payload arrived changed over a link with the soak's peer. */
#define BU_CHECK_SOAK_PAYLOAD "soak-payload"
/* A file system of a server: the cause may lie outside this machine. */
#define BU_CHECK_MOUNT "mount"

/* A row as the log keeps it. */
struct bu_check_said {
	const char *id, *group;
	enum bu_verdict verdict;
	const char *subject, *text, *hint;
};
extern const struct bu_field bu_check_said_fields[];
/* "check nic-mtu (eth1)"; owned. */
char *bu_check_said_name(const struct bu_check_said *said);

void bu_checks_init(struct bu_checks *checks);
void bu_checks_fini(struct bu_checks *checks);
/* A new row with empty texts, valid until the next call. Unprintable characters in
 * texts are replaced when the report is written. With BU_CHECKS_MAX rows the last
 * becomes `checks-left-out`, verdict fail, and the new row is lost. group and id must
 * be valid: see bu_check_id_is_valid(). */
struct bu_check *bu_checks_add(struct bu_checks *checks, const char *group,
			       const char *id, enum bu_verdict verdict,
			       const char *subject);
/* Sets one text of a row, cut to its size. */
void bu_check_set(char *field, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define BU_CHECK_SET(field, ...) bu_check_set(field, sizeof(field), __VA_ARGS__)

/* The worst verdict: fail, inconclusive, warn, pass. Without rows: inconclusive. */
enum bu_verdict bu_checks_worst(const struct bu_checks *checks);
/* The value for programs, compared and kept. */
const char *bu_check_value(const struct bu_check *row);
size_t bu_checks_count(const struct bu_checks *checks, enum bu_verdict verdict);
/* 1 to 47 of [A-Za-z0-9._:-]. */
int bu_check_id_is_valid(const char *id);
int bu_check_group_is_valid(const char *group);

json_t *bu_checks_to_json(const struct bu_checks *checks); /* new reference */
/* ret is initialized on success only. BU_ERR_INVAL: err names row and field. */
bu_must int bu_checks_from_json(const json_t *value, struct bu_checks *ret,
				struct bu_err *err);

#endif
