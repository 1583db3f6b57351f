/* SPDX-License-Identifier: Apache-2.0 */
/* The table of programs; read by bringupd and by bringup-boot. */
#include "provisioner/boot/program.h"

#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define BIT(cap) (1ULL << (cap))

/* The sockets stand in packaging/bringup-NAME.socket, too, the users in
 * bringup-NAME.service and bringup.sysusers. */
static const struct bu_boot_program programs[] = {
	/* Ports 53, 67 and 69; ARP entries and a longer queue; router advertisements.
	 */
	{"dnsmasq",
	 "/usr/sbin/dnsmasq",
	 {"bringup-dnsmasq", "dnsmasq"},
	 "/run/bringup-dnsmasq.socket",
	 BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW)},
	/* Port 123. */
	{"chronyd",
	 "/usr/sbin/chronyd",
	 {"bringup-chronyd", "_chrony"},
	 "/run/bringup-chronyd.socket",
	 BIT(CAP_NET_BIND_SERVICE)},
};

const struct bu_boot_program *
bu_boot_program(const char *name)
{
	for (size_t i = 0; i < BU_LEN(programs); i++)
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	return NULL;
}

const char *
bu_boot_path(const struct bu_boot_program *program)
{
	return access(program->path, X_OK) == 0 ? program->path : program->name;
}

const struct passwd *
bu_boot_user(const struct bu_boot_program *program)
{
	const struct passwd *user = NULL;

	for (size_t i = 0; !user && i < BU_LEN(program->users); i++)
		user = getpwnam(program->users[i]);
	return user;
}
