/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libibverbs' public ABI, as far as fabric/probe uses it, without a kernel: for unit
 * tests, under sanitizers too. A queue pair is a TCP listener whose port is its number;
 * what travels is in fakeverbs_wire.c, what a port is in fakeverbs_ports.c. Invariant:
 * an object that the engine forgets is still counted by fakeverbs_objects().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/fakeverbs_impl.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
struct fakeverbs_faults fake_faults[DEVICES];
long fake_posts[DEVICES];
int fake_gone[DEVICES], fake_down[DEVICES];
static long fake_inlined[DEVICES];

static int objects;
static struct fake_mr *mrs[MRS];
static struct fake_context *contexts;
static int domains;
static uint32_t next_key = 1;
static struct ibv_device devices[DEVICES] = {
	{.name = "fake0"}, {.name = "fake1"}, {.name = "fake2"}, {.name = "fake3"}};

static void
count_object(int change)
{
	__atomic_add_fetch(&objects, change, __ATOMIC_SEQ_CST);
}

int
fakeverbs_domains(void)
{
	return __atomic_load_n(&domains, __ATOMIC_SEQ_CST);
}

long
fakeverbs_inlined(int device)
{
	return __atomic_load_n(&fake_inlined[device], __ATOMIC_SEQ_CST);
}

int
fakeverbs_objects(void)
{
	return __atomic_load_n(&objects, __ATOMIC_SEQ_CST);
}

void
fakeverbs_set(int device, const struct fakeverbs_faults *value)
{
	pthread_mutex_lock(&fake_lock);
	fake_faults[device] = *value;
	fake_posts[device] = 0;
	fake_gone[device] = fake_down[device] = 0;
	pthread_mutex_unlock(&fake_lock);
}

char *
fake_memory(uint32_t key, uint64_t addr, uint64_t size)
{
	for (int i = 0; i < MRS; i++) {
		const struct fake_mr *mr = mrs[i];

		if (mr && mr->mr.rkey == key && addr >= mr->iova &&
		    size <= mr->mr.length && addr - mr->iova <= mr->mr.length - size)
			return mr->memory + (addr - mr->iova);
	}
	return NULL;
}

/* A queue that overflows is a mistake of the program under test. */
void
fake_complete(struct ibv_cq *ibcq, const struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	struct fake_channel *channel = (struct fake_channel *)ibcq->channel;

	if (cq->count == cq->size)
		abort();
	cq->wc[(cq->first + cq->count++) % cq->size] = *wc;
	if (cq->armed && channel &&
	    write(channel->write_fd, &ibcq, sizeof(ibcq)) == sizeof(ibcq))
		cq->armed = 0;
}

void
fake_event(int device, enum ibv_event_type type)
{
	struct ibv_async_event event = {.element.port_num = 1, .event_type = type};

	for (struct fake_context *at = contexts; at; at = at->next) {
		if (at->device == device &&
		    write(at->event_fd, &event, sizeof(event)) != sizeof(event))
			abort();
	}
}

int
fake_device_of(const struct ibv_context *context)
{
	return (int)(context->device - devices);
}

int
fake_is_gone(const struct ibv_context *context)
{
	int gone;

	pthread_mutex_lock(&fake_lock);
	gone = fake_gone[fake_device_of(context)];
	pthread_mutex_unlock(&fake_lock);
	return gone;
}

/* The calls that verbs.h makes through the context. */
static int
take_post(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct fake_post *post;

	if (fake_gone[qp->device])
		return EIO;
	if (qp->count == qp->size)
		return ENOMEM;
	if (qp->qp.state != IBV_QPS_RTS || wr->num_sge != 1 ||
	    (wr->opcode != IBV_WR_RDMA_WRITE && wr->opcode != IBV_WR_RDMA_READ &&
	     wr->opcode != IBV_WR_SEND))
		return EINVAL;
	post = &qp->posts[(qp->first + qp->count++) % qp->size];
	post->wr = *wr;
	post->sge = wr->sg_list[0];
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (post->sge.length > qp->inline_bytes) {
			qp->count--;
			return EINVAL;
		}
		/* The memory may be used again at once. */
		memcpy(post->inlined, (void *)(uintptr_t)post->sge.addr,
		       post->sge.length);
		__atomic_add_fetch(&fake_inlined[qp->device], 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static int
fake_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int rc = 0;

	pthread_mutex_lock(&fake_lock);
	for (; wr && rc == 0; wr = wr->next) {
		*bad = wr;
		rc = take_post(qp, wr);
	}
	pthread_cond_signal(&qp->posted);
	pthread_mutex_unlock(&fake_lock);
	return rc;
}

static int
fake_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	struct fake_recv *recv;

	pthread_mutex_lock(&fake_lock);
	if (qp->recv_count == qp->recv_size || wr->num_sge != 1 || wr->next ||
	    ibqp->state == IBV_QPS_RESET) {
		pthread_mutex_unlock(&fake_lock);
		*bad = wr;
		return EINVAL;
	}
	recv = &qp->recvs[(qp->recv_first + qp->recv_count++) % qp->recv_size];
	recv->id = wr->wr_id;
	recv->sge = wr->sg_list[0];
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

static int
fake_poll_cq(struct ibv_cq *ibcq, int max, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int got = 0;

	pthread_mutex_lock(&fake_lock);
	for (; got < max && cq->count > 0; got++) {
		wc[got] = cq->wc[cq->first];
		cq->first = (cq->first + 1) % cq->size;
		cq->count--;
	}
	pthread_mutex_unlock(&fake_lock);
	return got;
}

static int
fake_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	pthread_mutex_lock(&fake_lock);
	((struct fake_cq *)ibcq)->armed = 1;
	pthread_mutex_unlock(&fake_lock);
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
	struct fake_context *fake = calloc(1, sizeof(*fake));
	struct ibv_context *context = &fake->context;
	int fds[2];

	if (pipe(fds)) {
		free(fake);
		return NULL;
	}
	context->device = device;
	context->async_fd = fds[0];
	context->ops.post_send = fake_post_send;
	context->ops.post_recv = fake_post_recv;
	context->ops.poll_cq = fake_poll_cq;
	context->ops.req_notify_cq = fake_req_notify_cq;
	fake->event_fd = fds[1];
	fake->device = fake_device_of(context);
	pthread_mutex_lock(&fake_lock);
	fake->next = contexts;
	contexts = fake;
	pthread_mutex_unlock(&fake_lock);
	count_object(1);
	fake_count_open(fake->device);
	return context;
}

int
ibv_close_device(struct ibv_context *context)
{
	struct fake_context *fake = (struct fake_context *)context;

	pthread_mutex_lock(&fake_lock);
	for (struct fake_context **at = &contexts; *at; at = &(*at)->next) {
		if (*at == fake) {
			*at = fake->next;
			break;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	close(context->async_fd);
	close(fake->event_fd);
	free(fake);
	count_object(-1);
	return 0;
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return read(context->async_fd, event, sizeof(*event)) == sizeof(*event) ? 0
										: -1;
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	__atomic_add_fetch(&domains, 1, __ATOMIC_SEQ_CST);
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

static struct ibv_mr *
register_memory(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova)
{
	struct fake_mr *mr;

	/* The kernel's own: a sanitizer's mlock() does nothing. */
	if (fake_faults[fake_device_of(pd->context)].locks &&
	    syscall(SYS_mlock, memory, length))
		return NULL;
	mr = calloc(1, sizeof(*mr));
	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.addr = (void *)(uintptr_t)iova;
	mr->mr.length = length;
	mr->iova = iova;
	mr->memory = memory;
	count_object(1);
	pthread_mutex_lock(&fake_lock);
	mr->mr.lkey = mr->mr.rkey = next_key++;
	for (int i = 0; i < MRS; i++) {
		if (!mrs[i]) {
			mrs[i] = mr;
			break;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return &mr->mr;
}

/* As nvidia-peermem does it: memory that the program cannot touch is reached by another
 * way, if there is one. */
static void *
peer_memory(void *addr, size_t length)
{
	void *memory = mremap(addr, 0, length, MREMAP_MAYMOVE);

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory, length, PROT_READ | PROT_WRITE) == 0)
		return memory;
	munmap(memory, length);
	return NULL;
}

static int
is_touchable(const void *addr)
{
	int fds[2], ok;

	if (pipe(fds))
		abort();
	ok = write(fds[1], addr, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return ok;
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		 unsigned int access)
{
	int touchable = is_touchable(addr);
	void *memory = touchable ? addr : peer_memory(addr, length);
	struct ibv_mr *mr = memory ? register_memory(pd, memory, length, iova) : NULL;

	if (!memory)
		errno = EFAULT;
	if (mr)
		((struct fake_mr *)mr)->mapped = !touchable;
	return mr;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr,
				(unsigned int)access);
}

/* Any file that can be mapped is a "dmabuf" here. */
struct ibv_mr *
ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
		  int fd, int access)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)offset);
	struct ibv_mr *mr;

	if (memory == MAP_FAILED)
		return NULL;
	mr = register_memory(pd, memory, length, iova);
	((struct fake_mr *)mr)->mapped = 1;
	return mr;
}

int
ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct fake_mr *mr = (struct fake_mr *)ibmr;

	pthread_mutex_lock(&fake_lock);
	for (int i = 0; i < MRS; i++) {
		if (mrs[i] == mr)
			mrs[i] = NULL;
	}
	pthread_mutex_unlock(&fake_lock);
	if (mr->mapped)
		munmap(mr->memory, ibmr->length);
	free(mr);
	count_object(-1);
	return 0;
}

static struct ibv_device_attr
fake_limits(struct ibv_context *context)
{
	struct ibv_device_attr limits;

	ibv_query_device(context, &limits);
	return limits;
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

	if (cqe > fake_limits(context).max_cqe) {
		free(cq);
		errno = EINVAL;
		return NULL;
	}
	cq->wc = calloc((size_t)cqe, sizeof(*cq->wc));
	cq->size = cqe;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	count_object(1);
	return &cq->cq;
}

int
ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;

	free(cq->wc);
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

static void
free_qp(struct fake_qp *qp)
{
	close(qp->listener);
	if (qp->out >= 0)
		close(qp->out);
	free(qp->posts);
	free(qp->recvs);
	free(qp);
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	const struct ibv_device_attr limits = fake_limits(pd->context);
	const uint32_t most = (uint32_t)limits.max_qp_wr;
	const int no_inline = fake_machine(fake_device_of(pd->context)).no_inline;
	struct fake_qp *qp;
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	if (init->cap.max_send_wr > most || init->cap.max_recv_wr > most ||
	    (no_inline && init->cap.max_inline_data) ||
	    init->cap.max_inline_data > FAKEVERBS_INLINE) {
		errno = EINVAL;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	qp->out = -1;
	qp->inline_bytes = init->cap.max_inline_data;
	qp->size = (int)init->cap.max_send_wr;
	qp->recv_size = (int)init->cap.max_recv_wr;
	qp->posts = calloc((size_t)qp->size, sizeof(*qp->posts));
	qp->recvs = calloc((size_t)qp->recv_size + 1, sizeof(*qp->recvs));
	qp->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(qp->listener, (struct sockaddr *)&at, size) ||
	    listen(qp->listener, 1) ||
	    getsockname(qp->listener, (struct sockaddr *)&at, &size)) {
		free_qp(qp);
		return NULL;
	}
	qp->qp.context = pd->context;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.qp_num = ntohs(at.sin_port);
	qp->qp.qp_type = init->qp_type;
	qp->device = fake_device_of(pd->context);
	pthread_cond_init(&qp->posted, NULL);
	pthread_create(&qp->receiver, NULL, fake_receive_thread, qp);
	pthread_create(&qp->sender, NULL, fake_send_thread, qp);
	count_object(1);
	return &qp->qp;
}

int
ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;

	pthread_mutex_lock(&fake_lock);
	__atomic_store_n(&qp->stop, 1, __ATOMIC_SEQ_CST);
	pthread_cond_signal(&qp->posted);
	pthread_mutex_unlock(&fake_lock);
	pthread_join(qp->sender, NULL);
	pthread_join(qp->receiver, NULL);
	pthread_cond_destroy(&qp->posted);
	free_qp(qp);
	count_object(-1);
	return 0;
}

const char *
ibv_wc_status_str(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_REM_ACCESS_ERR:
		return "remote access error";
	case IBV_WC_REM_OP_ERR:
		return "remote operation error";
	default:
		return "error";
	}
}
