/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest that was ordered, from a server that may be anybody's. */
#ifndef BU_IMAGES_INSTALL_FETCH_H
#define BU_IMAGES_INSTALL_FETCH_H

#include "base/err.h"
#include "images/install/install.h"
#include "images/manifest.h"

/* Its digest is the one of the options, one of their keys has signed it, and the agent
 * that it needs is there; NULL otherwise. Waits for a server that is away. */
struct bu_manifest *bu_fetch_manifest(const struct bu_install_opts *opts,
				      const struct bu_install_hooks *hooks,
				      struct bu_err *err);

#endif
