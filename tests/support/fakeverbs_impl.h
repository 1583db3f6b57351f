/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by fakeverbs.c (objects), fakeverbs_ports.c (ports, states) and
 * fakeverbs_wire.c (what travels). */
#ifndef BU_TESTS_SUPPORT_FAKEVERBS_IMPL_H
#define BU_TESTS_SUPPORT_FAKEVERBS_IMPL_H

#include <infiniband/verbs.h>
#include <pthread.h>

#include "tests/support/fakeverbs.h"

#undef ibv_query_port
#undef ibv_reg_mr

enum { DEVICES = FAKEVERBS_DEVICES, MRS = 128 };

struct fake_context {
	struct ibv_context context;
	int device, event_fd; /* written to; async_fd is read */
	struct fake_context *next;
};

struct fake_mr {
	struct ibv_mr mr;
	uint64_t iova; /* what the wire calls it */
	char *memory;  /* where it is */
	int mapped;
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc *wc;
	int size, first, count, armed;
};

struct fake_channel {
	struct ibv_comp_channel channel;
	int write_fd;
};

struct fake_post {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	char inlined[FAKEVERBS_INLINE];
};

struct fake_recv {
	uint64_t id;
	struct ibv_sge sge;
};

struct fake_qp {
	struct ibv_qp qp;
	int listener, out;
	uint16_t dest;
	int device, port, pkey;
	uint32_t inline_bytes;
	int lost; /* its packets get nowhere */
	struct fake_post *posts;
	int size, first, count, stop, failed;
	struct fake_recv *recvs;
	int recv_size, recv_first, recv_count;
	pthread_t sender, receiver;
	pthread_cond_t posted;
};

extern pthread_mutex_t fake_lock; /* of everything here */
extern struct fakeverbs_faults fake_faults[DEVICES];
extern long fake_posts[DEVICES];
extern int fake_gone[DEVICES], fake_down[DEVICES];

int fake_device_of(const struct ibv_context *context);
void fake_count_open(int device);
int fake_is_gone(const struct ibv_context *context);
struct fakeverbs_device fake_machine(int device);
int fake_is_port(const struct ibv_context *context, int port);
/* With the lock held. NULL: no such key, or out of its bounds. */
char *fake_memory(uint32_t key, uint64_t addr, uint64_t size);
void fake_complete(struct ibv_cq *cq, const struct ibv_wc *wc);
void fake_event(int device, enum ibv_event_type type);

void *fake_send_thread(void *arg);
void *fake_receive_thread(void *arg);

#endif
