/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict virtual BMC: requests in, answers out, time from outside. No sockets here
 * (server.h has them), so tests ask it directly.
 */
#ifndef BU_LAB_BMC_BMC_H
#define BU_LAB_BMC_BMC_H

#include <stddef.h>

#include "lab/bmc/machine.h"
#include "lab/bmc/reply.h"

struct bu_bmc;
struct bu_bmc_tree; /* what a vendor's BMC looks like, and how it behaves */

/* name: a file of lab/bmc/trees without ".json". */
struct bu_bmc_tree *bu_bmc_tree_load(const char *name, struct bu_err *err);
void bu_bmc_tree_free(struct bu_bmc_tree *tree);
/* "dell dgx ...": the trees that there are; owned. */
char *bu_bmc_tree_names(void);
/* The factory's account, when the caller gives none. */
const char *bu_bmc_tree_user(const struct bu_bmc_tree *tree);
const char *bu_bmc_tree_password(const struct bu_bmc_tree *tree);

struct bu_bmc_opts {
	const struct bu_bmc_tree *tree; /* borrowed */
	struct bu_bmc_machine *machine; /* owned from now on */
	const struct bu_bmc_identity *identity;
	const char *user, *password; /* NULL = the factory's */
	/* Is there an image at this address? NULL: nobody looks. */
	int (*fetch)(const char *url, struct bu_err *err);
	int64_t now_ms;  /* monotonic */
	int64_t wall_ms; /* Unix time */
};
/* Never NULL. */
struct bu_bmc *bu_bmc_create(const struct bu_bmc_opts *opts);
void bu_bmc_destroy(struct bu_bmc *bmc);

/* NAME or NAME=NUMBER, see BU_BMC_FAULTS. */
int bu_bmc_fault(struct bu_bmc *bmc, const char *text, struct bu_err *err);
enum { BU_BMC_NOT = -1 };
#define BU_BMC_FAULTS(X)                                                               \
	X(SLOW, "slow", "MS", "each answer takes so much longer")                      \
	X(BUSY, "busy", "[N]", "503 to the next N requests, or to all")                \
	X(SAYS_ON, "says-on", "", "PowerState is On, whatever the machine is")         \
	X(IGNORES_POWER, "ignores-power", "", "a power command is accepted, no more")  \
	X(FORGETS_BOOT, "forgets-boot", "", "a boot override is accepted and gone")    \
	X(IGNORES_BOOT, "ignores-boot", "",                                            \
	  "a boot override reads back, and the machine boots as always")               \
	X(SESSIONS_FULL, "sessions-full", "", "no session can be opened")              \
	X(MUST_CHANGE, "must-change", "",                                              \
	  "the account may do nothing before its password is changed")                 \
	X(NEW_CERTIFICATE, "new-certificate", "S",                                     \
	  "another certificate, S seconds after the start")                            \
	X(POST, "post", "S", "the machine starts S seconds after power-on")            \
	X(LOG_ROWS, "log", "N", "N older entries are in its event log")                \
	X(LOG_FULL, "log-full", "", "its event log is full, and takes no more")        \
	X(NO_READING, "no-reading", "", "its sensors have no reading (null)")          \
	X(RESTARTS, "restarts", "[N]",                                                 \
	  "it restarts itself in the midst of the next N power commands, or of all")   \
	X(CLOCK, "clock", "S", "its clock is S seconds ahead")                         \
	X(INERT, "inert", "", "a reset of the BMC is accepted, no more")
enum bu_bmc_fault {
#define X(id, name, arg, help) BU_BMC_FAULT_##id,
	BU_BMC_FAULTS(X)
#undef X
		BU_BMC_FAULT_COUNT,
};
/* Its number; BU_BMC_NOT when it is not set. */
int64_t bu_bmc_fault_get(const struct bu_bmc *bmc, enum bu_bmc_fault fault);

struct bu_bmc_request {
	const char *method, *path;
	const char *query; /* name of its first parameter with '$' before it, or NULL */
	const char *query_value;
	const char *authorization, *token; /* headers; NULL = not sent */
	const char *content_type, *accept, *odata_version;
	const char *if_match, *if_none_match;
	int has_length; /* the length of the body was told */
	const char *body;
	size_t size;
};
/* The caller frees the reply. */
void bu_bmc_answer(struct bu_bmc *bmc, const struct bu_bmc_request *request,
		   int64_t now_ms, int64_t wall_ms, struct bu_bmc_reply *ret);
/* Does what is due. When something is due next; -1 = nothing is under way. */
int64_t bu_bmc_advance(struct bu_bmc *bmc, int64_t now_ms);

#endif
