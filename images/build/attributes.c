/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of extended attributes; unpack.c asks for each one that an archive has.
 * Invariant: an attribute that no row names is refused, because the file systems of the
 * building machine or of a node could obey it (trusted.overlay.opaque hides files).
 */
#include "images/build/attributes.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"

/* A name that ends with '*' is the beginning of one. */
static const char *const kept[] = {
	"security.capability",
	"system.posix_acl_access",
	"system.posix_acl_default",
	"user.*",
};

#define LABEL "a label of the machine that packed it"
#define MEASURED "what the integrity measurement of the machine that packed it made"
#define SERVER "an access list that its file server obeys, and no disk of a node"
#define STORAGE "a note of the file system that it was packed from"
#define DESKTOP "a note of the computer that packed it"

static const struct {
	const char *name, *what;
} left_out[] = {
	{"security.selinux", LABEL},
	{"security.sehash", LABEL},
	{"security.restorecon_last", LABEL},
	{"security.SMACK64*", LABEL},
	{"security.apparmor", LABEL},
	{"security.ima", MEASURED},
	{"security.evm", MEASURED},
	{"security.NTACL", SERVER},
	{"system.nfs4_acl", SERVER},
	{"system.nfs4_dacl", SERVER},
	{"system.nfs4_sacl", SERVER},
	{"system.richacl", SERVER},
	{"system.cifs_acl", SERVER},
	{"system.smb3_*", SERVER},
	{"system.ntfs_*", STORAGE},
	{"system.dos_attrib", STORAGE},
	{"btrfs.compression", STORAGE},
	{"ceph.*", STORAGE},
	{"lustre.*", STORAGE},
	{"trusted.lov", STORAGE},
	{"trusted.lma", STORAGE},
	{"trusted.link", STORAGE},
	{"trusted.glusterfs.*", STORAGE},
	{"trusted.gfid*", STORAGE},
	{"com.apple.*", DESKTOP},
};
_Static_assert(BU_LEN(left_out) <= BU_ATTRIBUTES_LEFT_OUT_MAX,
	       "the counts are too few");

static int
fits(const char *row, const char *name)
{
	size_t length = strlen(row);

	if (row[length - 1] != '*')
		return !strcmp(row, name);
	return !strncmp(row, name, length - 1) && name[length - 1];
}

enum bu_attribute
bu_attribute_judge(const char *name, struct bu_attributes_left_out *count)
{
	for (size_t i = 0; i < BU_LEN(kept); i++)
		if (fits(kept[i], name))
			return BU_ATTRIBUTE_KEPT;
	for (size_t i = 0; i < BU_LEN(left_out); i++)
		if (fits(left_out[i].name, name)) {
			count->files[i]++;
			return BU_ATTRIBUTE_LEFT_OUT;
		}
	return BU_ATTRIBUTE_REFUSED;
}

void
bu_attributes_tell(const struct bu_attributes_left_out *count, FILE *out)
{
	for (size_t i = 0; i < BU_LEN(left_out); i++)
		if (count->files[i])
			fprintf(out,
				"image: attribute %s of %" PRIu64
				" file%s is left out: %s\n",
				left_out[i].name, count->files[i],
				count->files[i] == 1 ? "" : "s", left_out[i].what);
}
