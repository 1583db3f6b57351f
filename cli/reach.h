/* SPDX-License-Identifier: Apache-2.0 */
/* Where bringupd listens, who said so, and why it cannot be reached there. */
#ifndef BU_CLI_REACH_H
#define BU_CLI_REACH_H

#include "base/err.h"

/* Who named the socket. */
enum bu_reach_by { BU_REACH_OPTION, BU_REACH_SOCKET, BU_REACH_RACK, BU_REACH_DEFAULT };

struct bu_reach {
	char *path; /* owned */
	enum bu_reach_by by;
};

/* option: of --socket, NULL takes $BRINGUP_SOCKET, else $BRINGUP_RACK/run/bringup/sock
 * when BRINGUP_RACK is set, else /run/bringup/sock. */
void bu_reach_init(struct bu_reach *reach, const char *option);
void bu_reach_fini(struct bu_reach *reach);
/* err: of a request that got no answer from there. Looks at the socket and replaces the
 * text by what is wrong and what to do; BU_ERR_DENIED when this user may not, else
 * BU_ERR_REMOTE or BU_ERR_TIMEOUT. */
void bu_reach_explain(const struct bu_reach *reach, struct bu_err *err);

#endif
