/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vtable of the power drivers. They run in children of bringup-power, one child per
 * `connection`; perform.c is their only caller and makes the composite operations
 * (observe, off, confirm, boot order, on, confirm) of theirs.
 *
 * What every driver promises:
 * - start() begins one operation on one BMC and returns. It does not block, unless its
 *   library does (libvirt): then the whole child waits, and no other connection.
 * - fn is called exactly once for each start(), from the loop or from start() itself,
 *   unless the call was cancelled before. Every operation ends by itself, within two
 *   minutes: a driver has its own deadline for each request on the wire. perform.c
 * takes back what takes longer (BU_POWER_CALL_MS).
 * - For one `bmc` perform.c has one changing operation under way at a time; what only
 *   asks (BU_POWER_STATUS, BU_POWER_CONSOLE and the reports) may come beside it. A
 * driver whose BMC bears less, or which has several systems behind one BMC, keeps its
 * own queue.
 * - It keeps no power state between calls: what it answers was read from the BMC in
 *   this call. "Done" that was not read back is no success where the BMC can be read.
 * - Errors: BU_ERR_REMOTE: the BMC could not be asked, or refused; it may be tried
 *   again. BU_ERR_DENIED: the BMC refuses the credentials: a call tries them once,
 *   and credentials.c counts the calls. BU_ERR_VERIFY: its certificate is not the one
 * that the profile says, or what was written did not read back. BU_ERR_INVAL: the
 * target is none of this driver. BU_ERR_TIMEOUT: no answer in time. The text names the
 * bmc, never the password.
 */
#ifndef BU_POWER_DRIVER_H
#define BU_POWER_DRIVER_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "provisioner/power/power.h"

/* Whoever brings a further operation (sensors, media, console) puts it at the end, with
 * what asks for it. */
enum bu_power_op {
	/* On, off or unknown. Off only when the machine is surely off: PoweringOn,
	 * PoweringOff, Paused and what the driver does not know are unknown or on. */
	BU_POWER_STATUS,
	/* Serial numbers, UUID and MACs of the machine behind the BMC: of the host, not
	 * of the BMC; as SMBIOS says them to its operating system. What the BMC does
	 * not say stays empty: that is no error. */
	BU_POWER_IDENTITY,
	/* The next power-on from off boots from the network or from the disk. Read
	 * back: a BMC that took it and shows another is BU_ERR_VERIFY. */
	BU_POWER_BOOT_FIRST,
	/* These return when the BMC took the command. look.c confirms by
	 * BU_POWER_STATUS; a machine that is in that state already is success.
	 * BU_ERR_TIMEOUT: the answer was lost, and it may have been done. */
	BU_POWER_SWITCH_ON,
	BU_POWER_SWITCH_OFF, /* hard: no operating system is asked */
	/* For adopt.c: does the BMC take these credentials? One that wants another
	 * password first does. */
	BU_POWER_LOGIN,
	/* Of the account that asks; whoever changes it asks by BU_POWER_LOGIN then. */
	BU_POWER_SET_PASSWORD,
	/* How the machine's serial console is reached: answer.console. A machine that
	 * has none, or none that we can reach, is an answer. Asked beside others. */
	BU_POWER_CONSOLE,
	/* The medium at this address is in a virtual drive; what else was there is out.
	 * BU_ERR_INVAL: the BMC is of a kind that has none. */
	BU_POWER_MEDIA_INSERT,
	/* No medium whose address begins so is in a virtual drive. */
	BU_POWER_MEDIA_EJECT,
	/* These three: answer.report, as report.h has it. BU_ERR_INVAL: a BMC of this
	 * kind, or this one, has none. They only ask. */
	BU_POWER_EVENTS, /* the newest `most` since since_ms, of all its logs */
	BU_POWER_SENSORS,
	BU_POWER_FIRMWARE,
	/* The BMC itself restarts, and the machine goes on. Returns when it was taken;
	 * reset.c sees whether it was done. */
	BU_POWER_BMC_RESET,
	BU_POWER_OPS
};

enum bu_console_way {
	BU_CONSOLE_NONE,    /* why says it */
	BU_CONSOLE_LIBVIRT, /* bu_libvirt_console() in a process of its own */
	BU_CONSOLE_IPMI,    /* serial over LAN, by ipmitool */
};
struct bu_power_console {
	enum bu_console_way way;
	char host[256], port[8];
	char suite[4]; /* cipher suite that the BMC has; "" = ipmitool finds it */
	char why[160]; /* no node's name in it */
};

/* Whom to speak to, and as whom. All but bmc may be NULL. */
struct bu_power_target {
	const char *bmc; /* as the profile has it */
	const char *user;
	const char *password;    /* clear text: copy it no further than needed */
	const char *fingerprint; /* SHA-256 of the certificate, 64 hex digits; NULL: the
				  * system's CAs decide */
};

/* It stays as it is, with its strings, until fn was called or the call cancelled. */
struct bu_power_request {
	enum bu_power_op op;
	struct bu_power_target target;
	enum bu_boot_first first; /* of BU_POWER_BOOT_FIRST */
	enum bu_boot_mode mode;   /* likewise */
	const char *new_password; /* of BU_POWER_SET_PASSWORD */
	/* Of BU_POWER_IDENTITY: the machine that is expected. Once it is sure to be
	 * that one, no more is asked. NULL: all is read. */
	const struct bu_machine *machine;
	int console_ipmi;  /* of BU_POWER_CONSOLE: by IPMI, whatever the BMC offers */
	const char *media; /* URL, of BU_POWER_MEDIA_INSERT and _EJECT */
	int64_t since_ms;  /* of BU_POWER_EVENTS: Unix time */
	size_t most;       /* likewise; 0 = the driver's own number */
	/* Of BU_POWER_STATUS: a BMC that is silent or busy is not asked again. */
	int once;
};

/* Where a machine whose state is unknown is on its way to. */
enum bu_power_move { BU_POWER_RESTS, BU_POWER_RISES, BU_POWER_FALLS };

/* Only what the operation asks for is set. */
struct bu_power_answer {
	enum bu_power_state state;
	enum bu_power_move move;
	struct bu_machine machine;
	struct bu_power_console console;
	json_t *report; /* borrowed, as the answer is */
};

/* One of answer and err is given; both are borrowed. */
typedef void (*bu_power_done_fn)(const struct bu_power_answer *answer,
				 const struct bu_err *err, void *arg);

struct bu_power_call; /* the driver's own */

struct bu_power_driver {
	const char *name; /* in the profile */
	/* The part of the target that names the connection: the targets of one
	 * connection share a child ("qemu:///system"; "" = all of them). Owned; NULL
	 * when it is no target of this driver. Runs in the router: no library call. */
	char *(*connection)(const char *bmc, struct bu_err *err);
	/* Reaches nothing yet: a connection that breaks is the driver's to renew. */
	void *(*open)(struct bu_loop *loop, const char *connection, struct bu_err *err);
	/* No call is under way then. */
	void (*close)(void *self);
	/* The call, for cancel(); NULL when fn was called already. */
	struct bu_power_call *(*start)(void *self,
				       const struct bu_power_request *request,
				       bu_power_done_fn fn, void *arg);
	/* fn is not called any more. What the BMC was told may still happen. */
	void (*cancel)(void *self, struct bu_power_call *call);
};

/* drivers.c; NULL when there is no such driver. */
const struct bu_power_driver *bu_power_driver(const char *name);
/* "libvirt, redfish": for the error that names another. Owned. */
char *bu_power_driver_names(void);
extern const struct bu_power_driver bu_power_libvirt, bu_power_redfish, bu_power_ipmi;

/* libvirt_console.c: a process of its own that writes to standard output what a domain
 * writes to its console, until that ends. Its exit status. */
int bu_libvirt_console(const char *bmc);
/* "qemu+ssh://host/system": its files are on another machine; so are those of what is
 * no URI. */
int bu_libvirt_is_remote(const char *uri);

#endif
