/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consents to plans that need two persons, as the log has them. A consent lasts for an
 * hour, and until any plan is applied.
 */
#ifndef BU_NODE_CONSENTS_H
#define BU_NODE_CONSENTS_H

#include <stddef.h>
#include <stdint.h>

struct bu_agreed {
	char wipes[65]; /* digest of what is lost, and of which revision */
	char by[96];    /* a caller's name */
	char maker[96]; /* of the token that it came with; "" = none */
	int64_t at_ms;  /* Unix time, by the appliance's clock; 0 = no row here */
};
enum { BU_CONSENTS_KEPT = 16, BU_CONSENT_MS = 60 * 60 * 1000 };
struct bu_consents {
	struct bu_agreed list[BU_CONSENTS_KEPT];
	size_t next; /* written over by the next one */
};

#endif
