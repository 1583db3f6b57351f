/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels between queue pairs of the stand-in for libibverbs: a thread takes in
 * what comes (checks key and bounds, copies, answers), another one sends what was
 * posted, one request at a time. Invariant: a request completes only after the other
 * end has, or has given, its bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/fakeverbs_impl.h"

/* More than any completion status. */
enum { SAYS_NOTHING = 1000 };

struct head {
	uint64_t addr;
	uint32_t rkey, size, opcode;
	uint32_t corrupt; /* 1 + the byte to change, 0 = none */
};

static double free_at[2 * DEVICES]; /* when the line is idle again, for the rate cap */

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
stopped(const struct fake_qp *qp)
{
	return __atomic_load_n(&qp->stop, __ATOMIC_SEQ_CST);
}

/* -1 at the end of the connection, or when the queue pair is being destroyed. */
static int
move_all(struct fake_qp *qp, int fd, void *data, size_t size, int out)
{
	char *at = data;

	while (size > 0) {
		struct pollfd pollfd = {.fd = fd, .events = out ? POLLOUT : POLLIN};
		ssize_t done;

		if (stopped(qp))
			return -1;
		if (poll(&pollfd, 1, 20) <= 0)
			continue;
		done = out ? send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT)
			   : recv(fd, at, size, MSG_DONTWAIT);
		if (done < 0 && errno == EAGAIN)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

static void
copy_in(char *to, const struct head *head, const char *payload)
{
	uint64_t word;

	/* Cells that are polled are single words. */
	if (head->size == 8) {
		memcpy(&word, payload, 8);
		__atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
	} else {
		memcpy(to, payload, head->size);
	}
	if (head->corrupt)
		to[head->corrupt - 1] ^= 1;
}

static uint32_t
place_write(const struct head *head, const char *payload)
{
	char *to;

	pthread_mutex_lock(&fake_lock);
	to = fake_memory(head->rkey, head->addr, head->size);
	if (to)
		copy_in(to, head, payload);
	pthread_mutex_unlock(&fake_lock);
	return to ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
}

/* Waits for a receive, as a sender does that is told "receiver not ready". */
static uint32_t
place_send(struct fake_qp *qp, const struct head *head, const char *payload)
{
	struct ibv_wc wc = {.status = IBV_WC_LOC_LEN_ERR, .opcode = IBV_WC_RECV};
	struct fake_recv recv;
	char *to = NULL;

	for (;;) {
		pthread_mutex_lock(&fake_lock);
		if (qp->recv_count > 0)
			break;
		pthread_mutex_unlock(&fake_lock);
		if (stopped(qp))
			return IBV_WC_RNR_RETRY_EXC_ERR;
		usleep(200);
	}
	recv = qp->recvs[qp->recv_first];
	qp->recv_first = (qp->recv_first + 1) % qp->recv_size;
	qp->recv_count--;
	if (recv.sge.length >= head->size)
		to = fake_memory(recv.sge.lkey, recv.sge.addr, head->size);
	if (to) {
		copy_in(to, head, payload);
		wc.status = IBV_WC_SUCCESS;
	}
	wc.wr_id = recv.id;
	wc.byte_len = head->size;
	wc.qp_num = qp->qp.qp_num;
	fake_complete(qp->qp.recv_cq, &wc);
	pthread_mutex_unlock(&fake_lock);
	return to ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
}

static int
serve_read(struct fake_qp *qp, int fd, const struct head *head, char *payload)
{
	uint32_t status = IBV_WC_REM_ACCESS_ERR;
	char *from;

	pthread_mutex_lock(&fake_lock);
	from = fake_memory(head->rkey, head->addr, head->size);
	if (from) {
		memcpy(payload, from, head->size);
		status = IBV_WC_SUCCESS;
	}
	pthread_mutex_unlock(&fake_lock);
	if (move_all(qp, fd, &status, sizeof(status), 1))
		return -1;
	return from ? move_all(qp, fd, payload, head->size, 1) : 0;
}

static int
serve(struct fake_qp *qp, int fd)
{
	struct head head;
	uint32_t status;
	char *payload;
	int rc = -1;

	if (move_all(qp, fd, &head, sizeof(head), 0))
		return -1;
	payload = malloc(head.size);
	if (head.opcode == IBV_WR_RDMA_READ) {
		rc = serve_read(qp, fd, &head, payload);
	} else if (move_all(qp, fd, payload, head.size, 0) == 0) {
		status = head.opcode == IBV_WR_SEND ? place_send(qp, &head, payload)
						    : place_write(&head, payload);
		rc = move_all(qp, fd, &status, sizeof(status), 1);
	}
	free(payload);
	return rc;
}

void *
fake_receive_thread(void *arg)
{
	struct fake_qp *qp = arg;
	int fd = -1;

	while (fd < 0 && !stopped(qp)) {
		struct pollfd pollfd = {.fd = qp->listener, .events = POLLIN};

		if (poll(&pollfd, 1, 20) > 0)
			fd = accept(qp->listener, NULL, NULL);
	}
	if (fd < 0)
		return NULL;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	while (serve(qp, fd) == 0)
		;
	close(fd);
	return NULL;
}

static int
connect_out(struct fake_qp *qp)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(qp->dest),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1;

	if (qp->out >= 0)
		return 0;
	qp->out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(qp->out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return connect(qp->out, (struct sockaddr *)&to, sizeof(to));
}

static void
sleep_until(const struct fake_qp *qp, double until)
{
	double left;

	while ((left = until - now_s()) > 0 && !stopped(qp))
		usleep(left > 0.02 ? 20000 : (useconds_t)(left * 1e6) + 1);
}

static void
pace(const struct fake_qp *qp, const struct fakeverbs_faults *fault, uint32_t size)
{
	int at = fault->below ? DEVICES + fault->below - 1 : qp->device;
	double now = now_s(), until, rate_gbps = fault->rate_gbps;

	if (rate_gbps <= 0)
		return;
	pthread_mutex_lock(&fake_lock);
	if (free_at[at] < now)
		free_at[at] = now;
	until = free_at[at] += size * 8.0 / (rate_gbps * 1e9);
	pthread_mutex_unlock(&fake_lock);
	sleep_until(qp, until);
}

static int
reached(long from, long number)
{
	return from && number >= from;
}

/* What becomes of a request before it is sent: a completion status, or 0: it goes on.
 */
static uint32_t
strike(const struct fakeverbs_faults *fault, int device, long number)
{
	if (reached(fault->vanish_from, number) || reached(fault->quiet_from, number)) {
		pthread_mutex_lock(&fake_lock);
		if (!fake_gone[device] && reached(fault->vanish_from, number))
			fake_event(device, IBV_EVENT_DEVICE_FATAL);
		fake_gone[device] = 1;
		pthread_mutex_unlock(&fake_lock);
		return SAYS_NOTHING;
	}
	if (reached(fault->unplug_from, number)) {
		pthread_mutex_lock(&fake_lock);
		if (!fake_down[device])
			fake_event(device, IBV_EVENT_PORT_ERR);
		fake_down[device] = 1;
		pthread_mutex_unlock(&fake_lock);
		return SAYS_NOTHING;
	}
	if (reached(fault->lose_from, number))
		return IBV_WC_RETRY_EXC_ERR;
	if (fault->fail_at == number)
		return IBV_WC_REM_OP_ERR;
	return reached(fault->hang_from, number) ? SAYS_NOTHING : IBV_WC_SUCCESS;
}

static uint32_t
exchange(struct fake_qp *qp, const struct head *head, char *local)
{
	int reads = head->opcode == IBV_WR_RDMA_READ;
	uint32_t status;

	if (connect_out(qp) ||
	    move_all(qp, qp->out, (void *)(uintptr_t)head, sizeof(*head), 1) ||
	    (!reads && move_all(qp, qp->out, local, head->size, 1)) ||
	    move_all(qp, qp->out, &status, sizeof(status), 0) ||
	    (reads && status == IBV_WC_SUCCESS &&
	     move_all(qp, qp->out, local, head->size, 0)))
		return IBV_WC_RETRY_EXC_ERR;
	if (reads && head->corrupt)
		local[head->corrupt - 1] ^= 1;
	return status;
}

static uint32_t
transmit(struct fake_qp *qp, const struct fake_post *post)
{
	struct head head = {.addr = post->wr.wr.rdma.remote_addr,
			    .rkey = post->wr.wr.rdma.rkey,
			    .size = post->sge.length,
			    .opcode = post->wr.opcode};
	struct fakeverbs_faults fault;
	uint32_t status;
	char *local;
	long number;

	pthread_mutex_lock(&fake_lock);
	fault = fake_faults[qp->device];
	number = ++fake_posts[qp->device];
	local = post->wr.send_flags & IBV_SEND_INLINE
			? (char *)(uintptr_t)post->inlined
			: fake_memory(post->sge.lkey, post->sge.addr, head.size);
	pthread_mutex_unlock(&fake_lock);
	if (!local)
		return IBV_WC_LOC_PROT_ERR;
	if (qp->lost)
		return IBV_WC_RETRY_EXC_ERR;
	status = strike(&fault, qp->device, number);
	if (status != IBV_WC_SUCCESS)
		return status;
	if (reached(fault.corrupt_from, number))
		head.corrupt = 1 + (fault.corrupt_byte ? (uint32_t)fault.corrupt_byte
						       : head.size / 2);
	if (head.corrupt > head.size)
		head.corrupt = 0;
	pace(qp, &fault, head.size);
	if (fault.delay_us)
		sleep_until(qp, now_s() + fault.delay_us / 1e6);
	return exchange(qp, &head, local);
}

void *
fake_send_thread(void *arg)
{
	struct fake_qp *qp = arg;

	for (;;) {
		struct fake_post post;
		struct ibv_wc wc = {.qp_num = qp->qp.qp_num};

		pthread_mutex_lock(&fake_lock);
		while (qp->count == 0 && !qp->stop)
			pthread_cond_wait(&qp->posted, &fake_lock);
		if (qp->stop) {
			pthread_mutex_unlock(&fake_lock);
			return NULL;
		}
		post = qp->posts[qp->first];
		qp->first = (qp->first + 1) % qp->size;
		qp->count--;
		pthread_mutex_unlock(&fake_lock);
		wc.wr_id = post.wr.wr_id;
		wc.status = qp->failed ? IBV_WC_WR_FLUSH_ERR : transmit(qp, &post);
		if ((uint32_t)wc.status == SAYS_NOTHING)
			continue;
		qp->failed |= wc.status != IBV_WC_SUCCESS;
		if (wc.status == IBV_WC_SUCCESS &&
		    !(post.wr.send_flags & IBV_SEND_SIGNALED))
			continue;
		pthread_mutex_lock(&fake_lock);
		fake_complete(qp->qp.send_cq, &wc);
		pthread_mutex_unlock(&fake_lock);
	}
}
