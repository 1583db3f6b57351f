/* SPDX-License-Identifier: Apache-2.0 */
/* What DHCP and DNS of the boot network answer, from the profile. */
#ifndef BU_SERVED_H
#define BU_SERVED_H

#include <netinet/in.h>

#include "profiles/desired.h"
#include "provisioner/boot/dnsmasq.h"

struct bu_served {
	struct bu_dnsmasq_site site; /* points to the rest and to the profile */
	struct bu_dnsmasq_host *hosts;
	struct bu_dnsmasq_net *nets;
	char (*texts)[INET_ADDRSTRLEN];
	char *names;
};

/* desired: NULL = there is no profile yet. address: ours in the boot network. */
void bu_served_make(const struct bu_desired *desired, const char *address,
		    struct bu_served *ret);
void bu_served_fini(struct bu_served *served);
/* The names by which the appliance is asked, with commas: DNS's, the host's own, those
 * of bringupd.conf; owned. */
char *bu_served_hosts(const struct bu_desired *desired, const char *names,
		      const char *media_url);

#endif
