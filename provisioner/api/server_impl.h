/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server share. */
#ifndef BU_API_SERVER_IMPL_H
#define BU_API_SERVER_IMPL_H

#include <microhttpd.h>

#include "provisioner/api/server.h"

/* Takes what is in the reply. */
enum MHD_Result bu_server_send(struct MHD_Connection *connection,
			       struct bu_reply *reply);
enum MHD_Result bu_server_send_error(struct MHD_Connection *connection,
				     const struct bu_err *err);

#endif
