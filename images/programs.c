/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of programs, for the builder, which looks for them, and the appliance,
 * which asks for them. Invariant: an image without systemd has no bit at all.
 */
#include "images/programs.h"

const struct bu_image_program_row bu_image_programs[] = {
#define X(id, name, path, deb, rpm) {name, path, deb, rpm},
	BU_IMAGE_PROGRAMS(X)
#undef X
};

uint32_t
bu_image_programs_of(const struct bu_manifest *manifest)
{
	uint32_t bits = 0;

	for (int i = 0; i < BU_PROGRAMS; i++)
		if (bu_manifest_holds(manifest, bu_image_programs[i].name))
			bits |= UINT32_C(1) << i;
	return bits & (UINT32_C(1) << BU_PROGRAM_SYSTEMD) ? bits : 0;
}
