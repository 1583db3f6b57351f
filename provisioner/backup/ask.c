/* SPDX-License-Identifier: Apache-2.0 */
/* What bringupd and bringup-backup say to each other; both link this file. */
#include "provisioner/backup/backup.h"

const struct bu_field bu_backup_ask_fields[] = {
	BU_FIELD(STRING, struct bu_backup_ask, state),
	BU_FIELD(STRING, struct bu_backup_ask, conf),
	BU_FIELD(FLAG, struct bu_backup_ask, with_keys),
	BU_FIELD(STRING, struct bu_backup_ask, to),
	BU_FIELD(STRING, struct bu_backup_ask, recipient),
	BU_FIELD(STRING, struct bu_backup_ask, name),
	BU_FIELD(JSON, struct bu_backup_ask, anchor),
	BU_FIELD_END,
};
const struct bu_field bu_backup_made_fields[] = {
	BU_FIELD(TEXT, struct bu_backup_made, to),
	BU_FIELD(TEXT, struct bu_backup_made, digest),
	BU_FIELD(INT, struct bu_backup_made, bytes),
	BU_FIELD_END,
};
const struct bu_field bu_init_ask_fields[] = {
	BU_FIELD(STRING, struct bu_init_ask, state),
	BU_FIELD(STRING, struct bu_init_ask, site_key, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_init_ask, identity, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_init_ask, sheet, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_init_ask, site),
	BU_FIELD(STRING, struct bu_init_ask, tree),
	BU_FIELD(STRING, struct bu_init_ask, commit),
	BU_FIELD_END,
};
