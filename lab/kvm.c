/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The KVM probe, for `up`: a boot sector of our own that switches to long mode with
 * paging, as every kernel does, counts to 200 million there and ends QEMU with a code.
 * A processor does that in a tenth of a second; where KVM exists without hardware
 * behind it, it never gets through (16-bit code alone would).
 */
#include "lab/kvm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/worker.h"

/* A KVM that hangs is given up soon; emulation only has to start, however busy the
 * machine is. */
enum { KVM_DEADLINE_MS = 2500, TCG_DEADLINE_MS = 60000 };

/* clang-format off */
static const uint8_t code[] = {
	0xfa,                               /* cli */
	0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, /* ax, ds, es, ss = 0 */
	0x8e, 0xd0, 0xfc,
	0xbf, 0x00, 0x10, 0xb9, 0x00, 0x18, /* clear page tables at 0x1000-0x3fff */
	0xf3, 0xab,
	0xc7, 0x06, 0x00, 0x10, 0x03, 0x20, /* [0x1000] = 0x2003 */
	0xc7, 0x06, 0x00, 0x20, 0x03, 0x30, /* [0x2000] = 0x3003 */
	0xc7, 0x06, 0x00, 0x30, 0x83, 0x00, /* [0x3000] = 0x83: 2 MiB page at 0 */
	0x66, 0xb8, 0x00, 0x10, 0x00, 0x00, /* cr3 = 0x1000 */
	0x0f, 0x22, 0xd8,
	0x66, 0xb8, 0x20, 0x00, 0x00, 0x00, /* cr4 = PAE */
	0x0f, 0x22, 0xe0,
	0x66, 0xb9, 0x80, 0x00, 0x00, 0xc0, /* EFER |= LME */
	0x0f, 0x32, 0x0d, 0x00, 0x01, 0x0f, 0x30,
	0x0f, 0x01, 0x16, 0x80, 0x7c,       /* lgdt [0x7c80] */
	0x66, 0xb8, 0x01, 0x00, 0x00, 0x80, /* cr0 = PG | PE */
	0x0f, 0x22, 0xc0,
	0xea, 0x56, 0x7c, 0x08, 0x00,       /* jmp 8:0x7c56, now 64 bits */
	0xb9, 0x00, 0xc2, 0xeb, 0x0b,       /* ecx = 200,000,000 */
	0xff, 0xc9, 0x75, 0xfc,             /* dec ecx; jnz */
	0xb0, 0x31, 0xe6, 0xf4,             /* out 0xf4, 0x31: QEMU exits with 99 */
	0xf4, 0xeb, 0xfd,                   /* hlt for ever */
};
static const uint8_t gdt[] = {
	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0x9a, 0x20, 0,       /* 64-bit code */
	0x0f, 0x00, 0x70, 0x7c, 0x00, 0x00, /* at 0x7c80: size, address 0x7c70 */
};
/* clang-format on */

enum { GDT_AT = 0x70 };

void
bu_kvm_sector(uint8_t ret_sector[BU_KVM_SECTOR_SIZE])
{
	_Static_assert(sizeof(code) <= GDT_AT, "the code runs into its GDT");
	memset(ret_sector, 0, BU_KVM_SECTOR_SIZE);
	memcpy(ret_sector, code, sizeof(code));
	memcpy(ret_sector + GDT_AT, gdt, sizeof(gdt));
	ret_sector[510] = 0x55;
	ret_sector[511] = 0xaa;
}

/* The disk lies in memory, so that nothing is left whichever way this ends. */
static int
make_disk(struct bu_err *err)
{
	uint8_t sector[BU_KVM_SECTOR_SIZE];
	int fd = memfd_create("bringup-kvm", MFD_CLOEXEC);

	bu_kvm_sector(sector);
	if (fd >= 0 && write(fd, sector, sizeof(sector)) == sizeof(sector) &&
	    ftruncate(fd, 64 * 1024) == 0)
		return fd;
	bu_err_set(err, BU_ERR_IO, errno, "make the test machine's disk");
	if (fd >= 0)
		close(fd);
	return -1;
}

struct ending {
	struct bu_loop *loop;
	int exit_code;
	struct bu_err err;
};

static void
on_end(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct ending *ending = arg;

	ending->exit_code = result->exit_code;
	if (err)
		ending->err = *err;
	bu_loop_stop(ending->loop);
}

int
bu_kvm_run_sector(const char *accel, char *ret_reason, size_t size)
{
	struct ending ending = {.exit_code = -1};
	bu_autoclose int disk = make_disk(&ending.err);
	bu_autofree char *drive = NULL;
	struct bu_job_opts opts = {
		.deadline_ms =
			strcmp(accel, "kvm") == 0 ? KVM_DEADLINE_MS : TCG_DEADLINE_MS,
	};

	if (disk < 0) {
		snprintf(ret_reason, size, "%s", ending.err.text);
		return -1;
	}
	drive = bu_xasprintf("file=/proc/%d/fd/%d,format=raw,if=ide,snapshot=on",
			     (int)getpid(), disk);
	opts.argv = (const char *const[]){"qemu-system-x86_64",
					  "-accel",
					  accel,
					  "-m",
					  "16",
					  "-nodefaults",
					  "-display",
					  "none",
					  "-no-reboot",
					  "-drive",
					  drive,
					  "-device",
					  "isa-debug-exit,iobase=0xf4,iosize=1",
					  NULL};
	ending.loop = bu_loop_create(NULL);
	if (bu_job_start(ending.loop, &opts, on_end, &ending, &ending.err))
		bu_loop_run(ending.loop);
	bu_loop_destroy(ending.loop);
	if (ending.exit_code == BU_KVM_EXIT_CODE)
		return 0;
	snprintf(ret_reason, size, "%s", ending.err.text);
	return -1;
}

int
bu_kvm_probe(char *ret_reason, size_t size)
{
	char why[300] = "";

	if (access("/dev/kvm", R_OK | W_OK) != 0) {
		snprintf(ret_reason, size, "no usable /dev/kvm");
		return 0;
	}
	if (bu_kvm_run_sector("kvm", why, sizeof(why)) != 0) {
		snprintf(ret_reason, size,
			 "/dev/kvm exists but a test machine did not run on it");
		return 0;
	}
	snprintf(ret_reason, size, "a test machine ran on /dev/kvm");
	return 1;
}
