/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of an image: what a node gets, named down to every 4 MiB frame.
 *
 *	{"v": 1, "kind": "image", "name", "arch", "kernel", "created", "kargs",
 *	 "boot_code": hex of the 440 bytes of MBR code,
 *	 "parts": [{"name", "type": GPT type GUID, "label", "attrs", "size_bytes",
 *	   "frame_bytes", "file": "esp.frames", "grow": bool,
 *	   "frames": [{"o": offset in file, "n": compressed bytes,
 *	               "h": SHA-256 of the compressed bytes} | null for zeros]}],
 *	 "sources", "version": of images/origin.h,
 *	 "sbom": SHA-256 of sbom.json, "holds": {"driver": "535.183.01", ...},
 *	 "disk": {...} of images/whole.h: its one part is all of somebody else's disk}
 *
 * The last four may be missing: a version is not known of all sources, and a disk that
 * somebody else made has no list of packages. No image holds an agent: the installer
 * puts its own into the root. A frame is one zstd frame of frame_bytes uncompressed
 * bytes (the last one of a part may be shorter). Frames lie in the file in order,
 * without gaps. The signature (manifest.sig, hex) is over the exact bytes of
 * manifest.json.
 */
#ifndef BU_IMAGES_MANIFEST_H
#define BU_IMAGES_MANIFEST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"
#include "images/origin.h"
#include "images/whole.h"

enum {
	BU_BOOT_CODE_SIZE = 440,
	BU_FRAME_BYTES = 4 * 1024 * 1024, /* the most: a thread of an install has two */
	BU_IMAGE_PARTS_MAX = 8,
	BU_PART_FRAMES_MAX = 262144, /* 1 TiB */
	BU_MANIFEST_MAX = 64 * 1024 * 1024,
	BU_IMAGE_NAME_SIZE = 64,
	BU_IMAGE_HOLDINGS_MAX = 32,
	BU_IMAGE_KEYS_MAX = 16, /* that may sign; signatures of one image */
};

/* A program or driver that the image has, as the plan asks for it. */
struct bu_holding {
	char name[32];    /* "slurmd", "driver" */
	char version[64]; /* "" = nobody knows */
};

struct bu_frame {
	uint64_t offset; /* in the part's file */
	uint32_t size;   /* compressed bytes; 0 = all zeros, nothing is stored */
	char digest[BU_DIGEST_SIZE];
};

struct bu_part {
	char name[32];
	char type[37];  /* GPT type GUID */
	char label[37]; /* GPT name, ASCII */
	uint64_t attrs; /* GPT attributes; 4 = legacy BIOS bootable */
	uint64_t size_bytes;
	uint32_t frame_bytes;
	char file[64];
	int grow; /* takes the rest of the disk; the last part only */
	size_t frame_count;
	struct bu_frame *frames;
};

struct bu_manifest {
	char name[BU_IMAGE_NAME_SIZE];
	char arch[16];
	char kernel[64];
	char created[24];
	char kargs[512];
	uint8_t boot_code[BU_BOOT_CODE_SIZE];
	size_t part_count;
	struct bu_part parts[BU_IMAGE_PARTS_MAX];
	char sbom[BU_DIGEST_SIZE]; /* "" = there is none */
	int described; /* holdings are all that it has; else nobody looked */
	size_t holding_count;
	struct bu_holding holdings[BU_IMAGE_HOLDINGS_MAX];
	struct bu_image_origin origin;
	struct bu_whole_disk disk; /* sector_bytes 0 = its parts are partitions */
};

/* Checks everything; errors name part, frame and field. */
struct bu_manifest *bu_manifest_parse(const char *text, size_t size,
				      struct bu_err *err);
json_t *bu_manifest_to_json(const struct bu_manifest *manifest);
void bu_manifest_destroy(struct bu_manifest *manifest);

/* Its version, "" when that is not known; NULL when the image does not have it. */
const char *bu_manifest_holds(const struct bu_manifest *manifest, const char *name);

/* BU_ERR_VERIFY unless one of the signatures (hex, white space between them) is of one
 * of the keys (PEM, one after the other). A retired key is one that is not there. */
bu_must int bu_manifest_verify(const char *text, size_t size, const char *sigs,
			       const char *public_pems, struct bu_err *err);

/* Names of images, parts and files: a-z 0-9 . _ -, not starting with '.' or '-'. */
bu_must int bu_image_name_check(const char *name, const char *what, struct bu_err *err);
/* Uncompressed bytes of one frame. */
uint32_t bu_part_frame_bytes(const struct bu_part *part, size_t index);
/* Bytes of the part's file. */
uint64_t bu_part_stored_bytes(const struct bu_part *part);
/* Greatest compressed size that a frame of so many bytes may have. */
uint32_t bu_frame_bound(uint32_t frame_bytes);

#endif
