/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command inside the rack's namespaces. */
#ifndef BU_LAB_ENTER_H
#define BU_LAB_ENTER_H

#include "lab/rack.h"

enum { BU_ENTER_LISTEN_MAX = 4 };

struct bu_enter {
	char *const *argv; /* argv[0] is looked up in PATH, inside */
	/* Listening sockets of the host's side, handed down as descriptors 3 and up
	 * with LISTEN_FDS and LISTEN_PID, as systemd does. Closed by the call. */
	int listen_fds[BU_ENTER_LISTEN_MAX];
	int listen_count;
	int detach;           /* return when it was executed; it lives on in the rack */
	const char *log_path; /* its output, when detached; NULL = /dev/null */
};

/* Opens a listening socket for "127.0.0.1:0" or "[::1]:80"; writes the address it got.
 */
bu_must int bu_enter_listen(const char *address, char *ret_address, size_t size,
			    struct bu_err *err);
/* Unsets SLURM_* and MUNGE_* in this process, as a command in a rack has them. */
void bu_enter_clean_environment(void);
/* Runs the command to its end, passing on the signals that this process gets, and
 * stores its exit status (128 + signal when it was killed) in *ret_result. It dies with
 * this process. With `detach` *ret_result is its pid as seen from here. */
bu_must int bu_enter_run(const struct bu_rack *rack, struct bu_enter *enter,
			 int *ret_result, struct bu_err *err);

#endif
