/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks over one hop who is there, with libibmad; called by the audit for InfiniBand
 * ports. Invariants: it only asks (method Get), waits a bounded time, and reads the
 * answer within its 64 bytes.
 */
#include "checks/audit/ibpeer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "checks/audit/ibport.h"

/* "/L07" of "CS7500/L07/U1": the card in a switch of several, and the chip of a card
 * with several. */
static void
add_card(const char *model, char *ret, size_t size)
{
	size_t used = strlen(ret), length;
	const char *card = strchr(model, '/'),
		   *chip = card ? strchr(card + 1, '/') : NULL;

	if (!chip)
		return;
	length = strcspn(chip, " ");
	snprintf(ret + used, size - used, "%.*s%.*s", (int)(chip - card), card,
		 length == 3 && strncmp(chip, "/U1", 3) == 0 ? 0 : (int)length, chip);
}

void
bu_ib_peer_name(const char *description, char *ret, size_t size)
{
	const char *start = strchr(description, ';');
	const char *end = start ? strchr(start, ':') : NULL;

	if (!end) {
		snprintf(ret, size, "%s", description);
		for (size_t length = strlen(ret); length && ret[length - 1] == ' ';)
			ret[--length] = '\0';
		return;
	}
	snprintf(ret, size, "%.*s", (int)(end - start) - 1, start + 1);
	add_card(end + 1, ret, size);
}

/* The words that all switches of a kind have which nobody gave a name. */
static int
is_makers(const char *description)
{
	static const char *const makers[] = {"Mellanox Technologies", "NVIDIA",
					     "Infiniscale", "QLogic", "Voltaire"};

	for (size_t i = 0; i < BU_LEN(makers); i++)
		if (strcasestr(description, makers[i]))
			return 1;
	return description[strspn(description, " ")] == '\0';
}

void
bu_ib_peer_parse(uint8_t info[IB_SMP_DATA_SIZE],
		 const uint8_t description[IB_SMP_DATA_SIZE], struct bu_lldp *ret)
{
	char text[IB_SMP_DATA_SIZE + 1] = "";

	snprintf(ret->chassis, sizeof(ret->chassis), "0x%016llx",
		 (unsigned long long)mad_get_field64(info, 0, IB_NODE_GUID_F));
	snprintf(ret->port, sizeof(ret->port), "%u",
		 mad_get_field(info, 0, IB_NODE_LOCAL_PORT_F));
	memcpy(text, description, IB_SMP_DATA_SIZE);
	for (char *at = text; *at; at++)
		*at = isprint((unsigned char)*at) ? *at : '?';
	bu_ib_peer_name(text, ret->name, sizeof(ret->name));
	if (mad_get_field(info, 0, IB_NODE_TYPE_F) == IB_NODE_SWITCH &&
	    is_makers(ret->name))
		ret->name[0] = '\0'; /* it goes by its GUID */
	ret->description[0] = '\0';
	ret->heard = 1;
}

int
bu_ib_peer(const char *root, const char *device, int port, int wait_ms,
	   struct bu_lldp *ret, struct bu_err *err)
{
	uint8_t info[IB_SMP_DATA_SIZE] = {0}, description[IB_SMP_DATA_SIZE] = {0};
	ib_portid_t peer = {.drpath = {.cnt = 1, .p = {0, (uint8_t)port}}};
	struct ibmad_port *from;
	int rc = 0;

	/* The library reads this machine's sysfs, and no other one. */
	if (root[0])
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "%s has no device for management packets", root);
	from = bu_ib_port_open(device, port, wait_ms, 1, err);
	if (!from)
		return -1;
	if (smp_query_via(info, &peer, IB_ATTR_NODE_INFO, 0, 0, from) &&
	    smp_query_via(description, &peer, IB_ATTR_NODE_DESC, 0, 0, from))
		bu_ib_peer_parse(info, description, ret);
	else
		rc = bu_err_set(err, BU_ERR_TIMEOUT, 0,
				"%s port %d: the neighbour does not answer", device,
				port);
	mad_rpc_close_port(from);
	return rc;
}
