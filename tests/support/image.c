/* SPDX-License-Identifier: Apache-2.0 */
/* One part of 4 KiB of zeros, of which nothing is stored. */
#include "tests/support/image.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/manifest.h"

static json_t *
manifest_of(const char *name, const char *created)
{
	char boot_code[2 * BU_BOOT_CODE_SIZE + 1], digest[BU_DIGEST_SIZE];

	memset(boot_code, '0', sizeof(boot_code) - 1);
	boot_code[sizeof(boot_code) - 1] = '\0';
	bu_sha256_hex(name, strlen(name), digest);
	return json_pack(
		"{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:[{s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:b,"
		"s:[n]}],s:{s:s,s:s,s:s},s:[{s:s,s:s,s:s}]}",
		"v", 1, "kind", "image", "name", name, "arch", "x86_64", "kernel",
		"6.1.0-28-amd64", "created", created, "kargs", "quiet", "boot_code",
		boot_code, "parts", "name", "root", "type",
		"0fc63daf-8483-4772-8e79-3d69d8477de4", "label", "root", "attrs", 0,
		"size_bytes", 4096, "frame_bytes", BU_FRAME_BYTES, "file",
		"root.frames", "grow", 1, "frames", "holds", "mirror", "1", "slurmd",
		"", "kubelet", "", "sources", "kind", "tar", "name", name, "digest",
		digest);
}

int
paper_image(const char *images, const char *name, const char *created,
	    const char *private_pem, char *ret_digest, struct bu_err *err)
{
	bu_autojson json_t *manifest = manifest_of(name, created);
	bu_autofree char *text = bu_json_canonical(manifest);
	bu_autofree char *dir = bu_xasprintf("%s/%s", images, name);
	char signature[129];
	const char *const files[][2] = {{"manifest.json", text},
					{"manifest.sig", signature},
					{"root.frames", ""}};

	if (bu_sign(private_pem, text, strlen(text), signature, err) != 0 ||
	    bu_mkdir_p(dir, 0755, err) != 0)
		return -1;
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, files[i][0]);

		if (bu_file_write(path, files[i][1], strlen(files[i][1]), 0644, err) !=
		    0)
			return -1;
	}
	bu_sha256_hex(text, strlen(text), ret_digest);
	return 0;
}
