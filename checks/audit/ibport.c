/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a port for management datagrams; called by ibpeer.c and ibfabric.c. Invariant:
 * the library says nothing by itself, but for what it cannot open.
 */
#include "checks/audit/ibport.h"

#include <errno.h>
#include <infiniband/umad.h>

/* The library says -EIO for all that keeps a port from being opened. It looks the
 * port's device up for this path, too. */
static int
is_there(const char *device, int port)
{
	char path[256];

	return umad_get_issm_path(device, port, path, sizeof(path)) == 0;
}

struct ibmad_port *
bu_ib_port_open(const char *device, int port, int wait_ms, int retries,
		struct bu_err *err)
{
	int classes[] = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_PERFORMANCE_CLASS};
	bu_autofree char *copy = bu_xstrdup(device);
	struct ibmad_port *ret;

	if (umad_init() < 0 || !is_there(device, port)) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "%s port %d has no device for management packets; load "
			   "ib_umad",
			   device, port);
		return NULL;
	}
	errno = 0;
	ret = mad_rpc_open_port(copy, port, classes, BU_LEN(classes));
	if (!ret) {
		bu_err_set(err,
			   errno == EACCES || errno == EPERM ? BU_ERR_DENIED
							     : BU_ERR_IO,
			   errno, "%s port %d: open it for management packets", device,
			   port);
		return NULL;
	}
	mad_rpc_set_timeout(ret, wait_ms);
	mad_rpc_set_retries(ret, retries);
	return ret;
}
