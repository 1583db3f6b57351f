/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a boot, in their order: what was seen of it, and what is missing after
 * that. The rows from NOTHING on say why there is no link yet; a reason names its row
 * in `link` (model/reason.h).
 */
#ifndef BU_MODEL_BOOT_LINK_H
#define BU_MODEL_BOOT_LINK_H

/* id, name, request that was seen, request that is missing after it */
#define BU_PROOF_LINKS(X)                                                              \
	X(MEDIUM, "medium", "its BMC read the boot medium",                            \
	  "its agent has not called")                                                  \
	X(SCRIPT, "script", "asked for its boot script",                               \
	  "it has not asked for the kernel")                                           \
	X(KERNEL, "kernel", "asked for the kernel",                                    \
	  "it has not asked for the ramdisk")                                          \
	X(RAMDISK, "ramdisk", "asked for the ramdisk", "its agent has not called")     \
	X(TOKEN, "token", "traded its token", "its agent has not said hello")          \
	X(HELLO, "hello", "its agent said hello", "")                                  \
	X(DISK, "disk", "was sent to its disk", "its agent has not called")
#define BU_PROOF_NOTHING(X)                                                            \
	X(NEW_PROCESS, "new-process",                                                  \
	  "nothing was seen of its boot since bringupd started", "")                   \
	X(LOADS, "loads", "its ramdisk loads its system into memory", "")              \
	X(KEXECS, "kexecs", "its ramdisk starts the installed system by kexec", "")    \
	X(FROM_DISK, "from-disk",                                                      \
	  "it was started from its disk, and its agent has not called", "")            \
	X(NO_MEDIUM, "no-medium", "its BMC has not read the boot medium", "")          \
	X(NO_SCRIPT, "no-script", "its machine has not asked for its boot script", "")

enum bu_proof_link {
#define X(id, name, done, missing) BU_PROOF_##id,
	BU_PROOF_LINKS(X)
#undef X
		BU_PROOF_COUNT,
	BU_PROOF_BEFORE_NOTHING = BU_PROOF_COUNT - 1,
#define X(id, name, done, missing) BU_PROOF_##id,
	BU_PROOF_NOTHING(X)
#undef X
		BU_PROOF_ROWS
};

const char *bu_boot_link_name(enum bu_proof_link link);
/* By name; NULL = no such row. */
const char *bu_boot_link_done(const char *name);
const char *bu_boot_link_missing(const char *name);

#endif
