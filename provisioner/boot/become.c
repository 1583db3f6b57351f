/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root becomes another user; called by bringup-boot before it reads anything.
 * Invariant: no way leads back: the bounding set holds nothing else, and no program
 * that is executed gains a privilege by its file.
 */
#include "provisioner/boot/become.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { WORDS = _LINUX_CAPABILITY_U32S_3, WORD_BITS = 32 };

static int
set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[WORDS];

	for (int i = 0; i < WORDS; i++) {
		uint32_t word = (uint32_t)(caps >> (WORD_BITS * i));

		data[i] = (struct __user_cap_data_struct){word, word, word};
	}
	return (int)syscall(SYS_capset, &head, data);
}

/* Of these; a container may have fewer than root has elsewhere. */
static uint64_t
those_we_have(uint64_t caps)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[WORDS] = {{0}};

	if (syscall(SYS_capget, &head, data) != 0)
		return 0;
	return caps & (data[0].permitted | (uint64_t)data[1].permitted << WORD_BITS);
}

/* The kernel knows fewer capabilities than numbers, and says which. */
static int
bound(uint64_t caps)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(caps >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return -1;
	return 0;
}

/* Programs that somebody executes who is not root keep these. */
static int
raise_ambient(uint64_t caps)
{
	for (int cap = 0; caps >> cap; cap++)
		if (caps >> cap & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) != 0)
			return -1;
	return 0;
}

int
bu_become(const char *user, uint64_t caps, struct bu_err *err)
{
	const struct passwd *entry = getpwnam(user);

	if (!entry)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no user '%s'", user);
	caps = those_we_have(caps);
	if (bound(caps) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
	    setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) != 0 ||
	    setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid) != 0 ||
	    set_caps(caps) != 0 || raise_ambient(caps) != 0 ||
	    /* A change of the user makes the kernel forget it. */
	    prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return bu_err_set(err, BU_ERR_DENIED, errno, "become user '%s'", user);
	return 0;
}
