/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libibverbs, linked instead of it: two devices, fake0 (RoCE v2 GID
 * ::ffff:127.0.0.1) and fake1 (::ffff:127.0.0.2), whose RC queue pairs carry RDMA
 * writes over TCP on loopback, between threads or processes. Faults belong to a device
 * and hit what it sends.
 */
#ifndef BU_TESTS_SUPPORT_FAKEVERBS_H
#define BU_TESTS_SUPPORT_FAKEVERBS_H

#include <stdint.h>

struct fakeverbs_faults {
	double rate_gbps;  /* cap of what it sends; 0 = none */
	long lose_from;    /* writes from this one on (1 = the first): RETRY_EXC_ERR */
	long hang_from;    /* writes from this one on never complete */
	long corrupt_from; /* writes from this one on arrive with one bit changed */
	int port_down;
};
/* device 0 or 1. Set while it is not in use; counts of writes start again. */
void fakeverbs_set(int device, const struct fakeverbs_faults *faults);
/* Verbs objects that are not destroyed yet; device lists and contexts too. */
int fakeverbs_objects(void);

#endif
