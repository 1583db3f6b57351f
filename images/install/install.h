/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an image to a disk: the agent's half of imaging. Every frame is verified
 * before it is written; the disk says by a signed mark that the install is unfinished
 * until the last byte of it is there.
 *
 * Mark: one block of 4096 bytes at byte 65,536 of the disk (between the GPT and the
 * first part): "BUMARK01", length of the text (4 bytes, little endian), text, 128
 * digits of signature, zeros. The text is JSON and names its step in the string field
 * "step". With the last byte it becomes "BUDONE01" and stays: a step that was finished
 * without that anybody heard of it (power went, the appliance was killed) is done again
 * over its own disk, and not refused for what it wrote itself.
 */
#ifndef BU_IMAGES_INSTALL_INSTALL_H
#define BU_IMAGES_INSTALL_INSTALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Written into the new root; parents are made (0755), a file that is there is replaced.
 */
struct bu_install_file {
	const char *path; /* absolute, without "..", through no symbolic link */
	mode_t mode;      /* S_IFLNK: a symbolic link to the content */
	const char *content;
	size_t size;
};

/* A partition behind the image's; its file system is made by who mounts it first. */
struct bu_install_data {
	const char *name;    /* "scratch": at most 31 letters, digits, '-' */
	const char *guid;    /* the partition's own, text form */
	uint64_t size_bytes; /* 0 = the rest of the disk; the last one only */
};

/* A disk of the array. */
struct bu_install_member {
	const char *disk; /* "/dev/nvme1n1"; a regular file in tests */
	const char *guid; /* of its one partition, text form */
};

/* Of a disk with two roots. */
struct bu_install_slot {
	int slot;   /* the one that was written: 0 = a, 1 = b */
	int tried;  /* the loader tries it once, and starts the other one otherwise */
	int reused; /* it was of this image, and no frame of it was fetched */
};

struct bu_install_opts {
	const char *base_url; /* "http://10.77.0.1:8080"; parts are below
				 /images/<image>/ */
	const char *image;
	const char *manifest_digest; /* SHA-256 that the appliance ordered, 64 digits */
	/* Keys that sign manifests; "": the appliance's policy lets an unsigned one
	 * pass, and its digest, which was ordered, alone counts. */
	const char *image_public_pem;
	const char *disk; /* "/dev/vda"; a regular file in tests */
	int allow_wipe;   /* whatever is on the disk may go */
	/* What the image had written may go; data partitions stay as they are, and
	 * BU_ERR_STATE when the disk does not have them where the layout does. */
	int keep_data;
	const char *kargs; /* for the boot loaders, behind the image's; NULL = none */
	const struct bu_install_data *data;
	size_t data_count;   /* at most BU_INSTALL_DATA_MAX */
	uint64_t root_bytes; /* where data begins; 0 = at the end of the disk */
	/* Further disks that are one array (RAID0). The one that they have is kept,
	 * unless scratch_wipe: then whatever is on them may go. */
	const struct bu_install_member *scratch;
	size_t scratch_count; /* 0 = no other disk is touched */
	const char *scratch_uuid;
	int scratch_wipe;
	/* The disk that the system is mirrored on: both get all of the image, and their
	 * roots are one array (RAID1); what counts for disk counts for it. NULL = none.
	 */
	const char *mirror;
	const char *mirror_uuid; /* of that array */
	int mirror_granted;      /* allow_wipe and keep_data are for it, too */
	/* 2 = the disk has two roots (roots.h). With keep_data the one that is not
	 * confirmed is written, and nothing else; reuse: it may stay where it is of
	 * this image already. 0 = one root. */
	int roots;
	int reuse;
	int forget; /* a root that was in use: what its agent kept goes first */
	struct bu_install_slot *ret_slot; /* what was done; NULL: nobody asks */
	const char *mdadm;                /* NULL = the one beside the agent */
	const char *mark_text;            /* JSON, at most 3,900 bytes */
	const char *mark_sig;             /* the appliance's, hex */
	const char *appliance_public_pem;
	const char *step_id;
	const struct bu_install_file *files;
	size_t file_count;
	/* The same: the agent, for an image that does not hold one. */
	const struct bu_install_file *agent_files;
	size_t agent_file_count;
	/* The order is for an image that is a whole disk, and for no other. files and
	 * stamp are not written into it; seed_files, by their names alone, are for its
	 * cloud-init (seed.h). */
	int raw;
	const struct bu_install_file *seed_files;
	size_t seed_file_count;
	const char *stamp_text; /* /var/lib/bringup/stamp.json, 0600 */
	const char *stamp_sig;  /* /var/lib/bringup/stamp.sig */
	int threads;            /* 0 = one per processor, at most 4 */
	int64_t patience_ms;    /* how long a server may fail to answer; 0 = 180,000 */
	/* A regular file is not mounted: files go below this directory. Blocks: NULL.
	 */
	const char *root_dir;
	const char *esp_dir;  /* the same for the boot loaders' files */
	const char *boot_dir; /* and for those that choose one of two roots */
};
enum { BU_INSTALL_DATA_MAX = 16, BU_INSTALL_SCRATCH_MAX = 64, BU_SEED_FILES_MAX = 16 };

struct bu_install_hooks {
	/* stage "manifest", "disk", "write", "files", "done"; of "write" compressed
	 * bytes fetched and to be fetched, of "disk" those that
	 * were discarded and those of the disks; at the begin of a stage and at most
	 * twice a second within it, from one thread at a time. NULL = none. */
	void (*progress)(const char *stage, uint64_t done_bytes, uint64_t total_bytes,
			 void *arg);
	/* Asked between frames, stages and slices of a discard, from one thread at a
	 * time. NULL = never. */
	int (*cancelled)(void *arg);
	void *arg;
};

/* Blocks until the image is on the disk and synced. Nothing was written when it fails
 * with BU_ERR_STATE (something is on the disk), NOTFOUND (no disk), BUSY (mounted),
 * INVAL (too small), or with VERIFY about manifest or mark. Later failures leave the
 * mark and a disk that does not boot, because boot code and partition table come last:
 * VERIFY (a frame was wrong twice; names part, frame, both digests), REMOTE, IO,
 * CANCELLED. */
bu_must int bu_install_run(const struct bu_install_opts *opts,
			   const struct bu_install_hooks *hooks, struct bu_err *err);

#endif
