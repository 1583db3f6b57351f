/* SPDX-License-Identifier: Apache-2.0 */
/* A log that takes blobs and keeps nothing. */
#ifndef BU_TESTS_SUPPORT_SINK_H
#define BU_TESTS_SUPPORT_SINK_H

#include "provisioner/store/driver.h"

static inline void
sink_attach(void *driver, struct bu_store *store)
{
}

static inline int
sink_blobs(void *driver, const struct bu_blob *blobs, size_t count, struct bu_err *err)
{
	return 0;
}

static inline void
sink_close(void *driver)
{
}

static const struct bu_store_ops sink_log = {.name = "sink",
					     .attach = sink_attach,
					     .blobs_put = sink_blobs,
					     .close = sink_close};

#endif
