/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vtable of the power drivers. They run in children of bringup-power, one child per
 * `connection`. perform.c is their only caller, and builds the composite operations
 * from theirs (observe, off, confirm, boot order, on, confirm).
 *
 * Every driver promises:
 * - start() begins one operation on one BMC and returns. It does not block, unless
 *   its library does (libvirt): then the whole child waits, and no other connection.
 * - fn is called exactly once per start(), from the loop or from start() itself,
 *   unless the call was cancelled first. Every operation ends within two minutes: the
 *   driver has a deadline for each request on the wire. perform.c cancels a call after
 *   BU_POWER_CALL_MS.
 * - perform.c has one changing operation under way per `bmc`. Queries
 *   (BU_POWER_STATUS, BU_POWER_CONSOLE and the reports) may come beside it. A driver
 *   whose BMC bears less, or has several systems behind one BMC, keeps its own queue.
 * - The driver keeps no power state between calls: each answer was read from the BMC
 *   in this call. Where the BMC can be read, "done" without reading back is no success.
 * - The text of an error names the bmc, never the password. Kinds:
 *     BU_ERR_REMOTE   the BMC is unreachable or refuses; another try may succeed
 *     BU_ERR_DENIED   the BMC refuses the credentials; a call tries them once, and
 *                     credentials.c counts the calls
 *     BU_ERR_VERIFY   the certificate is not the profile's, or a written value did
 *                     not read back
 *     BU_ERR_INVAL    not a target of this driver
 *     BU_ERR_TIMEOUT  no answer in time
 */
#ifndef BU_POWER_DRIVER_H
#define BU_POWER_DRIVER_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "model/drivers.h"
#include "provisioner/power/power.h"

/* New operations (sensors, media, console) go at the end, with their arguments. */
enum bu_power_op {
	/* On, off or unknown. Off only when the machine is surely off: PoweringOn,
	 * PoweringOff, Paused and states unknown to the driver are unknown or on. */
	BU_POWER_STATUS,
	/* Serial numbers, UUID and MACs of the machine behind the BMC, as SMBIOS gives
	 * them to its operating system; not those of the BMC. Values that the BMC does
	 * not have stay empty: no error. */
	BU_POWER_IDENTITY,
	/* The next power-on from off boots from the network or from the disk. Read
	 * back: BU_ERR_VERIFY when the BMC took the value and shows another. */
	BU_POWER_BOOT_FIRST,
	/* These return when the BMC took the command; look.c confirms by
	 * BU_POWER_STATUS. A machine in that state already is success. BU_ERR_TIMEOUT:
	 * the answer was lost, and the command may have been done. */
	BU_POWER_SWITCH_ON,
	BU_POWER_SWITCH_OFF, /* hard: without the operating system */
	/* For adopt.c: does the BMC take these credentials? Also when it wants another
	 * password first. */
	BU_POWER_LOGIN,
	/* Of the account that asks. The caller checks by BU_POWER_LOGIN. */
	BU_POWER_SET_PASSWORD,
	/* Access to the machine's serial console: answer.console. No console, or one
	 * out of reach, is an answer. Asked beside other operations. */
	BU_POWER_CONSOLE,
	/* Puts the medium at this address into a virtual drive, instead of any other.
	 * BU_ERR_INVAL: BMCs of this kind have none. */
	BU_POWER_MEDIA_INSERT,
	/* Ejects media whose address begins so from the virtual drives. */
	BU_POWER_MEDIA_EJECT,
	/* Queries with answer.report (report.h). BU_ERR_INVAL: this BMC, or its kind,
	 * has no such report. */
	BU_POWER_EVENTS, /* the newest `most` since since_ms, of all logs */
	BU_POWER_SENSORS,
	BU_POWER_FIRMWARE,
	/* Restarts the BMC while the machine goes on. Returns when the BMC took the
	 * command; reset.c confirms. */
	BU_POWER_BMC_RESET,
	BU_POWER_OPS
};

enum bu_console_way {
	BU_CONSOLE_NONE,    /* see why */
	BU_CONSOLE_LIBVIRT, /* bu_libvirt_console() in a process of its own */
	BU_CONSOLE_IPMI,    /* serial over LAN, by ipmitool */
};
struct bu_power_console {
	enum bu_console_way way;
	char host[256], port[8];
	char suite[4]; /* the BMC's cipher suite; "" = ipmitool finds one */
	char why[160]; /* without a node's name */
};

/* The BMC and the credentials for it. All but bmc may be NULL. */
struct bu_power_target {
	const char *bmc; /* as the profile has it */
	const char *user;
	const char *password;    /* clear text: copy it no further than needed */
	const char *fingerprint; /* SHA-256 of the certificate, 64 hex digits; NULL =
				    the system's CAs decide */
};

/* Unchanged, with its strings, until fn was called or the call was cancelled. */
struct bu_power_request {
	enum bu_power_op op;
	struct bu_power_target target;
	enum bu_boot_first first; /* of BU_POWER_BOOT_FIRST */
	enum bu_boot_mode mode;   /* likewise */
	const char *new_password; /* of BU_POWER_SET_PASSWORD */
	/* Of BU_POWER_IDENTITY: the expected machine. Reading stops when the machine is
	 * sure to be that one. NULL = reads all. */
	const struct bu_machine *machine;
	int console_ipmi;  /* of BU_POWER_CONSOLE: by IPMI, even if the BMC offers
			      another way */
	const char *media; /* URL, of BU_POWER_MEDIA_INSERT and _EJECT */
	int64_t since_ms;  /* of BU_POWER_EVENTS: Unix time */
	size_t most;       /* likewise; 0 = the driver's default */
	/* Of BU_POWER_STATUS: no retry when the BMC is silent or busy. */
	int once;
};

/* Direction of a machine whose state is unknown. */
enum bu_power_move { BU_POWER_RESTS, BU_POWER_RISES, BU_POWER_FALLS };

/* Set as the operation asks. */
struct bu_power_answer {
	enum bu_power_state state;
	enum bu_power_move move;
	struct bu_machine machine;
	struct bu_power_console console;
	json_t *report; /* borrowed, like the answer */
};

/* One of answer and err is given; both are borrowed. */
typedef void (*bu_power_done_fn)(const struct bu_power_answer *answer,
				 const struct bu_err *err, void *arg);

struct bu_power_call; /* private to the driver */

struct bu_power_driver {
	const char *name; /* in the profile */
	/* The part of the target that names the connection. Targets of one connection
	 * share a child ("qemu:///system"; "" = all targets). Owned; NULL = not a
	 * target of this driver. Runs in the router: no library call. */
	char *(*connection)(const char *bmc, struct bu_err *err);
	/* Connects to nothing yet. The driver renews a broken connection itself. */
	void *(*open)(struct bu_loop *loop, const char *connection, struct bu_err *err);
	/* Called with no call under way. */
	void (*close)(void *self);
	/* The call, for cancel(); NULL = fn was called already. */
	struct bu_power_call *(*start)(void *self,
				       const struct bu_power_request *request,
				       bu_power_done_fn fn, void *arg);
	/* fn is not called after this. The BMC may still carry out the command. */
	void (*cancel)(void *self, struct bu_power_call *call);
};

/* drivers.c; NULL = unknown name. */
const struct bu_power_driver *bu_power_driver(const char *name);
/* "libvirt, redfish", for the error about an unknown name. Owned. */
char *bu_power_driver_names(void);
#define X(id, name) extern const struct bu_power_driver bu_power_##id;
BU_POWER_DRIVERS(X)
#undef X

/* libvirt_console.c: writes a domain's console to standard output until the console
 * ends; a process of its own. Returns its exit status. */
int bu_libvirt_console(const char *bmc);
/* "qemu+ssh://host/system": 1 = the domain's files are on another machine; also for a
 * malformed URI. */
int bu_libvirt_is_remote(const char *uri);

#endif
