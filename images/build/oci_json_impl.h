/* SPDX-License-Identifier: Apache-2.0 */
/* What oci_json.c and oci_index.c share: the documents' outer form and descriptors. */
#ifndef BU_IMAGES_BUILD_OCI_JSON_IMPL_H
#define BU_IMAGES_BUILD_OCI_JSON_IMPL_H

#include "base/json.h"
#include "images/build/oci_json.h"

/* An object, owned; NULL (BU_ERR_VERIFY) names `what`. */
json_t *bu_oci_parse(const char *text, size_t size, const char *what,
		     struct bu_err *err);
bu_must int bu_oci_read_desc(const json_t *value, struct bu_oci_desc *ret,
			     struct bu_err *err);

#endif
