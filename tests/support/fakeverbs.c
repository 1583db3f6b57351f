// SPDX-License-Identifier: Apache-2.0
/*
 * libibverbs' public ABI, as far as fabric/measure uses it, without a kernel: for unit
 * tests, under sanitizers too. A queue pair is a TCP listener whose port is its number;
 * a thread takes in what comes (checks key and bounds, copies, answers), another one
 * sends what was posted, one write at a time. Invariant: a write completes only after
 * the other end has it in its memory.
 */
#include "tests/support/fakeverbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr

enum { DEVICES = 2, QUEUE = 64, MRS = 64 };

struct head {
	uint64_t addr;
	uint32_t rkey, size;
	uint32_t corrupt;
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wc[QUEUE];
	int first, count, armed;
};

struct fake_channel {
	struct ibv_comp_channel channel;
	int write_fd;
};

struct post {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct fake_qp {
	struct ibv_qp qp;
	int listener, out;
	uint16_t dest;
	int device;
	struct post posts[QUEUE];
	int first, count, stop, failed;
	pthread_t sender, receiver;
	pthread_cond_t posted;
	double free_at; /* when the line is idle again, for the rate cap */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fakeverbs_faults faults[DEVICES];
static long writes[DEVICES];
static int objects;
static struct ibv_mr *mrs[MRS];
static uint32_t next_key = 1;
static struct ibv_device devices[DEVICES] = {{.name = "fake0"}, {.name = "fake1"}};

static void
count_object(int change)
{
	__atomic_add_fetch(&objects, change, __ATOMIC_SEQ_CST);
}

int
fakeverbs_objects(void)
{
	return __atomic_load_n(&objects, __ATOMIC_SEQ_CST);
}

void
fakeverbs_set(int device, const struct fakeverbs_faults *value)
{
	pthread_mutex_lock(&lock);
	faults[device] = *value;
	writes[device] = 0;
	pthread_mutex_unlock(&lock);
}

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* -1 at the end of the connection, or when the queue pair is being destroyed. */
static int
move_all(struct fake_qp *qp, int fd, void *data, size_t size, int out)
{
	char *at = data;

	while (size > 0) {
		struct pollfd pollfd = {.fd = fd, .events = out ? POLLOUT : POLLIN};
		ssize_t done;

		if (__atomic_load_n(&qp->stop, __ATOMIC_SEQ_CST))
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

static int
writable(const struct head *head)
{
	for (int i = 0; i < MRS; i++) {
		const struct ibv_mr *mr = mrs[i];

		if (mr && mr->rkey == head->rkey && head->addr >= (uintptr_t)mr->addr &&
		    head->size <= mr->length &&
		    head->addr - (uintptr_t)mr->addr <= mr->length - head->size)
			return 1;
	}
	return 0;
}

static uint32_t
place(const struct head *head, const char *payload)
{
	uint32_t status = IBV_WC_REM_ACCESS_ERR;

	pthread_mutex_lock(&lock);
	if (writable(head)) {
		char *to = (char *)(uintptr_t)head->addr;
		uint64_t word;

		/* Cells that are polled are single words. */
		if (head->size == 8) {
			memcpy(&word, payload, 8);
			__atomic_store_n((uint64_t *)(void *)to, word,
					 __ATOMIC_RELEASE);
		} else {
			memcpy(to, payload, head->size);
		}
		if (head->corrupt)
			to[head->size / 2] ^= 1;
		status = IBV_WC_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

static void *
receive_thread(void *arg)
{
	struct fake_qp *qp = arg;
	int fd = -1;

	while (fd < 0 && !__atomic_load_n(&qp->stop, __ATOMIC_SEQ_CST)) {
		struct pollfd pollfd = {.fd = qp->listener, .events = POLLIN};

		if (poll(&pollfd, 1, 20) > 0)
			fd = accept(qp->listener, NULL, NULL);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	for (;;) {
		struct head head;
		uint32_t status;
		char *payload;

		if (fd < 0 || move_all(qp, fd, &head, sizeof(head), 0))
			break;
		payload = malloc(head.size);
		if (!payload || move_all(qp, fd, payload, head.size, 0)) {
			free(payload);
			break;
		}
		status = place(&head, payload);
		free(payload);
		if (move_all(qp, fd, &status, sizeof(status), 1))
			break;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void
complete(struct fake_qp *qp, const struct ibv_send_wr *wr, uint32_t status)
{
	struct fake_cq *cq = (struct fake_cq *)qp->qp.send_cq;
	struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;
	struct ibv_cq *event = &cq->cq;
	struct ibv_wc *wc;

	pthread_mutex_lock(&lock);
	wc = &cq->wc[(cq->first + cq->count++) % QUEUE];
	*wc = (struct ibv_wc){
		.wr_id = wr->wr_id, .status = status, .qp_num = qp->qp.qp_num};
	if (cq->armed && channel &&
	    write(channel->write_fd, &event, sizeof(event)) == sizeof(event))
		cq->armed = 0;
	pthread_mutex_unlock(&lock);
}

static int
connect_out(struct fake_qp *qp)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(qp->dest),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	int on = 1;

	if (qp->out < 0) {
		qp->out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(qp->out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (connect(qp->out, (struct sockaddr *)&to, sizeof(to)))
			return -1;
	}
	return 0;
}

static void
pace(struct fake_qp *qp, double rate_gbps, uint32_t size)
{
	double now = now_s();

	if (rate_gbps <= 0)
		return;
	if (qp->free_at < now)
		qp->free_at = now;
	qp->free_at += size * 8.0 / (rate_gbps * 1e9);
	while (now < qp->free_at && !__atomic_load_n(&qp->stop, __ATOMIC_SEQ_CST)) {
		double left = qp->free_at - now;

		usleep(left > 0.02 ? 20000 : (useconds_t)(left * 1e6) + 1);
		now = now_s();
	}
}

/* IBV_WC_GENERAL_ERR stands for "says nothing, ever". */
static uint32_t
transmit(struct fake_qp *qp, const struct post *post)
{
	struct fakeverbs_faults fault;
	struct head head = {.addr = post->wr.wr.rdma.remote_addr,
			    .rkey = post->wr.wr.rdma.rkey,
			    .size = post->sge.length};
	uint32_t status;
	long number;

	pthread_mutex_lock(&lock);
	fault = faults[qp->device];
	number = ++writes[qp->device];
	pthread_mutex_unlock(&lock);
	if (fault.lose_from && number >= fault.lose_from)
		return IBV_WC_RETRY_EXC_ERR;
	if (fault.hang_from && number >= fault.hang_from)
		return IBV_WC_GENERAL_ERR;
	head.corrupt = fault.corrupt_from && number >= fault.corrupt_from;
	pace(qp, fault.rate_gbps, head.size);
	if (connect_out(qp) || move_all(qp, qp->out, &head, sizeof(head), 1) ||
	    move_all(qp, qp->out, (void *)(uintptr_t)post->sge.addr, head.size, 1) ||
	    move_all(qp, qp->out, &status, sizeof(status), 0))
		return IBV_WC_RETRY_EXC_ERR;
	return status;
}

static void *
send_thread(void *arg)
{
	struct fake_qp *qp = arg;

	for (;;) {
		struct post post;
		uint32_t status;

		pthread_mutex_lock(&lock);
		while (qp->count == 0 && !qp->stop)
			pthread_cond_wait(&qp->posted, &lock);
		if (qp->stop) {
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		post = qp->posts[qp->first];
		qp->first = (qp->first + 1) % QUEUE;
		qp->count--;
		pthread_mutex_unlock(&lock);
		status = qp->failed ? IBV_WC_WR_FLUSH_ERR : transmit(qp, &post);
		if (status == IBV_WC_GENERAL_ERR)
			continue;
		qp->failed |= status != IBV_WC_SUCCESS;
		complete(qp, &post.wr, status);
	}
}

/* The calls that verbs.h makes through the context. */
static int
fake_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	struct post *post;

	pthread_mutex_lock(&lock);
	if (qp->count == QUEUE || ibqp->state != IBV_QPS_RTS || wr->num_sge != 1 ||
	    wr->opcode != IBV_WR_RDMA_WRITE) {
		pthread_mutex_unlock(&lock);
		*bad = wr;
		return EINVAL;
	}
	post = &qp->posts[(qp->first + qp->count++) % QUEUE];
	post->wr = *wr;
	post->sge = wr->sg_list[0];
	pthread_cond_signal(&qp->posted);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int
fake_poll_cq(struct ibv_cq *ibcq, int max, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int got = 0;

	pthread_mutex_lock(&lock);
	for (; got < max && cq->count > 0; got++) {
		wc[got] = cq->wc[cq->first];
		cq->first = (cq->first + 1) % QUEUE;
		cq->count--;
	}
	pthread_mutex_unlock(&lock);
	return got;
}

static int
fake_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	pthread_mutex_lock(&lock);
	((struct fake_cq *)ibcq)->armed = 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

struct ibv_device **
ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(DEVICES + 1, sizeof(*list));

	for (int i = 0; i < DEVICES; i++)
		list[i] = &devices[i];
	*num = DEVICES;
	count_object(1);
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	count_object(-1);
}

const char *
ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = calloc(1, sizeof(*context));

	context->device = device;
	context->ops.post_send = fake_post_send;
	context->ops.poll_cq = fake_poll_cq;
	context->ops.req_notify_cq = fake_req_notify_cq;
	count_object(1);
	return context;
}

int
ibv_close_device(struct ibv_context *context)
{
	free(context);
	count_object(-1);
	return 0;
}

static int
device_index(const struct ibv_context *context)
{
	return (int)(context->device - devices);
}

int
ibv_query_port(struct ibv_context *context, uint8_t port,
	       struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)(void *)compat;

	pthread_mutex_lock(&lock);
	attr->state = faults[device_index(context)].port_down ? IBV_PORT_DOWN
							      : IBV_PORT_ACTIVE;
	pthread_mutex_unlock(&lock);
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
		     size_t max, uint32_t flags, size_t entry_size)
{
	uint8_t last = (uint8_t)(device_index(context) + 1);

	if (max < 2 || entry_size != sizeof(*entries))
		return -EINVAL;
	memset(entries, 0, 2 * sizeof(*entries));
	entries[0].gid.raw[0] = 0xfe; /* link-local first, as rxe has it */
	entries[0].gid.raw[1] = 0x80;
	entries[0].gid.raw[15] = last;
	memcpy(entries[1].gid.raw + 10, (uint8_t[]){0xff, 0xff, 127, 0, 0, last}, 6);
	entries[1].gid_index = 1;
	for (int i = 0; i < 2; i++) {
		entries[i].port_num = 1;
		entries[i].gid_type = IBV_GID_TYPE_ROCE_V2;
	}
	return 2;
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	count_object(1);
	return pd;
}

int
ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	count_object(-1);
	return 0;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	count_object(1);
	pthread_mutex_lock(&lock);
	mr->lkey = mr->rkey = next_key++;
	for (int i = 0; i < MRS; i++) {
		if (!mrs[i]) {
			mrs[i] = mr;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return mr;
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		 unsigned int access)
{
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int
ibv_dereg_mr(struct ibv_mr *mr)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MRS; i++) {
		if (mrs[i] == mr)
			mrs[i] = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(mr);
	count_object(-1);
	return 0;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_channel *channel = calloc(1, sizeof(*channel));
	int fds[2];

	if (pipe(fds)) {
		free(channel);
		return NULL;
	}
	channel->channel.context = context;
	channel->channel.fd = fds[0];
	channel->write_fd = fds[1];
	count_object(1);
	return &channel->channel;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	close(((struct fake_channel *)channel)->write_fd);
	free(channel);
	count_object(-1);
	return 0;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	      struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	count_object(1);
	return &cq->cq;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	count_object(-1);
	return 0;
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*context = (*cq)->cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_qp *qp = calloc(1, sizeof(*qp));
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	qp->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(qp->listener, (struct sockaddr *)&at, size) ||
	    listen(qp->listener, 1) ||
	    getsockname(qp->listener, (struct sockaddr *)&at, &size)) {
		close(qp->listener);
		free(qp);
		return NULL;
	}
	qp->qp.context = pd->context;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.qp_num = ntohs(at.sin_port);
	qp->qp.qp_type = init->qp_type;
	qp->out = -1;
	qp->device = device_index(pd->context);
	pthread_cond_init(&qp->posted, NULL);
	pthread_create(&qp->receiver, NULL, receive_thread, qp);
	pthread_create(&qp->sender, NULL, send_thread, qp);
	count_object(1);
	return &qp->qp;
}

int
ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;

	pthread_mutex_lock(&lock);
	if (mask & IBV_QP_STATE)
		ibqp->state = attr->qp_state;
	if (mask & IBV_QP_DEST_QPN)
		qp->dest = (uint16_t)attr->dest_qp_num;
	pthread_mutex_unlock(&lock);
	return 0;
}

int
ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;

	pthread_mutex_lock(&lock);
	__atomic_store_n(&qp->stop, 1, __ATOMIC_SEQ_CST);
	pthread_cond_signal(&qp->posted);
	pthread_mutex_unlock(&lock);
	pthread_join(qp->sender, NULL);
	pthread_join(qp->receiver, NULL);
	close(qp->listener);
	if (qp->out >= 0)
		close(qp->out);
	pthread_cond_destroy(&qp->posted);
	free(qp);
	count_object(-1);
	return 0;
}

const char *
ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR ? "remote access error" : "error";
}
